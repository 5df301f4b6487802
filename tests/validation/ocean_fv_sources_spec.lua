-- Tests wind, air pressure, friction and eddies in the finite-volume ocean
-- schemes, and rotation alone: a third Runge-Kutta stage gives the same bits in
-- every run, which a race in the published one does not.

local ocean = require 'mare.ocean'
local sample = require 'tests.sample'
local support = require 'tests.validation.support'
local turns = require 'tests.turns'

local depth, rho = 20, 1000

local function basin(scheme, initial, boundaries)
    local desc = { depth = depth, rho = rho }
    for key, value in pairs(scheme) do desc[key] = value end
    return support.simulation {
        nx = 16, ny = 12, x = { 0, 16e3 }, y = { 0, 12e3 }, precision = 'double',
        boundaries = boundaries or 'periodic', scheme = ocean.new(desc),
        initial = initial or function() return 0, 0, 0 end,
    }
end

local function value(sim, name, i, j)
    return tonumber(sim:field(name)[(j or 0) * sim.grid.nx + (i or 0)])
end

local function near(expected, found, tolerance)
    support.at_most(tolerance, math.abs(found / expected - 1), 'off ' .. expected)
end

describe('ocean, finite volumes:', function()
    local it = turns(it, 2)

    it('wind on a turning earth: the slab of Ekman', function()
        local f, tau, t = 1e-3, 0.2, 2500
        local sim = support.run_to(basin { wind = { tau, 0 }, coriolis = { f = f } }, t)
        near(tau / (rho * f) * math.sin(f * t), value(sim, 'hu'), 3e-4)
        near(tau / (rho * f) * (math.cos(f * t) - 1), value(sim, 'hv'), 3e-4)
        sim:release()
    end)

    it('an inertial circle has its period and keeps its speed', function()
        local f = 1e-3
        for name, limit in pairs { cdklm = 3e-4, kurganov_petrova = 3e-4 } do
            local sim = basin({ scheme = name, coriolis = { f = f } },
                function() return 0, 0.3, 0 end)
            support.run_to(sim, 2 * math.pi / f)
            near(0.3 * depth, value(sim, 'hu'), limit)
            support.at_most(limit, math.abs(value(sim, 'hv')) / (0.3 * depth), name)
            sim:release()
        end
    end)

    it('friction stops water as it should, and never turns it', function()
        local t, u = 4000, 0.5
        local rates = {
            { 'linear', 2e-4, u * math.exp(-2e-4 * t) },
            { 'quadratic', 0.01, u / (1 + 0.01 * u * t / depth) },
            { 'manning', 0.03, u / (1 + 9.81 * 0.03 ^ 2 * u * t / depth ^ (4 / 3)) },
        }
        for _, case in ipairs(sample(rates, 1)) do
            local kind, coefficient, wanted = unpack(case)
            local sim = basin({ friction = { kind = kind, coefficient = coefficient } },
                function() return 0, u, 0 end)
            support.run_to(sim, t)
            near(wanted, value(sim, 'hu') / depth, 5e-3)
            assert.equal(0, value(sim, 'hv'))
            sim:release()
        end
        local sim = basin({ friction = { kind = 'linear', coefficient = 10 } },
            function() return 0, u, -u end)
        support.run_steps(sim, 20)
        support.at_least(0, value(sim, 'hu'), 'hu')
        support.at_most(0, value(sim, 'hv'), 'hv')
        sim:release()
    end)

    it('the sea stands higher where the air weighs less', function()
        local height = 0.1
        local function pressure(x)
            return rho * 9.81 * height * (1 + math.cos(math.pi * x / 16e3))
        end
        local friction = { kind = 'linear', coefficient = 2e-3 }
        local sim = basin({ pressure = pressure, friction = friction }, nil, 'reflective')
        support.run_to(sim, 2e4)
        local difference = value(sim, 'eta', 14) - value(sim, 'eta', 1)
        local wanted = (pressure(1500) - pressure(14500)) / (rho * 9.81)
        near(wanted, difference, 0.02)
        sim:release()
    end)

    it('eddies mix shear as fast as they should', function()
        local nu, t, k = 100, 6000, 2 * math.pi / 12e3
        local sim = basin({ viscosity = nu }, function(_, y)
            return 0, 0.01 * math.sin(k * y), 0
        end)
        local before = value(sim, 'hu', 0, 2)
        support.run_to(sim, t)
        local found = value(sim, 'hu', 0, 2) / before
        near(math.exp(-nu * k * k * t), found, 0.01)
        sim:release()
    end)

    it('three stages give the same bits at every run', function()
        local states = {}
        for run = 1, 2 do
            local sim = basin({ rk = 3, coriolis = { f = 1e-4 } }, function(x, y)
                return math.exp(-((x - 8e3) ^ 2 + (y - 6e3) ^ 2) / 4e6), 0.1, 0
            end)
            states[run] = support.state(support.run_steps(sim, 50))
            sim:release()
        end
        assert.is_nil(support.bits_differ(states[1], states[2]))
    end)
end)
