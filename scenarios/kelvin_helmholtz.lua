-- Kelvin-Helmholtz instability: a dense layer moves west through a lighter gas
-- that moves east, and the two interfaces roll up.
--
--   noise   the benchmark of Holm, Brodtkorb and Saetra (2020): [0, 2] x [0, 1], gamma 1.4, sharp
--           interfaces moved by a random curve of at most about half a cell. The disturbance scales
--           with the cells, so pictures at different resolutions differ.
--   smooth  McNally, Lyra and Passy (2012, ApJS 201, 18): [0, 1]^2, gamma 5/3, smooth interfaces
--           and one mode. It converges: the amplitude of that mode at t = 1.5 is compared with
--           theirs.

local mare = require 'mare'

local o = mare.options {
    title = 'Kelvin-Helmholtz instability',
    help = 'Two shear layers in a periodic box roll up into vortices.',
    mare.options.simulation, mare.euler.options,
    { name = 'nx', default = 800 },
    { name = 'ny', default = 400 },
    { name = 'image', default = 'kelvin_helmholtz.png' },
    { name = 't-end', default = 2 },
    { name = 'seed', default = 42 },
    { name = 'perturbation', default = 'noise', choices = { 'noise', 'smooth' },
        help = 'initial perturbation' },
}
local smooth = o.perturbation == 'smooth'
if smooth and not o:given 'nx' then o.nx = o.ny end
if smooth and not o:given 't_end' then o.t_end = 1.5 end

local grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, smooth and 1 or 2 }, y = { 0, 1 } }
local pressure = 2.5

-- ---- noise: density 2 and u = -0.5 outside 1/4 < y < 3/4, density 1 and u = 0.5 inside ----

local points = math.max(1, math.floor(grid.nx / 8))
local low = mare.random.curve { seed = o.seed, first = 0, points = points, x = grid.x }
local high = mare.random.curve { seed = o.seed, first = points, points = points, x = grid.x }

-- Returns means over the cell: otherwise a curve that stays within the cells at
-- the interface would not change any of them.
local function two_zones(x, y)
    local inside = math.min((y - 0.25) / grid.dy - low(x), (0.75 - y) / grid.dy + high(x))
    local light = math.max(0, math.min(1, 0.5 + inside))
    local rho, momentum = 2 - light, -1 + 1.5 * light
    return rho, momentum / rho, 0, pressure
end

-- ---- smooth: density 1 and u = 0.5 outside, 2 and -0.5 inside, joined over a width of 0.025 ----

local function layered(y, outer, inner)
    local from_interface = 0.25 - math.abs(y - 0.5)         -- positive inside
    local half_jump = 0.5 * (outer - inner)
    local decay = math.exp(-math.abs(from_interface) / 0.025)
    if from_interface < 0 then return outer - half_jump * decay end
    return inner + half_jump * decay
end

local function single_mode(x, y)
    return layered(y, 1, 2), layered(y, 0.5, -0.5), 0.01 * math.sin(4 * math.pi * x), pressure
end

-- Returns the amplitude of the mode in v, weighted towards the interfaces
-- (their equations 10 to 13).
local function mode_amplitude(sim)
    local v, s, c, d = sim:field 'v', 0, 0, 0
    for j = 0, grid.ny - 1 do
        local y = grid:y_centre(j)
        local weight = math.exp(-4 * math.pi * math.abs((y < 0.5 and y or 1 - y) - 0.25))
        for i = 0, grid.nx - 1 do
            local phase, value = 4 * math.pi * grid:x_centre(i), v[j * grid.nx + i] * weight
            s, c, d = s + value * math.sin(phase), c + value * math.cos(phase), d + weight
        end
    end
    return 2 * math.sqrt((s / d) ^ 2 + (c / d) ^ 2)
end

local published = { t = 1.5, amplitude = 0.1479463 }        -- Pencil Code, 4096^2 cells
local result = {}

local function compare(sim)
    result.amplitude = mode_amplitude(sim)
    if o.quiet then return end
    print(string.format('mode amplitude at t = %g: %.6f, published %.6f (%+.2f %%)', sim.now.t,
        result.amplitude, published.amplitude, 100 * (result.amplitude / published.amplitude - 1)))
end

result.sim = mare.run {
    title = 'Kelvin-Helmholtz instability', options = o, grid = grid, boundaries = 'periodic',
    scheme = mare.euler { gamma = smooth and 5 / 3 or 1.4, options = o },
    initial = smooth and single_mode or two_zones,
    at = smooth and { { published.t, compare } } or nil,
    picture = { variable = 'rho', label = 'density', range = { 0.9, 2.1 } },
}
return result
