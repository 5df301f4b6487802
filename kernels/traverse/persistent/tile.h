/* tile.h - what all warps of a group of persistent.krn have in common: where its tile lies, and
 * what they put into local memory for one another. */

#if FIELDS > 4
#error "persistent.krn: an equation of at most four fields is wanted"
#endif
#ifndef FACES_ARE_PRIMITIVE
#error "persistent.krn: an equation with slope_of() and faces_of() is wanted: see faces.h"
#endif

#define INTERIOR_WARPS 8            /* that hold cells */
#define EDGE_WARPS 4                /* that compute at the edges of the tile */
#define MOST_ROWS (INTERIOR_WARPS * ROWS)       /* of a tile */
#define MOST_COLUMNS (2 * WARP)
#define ROW_ROOM (MOST_COLUMNS + 4)     /* cells of a row at an edge, with those beside the tile */
#define COLUMN_ROOM (MOST_ROWS + 5)     /* and of a column; odd, for the sake of the banks */

/* Named barriers. Some warps only arrive and do not wait. */
#define DT_READY 0                  /* dt of the next step, for the interior warps */
#define EDGE_FLUXES_READY 1
#define X_FLUXES_READY 2            /* through the edges, of a sweep along x */
#define SWEEP_READY 3               /* cells near the edges, after the first sweep */
#define FACES_READY 4
#define Y_FLUXES_READY 5
#define STEP_READY 6                /* cells near the edges and rates, after a step */
#define LINES_READY 7
#define RATES_READY 8
#define DT_READY_AT_EDGES 9         /* the same for the edge warps */
#define HALO_READY 10               /* cells beside the tile */
#define sync_all(place) mr_barrier_sync(place, GROUP)
#define arrive_all(place) mr_barrier_arrive(place, GROUP)
#define sync_interior(place) mr_barrier_sync(place, INTERIOR_WARPS * WARP)
#define sync_edges(place) mr_barrier_sync(place, EDGE_WARPS * WARP)

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

/* What is near the edges, in local memory: three rows and columns inside each edge and two beside
 * it. `first` and `last` have a line for each warp: its first row, and the last one of the warp
 * below; fluxes through edges are the outermost (0) and the next inside (1) of each side. */
typedef struct edge_store {
    MR_LOCAL_PTR mr_quad *rows, *columns, *first, *last, *x_fluxes, *y_fluxes;
} edge_store;

#define EDGE_ROOM (10 * (ROW_ROOM + COLUMN_ROOM))
#define LINE_ROOM ((INTERIOR_WARPS + 1) * MOST_COLUMNS)

/* Where column i lies: first even columns, then odd ones, then those beside the tile. */
MR_FN int slot_of(int i, int w) {
    return i < 0 ? MOST_COLUMNS + 2 + i : i < w ? i % 2 * WARP + i / 2 : MOST_COLUMNS + 2 + i - w;
}
MR_FN int near(int k, int n) { return k < 3 ? k + 2 : k - n + 8; }
MR_FN int is_near(int k, int n) { return k < 3 || k >= n - 3; }
MR_FN int row_at(tile t, int i, int j) { return near(j, t.h) * ROW_ROOM + slot_of(i, t.w); }
MR_FN int column_at(tile t, int i, int j) { return near(i, t.w) * COLUMN_ROOM + j + 2; }

/* put_cell, cell_at, select_cell, cell_up, cell_down, and the same of fluxes and primitive
 * variables: to and from local memory, one of two, and that of the next lower or higher lane. */
#define PACK_(name, k) v[k] = q.name;
#define UNPACK_(name, k) q.name = v[k];
#define SELECT_(name, k) q.name = mr_select(c, a.name, b.name);
#define UP_(name, k) q.name = mr_shuffle_up(q.name);
#define DOWN_(name, k) q.name = mr_shuffle_down(q.name);
#define PACKED_(type, EACH) \
    MR_FN void put_##type(MR_LOCAL_PTR mr_quad *to, type q) { \
        real v[4] = { R(0.0), R(0.0), R(0.0), R(0.0) }; \
        EACH(PACK_) \
        mr_quad packed = { v[0], v[1], v[2], v[3] }; \
        *to = packed; \
    } \
    MR_FN type type##_at(const MR_LOCAL_PTR mr_quad *from) { \
        mr_quad packed = *from; \
        real v[4] = { packed.a, packed.b, packed.c, packed.d }; \
        type q; \
        EACH(UNPACK_) \
        return q; \
    } \
    MR_FN type select_##type(int c, type a, type b) { \
        type q; \
        EACH(SELECT_) \
        return q; \
    } \
    MR_FN type type##_up(type q) { EACH(UP_) return q; } \
    MR_FN type type##_down(type q) { EACH(DOWN_) return q; }

PACKED_(cell, EACH_FIELD)
PACKED_(flux, EACH_FIELD)
PACKED_(primitive, EACH_PRIMITIVE)

/* Two neighbours along x take the fluxes through their right faces, f; `west` is that into the
 * tile and `east` that out of it. */
MR_FN void update_pair(cell *q, const flux *f, flux west, flux east, int lane, int last, sweep s) {
    flux out = select_flux(lane == last, east, f[1]);
    flux in = select_flux(lane == 0, west, flux_up(out));
    q[0] = update(q[0], in, f[0], s.lambda);
    q[1] = update(q[1], f[0], out, s.lambda);
}
