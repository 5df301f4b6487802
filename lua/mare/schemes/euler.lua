-- The compressible Euler equations of an ideal gas in two dimensions, with gravity towards -y.
-- Unknowns are cell means of density, momentum and total energy
-- E = p / (gamma - 1) + rho (u^2 + v^2) / 2. The device half is kernels/physics/euler/; a new flux
-- or limiter is one line here and one header there.

local choices = require 'mare.schemes.choices'
local equation = require 'mare.schemes.equation'
local m = require 'mare.dialect.maths'
local options = require 'mare.base.options'

local euler = {}

euler.schemes = {
    muscl_hancock = 'second order, dimension split in alternating order',
    lax_friedrichs = 'first order, with this flux and no limiter whatever they are set to',
}
euler.fluxes = {
    hll = 'Harten, Lax, van Leer: contacts smear',
    hllc = 'with the contact wave: contacts stay sharp, but strong shocks along the grid bend',
    hllc_straight = 'as hllc, and such shocks stay straight (no carbuncle)',
    lax_friedrichs = 'Rusanov: one wave speed, the most diffusive',
}
euler.limiters = choices.limiters

-- Returns velocity and pressure in a cell.
local function flow(q, p)
    local inverse = m.rcp(q.rho)
    local u, v = q.rho_u * inverse, q.rho_v * inverse
    local square = m.fma(q.rho_u, u, q.rho_v * v)
    return { u = u, v = v, p = (p.gamma - 1) * m.fma(-0.5, square, q.E) }
end

local function speed(q, p)
    local w = flow(q, p)
    return m.sqrt(w.u ^ 2 + w.v ^ 2)
end

local function sound_speed(q, p)
    return m.times_root(m.sqrt(p.gamma)) * m.ratio_root(flow(q, p).p, q.rho)
end

-- Differences are between both neighbours along an axis: p.gx = 1 / (2 dx), p.gy.
local function vorticity(q, p)
    local v_x = flow(q:at(1, 0), p).v - flow(q:at(-1, 0), p).v
    local u_y = flow(q:at(0, 1), p).u - flow(q:at(0, -1), p).u
    return v_x * p.gx - u_y * p.gy
end

local function schlieren(q, p)
    local x = (q:at(1, 0).rho - q:at(-1, 0).rho) * p.gx
    local y = (q:at(0, 1).rho - q:at(0, -1).rho) * p.gy
    return m.sqrt(x ^ 2 + y ^ 2)
end

-- The unknowns come first, in the order of their planes; the others are expressions:
-- array/derive.lua.
local variables = {
    { name = 'rho', long_name = 'mass density' },
    { name = 'rho_u', long_name = 'momentum density along x' },
    { name = 'rho_v', long_name = 'momentum density along y' },
    { name = 'E', long_name = 'total energy density' },
    { name = 'u', long_name = 'velocity along x', value = function(q, p) return flow(q, p).u end },
    { name = 'v', long_name = 'velocity along y', value = function(q, p) return flow(q, p).v end },
    { name = 'p', long_name = 'pressure', value = function(q, p) return flow(q, p).p end },
    { name = 'speed', long_name = 'magnitude of the velocity', value = speed },
    { name = 'mach', long_name = 'Mach number',
        value = function(q, p) return speed(q, p) / sound_speed(q, p) end },
    { name = 'vorticity', long_name = 'vorticity', value = vorticity },
    { name = 'schlieren', long_name = 'magnitude of the gradient of the density',
        value = schlieren },
}

local integrals = {
    { name = 'mass', variable = 'rho', long_name = 'mass' },
    { name = 'momentum_x', variable = 'rho_u', long_name = 'momentum along x' },
    { name = 'momentum_y', variable = 'rho_v', long_name = 'momentum along y' },
    { name = 'energy', variable = 'E', long_name = 'internal and kinetic energy' },
}

-- Turns density, velocity and pressure into the unknowns.
local function conserved(scheme, rho, u, v, p)
    return rho, rho * u, rho * v, p / (scheme.gamma - 1) + 0.5 * rho * (u * u + v * v)
end

-- Says what went wrong in a cell; returns nil if nothing did.
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
    initial = { 'rho', 'u', 'v', 'p' }, conserved = conserved, invalid = invalid,
    sample = function(scheme, draw)
        return conserved(scheme, draw(0.5, 2), draw(-1, 1), draw(-1, 1), draw(0.5, 2))
    end,
}

-- These a scenario with this scheme lets its user choose; o.gamma and o.gravity are its own.
euler.options = choices.options('Euler equations', euler.schemes, euler.fluxes, variables)

local choose = choices.checks 'euler'

-- Makes a scheme: { gamma = 1.4, gravity = 0, scheme = 'muscl_hancock', flux = 'hllc', limiter =
-- 'mc', theta = 1.3, passes = 1 or 2 of a step over the state, which the devices decide if it is
-- nil, options = of mare.options, where what is not given here may be }
function euler.new(desc)
    desc = options.pick('euler', desc, euler.options)
    local chosen = euler.equation:read(desc, 'hllc', { scheme = 'any', options = 'table' })
    chosen.scheme = choose('scheme', desc.scheme or 'muscl_hancock', euler.schemes)
    if chosen.scheme == 'lax_friedrichs' then
        chosen.flux, chosen.limiter = 'lax_friedrichs', 'none'
    end
    chosen.persists = true
    return euler.equation:build(chosen)
end

return euler
