-- A hill of water on an f-plane radiates gravity waves and keeps what the
-- earth's rotation balances (Rossby 1938). Since potential vorticity stays in
-- place, the balanced surface solves eta'' + eta' / r - eta / R^2 = -eta_0 /
-- R^2 with R = sqrt(g H) / f. Hill, depth and rotation are those of Holm,
-- Brodtkorb and Saetra (2020, Parallel Computing 91).

local mare = require 'mare'

local o = mare.options {
    title = 'Rossby adjustment',
    help = 'A hill of water comes to geostrophic balance, compared with theory.',
    mare.options.simulation, mare.ocean.options,
    { name = 'scheme', default = 'linear' },
    { name = 'nx', default = 400, help = 'cells along each side of 20000 km' },
    { name = 'ny', withdrawn = true },
    { name = 'cfl', default = 0.8 },
    { name = 'image', default = 'rossby_adjustment.png' },
    { name = 't-end', default = 20 * 2 * math.pi / 1.2e-4, unit = 's',
        help = 'time to stop at; default: 20 inertial periods' },
}
local g, f, depth, size, height = 9.81, 1.2e-4, 1000, 20000e3, 0.2
local radius, steep, wide = math.sqrt(g * depth) / f, 15 * 50e3, 50 * 50e3
local inertial = 2 * math.pi / f

local function hill(r)
    return height / 2 * (1 + math.tanh((wide - r) / steep))
end

-- Returns the balanced surface at r = dr / 2, 3 dr / 2, ... The equations are
-- tridiagonal; the surface is flat in the middle and far away.
local function balanced(dr, count)
    local upper, right = {}, {}
    for k = 0, count - 1 do
        local r, inner, outer = (k + 0.5) * dr, k * dr, (k + 1) * dr
        local a, b = inner / (r * dr * dr), k < count - 1 and outer / (r * dr * dr) or 0
        local pivot = -(a + b) - 1 / radius ^ 2 - (k > 0 and a * upper[k - 1] or 0)
        upper[k] = b / pivot
        right[k] = (-hill(r) / radius ^ 2 - (k > 0 and a * right[k - 1] or 0)) / pivot
    end
    for k = count - 2, 0, -1 do right[k] = right[k] - upper[k] * right[k + 1] end
    return right
end

-- The mean of the surface along the middle row over the last five periods,
-- eight samples per period.
local mean, samples = {}, 0
local function watch(sim)
    if sim.now.t < o.t_end - 5.01 * inertial then return end
    local eta, row = sim:field 'eta', math.floor(o.nx / 2)
    for i = 0, o.nx - 1 do mean[i] = (mean[i] or 0) + eta[row * o.nx + i] end
    samples = samples + 1
end

local still = { kind = 'sponge', width = math.floor(o.nx / 20), eta = 0, hu = 0, hv = 0 }
local sim = mare.run {
    title = 'Rossby adjustment', options = o,
    grid = mare.grid { nx = o.nx, ny = o.nx, x = { 0, size }, y = { 0, size } },
    scheme = mare.ocean {
        options = o, g = g, depth = depth, coriolis = { f = f },
    },
    boundaries = { west = still, east = still, south = still, north = still },
    initial = function(x, y)
        return hill(math.sqrt((x - size / 2) ^ 2 + (y - size / 2) ^ 2)), 0, 0
    end,
    every = { { inertial / 8, watch } },
    picture = { variable = 'eta', label = 'elevation (m)' },
}

if samples == 0 then return { sim = sim } end       -- stopped early
local dr = size / o.nx / 8
local theory, worst = balanced(dr, 8 * o.nx), 0
for i = 0, o.nx - 1 do
    -- The middle row is half a cell off the centre of the hill.
    local x, y = (i + 0.5) / o.nx * size - size / 2, 0.5 / o.nx * size
    local r = math.sqrt(x * x + y * y)
    local expected = theory[math.floor(r / dr)]
    if r < 0.4 * size then worst = math.max(worst, math.abs(mean[i] / samples - expected)) end
end
local result = { sim = sim, error = worst / height, balanced = theory[0] / height }
if not o.quiet then
    print(string.format('%s: of the hill %.4f m stay, in theory %.4f m; largest error of the '
        .. 'balanced surface %.2g of its height', o.scheme,
        mean[math.floor(o.nx / 2)] / samples, theory[0], result.error))
end
return result
