-- Open sides of an ocean: that no energy comes from them, whatever meets them. The suite follows
-- two rows of ten boxes, of a scheme on a C-grid and of one of finite volumes, through 10^4 steps;
-- MARE_TESTS=long one of each scheme, and 400 grids of one box each, and 200 of finite volumes,
-- through 10^5.

local events = require 'mare.base.events'
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
    local rows = { 'linear', 'nonlinear', 'cdklm', 'kurganov_petrova' }
    local function check_row(k)
        it('to ten boxes of ' .. rows[k], function()
            local desc, list, depth = boxes.draw_row(rows[k], first + k, 10, name, true)
            follow(desc, list, 1e4, function(sim) return boxes.energies(sim, list, depth) end)
        end)
    end
    for _, k in ipairs(sample({ 1, 2 }, 1)) do check_row(k) end
    for _, k in ipairs(sample({ 3, 4 }, 1)) do check_row(k) end
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

local function closed_box(cfl, decompose)
    local function wave(s) return math.cos(pi * (s / 1e3 - 0.5)) end
    return mare.simulation {
        grid = mare.grid { nx = 12, ny = 12, x = { 0, 12e3 }, y = { 0, 12e3 } },
        scheme = mare.ocean { scheme = 'nonlinear', depth = 50 }, boundaries = 'reflective',
        options = { device = name, cfl = cfl, decompose = decompose },
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
            return scheme:bounds(scheme:domain(grid, all, 'float'), 0.5)
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

describe('water that a tide alone drives', function()
    local wave = { { name = 'M2', amplitude = 1, phase = 0 } }

    local function bounds(desc, side)
        local grid = mare.grid { nx = 8, ny = 8, x = { 0, 4e4 }, y = { 0, 4e4 } }
        local scheme = mare.ocean { scheme = desc.scheme or 'nonlinear', depth = 50,
            wind = desc.wind, tide = desc.cells and { cells = desc.cells,
                constituents = desc.constituents or wave } }
        return scheme:bounds(scheme:domain(grid, { west = side or 'reflective',
            east = 'reflective', south = 'reflective', north = 'reflective' }, 'float'), 0.5)
    end

    it('is not faster than by a fall from crest to trough', function()
        local cells = { { 0, 3 }, { 0, 4 } }
        local watch = bounds { cells = cells }
        assert.is_nil(watch.excess({ 0, 0 }, { 7.9, 4 }))
        assert.is_nil(watch.excess({ 0, 0 }, { 7.9, 1 }))       -- it was higher before
        local what, why = watch.excess({ 0, 0 }, { 8.1, 1 })
        fails.says(what .. why, 'a fall of 8.1 m', '4 m at most', 'neighbours', 'unstable')
        assert.is_nil(watch.excess({ 2, 0 }, { 11, 0 }))        -- it began like that
        assert.is_true(bounds({}, { kind = 'elevation', constituents = wave }).most)
        assert.is_nil(bounds { cells = cells, scheme = 'linear' })
        assert.is_nil(bounds { cells = cells, wind = function() return 0.1, 0 end })
    end)

    it('is looked at by the largest sizes, over all parts', function()
        local sim, seen = closed_box(0.95, '2x2'), nil
        sim.scheme = setmetatable({ bounds = function()
            return { variables = { 'velocity_head', 'eta' }, most = true,
                excess = function(_, found)
                    seen = found
                    return 'water became fast', 'where it may not'
                end }
        end }, { __index = sim.scheme })
        local ok, err = pcall(mare.run.loop, sim, { steps = 1100, quiet = true })
        assert.is_false(ok)
        fails.says(err.message, 'water became fast until step', 'where it may not; is --cfl')
        local head, eta, most = sim:field 'velocity_head', sim:field 'eta', { 0, 0 }
        for k = 0, sim.grid.cells - 1 do
            most = { math.max(most[1], head[k]), math.max(most[2], math.abs(eta[k])) }
        end
        assert.same(most, seen)
        sim:release()
    end)

    it('is warned of where neighbours differ too much', function()
        local warned = {}
        local back = events.mute()
        local stop = events.listen { hear = function(event)
            warned[#warned + 1] = event.message
        end }
        local function give(...)
            bounds { cells = { { 0, 3 }, { 0, 4 }, { 1, 4 }, { 7, 7 } },
                constituents = { { name = 'M2', amplitude = { ... }, phase = { 0, 0, 0, 90 } } } }
        end
        give(1, 1.1, 1.2, 5)
        assert.same({}, warned)
        give(1, 1, 2, 5)
        stop()
        back()
        assert.equal(1, #warned)
        fails.says(warned[1], '(0, 4) and (1, 4) differ by 1 m', 'currents of 14 m/s')
    end)
end)
