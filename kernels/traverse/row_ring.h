/* row_ring.h - a ring buffer of DEPTH rows of a work-item's own lanes in local memory. A row has
 * PLANES planes of W lanes a work-item. AHEAD rows are copied there asynchronously before they are
 * read; KEPT rows stay readable behind the one that is read. No other work-item looks at them, so
 * there is no barrier. Whoever includes this defines PLANES, KEPT and
 *
 *   row_source      a type: where the rows lie in buffers, and which is next
 *   copy_row        (row_source *, to): starts the copies of the next row, of plane k to
 *                   to + k * RING_PLANE, and goes on to the one after it. None waits for rows
 *                   beyond the last, which have to be memory all the same. */

#define AHEAD (DEPTH - 1 - KEPT)
#define RING_PLANE (GROUP * W)                  /* elements of local memory */
#define SLOT (PLANES * RING_PLANE)              /* from one row to the next */
#define RING (DEPTH * SLOT)

typedef struct ring {
    MR_LOCAL_PTR real *rows;            /* of this work-item */
    int slot, free;                     /* of the row to read next, of the one to copy next */
    row_source source;
} ring;

/* Starts the copy of one more row. */
MR_FN void prefetch_row(ring *r, int slot) {
    copy_row(&r->source, r->rows + slot);
    mr_fetch_close();
}

MR_FN void open_ring(ring *r, MR_LOCAL_PTR real *rows, row_source source) {
    r->rows = rows + mr_lid_x() * W;
    r->slot = 0;
    r->free = AHEAD * SLOT;
    r->source = source;
    MR_UNROLL(DEPTH)
    for (int k = 0; k < AHEAD; ++k) prefetch_row(r, k * SLOT);
}

MR_FN int next_slot(int slot) { return slot == RING - SLOT ? 0 : slot + SLOT; }

/* Goes on by one row, after which the slot to copy to is that of the oldest row. */
MR_FN void turn_ring(ring *r) {
    r->free = KEPT > 0 ? next_slot(r->free) : r->slot;
    r->slot = next_slot(r->slot);
}
