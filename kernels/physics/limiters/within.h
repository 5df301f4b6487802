/* within.h - what Hancock's predictor asks of a limiter, from its half_slope(). */

#define HALF R(1.0)

MR_FN real slope(real a, real b) { return half_slope(a, b); }

/* At most half of q in size. */
MR_FN real slope_within(real a, real b, real q) {
    real most = R(0.5) * q;
    return mr_max(-most, mr_min(half_slope(a, b), most));
}
