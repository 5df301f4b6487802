-- Spots that grow and divide: two substances that react and spread (Gray and Scott 1985, J. Phys.
-- Chem. 89, 22), with the numbers of Pearson (1993, Science 261, 189), for which spots divide as
-- cells do. u is fed at the rate `feed`, v uses it up and is taken away at the rate feed + kill.

local mare = require 'mare'

local o = mare.options {
    title = 'Gray and Scott',
    help = 'Two substances react and spread: spots grow and divide.',
    mare.options.simulation, mare.stencil.options,
    { name = 't-end', default = 2000 },
    { name = 'nx', default = 256 },
    { name = 'ny', default = 256 },
    { name = 'feed', type = 'number', default = 0.0367, range = { 0, 1 }, help = 'of u, per time' },
    { name = 'kill', type = 'number', default = 0.0649, range = { 0, 1 }, help = 'of v, per time' },
    { name = 'image', default = 'gray_scott.png' },
}

local size = 2.5 * o.nx / 256
local grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, size }, y = { 0, size * o.ny / o.nx } }

-- Sum of both second differences of a substance.
local function laplacian(here, west, east, south, north, dx, dy)
    return (west - 2 * here + east) / dx ^ 2 + (south - 2 * here + north) / dy ^ 2
end

local scheme = mare.stencil {
    name = 'gray_scott', title = 'Gray and Scott', options = o, fields = { 'u', 'v' },
    parameters = { du = 2e-5, dv = 1e-5, feed = o.feed, kill = o.kill },
    rate = function(q, _, _, _, p)
        local u, v, made = q.u.here, q.v.here, q.u.here * q.v.here ^ 2
        return p.du * laplacian(u, q.u.west, q.u.east, q.u.south, q.u.north, p.dx, p.dy) - made
            + p.feed * (1 - u),
            p.dv * laplacian(v, q.v.west, q.v.east, q.v.south, q.v.north, p.dx, p.dy) + made
            - (p.feed + p.kill) * v
    end,
    limit = function(p) return 2 * p.du * (1 / p.dx ^ 2 + 1 / p.dy ^ 2) + 1 end,
    integrals = { { name = 'v', variable = 'v', long_name = 'amount of v' } },
}

-- A square of v in the middle, a little uneven.
local function initial(x, y)
    local inside = math.abs(x - size / 2) < 0.1 and math.abs(y - size * o.ny / o.nx / 2) < 0.1
    local uneven = 1 + 0.02 * math.sin(97 * x) * math.sin(71 * y)
    if inside then return 0.5 * uneven, 0.25 * uneven end
    return 1, 0
end

local sim = mare.run {
    title = 'Gray and Scott', options = o, grid = grid, scheme = scheme, initial = initial,
    boundaries = 'periodic', picture = { variable = 'v', label = 'v', range = { 0, 0.4 } },
}
return { sim = sim }
