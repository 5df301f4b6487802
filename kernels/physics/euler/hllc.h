/* HLLC flux (Toro, Spruce and Speares 1994; Toro 2009, 10.4): two outer waves and the contact,
 * which it keeps exactly. */

#include "physics/euler/twice.h"

/* See three_waves.h. The jump over s leaves energy + pressure of
 * (a (energy + p) / rho + (pressure - p) s) / (s - contact) behind it. */
MR_FN flux star_flux(face l, face r, primitive w, real s, real a, real contact, real gamma) {
    flux f;
    real ratio = contact * mr_rcp(s - contact), change = contact - w.un, twice = s + s;
    real square = mr_fma(w.un, w.un, w.ut * w.ut);
    real heat = R(2.0) * gamma * mr_rcp(gamma - R(1.0)) * w.p;
    f.rho = a * ratio;
    f.mn = mr_fma(f.rho, contact, mr_fma(a, change, w.p));
    f.mt = f.rho * w.ut;
    f.energy = ratio * mr_fma(a, mr_fma(twice, change, square), heat * (s - w.un));
    return f;
}

#include "physics/euler/three_waves.h"
