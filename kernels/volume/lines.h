/* lines.h - how the lanes of a work-item come, line after line: rows of a slice, or slices over
 * each other. Where DEPTH is more than 0 a ring in local memory holds so many lines, which are
 * copied there ahead of use (traverse/cell_ring.h); else each is loaded when it is due. */

#ifndef DEPTH
#define DEPTH 0
#endif

/* Whether columns that a work-item loads may not lie side by side, and whether a side is a mirror:
 * may be known before the text is compiled. */
#ifndef HAS_ENDS
#define HAS_ENDS p.has_ends
#endif
#ifndef HAS_MIRRORS
#define HAS_MIRRORS p.has_mirrors
#endif

/* A GPU has a loop for the lines before the first that completes one, so that the other loop has no
 * branch; a CPU has one for all, and compiles sooner. */
#ifdef MR_CPU
#define BEGINS_APART 0
#else
#define BEGINS_APART 1
#endif

/* What stands for columns and lines beyond the domain: of `n` of each, the kinds at both ends. */
typedef struct ends { int n, low, high; } ends;

/* at: column 0 of line 0. column: the first of W. has_ends: whether they do not lie side by side,
 * from column `first` on. next: the line to load next, of which `last` is the last. */
typedef struct row_source {
    const MR_GLOBAL real *at;
    ends across, along;
    mr_index pitch;
    int plane, column, first, has_ends, has_mirrors, next, last;
} row_source;

#define ROOM_BEYOND 4       /* columns on either side, where ghost cells lie in memory */

MR_FN int column_of(const row_source *s, int l, real *sign) {
    ends x = s->across;
    return within(stand_in(s->column + l, x.n, x.low, x.high, sign),
        x.low == KIND_KEEP ? -ROOM_BEYOND : 0, x.n - 1 + (x.high == KIND_KEEP ? ROOM_BEYOND : 0));
}

/* The multiple that the first of columns side by side is of, of which no more is known. */
#ifdef MR_CPU
#define STEP 1
#else
#define STEP (W % 4 == 0 ? 4 : W % 2 == 0 ? 2 : 1)
#endif

/* Says where the columns of a work-item come from. */
MR_FN void find_columns(row_source *s) {
    real sign;
    int from = column_of(s, 0, &sign);
    int is_plain = from % STEP == 0;
    MR_LANES(l, W) is_plain &= from + l == column_of(s, l, &sign);
    s->first = is_plain ? from : 0;
    s->has_ends = s->has_ends && !is_plain;
}

MR_FN const MR_GLOBAL real *line_of(const row_source *s) {
    real sign;
    return s->at + s->pitch * stand_in(s->next, s->along.n, s->along.low, s->along.high, &sign);
}

#if DEPTH
MR_FN void copy_row(row_source *s, MR_LOCAL_PTR real *to) {
    const MR_GLOBAL real *from = line_of(s);
    real sign;
    s->next = least(s->next + 1, s->last);
    if (!s->has_ends) {
        MR_UNROLL(FIELDS)
        for (int k = 0; k < FIELDS; ++k)
            mr_fetch_askew(to + k * (GROUP * W), from + (mr_index)k * s->plane + s->first, W);
        return;
    }
    MR_UNROLL(1)
    for (int k = 0; k < FIELDS; ++k)
        MR_LANES(l, W)
            mr_fetch_askew(to + k * (GROUP * W) + l,
                from + (mr_index)k * s->plane + column_of(s, l, &sign), 1);
}

#include "traverse/cell_ring.h"

typedef ring lines;
#define SOURCE_OF(lines) (lines).source
typedef mr_quad line_room;
#define LINES_ROOM (RING / 4 + 1)

MR_FN void open_lines(lines *r, MR_LOCAL_PTR line_room *room, row_source s) {
    open_ring(r, (MR_LOCAL_PTR real *)room, s);
}

MR_FN void close_lines(void) { mr_fetch_wait(0); }

MR_FN void load_line(lines *r, cells *q) { read_row(r, q); }

#else

typedef struct lines { row_source source; int from[W]; } lines;
#define SOURCE_OF(lines) (lines).source
typedef real line_room;
#define LINES_ROOM 1

MR_FN void open_lines(lines *r, MR_LOCAL_PTR line_room *room, row_source s) {
    real sign;
    r->source = s;
    for (int l = 0; l < W; ++l) r->from[l] = column_of(&s, l, &sign);
}
MR_FN void close_lines(void) {}

MR_FN void load_line(lines *r, cells *q) {
    row_source *s = &r->source;
    const MR_GLOBAL real *from = line_of(s);
    if (!s->has_ends) {
        MR_LANES(k, FIELDS) mr_load_lanes(q->field[k], from + (mr_index)k * s->plane + s->first, W);
    } else {
        MR_LANES(k, FIELDS)
            MR_LANES(l, W)
                q->field[k][l] = from[(mr_index)k * s->plane + r->from[l]];
    }
    s->next = least(s->next + 1, s->last);
}

#endif

/* Turns what stands for the cells of line j beyond mirrors around, as the axes are in memory. Lines
 * are along z, or y. */
MR_FN void mirror_line(cells *q, const row_source *s, int j, int is_along_z) {
    real x, line;
    if (!s->has_mirrors) return;
    stand_in(j, s->along.n, s->along.low, s->along.high, &line);
    MR_LANES(l, W) {
        column_of(s, l, &x);
        set_cell(q, l, is_along_z ? seen_in_mirrors(get_cell(q, l), R(1.0), R(1.0), line)
            : seen_in_mirrors(get_cell(q, l), x, line, R(1.0)));
    }
}

/* Stores the columns low .. high - 1. A GPU stores pairs or, if rows `are_wide` enough, all: those
 * beyond the domain are nobody's. */
MR_FN void store_line(MR_GLOBAL real *to, mr_index plane, const cells *q, int low, int high,
    int are_wide) {
#ifdef MR_CPU
    for (int k = 0; k < FIELDS; ++k)
        for (int l = low; l < high; ++l) to[k * plane + l] = q->field[k][l];
#else
    int all = are_wide || high - low == W;
    MR_LANES(k, FIELDS) {
        if (all) mr_store_lanes(to + k * plane, q->field[k], W);
        MR_LANES(l, W)
            if (W > 1 && l % 2 == 0 && !all && low <= l && l < high)
                mr_store_lanes(to + k * plane + l, q->field[k] + l, 2);
    }
#endif
}
