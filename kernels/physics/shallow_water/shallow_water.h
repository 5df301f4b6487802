/* shallow_water.h - the shallow-water equations over a flat bottom in one direction, shared by both
 * axes: "normal" is along the sweep, "transverse" across it. Every function is mirror symmetric.
 *
 * Depth may be 0. The velocity of so little water that its momentum could vanish below the smallest
 * number is 0; above that no threshold is needed: fluxes take at most what a cell has, and leave
 * velocity where they leave water. */

#define DRY R(1e-30)

typedef struct cell { real h, mn, mt; } cell;       /* depth, depth times velocity */
typedef struct flow { real h, un, ut; } flow;       /* depth, velocity */
typedef struct signals { real n, t; } signals;        /* speeds along the sweep, across it */

MR_FN flow primitive(cell q, real g) {
    flow w;
    real inverse = mr_select(q.h > DRY, mr_rcp(q.h), R(0.0));
    w.h = q.h;
    w.un = q.mn * inverse;
    w.ut = q.mt * inverse;
    return w;
}

MR_FN flow difference(flow a, flow b) {
    flow d;
    d.h = b.h - a.h;
    d.un = b.un - a.un;
    d.ut = b.ut - a.ut;
    return d;
}

/* Of small waves. NaN where the depth is negative or no number. */
MR_FN real wave_speed(flow w, real g) { return mr_sqrt(g * w.h); }

MR_FN signals signals_of(cell q, real g) {
    flow w = primitive(q, g);
    real c = wave_speed(w, g);
    signals s = { mr_abs(w.un) + c, mr_abs(w.ut) + c };
    return s;
}

MR_FN cell physical_flux(flow w, real g) {
    cell f;
    f.h = w.h * w.un;
    f.mn = mr_fma(f.h, w.un, R(0.5) * g * w.h * w.h);
    f.mt = f.h * w.ut;
    return f;
}

/* Conservative update with the fluxes through the low and the high face; lambda = dt / dx. */
MR_FN cell update(cell q, cell low, cell high, real lambda) {
    q.h = mr_fma(lambda, low.h - high.h, q.h);
    q.mn = mr_fma(lambda, low.mn - high.mn, q.mn);
    q.mt = mr_fma(lambda, low.mt - high.mt, q.mt);
    return q;
}

/* What a stage along both axes wants: mn, mt along x and y, however the fluxes were computed. */
MR_FN cell turned(cell q) {
    cell t = { q.h, q.mt, q.mn };
    return t;
}

/* The sum of both axes' changes has the same bits whichever comes first. */
MR_FN real both(real q, real x, real lambda_x, real y, real lambda_y) {
    return q + (lambda_x * x + lambda_y * y);
}

MR_FN cell update_both(cell q, cell west, cell east, real lambda_x, cell south, cell north,
    real lambda_y) {
    q.h = both(q.h, west.h - east.h, lambda_x, south.h - north.h, lambda_y);
    q.mn = both(q.mn, west.mn - east.mn, lambda_x, south.mn - north.mn, lambda_y);
    q.mt = both(q.mt, west.mt - east.mt, lambda_x, south.mt - north.mt, lambda_y);
    return q;
}

/* keep * old + (1 - keep) * q */
MR_FN cell blend(cell old, cell q, real keep) {
    q.h = mr_fma(keep, old.h - q.h, q.h);
    q.mn = mr_fma(keep, old.mn - q.mn, q.mn);
    q.mt = mr_fma(keep, old.mt - q.mt, q.mt);
    return q;
}
