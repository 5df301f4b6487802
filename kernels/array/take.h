/* take.h - the largest of maxima, which are zeros then, by a group of GROUP work-items. */

#include "array/tick.h"
#include "array/reduce.h"

/* Called first by ticks that are programmatic launches. The next step takes its place on the device
 * and waits there for the tick, as this does for the last step, whose groups are done with their
 * rows by then: those of a step say so behind them. */
MR_FN void take_place(void) {
    mr_start_dependents();
    mr_wait_for_previous();
}

MR_FN real take_largest(MR_GLOBAL real *maxima, int count, MR_LOCAL_PTR real *partial) {
    real rate = R(0.0);
    for (int k = mr_lid_x(); k < count; k += GROUP) {
        rate = mr_max_nan(rate, maxima[k]);
        maxima[k] = R(0.0);
    }
    return group_maximum(partial, mr_lid_x(), rate);
}
