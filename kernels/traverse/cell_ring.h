/* cell_ring.h - a ring (row_ring.h) whose rows are the fields of cells, read one after another:
 * whoever includes this defines row_source and copy_row. */

#define PLANES FIELDS
#define KEPT 0
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
