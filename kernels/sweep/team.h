/* team.h - lanes of neighbouring work-items. TEAM of them stand side by side, W columns each, and
 * look at one another's: with shuffles, or through local memory, where the team is the whole group.
 * The two outermost columns at both ends only help: their results lack neighbours. */

#define OWN_COLUMNS (TEAM * W - 4)          /* of a team */
#define LEAD (W > 2 ? W : 2)                /* columns of the first team west of the domain */

#ifdef MR_SHUFFLE
#define BOARD 1
#else
#define mr_uniform(x) (x)
#define BOARD ((int)((sizeof(cell) + sizeof(flow) + sizeof(face)) / sizeof(real)) * GROUP)
#endif

/* x##_from_west(x mine, board): what the western neighbour calls its own. */
#ifdef MR_SHUFFLE
#define FROM_(type, side, shuffle, step) \
    MR_FN type type##_from_##side(type mine, MR_LOCAL_PTR real *board) { \
        type theirs; \
        MR_LANES(k, (int)(sizeof(type) / sizeof(real))) \
            ((real *)&theirs)[k] = shuffle(((const real *)&mine)[k]); \
        return theirs; \
    }
#else
#define FROM_(type, side, shuffle, step) \
    MR_FN type type##_from_##side(type mine, MR_LOCAL_PTR real *board) { \
        type theirs; \
        int me = mr_lid_x(), other = me + step < 0 || me + step >= GROUP ? me : me + step; \
        MR_BARRIER(); \
        for (int k = 0; k < (int)(sizeof(type) / sizeof(real)); ++k) \
            board[k * GROUP + me] = ((const real *)&mine)[k]; \
        MR_BARRIER(); \
        for (int k = 0; k < (int)(sizeof(type) / sizeof(real)); ++k) \
            ((real *)&theirs)[k] = board[k * GROUP + other]; \
        return theirs; \
    }
#endif

FROM_(flow, west, mr_shuffle_up, -1)
FROM_(flow, east, mr_shuffle_down, 1)
FROM_(face, east, mr_shuffle_down, 1)
FROM_(cell, west, mr_shuffle_up, -1)
