-- Two jets of opposite directions on a periodic f-plane at 75 degrees north,
-- balanced by the earth's rotation. The profile is that of Galewsky, Scott and
-- Polvani (2004, Tellus 56A, 429), as in Holm, Brodtkorb and Saetra (2020). The
-- balance holds up to rounding, until bumps of the surface make the jets
-- unstable after days. With --bump 0 only the balance is computed.

local mare = require 'mare'

local o = mare.options {
    title = 'Double jet',
    help = 'Two geostrophic jets: steady, and unstable once disturbed.',
    mare.options.simulation, mare.ocean.options,
    { name = 'nx', default = 500, help = 'cells along the jets' },
    { name = 'ny', default = 300, help = 'cells across the jets, in 6 degrees of latitude' },
    { name = 'image', default = 'double_jet.png' },
    { name = 't-end', default = 3 * 86400, unit = 's', help = 'time to stop at' },
    { name = 'bump', type = 'number', default = 0.12, range = { 0, 1 },
        help = 'height of the disturbance, relative to that of the jets' },
}
local g, depth, fastest = 9.80616, 230, 3       -- m/s2, m, m/s
local f = 2 * 7.2722e-5 * math.sin(math.rad(75))
local degree = 111e3
local dy = 6 * degree / o.ny

-- Returns the velocity of row j: a bell 2.5 degrees wide around 73.5 degrees
-- north, and its opposite around 76.5.
local function jet(j)
    local latitude = 72 + (j % o.ny + 0.5) * 6 / o.ny
    local function bell(from)
        local a, b = latitude - from, latitude - from - 2.5
        return a > 0 and b < 0 and math.exp(1 / 1.25 ^ 2 + 1 / (a * b)) or 0
    end
    return fastest * (bell(72.25) - bell(75.25))
end

-- The surface in balance with the jets. Half of each step between two rows
-- belongs to either row.
local surface, highest = { [0] = 0 }, 0
for j = 1, o.ny - 1 do
    surface[j] = surface[j - 1] - 0.5 * dy * f / g * (jet(j - 1) + jet(j))
    highest = math.max(highest, math.abs(surface[j]))
end

local function row_of(y) return math.floor(y / dy) % o.ny end

-- Two bumps, one on each jet.
local length = o.nx * dy
local function bump(x, y)
    local sum = 0
    for _, at in ipairs { 1.5 * degree, 4.5 * degree } do
        local a, b = (x - length / 5) / (0.6 * degree), (y - at) / (0.6 * degree)
        sum = sum + math.exp(-a * a - b * b)
    end
    return o.bump * highest * sum
end

local sim = mare.run {
    title = 'Double jet', options = o,
    grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, length }, y = { 0, 6 * degree } },
    scheme = mare.ocean {
        options = o, g = g, depth = depth, coriolis = { f = f },
    },
    boundaries = 'periodic',
    initial = function(x, y)
        local j = row_of(y)
        return surface[j] + bump(x, y), jet(j), 0
    end,
    picture = { variable = 'hu', label = 'transport along x (m2/s)', colours = 'diverging' },
}

-- How much the jets have changed, and the flow across them, relative to their
-- own flow.
local hu, change, across = sim:field 'hu', 0, 0
for k = 0, sim.grid.cells - 1 do
    local j = math.floor(k / o.nx)
    local held = jet(j) * (depth + surface[j])
    change = math.max(change, math.abs(tonumber(hu[k]) - held))
end
local hv = sim:field 'hv'
for k = 0, sim.grid.cells - 1 do across = math.max(across, math.abs(tonumber(hv[k]))) end
local own = fastest * depth
local result = { sim = sim, change = change / own, across = across / own }
if not o.quiet then
    print(string.format('%s, %d x %d cells, bump %g, %.2f days: transport along the jets changed '
        .. 'by %.2e of theirs, across them %.2e', o.scheme, o.nx, o.ny, o.bump, sim.now.t / 86400,
        result.change, result.across))
end
return result
