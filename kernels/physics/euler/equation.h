/* equation.h - the Euler equations as traverse/sweep.h wants to see them. Needs LIMITER, FLUX and
 * ROOM. */

#define FIELDS 4

#include "physics/euler/euler.h"
#include LIMITER
#include "physics/euler/hancock.h"
#include FLUX

typedef struct cells { real field[FIELDS][ROOM]; } cells;
typedef struct flows { real rho[ROOM], un[ROOM], ut[ROOM], p[ROOM]; } flows;

MR_FN cell get_cell(const cells *row, int l) {
    cell q = { row->field[0][l], row->field[1][l], row->field[2][l], row->field[3][l] };
    return q;
}

MR_FN void set_cell(cells *row, int l, cell q) {
    row->field[0][l] = q.rho;
    row->field[1][l] = q.mn;
    row->field[2][l] = q.mt;
    row->field[3][l] = q.energy;
}

MR_FN flow get_flow(const flows *row, int l) {
    flow w = { row->rho[l], row->un[l], row->ut[l], row->p[l] };
    return w;
}

MR_FN void set_flow(flows *row, int l, flow w) {
    row->rho[l] = w.rho;
    row->un[l] = w.un;
    row->ut[l] = w.ut;
    row->p[l] = w.p;
}

typedef flows faces;

MR_FN face get_face(const faces *row, int l) { return get_flow(row, l); }
MR_FN void set_face(faces *row, int l, face w) { set_flow(row, l, w); }

/* Free fall for a time: momentum changes by rho g dt, energy by the work done on the way. */
MR_FN cell fall(cell q, real kick) {
    real impulse = q.rho * kick;
    q.energy = q.energy - kick * (q.mn - R(0.5) * impulse);
    q.mn = q.mn - impulse;
    return q;
}
