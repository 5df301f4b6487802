/* general.h - the EQUATION of those that bring code and no header of their own: MUSCL-Hancock for
 * any of them or, with stages along BOTH_AXES, limited slopes alone. The code, which stands before
 * all else, defines
 *
 *   primitive primitive_of(cell q, parameters k)
 *   cell conserved_of(primitive w, parameters k)
 *   flux physical_flux(primitive w, parameters k)       along the sweep
 *   waves waves_of(primitive w, parameters k)           of the slowest and the fastest signal; no
 *                                                       numbers where w is no state
 *   void moved_faces(...), flux carried(...), outward outward_of(...)       if it has them: see
 *                                                       schemes/forms.lua
 *   cell source(cell q, real dt, parameters k)          if the equation has one, or
 *   cell rate_of(cell q, spot at, parameters k)         see sources.h */

#include LIMITER

#ifndef OWN_OUTWARD
MR_FN outward outward_of(primitive w, parameters k) {
    waves s = waves_of(w, k);
    outward o = { -s.slowest, s.fastest };
    return o;
}

/* Zero without a sign: mr_max_nan takes -0 for larger than all numbers. */
MR_FN real fastest_of(primitive w, parameters k) {
    outward o = outward_of(w, k);
    return mr_max(o.west, o.east) + R(0.0);
}
#endif

MR_FN signals signals_of(cell q, parameters k) {
    parameters across = turned_parameters(k);
    primitive w = primitive_of(q, k);
#ifdef TURNED_PRIMITIVE
    primitive t = turned_primitive(w);
#else
    primitive t = primitive_of(turned(q), across);
#endif
    signals s = { fastest_of(w, k), fastest_of(t, across) };
#ifdef UNTOLD           /* the code has one where unknowns are left out of the signals */
    s.n += untold(q);
#endif
    return s;
}

#if defined(MOVED_FACES) && !defined(BOTH_AXES)
#define SLOPE_(name, k) h.name = slope(a.name, b.name);
#else
#define SLOPE_(name, k) h.name = half_slope(a.name, b.name);
#endif

/* Half the limited slope; where theta waits for moved_faces(), over HALF. */
MR_FN primitive slope_of(primitive w, primitive a, primitive b) {
    primitive h;
    EACH_PRIMITIVE(SLOPE_)
    return h;
}

#ifdef FACE_WAVES

/* A flux that looks at the signals of both sides finds them there. */
typedef struct face { primitive w; outward s; } face;
typedef struct faces { primitives w; lanes west, east; } faces;

MR_FN face face_of(primitive w, parameters k) {
    face a = { w, outward_of(w, k) };
    return a;
}

MR_FN outward outward_at(face a, parameters k) { return a.s; }

#define CHOOSE_(name, k) a.w.name = mr_select(yes, a.w.name, b.w.name);
MR_FN face chosen_face(int yes, face a, face b) {
    EACH_PRIMITIVE(CHOOSE_)
    a.s.west = mr_select(yes, a.s.west, b.s.west);
    a.s.east = mr_select(yes, a.s.east, b.s.east);
    return a;
}

MR_FN face get_face(const faces *row, int l) {
    face a = { get_primitive(&row->w, l), { row->west.at[l], row->east.at[l] } };
    return a;
}

MR_FN void set_face(faces *row, int l, face a) {
    set_primitive(&row->w, l, a.w);
    row->west.at[l] = a.s.west;
    row->east.at[l] = a.s.east;
}

#else

#include "traverse/primitive_faces.h"
MR_FN outward outward_at(face a, parameters k) { return outward_of(a, k); }

#define CHOOSE_(name, k) a.name = mr_select(yes, a.name, b.name);
MR_FN face chosen_face(int yes, face a, face b) {
    EACH_PRIMITIVE(CHOOSE_)
    return a;
}

#endif

#ifdef BOTH_AXES

