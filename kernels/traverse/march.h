/* march.h - the march over one strip (march.krn), of rows wherever they lie. */

#define ROOM W
#include "traverse/step.h"
#include "traverse/row_sources.h"
#include "traverse/partition.h"

#ifndef MARCHES_FREELY      /* else see general.h */
#define MARCHES_FREELY 0
#endif

MR_FN int own_team(void) { return mr_uniform(mr_gid_x() / TEAM); }
MR_FN int all_teams(void) { return mr_groups_x() * (GROUP / TEAM); }

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

#include "traverse/cell_ring.h"

/* When a step begins, and its dt, which the launch before leaves on the clock. */
typedef struct moment {
    const MR_GLOBAL double *clock;
    int is_known;
    real dt, t;
} moment;

/* Waits for that launch, and whatever it leaves. */
MR_FN void await_moment(moment *m) {
    if (m->is_known) return;
    mr_wait_for_previous();
    m->is_known = 1;
    m->dt = (real)m->clock[CLOCK_STEP], m->t = (real)m->clock[CLOCK_TIME];
}

/* What a march that goes freely has found of faces that are no states, by pairs of columns: those
 * of the first sweep, and of the second. */
typedef struct marks { real first[(W + 1) / 2], second[(W + 1) / 2]; } marks;

MR_FN marks no_marks(void) {
    marks m;
    MR_LANES(p, (W + 1) / 2) m.first[p] = m.second[p] = R(0.0);
    return m;
}

/* Whether one of these faces has a part in the columns low .. high - 1 of any work-item's. A sweep
 * along x looks at two columns more. */
MR_FN int are_spoilt(const marks *m, int low, int high, int x_first) {
    int spoilt = 0, beside = x_first ? 0 : REACH;
    low = afresh(low), high = afresh(high);
    MR_LANES(p, (W + 1) / 2) {
        int l = 2 * p;
        real first = low - REACH <= l && l < high + REACH ? m->first[p] : R(0.0);
        real second = low - beside <= l && l < high + beside ? m->second[p] : R(0.0);
        real worst = mr_mark(first, second);
        spoilt |= !(worst - worst == R(0.0));
    }
    return is_in_any(spoilt);
}

/* Where a march is: what it goes over, and the rows that it keeps. */
typedef struct progress {
    ring r;
    column t;
    sweep x, y;
    acting on;
    MR_LOCAL_PTR real *shared;
    int x_first, low, high;
} progress;

/* Loads row j and sweeps it along y, before that along x if x is first. This completes row j - 2,
 * which q then holds, with its vectors turned. No marks: faces are looked at. */
MR_FN void next_row(progress *g, int j, int row, marks *m, cells *q) {
    read_row(&g->r, q);
    if (g->x_first) step_line(q, W, g->x, g->shared, 0, m ? m->first : 0);
    turn(q);
    if (!g->x_first) source_row(q, &g->on, j, g->y.k);
    climb(&g->t, q, g->y, !m ? 0 : g->x_first ? m->second : m->first, row);
}

/* The rest of row j - 2, which goes to dst. */
MR_FN void finish_row(progress *g, int j, marks *m, cells *q, MR_GLOBAL real *dst, fastest *f) {
    if (g->x_first) source_interior(q, &g->on, j - REACH, g->y.k);
    turn(q);
    if (!g->x_first) step_line(q, W, g->x, g->shared, 0, m ? m->second : 0);
    int low = MARCHES_FREELY ? afresh(g->low) : g->low;
    int high = MARCHES_FREELY ? afresh(g->high) : g->high;
    store_own(dst, g->y.plane, q, low, high);
    if (g->x_first) turn(q);
    note_signals(f, q, g->x_first ? g->y.k : g->x.k);
}

MR_FN void whole_row(progress *g, int j, marks *m, MR_GLOBAL real *dst, fastest *f) {
    cells q;
    next_row(g, j, REACH, m, &q);
    finish_row(g, j, m, &q, dst, f);
}

/* The largest signal rate of the columns that are a team's own. */
MR_FN real rate_of_columns(const fastest *f, const progress *g) {
    real rate = R(0.0);
    MR_LANES(l, W) {
        signals s = f->of[l / 2];
        real mine = g->x_first ? signal_rate(s, g->y.inv_dn, g->y.inv_dt)
            : signal_rate(s, g->x.inv_dn, g->x.inv_dt);
        if (g->low <= l && l < g->high) rate = mr_max_nan(rate, mine);
    }
    return rate;
}

