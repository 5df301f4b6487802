/* c_grid_rate.h - the signal rate of a cell of a C-grid, for traverse/max_rate.krn.
 *
 * For forward-backward steps (NONLINEAR 0) it is half the highest frequency that the grid can hold,
 * for leapfrog (NONLINEAR 1) that frequency plus the rates at which the flow crosses cells. */

#include "physics/ocean/c_grid.h"

MR_FN real cell_rate(cell_place c, real inv_dx, real inv_dy, surroundings k) {
    const MR_GLOBAL real *eta = c.src + c.at, *hu = eta + c.plane, *hv = hu + c.plane;
    real h = k.bed[c.at];
    if (h <= R(0.0)) return R(0.0);         /* land */
    real bad = (eta[0] - eta[0]) + (hu[0] - hu[0]) + (hv[0] - hv[0]);
    real f = coriolis(k.bed, c.plane, c.at, k.rows, k.row_count, c.j);
    inv_dx = row_inv_dx(k.rows, k.row_count, c.j, inv_dx);
#if NONLINEAR
    h = h + eta[0];
    real by_h = R(0.5) * mr_rcp(h);
    real u = by_h * (hu[0] + hu[1]), v = by_h * (hv[0] + hv[c.stride]);
    return signal_rate(f, k.g, h, u, v, inv_dx, inv_dy) + bad;
#else
    return R(0.5) * signal_rate(f, k.g, h, R(0.0), R(0.0), inv_dx, inv_dy) + bad;
#endif
}
