-- The compressible Euler equations of an ideal gas in two dimensions, with gravity towards -y:
-- what simulation.lua must know of them. Unknowns are cell means of density, momentum and total
-- energy E = p / (gamma - 1) + rho (u^2 + v^2) / 2. The device half is kernels/euler/; a new flux
-- or limiter is one line here and one header there.

local errors = require 'bindings.errors'
local layout = require 'mare.layout'
local source = require 'mare.source'

local euler = {}

local Euler = {}
Euler.__index = Euler

euler.schemes = {
    muscl_hancock = 'second order, dimension split in alternating order',
    lax_friedrichs = 'first order, with this flux and no limiter whatever they are set to',
}
euler.fluxes = {
    hll = 'Harten, Lax, van Leer: contacts smear',
    hllc = 'with the contact wave: contacts stay sharp',
    lax_friedrichs = 'Rusanov: one wave speed, the most diffusive',
}
euler.limiters = {
    minmod = 'generalised minmod, theta from 1 (safest) to 2 (sharpest)',
    mc = 'monotonised central',
    van_leer = 'harmonic mean, between minmod and mc',
    superbee = 'the most compressive: squares smooth waves off',
    none = 'no slopes: first order',
}

-- How kernels are cut into work: W columns a work-item, GROUP work-items a group, strips of about
-- `rows` rows. The best of sweeps over these on an H200 (8192^2 cells) and on PoCL; results do not
-- depend on it.
local gpu = {
    float = {
        x = { W = 4, GROUP = 64, rows = 16 },
        y = { W = 2, GROUP = 64, rows = 64 },
        speed = { W = 1, GROUP = 128, rows = 64 },
    },
    double = {
        x = { W = 4, GROUP = 64, rows = 16 },
        y = { W = 1, GROUP = 64, rows = 64 },
        speed = { W = 1, GROUP = 128, rows = 64 },
    },
}
local cpu = {
    x = { W = 120, GROUP = 1, rows = 32 },
    y = { W = 128, GROUP = 1, rows = 64 },
    speed = { W = 64, GROUP = 1, rows = 64 },
}

local function shape_for(device, precision)
    return device.info.kind == 'cpu' and cpu or gpu[precision]
end

-- Unknowns first, in the order of their planes; the others come from a kernel of euler/derive.krn,
-- some of neighbouring cells too.
local variables = {
    { name = 'rho', long_name = 'mass density' },
    { name = 'rho_u', long_name = 'momentum density along x' },
    { name = 'rho_v', long_name = 'momentum density along y' },
    { name = 'E', long_name = 'total energy density' },
    { name = 'u', long_name = 'velocity along x', kernel = 'derive_u' },
    { name = 'v', long_name = 'velocity along y', kernel = 'derive_v' },
    { name = 'p', long_name = 'pressure', kernel = 'derive_p' },
    { name = 'speed', long_name = 'magnitude of the velocity', kernel = 'derive_speed' },
    { name = 'mach', long_name = 'Mach number', kernel = 'derive_mach' },
    { name = 'vorticity', long_name = 'vorticity', kernel = 'derive_vorticity', ghosts = true },
    { name = 'schlieren', long_name = 'magnitude of the gradient of the density',
        kernel = 'derive_schlieren', ghosts = true },
}

