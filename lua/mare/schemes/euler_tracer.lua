-- The Euler equations of an ideal gas that carries a tracer: a share y of each mass moves along
-- with it, so that rho y is conserved. One file, as any new equation may be: the table says what
-- there is, its code what flows.

local equation = require 'mare.schemes.equation'

local tracer = {}

local code = [[
MR_FN primitive primitive_of(cell q, parameters k) {
    primitive w;
    w.rho = q.rho;
    w.un = q.mn / q.rho;
    w.ut = q.mt / q.rho;
    w.p = (k.gamma - R(1.0)) * (q.energy - R(0.5) * (q.mn * w.un + q.mt * w.ut));
    w.y = q.rho_y / q.rho;
    return w;
}

MR_FN cell conserved_of(primitive w, parameters k) {
    cell q;
    q.rho = w.rho;
    q.mn = w.rho * w.un;
    q.mt = w.rho * w.ut;
    q.energy = w.p / (k.gamma - R(1.0)) + R(0.5) * w.rho * (w.un * w.un + w.ut * w.ut);
    q.rho_y = w.rho * w.y;
    return q;
}

MR_FN flux physical_flux(primitive w, parameters k) {
    flux f;
    cell q = conserved_of(w, k);
    f.rho = q.mn;
    f.mn = q.mn * w.un + w.p;
    f.mt = q.mn * w.ut;
    f.energy = w.un * (q.energy + w.p);
    f.rho_y = q.mn * w.y;
    return f;
}

MR_FN waves waves_of(primitive w, parameters k) {
    real c = mr_sqrt(k.gamma * w.p * mr_rcp(w.rho));
    waves s = { w.un - c, w.un + c };
    return s;
}
]]

tracer.equation = equation.new {
    name = 'euler_tracer', title = 'Euler with a tracer', code = code,
    fields = {
        { name = 'rho', long_name = 'mass density' },
        { name = 'rho_u', vector = 'm', axis = 'x', long_name = 'momentum density along x' },
        { name = 'rho_v', vector = 'm', axis = 'y', long_name = 'momentum density along y' },
        { name = 'E', symbol = 'energy', long_name = 'total energy density' },
        { name = 'rho_y', long_name = 'density of the tracer' },
    },
    primitives = { 'rho', 'un', 'ut', 'p', 'y' },
    parameters = { { name = 'gamma', default = 1.4, range = { 1.0001, 100 } } },
    variables = {
        { name = 'y', long_name = 'share of the tracer',
            value = function(q) return q.rho_y / q.rho end },
    },
    integrals = {
        { name = 'mass', variable = 'rho', long_name = 'mass' },
        { name = 'tracer', variable = 'rho_y', long_name = 'mass of the tracer' },
    },
    conserved = function(scheme, rho, u, v, p, y)
        local gamma = scheme.numbers.gamma
        return rho, rho * u, rho * v, p / (gamma - 1) + rho * (u * u + v * v) / 2, rho * y
    end,
    sample = function(scheme, draw)
        return scheme:conserved(draw(0.5, 2), draw(-1, 1), draw(-1, 1), draw(0.5, 2), draw(0, 1))
    end,
}

-- Makes a scheme of { gamma = 1.4, flux = 'hll' or 'rusanov', limiter, theta, passes }. A state is
-- given by density, velocity, pressure and share of the tracer.
function tracer.new(desc) return tracer.equation(desc) end

return tracer
