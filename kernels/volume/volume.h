/* volume.h - a part of a grid of three dimensions: slices of `plane` elements a field, the fields
 * of a slice one behind the other; four slices on either side are room for those of other parts.
 * Where the domain ends is decided as cells are loaded: there are no ghost cells but where a
 * function of the script gives them (beyond.krn). These lie beside the others. */

/* What a launch goes over. nz: of the part, whose first slice is `first` of `slices` of the domain
 * (0 if that does not go around), which begins at x, y, z. origin: of cell (0, 0) in a field of a
 * slice. kinds: of the six sides, KIND_COPY where the domain goes around, KIND_KEEP where ghost
 * cells lie or, low and high, slices of another part; has_mirrors: whether one is KIND_MIRROR;
 * has_ends: whether columns that a work-item loads may not lie side by side, or be stored in part;
 * along: rows or slices of a strip; slot: the place of the first group's rate among the maxima;
 * sweeps: 1, 2 or 3 along z: of the first step of a pair, of the second, or of both; columns_ and
 * rows_beyond: ghost cells that it goes over on either side; lowest, taken: its first slice, and
 * how many, of planes. */
typedef struct volume {
    int nx, ny, nz, stride, plane, origin, first, slices;
    real x, y, z, dx, dy, dz, inv_dx, inv_dy, inv_dz;
    int west, east, south, north, low, high, has_ends, has_mirrors, along, slot, sweeps;
    int columns_beyond, rows_beyond, lowest, taken;
} volume;

#define SLICES_BEYOND (2 * REACH)

MR_FN mr_index slice_offset(int k, volume p) {
    return (mr_index)(k + SLICES_BEYOND) * FIELDS * p.plane + p.origin;
}

/* The cell that stands for cell k of n, which may lie four beyond an end. Further ones are
 * nobody's, and any do. *sign: -1 where it is seen in a mirror. */
MR_FN int stand_in(int k, int n, int low, int high, real *sign) {
    int kind = k < 0 ? low : k >= n ? high : KIND_KEEP, edge = k < 0 ? 0 : n - 1;
    *sign = kind == KIND_MIRROR ? R(-1.0) : R(1.0);
    if (kind == KIND_COPY) k = k < 0 ? k + n : k - n;
    if (kind == KIND_MIRROR) k = 2 * edge + (edge > 0 ? 1 : -1) - k;
    if (kind == KIND_REPEAT) k = edge;
    return k;
}

/* The middle of a cell of the part, whose slices may lie in those beside it. */
MR_FN spot spot_in_volume(int i, int j, int k, real t, volume p) {
    spot at;
    int slice = p.first + k;
    if (slice < 0) slice += p.slices;
    if (slice >= p.slices) slice -= p.slices;
    at.x = mr_fma((real)i + R(0.5), p.dx, p.x);
    at.y = mr_fma((real)j + R(0.5), p.dy, p.y);
    at.z = mr_fma((real)slice + R(0.5), p.dz, p.z);
    at.t = t;
    return at;
}

MR_FN int within(int k, int low, int high) { return k < low ? low : k < high ? k : high; }

#define MIRROR_BY_(n, t, b) q.n = x * q.n; q.t = y * q.t; q.b = z * q.b;
MR_FN cell seen_in_mirrors(cell q, real x, real y, real z) {
    EACH_TRIPLE(MIRROR_BY_)
    return q;
}

MR_FN sweep sweep_along(real inv_dn, real dt, parameters k) {
    sweep s = { 0, 0, 0, 0, 0, dt * inv_dn, inv_dn, inv_dn, k };
    return s;
}

/* The largest signal rate of a cell along the axes. */
MR_FN real rate_in_volume(cell q, volume p, parameters k) {
    primitive w = primitive_of(q, k);
    real rate = p.inv_dx * fastest_of(w, k);
#ifdef UNTOLD
    rate += untold(q);
#endif
    w = turned_primitive(w), k = turned_parameters(k);
    rate = mr_max_nan(rate, p.inv_dy * fastest_of(w, k));
    w = turned_primitive(w), k = turned_parameters(k);
    return mr_max_nan(rate, p.inv_dz * fastest_of(w, k));
}

/* Stores the group's largest rate in its place, as put_maximum does. */
MR_FN void put_maximum_of(MR_GLOBAL real *maxima, MR_LOCAL_PTR real *partial, real rate, volume p,
    int is_due) {
    int before = mr_group_z() * mr_groups_y() * mr_groups_x();
    put_maximum(maxima + p.slot + before, partial, rate, is_due);
}

/* A GPU goes over a strip without a look at faces that are no states (traverse/general.h), and
 * where one was found does so once more, with the look. */
#ifndef MARCHES_FREELY
#define MARCHES_FREELY 0
#endif

/* What was found of such faces by pairs of columns: those of one sweep. */
typedef struct marks { real of[(W + 1) / 2]; } marks;

MR_FN marks no_marks(void) {
    marks m;
    MR_LANES(l, (W + 1) / 2) m.of[l] = R(0.0);
    return m;
}

/* Whether one of them has a part in the columns low .. high - 1. */
MR_FN int are_spoilt(marks m, int low, int high) {
    int spoilt = 0;
    MR_LANES(l, (W + 1) / 2)
        spoilt |= low - 1 <= 2 * l && 2 * l < high && !(m.of[l] - m.of[l] == R(0.0));
    return spoilt;
}
