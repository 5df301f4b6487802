/* hancock.h - limited linear reconstruction and half a time step inside each cell (van Leer 1984;
 * Toro 2001, 11.4). The change of a cell is that of
 *   h_t = -u h_x - h u_x, u_t = -u u_x - g h_x, v_t = -u v_x
 * Where a face would lack water, slope and change are dropped. */

#include "physics/shallow_water/slopes.h"

MR_FN void faces_of(primitive w, primitive d, real lambda, parameters k, primitive *low,
    primitive *high) {
    primitive change;
    change.h = mr_fma(w.un, d.h, w.h * d.un);
    change.un = mr_fma(w.un, d.un, k.g * d.h);
    change.ut = w.un * d.ut;
    int positive = mr_fma(-lambda, change.h, w.h) > mr_abs(d.h) + DRY;
    real slope = mr_select(positive, R(1.0), R(0.0));
    w = shifted(w, mr_select(positive, -lambda, R(0.0)), change);
    *low = shifted(w, -slope, d);
    *high = shifted(w, slope, d);
}

#include "traverse/faces.h"
