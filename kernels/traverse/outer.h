/* outer.h - the teams of resident.krn that look after a tile's edges: they take the cells beside it
 * through the first sweep of a step, and find the fluxes through the outermost faces of each side
 * and those next to them. The last of them looks after the time. */

/* Through the face between b and c, of four cells `step` apart. */
MR_FN cell face_flux(const MR_LOCAL_PTR mr_quad *p, int step, sweep s) {
    flow w[4];
    face low, high, other;
    MR_LANES(k, 4) w[k] = primitive(cell_at(p + k * step), s.physics);
    flow middle = difference(w[1], w[2]);
    reconstruct(w[1], difference(w[0], w[1]), middle, s.lambda, s.physics, &other, &high);
    reconstruct(w[2], middle, difference(w[2], w[3]), s.lambda, s.physics, &low, &other);
    return flux(high, low, s.lambda, s.physics);
}

/* Through the two faces in the middle of five cells, along y. */
MR_FN void face_fluxes(const MR_LOCAL_PTR mr_quad *p, sweep s, cell *f, cell *g) {
    flow w[5];
    face low[3], high[3];
    MR_LANES(k, 5) w[k] = primitive(turned(cell_at(p + k * AHEAD)), s.physics);
    MR_LANES(k, 3)
        reconstruct(w[k + 1], difference(w[k], w[k + 1]), difference(w[k + 1], w[k + 2]), s.lambda,
            s.physics, &low[k], &high[k]);
    *f = flux(high[0], low[1], s.lambda, s.physics);
    *g = flux(high[1], low[2], s.lambda, s.physics);
}

/* Side 0 is west, 1 east; face 0 is the outermost. Of the rows beside the tile, which come last,
 * only that is wanted. */
MR_FN void find_x_fluxes(table b, tile t, int k, int lane, int is_first, sweep x) {
    MR_UNROLL(1)
    for (int beside = 0; beside <= is_first; ++beside) {
        int side = beside ? lane % 2 : k % 2, face = beside ? 0 : k / 2;
        int j = beside ? line_beside(lane / 2, t.h) : lane;
        if (beside ? k == 0 && lane < 8 : lane < t.h)
            put_cell(b.x_fluxes + (2 * side + face) * UPWARD + j + 2,
                face_flux(b.columns + (5 * side + (side ^ face)) * UPWARD + j + 2, UPWARD, x));
        if (!beside) pass_all(X_FLUXES);
    }
}

/* The same along y, sides south and north, of columns; both faces at once. */
MR_FN void find_y_fluxes(table b, int k, int lane, int is_first, sweep y) {
    MR_UNROLL(1)
    for (int beside = 0; beside <= is_first; ++beside) {
        int side = beside ? lane % 2 : k / 2;
        int slot = beside ? MOST_COLUMNS + lane / 2 : k % 2 * TEAM + lane;
        MR_LOCAL_PTR mr_quad *to = b.y_fluxes + 2 * side * AHEAD + slot;
        if (!beside || k == 0 && lane < 8) {
            cell f, g;
            face_fluxes(b.rows + 5 * side * AHEAD + slot, y, &f, &g);
            put_cell(to + side * AHEAD, f);
            put_cell(to + (1 - side) * AHEAD, g);
        }
        if (!beside) pass_all(Y_FLUXES);
    }
}

/* Row k of those beside the tile, two columns a work-item. */
MR_FN void sweep_row_beside(table b, tile t, int k, int lane, sweep x) {
    int j = line_beside(k, t.h), last = t.w / 2 - 1;
    MR_LOCAL_PTR mr_quad *row = b.rows + near(j, t.h) * AHEAD;
    const MR_LOCAL_PTR mr_quad *edge = b.x_fluxes + j + 2;
    cell q[2] = { cell_at(row + lane), cell_at(row + TEAM + lane) }, f[2];
    flow beside = primitive(cell_at(row + MOST_COLUMNS + (lane == 0 ? 1 : 2)), x.physics);
    flow west = primitive(q[0], x.physics), east = primitive(q[1], x.physics);
    flow ahead = difference(east, select_flow(lane == last, beside, flow_down(west)));
    flow behind = select_flow(lane == 0, difference(beside, west), flow_up(ahead));
    flow middle = difference(west, east);
    face low[2], high[2];
    reconstruct(west, behind, middle, x.lambda, x.physics, &low[0], &high[0]);
    reconstruct(east, middle, ahead, x.lambda, x.physics, &low[1], &high[1]);
    f[0] = flux(high[0], low[1], x.lambda, x.physics);
    f[1] = flux(high[1], flow_down(low[0]), x.lambda, x.physics);
    update_pair(q, f, cell_at(edge), cell_at(edge + 2 * UPWARD), lane, last, x);
    put_cell(row + lane, q[0]);
    put_cell(row + TEAM + lane, q[1]);
}

/* Column k of those beside the tile, a row a work-item. */
MR_FN void sweep_column_beside(table b, tile t, int k, int lane, sweep y) {
    int i = line_beside(k, t.w), last = t.h - 1, j = lane < last ? lane : last;
    MR_LOCAL_PTR mr_quad *column = b.columns + near(i, t.w) * UPWARD + 2;
    const MR_LOCAL_PTR mr_quad *edge = b.y_fluxes + slot_of(i, t.w);
    cell q = turned(cell_at(column + j));
    flow w = primitive(q, y.physics);
    flow beside = primitive(turned(cell_at(column + (lane == 0 ? -1 : t.h))), y.physics);
    flow ahead = difference(w, select_flow(lane >= last, beside, flow_down(w)));
    flow behind = select_flow(lane == 0, difference(beside, w), flow_up(ahead));
    face low, high;
    reconstruct(w, behind, ahead, y.lambda, y.physics, &low, &high);
    cell out = flux(high, flow_down(low), y.lambda, y.physics);
    out = select_cell(lane >= last, cell_at(edge + 2 * AHEAD), out);
    cell in = select_cell(lane == 0, cell_at(edge), cell_up(out));
    if (lane <= last) put_cell(column + lane, turned(update(q, in, out, y.lambda)));
}
