-- Tests that a snapshot has the requested cells of the moment when it was
-- taken, in any decomposition, with and without kernels.

local exchange = require 'mare.array.exchange'
local mare = require 'mare'
local snapshot = require 'mare.array.snapshot'

local nx, ny = 37, 29

local function simulation(decompose)
    local sim = mare.simulation {
        grid = mare.grid { nx = nx, ny = ny, x = { 0, 1 }, y = { 0, 1 } },
        scheme = mare.euler { gamma = 1.4 }, boundaries = exchange.boundaries 'periodic',
        initial = function(x, y) return 1 + x, y, x * y - 0.5, 2 + y end,
        options = { device = os.getenv 'MARE_TEST_DEVICE' or 'auto', decompose = decompose },
    }
    sim:aim(math.huge)
    return sim
end

-- Returns the present cells of each unknown in one array.
local function expected(sim, c)
    local values = {}
    for _, name in ipairs(sim.scheme.fields) do
        local data = sim:field(name)
        for j = 0, c.ny - 1 do
            for i = 0, c.nx - 1 do
                values[#values + 1] = data[(c.j0 + j * c.step) * nx + c.i0 + i * c.step]
            end
        end
    end
    return values
end

local function brought(shot, slot, count)
    local data, values = shot:wait(slot), {}
    for k = 1, count do values[k] = data[k - 1] end
    return values
end

local function check(sim, cells, more)
    local names = { unpack(sim.scheme.fields) }
    names[#names + 1] = more
    local shot = snapshot.new(sim, { variables = names, cells = cells, slots = 2 })
    local wanted = {}
    for slot = 1, 2 do
        wanted[slot] = expected(sim, cells)
        shot:take(slot)
        sim:step(3)
        sim:read()
    end
    for slot = 1, 2 do
        assert.same(wanted[slot], brought(shot, slot, #wanted[slot]))
    end
    shot:release()
end

describe('a snapshot', function()
    local all = { i0 = 0, j0 = 0, nx = nx, ny = ny, step = 1 }
    local some = { i0 = 5, j0 = 3, nx = 21, ny = 17, step = 1 }
    local few = { i0 = 2, j0 = 1, nx = 11, ny = 9, step = 3 }

    for _, parts in ipairs { { 1, 1 }, { 3, 2 } } do
        it(('holds unknowns of the moment, in %d x %d parts'):format(parts[1], parts[2]), function()
            local sim = simulation(parts)
            for _, cells in ipairs { all, some, few } do check(sim, cells) end
            check(sim, some, 'speed')       -- derived: all of them pass a kernel then
        end)
    end
end)
