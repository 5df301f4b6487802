/* water_rows.h - rows of what water.h computes with, of work-items that own W neighbouring columns.
 * Lane l of a wide array is column l - MARGIN, of a narrow one column l. */

#ifdef TEAM
#define MARGIN 0                    /* neighbours know */
#define ROOM (W + 1)
#else
#define MARGIN 4                    /* two columns are needed, four keep vectors whole */
#define ROOM (LANES + 16)           /* the outer lanes look beyond */
#endif
#define LANES (W + 2 * MARGIN)

#include "traverse/cells.h"

#define EACH_FLOW(DO) DO(eta, 0) DO(un, 1) DO(ut, 2) DO(tilt, 3) DO(h, 4)
#define EACH_GAP(DO) DO(eta, 0) DO(un, 1) DO(ut, 2)
#define EACH_FACE(DO) DO(eta, 0) DO(un, 1) DO(ut, 2) DO(bed, 3)

ROWS_OF(flow, flows, EACH_FLOW)
ROWS_OF(gap, gaps, EACH_GAP)
ROWS_OF(face, faces, EACH_FACE)

/* All lanes of a wide array that are looked at; from points at the first own column. */
MR_FN void load_wide(real *to, const MR_GLOBAL real *from) {
#if defined(TEAM) || defined(MR_CPU)
    mr_load_lanes(to, from - MARGIN, LANES);
#else
    load_columns(to + MARGIN - 2, from, 2, 2, LANES);
#endif
}
