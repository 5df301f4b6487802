/* lanes.h - rows in private memory: ROOM lanes of each variable, of a work-item that owns W
 * neighbouring columns. On a GPU every loop over lanes unrolls and the arrays become registers; on
 * a CPU they stay arrays in the first-level cache and each loop becomes vector instructions. */

typedef struct lanes { real at[ROOM]; } lanes;      /* of one variable */

/* ROWS_OF(type, types, EACH) makes rows of a struct of reals, whose members EACH lists (lists.h):
 * the type `types`, and get_type(row, l) and set_type(row, l, value) of lane l. */
#define ROW_(name, k) real name[ROOM];
#define GET_LANE_(name, k) one.name = row->name[l];
#define SET_LANE_(name, k) row->name[l] = one.name;
#define ROWS_OF(type, types, EACH) \
    typedef struct types { EACH(ROW_) } types; \
    MR_FN type get_##type(const types *row, int l) { \
        type one; \
        EACH(GET_LANE_) \
        return one; \
    } \
    MR_FN void set_##type(types *row, int l, type one) { EACH(SET_LANE_) }

/* n lanes, which are aligned for a pair where W is even. */
MR_FN void load_beside(real *to, const MR_GLOBAL real *from, int n) {
    if (W % 2 == 0 && n == 2) mr_load_lanes(to, from, 2);
    else MR_LANES(l, n) to[l] = from[l];
}

/* The columns -before .. W + after - 1, at most two on either side, from the first own one, to
 * lanes 0 and on. On a CPU it is all of the `count` lanes, whatever is in them. */
MR_FN void load_columns(real *to, const MR_GLOBAL real *from, int before, int after, int count) {
#ifdef MR_CPU
    MR_LANES(l, count) to[l] = from[l - before];
#else
    load_beside(to, from - before, before);
    mr_load_lanes(to + before, from, W);
    load_beside(to + before + W, from + W, after);
#endif
}

/* Lanes 0 .. columns - 1, at most W of them. */
MR_FN void store_columns(MR_GLOBAL real *to, const real *from, int columns) {
    if (columns >= W) mr_store_lanes(to, from, W);
    else MR_LANES(l, W)
        if (l < columns) to[l] = from[l];
}
