-- Tests the order of accuracy on smooth flow, along x, along y and along the
-- diagonal.
--
-- How the specs of this folder cover the defects of the published Euler code: E1 a predictor
-- without the pressure, so first order for sound: here. E2 other fluxes in x than in y:
-- symmetry.lua (transposed bits), riemann_spec. E3 wave speeds of shallow water: riemann_spec
-- (strong shocks with every flux). E4 a wrong sound speed in dt, E5 a dt that is seldom renewed:
-- step_spec. E6 splitting changes results at reflecting walls and spoils dt: decomposition_spec.
-- E7 a state that never moves on: here, a wave that must have travelled. E8 templates that cannot
-- be compiled: symmetry.lua runs every flux with every limiter. E9, a third-order Runge-Kutta
-- method marked as wrong, has nothing here to correspond to.

local exact = require 'tests.validation.exact'
local gauss = require 'tests.validation.gauss'
local sample = require 'tests.sample'
local support = require 'tests.validation.support'

local gamma = 1.4
local directions = {
    { name = 'x', k = { 1, 0 } },
    { name = 'y', k = { 0, 1 } },
    { name = 'diagonal', k = { 1, 1 } },
}

-- Shocks would form at t = 1.33, along the diagonal at 0.94.
local function wave_error(direction, n, precision)
    local k, t, amplitude = direction.k, 0.5, 0.1
    local nx, ny = k[1] == 0 and 8 or n, k[2] == 0 and 8 or n
    local function means(time)
        return gauss.means(exact.simple_wave(gamma, amplitude, k, time), 1 / n, 1 / n)
    end
    local sim = support.simulation {
        nx = nx, ny = ny, x = { 0, nx / n }, y = { 0, ny / n }, gamma = gamma, limiter = 'mc',
        precision = precision, conserved = means(0),
    }
    return support.error(support.run_to(sim, t), 'rho', means(t))
end

-- Once through the box.
local function vortex_error(direction, n, precision)
    local means = gauss.means(exact.vortex(gamma, direction.k[1], direction.k[2]), 20 / n, 20 / n)
    local sim = support.simulation {
        nx = n, ny = n, x = { -10, 10 }, y = { -10, 10 }, gamma = gamma, limiter = 'mc',
        precision = precision, conserved = means,
    }
    return support.error(support.run_to(sim, 20), 'rho', means)
end

local function check_order(name, error_of, direction, precision)
    local errors, sizes = {}, sample({ 64, 128, 256 }, { 64, 128 })
    for _, n in ipairs(sizes) do
        errors[n] = error_of(direction, n, precision)
        support.gate(('order/%s/%s/%s/%d'):format(name, direction.name, precision, n), errors[n])
    end
    local n = sizes[#sizes]
    local order = math.log(errors[n / 2] / errors[n]) / math.log(2)
    support.show(('order/%s/%s/%s'):format(name, direction.name, precision), order)
    support.at_least(1.9, order, ('order between %d and %d cells'):format(n / 2, n))
end

local cases = {}
for _, precision in ipairs(support.precisions) do
    for _, direction in ipairs(directions) do
        cases[#cases + 1] = { 'wave', wave_error, direction, precision }
        if precision == 'double' or direction.name == 'diagonal' then
            cases[#cases + 1] = { 'vortex', vortex_error, direction, precision }
        end
    end
end

describe('order of accuracy', function()
    for _, case in ipairs(sample(cases, 1)) do
        it(('is 2 in %s for a %s along %s'):format(case[4], case[1], case[3].name), function()
            check_order(unpack(case))
        end)
    end
end)
