/* factors.h - how products of matrices read and combine elements.
 *
 * Defines: those of ordering/elements.h; IS_REAL 1 if VALUE is float or double. */
#include "ordering/elements.h"

#if IS_REAL
#define MULTIPLY_ADD(a, b, c) fma(a, b, c)
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

/* How many neighbours in memory are read at once. */
enum { WIDE = sizeof(VALUE) >= 8 ? 2 : 4 };
typedef struct MR_ALIGNED(WIDE * sizeof(VALUE)) neighbours { VALUE of[WIDE]; } neighbours;

/* Returns whether WIDE elements can be read at once: neighbours have to lie one after another, at
 * a step of 1, and each row has to begin where so many bytes do, which memory that others gave need
 * not. first: the first element; by_row: the step from row to row */
MR_FN int are_wide(const MR_GLOBAL TYPE *first, mr_index step, mr_index by_row) {
    return !HALVES && step == 1 && (size_t)first % sizeof(neighbours) == 0 && by_row % WIDE == 0;
}
