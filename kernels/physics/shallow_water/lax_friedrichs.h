/* Lax-Friedrichs flux (Lax 1954; Toro 2001, 9.2): the most diffusive. */

#include "physics/shallow_water/centred.h"

MR_FN flux numerical_flux(face l, face r, real lambda, parameters k) {
    return lax_flux(l, r, physical_flux(l, k), physical_flux(r, k), lambda);
}
