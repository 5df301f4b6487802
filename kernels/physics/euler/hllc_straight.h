/* HLLC flux (see hllc.h) that keeps shocks straight: it adds as much diffusion of shear as takes
 * from shocks along the grid their carbuncle and their odd-even decoupling (Quirk 1994).
 *
 * Those grow out of faces that a shock runs over sidewise, where HLLC damps no shear (Shen, Yan and
 * Yuan 2014). However small the disturbance is there, the normal velocity changes over the outer
 * wave by a share of it; at a contact or a shear layer it does not change at all. So the jump of
 * transverse velocity that diffuses is at most that change, times the Mach number of the transverse
 * flow, without which slow vortices would be damped. It is at most the contact's velocity, too:
 * where that is 0, a mirrored problem takes the state of the other side.
 *
 * Contacts and shear layers stay exact, and what has no transverse velocity is as with HLLC. Who
 * moves along sees another Mach number: a shock that is to stay straight has gas in motion on one
 * side at least. */

#include "physics/euler/twice.h"

/* As in hllc.h, with the diffusion of shear and the work that it does. */
MR_FN flux star_flux(face l, face r, primitive w, real s, real a, real contact, real gamma) {
    flux f;
    real inverse = mr_rcp(s - contact), ratio = contact * inverse;
    real change = contact - w.un, twice = s + s;
    real heat = R(2.0) * gamma * mr_rcp(gamma - R(1.0)) * w.p;
    real inner = mr_fma(a, mr_fma(twice, change, w.un * w.un), heat * (s - w.un));
    real least = mr_min(mr_abs(contact), mr_abs(change));
    real most = mr_abs(w.ut * inverse) * least, across = mr_abs(a);
    real jump = mr_max(mr_min(l.ut - r.ut, most), -most);
    f.rho = a * ratio;
    f.mn = mr_fma(f.rho, contact, mr_fma(a, change, w.p));
    f.mt = mr_fma(across, jump, f.rho * w.ut);
    f.energy = mr_fma(ratio, inner, mr_fma(across, jump, f.mt) * w.ut);
    return f;
}

#include "physics/euler/three_waves.h"
