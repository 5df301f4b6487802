/* cell_rate.h - the signal rate of a cell of an EQUATION, along both axes, for max_rate.krn. */

#define ROOM 1
#include "traverse/sweep.h"

typedef struct surroundings { parameters k; } surroundings;

/* NaN unless finite. */
#define FAULT_(name, k) fault = fault + (q.name - q.name);

MR_FN real cell_rate(cell_place c, real inv_dx, real inv_dy, surroundings all) {
    parameters k = all.k;
    cell q = load_cell(c.src + c.at, c.plane);
    signals x = signals_of(q, k), y = signals_of(turned(q), turned_parameters(k));
    real fault = R(0.0);
    EACH_FIELD(FAULT_)
    return mr_max_nan(fault,
        mr_max_nan(signal_rate(x, inv_dx, inv_dy), signal_rate(y, inv_dy, inv_dx)));
}
