/* Generalised minmod (van Leer 1979; Kurganov and Tadmor 2000): minmod(theta a, (a + b) / 2,
 * theta b), 1 <= theta <= 2; THETA 1 is minmod, 2 is MC. Half the limited slope, from the
 * differences to both neighbours. */

/* Twice theta times the smaller size, but at most `most`. */
MR_FN real bounded(real a, real b, real most) {
#ifdef MR_CPU
    return mr_min(R(2.0) * THETA * mr_min(mr_abs(a), mr_abs(b)), most);
#else       /* the product serves the neighbour too */
    return mr_least(R(2.0) * THETA * mr_abs(a), R(2.0) * THETA * mr_abs(b), most);
#endif
}

MR_FN real half_slope(real a, real b) {
    real sign = mr_copysign(R(0.125), a) + mr_copysign(R(0.125), b);    /* 0 where they differ */
    return sign * bounded(a, b, mr_abs(a) + mr_abs(b));
}

/* At most room / 4 in size. */
MR_FN real half_slope_within(real a, real b, real room) {
    real sign = mr_copysign(R(0.125), a) + mr_copysign(R(0.125), b);
    return sign * bounded(a, b, mr_min(mr_abs(a) + mr_abs(b), room));
}
