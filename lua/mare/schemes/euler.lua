-- The compressible Euler equations of an ideal gas in two dimensions, with gravity towards -y.
-- Unknowns are cell means of density, momentum and total energy
-- E = p / (gamma - 1) + rho (u^2 + v^2) / 2. The device half is kernels/physics/euler/; a new flux
-- or limiter is one line here and one header there.

local choices = require 'mare.schemes.choices'
local equation = require 'mare.schemes.equation'
local errors = require 'bindings.errors'
local options = require 'mare.base.options'

local euler = {}

euler.schemes = {
    muscl_hancock = 'second order, dimension split in alternating order',
    lax_friedrichs = 'first order, with this flux and no limiter whatever they are set to',
}
euler.fluxes = {
    hll = 'Harten, Lax, van Leer: contacts smear',
    hllc = 'with the contact wave: contacts stay sharp',
    lax_friedrichs = 'Rusanov: one wave speed, the most diffusive',
}
euler.limiters = choices.limiters

-- Unknowns first, in the order of their planes; the others come from a kernel of
-- physics/euler/derive.krn, some of neighbouring cells too.
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

local integrals = {
    { name = 'mass', variable = 'rho', long_name = 'mass' },
    { name = 'momentum_x', variable = 'rho_u', long_name = 'momentum along x' },
    { name = 'momentum_y', variable = 'rho_v', long_name = 'momentum along y' },
    { name = 'energy', variable = 'E', long_name = 'internal and kinetic energy' },
}

-- Density, velocity and pressure to the unknowns.
local function conserved(scheme, rho, u, v, p)
    return rho, rho * u, rho * v, p / (scheme.gamma - 1) + 0.5 * rho * (u * u + v * v)
end

-- What went wrong in a cell, or nil.
local function invalid(scheme, rho, mx, my, energy)
    if not (rho > 0 and rho < math.huge) then return string.format('density %g', rho) end
    local p = (scheme.gamma - 1) * (energy - (mx * mx + my * my) / (2 * rho))
    if not (p > 0 and p < math.huge) then return string.format('pressure %g', p) end
end

euler.equation = equation.new {
    name = 'euler', title = 'Euler', header = 'physics/euler/equation', folder = 'physics/euler',
    fields = {
        { name = 'rho' },
        { name = 'rho_u', vector = 'm', axis = 'x' },
        { name = 'rho_v', vector = 'm', axis = 'y' },
        { name = 'E', symbol = 'energy' },
    },
    primitives = { 'rho', 'un', 'ut', 'p' },
    parameters = {
        { name = 'gamma', default = 1.4, range = { 1.0001, 100 } },
        { name = 'gravity', default = 0, range = { 0, 1e30 } },
    },
    source = function(numbers) return numbers.gravity > 0 end,
    fluxes = euler.fluxes, variables = variables, integrals = integrals,
    derive = 'physics/euler/derive.krn', conserved = conserved, invalid = invalid,
    derive_values = function(scheme, grid)
        return { gamma = scheme.gamma, gx = 0.5 / grid.dx, gy = 0.5 / grid.dy }
    end,
    sample = function(scheme, draw)
        return conserved(scheme, draw(0.5, 2), draw(-1, 1), draw(-1, 1), draw(0.5, 2))
    end,
}

local names_of = choices.names_of

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
    { name = 'variables', type = 'string', needs = { 'out', 'series' },
        help = 'more for --out, of u,v,p,speed,mach,vorticity,schlieren' },
}

local choose, number = choices.checks 'euler'

-- { gamma = 1.4, gravity = 0, scheme = 'muscl_hancock', flux = 'hllc', limiter = 'mc', theta =
-- 1.3, passes = 1 or 2 of a step over the state, which the devices decide if it is nil, options =
-- of mare.options, where what is not given here may be }
function euler.new(desc)
    desc = options.pick('euler', desc, euler.options)
    errors.fields('euler', desc, { gamma = 'any', gravity = 'any', scheme = 'any', flux = 'any',
        limiter = 'any', theta = 'any', passes = 'any', options = 'table' })
    local scheme = choose('scheme', desc.scheme or 'muscl_hancock', euler.schemes)
    local simple = scheme == 'lax_friedrichs'
    local numbers = euler.equation:numbers(desc)
    return euler.equation:build {
        scheme = scheme, numbers = numbers, more = { gamma = numbers.gamma },
        flux = choose('flux', simple and 'lax_friedrichs' or desc.flux or 'hllc', euler.fluxes),
        limiter = choose('limiter', simple and 'none' or desc.limiter or 'mc', euler.limiters),
        theta = number('theta', desc.theta or 1.3, 1, 2),
        passes = desc.passes and number('passes', desc.passes, 1, 2), persists = true,
    }
end

return euler
