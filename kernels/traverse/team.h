/* team.h - lanes of neighbouring work-items. TEAM of them stand side by side along x and look at
 * one another's, with shuffles or through local memory. Along y the teams of a group stand one upon
 * the other, and look through local memory. What is outermost only helps: its results lack
 * neighbours. */

#define OWN_COLUMNS (TEAM * W - 4)          /* of a team whose work-items have W columns each */
#define LEAD (W > 2 ? W : 2)                /* columns of the first team west of the domain */

#define REALS_(type) ((int)(sizeof(type) / sizeof(real)))
#define ROOM_FOR_ALL ((2 * REALS_(flow) + REALS_(face) + REALS_(cell)) * GROUP)

#ifdef MR_SHUFFLE
#define BOARD 1         /* elements of local memory for sweeps along x */
#define LANES_(along_y) (!(along_y))
#define SHUFFLE_(step, x) ((step) < 0 ? mr_shuffle_up(x) : mr_shuffle_down(x))
#else
#define mr_uniform(x) (x)
#define BOARD ROOM_FOR_ALL
#define LANES_(along_y) 0
#define SHUFFLE_(step, x) (x)
#endif

/* What the next work-item ahead or behind calls its own. On the board each of the four has a place
 * of its own, so that one barrier does: whoever writes there again has met at the other three all
 * who read there. */
#define FROM_(type, side, step, place) \
    MR_FN type type##_from_##side(type mine, MR_LOCAL_PTR real *board, int along_y) { \
        type theirs; \
        if (LANES_(along_y)) { \
            MR_LANES(k, REALS_(type)) \
                ((real *)&theirs)[k] = SHUFFLE_(step, ((const real *)&mine)[k]); \
            return theirs; \
        } \
        int me = mr_lid_x(), other = me + (along_y ? TEAM : 1) * (step); \
        if (other < 0 || other >= GROUP) other = me; \
        board += (place) * GROUP; \
        MR_UNROLL(8) \
        for (int k = 0; k < REALS_(type); ++k) \
            board[k * GROUP + me] = ((const real *)&mine)[k]; \
        MR_BARRIER(); \
        MR_UNROLL(8) \
        for (int k = 0; k < REALS_(type); ++k) \
            ((real *)&theirs)[k] = board[k * GROUP + other]; \
        return theirs; \
    }

FROM_(flow, ahead, 1, 0)
FROM_(flow, behind, -1, REALS_(flow))
FROM_(face, ahead, 1, 2 * REALS_(flow))
FROM_(cell, behind, -1, 2 * REALS_(flow) + REALS_(face))
