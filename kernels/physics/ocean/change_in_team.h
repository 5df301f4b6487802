/* change_in_team.h - changes along x of a row, computed by a team of TEAM work-items of W columns
 * each, which exchange values with their neighbours (traverse/neighbours.h). What the EDGE
 * outermost at both ends compute is for their neighbours only and is not stored. So that rows begin
 * where memory is aligned, they are whole work-items, unlike in traverse/step.h. */

#include "traverse/neighbours.h"

#define EDGE ((W + 1) / W)                      /* for two cells */
#define OWN_COLUMNS ((TEAM - 2 * EDGE) * W)     /* of a team */

#define SEEN_OF_FLOW (TILTED ? 4 : 3)           /* reals: no neighbour looks at the depth */
#define EXCHANGED 15
#define ROOM_ALONG_X SHARED_ALONG_X(EXCHANGED)

FROM_NEIGHBOUR(real, ahead, 1, 0, 1)
FROM_NEIGHBOUR(flow, ahead, 1, 1, SEEN_OF_FLOW)
FROM_NEIGHBOUR(gap, behind, -1, 5, 3)
FROM_NEIGHBOUR(face, ahead, 1, 8, 4)
FROM_NEIGHBOUR(cell, behind, -1, 12, 3)

/* The depth of the corners that only the eastern neighbour has. */
MR_FN void complete_corners(lanes *corner, work s) {
    corner->at[W] = real_from_ahead(corner->at[0], s.shared, 0);
}

/* Changes along x of a row, in lanes 0 .. W - 1, between corners of these depths. */
MR_FN void change_row(const surface *from, const lanes *south, const lanes *north, axis x, work s,
    cells *change) {
    flows w;
    gaps d;
    faces low, high;
    lanes depth, excess;
    MR_LANES(l, W) set_flow(&w, l, along_x(from, l, x.tilt, s));
    MR_LANES(l, W + 1) depth.at[l] = R(0.5) * (south->at[l] + north->at[l]);
    set_flow(&w, W, flow_from_ahead(get_flow(&w, 0), s.shared, 0));
    MR_LANES(l, W) set_gap(&d, l, difference(get_flow(&w, l), get_flow(&w, l + 1)));
    gap west = gap_from_behind(get_gap(&d, W - 1), s.shared, 0);
    MR_LANES(l, W) {
        face a, b;
        gap below = l > 0 ? get_gap(&d, l - 1) : west;
        excess.at[l] = reconstruct(get_flow(&w, l), below, get_gap(&d, l), depth.at[l],
            depth.at[l + 1], s.sea.dry, &a, &b);
        set_face(&low, l, a);
        set_face(&high, l, b);
    }
    set_face(&low, W, face_from_ahead(get_face(&low, 0), s.shared, 0));
    cells in, out;
    MR_LANES(l, W) {        /* lane l: between cells l and l + 1 */
        flux f = flux_between(get_face(&high, l), get_face(&low, l + 1), get_gap(&d, l),
            depth.at[l + 1], x.lambda, x.mixing, s.sea.g);
        set_cell(&out, l, felt(f, f.low, R(1.0)));
        set_cell(&in, l, felt(f, f.high, R(1.0)));
    }
    cell first = cell_from_behind(get_cell(&in, W - 1), s.shared, 0);
    MR_LANES(l, W)
        set_cell(change, l, change_of(l > 0 ? get_cell(&in, l - 1) : first, get_cell(&out, l),
            x.push * from->h.at[l], excess.at[l]));
}
