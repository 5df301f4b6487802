/* derived.h - what the expressions of derived variables read besides fields and the bed. The table
 * `inputs` in lua/mare/ocean/variables.lua names these functions. */

#include "physics/ocean/domain.h"

/* tan(latitude) / radius of the earth in row j of the part */
MR_FN real curvature(const MR_GLOBAL real *rows, int row_count, int j) {
    return row(rows, row_count, ROW_CURVATURE, j);
}

/* The wind's stress over the density of water at the time of the state. */
MR_FN real wind(const MR_GLOBAL real *forcing, int kind, const MR_GLOBAL double *times,
    const MR_GLOBAL double *clock, mr_index plane, mr_index at) {
    real weight = R(0.0);
#if FORCING
    weight = time_weight(clock, times, 0.0);
#endif
    return forcing_at(forcing, kind, plane, at, weight);
}

MR_FN real wind_x(const MR_GLOBAL real *forcing, const MR_GLOBAL double *times,
    const MR_GLOBAL double *clock, mr_index plane, mr_index at) {
    return wind(forcing, FORCE_X, times, clock, plane, at);
}

MR_FN real wind_y(const MR_GLOBAL real *forcing, const MR_GLOBAL double *times,
    const MR_GLOBAL double *clock, mr_index plane, mr_index at) {
    return wind(forcing, FORCE_Y, times, clock, plane, at);
}
