-- A shock that goes from one gas into another: air (a) and a heavier gas (b) whose particles move
-- together, of one temperature and pressure. Each has its own density and, by its share of the heat
-- capacity, its part in the exponent gamma of the mixture (Karni 1994, J. Comput. Phys. 112, 31).
-- The mass of each gas is conserved, and no share leaves 0 to 1.

local mare = require 'mare'

local o = mare.options {
    title = 'Mixture of gases',
    help = 'A shock runs from air into a heavier gas, which turns back a part of it.',
    mare.options.simulation, mare.equations.options,
    { name = 't-end', default = 0.2 },
    { name = 'nx', default = 512 },
    { name = 'ny', default = 128 },
    { name = 'image', default = 'gas_mixture.png' },
}

local grid = mare.grid { nx = o.nx, ny = o.ny, x = { 0, 1 }, y = { 0, 0.25 } }

-- Heat capacities of a unit of mass at constant volume, and the exponents.
local parameters = { ca = 1, cb = 0.35, ga = 1.4, gb = 1.09 }

-- Returns the exponent of a mixture of these densities.
local function exponent(a, b, p)
    local ca, cb = a * p.ca, b * p.cb
    return (ca * p.ga + cb * p.gb) / (ca + cb)
end

local function energy(w, p)
    local rho = w.a + w.b
    return w.p / (exponent(w.a, w.b, p) - 1) + 0.5 * rho * (w.u.n ^ 2 + w.u.t ^ 2)
end

local scheme = mare.equations {
    name = 'gas_mixture', title = 'a mixture of two gases', options = o, parameters = parameters,
    fields = { 'a', 'b', mare.vector 'm', 'energy' },
    primitives = { 'a', 'b', mare.vector 'u', 'p' },
    primitive = function(q, p)
        local rho = q.a + q.b
        local kinetic = 0.5 * (q.m.n ^ 2 + q.m.t ^ 2) / rho
        return q.a, q.b, q.m.n / rho, q.m.t / rho,
            (exponent(q.a, q.b, p) - 1) * (q.energy - kinetic)
    end,
    conserved = function(w, p)
        local rho = w.a + w.b
        return w.a, w.b, rho * w.u.n, rho * w.u.t, energy(w, p)
    end,
    flux = function(w, p)
        local mass = (w.a + w.b) * w.u.n
        return w.a * w.u.n, w.b * w.u.n, mass * w.u.n + w.p, mass * w.u.t,
            w.u.n * (energy(w, p) + w.p)
    end,
    speed = function(w, p)
        local c = math.sqrt(exponent(w.a, w.b, p) * w.p / (w.a + w.b))
        return w.u.n - c, w.u.n + c
    end,
    variables = {
        { name = 'rho', long_name = 'mass density', value = function(q) return q.a + q.b end },
        { name = 'share', long_name = 'share of the heavier gas',
            value = function(q) return q.b / (q.a + q.b) end },
    },
    integrals = { { name = 'mass_a', variable = 'a', long_name = 'mass of the air' },
        { name = 'mass_b', variable = 'b', long_name = 'mass of the heavier gas' },
        { name = 'energy', variable = 'energy', long_name = 'total energy' } },
}

-- Air under ten times the pressure in the west drives the shock; the heavier gas begins at x = 0.5,
-- along a wavy line.
local function initial(x, y)
    if x < 0.2 then return 1, 0, 0, 0, 10 end
    if x < 0.5 + 0.02 * math.cos(8 * math.pi * y) then return 0.5, 0, 0, 0, 1 end
    return 0, 2, 0, 0, 1
end

local sim = mare.run {
    title = 'Mixture of gases', options = o, grid = grid, scheme = scheme, initial = initial,
    boundaries = { west = 'reflective', east = 'reflective', south = 'periodic',
        north = 'periodic' },
    picture = { variable = 'rho', label = 'density' },
}
return { sim = sim }
