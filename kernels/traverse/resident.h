/* resident.h - what all teams of a group of resident.krn have in common: where its tile lies, and
 * what they lay out for one another in local memory. */

#define INNER 8                     /* teams that have cells */
#define OUTER 4                     /* teams that look after the edges */
#define MOST_ROWS (INNER * ROWS)    /* of a tile */
#define MOST_COLUMNS (2 * TEAM)
#define AHEAD (MOST_COLUMNS + 4)    /* cells of a row on the table, with those beside the tile */
#define UPWARD (MOST_ROWS + 5)      /* and of a column; odd, for the sake of the banks */

/* Who meets where. Some only pass and do not wait. */
#define TIME_KNOWN 0                /* dt of the next step, to the inner teams */
#define OUTER_DONE 1
#define X_FLUXES 2                  /* through the edges, of a sweep along x */
#define HALF_SHOWN 3                /* cells near the edges, after the first sweep */
#define INNER_FACES 4
#define Y_FLUXES 5
#define STEP_SHOWN 6                /* cells near the edges and rates, after a step */
#define INNER_LINES 7
#define RATES_SHOWN 8
#define TIME_TOLD 9                 /* the same to the outer ones */
#define ALL_HEARD 10                /* cells beside the tile */
#define meet_all(place) mr_meet(place, GROUP)
#define pass_all(place) mr_pass(place, GROUP)
#define meet_inner(place) mr_meet(place, INNER * TEAM)
#define meet_outer(place) mr_meet(place, OUTER * TEAM)

/* The first cell of a tile, how many it has, and the domain. */
typedef struct tile { int west, south, w, h, nx, ny; } tile;

/* Where part k of n things begins, which all parts share evenly. */
MR_FN int begin_of(int k, int n, int parts) { return k * n / parts; }

/* Columns in pairs: a work-item has two. */
MR_FN tile tile_of(int nx, int ny) {
    int x = mr_group_x(), y = mr_group_y();
    tile t;
    t.west = 2 * begin_of(x, nx / 2, mr_groups_x());
    t.south = begin_of(y, ny, mr_groups_y());
    t.w = 2 * begin_of(x + 1, nx / 2, mr_groups_x()) - t.west;
    t.h = begin_of(y + 1, ny, mr_groups_y()) - t.south;
    t.nx = nx;
    t.ny = ny;
    return t;
}

MR_FN int around(int k, int n) { return k < 0 ? k + n : k >= n ? k - n : k; }

/* On the table lie three rows and columns inside each edge and two beside it. `first` and `last`
 * have a line a team: what others look at of its first row, and of the last one of the team below;
 * fluxes through edges are the outermost (0) and the next inside (1) of each side. */
typedef struct table {
    MR_LOCAL_PTR mr_quad *rows, *columns, *first, *last, *x_fluxes, *y_fluxes;
} table;

#define ROOM_ON_TABLE (10 * (AHEAD + UPWARD))
#define ROOM_FOR_LINES ((INNER + 1) * MOST_COLUMNS)

/* Where column i lies: first even columns, then odd ones, then those beside the tile. */
MR_FN int slot_of(int i, int w) {
    return i < 0 ? MOST_COLUMNS + 2 + i : i < w ? i % 2 * TEAM + i / 2 : MOST_COLUMNS + 2 + i - w;
}
MR_FN int near(int k, int n) { return k < 3 ? k + 2 : k - n + 8; }
MR_FN int is_near(int k, int n) { return k < 3 || k >= n - 3; }
MR_FN int row_at(tile t, int i, int j) { return near(j, t.h) * AHEAD + slot_of(i, t.w); }
MR_FN int column_at(tile t, int i, int j) { return near(i, t.w) * UPWARD + j + 2; }

MR_FN void put_cell(MR_LOCAL_PTR mr_quad *to, cell q) {
    mr_quad v = { q.rho, q.mn, q.mt, q.energy };
    *to = v;
}
MR_FN cell cell_at(const MR_LOCAL_PTR mr_quad *p) {
    mr_quad v = *p;
    cell q = { v.a, v.b, v.c, v.d };
    return q;
}
MR_FN void put_flow(MR_LOCAL_PTR mr_quad *to, flow w) {
    mr_quad v = { w.rho, w.un, w.ut, w.p };
    *to = v;
}
MR_FN flow flow_at(const MR_LOCAL_PTR mr_quad *p) {
    mr_quad v = *p;
    flow w = { v.a, v.b, v.c, v.d };
    return w;
}
MR_FN flow select_flow(int c, flow a, flow b) {
    flow w = { mr_select(c, a.rho, b.rho), mr_select(c, a.un, b.un), mr_select(c, a.ut, b.ut),
        mr_select(c, a.p, b.p) };
    return w;
}
MR_FN cell select_cell(int c, cell a, cell b) {
    cell q = { mr_select(c, a.rho, b.rho), mr_select(c, a.mn, b.mn), mr_select(c, a.mt, b.mt),
        mr_select(c, a.energy, b.energy) };
    return q;
}
MR_FN flow flow_up(flow w) {
    flow r = { mr_shuffle_up(w.rho), mr_shuffle_up(w.un), mr_shuffle_up(w.ut), mr_shuffle_up(w.p) };
    return r;
}
MR_FN flow flow_down(flow w) {
    flow r = { mr_shuffle_down(w.rho), mr_shuffle_down(w.un), mr_shuffle_down(w.ut),
        mr_shuffle_down(w.p) };
    return r;
}
MR_FN cell cell_up(cell q) {
    cell r = { mr_shuffle_up(q.rho), mr_shuffle_up(q.mn), mr_shuffle_up(q.mt),
        mr_shuffle_up(q.energy) };
    return r;
}

/* Two neighbours along x take the fluxes through their right faces, f; `west` is that into the
 * tile and `east` that out of it. */
MR_FN void update_pair(cell *q, const cell *f, cell west, cell east, int lane, int last, sweep s) {
    cell out = select_cell(lane == last, east, f[1]);
    cell in = select_cell(lane == 0, west, cell_up(out));
    q[0] = update(q[0], in, f[0], s.lambda);
    q[1] = update(q[1], f[0], out, s.lambda);
}
