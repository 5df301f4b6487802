/* reduce.h - the maximum over a group of GROUP work-items, in which a NaN survives. Order does not
 * matter to a maximum, so any group shape gives the same bits. */

/* All work-items of the group must call it; work-item 0 gets the result. */
MR_FN real group_maximum(MR_LOCAL_PTR real *partial, int me, real value) {
    partial[me] = value;
    MR_BARRIER();
    for (int n = GROUP; n > 1; n = (n + 1) / 2) {
        int kept = (n + 1) / 2;
        if (me < n - kept) partial[me] = mr_max_nan(partial[me], partial[me + kept]);
        MR_BARRIER();
    }
    return partial[0];
}
