/* FORCE flux (Toro 1996; Toro 2001, 9.2): the mean of the fluxes of Lax and Friedrichs and of Lax
 * and Wendroff in two steps (Richtmyer 1962). Centred, monotone, no Riemann problem to solve. */

#include "physics/shallow_water/centred.h"

/* The state at the face half a step later. */
MR_FN cell middle_state(primitive l, primitive r, flux fl, flux fr, real lambda) {
    cell q;
    real k = R(0.5) * lambda;
    q.h = mr_fma(k, fl.h - fr.h, R(0.5) * (l.h + r.h));
    q.mn = mr_fma(k, fl.mn - fr.mn, R(0.5) * (fl.h + fr.h));
    q.mt = mr_fma(k, fl.mt - fr.mt, R(0.5) * (l.h * l.ut + r.h * r.ut));
    return q;
}

MR_FN flux numerical_flux(face l, face r, real lambda, parameters k) {
    flux fl = physical_flux(l, k), fr = physical_flux(r, k);
    flux lax = lax_flux(l, r, fl, fr, lambda);
    flux wendroff = physical_flux(primitive_of(middle_state(l, r, fl, fr, lambda), k),
        k);
    lax.h = R(0.5) * (lax.h + wendroff.h);
    lax.mn = R(0.5) * (lax.mn + wendroff.mn);
    lax.mt = R(0.5) * (lax.mt + wendroff.mt);
    return lax;
}
