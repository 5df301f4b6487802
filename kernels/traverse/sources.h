/* sources.h - where the source of an equation acts. SOURCES says what the equation brings:
 *
 *   0  nothing: it has no source
 *   1  source(cell, dt, k): what it does to a cell in time dt, wherever that is
 *   2  rate_of(cell, spot, k): what it adds to each unknown per time at a place and a time
 *   3  the same in three dimensions, where only source_at() is of use (volume/columns.krn)
 *
 * Cells come with their vectors turned: the source acts beside a sweep along y. On ghost cells it
 * acts as on what they stand for: as inside (1), on its mirror image (-1) behind a wall, not at all
 * (0) where ghost cells are fixed. */

/* In time dt from time t on, over a part of ny rows and from column `column` on. */
typedef struct sources { real dt, t, south, north; int ny, column; } sources;

MR_FN sources sources_over(part p, real dt, real t, int column) {
    sources s = { dt, t, p.south, p.north, p.ny, column };
    return s;
}

#if SOURCES >= 2

#ifndef OWN_ADD_RATE        /* the code has one that leaves out what no rate changes */
#define ADD_RATE_(name, k) q.name = mr_fma(dt, rate.name, q.name);
MR_FN cell add_rate(cell q, cell rate, real dt) {
    EACH_FIELD(ADD_RATE_)
    return q;
}
#endif

/* By the midpoint rule, of second order. */
MR_FN cell source_at(cell q, spot at, real dt, parameters k) {
#if defined(MR_FAST) && defined(OWN_SOURCE)
    return source_over(q, at, dt, k);
#else
    cell middle = add_rate(q, rate_of(q, at, k), R(0.5) * dt);
    at.t = mr_fma(R(0.5), dt, at.t);
    return add_rate(q, rate_of(middle, at, k), dt);
#endif
}

#endif

#if SOURCES == 2

/* What a cell stands for: cell `at` of its axis in the whole grid, as in a mirror where sign is -1;
 * 0 where nothing acts. Beyond the lowest and the highest cell the sign is low and high. */
typedef struct proxy { int at; real sign; } proxy;

MR_FN proxy proxy_of(int cell, int cells, int goes_around, real low, real high) {
    int below = cell < 0, beyond = cell >= cells;
    int mirrored = below ? -1 - cell : 2 * cells - 1 - cell;
    int around = below ? cell + cells : cell - cells, edge = below ? 0 : cells - 1;
    real sign = below ? low : beyond ? high : R(1.0);
    int outside = goes_around ? around : sign < R(0.0) ? mirrored : edge;
    proxy s = { below || beyond ? outside : cell, sign };
    return s;
}

/* The middle of a cell of the whole grid. */
MR_FN spot spot_of(int i, int j, real t, parameters k) {
    spot at = { R(0.0), R(0.0), t };
    at.x = mr_fma((real)i + R(0.5), k.mr_dx, k.mr_x);
    at.y = mr_fma((real)j + R(0.5), k.mr_dy, k.mr_y);
    return at;
}

#define MIRROR_ACROSS_(n, t, x, y) q.t = sign * q.t;
MR_FN cell mirrored_across(cell q, real sign) {
    EACH_VECTOR(MIRROR_ACROSS_)
    return q;
}

/* On lane l of row j, one of the part's own cells or a ghost. */
MR_FN cell source_on(cell q, sources s, int l, int j, parameters k) {
    proxy x = proxy_of(k.mr_i + s.column + l, k.mr_columns, k.mr_around & 1, k.mr_west,
        k.mr_east);
    proxy y = proxy_of(k.mr_j + j, k.mr_rows, k.mr_around & 2, k.mr_south, k.mr_north);
    real across = x.sign < R(0.0) ? R(-1.0) : R(1.0), along = y.sign < R(0.0) ? R(-1.0) : R(1.0);
    q = mirrored(mirrored_across(q, across), along);
    q = source_at(q, spot_of(x.at, y.at, s.t, k), mr_abs(x.sign * y.sign) * s.dt, k);
    return mirrored(mirrored_across(q, across), along);
}

/* On lane l of row j, which is one of the part's own; the lane may be a ghost. */
MR_FN cell source_on_own(cell q, sources s, int l, int j, parameters k) {
    return source_on(q, s, l, j, k);
}

/* On lane l of row j, both the part's own. */
MR_FN cell source_inside(cell q, sources s, int l, int j, parameters k) {
    return source_at(q, spot_of(k.mr_i + s.column + l, k.mr_j + j, s.t, k), s.dt, k);
}

/* What a step of Euler's gives: the rates of `old`, over dt, are added to q. Neither has its
 * vectors turned, but k has. */
MR_FN cell source_added(cell q, cell old, sources s, int l, int j, parameters k) {
    spot at = spot_of(k.mr_i + s.column + l, k.mr_j + j, s.t, k);
    return add_rate(q, turned(rate_of(turned(old), at, k)), s.dt);
}

#elif SOURCES < 2

MR_FN cell source_added(cell q, cell old, sources s, int l, int j, parameters k) { return q; }

MR_FN real sign_of_row(sources s, int j) {
    return mr_select(j < 0, s.south, mr_select(j < s.ny, R(1.0), s.north));
}

MR_FN cell source_inside(cell q, sources s, int l, int j, parameters k) {
#if SOURCES
    return source(q, s.dt, k);
#else
    return q;
#endif
}

MR_FN cell source_on_own(cell q, sources s, int l, int j, parameters k) {
    return source_inside(q, s, l, j, k);
}

MR_FN cell source_on(cell q, sources s, int l, int j, parameters k) {
#if SOURCES
    real sign = sign_of_row(s, j), side = mr_select(sign < R(0.0), R(-1.0), R(1.0));
    return mirrored(source(mirrored(q, side), mr_abs(sign) * s.dt, k), side);
#else
    return q;
#endif
}

#endif
