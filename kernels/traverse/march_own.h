/* march_own.h - the march over a part whose ghost cells lie around it, or that goes around. */

#include "traverse/march.h"

typedef const MR_GLOBAL real *origin;

/* Around the domain, or on to the ghost cells. */
MR_FN mr_index usual_jump(origin from, part p) {
    return p.wraps & 2 ? (mr_index)(1 - p.ny) * p.stride : p.stride;
}

MR_FN const MR_GLOBAL real *rows_from(origin from, int column, int row, part p, mr_index *jump) {
    if (p.wraps & 1 && column < 0) column += p.nx;
    if (p.wraps & 1 && column >= p.nx && column < p.nx + 2 * REACH) column -= p.nx;
    if (p.wraps & 2 && row < 0) row += p.ny;
    return from + cell_offset(column, row, p.stride);
}

MR_FN MR_GLOBAL real *rows_to(origin from, MR_GLOBAL real *dst, int column, int row, part p) {
    return dst + cell_offset(column, row, p.stride);
}

MR_FN int team_of(origin from) { return own_team(); }
MR_FN int teams_of(origin from) { return all_teams(); }

#include "traverse/march_part.h"
