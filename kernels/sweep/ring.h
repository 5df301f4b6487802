/* ring.h - rows on their way from a buffer: DEPTH rows of a work-item's own lanes in local memory,
 * DEPTH - 1 of them asked for ahead of use. Nobody else looks at them, so there is no barrier. */

#define RING (DEPTH * FIELDS * GROUP * W)       /* elements of local memory */
#define SLOT (FIELDS * GROUP * W)               /* from one row to the next */

typedef struct ring {
    MR_LOCAL_PTR real *rows;            /* of this work-item */
    const MR_GLOBAL real *source;
    int slot;                           /* of the row that comes next */
    int at, last;                       /* element of source to ask for next; the last one */
} ring;

/* Asks for a row; beyond the last for that again, which nobody waits for. */
MR_FN void ask(ring *r, int slot, sweep s) {
    MR_UNROLL(FIELDS)
    for (int k = 0; k < FIELDS; ++k)
        mr_fetch_lanes(r->rows + slot + k * GROUP * W, r->source + k * s.plane + r->at, W);
    mr_fetch_close();
    r->at = r->at < r->last ? r->at + s.stride : r->at;
}

/* Elements at, at + stride, ... of source. */
MR_FN void open_ring(ring *r, MR_LOCAL_PTR real *rows, const MR_GLOBAL real *source, int at,
    int count, sweep s) {
    r->rows = rows + mr_lid_x() * W;
    r->source = source;
    r->at = at;
    r->last = at + (count - 1) * s.stride;
    r->slot = 0;
    MR_UNROLL(DEPTH)
    for (int k = 0; k < DEPTH - 1; ++k) ask(r, k * SLOT, s);
}

/* The next row, and asks for one more. */
MR_FN void take_row(ring *r, sweep s, cells *q) {
    int before = r->slot == 0 ? RING - SLOT : r->slot - SLOT;
    mr_fetch_wait(DEPTH - 2);
    MR_UNROLL(FIELDS)
    for (int k = 0; k < FIELDS; ++k)
        mr_read_lanes(q->field[k], r->rows + r->slot + k * GROUP * W, W);
    ask(r, before, s);
    r->slot = r->slot == RING - SLOT ? 0 : r->slot + SLOT;
}
