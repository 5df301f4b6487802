/* Central-upwind flux (Kurganov, Noelle and Petrova 2001; Kurganov and Petrova 2007): HLL with the
 * speeds of the states on both sides. */

#include "physics/shallow_water/waves.h"

MR_FN cell flux(face l, face r, real lambda, real g) {
    real cl = wave_speed(l, g), cr = wave_speed(r, g);
    fan s = { mr_min(l.un - cl, r.un - cr), mr_max(l.un + cl, r.un + cr) };
    return upwind_flux(l, r, s, g);
}
