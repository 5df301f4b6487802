/* edges.h - the warps of persistent.krn that compute at a tile's edges: they take the cells beside
 * it through the first sweep of a step, and compute the fluxes through the outermost faces of each
 * side and those next to them. The last of them chooses dt. */

/* Through the face between b and c, of four cells `step` apart. */
MR_FN flux face_flux(const MR_LOCAL_PTR mr_quad *p, int step, sweep s) {
    primitive w[4];
    face low, high, other;
    MR_LANES(k, 4) w[k] = primitive_of(cell_at(p + k * step), s.k);
    primitive middle = difference(w[1], w[2]);
    reconstruct(w[1], difference(w[0], w[1]), middle, s.lambda, s.k, &other, &high);
    reconstruct(w[2], middle, difference(w[2], w[3]), s.lambda, s.k, &low, &other);
    return numerical_flux(high, low, s.lambda, s.k);
}

/* Through the two faces in the middle of five cells, along y. */
MR_FN void face_fluxes(const MR_LOCAL_PTR mr_quad *p, sweep s, flux *f, flux *g) {
    primitive w[5];
    face low[3], high[3];
    MR_LANES(k, 5) w[k] = primitive_of(turned(cell_at(p + k * ROW_ROOM)), s.k);
    MR_LANES(k, 3)
        reconstruct(w[k + 1], difference(w[k], w[k + 1]), difference(w[k + 1], w[k + 2]), s.lambda,
            s.k, &low[k], &high[k]);
    *f = numerical_flux(high[0], low[1], s.lambda, s.k);
    *g = numerical_flux(high[1], low[2], s.lambda, s.k);
}

/* Side 0 is west, 1 east; face 0 is the outermost. The rows beside the tile come last, and of them
 * only face 0 is wanted. */
MR_FN void x_edge_fluxes(edge_store b, tile t, int k, int lane, int is_first, sweep x) {
    MR_UNROLL(1)
    for (int beside = 0; beside <= is_first; ++beside) {
        int side = beside ? lane % 2 : k % 2, face = beside ? 0 : k / 2;
        int j = beside ? line_beside(lane / 2, t.h) : lane;
        if (beside ? k == 0 && lane < 8 : lane < t.h)
            put_flux(b.x_fluxes + (2 * side + face) * COLUMN_ROOM + j + 2,
                face_flux(b.columns + (5 * side + (side ^ face)) * COLUMN_ROOM + j + 2,
                    COLUMN_ROOM, x));
        if (!beside) arrive_all(X_FLUXES_READY);
    }
}

/* The same along y, sides south and north, of columns; both faces at once. */
MR_FN void y_edge_fluxes(edge_store b, int k, int lane, int is_first, sweep y) {
    MR_UNROLL(1)
    for (int beside = 0; beside <= is_first; ++beside) {
        int side = beside ? lane % 2 : k / 2;
        int slot = beside ? MOST_COLUMNS + lane / 2 : k % 2 * WARP + lane;
        MR_LOCAL_PTR mr_quad *to = b.y_fluxes + 2 * side * ROW_ROOM + slot;
        if (!beside || k == 0 && lane < 8) {
            flux f, g;
            face_fluxes(b.rows + 5 * side * ROW_ROOM + slot, y, &f, &g);
            put_flux(to + side * ROW_ROOM, f);
            put_flux(to + (1 - side) * ROW_ROOM, g);
        }
        if (!beside) arrive_all(Y_FLUXES_READY);
    }
}

/* Row k of those beside the tile, two columns a work-item. */
MR_FN void sweep_row_beside(edge_store b, tile t, int k, int lane, sweep x) {
    int j = line_beside(k, t.h), last = t.w / 2 - 1;
    MR_LOCAL_PTR mr_quad *row = b.rows + near(j, t.h) * ROW_ROOM;
    const MR_LOCAL_PTR mr_quad *edge = b.x_fluxes + j + 2;
    cell q[2] = { cell_at(row + lane), cell_at(row + WARP + lane) };
    flux f[2];
    primitive beside = primitive_of(cell_at(row + MOST_COLUMNS + (lane == 0 ? 1 : 2)), x.k);
    primitive west = primitive_of(q[0], x.k), east = primitive_of(q[1], x.k);
    primitive ahead = difference(east,
        select_primitive(lane == last, beside, primitive_down(west)));
    primitive behind = select_primitive(lane == 0, difference(beside, west), primitive_up(ahead));
    primitive middle = difference(west, east);
    face low[2], high[2];
    reconstruct(west, behind, middle, x.lambda, x.k, &low[0], &high[0]);
    reconstruct(east, middle, ahead, x.lambda, x.k, &low[1], &high[1]);
    f[0] = numerical_flux(high[0], low[1], x.lambda, x.k);
    f[1] = numerical_flux(high[1], primitive_down(low[0]), x.lambda, x.k);
    update_pair(q, f, flux_at(edge), flux_at(edge + 2 * COLUMN_ROOM), lane, last, x);
    put_cell(row + lane, q[0]);
    put_cell(row + WARP + lane, q[1]);
}

/* Column k of those beside the tile, a row a work-item. */
MR_FN void sweep_column_beside(edge_store b, tile t, int k, int lane, sweep y) {
    int i = line_beside(k, t.w), last = t.h - 1, j = lane < last ? lane : last;
    MR_LOCAL_PTR mr_quad *column = b.columns + near(i, t.w) * COLUMN_ROOM + 2;
    const MR_LOCAL_PTR mr_quad *edge = b.y_fluxes + slot_of(i, t.w);
    cell q = turned(cell_at(column + j));
    primitive w = primitive_of(q, y.k);
    primitive beside = primitive_of(turned(cell_at(column + (lane == 0 ? -1 : t.h))), y.k);
    primitive ahead = difference(w, select_primitive(lane >= last, beside, primitive_down(w)));
    primitive behind = select_primitive(lane == 0, difference(beside, w), primitive_up(ahead));
    face low, high;
    reconstruct(w, behind, ahead, y.lambda, y.k, &low, &high);
    flux out = numerical_flux(high, primitive_down(low), y.lambda, y.k);
    out = select_flux(lane >= last, flux_at(edge + 2 * ROW_ROOM), out);
    flux in = select_flux(lane == 0, flux_at(edge), flux_up(out));
    if (lane <= last) put_cell(column + lane, turned(update(q, in, out, y.lambda)));
}
