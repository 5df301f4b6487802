/* unknowns.h - the unknowns of the finite-volume schemes as lists for traverse/lists.h: elevation
 * eta (m), transports along the axis and across it (m2/s). */

#define FIELDS 3
#define FIELD_0 eta
#define FIELD_1 mn
#define FIELD_2 mt
#define VECTORS 1
#define NORMAL_0 mn
#define TRANSVERSE_0 mt
#define PLANE_X_0 1
#define PLANE_Y_0 2

#include "traverse/cell.h"
