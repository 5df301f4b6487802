-- Open sides of an ocean: that no energy comes from them, whatever meets them. The suite follows 40
-- boxes, ten of each scheme in one grid, through 10^4 steps; MARE_TESTS=long also 400 grids of one
-- box each, and 200 of finite volumes, through 10^5.

local fails = require 'tests.fails'
local mare = require 'mare'
local boxes = require 'tests.open_boxes'
local sample = require 'tests.sample'

require 'tests.share'()

local pi = math.pi
local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'

-- ---- energy ----

-- Takes the steps of a simulation, in which no box may gain energy. list: of boxes with a title
-- each; measure(sim) returns the energy of each
local function follow(desc, list, steps, measure)
    local sim, most, late = mare.simulation(desc), {}, {}
    local first = measure(sim)
    sim:aim(math.huge)
    for k = 1, 20 do
        sim:step(steps / 20)
        sim:read()
        assert.is_false(sim.now.failed)
        for n, energy in ipairs(measure(sim)) do
            local now, half = energy / first[n], k <= 10 and most or late
            assert.is_true(now <= boxes.bound(desc.options.cfl), list[n].title .. ': ' .. now)
            half[n] = math.max(half[n] or 0, now)
        end
    end
    for n, box in ipairs(list) do
        assert.is_true(late[n] <= 1.5 * most[n] + 1e-6,
            ('%s: %g, then %g'):format(box.title, most[n], late[n]))
    end
    sim:release()
end

-- sides: instead of those drawn.
local function check(schemes, seed, steps, sides)
    local desc, depth, title = boxes.draw(schemes, seed, name)
    desc.boundaries = sides or desc.boundaries
    it('to ' .. title, function()
        follow(desc, { { title = title } }, steps, function(sim)
            return { boxes.energy(sim, depth) }
        end)
    end)
end

local c_grids, volumes = { 'linear', 'nonlinear' }, { 'cdklm', 'kurganov_petrova' }

describe('no energy comes from open sides', function()
    local first = 1000 * tonumber(os.getenv 'MARE_TEST_SEED' or 1)
    for k, scheme in ipairs { 'linear', 'nonlinear', 'cdklm', 'kurganov_petrova' } do
        it('to ten boxes of ' .. scheme, function()
            local desc, list, depth = boxes.draw_row(scheme, first + k, 10, name)
            follow(desc, list, 1e4, function(sim) return boxes.energies(sim, list, depth) end)
        end)
    end
    for k = 1, sample(400, 0) do check(c_grids, first + k, 1e5) end
    for k = 1, sample(200, 0) do check(volumes, first + k, 1e5) end
    -- In box 15 it grew tenfold over a bed that slopes at sides where the elevation is known, while
    -- the bed was level beyond them; in the others a hundredfold where two such sides met.
    local known = { kind = 'elevation' }
    local around = { west = known, east = known, south = known, north = known }
    for _, seed in ipairs(sample({ 15, 1003, 1004 }, 1)) do
        check(volumes, seed, 3000, seed > 1000 and around or nil)
    end
end)

-- ---- the guard ----

local function closed_box(cfl)
    local function wave(s) return math.cos(pi * (s / 1e3 - 0.5)) end
    return mare.simulation {
        grid = mare.grid { nx = 12, ny = 12, x = { 0, 12e3 }, y = { 0, 12e3 } },
        scheme = mare.ocean { scheme = 'nonlinear', depth = 50 }, boundaries = 'reflective',
        options = { device = name, cfl = cfl },
        initial = function(x, y) return 1e-3 * wave(x) * wave(y), 0, 0 end,
    }
end

describe('energy that grows out of nothing', function()
    -- 1.2e8 times what it was after 1500 steps, before anything overflows. 0.95 is stable.
    it('ends a run within some thousand steps, and names what may help', function()
        local sim = closed_box(1)
        local ok, err = pcall(mare.run.loop, sim, { steps = 1500, quiet = true })
        assert.is_false(ok)
        fails.says(err.message, 'energy', 'grew', 'unstable', '--cfl = 1')
        assert.equal('MARE_ERROR_STATE', err.status)
        sim:release()
        sim = closed_box(0.95)
        mare.run.loop(sim, { steps = 1500, quiet = true })
        sim:release()
    end)

    it('is looked for only where none comes in', function()
        local function kept(sides, more)
            local grid = mare.grid { nx = 8, ny = 8, x = { 0, 1 }, y = { 0, 1 } }
            local scheme = mare.ocean { scheme = 'linear', depth = 50, wind = more }
            local all = { west = sides, east = sides, south = sides, north = sides }
            return scheme:kept_energy(scheme:domain(grid, all, 'float'), 0.5)
        end
        local wave = { { name = 'M2', amplitude = 1, phase = 0 } }
        for _, side in ipairs { 'reflective', 'periodic', { kind = 'flather' },
            { kind = 'elevation', eta = 0 }, { kind = 'sponge', width = 2 } } do
            assert.near(6, kept(side).factor, 1e-12)
        end
        assert.is_nil(kept 'outflow')
        assert.is_nil(kept 'fixed')
        assert.is_nil(kept { kind = 'elevation', eta = 0.1 })
        assert.is_nil(kept { kind = 'elevation', constituents = wave })
        assert.is_nil(kept { kind = 'flather', u = 0.1 })
        assert.is_nil(kept('reflective', function() return 0.1, 0 end))
    end)
end)
