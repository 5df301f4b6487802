/* update.h - what fluxes do to a cell. A header of fluxes that gives multiples of them, because
 * that is cheaper, says so: WEIGHT(name, k) is what its flux of a field has to be multiplied by. */

#ifndef WEIGHT
#define WEIGHT(name, k) R(1.0)
#endif

/* Conservative update with the fluxes through the low and the high face; lambda = dt / dn. */
#define UPDATE_(name, k) q.name = mr_fma(WEIGHT(name, k) * lambda, low.name - high.name, q.name);
MR_FN cell update(cell q, flux low, flux high, real lambda) {
    EACH_FIELD(UPDATE_)
    return q;
}

/* The sum of both axes' changes has the same bits whichever comes first. */
MR_FN real both(real q, real x, real lambda_x, real y, real lambda_y) {
    return q + (lambda_x * x + lambda_y * y);
}

/* A flux seen from the other axis. */
#define TURN_FLUX_(n, t, x, y) to.n = f.t; to.t = f.n;
MR_FN flux turned_flux(flux f) {
    flux to = f;
    EACH_VECTOR(TURN_FLUX_)
    return to;
}

/* Along both axes at once; vectors are along x and y, however the fluxes were computed. */
#define UPDATE_BOTH_(name, k) \
    q.name = both(q.name, west.name - east.name, WEIGHT(name, k) * lambda_x, \
        south.name - north.name, WEIGHT(name, k) * lambda_y);
MR_FN cell update_both(cell q, flux west, flux east, real lambda_x, flux south, flux north,
    real lambda_y) {
    EACH_FIELD(UPDATE_BOTH_)
    return q;
}
