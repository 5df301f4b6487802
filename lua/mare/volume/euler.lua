-- The Euler equations of an ideal gas in three dimensions, as an equation of the script's own would
-- be written: mare.volume.euler { gamma = 1.4, options = o } is a scheme. `initial` gives density,
-- velocity along x, y and z, and pressure.

local choices = require 'mare.schemes.choices'
local equations = require 'mare.schemes.equations'
local errors = require 'bindings.errors'

local euler = {}

local function energy(w, p)
    return w.p / (p.gamma - 1) + 0.5 * w.rho * (w.u.n ^ 2 + w.u.t ^ 2 + w.u.b ^ 2)
end

local function primitive(q, p)
    local un, ut, ub = q.m.n / q.rho, q.m.t / q.rho, q.m.b / q.rho
    local kinetic = 0.5 * (q.m.n * un + q.m.t * ut + q.m.b * ub)
    return q.rho, un, ut, ub, (p.gamma - 1) * (q.energy - kinetic)
end

local function conserved(w, p)
    return w.rho, w.rho * w.u.n, w.rho * w.u.t, w.rho * w.u.b, energy(w, p)
end

local function flux(w, p)
    local mass = w.rho * w.u.n
    return mass, mass * w.u.n + w.p, mass * w.u.t, mass * w.u.b, w.u.n * (energy(w, p) + w.p)
end

local function speed(w, p)
    local c = math.sqrt(p.gamma * w.p / w.rho)
    return w.u.n - c, w.u.n + c
end

local variables = {
    { name = 'rho', long_name = 'mass density' },
    { name = 'energy', long_name = 'total energy density' },
    { name = 'kinetic', long_name = 'kinetic energy density', value = function(q)
        return 0.5 * (q.m_x ^ 2 + q.m_y ^ 2 + q.m_z ^ 2) / q.rho
    end },
}

local integrals = {
    { name = 'mass', variable = 'rho', long_name = 'mass' },
    { name = 'momentum_x', variable = 'm_x', long_name = 'momentum along x' },
    { name = 'momentum_y', variable = 'm_y', long_name = 'momentum along y' },
    { name = 'momentum_z', variable = 'm_z', long_name = 'momentum along z' },
    { name = 'total_energy', variable = 'energy', long_name = 'internal and kinetic energy' },
    { name = 'kinetic_energy', variable = 'kinetic', long_name = 'kinetic energy' },
}

local _, number = choices.checks 'mare.volume.euler'

local allowed = { gamma = 'number', options = 'table', riemann = 'any', limiter = 'string',
    theta = 'number' }

-- desc: { gamma = 1.4, from 1.0001 to 100, options = of mare.options { mare.volume.equation_options
-- }, riemann, limiter, theta = of mare.equations }
function euler.new(desc)
    errors.fields('mare.volume.euler', desc, allowed)
    return equations.new { dimensions = 3, name = 'gas', title = 'Euler equations',
        options = desc.options, riemann = desc.riemann, limiter = desc.limiter, theta = desc.theta,
        parameters = { gamma = number('gamma', desc.gamma or 1.4, 1.0001, 100) },
        fields = { 'rho', { vector = 'm' }, 'energy' },
        primitives = { 'rho', { vector = 'u' }, 'p' }, primitive = primitive,
        conserved = conserved, flux = flux, speed = speed, variables = variables,
        integrals = integrals }
end

return euler
