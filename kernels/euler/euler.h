/* euler.h - the compressible Euler equations in one direction, shared by both axes.
 *
 * A sweep hands its own direction in as "normal" and the other as "transverse", so that x and y run
 * the same operations in the same order: a transposed problem gives the transposed bits. Every
 * function is mirror symmetric too. */

typedef struct cell { real rho, mn, mt, energy; } cell;       /* mass, momentum, energy */
typedef struct flow { real rho, un, ut, p; } flow;            /* velocity and pressure */

/* The same bits whichever axis is called normal: max_rate.krn knows one only. */
MR_FN flow primitive(cell q, real gamma) {
    flow w;
    real inverse = mr_rcp(q.rho);
    w.rho = q.rho;
    w.un = q.mn * inverse;
    w.ut = q.mt * inverse;
    w.p = (gamma - R(1.0)) * mr_fma(R(-0.5), q.mn * w.un + q.mt * w.ut, q.energy);
    return w;
}

MR_FN real energy_of(flow w, real gamma) {
    real square = mr_fma(w.un, w.un, w.ut * w.ut);
    return mr_fma(R(0.5) * w.rho, square, w.p * mr_rcp(gamma - R(1.0)));
}

MR_FN real sound_speed(flow w, real gamma) {
    return mr_sqrt(gamma * w.p * mr_rcp(w.rho));
}

/* How fast signals cross cells, in cells per time: dt times it is the Courant number. NaN unless
 * density and pressure are positive, where their quotient may be so too; 1 / rho is not positive
 * either where rho is infinite. An infinite pressure makes an infinite rate. */
MR_FN real signal_rate(flow w, real gamma, real inv_dn, real inv_dt) {
    int valid = (mr_rcp(w.rho) > R(0.0)) & (w.p > R(0.0));
    real c = mr_select(valid, sound_speed(w, gamma), mr_sqrt(R(-1.0)));
    return mr_max((mr_abs(w.un) + c) * inv_dn, (mr_abs(w.ut) + c) * inv_dt);
}

MR_FN cell physical_flux(flow w, real energy) {
    cell f;
    f.rho = w.rho * w.un;
    f.mn = mr_fma(f.rho, w.un, w.p);
    f.mt = f.rho * w.ut;
    f.energy = w.un * (energy + w.p);
    return f;
}

/* Conservative update with the fluxes through the low and the high face; lambda = dt / dx. */
MR_FN cell update(cell q, cell low, cell high, real lambda) {
    q.rho = mr_fma(lambda, low.rho - high.rho, q.rho);
    q.mn = mr_fma(lambda, low.mn - high.mn, q.mn);
    q.mt = mr_fma(lambda, low.mt - high.mt, q.mt);
    q.energy = mr_fma(lambda, low.energy - high.energy, q.energy);
    return q;
}
