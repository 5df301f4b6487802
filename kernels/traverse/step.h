/* step.h - a step of W neighbouring columns: of a row along x, where lanes look at their neighbours
 * (neighbours.h), and row by row along y, where they keep what they need of the last rows
 * (sliding_window.h). */

#define FREE_FACES 1
#include "traverse/sweep.h"
#include "traverse/neighbours.h"
#include "traverse/sliding_window.h"

#define OWN_COLUMNS (TEAM * W - 2 * REACH)  /* of a team whose work-items have W columns each */
#define LEAD (W > REACH ? W : REACH)        /* columns of the first team west of the domain */

/* Elements of local memory for sweeps along both axes and for those along x. */
#define EXCHANGED (2 * REALS_(primitive) + REALS_(face) + REALS_(flux))
#define ROOM_FOR_ALL (EXCHANGED * GROUP)
#define ROOM_ALONG_X SHARED_ALONG_X(EXCHANGED)

FROM_NEIGHBOUR(primitive, ahead, 1, 0, REALS_(primitive))
FROM_NEIGHBOUR(primitive, behind, -1, REALS_(primitive), REALS_(primitive))
FROM_NEIGHBOUR(face, ahead, 1, 2 * REALS_(primitive), REALS_(face))
FROM_NEIGHBOUR(flux, behind, -1, 2 * REALS_(primitive) + REALS_(face), REALS_(flux))

#ifndef CHECKS_FACES        /* else see general.h */
#define CHECKS_FACES 0
MR_FN void check_faces(const cells *q, faces *low, faces *high, int n, parameters k) {}
MR_FN void note_faces(real *marks, const faces *low, const faces *high, int n, parameters k) {}
#endif

/* One step of n neighbours along the axis of the sweep; further ones are other work-items'. Faces
 * that are no states are mended; where there are `marks`, they are left alone and marked. */
MR_FN void step_line(cells *q, int n, sweep s, MR_LOCAL_PTR real *shared, int along_y,
    real *marks) {
    primitives w, d;
    faces low, high;
    fluxes f;
    MR_LANES(l, n) set_primitive(&w, l, primitive_of(get_cell(q, l), s.k));
    primitive ahead = primitive_from_ahead(get_primitive(&w, 0), shared, along_y);
    MR_LANES(l, n) {
        primitive next = l < n - 1 ? get_primitive(&w, l + 1) : ahead;
        set_primitive(&d, l, difference(get_primitive(&w, l), next));
    }
    primitive behind = primitive_from_behind(get_primitive(&d, n - 1), shared, along_y);
    MR_LANES(l, n) {
        face a, b;
        primitive below = l > 0 ? get_primitive(&d, l - 1) : behind;
        reconstruct(get_primitive(&w, l), below, get_primitive(&d, l), s.lambda, s.k, &a, &b);
        set_face(&low, l, a);
        set_face(&high, l, b);
    }
    if (marks) note_faces(marks, &low, &high, n, s.k);
    else check_faces(q, &low, &high, n, s.k);
    face beyond = face_from_ahead(get_face(&low, 0), shared, along_y);
    MR_LANES(l, n) {
        face next = l < n - 1 ? get_face(&low, l + 1) : beyond;
        set_flux(&f, l, numerical_flux(get_face(&high, l), next, s.lambda, s.k));
    }
    flux in = flux_from_behind(get_flux(&f, n - 1), shared, along_y);
    MR_LANES(l, n) {
        flux out = get_flux(&f, l);
        set_cell(q, l, update(get_cell(q, l), in, out, s.lambda));
        in = out;
    }
}

/* What a column keeps of its last rows, and the rows that wait for their update. */
typedef struct column {
    sliding_window past;
    cells one, two;         /* rows j - 1 and j - 2 */
} column;

/* Begins with rows of ones: what comes of them is not stored. */
MR_FN void open_column(column *t, parameters k) {
    cell one = { R(1.0) };
    flux none = { R(1.0) };
    primitive start = { R(1.0) };
    MR_LANES(l, W) {
        set_primitive(&t->past.last, l, start);
        set_primitive(&t->past.step, l, start);
        set_face(&t->past.high, l, face_of(start, k));
        set_flux(&t->past.in, l, none);
        set_cell(&t->one, l, one);
        set_cell(&t->two, l, one);
    }
}

/* Takes row j, vectors turned, and gives row j - 2 one step later. row: j, counted from the first
 * one that is of use; of the four before nobody needs all. */
MR_FN void climb(column *t, cells *q, sweep s, real *marks, int row) {
    sliding_window *w = &t->past;
    primitives last = w->last, below = w->step;
    MR_LANES(l, W) {
        primitive next = primitive_of(get_cell(q, l), s.k);
        set_primitive(&w->step, l, difference(get_primitive(&last, l), next));
        set_primitive(&w->last, l, next);
    }
    if (row >= 0) {
        faces low, high;
        MR_LANES(l, W) {
            face a, b;
            reconstruct(get_primitive(&last, l), get_primitive(&below, l),
                get_primitive(&w->step, l), s.lambda, s.k, &a, &b);
            set_face(&low, l, a);
            set_face(&high, l, b);
        }
        if (marks) note_faces(marks, &low, &high, W, s.k);
        else check_faces(&t->one, &low, &high, W, s.k);
        if (row >= 1)
            MR_LANES(l, W) {
                flux in = get_flux(&w->in, l);
                flux out = numerical_flux(get_face(&w->high, l), get_face(&low, l), s.lambda, s.k);
                set_flux(&w->in, l, out);
                set_cell(&t->two, l, update(get_cell(&t->two, l), in, out, s.lambda));
            }
        w->high = high;
    }
    cells given = t->two;
    t->two = t->one;
    t->one = *q;
    *q = given;
}

MR_FN void step_column(column *t, cells *q, sweep s, real *marks) {
    climb(t, q, s, marks, REACH);
}

MR_FN void turn(cells *q) {
    MR_LANES(l, W) set_cell(q, l, turned(get_cell(q, l)));
}

/* The fastest signals so far of the columns of a pair, which a team owns together or not at all. */
typedef struct fastest { signals of[(W + 1) / 2]; } fastest;

MR_FN void note_signals(fastest *f, const cells *q, parameters k) {
    MR_LANES(l, W) {
        signals s = signals_of(get_cell(q, l), k);
        signals *most = &f->of[l / 2];
        most->n = mr_max_nan(most->n, s.n);
        most->t = mr_max_nan(most->t, s.t);
    }
}

/* The columns low .. high - 1 of a work-item's W, in pairs unless all. */
MR_FN void store_own(MR_GLOBAL real *to, mr_index plane, const cells *q, int low, int high) {
    int all = high - low == W;
    MR_LANES(k, FIELDS) {
        if (all) mr_store_lanes(to + k * plane, q->field[k], W);
        MR_LANES(l, W)
            if (W > 2 && l % 2 == 0 && !all && low <= l && l < high)
                mr_store_lanes(to + k * plane + l, q->field[k] + l, 2);
    }
}
