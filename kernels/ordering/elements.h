/* elements.h - how work-items share the elements of arrays, and how elements are read.
 *
 * Defines: TYPE, of the elements in memory; VALUE, that they are computed in; WORD, the unsigned
 * type of the size of TYPE; HALVES 1 if TYPE is mr_half; IN_GROUPS 1 where a group of GROUP
 * work-items works together, as on a GPU, 0 where each works alone (GROUP 1), as on a CPU. */

/* A CPU has groups in tests alone: it compiles them in half the time where no loop is unrolled. */
#if IN_GROUPS && defined(MR_CPU)
#undef MR_UNROLL
#define MR_UNROLL(n) _Pragma("unroll 1")
#endif

typedef struct MR_ALIGNED(16) two_words { ulong low, high; } two_words;

/* Begins a loop over this work-item's share of `count` elements. On a GPU neighbouring work-items
 * take neighbouring elements; on a CPU a work-item takes a range of them. */
#if IN_GROUPS
#define EACH_ELEMENT(i, count) \
    for (mr_index i = mr_gid_x(); i < (count); i += (mr_index)mr_groups_x() * mr_group_size_x())
#else
#define EACH_ELEMENT(i, count) \
    for (mr_index share_ = share_of(count), i = mr_gid_x() * share_, \
         stop_ = i + share_ < (count) ? i + share_ : (count); i < stop_; ++i)
#endif

/* Returns how many elements a work-item takes at most. */
MR_FN mr_index share_of(mr_index count) {
    mr_index items = (mr_index)mr_groups_x() * mr_group_size_x();
    return (count + items - 1) / items;
}

#if HALVES
#define LOAD(from, i) mr_half_load(from, i)
#define STORE(to, i, x) mr_half_store(to, i, x)
#else
#define LOAD(from, i) ((VALUE)(from)[i])
#define STORE(to, i, x) (to)[i] = (TYPE)(x)
#endif
