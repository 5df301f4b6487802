/* Local Lax-Friedrichs flux of any equation (Rusanov 1961; Toro 2009, 10.5.1): the mean of both
 * fluxes, less the jump carried by the fastest signal of the two states. */

#define RUSANOV_(name, k) \
    f.name = R(0.5) * mr_fma(-s, qr.name - ql.name, fl.name + fr.name);

MR_FN flux numerical_flux(face l, face r, real lambda, parameters k) {
    real s = mr_max_nan(mr_most(l.s.west, r.s.west), mr_most(l.s.east, r.s.east));
    flux fl = physical_flux(l.w, k), fr = physical_flux(r.w, k), f;
    cell ql = conserved_of(l.w, k), qr = conserved_of(r.w, k);
    EACH_FIELD(RUSANOV_)
    return f;
}
