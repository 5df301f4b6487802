-- A Kelvin wave runs once around a periodic channel on an f-plane, along the
-- southern wall. Its speed is sqrt(g H), it decays within R = sqrt(g H) / f of
-- the wall, and nothing flows across. Domain and bump are those of Holm,
-- Brodtkorb and Saetra (2020, Parallel Computing 91), except for `height`,
-- which is small because theory is linear.

local mare = require 'mare'

local o = mare.options {
    title = 'Kelvin wave',
    help = 'A wave follows the coast of a rotating channel, compared with linear theory.',
    mare.options.simulation, mare.ocean.options,
    { name = 'scheme', default = 'linear' },
    { name = 'nx', default = 500, help = 'cells along the channel of 5000 km' },
    { name = 'ny', default = 200, help = 'cells across the channel of 2000 km' },
    { name = 'cfl', default = 0.8 },
    { name = 'image', default = 'kelvin_wave.png' },
    { name = 't-end', default = 159638, unit = 's',
        help = 'time to stop at; default: once around' },
    { name = 'height', type = 'number', default = 0.1, range = { 1e-6, 10 },
        help = 'height of the wave, m' },
}
local g, f, depth, length, width = 9.81, 1.2e-4, 100, 5000e3, 2000e3
local c = math.sqrt(g * depth)
local radius, middle = c / f, length / 2

local function bump(x, y)
    local distance = math.abs(x - middle)
    return o.height / 2 * math.exp(-y / radius)
        * (1 + math.tanh((radius - distance) / (radius / 3)))
end

local sim = mare.run {
    title = 'Kelvin wave', options = o,
    grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, length }, y = { 0, width } },
    scheme = mare.ocean {
        options = o, g = g, depth = depth, coriolis = { f = f },
    },
    boundaries = { west = 'periodic', east = 'periodic', south = 'reflective',
        north = 'reflective' },
    initial = function(x, y)
        local eta = bump(x, y)
        return eta, c / depth * eta, 0
    end,
    picture = { variable = 'eta', label = 'elevation (m)', colours = 'diverging' },
}

-- Returns where the wave with one period in the domain has its crest in row j,
-- and its strength.
local function crest(j)
    local eta, cosine, sine = sim:field 'eta', 0, 0
    for i = 0, o.nx - 1 do
        local angle = 2 * math.pi * (i + 0.5) / o.nx
        cosine = cosine + eta[j * o.nx + i] * math.cos(angle)
        sine = sine + eta[j * o.nx + i] * math.sin(angle)
    end
    return math.atan2(sine, cosine) / (2 * math.pi) * length, math.sqrt(cosine ^ 2 + sine ^ 2)
end

local function largest(variable)
    local data, most = sim:field(variable), 0
    for k = 0, sim.grid.cells - 1 do most = math.max(most, math.abs(data[k])) end
    return most
end

-- How far the crest is ahead of theory, along the shorter way around.
local at, strong = crest(0)
local off = (at - middle - c * sim.now.t + length / 2) % length - length / 2
local row = math.floor(radius / width * o.ny)
local result = {
    sim = sim, speed = 1 + off / (c * sim.now.t), across = largest 'hv' / largest 'hu',
    width = row * width / o.ny / math.log(strong / select(2, crest(row))) / radius,
}
if not o.quiet then
    print(string.format('%s: speed %.5f of sqrt(g H), width %.4f of sqrt(g H) / f, flow across '
        .. '%.2g of that along the wall', o.scheme, result.speed, result.width, result.across))
end
return result
