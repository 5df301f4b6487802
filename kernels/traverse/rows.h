/* rows.h - rows of cells, primitive variables and fluxes in private memory, ROOM lanes each. Lane l
 * belongs to one column. On a GPU every loop over lanes unrolls and the arrays become registers; on
 * a CPU they stay arrays in the first-level cache and each loop becomes vector instructions. */

typedef struct cells { real field[FIELDS][ROOM]; } cells;
typedef struct fluxes { real field[FIELDS][ROOM]; } fluxes;

#define ROW_(name, k) real name[ROOM];
typedef struct primitives { EACH_PRIMITIVE(ROW_) } primitives;

#define GET_FIELD_(name, k) q.name = row->field[k][l];
#define SET_FIELD_(name, k) row->field[k][l] = q.name;

MR_FN cell get_cell(const cells *row, int l) {
    cell q;
    EACH_FIELD(GET_FIELD_)
    return q;
}

MR_FN void set_cell(cells *row, int l, cell q) { EACH_FIELD(SET_FIELD_) }

MR_FN flux get_flux(const fluxes *row, int l) {
    flux q;
    EACH_FIELD(GET_FIELD_)
    return q;
}

MR_FN void set_flux(fluxes *row, int l, flux q) { EACH_FIELD(SET_FIELD_) }

#define GET_PRIMITIVE_(name, k) w.name = row->name[l];
#define SET_PRIMITIVE_(name, k) row->name[l] = w.name;

MR_FN primitive get_primitive(const primitives *row, int l) {
    primitive w;
    EACH_PRIMITIVE(GET_PRIMITIVE_)
    return w;
}

MR_FN void set_primitive(primitives *row, int l, primitive w) { EACH_PRIMITIVE(SET_PRIMITIVE_) }
