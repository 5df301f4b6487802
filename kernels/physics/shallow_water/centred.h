/* centred.h - the flux of Lax and Friedrichs (Lax 1954): the mean of both fluxes, and a diffusion
 * that puts the mean of both neighbours in the place of a cell. */

/* Fluxes and unknowns on the left and the right; half_speed = 1 / (2 lambda). */
MR_FN real mean_flux(real fl, real fr, real ql, real qr, real half_speed) {
    return mr_fma(half_speed, ql - qr, R(0.5) * (fl + fr));
}

MR_FN flux lax_flux(primitive l, primitive r, flux fl, flux fr, real lambda) {
    real half_speed = R(0.5) * mr_rcp(lambda);
    flux f;
    f.h = mean_flux(fl.h, fr.h, l.h, r.h, half_speed);
    f.mn = mean_flux(fl.mn, fr.mn, fl.h, fr.h, half_speed);
    f.mt = mean_flux(fl.mt, fr.mt, l.h * l.ut, r.h * r.ut, half_speed);
    return f;
}
