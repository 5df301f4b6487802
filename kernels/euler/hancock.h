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
    euler_flow h, m;
    h.rho = half_slope(a.rho, b.rho);
    h.un = half_slope(a.un, b.un);
    h.ut = half_slope(a.ut, b.ut);
    h.p = half_slope(a.p, b.p);
    m.rho = mr_fma(-lambda, mr_fma(w.un, h.rho, w.rho * h.un), w.rho);
    m.un = mr_fma(-lambda, mr_fma(w.un, h.un, h.p * (R(1.0) / w.rho)), w.un);
    m.ut = mr_fma(-lambda, w.un * h.ut, w.ut);
    m.p = mr_fma(-lambda, mr_fma(w.un, h.p, gamma * w.p * h.un), w.p);
    int positive = (m.rho > mr_abs(h.rho)) & (m.p > mr_abs(h.p));
    low->rho = mr_select(positive, m.rho - h.rho, w.rho);
    low->un = mr_select(positive, m.un - h.un, w.un);
    low->ut = mr_select(positive, m.ut - h.ut, w.ut);
    low->p = mr_select(positive, m.p - h.p, w.p);
    high->rho = mr_select(positive, m.rho + h.rho, w.rho);
    high->un = mr_select(positive, m.un + h.un, w.un);
    high->ut = mr_select(positive, m.ut + h.ut, w.ut);
    high->p = mr_select(positive, m.p + h.p, w.p);
}
