/* feed.h - the rows of a strip on their way from the buffers to a work-item: each row once, in
 * order, and once more what the end of a stage wants of the row two before it.
 *
 * With RING the rows lie in a ring of so many slots of local memory, RING - 3 of them asked for
 * ahead of use; nobody else looks at a work-item's own, so there is no barrier. Without, one row is
 * loaded ahead, and what is wanted again comes from a cache. */

/* What is loaded of a row: unknowns, depth, the depth of its northern corners. */
typedef struct line { cells q; lane depth, corner, rotation; } line;

typedef struct feed {
    const MR_GLOBAL real *src, *base;   /* row 0 of the first own column */
    int last;                           /* row to ask for */
    int is_blended;                     /* whether base is wanted */
#ifdef RING
    MR_LOCAL_PTR real *room;            /* of this work-item */
    int row;                            /* to ask for next, */
    mr_index at;                        /* and where it begins */
    int asked, taken;                   /* slots */
#else
    line ahead;
    int taken;                          /* row */
#endif
} feed;

/* The row that ghost row j mirrors. */
MR_FN int mirrored_row(int j, work s) {
    if (!WALLS) return j;
    return j < s.south ? -1 - j : j < s.north ? j : 2 * s.ny - 1 - j;
}

#ifdef RING

#define AHEAD (RING - 3)
#define ARRAY (GROUP * W)
#define SLOT ((5 + (CORIOLIS == CORIOLIS_BY_CELL) + 3) * ARRAY)    /* a line and base */

MR_FN int next_slot(int slot) { return slot == (RING - 1) * SLOT ? 0 : slot + SLOT; }

/* Asks for a row; beyond the last for that again, which nobody waits for. The corners north of row
 * ny + 1 are memory, but not depths: no result sees them. */
MR_FN void ask(feed *f, work s) {
    MR_LOCAL_PTR real *to = f->room + f->asked;
    const MR_GLOBAL real *bed = s.bed + f->at;
    MR_UNROLL(3)
    for (int k = 0; k < 3; ++k)
        mr_fetch_lanes(to + k * ARRAY, f->src + f->at + k * s.plane, W);
    mr_fetch_lanes(to + 3 * ARRAY, bed + BED_DEPTH * s.plane, W);
    mr_fetch_lanes(to + 4 * ARRAY, bed + s.stride + BED_CORNER * s.plane, W);
#if CORIOLIS == CORIOLIS_BY_CELL
    mr_fetch_lanes(to + 5 * ARRAY, s.bed + BED_CORIOLIS * s.plane
        + (mr_index)mirrored_row(f->row, s) * s.stride, W);
#endif
    if (f->is_blended)
        MR_UNROLL(3)
        for (int k = 0; k < 3; ++k)
            mr_fetch_lanes(to + SLOT - (3 - k) * ARRAY, f->base + f->at + k * s.plane, W);
    mr_fetch_close();
    int step = f->row < f->last;
    f->row += step;
    f->at += step ? s.stride : 0;
    f->asked = next_slot(f->asked);
}

MR_FN void open_feed(feed *f, const MR_GLOBAL real *src, const MR_GLOBAL real *base, int is_blended,
    work s) {
    f->src = src;
    f->base = base;
    f->is_blended = is_blended;
    f->row = s.first - 2;
    f->at = (mr_index)f->row * s.stride;
    f->last = s.end + 1;
    f->room = s.room + mr_lid_x() * W;
    f->asked = 0;
    f->taken = (RING - 1) * SLOT;
    MR_UNROLL(AHEAD)
    for (int k = 0; k < AHEAD; ++k) ask(f, s);
}

MR_FN void read_cells(cells *q, const MR_LOCAL_PTR real *from) {
    mr_read_lanes(q->eta.at, from, W);
    mr_read_lanes(q->mn.at, from + ARRAY, W);
    mr_read_lanes(q->mt.at, from + 2 * ARRAY, W);
}

MR_FN void take_line(feed *f, line *to, work s) {
    f->taken = next_slot(f->taken);
    ask(f, s);
    mr_fetch_wait(AHEAD);
    MR_LOCAL_PTR real *from = f->room + f->taken;
    read_cells(&to->q, from);
    mr_read_lanes(to->depth.at, from + 3 * ARRAY, W);
    mr_read_lanes(to->corner.at, from + 4 * ARRAY, W);
#if CORIOLIS == CORIOLIS_BY_CELL
    mr_read_lanes(to->rotation.at, from + 5 * ARRAY, W);
#endif
}

/* Unknowns and depth of the row two before the one taken last, whose slot is filled next. */
MR_FN void take_again(const feed *f, cells *q, lane *depth, work s) {
    const MR_LOCAL_PTR real *from = f->room + f->asked;
    read_cells(q, from);
    mr_read_lanes(depth->at, from + 3 * ARRAY, W);
}

/* Base there. */
MR_FN void take_base(const feed *f, cells *old, work s) {
    read_cells(old, f->room + f->asked + SLOT - 3 * ARRAY);
}

#else

MR_FN void load_line(line *to, const MR_GLOBAL real *src, int j, work s) {
    mr_index row = (mr_index)j * s.stride;
    const MR_GLOBAL real *bed = s.bed + row;
    load_wide(&to->q.eta, src + row);
    load_wide(&to->q.mn, src + s.plane + row);
    load_wide(&to->q.mt, src + 2 * s.plane + row);
    load_wide(&to->depth, bed + BED_DEPTH * s.plane);
    load_wide(&to->corner, bed + BED_CORNER * s.plane + (j < s.ny + 1 ? s.stride : 0));
#if CORIOLIS == CORIOLIS_BY_CELL
    load_wide(&to->rotation,
        s.bed + BED_CORIOLIS * s.plane + (mr_index)mirrored_row(j, s) * s.stride);
#endif
}

MR_FN void open_feed(feed *f, const MR_GLOBAL real *src, const MR_GLOBAL real *base, int is_blended,
    work s) {
    f->src = src;
    f->base = base;
    f->is_blended = is_blended;
    f->taken = s.first - 3;
    f->last = s.end + 1;
    load_line(&f->ahead, src, s.first - 2, s);
}

MR_FN void take_line(feed *f, line *to, work s) {
    *to = f->ahead;
    f->taken = f->taken + 1;
    load_line(&f->ahead, f->src, f->taken < f->last ? f->taken + 1 : f->taken, s);
}

MR_FN void load_cells(cells *q, const MR_GLOBAL real *from, work s) {
    mr_load_lanes(q->eta.at, from, W);
    mr_load_lanes(q->mn.at, from + s.plane, W);
    mr_load_lanes(q->mt.at, from + 2 * s.plane, W);
}

MR_FN mr_index row_again(const feed *f, work s) {
    return (mr_index)(f->taken < 0 ? -2 : f->taken - 2) * s.stride;
}

/* Unknowns and depth of the row two before the one taken last; of row -2 for lack of those before
 * it. */
MR_FN void take_again(const feed *f, cells *q, lane *depth, work s) {
    load_cells(q, f->src + row_again(f, s), s);
    mr_load_lanes(depth->at, s.bed + BED_DEPTH * s.plane + row_again(f, s), W);
}

/* Base there. */
MR_FN void take_base(const feed *f, cells *old, work s) {
    load_cells(old, f->base + row_again(f, s), s);
}

#endif
