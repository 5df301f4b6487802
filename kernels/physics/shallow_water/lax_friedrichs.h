/* Lax-Friedrichs flux (Lax 1954; Toro 2001, 9.2): the most diffusive. */

#include "physics/shallow_water/centred.h"

MR_FN cell flux(face l, face r, real lambda, real g) {
    return lax_flux(l, r, physical_flux(l, g), physical_flux(r, g), lambda);
}
