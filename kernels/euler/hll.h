/* HLL flux (Harten, Lax and van Leer 1983; Toro 2009, 10.3) with the outer speeds of Davis (1988).
 * It smears contacts. */

/* wl fl + wr fr - jump (qr - ql), with wl = sr / (sr - sl), wr = -sl / (sr - sl). */
MR_FN real hll(real fl, real fr, real ql, real qr, real wl, real wr, real jump) {
    return mr_fma(-jump, qr - ql, wl * fl + wr * fr);
}

MR_FN cell flux(face l, face r, real lambda, real gamma) {
    real cl = sound_speed(l, gamma), cr = sound_speed(r, gamma);
    real sl = mr_min(R(0.0), mr_min(l.un - cl, r.un - cr));
    real sr = mr_max(R(0.0), mr_max(l.un + cl, r.un + cr));
    real width = mr_rcp(sr - sl), wl = sr * width, wr = -sl * width, jump = -(sl * sr) * width;
    real el = energy_of(l, gamma), er = energy_of(r, gamma);
    cell fl = physical_flux(l, el), fr = physical_flux(r, er), f;
    f.rho = hll(fl.rho, fr.rho, l.rho, r.rho, wl, wr, jump);
    f.mn = hll(fl.mn, fr.mn, fl.rho, fr.rho, wl, wr, jump);
    f.mt = hll(fl.mt, fr.mt, l.rho * l.ut, r.rho * r.ut, wl, wr, jump);
    f.energy = hll(fl.energy, fr.energy, el, er, wl, wr, jump);
    return f;
}
