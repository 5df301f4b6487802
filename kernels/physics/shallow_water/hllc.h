/* HLLC flux (Toro, Spruce and Speares 1994; Toro 2001, 10.4): HLL, and water carries its transverse
 * velocity with it, so that shear at rest stays sharp. */

#include "physics/shallow_water/waves.h"

MR_FN flux numerical_flux(face l, face r, real lambda, parameters k) {
    flux f = upwind_flux(l, r, outer_waves(l, r, k.g), k.g);
    f.mt = f.h * mr_select(f.h >= R(0.0), l.ut, r.ut);
    return f;
}
