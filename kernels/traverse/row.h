/* row.h - fluxes between the cells of a row, for a work-item that owns W neighbouring columns.
 *
 * Of each row it loads its own cells and four on either side (two are needed, four keep the
 * accesses aligned) and computes the faces of W + 2 cells and the W + 1 fluxes between them, in
 * private memory: no barrier. Every loop runs over all LANES, though the outer ones yield nothing
 * that is used: on a GPU the compiler drops them, on a CPU whole vectors are quicker than a
 * remainder. */

#define MARGIN 4
#define LANES (W + 2 * MARGIN)      /* lane l is column l - MARGIN */
#define ROOM (LANES + 16)   /* the outer lanes look beyond; whole vectors suit a vectoriser */
#include "traverse/sweep.h"

/* Lane l of f: between cells l + 1 and l + 2. */
MR_FN void row_fluxes(const cells *q, cells *f, real lambda, real physics) {
    flows w, d;
    faces low, high;
    MR_LANES(l, LANES) set_flow(&w, l, primitive(get_cell(q, l), physics));
    MR_LANES(l, LANES) set_flow(&d, l, difference(get_flow(&w, l), get_flow(&w, l + 1)));
    MR_LANES(l, LANES) {        /* lane l: the faces of cell l + 1 */
        flow below = get_flow(&d, l), above = get_flow(&d, l + 1);
        face a, b;
        reconstruct(get_flow(&w, l + 1), below, above, lambda, physics, &a, &b);
        set_face(&low, l, a);
        set_face(&high, l, b);
    }
    MR_LANES(l, LANES)
        set_cell(f, l, flux(get_face(&high, l), get_face(&low, l + 1), lambda, physics));
}

MR_FN cell west_flux(const cells *f, int l) { return get_cell(f, l + MARGIN - 2); }
MR_FN cell east_flux(const cells *f, int l) { return get_cell(f, l + MARGIN - 1); }
