/* layout.h - where a cell lies in a state: planes of (ny + 2 HALO) rows, one plane an unknown, with
 * PAD elements in front of the first interior cell of a row. */

#ifndef ARRAY_LAYOUT
#define ARRAY_LAYOUT

MR_FN mr_index cell_offset(int i, int j, int stride) {
    return (mr_index)(j + HALO) * stride + PAD + i;
}

/* A cell of row j: element `at` of each plane, the first of which is src. */
typedef struct cell_place {
    const MR_GLOBAL real *src;
    mr_index at, plane;
    int j, stride;
} cell_place;

/* What a launch goes over: a part of the grid, one over the size of its cells, how a source acts on
 * its ghost rows (traverse/sources.h), along which axes it goes around (1 along x, 2 along y), and
 * the place of its first group's rate among the maxima. */
typedef struct part {
    int nx, ny, stride;
    mr_index plane;
    real inv_dx, inv_dy, south, north;
    int wraps, slot;
} part;

#endif
