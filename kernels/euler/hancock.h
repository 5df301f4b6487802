/* hancock.h - limited linear reconstruction and half a time step inside each cell (van Leer 1984; Toro 2009, 14.4),
 * in primitive variables with the cell's own pressure. Needs half_slope() of a limiter. */

MR_FN euler_flow euler_difference(euler_flow a, euler_flow b)
{
    euler_flow d;
    d.rho = b.rho - a.rho;
    d.un = b.un - a.un;
    d.ut = b.ut - a.ut;
    d.p = b.p - a.p;
    return d;
}

/* The states of cell w at its low and high face, half a step later; a and b are the differences from the lower and to
 * the higher neighbour. From W_t + A(W) W_x = 0: rho_t = -u rho_x - rho u_x, u_t = -u u_x - p_x / rho, v_t = -u v_x,
 * p_t = -u p_x - gamma p u_x. Where that leaves a face without positive density and pressure the cell stays constant
 * in space and time, which is what first order would use (Berthon 2006 limits likewise). */
MR_FN void euler_faces(euler_flow w, euler_flow a, euler_flow b, real lambda, real gamma, euler_flow *low, euler_flow *high)
{
    real h_rho = half_slope(a.rho, b.rho), h_un = half_slope(a.un, b.un);
    real h_ut = half_slope(a.ut, b.ut), h_p = half_slope(a.p, b.p);
    real f_rho = mr_fma(w.un, h_rho, w.rho * h_un);
    real f_p = mr_fma(w.un, h_p, gamma * w.p * h_un);
    int positive = (mr_fma(-lambda, f_rho, w.rho) > mr_abs(h_rho)) & (mr_fma(-lambda, f_p, w.p) > mr_abs(h_p));
    real k = mr_select(positive, -lambda, R(0.0)), s = mr_select(positive, R(1.0), R(0.0));
    real rho = mr_fma(k, f_rho, w.rho), un = mr_fma(k, mr_fma(w.un, h_un, h_p * (R(1.0) / w.rho)), w.un);
    real ut = mr_fma(k, w.un * h_ut, w.ut), p = mr_fma(k, f_p, w.p);
    euler_flow minus = { mr_fma(-s, h_rho, rho), mr_fma(-s, h_un, un), mr_fma(-s, h_ut, ut), mr_fma(-s, h_p, p) };
    euler_flow plus = { mr_fma(s, h_rho, rho), mr_fma(s, h_un, un), mr_fma(s, h_ut, ut), mr_fma(s, h_p, p) };
    *low = minus;
    *high = plus;
}
