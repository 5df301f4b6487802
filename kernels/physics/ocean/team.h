/* team.h - changes along x of a row, by a team of TEAM work-items side by side, W columns each, who
 * ask one another: with shuffles, or through local memory, where the team is the whole group. The
 * EDGE outermost at both ends only help: their results lack neighbours and are not stored. */

#define EDGE ((W + 1) / W)                      /* for two cells */
#define OWN_COLUMNS ((TEAM - 2 * EDGE) * W)     /* of a team */

/* What the eastern, the western neighbour calls its own. */
#ifdef MR_SHUFFLE
MR_FN real from_east(real mine, MR_LOCAL_PTR real *board) { return mr_shuffle_down(mine); }
MR_FN real from_west(real mine, MR_LOCAL_PTR real *board) { return mr_shuffle_up(mine); }
#else
MR_FN real from_neighbour(real mine, int other, MR_LOCAL_PTR real *board) {
    MR_BARRIER();
    board[mr_lid_x()] = mine;
    MR_BARRIER();
    return board[other < 0 || other >= TEAM ? mr_lid_x() : other];
}

MR_FN real from_east(real mine, MR_LOCAL_PTR real *board) {
    return from_neighbour(mine, mr_lid_x() + 1, board);
}

MR_FN real from_west(real mine, MR_LOCAL_PTR real *board) {
    return from_neighbour(mine, mr_lid_x() - 1, board);
}
#endif

MR_FN flow flow_from_east(flow w, MR_LOCAL_PTR real *board) {
    flow east = { from_east(w.eta, board), from_east(w.un, board), from_east(w.ut, board), R(0.0),
        R(0.0) };
#if TILTED
    east.tilt = from_east(w.tilt, board);
#endif
    return east;
}

MR_FN face face_from_east(face f, MR_LOCAL_PTR real *board) {
    face east = { from_east(f.eta, board), from_east(f.un, board), from_east(f.ut, board),
        from_east(f.bed, board) };
    return east;
}

MR_FN gap gap_from_west(gap d, MR_LOCAL_PTR real *board) {
    gap west = { from_west(d.eta, board), from_west(d.un, board), from_west(d.ut, board) };
    return west;
}

MR_FN cell cell_from_west(cell q, MR_LOCAL_PTR real *board) {
    cell west = { from_west(q.eta, board), from_west(q.mn, board), from_west(q.mt, board) };
    return west;
}

MR_FN void ask_corner(lane *corner, work s) {
    corner->at[W] = from_east(corner->at[0], s.board);
}

/* Changes along x of a row, in lanes 0 .. W - 1, between corners of these depths. */
MR_FN void change_row(const surface *from, const lane *south, const lane *north, axis x, work s,
    cells *change) {
    flows w;
    gaps d;
    faces low, high;
    lane depth, excess;
    MR_LANES(l, W) set_flow(&w, l, along_x(from, l, x.tilt, s));
    MR_LANES(l, W + 1) depth.at[l] = R(0.5) * (south->at[l] + north->at[l]);
    set_flow(&w, W, flow_from_east(get_flow(&w, 0), s.board));
    MR_LANES(l, W) set_gap(&d, l, difference(get_flow(&w, l), get_flow(&w, l + 1)));
    gap west = gap_from_west(get_gap(&d, W - 1), s.board);
    MR_LANES(l, W) {
        face a, b;
        gap below = l > 0 ? get_gap(&d, l - 1) : west;
        excess.at[l] = reconstruct(get_flow(&w, l), below, get_gap(&d, l), depth.at[l],
            depth.at[l + 1], s.sea.dry, &a, &b);
        set_face(&low, l, a);
        set_face(&high, l, b);
    }
    set_face(&low, W, face_from_east(get_face(&low, 0), s.board));
    cells in, out;
    MR_LANES(l, W) {        /* lane l: between cells l and l + 1 */
        flux f = flux_between(get_face(&high, l), get_face(&low, l + 1), get_gap(&d, l),
            depth.at[l + 1], x.lambda, x.mixing, s.sea.g);
        set_cell(&out, l, felt(f, f.low, R(1.0)));
        set_cell(&in, l, felt(f, f.high, R(1.0)));
    }
    cell first = cell_from_west(get_cell(&in, W - 1), s.board);
    MR_LANES(l, W)
        set_cell(change, l, change_of(l > 0 ? get_cell(&in, l - 1) : first, get_cell(&out, l),
            x.push * from->h.at[l], excess.at[l]));
}
