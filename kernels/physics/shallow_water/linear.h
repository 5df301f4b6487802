/* linear.h - limited linear reconstruction. Depth stays between those of the neighbours, but for
 * rounding. */

#include "physics/shallow_water/slopes.h"

MR_FN void faces_of(primitive w, primitive d, real lambda, parameters k, primitive *low,
    primitive *high) {
    *low = shifted(w, R(-1.0), d);
    *high = shifted(w, R(1.0), d);
    low->h = mr_max(low->h, R(0.0));
    high->h = mr_max(high->h, R(0.0));
}

#include "traverse/faces.h"
