/* reduce.h - the maximum over a group of GROUP work-items, in which a NaN survives. Order does not
 * matter to a maximum, so any group shape gives the same bits.
 *
 * A kernel that takes fewer registers with the look at others' values rolled says so in front by
 * SHORT_OF_REGISTERS; others take more. */

#define GATHERERS (GROUP < 32 ? 1 : 16)     /* who look at the others' values first */

/* All work-items of the group must call it, and get the result. */
MR_FN real group_maximum(MR_LOCAL_PTR real *partial, int me, real value) {
    partial[me] = value;
    MR_BARRIER();
    if (me < GATHERERS) {
#ifdef SHORT_OF_REGISTERS
        MR_UNROLL(1)
#endif
        for (int k = me + GATHERERS; k < GROUP; k += GATHERERS)
            value = mr_max_nan(value, partial[k]);
        partial[me] = value;
    }
    MR_BARRIER();
    value = partial[0];
    for (int k = 1; k < GATHERERS; ++k) value = mr_max_nan(value, partial[k]);
    return value;
}
