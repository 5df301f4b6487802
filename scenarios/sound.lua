-- A pulse of sound in space: as in `acoustics`, but with walls far off in all of three dimensions,
-- where a sphere of pressure runs out and leaves silence behind. From a pulse p(r) at rest comes
-- r p = (f(r - c t) + f(r + c t)) / 2 with f(r) = r p(r).

local mare = require 'mare'

local o = mare.options {
    title = 'Sound in space',
    help = 'A pulse of sound spreads in three dimensions; compared with the exact solution.',
    mare.volume.options, mare.volume.equation_options,
    { name = 't-end', default = 0.25 },
    { name = 'nx', default = 64 },
    { name = 'ny', default = 64 },
    { name = 'nz', default = 64 },
    { name = 'image', default = 'sound.png' },
}

local stiffness, density, width = 1, 1, 0.15
local side = { -0.5, 0.5 }
local grid = mare.volume.grid { nx = o.nx, ny = o.ny, nz = o.nz, x = side, y = side, z = side }

local scheme = mare.equations {
    name = 'acoustics', title = 'linear acoustics', dimensions = 3, options = o,
    fields = { 'p', mare.vector 'v' }, parameters = { stiffness = stiffness,
        density = density },
    flux = function(q, p) return p.stiffness * q.v.n, q.p / p.density, 0 * q.p, 0 * q.p end,
    speed = function(_, p)
        local c = math.sqrt(p.stiffness / p.density)
        return -c, c
    end,
    variables = { { name = 'energy', long_name = 'energy density of sound',
        value = function(q, p)
            return 0.5 * (q.p ^ 2 / p.stiffness + p.density * (q.v_x ^ 2 + q.v_y ^ 2 + q.v_z ^ 2))
        end } },
    integrals = { { name = 'total_energy', variable = 'energy', long_name = 'energy of sound' } },
}

local function pulse(r) return math.exp(-(r / width) ^ 2) end

local function initial(x, y, z) return pulse(math.sqrt(x * x + y * y + z * z)), 0, 0, 0 end

local sim = mare.volume {
    title = 'Sound in space', options = o, grid = grid, scheme = scheme, initial = initial,
    boundaries = 'reflective', picture = { variable = 'p', label = 'pressure' },
}

local function exact(r, t)
    local out, back = r - t, r + t
    return (out * pulse(out) + back * pulse(back)) / (2 * r)
end

-- The mean error of the pressure along the line through the middle.
local j, k = math.floor(o.ny / 2), math.floor(o.nz / 2)
local p, sum = sim:field('p', { i = 0, j = j, k = k, nx = o.nx, ny = 1, nz = 1 }), 0
for i = 0, o.nx - 1 do
    local x, y, z = grid:centre('x', i), grid:centre('y', j), grid:centre('z', k)
    sum = sum + math.abs(p[i] - exact(math.sqrt(x * x + y * y + z * z), sim.now.t))
end
if not o.quiet then print(('mean error of the pressure %.3e'):format(sum / o.nx)) end
return { sim = sim, error = sum / o.nx }
