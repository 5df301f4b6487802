/* waves.h - the two outer waves of a Riemann problem and the flux between them (Harten, Lax and van
 * Leer 1983; Toro 2001, 10.3). */

typedef struct fan { real left, right; } fan;       /* speeds */

/* Those of Einfeldt (1988), exact for a bore alone: the slower of the left state's and of the mean
 * of Roe, and the faster of the right state's. They stay within the speeds of both states, so that
 * no cell is emptied. Onto a dry bed water runs at twice its wave speed. */
MR_FN fan outer_waves(primitive l, primitive r, real g) {
    real cl = wave_speed(l, g), cr = wave_speed(r, g), c = mr_sqrt(R(0.5) * g * (l.h + r.h));
    real u = (cl * l.un + cr * r.un) * mr_rcp(mr_max(cl + cr, DRY));
    fan s;
    s.left = mr_select(l.h > DRY, mr_min(l.un - cl, u - c), r.un - R(2.0) * cr);
    s.right = mr_select(r.h > DRY, mr_max(r.un + cr, u + c), l.un + R(2.0) * cl);
    return s;
}

/* (sr fl - sl fr + sl sr (qr - ql)) / (sr - sl), written as what comes over from the left with its
 * velocity, less what comes from the right, and pressure: neither can be more than is there,
 * however numbers are rounded. 0 where all is dry and nothing moves. */
MR_FN flux star_flux(primitive l, primitive r, fan s, real g) {
    real width = mr_rcp(mr_max(s.right - s.left, DRY));
    real wl = s.right * width, wr = -s.left * width;
    real a = wl * l.h * (l.un - s.left), b = wr * r.h * (s.right - r.un);
    real pressure = R(0.5) * g * (wl * (l.h * l.h) + wr * (r.h * r.h));
    flux f = { a - b, (a * l.un - b * r.un) + pressure, a * l.ut - b * r.ut };
    return f;
}

/* The flux through a face at rest. */
MR_FN flux upwind_flux(primitive l, primitive r, fan s, real g) {
    s.left = mr_min(R(0.0), s.left);
    s.right = mr_max(R(0.0), s.right);
    return star_flux(l, r, s, g);
}
