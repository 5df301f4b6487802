-- Compares the C-grid schemes with theory: periods, speeds and steady states of
-- small waves, with and without rotation. A wave is measured by its projection
-- on the only mode that is present.

local ocean = require 'mare.ocean'
local sample = require 'tests.sample'
local support = require 'tests.validation.support'
local turns = require 'tests.turns'

local g, pi = 9.81, math.pi

-- desc: as of support.simulation; H, f, scheme, filter, cells { nx, ny }, size { x, y }
local function simulate(desc)
    return support.simulation {
        nx = desc.cells[1], ny = desc.cells[2], x = { 0, desc.size[1] }, y = { 0, desc.size[2] },
        scheme = ocean.new { scheme = desc.scheme, depth = desc.H, g = g,
            coriolis = { f = desc.f or 0 }, filter = desc.filter },
        boundaries = desc.boundaries or 'periodic', precision = desc.precision or 'double',
        cfl = desc.cfl or 0.9, initial = desc.initial,
    }
end

-- Returns the sum over cells of field times shape(x, y), over the sum of shape
-- squared.
local function projection(sim, name, shape)
    local field, grid, sum, norm = sim:field(name), sim.grid, 0, 0
    for j = 0, grid.ny - 1 do
        for i = 0, grid.nx - 1 do
            local s = shape(grid:x_centre(i), grid:y_centre(j))
            sum, norm = sum + field[j * grid.nx + i] * s, norm + s * s
        end
    end
    return sum / norm
end

local function largest(sim, name)
    local field, most = sim:field(name), 0
    for k = 0, sim.grid.cells - 1 do most = math.max(most, math.abs(field[k])) end
    return most
end

-- Returns the frequency from the first and the last zero crossing of
-- signal(sim) in so many steps, which have the same length except for what the
-- flow adds; the signal at all steps; and dt.
local function frequency(sim, steps, signal)
    sim:aim(math.huge)
    local first, last, crossings, values, dt = nil, nil, 0, {}, sim.now.dt
    for n = 0, steps do
        values[n] = signal(sim)
        if n > 0 and values[n - 1] * values[n] < 0 then
            local back = values[n] / (values[n] - values[n - 1]) * sim.now.last
            last, crossings = sim.now.t - back, crossings + 1
            first = first or last
        end
        sim:step(1)
        sim:read()
    end
    support.at_most(1e-5, math.abs(sim.now.dt / dt - 1), 'change of dt')
    return pi * (crossings - 1) / (last - first), values, dt
end

-- Returns the squared amplitude of a harmonic of phase theta per step, from
-- three points.
local function amplitude(a, b, theta)
    return (a * a + b * b - 2 * a * b * math.cos(theta)) / math.sin(theta) ^ 2
end

-- Returns the frequency that a scheme gives to a wave of frequency omega on the
-- grid: forward-backward, leapfrog.
local function discrete(scheme, omega, dt)
    return scheme == 'linear' and 2 * math.asin(omega * dt / 2) / dt or math.asin(omega * dt) / dt
end

-- A filter changes the discrete equations, so without one they hold to the last
-- digits. Nonlinear effects and the computational mode show in the energy.
local unfiltered, energy = { nonlinear = 0 }, { linear = 1e-8, nonlinear = 1e-4 }

