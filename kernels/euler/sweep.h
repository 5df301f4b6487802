/* sweep.h - what the sweeps along x and y share: rows of lanes in private memory, strips, stores.
 *
 * Lane l of an array belongs to one column. On a GPU every lane loop unrolls and the arrays become
 * registers; on a CPU they stay arrays in the first-level cache and each lane loop becomes vector
 * instructions. Results never depend on the lane, the strip or the group a cell falls into: any
 * split of the domain gives the same bits. ROOM is the number of lanes in an array, W of stores. */

#include "clock.h"
#include "reduce.h"
#include "euler/euler.h"
#include "euler/layout.h"
#include LIMITER
#include "euler/hancock.h"
#include FLUX

typedef struct euler_cells { real rho[ROOM], mn[ROOM], mt[ROOM], energy[ROOM]; } euler_cells;
typedef struct euler_flows { real rho[ROOM], un[ROOM], ut[ROOM], p[ROOM]; } euler_flows;

MR_FN euler_cell get_cell(const euler_cells *row, int l) {
    euler_cell q = { row->rho[l], row->mn[l], row->mt[l], row->energy[l] };
    return q;
}

MR_FN void set_cell(euler_cells *row, int l, euler_cell q) {
    row->rho[l] = q.rho;
    row->mn[l] = q.mn;
    row->mt[l] = q.mt;
    row->energy[l] = q.energy;
}

MR_FN euler_flow get_flow(const euler_flows *row, int l) {
    euler_flow w = { row->rho[l], row->un[l], row->ut[l], row->p[l] };
    return w;
}

MR_FN void set_flow(euler_flows *row, int l, euler_flow w) {
    row->rho[l] = w.rho;
    row->un[l] = w.un;
    row->ut[l] = w.ut;
    row->p[l] = w.p;
}

/* What a work-item does: rows first .. end - 1 of its lanes that are among the first `columns`. */
typedef struct euler_sweep {
    int first, end, columns, stride;
    mr_index plane;
    real lambda;            /* dt / dn */
    real inv_dn, inv_dt;    /* one over the cell's size along the sweep and across it */
    real gamma;
} euler_sweep;

/* The group's strip of the rows low .. high - 1, which all strips share evenly. */
MR_FN void take_strip(euler_sweep *s, int low, int high) {
    int rows = (high - low + mr_groups_y() - 1) / mr_groups_y();
    s->first = low + mr_group_y() * rows;
    s->end = s->first + rows < high ? s->first + rows : high;
}

/* Lanes 0 .. columns - 1, at most W of them, to the row of each field. */
MR_FN void store_lanes(MR_GLOBAL real *rho, MR_GLOBAL real *mn, MR_GLOBAL real *mt,
    MR_GLOBAL real *energy, const euler_cells *q, int columns) {
    if (columns >= W) {
        mr_store_lanes(rho, q->rho, W);
        mr_store_lanes(mn, q->mn, W);
        mr_store_lanes(mt, q->mt, W);
        mr_store_lanes(energy, q->energy, W);
    } else {
        MR_LANES(l, W) if (l < columns) {
            rho[l] = q->rho[l];
            mn[l] = q->mn[l];
            mt[l] = q->mt[l];
            energy[l] = q->energy[l];
        }
    }
}

/* The signal rate of lane l, 0 where it lies beyond the domain. */
MR_FN real lane_rate(const euler_cells *q, int l, euler_sweep s) {
    euler_flow w = euler_primitive(get_cell(q, l), s.gamma);
    return mr_select(l < s.columns, euler_signal_rate(w, s.gamma, s.inv_dn, s.inv_dt), R(0.0));
}

/* Called by all work-items at the end of a last sweep, each with its largest signal rate. */
MR_FN void put_maximum(MR_GLOBAL real *maxima, MR_LOCAL_PTR real *partial, real rate, real dt) {
    rate = group_maximum(partial, mr_lid_x(), rate);
    if (mr_lid_x() == 0 && dt > R(0.0)) maxima[mr_group_y() * mr_groups_x() + mr_group_x()] = rate;
}
