/* hancock.h - limited linear reconstruction and half a time step inside each cell (van Leer 1984;
 * Toro 2009, 14.4), in primitive variables with the cell's own pressure. Needs the half_slope() of
 * a limiter. */

/* Half the slope of w. That of density and pressure is bounded by half of themselves, so that they
 * stay positive at both faces: something is left of p (1 - gamma lambda u_x) - (1 + lambda |u|) h
 * up to Courant numbers of 2 / (2 gamma + 1), with superbee 3 / (4 gamma + 1), by what these
 * limiters make of u_x between neighbours that are no faster. */
MR_FN primitive slope_of(primitive w, primitive a, primitive b) {
    primitive h;
    h.rho = slope_within(a.rho, b.rho, w.rho);
    h.un = slope(a.un, b.un);
    h.ut = slope(a.ut, b.ut);
    h.p = slope_within(a.p, b.p, w.p);
    return h;
}

/* The states of cell w, of half slope h, at its low and high face, half a step later. Its change is
 * that of W_t + A(W) W_x = 0:
 *   rho_t = -u rho_x - rho u_x, u_t = -u u_x - p_x / rho, v_t = -u v_x, p_t = -u p_x - gamma p u_x
 * of which what u carries joins the slope: a face is the rest -+ (1 +- lambda u) slope. */
MR_FN void faces_of(primitive w, primitive h, real lambda, parameters k, primitive *low,
    primitive *high) {
    primitive rest = w;
    real scale = HALF * lambda, squeeze = scale * h.un;
    rest.rho = mr_fma(-w.rho, squeeze, w.rho);
    rest.un = mr_fma(-(scale * mr_rcp(w.rho)), h.p, w.un);
    rest.p = mr_fma(-(k.gamma * w.p), squeeze, w.p);
    *low = shifted(rest, -mr_fma(scale, w.un, HALF), h);
    *high = shifted(rest, mr_fma(-scale, w.un, HALF), h);
}
