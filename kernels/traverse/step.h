/* step.h - a step of W neighbouring columns: of a row along x, where lanes look at their neighbours
 * (team.h), and row by row along y, where they keep what they need of the last ones (window.h). */

#include "traverse/sweep.h"
#include "traverse/team.h"
#include "traverse/window.h"

/* One step of n neighbours along the axis of the sweep; further ones are other work-items'. */
MR_FN void step_line(cells *q, int n, sweep s, MR_LOCAL_PTR real *board, int along_y) {
    flows w, d;
    faces low, high;
    cells f;
    MR_LANES(l, n) set_flow(&w, l, primitive(get_cell(q, l), s.physics));
    flow ahead = flow_from_ahead(get_flow(&w, 0), board, along_y);
    MR_LANES(l, n) {
        flow next = l < n - 1 ? get_flow(&w, l + 1) : ahead;
        set_flow(&d, l, difference(get_flow(&w, l), next));
    }
    flow behind = flow_from_behind(get_flow(&d, n - 1), board, along_y);
    MR_LANES(l, n) {
        face a, b;
        flow below = l > 0 ? get_flow(&d, l - 1) : behind;
        reconstruct(get_flow(&w, l), below, get_flow(&d, l), s.lambda, s.physics, &a, &b);
        set_face(&low, l, a);
        set_face(&high, l, b);
    }
    face beyond = face_from_ahead(get_face(&low, 0), board, along_y);
    MR_LANES(l, n) {
        face next = l < n - 1 ? get_face(&low, l + 1) : beyond;
        set_cell(&f, l, flux(get_face(&high, l), next, s.lambda, s.physics));
    }
    cell in = cell_from_behind(get_cell(&f, n - 1), board, along_y);
    MR_LANES(l, n) {
        cell out = get_cell(&f, l);
        set_cell(q, l, update(get_cell(q, l), in, out, s.lambda));
        in = out;
    }
}

/* What the rows up to j - 1 leave for row j. */
typedef struct trail {
    window past;
    cells one, two;         /* rows j - 1 and j - 2 */
} trail;

MR_FN void open_trail(trail *t) {
    cell none = { R(1.0) };
    MR_LANES(l, W) {
        flow start = { R(1.0) };
        set_flow(&t->past.last, l, start);
        set_flow(&t->past.step, l, start);
        set_face(&t->past.high, l, face_of(start));
        set_cell(&t->past.flux, l, none);
        set_cell(&t->one, l, none);
        set_cell(&t->two, l, none);
    }
}

/* Takes row j, momenta turned, and gives row j - 2 one step later. */
MR_FN void step_column(trail *t, cells *q, sweep s) {
    window *w = &t->past;
    flows last = w->last;
    faces low, high;
    MR_LANES(l, W) {
        face a, b;
        flow here = get_flow(&last, l), next = primitive(get_cell(q, l), s.physics);
        flow step = difference(here, next);
        reconstruct(here, get_flow(&w->step, l), step, s.lambda, s.physics, &a, &b);
        set_face(&low, l, a);
        set_face(&high, l, b);
        set_flow(&w->last, l, next);
        set_flow(&w->step, l, step);
    }
    MR_LANES(l, W) {
        cell in = get_cell(&w->flux, l), left = get_cell(&t->two, l);
        cell out = flux(get_face(&w->high, l), get_face(&low, l), s.lambda, s.physics);
        set_cell(&w->flux, l, out);
        set_cell(&t->two, l, get_cell(&t->one, l));
        set_cell(&t->one, l, get_cell(q, l));
        set_cell(q, l, update(left, in, out, s.lambda));
    }
    w->high = high;
}

MR_FN void turn(cells *q) {
    MR_LANES(l, W) set_cell(q, l, turned(get_cell(q, l)));
}

/* The fastest signals so far of the columns of a pair, which a team owns together or not at all. */
typedef struct fastest { signals of[(W + 1) / 2]; } fastest;

MR_FN void note_signals(fastest *f, const cells *q, real physics) {
    MR_LANES(l, W) {
        signals s = signals_of(get_cell(q, l), physics);
        signals *most = &f->of[l / 2];
        most->n = mr_max_nan(most->n, s.n);
        most->t = mr_max_nan(most->t, s.t);
    }
}

MR_FN void fall_row(cells *q, real kick) {
    if (GRAVITY) MR_LANES(l, W) set_cell(q, l, fall(get_cell(q, l), kick));
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
