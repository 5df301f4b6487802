/* general.h - the EQUATION of those that bring code and no header of their own: MUSCL-Hancock for
 * any of them or, with stages along BOTH_AXES, limited slopes alone. The code, which stands before
 * all else, defines
 *
 *   primitive primitive_of(cell q, parameters k)
 *   cell conserved_of(primitive w, parameters k)
 *   flux physical_flux(primitive w, parameters k)       along the sweep
 *   waves waves_of(primitive w, parameters k)           of the slowest and the fastest signal; no
 *                                                       numbers where w is no state
 *   cell source(cell q, real dt, parameters k)          if the equation has one, or
 *   cell rate_of(cell q, spot at, parameters k)         see sources.h */

#include LIMITER

MR_FN signals signals_of(cell q, parameters k) {
    parameters across = turned_parameters(k);
    waves n = waves_of(primitive_of(q, k), k);
    waves t = waves_of(primitive_of(turned(q), across), across);
    signals s = { mr_max(-n.slowest, n.fastest), mr_max(-t.slowest, t.fastest) };
    return s;
}

/* Half the limited slope. */
#define SLOPE_(name, k) h.name = half_slope(a.name, b.name);
MR_FN primitive slope_of(primitive w, primitive a, primitive b) {
    primitive h;
    EACH_PRIMITIVE(SLOPE_)
    return h;
}

MR_FN int is_state(primitive w, parameters k) {
    waves s = waves_of(w, k);
    real sum = s.slowest + s.fastest;
    return sum - sum == R(0.0);
}

#define FACE_(name, k) \
    low->name = mr_select(good, a.name, w.name); \
    high->name = mr_select(good, b.name, w.name);

#ifdef BOTH_AXES

/* The states of cell w, of half slope h, at its low and high face. Where one of them would be none,
 * both are w itself. */
MR_FN void faces_of(primitive w, primitive h, real lambda, parameters k, primitive *low,
    primitive *high) {
    primitive a = shifted(w, R(-1.0), h), b = shifted(w, R(1.0), h);
    int good = is_state(a, k) & is_state(b, k);
    EACH_PRIMITIVE(FACE_)
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
 * 1984; Toro 2009, 14.4). Where one of them would be none, both are w itself. */
MR_FN void faces_of(primitive w, primitive h, real lambda, parameters k, primitive *low,
    primitive *high) {
    primitive a = shifted(w, R(-1.0), h), b = shifted(w, R(1.0), h);
    flux f = physical_flux(a, k), g = physical_flux(b, k);
    a = half_step(a, f, g, lambda, k);
    b = half_step(b, f, g, lambda, k);
    int good = is_state(a, k) & is_state(b, k);
    EACH_PRIMITIVE(FACE_)
}

#endif

#include "traverse/faces.h"
#include FLUX
