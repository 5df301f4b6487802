/* window.h - fluxes between rows, for a work-item that owns W neighbouring columns and marches
 * north with what it needs of the last rows in private memory: row j completes the faces of row
 * j - 1 and the flux between rows j - 2 and j - 1. sweep.h comes before. */

/* g dt of interior rows and of the ghost rows to the south and north. */
typedef struct kicks { real interior, south, north; } kicks;

MR_FN real kick_of(kicks g, int j, int ny) {
    return mr_select(j < 0, g.south, mr_select(j < ny, g.interior, g.north));
}

/* What the rows up to j - 1 leave for row j. */
typedef struct window {
    cells ahead;            /* row j, loaded one row early */
    flows last;             /* row j - 1 */
    flows step;             /* row j - 1 less row j - 2 */
    faces high;             /* row j - 2 at its high face */
    cells flux;             /* into row j - 2 */
} window;

/* Begins with one row, which for lack of others stands for all below it: no result sees them. */
MR_FN void open_lane(window *w, int l, cell q, sweep s) {
    flow first = primitive(q, s.physics);
    set_flow(&w->last, l, first);
    set_flow(&w->step, l, difference(first, first));
    set_face(&w->high, l, face_of(first));
    set_cell(&w->flux, l, q);
}

/* Takes row j (q) into lane l; the fluxes are those into and out of row j - 2. */
MR_FN void advance_lane(window *w, int l, cell q, sweep s, cell *in, cell *out) {
    flow next = primitive(q, s.physics), last = get_flow(&w->last, l);
    flow step = difference(last, next);
    face low, high;
    reconstruct(last, get_flow(&w->step, l), step, s.lambda, s.physics, &low, &high);
    *in = get_cell(&w->flux, l);
    *out = flux(get_face(&w->high, l), low, s.lambda, s.physics);
    set_flow(&w->last, l, next);
    set_flow(&w->step, l, step);
    set_face(&w->high, l, high);
    set_cell(&w->flux, l, *out);
}
