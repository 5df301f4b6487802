/* reduce.h - the maximum over a group of GROUP work-items, in which a NaN survives. Order does not
 * matter to a maximum, so any group shape gives the same bits. All work-items of the group call it,
 * and get the result; between two calls there must be a barrier. */

#if defined(MR_SHUFFLE) && GROUP % 32 == 0

MR_FN real group_maximum(MR_LOCAL_PTR real *partial, int me, real value) {
    int lane = me % 32;
    value = mr_warp_most(value);
    if (lane == 0) partial[me / 32] = value;
    MR_BARRIER();
    return mr_warp_most(partial[lane < GROUP / 32 ? lane : 0]);
}

#else

#define GATHERERS (GROUP < 32 ? 1 : 16)     /* who look at the others' values first */

MR_FN real group_maximum(MR_LOCAL_PTR real *partial, int me, real value) {
    partial[me] = value;
    MR_BARRIER();
    if (me < GATHERERS) {
        for (int k = me + GATHERERS; k < GROUP; k += GATHERERS)
            value = mr_max_nan(value, partial[k]);
        partial[me] = value;
    }
    MR_BARRIER();
    value = partial[0];
    for (int k = 1; k < GATHERERS; ++k) value = mr_max_nan(value, partial[k]);
    return value;
}

#endif

/* Stores the group's maximum in its place. */
MR_FN void store_maximum(MR_GLOBAL real *maxima, real value, int is_due) {
    if (mr_lid_x() == 0 && is_due) maxima[mr_group_y() * mr_groups_x() + mr_group_x()] = value;
}
