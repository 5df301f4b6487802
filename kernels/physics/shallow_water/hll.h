/* HLL flux (Harten, Lax and van Leer 1983; Toro 2001, 10.3), with the speeds of Einfeldt (1988). It
 * smears shear. */

#include "physics/shallow_water/waves.h"

MR_FN cell flux(face l, face r, real lambda, real g) {
    return upwind_flux(l, r, outer_waves(l, r, g), g);
}
