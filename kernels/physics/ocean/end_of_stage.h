/* end_of_stage.h - what the end of a stage does to one cell: it adds sources and friction, and
 * calms thin water. Also how fast signals cross the cell. */

#include "physics/ocean/unknowns.h"

#define NONE R(1e-30)       /* m, or m/s: less is nothing */

/* Gravity (m/s2), the depth below which water is at rest (m), the coefficient of friction, eddy
 * viscosity (m2/s). */
typedef struct sea { real g, dry, friction, viscosity; } sea;

/* How fast friction stops water (1/s), from velocity along both axes and depth. */
MR_FN real friction_rate(real u, real v, real inverse, sea s) {
#if FRICTION == FRICTION_LINEAR
    return s.friction;
#elif FRICTION == FRICTION_QUADRATIC
    return s.friction * mr_sqrt(u * u + v * v) * inverse;
#elif FRICTION == FRICTION_MANNING
    return s.g * s.friction * s.friction * mr_sqrt(u * u + v * v) * inverse * mr_cbrt(inverse);
#else
    return R(0.0);
#endif
}

/* q + dt tendency of a cell: changes x and y (turned: along y), and a force along both axes, which
 * moves no dry cell. With z = dt times the rate of friction, (q + (1 + z) change) / (1 + z + z^2)
 * is what one stage makes of momentum: q + change - z q but for z^3 q and z^2 change, so that steps
 * are of second order. What friction balances stands still, and however strong it is, it stops
 * water and never turns it. */
MR_FN cell forward(cell q, cell x, cell y, cell force, real depth, real dt, sea s) {
    y = turned(y);
    cell change = { x.eta + y.eta, x.mn + y.mn, x.mt + y.mt };
#if FORCING
    real pushed = mr_select(q.eta + depth > s.dry, dt, R(0.0));
    change.mn = mr_fma(pushed, force.mn, change.mn);
    change.mt = mr_fma(pushed, force.mt, change.mt);
#endif
    cell next = { q.eta + change.eta, q.mn + change.mn, q.mt + change.mt };
#if FRICTION
    real inverse = mr_rcp(mr_max(q.eta + depth, s.dry));
    real z = dt * friction_rate(q.mn * inverse, q.mt * inverse, inverse, s);
    real slower = mr_rcp(mr_fma(z, R(1.0) + z, R(1.0)));
    next.mn = slower * mr_fma(z, change.mn, next.mn);
    next.mt = slower * mr_fma(z, change.mt, next.mt);
#endif
    return next;
}

/* Elevation of the bed; land for ever has the cell's own, so that it is dry. */
MR_FN real bed_under(real eta, real depth) {
#if LAND_CELLS
    return mr_select(is_land(depth), eta, -depth);
#else
    return -depth;
#endif
}

/* Water less deep than dry loses its momentum with its depth (Kurganov and Petrova 2007, in another
 * form). */
MR_FN cell calmed(cell q, real h, real dry) {
    real square = h * h, kept = R(2.0) * square * mr_rcp(mr_fma(dry, dry, square));
    q.mn = mr_select(h < dry, q.mn * kept, q.mn);
    q.mt = mr_select(h < dry, q.mt * kept, q.mt);
    return q;
}

/* Twice max((|u| + c) / dx, (|v| + c) / dy), since a stage takes water from a cell through four
 * faces, and what eddies need beside. */
MR_FN real signal_rate(cell q, real h, real inv_dx, real inv_dy, sea s) {
    real c = mr_sqrt(s.g * h), inverse = mr_rcp(mr_max(h, NONE));
    real x = mr_fma(mr_abs(q.mn), inverse, c) * inv_dx;
    real y = mr_fma(mr_abs(q.mt), inverse, c) * inv_dy, rate = R(2.0) * mr_max_nan(x, y);
#if VISCOSITY
    rate = rate + R(2.0) * s.viscosity * (inv_dx * inv_dx + inv_dy * inv_dy);
#endif
    return rate;
}
