-- A bump that a steady wind carries once around a periodic square, where it must look as before:
-- the linear advection equation, u_t + c . grad u = 0. What is lost of its height is the error of
-- the scheme.

local mare = require 'mare'

local o = mare.options {
    title = 'Advection',
    help = 'A wind carries a bump once around the domain; its error against the exact solution.',
    mare.options.simulation, mare.equations.options,
    { name = 't-end', default = 1 },
    { name = 'nx', default = 128 },
    { name = 'ny', default = 128 },
    { name = 'image', default = 'advection.png' },
}

local grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, 1 }, y = { 0, 1 } }
local wind = mare.vector(1, 0.5)

local scheme = mare.equations {
    name = 'advection', title = 'linear advection', options = o, fields = { 'u' },
    parameters = { c = wind },
    flux = function(q, p) return p.c.n * q.u end,
    speed = function(_, p) return p.c.n, p.c.n end,
    integrals = { { name = 'mass', variable = 'u', long_name = 'integral of u' } },
}

local function initial(x, y)
    local r = ((x - 0.5) ^ 2 + (y - 0.5) ^ 2) / 0.01
    return math.exp(-r)
end

local sim = mare.run {
    title = 'Advection', options = o, grid = grid, scheme = scheme, initial = initial,
    boundaries = 'periodic', picture = { variable = 'u', label = 'u', range = { 0, 1 } },
}

-- The domain goes around, so that the place that the wind came from is looked for in it.
local function exact(x, y, t)
    return initial((x - wind.x * t) % 1, (y - wind.y * t) % 1)
end

local u, error = sim:field 'u', 0
for j = 0, o.ny - 1 do
    for i = 0, o.nx - 1 do
        local wanted = exact(grid:x_centre(i), grid:y_centre(j), sim.now.t)
        error = error + math.abs(u[j * o.nx + i] - wanted) / grid.cells
    end
end
if not o.quiet then print(string.format('%d cells: L1 error %.3e', grid.cells, error)) end
return { sim = sim, error = error }
