/* domain.h - what the kernels of the ocean schemes know of bed, grid and rotation, whatever its
 * source: lua/mare/ocean/domain.lua fills the buffers, and binds them by these argument names:
 *
 *   const MR_GLOBAL real *bed     planes in the state's layout, BED_*
 *   const MR_GLOBAL real *rows    ROW_*, each of row_count = ny + 4 entries
 *   const ocean o                 below; beside it the block `part` of array/layout.h, whose inv_dx
 *                                 is that of a uniform grid only
 *   const MR_GLOBAL real *forcing, const MR_GLOBAL double *forcing_times    FORCE_* at two times
 *
 * Defines: METRIC 0, uniform cells, 1, the width of a cell depends on its row; CORIOLIS 0 or
 * CORIOLIS_*; FORCING 0, FORCING_UNIFORM where all cells have the same, FORCING_BY_CELL, planes in
 * the state's layout. lua/mare/base/constants.lua says what BED_*, ROW_* and FORCE_* are. */

#include "array/clock.h"
#include "array/layout.h"

/* Cells in m, gravity in m/s2, friction by its kind, viscosity in m2/s, and the depth in m below
 * which a cell is dry, of schemes that dry. */
typedef struct ocean { int row_count; real dx, dy, g, friction, viscosity, dry; } ocean;

/* What the signal rate of a cell depends on beside its state. */
typedef struct surroundings {
    const MR_GLOBAL real *bed, *rows;
    int row_count;
    real g, viscosity;
} surroundings;

/* Land for ever, as opposed to a bed above still water, which may be flooded. */
MR_FN int is_land(real depth) { return depth < R(-1e29); }

/* Row j, from -2 to ny + 1. */
MR_FN real row(const MR_GLOBAL real *rows, int row_count, int kind, int j) {
    return rows[kind * row_count + j + HALO];
}

/* What the uniform grid knows without looking: the last argument. */
MR_FN real row_inv_dx(const MR_GLOBAL real *rows, int row_count, int j, real inv_dx) {
#if METRIC
    return row(rows, row_count, ROW_INV_DX, j);
#else
    return inv_dx;
#endif
}

MR_FN real row_south(const MR_GLOBAL real *rows, int row_count, int j, real dx) {
#if METRIC
    return row(rows, row_count, ROW_SOUTH, j);
#else
    return dx;
#endif
}

MR_FN real row_inv_area(const MR_GLOBAL real *rows, int row_count, int j, real inv_area) {
#if METRIC
    return row(rows, row_count, ROW_INV_AREA, j);
#else
    return inv_area;
#endif
}

/* At the centre of the cell at element `at` (cell_offset) of row j. */
MR_FN real coriolis(const MR_GLOBAL real *bed, mr_index plane, mr_index at,
    const MR_GLOBAL real *rows, int row_count, int j) {
#if CORIOLIS == CORIOLIS_BY_CELL
    return bed[BED_CORIOLIS * plane + at];
#elif CORIOLIS == CORIOLIS_BY_ROW
    return row(rows, row_count, ROW_F, j);
#else
    return R(0.0);
#endif
}

/* In the middle of its southern face. */
MR_FN real coriolis_south(const MR_GLOBAL real *bed, mr_index plane, mr_index at, int stride,
    const MR_GLOBAL real *rows, int row_count, int j) {
#if CORIOLIS == CORIOLIS_BY_CELL
    const MR_GLOBAL real *f = bed + BED_CORIOLIS * plane + at;
    return R(0.5) * (f[0] + f[-stride]);
#elif CORIOLIS == CORIOLIS_BY_ROW
    return row(rows, row_count, ROW_F_SOUTH, j);
#else
    return R(0.0);
#endif
}

/* Weight of the later of two times {then, later} at the present step's time + fraction * dt. A step
 * never goes beyond the later one, whose weight is 0 where it never comes. */
MR_FN real time_weight(const MR_GLOBAL double *clock, const MR_GLOBAL double *times,
    double fraction) {
    double t = clock[CLOCK_TIME] + fraction * clock[CLOCK_STEP];
    return (real)((t - times[0]) / (times[1] - times[0]));
}

/* One of FORCE_* in the cell at element `at`, ghost cells too. */
MR_FN real forcing_at(const MR_GLOBAL real *forcing, int kind, mr_index plane, mr_index at,
    real weight) {
#if FORCING == FORCING_BY_CELL
    real then = forcing[kind * plane + at], later = forcing[(FORCES + kind) * plane + at];
#elif FORCING == FORCING_UNIFORM
    real then = forcing[kind], later = forcing[FORCES + kind];
#else
    real then = R(0.0), later = R(0.0);
#endif
    return mr_fma(weight, later - then, then);
}
