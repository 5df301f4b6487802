/* layout.h - where a cell lies in a state: planes of (ny + 4) rows, one plane an unknown. */

#ifndef HALO
#define HALO 2      /* ghost cells on each side */
#endif
#define PAD 32      /* elements in front of the first interior cell of a row */

MR_FN mr_index cell_offset(int i, int j, int stride) {
    return (mr_index)(j + HALO) * stride + PAD + i;
}
