/* sweep.h - what every traversal has: the part of the grid that a work-item goes over, loads and
 * stores of rows, and the largest signal rate. What flows, and how, is up to the EQUATION, a header
 * that defines, given the types of types.h,
 *
 *   primitive_of    (cell, k): the variables to interpolate; k holds the parameters
 *   face            what a flux must know of the cell on one side of it: face_of(primitive, k),
 *                   with no slope; reconstruct(primitive, difference to the lower neighbour, to the
 *                   higher one, lambda, k, face *low, face *high); faces.h has the usual ones
 *   numerical_flux  (high face of the lower cell, low face of the higher, lambda, k)
 *   physical_flux   (primitive, k): what the numerical one is of equal states
 *   signals_of      (cell, k): how fast signals travel along the sweep and across it; below 0 or
 *                   NaN where it is no state
 *   source          (cell, dt, k), if it has one: see sources.h
 *
 * lambda is dt / dn. A method looks at REACH cells on each side. Results never depend on the lane,
 * the strip or the group a cell falls into: any split of the domain gives the same bits. ROOM is
 * the number of lanes in an array, W of stores. */

#include "array/clock.h"
#include "array/reduce.h"
#include "array/layout.h"
#include "traverse/partition.h"
#include "traverse/types.h"
#include "traverse/rows.h"
#include EQUATION
#include "traverse/update.h"
#include "traverse/sources.h"

/* What a work-item does: rows first .. end - 1 of its lanes that are among the first `columns`. */
typedef struct sweep {
    int first, end, columns, stride;
    mr_index plane;
    real lambda;            /* dt / dn */
    real inv_dn, inv_dt;    /* one over the cell's size along the sweep and across it */
    parameters k;
} sweep;

/* Over so many columns, in time dt; rows are still to be taken. */
MR_FN sweep sweep_along_x(part p, int columns, real dt, parameters k) {
    sweep s = { 0, 0, columns, p.stride, p.plane, dt * p.inv_dx, p.inv_dx, p.inv_dy, k };
    return s;
}

MR_FN sweep sweep_along_y(part p, int columns, real dt, parameters k) {
    sweep s = { 0, 0, columns, p.stride, p.plane, dt * p.inv_dy, p.inv_dy, p.inv_dx,
        turned_parameters(k) };
    return s;
}

/* One cell, not turned. */
#define LOAD_(name, k) q.name = from[k * plane];
#define STORE_(name, k) to[k * plane] = q.name;
MR_FN cell load_cell(const MR_GLOBAL real *from, mr_index plane) {
    cell q;
    EACH_FIELD(LOAD_)
    return q;
}
MR_FN void store_cell(MR_GLOBAL real *to, mr_index plane, cell q) { EACH_FIELD(STORE_) }

/* The group's strip of the rows low .. high - 1, which all strips share evenly. */
MR_FN void take_strip(sweep *s, int low, int high) {
    strip_of(low, high, &s->first, &s->end);
}

/* How fast signals cross cells, in cells per time: dt times it is the Courant number. A stage along
 * BOTH_AXES takes from a cell through four faces what a sweep takes through two. */
MR_FN real signal_rate(signals f, real inv_dn, real inv_dt) {
    real rate = mr_max_nan(f.n * inv_dn, f.t * inv_dt);
#ifdef BOTH_AXES
    rate = R(2.0) * rate;
#endif
    return rate;
}

/* The signal rate of lane l, 0 where it lies beyond the domain. */
MR_FN real lane_rate(const cells *q, int l, sweep s) {
    signals f = signals_of(get_cell(q, l), s.k);
    return mr_select(l < s.columns, signal_rate(f, s.inv_dn, s.inv_dt), R(0.0));
}

/* Called by all work-items at the end of a last sweep, each with its largest signal rate; what is
 * no state gives a NaN. */
MR_FN void put_maximum(MR_GLOBAL real *maxima, MR_LOCAL_PTR real *partial, real rate, int is_due) {
    rate = group_maximum(partial, mr_lid_x(), rate);
    if (rate < R(0.0)) rate = mr_sqrt(rate);
    store_maximum(maxima, rate, is_due);
}