/* The states of cell w, of half slope h, at its low and high face. */
MR_FN void states_of(primitive w, primitive h, real lambda, parameters k, primitive *low,
    primitive *high) {
    *low = shifted(w, R(-1.0), h);
    *high = shifted(w, R(1.0), h);
}

#elif defined(MOVED_FACES)

/* The same half a step later, in the variables that are interpolated (van Leer 1984; Toro 2009,
 * 14.4). */
MR_FN void states_of(primitive w, primitive d, real lambda, parameters k, primitive *low,
    primitive *high) {
    moved_faces(w, d, HALF, HALF * lambda, k, low, high);
}

#else

/* Half a step of a cell between the fluxes of its own faces. */
#define HALF_STEP_(name, k) q.name = mr_fma(R(0.5) * lambda, f.name - g.name, q.name);
MR_FN primitive half_step(primitive w, flux f, flux g, real lambda, parameters k) {
    cell q = conserved_of(w, k);
    EACH_FIELD(HALF_STEP_)
    return primitive_of(q, k);
}

/* The states of cell w, of half slope h, at its low and high face, half a step later (van Leer
 * 1984; Toro 2009, 14.4). */
MR_FN void states_of(primitive w, primitive h, real lambda, parameters k, primitive *low,
    primitive *high) {
    primitive a = shifted(w, R(-1.0), h), b = shifted(w, R(1.0), h);
    flux f = physical_flux(a, k), g = physical_flux(b, k);
    *low = half_step(a, f, g, lambda, k);
    *high = half_step(b, f, g, lambda, k);
}

#endif

/* The two faces of cell w, of half slope h, where they are states. */
MR_FN void free_faces(primitive w, primitive h, real lambda, parameters k, face *low, face *high) {
    primitive a, b;
    states_of(w, h, lambda, k, &a, &b);
    *low = face_of(a, k);
    *high = face_of(b, k);
}

/* A state is what has a fastest signal. What has been no number or infinite stays so. */
MR_FN real marked(real mark, outward s) { return mr_mark(mark, s.east); }

/* Goes on with the faces of one more cell. */
MR_FN real mark_of(face low, face high, real mark, parameters k) {
    return marked(marked(mark, outward_at(low, k)), outward_at(high, k));
}

MR_FN int is_unmarked(real mark) { return mark - mark == R(0.0); }

#define CHECKS_FACES 1
#if MR_PTX_ARCH
#define MARCHES_FREELY (sizeof(real) == sizeof(float))
#endif

MR_FN void reconstruct(primitive w, primitive below, primitive above, real lambda, parameters k,
    face *low, face *high) {
    free_faces(w, slope_of(w, below, above), lambda, k, low, high);
#ifndef FREE_FACES
    int good = is_unmarked(mark_of(*low, *high, R(0.0), k));
    *low = chosen_face(good, *low, face_of(w, k));
    *high = chosen_face(good, *high, face_of(w, k));
#endif
}

/* Goes on with those of n lanes, pair by pair. */
MR_FN void note_faces(real *marks, const faces *low, const faces *high, int n, parameters k) {
    MR_LANES(l, n)
        marks[l / 2] = mark_of(get_face(low, l), get_face(high, l), marks[l / 2], k);
}

MR_FN real marks_of(const faces *low, const faces *high, int n, real mark, parameters k) {
    MR_LANES(l, n) mark = mark_of(get_face(low, l), get_face(high, l), mark, k);
    return mark;
}

/* Where one of a cell's faces would be no state, both are the cell itself. That is rare, so that a
 * branch around it is cheaper than to choose. */
MR_FN void check_faces(const cells *q, faces *low, faces *high, int n, parameters k) {
    if (is_unmarked(marks_of(low, high, n, R(0.0), k))) return;
    MR_LANES(l, n) {
        face own = face_of(primitive_of(get_cell(q, l), k), k);
        face a = get_face(low, l), b = get_face(high, l);
        int good = is_unmarked(mark_of(a, b, R(0.0), k));
        set_face(low, l, chosen_face(good, a, own));
        set_face(high, l, chosen_face(good, b, own));
    }
}

#include FLUX
