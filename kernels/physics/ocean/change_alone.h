/* change_alone.h - changes along x of a row, where each work-item computes two cells more on either
 * side instead of asking its neighbours. */

/* All corners are loaded. */
MR_FN void complete_corners(lanes *corner, work s) {}
MR_FN void separate_exchanges(void) {}

/* Changes along x of a row, in lanes 0 .. W - 1, between corners of these depths. */
MR_FN void change_row(const surface *from, const lanes *south, const lanes *north, axis x, work s,
    cells *change) {
    flows w;
    gaps d;
    faces low, high;
    lanes depth, excess;
    cells in, out;
    MR_LANES(l, LANES) set_flow(&w, l, along_x(from, l, x.tilt, s));
    MR_LANES(l, LANES) depth.at[l] = R(0.5) * (south->at[l] + north->at[l]);
    MR_LANES(l, LANES)      /* lane l: between cells l and l + 1 */
        set_gap(&d, l, difference(get_flow(&w, l), get_flow(&w, l + 1)));
    MR_LANES(l, LANES) {    /* lane l: cell l + 1 */
        face a, b;
        excess.at[l] = reconstruct(get_flow(&w, l + 1), get_gap(&d, l), get_gap(&d, l + 1),
            depth.at[l + 1], depth.at[l + 2], s.sea.dry, &a, &b);
        set_face(&low, l, a);
        set_face(&high, l, b);
    }
    MR_LANES(l, LANES) {    /* lane l: between cells l + 1 and l + 2 */
        flux f = flux_between(get_face(&high, l), get_face(&low, l + 1), get_gap(&d, l + 1),
            depth.at[l + 2], x.lambda, x.mixing, s.sea.g);
        set_cell(&out, l, felt(f, f.low, R(1.0)));
        set_cell(&in, l, felt(f, f.high, R(1.0)));
    }
    MR_LANES(l, W) {
        int k = l + MARGIN - 1;
        set_cell(change, l, change_of(get_cell(&in, k - 1), get_cell(&out, k),
            x.push * from->h.at[k + 1], excess.at[k]));
    }
}
