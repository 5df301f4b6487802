/* row_sources.h - where the source acts (sources.h) on the lanes of a march, row by row. Vectors
 * are turned. */

#if SOURCES == 2

/* What does not change from row to row: of what each lane stands for the middle and the sign (see
 * sources.h); whether one of them is a mirror image or is left alone. */
typedef struct acting {
    sources s;
    real x[W], sign[W];
    int is_special;
} acting;

MR_FN acting acting_on(sources s, parameters k) {
    acting a;
    a.s = s;
    a.is_special = 0;
    MR_LANES(l, W) {
        proxy p = proxy_of(k.mr_i + s.column + l, k.mr_columns, k.mr_around & 1, k.mr_west,
            k.mr_east);
        a.x[l] = spot_of(p.at, 0, s.t, k).x;
        a.sign[l] = p.sign;
        a.is_special |= p.sign != R(1.0);
    }
    return a;
}

/* On row j of the domain's own. With HAS_MARGIN these may be rows of a neighbour, with which the
 * part goes around (run/cycles.lua). */
MR_FN void source_interior(cells *q, const acting *a, int j, parameters k) {
    int row = k.mr_j + j;
#ifdef HAS_MARGIN
    row += row < 0 ? k.mr_rows : row >= k.mr_rows ? -k.mr_rows : 0;
#endif
    spot at = spot_of(0, row, a->s.t, k);
    MR_LANES(l, W) {
        at.x = a->x[l];
        set_cell(q, l, source_at(get_cell(q, l), at, a->s.dt, k));
    }
}

/* On row j, which may be beyond the domain. */
MR_FN void source_row(cells *q, const acting *a, int j, parameters k) {
    int row = k.mr_j + j;
    if (!a->is_special && row >= 0 && row < k.mr_rows) {
        source_interior(q, a, j, k);
        return;
    }
    proxy p = proxy_of(row, k.mr_rows, k.mr_around & 2, k.mr_south, k.mr_north);
    real along = p.sign < R(0.0) ? R(-1.0) : R(1.0);
    spot at = spot_of(0, p.at, a->s.t, k);
    MR_LANES(l, W) {
        real sign = a->sign[l], across = sign < R(0.0) ? R(-1.0) : R(1.0);
        cell image = mirrored(mirrored_across(get_cell(q, l), across), along);
        at.x = a->x[l];
        image = source_at(image, at, mr_abs(sign * p.sign) * a->s.dt, k);
        set_cell(q, l, mirrored(mirrored_across(image, across), along));
    }
}

#else

typedef sources acting;

MR_FN acting acting_on(sources s, parameters k) { return s; }

MR_FN void source_row(cells *q, const acting *a, int j, parameters k) {
    if (SOURCES) MR_LANES(l, W) set_cell(q, l, source_on(get_cell(q, l), *a, l, j, k));
}

MR_FN void source_interior(cells *q, const acting *a, int j, parameters k) {
    if (SOURCES) MR_LANES(l, W) set_cell(q, l, source_inside(get_cell(q, l), *a, l, j, k));
}

#endif
