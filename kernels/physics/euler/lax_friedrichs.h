/* Local Lax-Friedrichs flux (Rusanov 1961; Toro 2009, 10.5.1): the mean of both fluxes, less the
 * jump carried by the fastest signal of the two states. The most diffusive and the most robust. */

MR_FN real lax(real fl, real fr, real ql, real qr, real s) {
    return R(0.5) * mr_fma(-s, qr - ql, fl + fr);
}

MR_FN cell flux(face l, face r, real lambda, real gamma) {
    real cl = sound_speed(l, gamma), cr = sound_speed(r, gamma);
    real s = mr_max(mr_abs(l.un) + cl, mr_abs(r.un) + cr);
    real el = twice_energy(l, gamma), er = twice_energy(r, gamma);
    cell fl = physical_flux(l, gamma), fr = physical_flux(r, gamma), f;
    f.rho = lax(fl.rho, fr.rho, l.rho, r.rho, s);
    f.mn = lax(fl.mn, fr.mn, fl.rho, fr.rho, s);
    f.mt = lax(fl.mt, fr.mt, l.rho * l.ut, r.rho * r.ut, s);
    f.energy = lax(fl.energy, fr.energy, el, er, s);
    return f;
}
