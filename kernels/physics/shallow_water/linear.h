/* linear.h - limited linear reconstruction. Depth stays between those of the neighbours, but for
 * rounding. */

#include "physics/shallow_water/slopes.h"

MR_FN void reconstruct(flow w, flow below, flow above, real lambda, real g, face *low,
    face *high) {
    flow d = slope_of(below, above);
    *low = shifted(w, R(-1.0), d);
    *high = shifted(w, R(1.0), d);
    low->h = mr_max(low->h, R(0.0));
    high->h = mr_max(high->h, R(0.0));
}