/* The signals of rows that are stored. */
MR_FN fastest signals_of_rows(const progress *g, const MR_GLOBAL real *from, int rows) {
    fastest f = { { { R(0.0), R(0.0) } } };
    MR_UNROLL(1)
    for (int j = 0; j < rows; ++j) {
        cells q;
        MR_LANES(k, FIELDS)
            MR_LANES(l, W)
                q.field[k][l] = from[k * g->y.plane + (g->low <= l && l < g->high ? l : 0)];
        if (g->x_first) turn(&q);
        note_signals(&f, &q, g->x_first ? g->y.k : g->x.k);
        from += g->y.stride;
    }
    return f;
}

/* One by one the rows from j on: those before the strip's own, of which nothing comes out yet, and
 * unless it is `only` those what follows. Of faces before the strip it is not known yet what lies
 * below. */
MR_FN int single_rows(progress *g, int j, int end, int only, marks *m, MR_GLOBAL real *dst,
    fastest *f) {
    MR_UNROLL(1)
    for (; j < end; ++j) {
        cells q;
        marks before;
        if (m) before = *m;
        next_row(g, j, j - g->y.first, m, &q);
        if (m && j < g->y.first)
            MR_LANES(p, (W + 1) / 2) {
                if (g->x_first) m->second[p] = before.second[p];
                else m->first[p] = before.first[p];
            }
        if (only || j < g->y.first + REACH) continue;
        finish_row(g, j, m, &q, dst, f);
        dst += g->y.stride;
    }
    return j;
}

/* All rows, two at a time, up to the end or to those that are spoilt. Returns the row behind the
 * last one that is stored for good. */
MR_FN int rows_freely(progress *g, MR_GLOBAL real *dst, fastest *f) {
    const MR_GLOBAL real *begin = dst;
    int j = g->y.first - REACH, end = g->y.end + REACH, spoilt = 0;
    MR_UNROLL(1)
    for (int is_rest = 0; is_rest < 2 && !spoilt; ++is_rest) {
        marks m = no_marks();
        int from = j;
        j = single_rows(g, j, is_rest ? end : g->y.first + REACH, 0, &m, dst, f);
        spoilt = are_spoilt(&m, g->low, g->high, g->x_first);
        if (spoilt && is_rest) j = from;
        MR_UNROLL(1)
        for (; !is_rest && !spoilt && j + 1 < end; j += 2) {
            m = no_marks();
            whole_row(g, j, &m, dst, f);
            whole_row(g, j + 1, &m, dst + g->y.stride, f);
            dst += 2 * g->y.stride;
            spoilt = are_spoilt(&m, g->low, g->high, g->x_first);
            if (spoilt) j -= 2;
        }
    }
    if (spoilt) *f = signals_of_rows(g, begin, j - REACH - g->y.first);
    return j - REACH;
}

/* The pointers are at the columns' first row to load and to store, of which the team owns and the
 * domain has low .. high - 1. Returns the largest signal rate of those, and in *done the row behind
 * the last one that is done: where it goes `freely`, that before a face that is no state. Where no
 * step is due nothing is stored: copies begin before that is known. */
MR_FN real march_strip(const MR_GLOBAL real *src, MR_GLOBAL real *dst, int low, int high,
    MR_LOCAL_PTR real *rows, MR_LOCAL_PTR real *shared, sweep x, sweep y, sources acts,
    moment *now, mr_index jump, int x_first, int freely, int *done) {
    progress g;
    if (!now->is_known) src = kept(src), dst = (MR_GLOBAL real *)kept(dst);
    await_moment(now);
    row_source source = { src, y.first - REACH, y.first < REACH ? 0 : acts.ny, y.stride, jump,
        y.plane };
    open_ring(&g.r, rows, source);
    x.lambda = now->dt * x.inv_dn, y.lambda = now->dt * y.inv_dn;
    acts.dt = now->dt, acts.t = now->t;
    g.x = x, g.y = y, g.shared = shared, g.x_first = x_first, g.low = low, g.high = high;
    g.on = acting_on(acts, y.k);
    fastest f = { { { R(0.0), R(0.0) } } };
    open_column(&g.t, y.k);
    if (!(now->dt > R(0.0))) {
        *done = y.end;
    } else if (freely) {
        *done = rows_freely(&g, dst, &f);
    } else if (MARCHES_FREELY) {
        *done = single_rows(&g, y.first - REACH, y.end + REACH, 0, 0, dst, &f) - REACH;
    } else {
        int j = single_rows(&g, y.first - REACH, y.first + REACH, 1, 0, dst, &f);
        MR_UNROLL(ROWS_OF_A_TURN)
        for (; j < y.end + REACH; ++j) {
            whole_row(&g, j, 0, dst, &f);
            dst += y.stride;
        }
        *done = y.end;
    }
    mr_fetch_wait(0);
    return rate_of_columns(&f, &g);
}
