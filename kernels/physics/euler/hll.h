/* HLL flux (Harten, Lax and van Leer 1983; Toro 2009, 10.3) with the outer speeds of Davis (1988).
 * It smears contacts. */

#include "physics/euler/twice.h"

/* weight (F(w) - s q(w)): what comes over the face from state w through its outer wave s. */
MR_FN flux carried(primitive w, real s, real weight, real gamma) {
    flux f;
    real relative = w.un - s, pressure = weight * w.p;
    f.rho = weight * relative * w.rho;
    f.mn = mr_fma(f.rho, w.un, pressure);
    f.mt = f.rho * w.ut;
    f.energy = mr_fma(pressure, mr_fma(R(2.0) * mr_rcp(gamma - R(1.0)), relative, w.un),
        mr_fma(f.mt, w.ut, f.mn * w.un));
    return f;
}

/* (sr F(l) - sl F(r) + sl sr (q(r) - q(l))) / (sr - sl), as a sum over the two sides; west is -sl
 * and east sr, both from 0 on. */
MR_FN flux numerical_flux(face l, face r, real lambda, parameters k) {
    real cl = sound_over_root(l), cr = sound_over_root(r), scale = root_of_gamma(k);
    real west = mr_most(mr_fma(scale, cl, -l.un), mr_fma(scale, cr, -r.un));
    real east = mr_most(mr_fma(scale, cl, l.un), mr_fma(scale, cr, r.un));
    real width = mr_rcp(east + west);
    flux a = carried(l, -west, east * width, k.gamma), f;
    flux b = carried(r, east, west * width, k.gamma);
    f.rho = a.rho + b.rho;
    f.mn = a.mn + b.mn;
    f.mt = a.mt + b.mt;
    f.energy = a.energy + b.energy;
    return f;
}
