/* row.h - fluxes between the cells of a row, for a work-item that owns W neighbouring columns.
 *
 * Of each row it loads its own cells and four on either side (two are needed, four keep the
 * accesses aligned) and computes the faces of W + 2 cells and the W + 1 fluxes between them, in
 * private memory: no barrier. Every loop runs over all LANES, though the outer ones yield nothing
 * that is used: on a GPU the compiler drops them, on a CPU whole vectors are quicker than a
 * remainder. */

#define MARGIN 4
#define LANES (W + 2 * MARGIN)      /* lane l is column l - MARGIN */
#define ROOM (LANES + 16)       /* the outer lanes look beyond; whole vectors suit a vectoriser */
#include "traverse/sweep.h"

/* Lane l of f: between cells l + 1 and l + 2. */
MR_FN void row_fluxes(const cells *q, fluxes *f, real lambda, parameters k) {
    primitives w, d;
    faces low, high;
    MR_LANES(l, LANES) set_primitive(&w, l, primitive_of(get_cell(q, l), k));
    MR_LANES(l, LANES)
        set_primitive(&d, l, difference(get_primitive(&w, l), get_primitive(&w, l + 1)));
    MR_LANES(l, LANES) {        /* lane l: the faces of cell l + 1 */
        primitive below = get_primitive(&d, l), above = get_primitive(&d, l + 1);
        face a, b;
        reconstruct(get_primitive(&w, l + 1), below, above, lambda, k, &a, &b);
        set_face(&low, l, a);
        set_face(&high, l, b);
    }
    MR_LANES(l, LANES)
        set_flux(f, l, numerical_flux(get_face(&high, l), get_face(&low, l + 1), lambda, k));
}

MR_FN flux west_flux(const fluxes *f, int l) { return get_flux(f, l + MARGIN - REACH); }
MR_FN flux east_flux(const fluxes *f, int l) { return get_flux(f, l + MARGIN - REACH + 1); }
