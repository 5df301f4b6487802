/* Local Lax-Friedrichs flux (Rusanov 1961; Toro 2009, 10.5.1): the mean of both fluxes, less the
 * jump carried by the fastest signal of the two states. The most diffusive and the most robust. */

MR_FN real euler_lax(real fl, real fr, real ql, real qr, real s) {
    return R(0.5) * mr_fma(-s, qr - ql, fl + fr);
}

MR_FN euler_cell euler_flux(euler_flow l, euler_flow r, real gamma) {
    real cl = euler_sound_speed(l, gamma), cr = euler_sound_speed(r, gamma);
    real s = mr_max(mr_abs(l.un) + cl, mr_abs(r.un) + cr);
    real el = euler_energy(l, gamma), er = euler_energy(r, gamma);
    euler_cell fl = euler_physical_flux(l, el), fr = euler_physical_flux(r, er), f;
    f.rho = euler_lax(fl.rho, fr.rho, l.rho, r.rho, s);
    f.mn = euler_lax(fl.mn, fr.mn, fl.rho, fr.rho, s);
    f.mt = euler_lax(fl.mt, fr.mt, l.rho * l.ut, r.rho * r.ut, s);
    f.energy = euler_lax(fl.energy, fr.energy, el, er, s);
    return f;
}
