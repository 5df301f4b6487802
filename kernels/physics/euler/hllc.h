/* HLLC flux (Toro, Spruce and Speares 1994; Toro 2009, 10.4): two outer waves and the contact,
 * which it keeps exactly.
 *
 * Outer speeds after Davis (1988): sl <= u - c and sr >= u + c of both states, from which
 * sl < contact < sr follows for positive density and pressure, so that no division meets a zero.
 * Where all waves go one way the outer one counts as at rest: the flux is that of the state before
 * it then. */

#include "physics/euler/twice.h"

/* Flux between the outer wave s of state w and the contact; a = rho (s - u). The jump over s leaves
 * energy + pressure of (a (energy + p) / rho + (pressure - p) s) / (s - contact) there. */
MR_FN flux star_flux(primitive w, real s, real a, real contact, real gamma) {
    flux f;
    real part = contact * mr_rcp(s - contact), change = contact - w.un, twice = s + s;
    real square = mr_fma(w.un, w.un, w.ut * w.ut);
    real heat = R(2.0) * gamma * mr_rcp(gamma - R(1.0)) * w.p;
    f.rho = a * part;
    f.mn = mr_fma(f.rho, contact, mr_fma(a, change, w.p));
    f.mt = f.rho * w.ut;
    f.energy = part * mr_fma(a, mr_fma(twice, change, square), heat * (s - w.un));
    return f;
}

MR_FN flux numerical_flux(face l, face r, real lambda, parameters k) {
    real cl = sound_over_root(l), cr = sound_over_root(r), scale = root_of_gamma(k);
    real west = mr_most(mr_fma(scale, cl, -l.un), mr_fma(scale, cr, -r.un));
    real east = mr_most(mr_fma(scale, cl, l.un), mr_fma(scale, cr, r.un));
    real al = -l.rho * (west + l.un), ar = r.rho * (east - r.un);
    real push = mr_fma(al, l.un, -l.p) - mr_fma(ar, r.un, -r.p);
    real contact = push * mr_rcp(al - ar);
    int left = contact >= R(0.0);
    primitive w;
    w.rho = R(0.0);
    w.un = mr_select(left, l.un, r.un);
    w.ut = mr_select(left, l.ut, r.ut);
    w.p = mr_select(left, l.p, r.p);
    return star_flux(w, mr_select(left, -west, east), mr_select(left, al, ar), contact,
        k.gamma);
}
