/* work.h - what a work-item of volumes.krn knows of its part of the grid. */

/* What a work-item does: rows first .. end - 1 of its lanes that are among the first `columns`;
 * beyond walls the ghost cells are mirrored. */
typedef struct work {
    int columns, nx, ny, first, end, stride, row_count;
    int west, east, south, north;   /* lanes, rows below and from which on they are behind a wall */
    mr_index plane;
    const MR_GLOBAL real *bed, *rows, *forcing;
    MR_LOCAL_PTR real *shared, *room;   /* for neighbours, and for the ring of rows */
    real weight;            /* of the later forcing */
    real dt, dx, dy, inv_dx, inv_dy;
    sea sea;
} work;