for _, scheme in ipairs(sample({ 'linear', 'nonlinear' }, 1)) do
    describe('C-grid, ' .. scheme .. ':', function()
        local it = turns(it, 2)

        it('a seiche has the period of the discrete equations, and keeps its energy', function()
            local L, B, H, nx, ny = 100e3, 60e3, 50, 50, 20
            local k, l, c = pi / L, pi / B, math.sqrt(g * H)
            local function shape(x, y) return math.cos(k * x) * math.cos(l * y) end
            local sim = simulate { scheme = scheme, H = H, cells = { nx, ny }, size = { L, B },
                filter = unfiltered[scheme], boundaries = 'reflective',
                initial = function(x, y) return 1e-6 * shape(x, y), 0, 0 end }
            local dx, dy = L / nx, B / ny
            local on_grid = 2 * c * math.sqrt((math.sin(k * dx / 2) / dx) ^ 2
                + (math.sin(l * dy / 2) / dy) ^ 2)
            local exact = c * math.sqrt(k * k + l * l)
            local steps = scheme == 'linear' and 900 or 1900
            local omega, values, dt = frequency(sim, steps, function(s)
                return projection(s, 'eta', shape)
            end)
            local wanted = discrete(scheme, on_grid, dt)
            support.at_least(20 * pi, omega * steps * dt, 'periods')
            support.at_most(1e-6, math.abs(omega / wanted - 1), 'the discrete period')
            support.at_most(6e-4, math.abs(omega / exact - 1), "Merian's period")
            local theta = wanted * dt
            local before = amplitude(values[1], values[2], theta)
            local after = amplitude(values[steps - 1], values[steps], theta)
            support.at_most(energy[scheme], math.abs(after / before - 1), 'change of energy')
        end)

        it('an inertial oscillation has the period 2 pi / f and keeps its speed', function()
            local f = 1e-4
            local sim = simulate { scheme = scheme, H = 16, f = f, cells = { 8, 8 },
                filter = unfiltered[scheme], size = { 8e3, 8e3 }, cfl = 0.7,
                initial = function() return 0, 1e-4, 0 end }
            local steps = math.ceil(12 * pi / f / (sim.now.cfl / sim.now.rate))
            local omega, values, dt = frequency(sim, steps, function(s)
                return s:field 'hv'[27]
            end)
            support.at_most(1e-6, math.abs(omega / discrete(scheme, f, dt) - 1), 'discrete period')
            support.at_most(5e-6, math.abs(omega / f - 1), 'period')
            local theta = omega * dt
            local before = amplitude(values[1], values[2], theta)
            local after = amplitude(values[steps - 1], values[steps], theta)
            support.at_most(energy[scheme], math.abs(after / before - 1), 'change of energy')
        end)

        it('a Poincare wave has omega^2 = f^2 + g H k^2', function()
            local L, H, f, nx = 2000e3, 100, 1.2e-4, 40
            local k, a = 2 * pi / L, 1e-4
            local omega = math.sqrt(f * f + g * H * k * k)
            local sim = simulate { scheme = scheme, H = H, f = f, cells = { nx, 4 },
                size = { L, 4 * L / nx }, cfl = 0.5,
                initial = function(x)
                    return a * math.cos(k * x), a * omega / (k * H) * math.cos(k * x),
                        a * f / (k * H) * math.sin(k * x)
                end }
            local steps = math.ceil(12 * pi / omega / (sim.now.cfl / sim.now.rate))
            local found = frequency(sim, steps, function(s)
                return projection(s, 'eta', function(x) return math.cos(k * x) end)
            end)
            support.at_most(3e-3, math.abs(found / omega - 1), 'frequency')
        end)

        it('a Kelvin wave has its speed, its profile, and no flow across', function()
            local H, f, nx, ny, d = 100, 1.2e-4, 100, 60, 20e3
            local c, k = math.sqrt(g * H), 2 * pi / (nx * d)
            local R = c / f
            local sim = simulate { scheme = scheme, H = H, f = f, cells = { nx, ny },
                size = { nx * d, ny * d }, boundaries = { west = 'periodic', east = 'periodic',
                    south = 'reflective', north = 'reflective' },
                initial = function(x, y)
                    local eta = 1e-4 * math.exp(-y / R) * math.cos(k * x)
                    return eta, math.sqrt(g / H) * eta, 0
                end }
            local function along_coast(s)
                return projection(s, 'eta', function(x, y)
                    return y < d and math.cos(k * x) or 0
                end)
            end
            local period = 2 * pi / (c * k)
            local steps = math.ceil(3.2 * period / (sim.now.cfl / sim.now.rate))
            local omega = frequency(sim, steps, along_coast)
            support.at_most(1e-3, math.abs(omega / (c * k) - 1), 'speed')
            local function strength(j)
                local eta, sum = sim:field 'eta', 0
                for i = 0, nx - 1 do sum = sum + eta[j * nx + i] ^ 2 end
                return math.sqrt(sum)
            end
            local width = 20 * d / math.log(strength(2) / strength(22))
            support.at_most(0.01, math.abs(width / R - 1), 'width')
            support.at_most(0.01, largest(sim, 'hv') / largest(sim, 'hu'), 'flow across')
        end)
    end)
end
