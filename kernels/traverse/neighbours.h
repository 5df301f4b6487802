/* neighbours.h - values of neighbouring work-items. A TEAM of them stands side by side along x: a
 * warp, whose lanes shuffle, or where none do the group, through local memory. Along y the teams of
 * a group stand one upon the other, and exchange through local memory. What is outermost is
 * computed for its neighbours only: results there lack neighbours themselves. */

#define OWN_COLUMNS (TEAM * W - 2 * REACH)  /* of a team whose work-items have W columns each */
#define LEAD (W > REACH ? W : REACH)        /* columns of the first team west of the domain */

#define REALS_(type) ((int)(sizeof(type) / sizeof(real)))
#define ROOM_FOR_ALL ((2 * REALS_(primitive) + REALS_(face) + REALS_(flux)) * GROUP)

#ifdef MR_SHUFFLE
#define ROOM_ALONG_X 1          /* elements of local memory for sweeps along x */
#define LANES_(along_y) (!(along_y))
#define SHUFFLE_(step, x) ((step) < 0 ? mr_shuffle_up(x) : mr_shuffle_down(x))
#else
#define mr_uniform(x) (x)
#define ROOM_ALONG_X ROOM_FOR_ALL
#define LANES_(along_y) 0
#define SHUFFLE_(step, x) (x)
#endif

/* What the next work-item ahead or behind calls its own. In local memory each of the four has a
 * place of its own, so that one barrier does: whoever writes there again has waited at the other
 * three for all who read there. */
#define FROM_(type, side, step, place) \
    MR_FN type type##_from_##side(type mine, MR_LOCAL_PTR real *shared, int along_y) { \
        type theirs; \
        if (LANES_(along_y)) { \
            MR_LANES(k, REALS_(type)) \
                ((real *)&theirs)[k] = SHUFFLE_(step, ((const real *)&mine)[k]); \
            return theirs; \
        } \
        int me = mr_lid_x(), other = me + (along_y ? TEAM : 1) * (step); \
        if (other < 0 || other >= GROUP) other = me; \
        shared += (place) * GROUP; \
        MR_UNROLL(8) \
        for (int k = 0; k < REALS_(type); ++k) \
            shared[k * GROUP + me] = ((const real *)&mine)[k]; \
        MR_BARRIER(); \
        MR_UNROLL(8) \
        for (int k = 0; k < REALS_(type); ++k) \
            ((real *)&theirs)[k] = shared[k * GROUP + other]; \
        return theirs; \
    }

FROM_(primitive, ahead, 1, 0)
FROM_(primitive, behind, -1, REALS_(primitive))
FROM_(face, ahead, 1, 2 * REALS_(primitive))
FROM_(flux, behind, -1, 2 * REALS_(primitive) + REALS_(face))
