/* Van Leer (1974): the harmonic mean of the differences, 0 at an extremum. Half the limited slope.
 * The product of both must be within the range of numbers: floats under 1e-19 have no slope. */

MR_FN real half_slope(real a, real b) {
    real product = a * b;
    return mr_select(product > R(0.0), product * mr_rcp(a + b), R(0.0));
}

#include "within.h"
