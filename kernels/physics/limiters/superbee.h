/* Superbee (Roe 1985): the larger of minmod(2a, b) and minmod(a, 2b). Half the limited slope. It
 * steepens smooth waves. */

MR_FN real half_slope(real a, real b) {
    real sign = mr_copysign(R(0.25), a) + mr_copysign(R(0.25), b);      /* 0 where they differ */
    real p = mr_abs(a), q = mr_abs(b);
    return sign * mr_max(mr_min(R(2.0) * p, q), mr_min(p, R(2.0) * q));
}

#include "within.h"
