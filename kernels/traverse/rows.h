/* rows.h - rows of cells, primitive variables and fluxes in private memory (lanes.h). */

#include "traverse/cells.h"

typedef struct fluxes { real field[FIELDS][ROOM]; } fluxes;

ROWS_OF(primitive, primitives, EACH_PRIMITIVE)

MR_FN flux get_flux(const fluxes *row, int l) {
    flux q;
    EACH_FIELD(GET_FIELD_)
    return q;
}

MR_FN void set_flux(fluxes *row, int l, flux q) { EACH_FIELD(SET_FIELD_) }
