-- Tests the time step and what the bits of a run depend on: dt is the Courant
-- number over the largest signal rate of the state at every step, on any shape
-- of grid; the way in which the host queues steps and a second run change
-- nothing; a uniform state stays as it is.

local random = require 'mare.base.random'
local sample = require 'tests.sample'
local support = require 'tests.validation.support'

local gamma, cfl = 1.4, 0.4

-- Returns the largest (|u| + c) / dx or (|v| + c) / dy, from the unknowns on
-- the host in double.
local function signal_rate(sim)
    local state, g, rate = support.state(sim), sim.grid, 0
    for k = 0, g.cells - 1 do
        local rho, u, v = state.rho[k], state.rho_u[k] / state.rho[k], state.rho_v[k] / state.rho[k]
        local p = (gamma - 1) * (state.E[k] - 0.5 * rho * (u * u + v * v))
        local c = math.sqrt(gamma * p / rho)
        rate = math.max(rate, (math.abs(u) + c) / g.dx, (math.abs(v) + c) / g.dy)
    end
    return rate
end

-- A few units in the last place of the rate; the velocities and c are of one size here.
local tolerance = { float = 1e-6, double = 2e-15 }

local function check_dt(sim, what)
    local wanted = cfl / signal_rate(sim)
    assert.is_true(math.abs(sim.now.dt / wanted - 1) <= tolerance[sim.precision],
        ('%s: dt %.17g, by the host %.17g'):format(what, sim.now.dt, wanted))
end

-- Returns a random state in which cell (fast_i, fast_j) is so hot or fast that
-- it sets dt.
local function noisy(nx, ny, fast)
    return function(x, y)
        local i, j = math.floor(x) % nx, math.floor(2 * y) % ny
        local function draw(n) return random.uniform(nx * ny, 4 * (j * nx + i) + n) end
        local factor = fast and i == fast[1] and j == fast[2] and 3 or 1
        return 0.5 + draw(0), factor * (draw(1) - 0.5), factor * (draw(2) - 0.5),
            factor * (0.5 + draw(3))
    end
end

local function simulate(nx, ny, desc)
    return support.simulation {
        nx = nx, ny = ny, x = { 0, nx }, y = { 0, ny / 2 }, gamma = gamma, cfl = cfl,
        precision = desc.precision, initial = desc.initial or noisy(nx, ny, desc.fast),
        boundaries = desc.boundaries, flux = desc.flux, limiter = desc.limiter,
    }
end

local shapes = sample({ { 4, 4 }, { 5, 67 }, { 131, 4 }, { 63, 33 }, { 29, 130 }, { 257, 65 } }, 3)

for _, precision in ipairs(sample(support.precisions, 1)) do
    describe('time step in ' .. precision, function()
        it('follows from the fastest cell, wherever it is', function()
            for _, shape in ipairs(shapes) do
                local nx, ny = shape[1], shape[2]
                local sim = simulate(nx, ny, { precision = precision })
                local middle = { math.floor(0.6 * nx), math.floor(0.3 * ny) }
                for _, fast in ipairs { { 0, 0 }, { nx - 1, 0 }, { 0, ny - 1 }, { nx - 1, ny - 1 },
                    middle } do
                    sim:set(noisy(nx, ny, fast))
                    sim:aim(math.huge)
                    check_dt(sim, ('%dx%d, fast cell (%d, %d)'):format(nx, ny, fast[1], fast[2]))
                end
            end
        end)

        it('follows from the present state at every step', function()
            for _, shape in ipairs(shapes) do
                local sim = simulate(shape[1], shape[2], { precision = precision, fast = { 1, 2 } })
                sim:aim(math.huge)
                for step = 1, 12 do
                    sim:step(1)
                    sim:read()
                    check_dt(sim, ('%dx%d, step %d'):format(shape[1], shape[2], step))
                end
            end
        end)
    end)
end

describe('bits', function()
    local function run(batches)
        local sim = simulate(61, 43, {})
        for _, target in ipairs { 0.7, 5 } do
            sim:aim(target)
            local k = 0
            while sim.now.t < target do
                k = k % #batches + 1
                sim:step(batches[k])
                sim:read()
            end
            assert.equal(target, sim.now.t)
        end
        return support.state(sim), sim.now.steps
    end

    it('are the same in each run and however steps are queued', function()
        local state, steps = run { 1 }
        for _, batches in ipairs { { 1 }, { 2, 1 }, { 1, 5 }, { 64 } } do
            local other, other_steps = run(batches)
            assert.is_nil(support.bits_differ(state, other))
            assert.equal(steps, other_steps)
        end
    end)

    for _, precision in ipairs(sample(support.precisions, 1)) do
        it('of a uniform flow stay as they are, in ' .. precision, function()
            local function uniform() return 1.1, 0.3, -0.7, 0.9 end
            for _, boundaries in ipairs { 'periodic', 'outflow' } do
                for _, flux in ipairs(support.fluxes) do
                    local sim = simulate(41, 27, { initial = uniform, boundaries = boundaries,
                        flux = flux, precision = precision })
                    local before = support.state(sim)
                    support.run_steps(sim, 100)
                    assert.is_nil(support.bits_differ(before, support.state(sim)))
                end
            end
        end)
    end
end)
