/* volume_rate.h - the signal rate of a cell of finite volumes, for traverse/max_rate.krn. */

#include "array/reduce.h"
#include "physics/ocean/domain.h"
#include "physics/ocean/end_of_stage.h"

MR_FN real cell_rate(cell_place c, real inv_dx, real inv_dy, surroundings k) {
    sea s = { k.g, R(0.0), R(0.0), k.viscosity };
    cell q = { c.src[c.at], c.src[c.plane + c.at], c.src[2 * c.plane + c.at] };
    real h = q.eta - bed_under(q.eta, k.bed[c.at]);
    return signal_rate(q, h, row_inv_dx(k.rows, k.row_count, c.j, inv_dx), inv_dy, s);
}
