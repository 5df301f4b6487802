-- Ideal magnetohydrodynamics in a plane: a gas that conducts, and a magnetic field in that plane,
-- six fields in units in which the magnetic pressure is B^2 / 2. Nothing is done about the
-- divergence of B but that it is not made by a sweep: its component along the sweep stays.

local equation = require 'mare.schemes.equation'

local mhd = {}

local code = [[
MR_FN primitive primitive_of(cell q, parameters k) {
    primitive w;
    real kinetic, magnetic = R(0.5) * (q.bn * q.bn + q.bt * q.bt);
    w.rho = q.rho;
    w.un = q.mn / q.rho;
    w.ut = q.mt / q.rho;
    kinetic = R(0.5) * (q.mn * w.un + q.mt * w.ut);
    w.p = (k.gamma - R(1.0)) * (q.energy - kinetic - magnetic);
    w.bn = q.bn;
    w.bt = q.bt;
    return w;
}

MR_FN cell conserved_of(primitive w, parameters k) {
    cell q;
    real square = w.un * w.un + w.ut * w.ut, magnetic = R(0.5) * (w.bn * w.bn + w.bt * w.bt);
    q.rho = w.rho;
    q.mn = w.rho * w.un;
    q.mt = w.rho * w.ut;
    q.energy = w.p / (k.gamma - R(1.0)) + R(0.5) * w.rho * square + magnetic;
    q.bn = w.bn;
    q.bt = w.bt;
    return q;
}

MR_FN flux physical_flux(primitive w, parameters k) {
    flux f;
    cell q = conserved_of(w, k);
    real total = w.p + R(0.5) * (w.bn * w.bn + w.bt * w.bt);
    f.rho = q.mn;
    f.mn = q.mn * w.un + total - w.bn * w.bn;
    f.mt = q.mn * w.ut - w.bn * w.bt;
    f.energy = w.un * (q.energy + total) - w.bn * (w.un * w.bn + w.ut * w.bt);
    f.bn = R(0.0);
    f.bt = w.un * w.bt - w.ut * w.bn;
    return f;
}

/* Fast magnetosonic waves. */
MR_FN waves waves_of(primitive w, parameters k) {
    real inverse = mr_rcp(w.rho), a = k.gamma * w.p * inverse;
    real n = w.bn * w.bn * inverse, t = w.bt * w.bt * inverse, sum = a + n + t;
    real root = mr_sqrt(mr_max(sum * sum - R(4.0) * a * n, R(0.0)));
    real c = mr_sqrt(R(0.5) * (sum + root)) + R(0.0) * mr_sqrt(a);      /* NaN where p < 0 */
    waves s = { w.un - c, w.un + c };
    return s;
}
]]

mhd.equation = equation.new {
    name = 'mhd', title = 'ideal magnetohydrodynamics', code = code,
    fields = {
        { name = 'rho', long_name = 'mass density' },
        { name = 'rho_u', vector = 'm', axis = 'x', long_name = 'momentum density along x' },
        { name = 'rho_v', vector = 'm', axis = 'y', long_name = 'momentum density along y' },
        { name = 'E', symbol = 'energy', long_name = 'total energy density' },
        { name = 'Bx', vector = 'b', axis = 'x', long_name = 'magnetic field along x' },
        { name = 'By', vector = 'b', axis = 'y', long_name = 'magnetic field along y' },
    },
    primitives = { 'rho', 'un', 'ut', 'p', 'bn', 'bt' },
    parameters = { { name = 'gamma', default = 5 / 3, range = { 1.0001, 100 } } },
    integrals = {
        { name = 'mass', variable = 'rho', long_name = 'mass' },
        { name = 'energy', variable = 'E', long_name = 'total energy' },
    },
    conserved = function(scheme, rho, u, v, p, bx, by)
        local kinetic, magnetic = rho * (u * u + v * v) / 2, (bx * bx + by * by) / 2
        return rho, rho * u, rho * v, p / (scheme.numbers.gamma - 1) + kinetic + magnetic, bx, by
    end,
    sample = function(scheme, draw)
        return scheme:conserved(draw(0.5, 2), draw(-1, 1), draw(-1, 1), draw(0.5, 2),
            draw(-1, 1), draw(-1, 1))
    end,
}

-- Makes a scheme of { gamma = 5/3, flux = 'hll' or 'rusanov', limiter, theta, passes }. A state is
-- given by density, velocity, pressure and magnetic field.
function mhd.new(desc) return mhd.equation(desc) end

return mhd
