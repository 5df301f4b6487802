/* HLL flux (Harten, Lax and van Leer 1983; Toro 2001, 10.3), with the speeds of Einfeldt (1988). It
 * smears shear. */

#include "physics/shallow_water/waves.h"

MR_FN flux numerical_flux(face l, face r, real lambda, parameters k) {
    return upwind_flux(l, r, outer_waves(l, r, k.g), k.g);
}
