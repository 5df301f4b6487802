local mare = require 'mare'
local sample = require 'tests.sample'
local shapes = require 'mare.shapes'

require 'tests.share'()

local name = os.getenv 'MARE_TEST_DEVICE' or 'auto'

local function simulate(first, passes)
    local sim = mare.simulation {
        grid = mare.grid { nx = 40, ny = 24, x = { 0, 1 }, y = { 0, 1 } },
        scheme = mare.euler { gamma = 1.4, gravity = 0.5, passes = passes },
        boundaries = 'reflective',
        initial = function(x, y) return 1 + x * y, math.sin(6 * y), math.sin(6 * x), 1 + x end,
        options = { device = name, first = first },
    }
    sim:aim(math.huge)
    return sim
end

local function run(sim, batches)
    for _, n in ipairs(batches) do
        sim:step(n)
        sim:read()
    end
    return sim
end

-- How many elements of all fields differ in their bits.
local function differences(a, b)
    local count = 0
    for _, field in ipairs(a.scheme.fields) do
        local one, copy = a:field(field), {}
        for c = 0, a.grid.cells - 1 do copy[c] = one[c] end
        local other = b:field(field)
        for c = 0, b.grid.cells - 1 do
            if copy[c] ~= other[c] then count = count + 1 end
        end
    end
    return count
end

-- The same clock and the same bits.
local function assert_same(a, b)
    for _, what in ipairs { 't', 'dt', 'steps', 'rate' } do
        assert.equal(a.now[what], b.now[what], what)
    end
    assert.equal(0, differences(a, b))
end

-- A domain that goes around, with more than one tile along each axis and no whole number of them.
local function around(scheme, nx, ny)
    local sim = mare.simulation {
        grid = mare.grid { nx = nx, ny = ny, x = { 0, 1 }, y = { 0, 1 } },
        scheme = scheme, boundaries = 'periodic',
        initial = function(x, y)
            local bump = math.exp(-20 * ((x - 0.4) ^ 2 + (y - 0.7) ^ 2))
            return 1 + bump, 0.3 * math.sin(2 * math.pi * y), 0.2 * math.cos(2 * math.pi * x),
                1 + 3 * bump
        end,
        options = { device = name },
    }
    sim:aim(math.huge)
    return sim
end

describe('steps', function()
    for _, first in ipairs { 'x', 'y' } do
        it('have the same bits in any batches, ' .. first .. ' first', function()
            local single = {}
            for k = 1, 39 do single[k] = 1 end
            local one = run(simulate(first), single)
            local other = run(simulate(first), { 0, 3, 2, 1, 33 })
            assert.equal(39, one.now.steps)
            assert.equal(39, other.now.steps)
            assert.equal(one.now.t, other.now.t)
            assert.equal(0, differences(one, other))
            assert.is_true(differences(one, run(simulate(first == 'x' and 'y' or 'x'), single)) > 0)
        end)
    end

    it('tick the clock themselves where they are taken in tiles', function()
        for _, first in ipairs(sample({ 'x', 'y' }, 1)) do
            local plain = simulate(first, 2)
            local tiles = shapes.with({ tile = { W = 3, GROUP = 64 } }, simulate, first, 1)
            assert.is_truthy(tiles.states[1].sweeps.sequence)
            for _, sim in ipairs { plain, tiles } do
                sim:aim(0.09)           -- within the second of many steps at once
                run(sim, { 17, 16 })
                assert.same({ 0.09, 0 }, { sim.now.t, sim.now.dt })
                sim:aim(math.huge)
                run(sim, { 18 })
            end
            assert_same(plain, tiles)
        end
    end)

    it('are taken in one launch where groups may wait for one another', function()
        local fluxes = { 'hllc', 'hll', 'lax_friedrichs' }
        local sizes = { { 512, 256 }, { 500, 350 }, { 416, 520 } }
        local info = simulate('x').devices[1].info
        local has_room = info.name:find '^cuda' ~= nil and info.compute_units >= 128
        if not has_room then sizes = { { 62, 97 } } end
        for k, size in ipairs(sizes) do
            local plain = around(mare.euler { passes = 2, flux = fluxes[k] }, unpack(size))
            local resident = around(mare.euler { flux = fluxes[k] }, unpack(size))
            assert.equal(has_room, resident.all_steps and true or false)
            for _, sim in ipairs { plain, resident } do
                run(sim, { 3, 18 })
                sim:aim(sim.now.t + 9.4 * sim.now.dt)
                run(sim, { 6, 1, 40 })
                assert.equal(0, sim.now.dt)
                sim:aim(math.huge)
                run(sim, { 24 })
            end
            assert_same(plain, resident)
            plain:release()
            resident:release()
        end
    end)

    it('are queued with a handful of calls', function()
        local sim = simulate 'x'
        local calls = 0
        for key, plan in pairs(sim.plans) do
            sim.plans[key] = {
                run = function(_, count)
                    calls = calls + 1
                    plan:run(count)
                end,
                release = function() plan:release() end,
            }
        end
        run(sim, { 1001 })
        assert.equal(1001, sim.now.steps)
        assert.is_true(calls <= 4)
        sim:release()
    end)
end)
