/* factors.h - the elements of products of matrices.
 *
 * Defines: those of ordering/elements.h; IS_REAL 1 of reals. */
#include "ordering/elements.h"

#if IS_REAL
#define MULTIPLY_ADD(a, b, c) fma(a, b, c)
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

/* Neighbours that are read at once. */
enum { WIDE = sizeof(VALUE) >= 8 ? 2 : 4 };
typedef struct MR_ALIGNED(WIDE * sizeof(VALUE)) neighbours { VALUE of[WIDE]; } neighbours;

/* Whether neighbours at this step lie one after another, those of each row whole and aligned: by
 * the place of the first element and the step from row to row. */
MR_FN int are_wide(mr_index first, mr_index step, mr_index by_row) {
    return !HALVES && step == 1 && first % WIDE == 0 && by_row % WIDE == 0;
}
