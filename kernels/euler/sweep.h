/* sweep.h - what the sweeps along x and y share: a row of lanes in private memory, and its loads and stores.
 *
 * Lane l of an array belongs to one column. On a GPU every lane loop unrolls and the arrays become registers; on a CPU
 * they stay arrays in the first-level cache and each lane loop becomes vector instructions. Results never depend on the
 * lane, the strip or the group a cell falls into: any split of the domain gives the same bits. */

#include "clock.h"
#include "reduce.h"
#include "euler/euler.h"
#include LIMITER
#include "euler/hancock.h"
#include FLUX

#define HALO 2      /* ghost cells on each side */
#define PAD 32      /* elements in front of the first interior cell of a row */

/* One value of each kind for every lane. */
typedef struct euler_cells { real rho[ROOM], mn[ROOM], mt[ROOM], energy[ROOM]; } euler_cells;
typedef struct euler_flows { real rho[ROOM], un[ROOM], ut[ROOM], p[ROOM]; } euler_flows;

MR_FN euler_cell get_cell(const euler_cells *row, int l)
{
    euler_cell q = { row->rho[l], row->mn[l], row->mt[l], row->energy[l] };
    return q;
}

MR_FN void set_cell(euler_cells *row, int l, euler_cell q)
{
    row->rho[l] = q.rho;
    row->mn[l] = q.mn;
    row->mt[l] = q.mt;
    row->energy[l] = q.energy;
}

MR_FN euler_flow get_flow(const euler_flows *row, int l)
{
    euler_flow w = { row->rho[l], row->un[l], row->ut[l], row->p[l] };
    return w;
}

MR_FN void set_flow(euler_flows *row, int l, euler_flow w)
{
    row->rho[l] = w.rho;
    row->un[l] = w.un;
    row->ut[l] = w.ut;
    row->p[l] = w.p;
}

/* What a work-item does: rows first .. end - 1 of the lanes that are among the first `columns`. */
typedef struct euler_sweep {
    int first, end, columns, stride;
    mr_index plane;
    real lambda;            /* dt / dn */
    real inv_dn, inv_dt;    /* one over the cell's size along the sweep and across */
    real gamma;
} euler_sweep;

/* The group's strip of rows low .. high - 1, which all strips share evenly. */
MR_FN euler_sweep make_sweep(int low, int high, int columns, int stride, mr_index plane, real dt, real inv_dn, real inv_dt,
    real gamma)
{
    euler_sweep s = { 0, 0, columns, stride, plane, dt * inv_dn, inv_dn, inv_dt, gamma };
    int rows = (high - low + mr_groups_y() - 1) / mr_groups_y();
    s.first = low + mr_group_y() * rows;
    s.end = s.first + rows < high ? s.first + rows : high;
    return s;
}

/* The lanes that are among the first `columns`, to the row of each field. */
MR_FN void store_row(MR_GLOBAL real *rho, MR_GLOBAL real *mn, MR_GLOBAL real *mt, MR_GLOBAL real *energy,
    const euler_cells *q, int columns)
{
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
MR_FN real cell_rate(euler_cell q, int l, euler_sweep s)
{
    real rate = euler_signal_rate(euler_primitive(q, s.gamma), s.gamma, s.inv_dn, s.inv_dt);
    return mr_select(l < s.columns, rate, R(0.0));
}
