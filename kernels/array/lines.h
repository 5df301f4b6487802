/* lines.h - the lines of cells of a part along one axis, and both their ends. What lies beyond an
 * end: line_end.h. */

#include "array/line_end.h"

/* The lines of cells along an axis: cell k of line t of field q is element origin + k * along +
 * t * across + q * plane of `state`; cells 0 .. cells - 1 are the interior. */
typedef struct axis_lines {
    mr_index origin, along, across, plane;
    int cells, lines, fields, normals, staggered;
} axis_lines;

/* One end of all lines: its kind, and where the cells lie that it copies; origin is the lower one
 * on line 0, field 0. */
typedef struct line_end {
    mr_index origin, along, across, plane;
    int kind;
} line_end;

/* Fills the ghost cells of line t: at the low end of field row / 2 if row is even, else at the high
 * end. */
MR_FN void fill_ghosts(MR_GLOBAL real *state, const MR_GLOBAL real *low_cells,
    const MR_GLOBAL real *high_cells, const axis_lines axis, const line_end low,
    const line_end high, int t, int row) {
    int q = row / 2, is_normal = axis.normals >> q & 1;
    int on_face = axis.staggered && is_normal, cells = axis.cells;
    real sign = is_normal ? R(-1.0) : R(1.0);
    if (t >= axis.lines || q >= axis.fields) return;
    MR_GLOBAL real *line = state + axis.origin + t * axis.across + q * axis.plane;
    low_cells += low.origin + t * low.across + q * low.plane;
    high_cells += high.origin + t * high.across + q * high.plane;
    if (row % 2 == 0)
        fill_end(line, axis.along, low.kind, -HALO, 0, low_cells, low.along, sign, on_face);
    else
        fill_end(line, axis.along, high.kind, cells, cells - 1, high_cells, high.along, sign,
            on_face);
}
