/* hancock.h - limited linear reconstruction and half a time step inside each cell (van Leer 1984;
 * Toro 2009, 14.4), in primitive variables with the cell's own pressure. Needs the half_slope() of
 * a limiter. */

MR_FN flow difference(flow a, flow b) {
    flow d;
    d.rho = b.rho - a.rho;
    d.un = b.un - a.un;
    d.ut = b.ut - a.ut;
    d.p = b.p - a.p;
    return d;
}

MR_FN flow slope_of(flow a, flow b) {
    flow h;
    h.rho = half_slope(a.rho, b.rho);
    h.un = half_slope(a.un, b.un);
    h.ut = half_slope(a.ut, b.ut);
    h.p = half_slope(a.p, b.p);
    return h;
}

/* w + s h */
MR_FN flow shifted(flow w, real s, flow h) {
    w.rho = mr_fma(s, h.rho, w.rho);
    w.un = mr_fma(s, h.un, w.un);
    w.ut = mr_fma(s, h.ut, w.ut);
    w.p = mr_fma(s, h.p, w.p);
    return w;
}

typedef flow face;
MR_FN face face_of(flow w) { return w; }

/* The states of cell w at its low and high face, half a step later, from the differences to the
 * lower and to the higher neighbour. Its change is that of W_t + A(W) W_x = 0:
 *   rho_t = -u rho_x - rho u_x, u_t = -u u_x - p_x / rho, v_t = -u v_x, p_t = -u p_x - gamma p u_x
 * Where a face would lack positive density or pressure, slope and change are dropped, which is what
 * first order would use (Berthon 2006 limits likewise). */
MR_FN void reconstruct(flow w, flow below, flow above, real lambda, real gamma,
    flow *low, flow *high) {
    flow h = slope_of(below, above), change;
    change.rho = mr_fma(w.un, h.rho, w.rho * h.un);
    change.un = mr_fma(w.un, h.un, h.p * mr_rcp(w.rho));
    change.ut = w.un * h.ut;
    change.p = mr_fma(w.un, h.p, gamma * w.p * h.un);
    int positive = (mr_fma(-lambda, change.rho, w.rho) > mr_abs(h.rho))
        & (mr_fma(-lambda, change.p, w.p) > mr_abs(h.p));
    real slope = mr_select(positive, R(1.0), R(0.0));
    w = shifted(w, mr_select(positive, -lambda, R(0.0)), change);
    *low = shifted(w, -slope, h);
    *high = shifted(w, slope, h);
}
