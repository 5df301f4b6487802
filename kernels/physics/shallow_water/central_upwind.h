/* Central-upwind flux (Kurganov, Noelle and Petrova 2001; Kurganov and Petrova 2007): HLL with the
 * speeds of the states on both sides. */

#include "physics/shallow_water/waves.h"

MR_FN flux numerical_flux(face l, face r, real lambda, parameters k) {
    real cl = wave_speed(l, k.g), cr = wave_speed(r, k.g);
    fan s = { mr_min(l.un - cl, r.un - cr), mr_max(l.un + cl, r.un + cr) };
    return upwind_flux(l, r, s, k.g);
}
