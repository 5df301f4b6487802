/* row_ring.h - a ring buffer of DEPTH rows of a work-item's own lanes in local memory, DEPTH - 1 of
 * which are copied there asynchronously ahead of use. No other work-item looks at them, so there is
 * no barrier. */

#define RING (DEPTH * FIELDS * GROUP * W)       /* elements of local memory */
#define SLOT (FIELDS * GROUP * W)               /* from one row to the next */

typedef struct ring {
    MR_LOCAL_PTR real *rows;            /* of this work-item */
    int slot, before;                   /* of the row that comes next and of the one before it */
    const MR_GLOBAL real *source;       /* the row to copy next */
    int row;                            /* its number */
    int seam;                           /* the row that lies `jump` elements after the one before */
    mr_index jump;
} ring;

/* Starts the copy of a row. None waits for those beyond the last, which have to be memory all the
 * same. */
MR_FN void prefetch_row(ring *r, int slot, sweep s) {
    MR_UNROLL(FIELDS)
    for (int k = 0; k < FIELDS; ++k)
        mr_fetch_askew(r->rows + slot + k * GROUP * W, r->source + k * s.plane, W);
    mr_fetch_close();
    r->row = r->row + 1;
    r->source += r->row == r->seam ? r->jump : s.stride;
}

/* From row first - REACH on, which is at source. */
MR_FN void open_ring(ring *r, MR_LOCAL_PTR real *rows, const MR_GLOBAL real *source, int seam,
    mr_index jump, sweep s) {
    r->rows = rows + mr_lid_x() * W;
    r->slot = 0;
    r->before = RING - SLOT;
    r->source = source;
    r->row = s.first - REACH;
    r->seam = seam;
    r->jump = jump;
    MR_UNROLL(DEPTH)
    for (int k = 0; k < DEPTH - 1; ++k) prefetch_row(r, k * SLOT, s);
}

/* Waits for the next row, and starts the copy of one more. */
MR_FN void read_row(ring *r, sweep s, cells *q) {
    mr_fetch_wait(DEPTH - 2);
    MR_UNROLL(FIELDS)
    for (int k = 0; k < FIELDS; ++k)
        mr_read_lanes(q->field[k], r->rows + r->slot + k * GROUP * W, W);
    prefetch_row(r, r->before, s);
    r->before = r->slot;
    r->slot = r->slot == RING - SLOT ? 0 : r->slot + SLOT;
}
