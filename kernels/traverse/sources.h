/* sources.h - where the source of an equation acts on rows: source(cell, dt, k) is what it does to
 * a cell in time dt. SOURCES 0: it does nothing.
 *
 * On ghost rows it acts as on what they stand for: as inside (1), on its mirror image (-1) behind a
 * wall, not at all (0) where ghost cells are fixed. */

typedef struct sources { real dt, south, north; int ny; } sources;

MR_FN sources sources_over(part p, real dt) {
    sources s = { dt, p.south, p.north, p.ny };
    return s;
}

MR_FN real sign_of_row(sources s, int j) {
    return mr_select(j < 0, s.south, mr_select(j < s.ny, R(1.0), s.north));
}

MR_FN cell source_inside(cell q, sources s, parameters k) {
#if SOURCES
    return source(q, s.dt, k);
#else
    return q;
#endif
}

/* On a cell of a row of this sign. */
MR_FN cell source_on(cell q, sources s, real sign, parameters k) {
#if SOURCES
    real side = mr_select(sign < R(0.0), R(-1.0), R(1.0));
    return mirrored(source(mirrored(q, side), mr_abs(sign) * s.dt, k), side);
#else
    return q;
#endif
}
