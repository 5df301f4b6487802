-- A cloud carried through a periodic cube by a steady wind and back to where it began: what is left
-- of it and what it should be tell the error of the steps.

local mare = require 'mare'

local o = mare.options {
    title = 'Advection in space',
    help = 'A cloud goes once around a periodic cube; compared with the exact solution.',
    mare.volume.options, mare.volume.equation_options,
    { name = 't-end', default = 1 },
    { name = 'nx', default = 64 },
    { name = 'ny', default = 64 },
    { name = 'nz', default = 64 },
    { name = 'image', default = 'cloud.png' },
}

local wind = mare.vector(1, 1, -1)

local function cloud(x, y, z)
    local function wave(s) return math.cos(math.pi * (s - 0.5)) ^ 4 end
    return wave(x) * wave(y) * wave(z)
end

local unit = { 0, 1 }
local grid = mare.volume.grid { nx = o.nx, ny = o.ny, nz = o.nz, x = unit, y = unit, z = unit }

local sim = mare.volume {
    title = 'Advection in space', options = o, grid = grid, initial = cloud,
    boundaries = 'periodic', picture = { variable = 'u', label = 'cloud' },
    scheme = mare.equations {
        name = 'advection', title = 'advection', dimensions = 3, options = o, fields = { 'u' },
        parameters = { c = wind },
        flux = function(q, p) return p.c.n * q.u end,
        speed = function(_, p) return p.c.n, p.c.n end,
    },
}

local u, sum, at, t = sim:field 'u', 0, 0, sim.now.t
for k = 0, o.nz - 1 do
    for j = 0, o.ny - 1 do
        for i = 0, o.nx - 1 do
            sum = sum + math.abs(u[at] - cloud(grid:centre('x', i) - wind.x * t,
                grid:centre('y', j) - wind.y * t, grid:centre('z', k) - wind.z * t))
            at = at + 1
        end
    end
end
if not o.quiet then print(('mean error %.3e'):format(sum / grid.cells)) end
return { sim = sim, error = sum / grid.cells }
