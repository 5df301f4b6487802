-- The vortex of Taylor and Green (1937, Proc. R. Soc. A 158, 499) in a gas at Mach 0.1: large
-- vortices in a periodic cube stretch and break down into ever smaller ones. Without viscosity
-- kinetic energy is lost only where the grid resolves no more.

local mare = require 'mare'

local o = mare.options {
    title = 'Taylor-Green vortex',
    help = 'Vortices in a cube break down. Prints the kinetic energy that is left.',
    mare.volume.options, mare.volume.equation_options,
    { name = 't-end', default = 5 },
    { name = 'nx', default = 64 },
    { name = 'ny', default = 64 },
    { name = 'nz', default = 64 },
    { name = 'mach', type = 'number', default = 0.1, range = { 0.01, 1 },
        help = 'speed of the vortices over that of sound' },
    { name = 'image', default = 'taylor_green.png' },
}

local gamma = 1.4

local scheme = mare.volume.euler { gamma = gamma, options = o }

local pressure = 1 / (gamma * o.mach ^ 2)

local function initial(x, y, z)
    local p = pressure + (math.cos(2 * x) + math.cos(2 * y)) * (math.cos(2 * z) + 2) / 16
    return p / pressure, math.sin(x) * math.cos(y) * math.cos(z),
        -math.cos(x) * math.sin(y) * math.cos(z), 0, p
end

local around = { 0, 2 * math.pi }

local sim = mare.volume {
    title = 'Taylor-Green vortex', options = o, scheme = scheme, initial = initial,
    grid = { nx = o.nx, ny = o.ny, nz = o.nz, x = around, y = around, z = around },
    boundaries = 'periodic', picture = { variable = 'kinetic' },
    series = { every = o.t_end },
}

local kinetic = sim.series.kinetic_energy
local left = kinetic[#kinetic] / kinetic[1]
if not o.quiet then print(('kinetic energy left: %.4f'):format(left)) end
return { sim = sim, left = left }
