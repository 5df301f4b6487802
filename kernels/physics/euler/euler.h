/* euler.h - the compressible Euler equations in one direction, shared by both axes.
 *
 * A sweep hands its own direction in as "normal" and the other as "transverse", so that x and y run
 * the same operations in the same order: a transposed problem gives the transposed bits. Every
 * function is mirror symmetric too. */

/* Mass, momentum, energy; or their fluxes, of which that of the energy counts twice: nowhere would
 * it be halved but at the end. */
typedef struct cell { real rho, mn, mt, energy; } cell;
typedef struct flow { real rho, un, ut, p; } flow;            /* velocity and pressure */
typedef struct signals { real n, t; } signals;        /* speeds along the sweep, across it */

MR_FN flow primitive(cell q, real gamma) {
    flow w;
    real inverse = mr_rcp(q.rho);
    w.rho = q.rho;
    w.un = q.mn * inverse;
    w.ut = q.mt * inverse;
    w.p = (gamma - R(1.0)) * mr_fma(R(-0.5), mr_fma(q.mn, w.un, q.mt * w.ut), q.energy);
    return w;
}

/* rho (u^2 + v^2) / 2 + p / (gamma - 1), twice. */
MR_FN real twice_energy(flow w, real gamma) {
    real square = mr_fma(w.un, w.un, w.ut * w.ut);
    return mr_fma(w.rho, square, w.p * (R(2.0) * mr_rcp(gamma - R(1.0))));
}

/* Over sqrt(gamma): sqrt(p / rho). The product must be within the range of numbers. */
MR_FN real sound(flow w) { return mr_ratio_root(w.p, w.rho); }

MR_FN real sound_speed(flow w, real gamma) { return MR_ROOT * mr_sqrt(gamma) * sound(w); }

/* Below 0 or not numbers unless density and pressure are positive. */
MR_FN signals signals_of(cell q, real gamma) {
    real inverse = mr_rcp(q.rho), square = mr_fma(q.mn, q.mn, q.mt * q.mt);
    real heat = mr_fma(q.rho, q.energy, R(-0.5) * square);      /* rho p / (gamma - 1) */
    real c = mr_ratio_root(heat, R(1.0)), scale = MR_ROOT * mr_sqrt(gamma * (gamma - R(1.0)));
    signals s = { mr_fma(scale, c, mr_abs(q.mn)) * inverse,
        mr_fma(scale, c, mr_abs(q.mt)) * inverse };
    return s;
}

MR_FN cell physical_flux(flow w, real gamma) {
    cell f;
    f.rho = w.rho * w.un;
    f.mn = mr_fma(f.rho, w.un, w.p);
    f.mt = f.rho * w.ut;
    f.energy = w.un * mr_fma(R(2.0), w.p, twice_energy(w, gamma));
    return f;
}

MR_FN cell turned(cell q) {
    cell t = { q.rho, q.mt, q.mn, q.energy };
    return t;
}

/* Conservative update with the fluxes through the low and the high face; lambda = dt / dx. */
MR_FN cell update(cell q, cell low, cell high, real lambda) {
    q.rho = mr_fma(lambda, low.rho - high.rho, q.rho);
    q.mn = mr_fma(lambda, low.mn - high.mn, q.mn);
    q.mt = mr_fma(lambda, low.mt - high.mt, q.mt);
    q.energy = mr_fma(R(0.5) * lambda, low.energy - high.energy, q.energy);
    return q;
}
