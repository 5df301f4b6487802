/* volume.h - a part of a grid of three dimensions: slices of `plane` elements a field, the fields
 * of a slice one behind the other; two slices on either side are room for those of other parts.
 * Where the domain ends is decided as cells are loaded: there are no ghost cells. */

/* What a launch goes over. kinds: of the six sides, KIND_COPY where the domain goes around and, low
 * and high, KIND_KEEP where slices of another part lie; has_mirrors: whether one is KIND_MIRROR;
 * tiles: rows of tiles, behind which groups begin anew in higher slices; slot: the place of the
 * first group's rate among the maxima. */
typedef struct volume {
    int nx, ny, nz, stride, plane;
    real inv_dx, inv_dy, inv_dz;
    int west, east, south, north, low, high, has_mirrors, tiles, slot;
} volume;

MR_FN mr_index slice_offset(int k, volume p) {
    return (mr_index)(k + REACH) * FIELDS * p.plane;
}

/* The cell that stands for cell k of n, which may lie two beyond an end. Further ones are nobody's,
 * and any do. *sign: -1 where it is seen in a mirror. */
MR_FN int stand_in(int k, int n, int low, int high, real *sign) {
    int kind = k < 0 ? low : k >= n ? high : KIND_KEEP, edge = k < 0 ? 0 : n - 1;
    *sign = kind == KIND_MIRROR ? R(-1.0) : R(1.0);
    if (kind == KIND_COPY) k = k < 0 ? k + n : k - n;
    if (kind == KIND_MIRROR) k = 2 * edge + (edge > 0 ? 1 : -1) - k;
    if (kind == KIND_REPEAT) k = edge;
    return k;
}

MR_FN int within(int k, int n) { return k < 0 ? 0 : k < n ? k : n - 1; }

/* The largest signal rate of a cell along the axes. */
MR_FN real rate_in_volume(cell q, volume p, parameters k) {
    primitive w = primitive_of(q, k);
    real rate = p.inv_dx * fastest_of(w, k);
    w = turned_primitive(w), k = turned_parameters(k);
    rate = mr_max_nan(rate, p.inv_dy * fastest_of(w, k));
    w = turned_primitive(w), k = turned_parameters(k);
    return mr_max_nan(rate, p.inv_dz * fastest_of(w, k));
}
