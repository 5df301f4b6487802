/* jumps.h - faces for the weighted average flux: the cell itself, and how far its depth and
 * transverse velocity jump across each of the three waves of its other face. */

#include "physics/shallow_water/waves.h"

/* Across the low wave (depth), the contact (transverse velocity) and the high wave (depth). */
typedef struct jumps { real low, shear, high; } jumps;

typedef struct face { primitive w; jumps other; } face;
typedef struct faces { primitives w; real low[ROOM], shear[ROOM], high[ROOM]; } faces;

MR_FN face face_of(primitive w, parameters k) {
    face f = { w, { R(0.0), R(0.0), R(0.0) } };
    return f;
}

MR_FN face get_face(const faces *row, int l) {
    face f = { get_primitive(&row->w, l), { row->low[l], row->shear[l], row->high[l] } };
    return f;
}

MR_FN void set_face(faces *row, int l, face f) {
    set_primitive(&row->w, l, f.w);
    row->low[l] = f.other.low;
    row->shear[l] = f.other.shear;
    row->high[l] = f.other.high;
}

/* The depth between the outer waves is that between two rarefactions. */
MR_FN jumps jumps_between(primitive l, primitive r, real g) {
    real sum = wave_speed(l, g) + wave_speed(r, g);
    real star = mr_max(R(0.0), R(0.5) * sum + R(0.25) * (l.un - r.un));
    real depth = star * star * mr_rcp(g);
    jumps j = { depth - l.h, r.ut - l.ut, r.h - depth };
    return j;
}

/* w + s d, not less than dry. */
MR_FN primitive neighbour(primitive w, real s, primitive d) {
    w.h = mr_max(R(0.0), mr_fma(s, d.h, w.h));
    w.un = mr_fma(s, d.un, w.un);
    w.ut = mr_fma(s, d.ut, w.ut);
    return w;
}

MR_FN void reconstruct(primitive w, primitive below, primitive above, real lambda, parameters k,
    face *low, face *high) {
    low->w = w;
    low->other = jumps_between(w, neighbour(w, R(1.0), above), k.g);
    high->w = w;
    high->other = jumps_between(neighbour(w, R(-1.0), below), w, k.g);
}
