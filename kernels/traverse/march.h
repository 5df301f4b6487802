/* march.h - the march over one strip (march.krn), of rows wherever they lie. */

#define ROOM W
#include "traverse/step.h"
#include "traverse/row_sources.h"
#include "traverse/partition.h"

#define PLANES FIELDS
#define KEPT 0

/* Rows from `at` on; row `seam` lies `jump` elements behind the one before it, where the domain
 * goes around. */
typedef struct row_source {
    const MR_GLOBAL real *at;
    int row, seam, stride;
    mr_index jump, plane;
} row_source;

MR_FN void copy_row(row_source *from, MR_LOCAL_PTR real *to) {
    MR_UNROLL(FIELDS)
    for (int k = 0; k < FIELDS; ++k)
        mr_fetch_askew(to + k * (GROUP * W), from->at + k * from->plane, W);
    from->row = from->row + 1;
    from->at += from->row == from->seam ? from->jump : from->stride;
}

#include "traverse/row_ring.h"

/* Waits for the next row, and starts the copy of one more. */
MR_FN void read_row(ring *r, cells *q) {
    mr_fetch_wait(AHEAD - 1);
    MR_UNROLL(FIELDS)
    for (int k = 0; k < FIELDS; ++k)
        mr_read_lanes(q->field[k], r->rows + r->slot + k * RING_PLANE, W);
    prefetch_row(r, r->free);
    turn_ring(r);
}

/* Loads row j and sweeps it along y, before that along x if x is first. This completes row j - 2,
 * which q then holds, with its vectors turned. */
MR_FN void next_row(ring *r, column *t, sweep x, sweep y, const acting *acts, int j,
    MR_LOCAL_PTR real *shared, int x_first, cells *q) {
    read_row(r, q);
    if (x_first) step_line(q, W, x, shared, 0);
    turn(q);
    if (!x_first) source_row(q, acts, j, y.k);
    step_column(t, q, y);
}

/* The pointers are at the columns' first row to load and to store, of which the team owns and the
 * domain has low .. high - 1. Returns the largest signal rate of those. */
MR_FN real march_strip(const MR_GLOBAL real *src, MR_GLOBAL real *dst, int low, int high,
    MR_LOCAL_PTR real *rows, MR_LOCAL_PTR real *shared, sweep x, sweep y, sources acts,
    mr_index jump, int x_first) {
    ring r;
    column t;
    acting on = acting_on(acts, y.k);
    fastest f = { { { R(0.0), R(0.0) } } };
    real rate = R(0.0);
    row_source source = { src, y.first - REACH, y.first < REACH ? 0 : acts.ny, y.stride, jump,
        y.plane };
    open_ring(&r, rows, source);
    open_column(&t, y.k);
    cells q;
    int j = y.first - REACH;
    MR_UNROLL(1)
    for (; j < y.first + REACH; ++j)        /* what comes out is not in the strip yet */
        next_row(&r, &t, x, y, &on, j, shared, x_first, &q);
    MR_UNROLL(ROWS_OF_A_TURN)
    for (; j < y.end + REACH; ++j) {
        next_row(&r, &t, x, y, &on, j, shared, x_first, &q);
        if (x_first) source_interior(&q, &on, j - REACH, y.k);
        turn(&q);
        if (!x_first) step_line(&q, W, x, shared, 0);
        store_own(dst, y.plane, &q, low, high);
        dst += y.stride;
        if (x_first) turn(&q);
        note_signals(&f, &q, x_first ? y.k : x.k);
    }
    mr_fetch_wait(0);
    MR_LANES(l, W) {
        signals s = f.of[l / 2];
        real mine = x_first ? signal_rate(s, y.inv_dn, y.inv_dt)
            : signal_rate(s, x.inv_dn, x.inv_dt);
        if (low <= l && l < high) rate = mr_max_nan(rate, mine);
    }
    return rate;
}
