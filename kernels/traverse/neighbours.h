/* neighbours.h - values of neighbouring work-items. A TEAM of them stands side by side along x: a
 * warp, whose lanes shuffle, or where none do the group, through local memory. Along y the teams of
 * a group stand one upon the other, and exchange through local memory. What is outermost is
 * computed for its neighbours only: results there lack neighbours themselves. */

#define REALS_(type) ((int)(sizeof(type) / sizeof(real)))

#ifdef MR_SHUFFLE
#define SHARED_ALONG_X(reals) 1         /* elements of local memory to exchange so many reals */
#define LANES_(along_y) (!(along_y))
#define SHUFFLE_(step, x) ((step) < 0 ? mr_shuffle_up(x) : mr_shuffle_down(x))
MR_FN void separate_exchanges(void) {}

/* Whether an int is not 0 in any work-item of the team. */
MR_FN int is_in_any(int x) { return mr_warp_most(x ? R(1.0) : R(0.0)) > R(0.0); }

/* x, from which the compiler computes conditions anew: else it does so once before a loop, and has
 * too few predicates for all that is in it. */
MR_FN int afresh(int x) {
    asm volatile("" : "+r"(x));
    return x;
}

/* A pointer, which is computed before what comes next. */
MR_FN const MR_GLOBAL real *kept(const MR_GLOBAL real *x) {
    asm volatile("" : "+l"(x));
    return x;
}
#else
#define mr_uniform(x) (x)
#define SHARED_ALONG_X(reals) ((reals) * GROUP)
#define LANES_(along_y) 0
#define SHUFFLE_(step, x) (x)
MR_FN int is_in_any(int x) { return x; }
MR_FN int afresh(int x) { return x; }
MR_FN const MR_GLOBAL real *kept(const MR_GLOBAL real *x) { return x; }

/* Between two exchanges along x in the same place that have no other between them. */
MR_FN void separate_exchanges(void) { MR_BARRIER(); }
#endif

/* Makes type_from_side(mine, shared, along_y): what the work-item `step` further calls its own, of
 * its first `count` reals; the others are mine. In local memory each exchange has a `place` of its
 * own, in reals, so that one barrier does: whoever writes there again has waited at those of the
 * other exchanges for all who read there. */
#define FROM_NEIGHBOUR(type, side, step, place, count) \
    MR_FN type type##_from_##side(type mine, MR_LOCAL_PTR real *shared, int along_y) { \
        type theirs = mine; \
        if (LANES_(along_y)) { \
            MR_LANES(k, count) \
                ((real *)&theirs)[k] = SHUFFLE_(step, ((const real *)&mine)[k]); \
            return theirs; \
        } \
        int me = mr_lid_x(), other = me + (along_y ? TEAM : 1) * (step); \
        if (other < 0 || other >= GROUP) other = me; \
        shared += (place) * GROUP; \
        MR_UNROLL(8) \
        for (int k = 0; k < (count); ++k) \
            shared[k * GROUP + me] = ((const real *)&mine)[k]; \
        MR_BARRIER(); \
        MR_UNROLL(8) \
        for (int k = 0; k < (count); ++k) \
            ((real *)&theirs)[k] = shared[k * GROUP + other]; \
        return theirs; \
    }
