/* Local Lax-Friedrichs flux (Rusanov 1961; Toro 2009, 10.5.1): the mean of both fluxes, less the
 * jump carried by the fastest signal of the two states. The most diffusive and the most robust. */

MR_FN real lax(real fl, real fr, real ql, real qr, real s) {
    return R(0.5) * mr_fma(-s, qr - ql, fl + fr);
}

MR_FN flux numerical_flux(face l, face r, real lambda, parameters k) {
    real cl = sound_speed(l, k), cr = sound_speed(r, k);
    real s = mr_max(mr_abs(l.un) + cl, mr_abs(r.un) + cr);
    flux fl = physical_flux(l, k), fr = physical_flux(r, k), f;
    f.rho = lax(fl.rho, fr.rho, l.rho, r.rho, s);
    f.mn = lax(fl.mn, fr.mn, fl.rho, fr.rho, s);
    f.mt = lax(fl.mt, fr.mt, l.rho * l.ut, r.rho * r.ut, s);
    f.energy = lax(fl.energy, fr.energy, energy_of(l, k), energy_of(r, k), s);
    return f;
}
