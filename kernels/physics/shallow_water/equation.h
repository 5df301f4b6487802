/* equation.h - the shallow-water equations as traverse/sweep.h wants to see them. Needs LIMITER,
 * RECONSTRUCTION, FLUX and ROOM. */

#define FIELDS 3

#include "physics/shallow_water/shallow_water.h"
#include LIMITER

typedef struct cells { real field[FIELDS][ROOM]; } cells;
typedef struct flows { real h[ROOM], un[ROOM], ut[ROOM]; } flows;

MR_FN cell get_cell(const cells *row, int l) {
    cell q = { row->field[0][l], row->field[1][l], row->field[2][l] };
    return q;
}

MR_FN void set_cell(cells *row, int l, cell q) {
    row->field[0][l] = q.h;
    row->field[1][l] = q.mn;
    row->field[2][l] = q.mt;
}

MR_FN flow get_flow(const flows *row, int l) {
    flow w = { row->h[l], row->un[l], row->ut[l] };
    return w;
}

MR_FN void set_flow(flows *row, int l, flow w) {
    row->h[l] = w.h;
    row->un[l] = w.un;
    row->ut[l] = w.ut;
}

#include RECONSTRUCTION
#include FLUX

/* Gravity has no part along the surface of a flat bottom. */
MR_FN cell fall(cell q, real kick) { return q; }
