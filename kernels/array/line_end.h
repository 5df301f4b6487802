/* line_end.h - the rules of boundaries: what the HALO ghost cells at an end of a line hold, by its
 * KIND_ of lua/mare/base/constants.lua. KEEP leaves what is there, COPY takes cells of another
 * line, MIRROR mirrors those of this one, REPEAT repeats its outermost. Others do nothing here. */

/* The ghost cells from `ghost` on, -HALO or the number of cells; `edge` is the interior cell next
 * to them, and cell k is element k * along of `line`. MIRROR multiplies by sign,
 * which is -1 for fields normal to the side and 1 for others; on_face is 1 for a normal field that
 * lies on faces. Only COPY reads `other`. */
MR_FN void fill_end(MR_GLOBAL real *line, mr_index along, int kind, int ghost, int edge,
    const MR_GLOBAL real *other, mr_index other_along, real sign, int on_face) {
    for (int k = 0; k < HALO; ++k) {
        int to = ghost + k, mirrored = (ghost < 0 ? -1 : 2 * edge + 1) + on_face - to;
        if (kind == KIND_COPY) line[to * along] = other[k * other_along];
        if (kind == KIND_MIRROR)
            line[to * along] = mirrored == to ? R(0.0) : sign * line[mirrored * along];
        if (kind == KIND_REPEAT) line[to * along] = line[edge * along];
    }
}
