/* lanes.h - rows of lanes in private memory, for work-items that own W neighbouring columns: lane l
 * of a wide array is column l - MARGIN, of a narrow one column l. On a GPU lane loops unroll and
 * the arrays become registers; on a CPU they stay in the first-level cache and the loops become
 * vector instructions. */

#ifdef TEAM
#define MARGIN 0                    /* neighbours know */
#define ROOM (W + 1)
#else
#define MARGIN 4                    /* two columns are needed, four keep vectors whole */
#define ROOM (LANES + 16)           /* the outer lanes look beyond */
#endif
#define LANES (W + 2 * MARGIN)

typedef struct lane { real at[ROOM]; } lane;
typedef struct cells { lane eta, mn, mt; } cells;
typedef struct flows { lane eta, un, ut, h, tilt; } flows;
typedef struct gaps { lane eta, un, ut; } gaps;
typedef struct faces { lane eta, un, ut, bed; } faces;

MR_FN cell get_cell(const cells *row, int l) {
    cell q = { row->eta.at[l], row->mn.at[l], row->mt.at[l] };
    return q;
}

MR_FN void set_cell(cells *row, int l, cell q) {
    row->eta.at[l] = q.eta;
    row->mn.at[l] = q.mn;
    row->mt.at[l] = q.mt;
}

MR_FN flow get_flow(const flows *row, int l) {
    flow w = { row->eta.at[l], row->un.at[l], row->ut.at[l], row->h.at[l], row->tilt.at[l] };
    return w;
}

MR_FN void set_flow(flows *row, int l, flow w) {
    row->eta.at[l] = w.eta;
    row->un.at[l] = w.un;
    row->ut.at[l] = w.ut;
    row->h.at[l] = w.h;
    row->tilt.at[l] = w.tilt;
}

MR_FN gap get_gap(const gaps *row, int l) {
    gap d = { row->eta.at[l], row->un.at[l], row->ut.at[l] };
    return d;
}

MR_FN void set_gap(gaps *row, int l, gap d) {
    row->eta.at[l] = d.eta;
    row->un.at[l] = d.un;
    row->ut.at[l] = d.ut;
}

MR_FN face get_face(const faces *row, int l) {
    face f = { row->eta.at[l], row->un.at[l], row->ut.at[l], row->bed.at[l] };
    return f;
}

MR_FN void set_face(faces *row, int l, face f) {
    row->eta.at[l] = f.eta;
    row->un.at[l] = f.un;
    row->ut.at[l] = f.ut;
    row->bed.at[l] = f.bed;
}

/* All lanes of a wide array that are looked at; from points at the first own column. */
MR_FN void load_wide(lane *to, const MR_GLOBAL real *from) {
#if defined(TEAM) || defined(MR_CPU)
    mr_load_lanes(to->at, from - MARGIN, LANES);
#else
    mr_load_lanes(to->at + MARGIN - 2, from - 2, 2);
    mr_load_lanes(to->at + MARGIN, from, W);
    mr_load_lanes(to->at + MARGIN + W, from + W, 2);
#endif
}

/* The first `columns` of a row, at most W of them. */
MR_FN void store_cells(MR_GLOBAL real *to, mr_index plane, const cells *q, int columns) {
    if (columns >= W) {
        mr_store_lanes(to, q->eta.at, W);
        mr_store_lanes(to + plane, q->mn.at, W);
        mr_store_lanes(to + 2 * plane, q->mt.at, W);
    } else {
        MR_LANES(l, W)
            if (l < columns) {
                to[l] = q->eta.at[l];
                to[plane + l] = q->mn.at[l];
                to[2 * plane + l] = q->mt.at[l];
            }
    }
}
