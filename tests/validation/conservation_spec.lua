-- Tests long runs of a Kelvin-Helmholtz instability: mass, momentum and energy
-- stay in a periodic box, and 10 000 steps (3000 outside of tests/long) need no
-- more memory than the first ones.

local device = require 'bindings.device'
local random = require 'mare.base.random'
local run = require 'mare.run'
local sample = require 'tests.sample'
local support = require 'tests.validation.support'

local function simulate(nx, ny, precision)
    local function initial(x, y)
        local k = math.abs(math.floor(y * ny) * nx + math.floor(x * nx / 2))
        local v = 0.01 * (random.uniform(1, k) - 0.5)
        if y > 0.25 and y < 0.75 then return 1, 0.5, v, 2.5 end
        return 2, -0.5, v, 2.5
    end
    return support.simulation { nx = nx, ny = ny, x = { 0, 2 }, y = { 0, 1 },
        precision = precision, initial = initial }
end

-- Returns the sums of the unknowns over the cells; momentum is measured by the
-- sum of rho |u| along x.
local function totals(sim)
    local sums = {}
    for _, name in ipairs { 'rho', 'rho_u', 'rho_v', 'E' } do
        sums[name] = support.total(sim, name)
    end
    return sums
end

describe('conservation', function()
    for precision, bound in pairs { float = 1e-6, double = 1e-13 } do
        it(('to %g over 1000 steps in %s'):format(bound, precision), function()
            local sim = simulate(128, 64, precision)
            local before = totals(sim)
            local scale = { rho = before.rho, E = before.E, rho_u = 0.5 * before.rho,
                rho_v = 0.5 * before.rho }
            support.run_steps(sim, 1000)
            support.assert_valid(sim)
            local after = totals(sim)
            for name, size in pairs(scale) do
                local drift = math.abs(after[name] - before[name]) / size
                support.show(('conservation/%s/%s'):format(precision, name), drift, bound)
                support.at_most(bound, drift, name)
            end
        end)
    end
end)

-- Returns the memory of this process in KiB.
local function resident()
    local file = assert(io.open('/proc/self/statm'))
    local pages = file:read('*l'):match '^%d+ (%d+)'
    file:close()
    return 4 * tonumber(pages)
end

-- Returns the KiB of Lua memory without compiled code, which keeps growing for
-- a while in any program.
local function heap()
    jit.flush()
    collectgarbage()
    collectgarbage()
    return collectgarbage 'count'
end

describe('memory', function()
    -- A driver's queue makes the process breathe by megabytes; a leak lifts the lowest it sinks to.
    it('is flat over thousands of steps', function()
        local sim, lowest, heaps = simulate(48, 24), {}, {}
        local some = sample(500, 150)
        run.loop(sim, { steps = 10 * some, quiet = true })
        heap()
        local objects = device.live_objects()
        for half = 1, 2 do
            lowest[half], heaps[half] = math.huge, heap()
            for _ = 1, 10 do
                run.loop(sim, { steps = sim.now.steps + some, quiet = true })
                heap()
                lowest[half] = math.min(lowest[half], resident())
            end
        end
        assert.equal(30 * some, sim.now.steps)
        assert.is_true(device.live_objects() <= objects)    -- what was made ahead goes late
        support.show('memory/heap growth, KiB', heap() - heaps[1], 64)
        support.show('memory/resident growth, KiB', lowest[2] - lowest[1], 1024)
        support.at_most(64, heap() - heaps[1], 'growth of the Lua heap in KiB')
        support.at_most(1024, lowest[2] - lowest[1], 'growth of the process in KiB')
    end)

    it('is not littered by steps', function()
        local sim = simulate(48, 24)
        support.run_steps(sim, 1000)
        collectgarbage()
        collectgarbage 'stop'
        local before = collectgarbage 'count'
        sim:step(1000)
        local litter = (collectgarbage 'count' - before) * 1024 / 1000
        collectgarbage 'restart'
        support.show('memory/garbage of a step, bytes', litter, 16)
        support.at_most(16, litter, 'bytes of garbage each step')
    end)
end)
