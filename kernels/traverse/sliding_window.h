/* sliding_window.h - fluxes between rows, for a work-item that owns W neighbouring columns and goes
 * north with what it needs of the last rows in private memory: row j completes the faces of row
 * j - 1 and the flux between rows j - 2 and j - 1. */

/* Two rows in a turn save a GPU moves of the sliding window; a CPU keeps it in memory, and compiles
 * in four fifths of the time. */
#ifdef MR_CPU
#define ROWS_OF_A_TURN 1
#else
#define ROWS_OF_A_TURN 2
#endif

/* What the rows up to j - 1 leave for row j. */
typedef struct sliding_window {
    cells ahead;            /* row j, loaded one row early */
    primitives last;        /* row j - 1 */
    primitives step;        /* row j - 1 less row j - 2 */
    faces high;             /* row j - 2 at its high face */
    fluxes in;              /* into row j - 2 */
} sliding_window;

/* Begins with one row, which for lack of others stands for all below it: no result sees them. */
MR_FN void open_lane(sliding_window *w, int l, cell q, sweep s) {
    primitive first = primitive_of(q, s.k);
    flux none = { R(0.0) };
    set_primitive(&w->last, l, first);
    set_primitive(&w->step, l, difference(first, first));
    set_face(&w->high, l, face_of(first, s.k));
    set_flux(&w->in, l, none);
}

/* Takes row j (q) into lane l; the fluxes are those into and out of row j - 2. */
MR_FN void advance_lane(sliding_window *w, int l, cell q, sweep s, flux *in, flux *out) {
    primitive next = primitive_of(q, s.k), last = get_primitive(&w->last, l);
    primitive step = difference(last, next);
    face low, high;
    reconstruct(last, get_primitive(&w->step, l), step, s.lambda, s.k, &low, &high);
    *in = get_flux(&w->in, l);
    *out = numerical_flux(get_face(&w->high, l), low, s.lambda, s.k);
    set_primitive(&w->last, l, next);
    set_primitive(&w->step, l, step);
    set_face(&w->high, l, high);
    set_flux(&w->in, l, *out);
}
