-- Compares the Kelvin-Helmholtz instability of McNally, Lyra and Passy (2012,
-- ApJS 201, 18) with the amplitude of its mode in the Pencil Code on 4096^2
-- cells at t = 1.5: 0.1479463247. The bounds for 256 cells are those of plain
-- textbook codes, with some margin.

local sample = require 'tests.sample'
local support = require 'tests.validation.support'

local pi = math.pi
local published = 0.1479463247

local function profile(y, outer, inner)
    local jump, width = 0.5 * (outer - inner), 0.025
    if y < 0.25 then return outer - jump * math.exp((y - 0.25) / width) end
    if y < 0.5 then return inner + jump * math.exp((0.25 - y) / width) end
    if y < 0.75 then return inner + jump * math.exp((y - 0.75) / width) end
    return outer - jump * math.exp((0.75 - y) / width)
end

local function initial(x, y)
    return profile(y, 1, 2), profile(y, 0.5, -0.5), 0.01 * math.sin(4 * pi * x), 2.5
end

local function amplitude(sim)
    local v, g = sim:field 'v', sim.grid
    local s, c, d = 0, 0, 0
    for j = 0, g.ny - 1 do
        local y = g:y_centre(j)
        local e = math.exp(-4 * pi * math.abs(y < 0.5 and y - 0.25 or 0.75 - y))
        for i = 0, g.nx - 1 do
            local value, phase = e * tonumber(v[j * g.nx + i]), 4 * pi * g:x_centre(i)
            s, c, d = s + value * math.sin(phase), c + value * math.cos(phase), d + e
        end
    end
    return 2 * math.sqrt(s * s + c * c) / d
end

local function amplitude_error(n, limiter)
    local sim = support.simulation {
        nx = n, ny = n, x = { 0, 1 }, y = { 0, 1 }, gamma = 5 / 3, limiter = limiter,
        initial = initial,
    }
    support.at_most(1e-4, math.abs(amplitude(sim) / 0.01 - 1), 'amplitude at the start')
    local value = amplitude(support.run_to(sim, 1.5))
    support.show(('kelvin_helmholtz/%s/%d: amplitude'):format(limiter, n), value, published)
    return math.abs(value / published - 1)
end

describe('Kelvin-Helmholtz mode', function()
    local mc, minmod = { 'mc', 0.01 }, { 'minmod', 0.06 }
    for _, case in ipairs(sample({ mc, minmod }, { mc })) do
        local limiter, bound = unpack(case)
        it('reaches the published amplitude and converges with ' .. limiter, function()
            local coarse, fine = amplitude_error(128, limiter), amplitude_error(256, limiter)
            support.gate(('kelvin_helmholtz/%s/128'):format(limiter), coarse)
            support.gate(('kelvin_helmholtz/%s/256'):format(limiter), fine)
            support.at_most(bound, fine, 'error of the amplitude in 256 cells')
            support.at_least(2, coarse / fine, 'what a doubling divides the error by')
        end)
    end
end)
