/* cells.h - rows of cells in private memory (lanes.h): loads, stores, and one cell of a row. */

#include "traverse/lanes.h"

typedef struct cells { real field[FIELDS][ROOM]; } cells;

#define GET_FIELD_(name, k) q.name = row->field[k][l];
#define SET_FIELD_(name, k) row->field[k][l] = q.name;

MR_FN cell get_cell(const cells *row, int l) {
    cell q;
    EACH_FIELD(GET_FIELD_)
    return q;
}

MR_FN void set_cell(cells *row, int l, cell q) { EACH_FIELD(SET_FIELD_) }

/* The field of a cell that comes from a plane. */
MR_FN int field_of(int plane, int along_y) { return along_y ? plane_along_y(plane) : plane; }

/* n neighbours of each field. */
MR_FN void load_cells(const MR_GLOBAL real *row, mr_index plane, int along_y, cells *q, int n) {
    MR_UNROLL(FIELDS)
    for (int k = 0; k < FIELDS; ++k)
        mr_load_lanes(q->field[field_of(k, along_y)], row + k * plane, n);
}

/* Lanes 0 .. columns - 1, at most W of them. */
MR_FN void store_cells(MR_GLOBAL real *row, mr_index plane, int along_y, const cells *q,
    int columns) {
    if (columns >= W) {
        MR_UNROLL(FIELDS)
        for (int k = 0; k < FIELDS; ++k)
            mr_store_lanes(row + k * plane, q->field[field_of(k, along_y)], W);
    } else {
        MR_UNROLL(FIELDS)
        for (int k = 0; k < FIELDS; ++k)
            MR_LANES(l, W)
                if (l < columns) row[k * plane + l] = q->field[field_of(k, along_y)][l];
    }
}
