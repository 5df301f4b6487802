/* layout.h - where a cell lies in a state: planes of (ny + 2 HALO) rows, one plane an unknown, with
 * PAD elements in front of the first interior cell of a row. */

MR_FN mr_index cell_offset(int i, int j, int stride) {
    return (mr_index)(j + HALO) * stride + PAD + i;
}
