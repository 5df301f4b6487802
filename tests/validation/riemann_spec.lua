-- Compares Riemann problems with the means of the exact solution over cells,
-- for every flux and limiter, along x and along y.

local exact = require 'tests.validation.exact'
local riemann = require 'mare.schemes.riemann'
local sample = require 'tests.sample'
local support = require 'tests.validation.support'

local gamma = 1.4

local problems = require 'tests.validation.problems'
local sizes = { 100, 200, 400 }
-- In the suite the one of which a double program is compiled anyway.
local textbook_limiters = sample(true, false) and { 'none', 'minmod', 'mc' } or { 'mc' }

-- desc: n cells along axis 'x' (default) or 'y', and what support.simulation takes. The axis is the
-- one swept first, so that the problem along y is the transposed one.
local function simulate(problem, desc)
    local n, axis, across = desc.n, desc.axis or 'x', 5
    local function initial(x, y)
        local state = (axis == 'x' and x or y) < problem.x0 and problem[1] or problem[2]
        if axis == 'x' then return state[1], state[2], 0, state[3] end
        return state[1], 0, state[2], state[3]
    end
    return support.run_to(support.simulation {
        nx = axis == 'x' and n or across, ny = axis == 'x' and across or n,
        x = { 0, axis == 'x' and 1 or across / n }, y = { 0, axis == 'x' and across / n or 1 },
        gamma = gamma, flux = desc.flux, limiter = desc.limiter, precision = desc.precision,
        first = axis, boundaries = 'outflow', initial = initial,
    }, problem.t)
end

local cached = {}

local function density_error(problem, sim)
    local n = sim.grid.nx
    local key = problem.name .. n
    cached[key] = cached[key] or exact.riemann_density(problem, n, gamma)
    return support.error(sim, 'rho', function(x) return cached[key][math.floor(x * n)] end)
end

local function key_of(problem, n, flux, limiter)
    return ('riemann/%s/%s/%s/%d'):format(problem.name, flux, limiter, n)
end

describe('Riemann problems', function()
    it('have the exact solution that Mare offers', function()
        for _, problem in ipairs(problems) do
            local at = exact.riemann(problem[1], problem[2], gamma)
            local theirs = riemann.solve(problem[1], problem[2], gamma)
            for xi = -40, 40, 0.0625 do
                local rho, u, p = at(xi)
                local rho2, u2, p2 = theirs:sample(xi)
                local scale = math.max(problem[1][3], problem[2][3])
                assert.near(rho, rho2, 1e-9 * rho)
                assert.near(u, u2, 1e-7)
                assert.near(p, p2, 1e-9 * scale)
            end
        end
    end)

    for _, problem in ipairs(problems) do
        for _, flux in ipairs(support.fluxes) do
            it(('%s: every limiter with %s at 100 cells'):format(problem.name, flux), function()
                for _, limiter in ipairs(support.limiters) do
                    local sim = simulate(problem, { n = 100, flux = flux, limiter = limiter,
                        precision = 'double' })
                    support.assert_valid(sim)
                    local like = flux == 'hllc_straight' and 'hllc' or flux
                    support.gate(key_of(problem, 100, like, limiter), density_error(problem, sim))
                end
            end)
        end
    end

    for _, problem in ipairs(problems) do
        it(problem.name .. ': as accurate as a textbook code with hllc', function()
            for _, limiter in ipairs(textbook_limiters) do
                for k, n in ipairs(sizes) do
                    local sim = simulate(problem, { n = n, limiter = limiter,
                        precision = 'double' })
                    local err, baseline = density_error(problem, sim), problem[limiter][k]
                    local key = key_of(problem, n, 'hllc', limiter)
                    support.show(key .. ' (textbook)', err, baseline)
                    support.gate(key, err)
                    support.at_most(1.2 * baseline, err, key)
                end
            end
        end)
    end

    for _, problem in ipairs(problems) do
        it(problem.name .. ': equal bits along y, no change across, float near double', function()
            local sim = simulate(problem, { n = 100 })
            support.assert_valid(sim)
            local state = support.state(sim)
            for k = 0, 499 do assert.equal(state.rho[k % 100], state.rho[k]) end
            local along_y = simulate(problem, { n = 100, axis = 'y' })
            assert.is_nil(support.difference(state, support.transposed(support.state(along_y))))
            local double = support.state(simulate(problem, { n = 100, precision = 'double' }))
            local sum, scale = 0, 0
            for k = 0, 99 do
                sum = sum + math.abs(state.rho[k] - double.rho[k])
                scale = scale + double.rho[k]
            end
            support.at_most(1e-4, sum / scale, 'float against double')
        end)
    end

    for _, precision in ipairs(sample(support.precisions, 1)) do
        it('a resting contact: exact with hllc, smeared by hll, in ' .. precision, function()
            local contact = { { 1.4, 0, 1 }, { 1, 0, 1 }, x0 = 0.5, t = 2 }
            local function density(flux, limiter)
                return support.state(simulate(contact, { n = 100, flux = flux, limiter = limiter,
                    precision = precision })).rho
            end
            for _, limiter in ipairs(sample(true, false) and support.limiters or { 'mc' }) do
                local rho = density('hllc', limiter)
                for i = 0, 49 do
                    assert.equal(rho[0], rho[i])
                    assert.equal(1, rho[99 - i])
                end
                assert.near(1.4, rho[0], 1e-7)
            end
            assert.is_true(density('hll', 'mc')[52] > 1.01)
        end)
    end
end)
