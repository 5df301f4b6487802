/* shallow_water.h - the shallow-water equations over a flat bottom in one direction, shared by both
 * axes; every function is mirror symmetric. A cell has the depth h and mn, mt, depth times
 * velocity; primitive variables are h, un and ut; k.g is the acceleration of gravity.
 *
 * Depth may be 0. The velocity of so little water that its momentum could vanish below the smallest
 * number is 0; above that no threshold is needed: fluxes take at most what a cell has, and leave
 * velocity where they leave water. */

#define DRY R(DRY_DEPTH)

MR_FN primitive primitive_of(cell q, parameters k) {
    primitive w;
    real inverse = mr_select(q.h > DRY, mr_rcp(q.h), R(0.0));
    w.h = q.h;
    w.un = q.mn * inverse;
    w.ut = q.mt * inverse;
    return w;
}

/* Of small waves. NaN where the depth is negative or no number. */
MR_FN real wave_speed(primitive w, real g) { return mr_sqrt(g * w.h); }

MR_FN signals signals_of(cell q, parameters k) {
    primitive w = primitive_of(q, k);
    real c = wave_speed(w, k.g);
    signals s = { mr_abs(w.un) + c, mr_abs(w.ut) + c };
    return s;
}

MR_FN flux physical_flux(primitive w, parameters k) {
    flux f;
    f.h = w.h * w.un;
    f.mn = mr_fma(f.h, w.un, R(0.5) * k.g * w.h * w.h);
    f.mt = f.h * w.ut;
    return f;
}