local function names_of(choices)
    local names = {}
    for name in pairs(choices) do names[#names + 1] = name end
    table.sort(names)
    return names
end

local function choose(what, name, choices)
    if choices[name] then return name end
    errors.argument("euler: %s '%s' (there are: %s)", what, tostring(name),
        table.concat(names_of(choices), ', '))
end

local function number(what, value, low, high)
    if type(value) == 'number' and value >= low and value <= high then return value end
    errors.argument('euler: %s = %s, must be from %g to %g', what, tostring(value), low, high)
end

-- What a scenario with this scheme lets its user choose; o.gamma and o.gravity are the scenario's
-- own.
euler.options = {
    title = 'Euler equations',
    { name = 'scheme', default = 'muscl_hancock', choices = names_of(euler.schemes),
        help = 'of the time step' },
    { name = 'flux', default = 'hllc', choices = names_of(euler.fluxes), help = 'between cells' },
    { name = 'limiter', default = 'mc', choices = names_of(euler.limiters), help = 'of slopes' },
    { name = 'theta', type = 'number', default = 1.3, range = { 1, 2 },
        help = 'of the minmod limiter' },
    { name = 'variables', type = 'string',
        help = 'more for --out, of u,v,p,speed,mach,vorticity,schlieren' },
}

-- { gamma = 1.4, gravity = 0, scheme = 'muscl_hancock', flux = 'hllc', limiter = 'mc', theta =
-- 1.3 }
function euler.new(desc)
    local scheme = choose('scheme', desc.scheme or 'muscl_hancock', euler.schemes)
    local simple = scheme == 'lax_friedrichs'
    return setmetatable({
        name = 'euler', scheme = scheme, halo = 2, updated = 4, read_only = 0,
        fields = { 'rho', 'rho_u', 'rho_v', 'E' }, normal = { x = 1, y = 2 },
        variables = variables, derive = 'euler/derive.krn',
        flux = choose('flux', simple and 'lax_friedrichs' or desc.flux or 'hllc', euler.fluxes),
        limiter = choose('limiter', simple and 'none' or desc.limiter or 'mc', euler.limiters),
        theta = number('theta', desc.theta or 1.3, 1, 2),
        gamma = number('gamma', desc.gamma or 1.4, 1.0001, 100),
        gravity = number('gravity', desc.gravity or 0, 0, 1e30),
    }, Euler)
end

-- Density, velocity and pressure to the unknowns.
function Euler:conserved(rho, u, v, p)
    return rho, rho * u, rho * v, p / (self.gamma - 1) + 0.5 * rho * (u * u + v * v)
end

-- What went wrong in a cell, or nil.
function Euler:invalid(rho, mx, my, energy)
    if not (rho > 0 and rho < math.huge) then return string.format('density %g', rho) end
    local p = (self.gamma - 1) * (energy - (mx * mx + my * my) / (2 * rho))
    if not (p > 0 and p < math.huge) then return string.format('pressure %g', p) end
end

-- Work-items and groups for so many columns and rows.
local function work(shape, columns, rows)
    local global = { math.ceil(columns / shape.W), math.ceil(rows / shape.rows) }
    return global, math.ceil(global[1] / shape.GROUP) * global[2]
end

-- How many maxima the kernels of a part write at most: one a group.
function Euler.maxima(_, device, part)
    local most = 0
    for _, precision in ipairs { 'float', 'double' } do
        for _, shape in pairs(shape_for(device, precision)) do
            local _, groups = work(shape, part.nx, part.ny)
            most = math.max(most, groups)
        end
    end
    return most
end

-- The kernels on a device, shared by all its parts.
function Euler:kernels(device, precision)
    local shape = shape_for(device, precision)
    local fast = device.info.kind == 'gpu' and precision == 'float'
    local function load(file, cut)
        return device:program(source.program(file, { math = fast and 'fast' or 'strict', defines = {
            MARE_REAL = precision, W = cut.W, GROUP = cut.GROUP,
            LIMITER = string.format('"limiters/%s.h"', self.limiter),
            FLUX = string.format('"euler/%s.h"', self.flux),
            THETA = self.limiter == 'minmod' and string.format('R(%.6f)', self.theta) or nil,
        } }))
    end
    local x, y = load('euler/sweep_x.krn', shape.x), load('euler/sweep_y.krn', shape.y)
    return {
        shape = shape,
        x_first = x:kernel 'euler_x_first', x_last = x:kernel 'euler_x_last',
        y_first = y:kernel 'euler_y_first', y_last = y:kernel 'euler_y_last',
        max_speed = load('euler/max_speed.krn', shape.speed):kernel 'euler_max_speed',
    }
end

-- Binds what the kernel asks for, over so many columns and rows.
local function bind(kernel, values, shape, columns, rows)
    local arguments = { global = work(shape, columns, rows), group = { shape.GROUP, 1 } }
    arguments.bytes = values.bytes
    for _, arg in ipairs(kernel.args) do arguments[arg.name] = values[arg.name] end
    return kernel:bind(arguments)
end

-- Ghost cells fall as what they stand for does: mirrored behind a wall, not at all where they are
-- fixed.
local function ghost_gravity(self, part, side)
    local factors = { reflective = -1, fixed = 0 }
    local kind = part.state.part.edge[side] and part.boundaries[side]
    return (factors[kind] or 1) * self.gravity
end

-- The launches of one part: a step is `x` or `y`, two sweeps each, named after the axis of the
-- first; `measure` writes the maxima of the state as it is. part: { state, grid, boundaries,
-- clock, maxima, slot }
function Euler:bind(kernels, part)
    local state = part.state
    local nx, ny, halo = state.layout.nx, state.layout.ny, state.layout.halo
    local values = {
        nx = nx, ny = ny, stride = state.layout.stride, plane = state.layout.plane,
        inv_dx = 1 / part.grid.dx, inv_dy = 1 / part.grid.dy, gamma = self.gamma,
        gravity = self.gravity, gravity_south = ghost_gravity(self, part, 'south'),
        gravity_north = ghost_gravity(self, part, 'north'),
        clock = part.clock, maxima = part.maxima, slot = part.slot,
    }
    local shape = kernels.shape
    local x, y = shape.x, shape.y
    values.src, values.dst = state.now, state.other
    values.bytes = #self.fields * nx * ny * state.element
    local measure = bind(kernels.max_speed, values, shape.speed, nx, ny)
    values.bytes = 2 * values.bytes             -- a sweep also writes each field
    local x_first = bind(kernels.x_first, values, x, nx, ny + 2 * halo)
    local y_first = bind(kernels.y_first, values, y, layout.pad + nx + halo, ny)
    values.src, values.dst = state.other, state.now
    return {
        x = { x_first, bind(kernels.y_last, values, y, nx, ny) },
        y = { y_first, bind(kernels.x_last, values, x, nx, ny) },
        measure = measure,
    }
end

-- What the kernels of derive.krn want to know.
function Euler:derive_values(grid)
    return { gamma = self.gamma, gx = 0.5 / grid.dx, gy = 0.5 / grid.dy }
end

-- What describes the equations in a file's metadata.
function Euler:parameters()
    return { equations = 'Euler', gamma = self.gamma, gravity = self.gravity }
end

return euler
