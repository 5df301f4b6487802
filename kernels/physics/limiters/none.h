/* No slopes: the scheme is first order, and its predictor leaves the cell's value as it is. */

MR_FN real half_slope(real a, real b) {
    return R(0.0);
}

#include "within.h"
