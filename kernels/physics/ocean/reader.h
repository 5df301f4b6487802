/* reader.h - how a work-item reads the rows of its strip: each row once, in order, and once more
 * what the end of a stage wants of the row two before it.
 *
 * With DEPTH it reads them from a ring of rows in local memory (traverse/row_ring.h). Without, one
 * row is loaded ahead, and what is wanted again comes from a cache. */

/* What is loaded of a row: unknowns, depth, the depth of its northern corners. */
typedef struct line { cells q; lanes depth, corner, rotation; } line;

/* The row that ghost row j mirrors. */
MR_FN int mirrored_row(int j, work s) {
    if (!WALLS) return j;
    return j < s.south ? -1 - j : j < s.north ? j : 2 * s.ny - 1 - j;
}

#ifdef DEPTH

#define PLANES (5 + (CORIOLIS == CORIOLIS_BY_CELL) + 3)     /* a line and base */
#define BASE_PLANE (PLANES - 3)
#define KEPT 2

typedef struct row_source {
    const MR_GLOBAL real *src, *base;   /* row 0 of the first own column */
    int row, last;                      /* to copy next, and of all */
    mr_index at;                        /* where that row begins */
    int is_blended;                     /* whether base is wanted */
    work s;
} row_source;

/* Beyond the last row it is that again, which nobody waits for. The corners north of row ny + 1 are
 * memory, but not depths: no result sees them. */
MR_FN void copy_row(row_source *from, MR_LOCAL_PTR real *to) {
    const MR_GLOBAL real *bed = from->s.bed + from->at;
    mr_index plane = from->s.plane;
    MR_UNROLL(FIELDS)
    for (int k = 0; k < FIELDS; ++k)
        mr_fetch_lanes(to + k * (GROUP * W), from->src + from->at + k * plane, W);
    mr_fetch_lanes(to + 3 * (GROUP * W), bed + BED_DEPTH * plane, W);
    mr_fetch_lanes(to + 4 * (GROUP * W), bed + from->s.stride + BED_CORNER * plane, W);
#if CORIOLIS == CORIOLIS_BY_CELL
    mr_fetch_lanes(to + 5 * (GROUP * W), from->s.bed + BED_CORIOLIS * plane
        + (mr_index)mirrored_row(from->row, from->s) * from->s.stride, W);
#endif
    if (from->is_blended)
        MR_UNROLL(FIELDS)
        for (int k = 0; k < FIELDS; ++k)
            mr_fetch_lanes(to + (BASE_PLANE + k) * (GROUP * W),
                from->base + from->at + k * plane, W);
    int step = from->row < from->last;
    from->row += step;
    from->at += step ? from->s.stride : 0;
}

#include "traverse/row_ring.h"

typedef ring reader;

MR_FN void open_reader(reader *r, const MR_GLOBAL real *src, const MR_GLOBAL real *base,
    int is_blended, work s) {
    row_source source = { src, base, s.first - 2, s.end + 1,
        (mr_index)(s.first - 2) * s.stride, is_blended, s };
    open_ring(r, s.room, source);
}

MR_FN void read_cells(cells *q, const MR_LOCAL_PTR real *from) {
    MR_UNROLL(FIELDS)
    for (int k = 0; k < FIELDS; ++k) mr_read_lanes(q->field[k], from + k * RING_PLANE, W);
}

MR_FN void read_line(reader *r, line *to, work s) {
    prefetch_row(r, r->free);
    mr_fetch_wait(AHEAD);
    MR_LOCAL_PTR real *from = r->rows + r->slot;
    read_cells(&to->q, from);
    mr_read_lanes(to->depth.at, from + 3 * RING_PLANE, W);
    mr_read_lanes(to->corner.at, from + 4 * RING_PLANE, W);
#if CORIOLIS == CORIOLIS_BY_CELL
    mr_read_lanes(to->rotation.at, from + 5 * RING_PLANE, W);
#endif
    turn_ring(r);
}

/* Unknowns and depth of the row two before the one read last, the oldest that is kept. */
MR_FN void read_again(const reader *r, cells *q, lanes *depth, work s) {
    const MR_LOCAL_PTR real *from = r->rows + r->free;
    read_cells(q, from);
    mr_read_lanes(depth->at, from + 3 * RING_PLANE, W);
}

/* Base there. */
MR_FN void read_base(const reader *r, cells *old, work s) {
    read_cells(old, r->rows + r->free + BASE_PLANE * RING_PLANE);
}

#else

typedef struct reader {
    const MR_GLOBAL real *src, *base;   /* row 0 of the first own column */
    int row, last;                      /* that was read last, and of all */
    line ahead;
} reader;

MR_FN void load_line(line *to, const MR_GLOBAL real *src, int j, work s) {
    mr_index row = (mr_index)j * s.stride;
    const MR_GLOBAL real *bed = s.bed + row;
    MR_UNROLL(FIELDS)
    for (int k = 0; k < FIELDS; ++k) load_wide(to->q.field[k], src + k * s.plane + row);
    load_wide(to->depth.at, bed + BED_DEPTH * s.plane);
    load_wide(to->corner.at, bed + BED_CORNER * s.plane + (j < s.ny + 1 ? s.stride : 0));
#if CORIOLIS == CORIOLIS_BY_CELL
    load_wide(to->rotation.at,
        s.bed + BED_CORIOLIS * s.plane + (mr_index)mirrored_row(j, s) * s.stride);
#endif
}

MR_FN void open_reader(reader *r, const MR_GLOBAL real *src, const MR_GLOBAL real *base,
    int is_blended, work s) {
    r->src = src;
    r->base = base;
    r->row = s.first - 3;
    r->last = s.end + 1;
    load_line(&r->ahead, src, s.first - 2, s);
}

MR_FN void read_line(reader *r, line *to, work s) {
    *to = r->ahead;
    r->row = r->row + 1;
    load_line(&r->ahead, r->src, r->row < r->last ? r->row + 1 : r->row, s);
}

MR_FN mr_index row_again(const reader *r, work s) {
    return (mr_index)(r->row < 0 ? -2 : r->row - 2) * s.stride;
}

/* Unknowns and depth of the row two before the one read last; of row -2 for lack of those before
 * it. */
MR_FN void read_again(const reader *r, cells *q, lanes *depth, work s) {
    load_cells(r->src + row_again(r, s), s.plane, 0, q, W);
    mr_load_lanes(depth->at, s.bed + BED_DEPTH * s.plane + row_again(r, s), W);
}

/* Base there. */
MR_FN void read_base(const reader *r, cells *old, work s) {
    load_cells(r->base + row_again(r, s), s.plane, 0, old, W);
}

#endif
