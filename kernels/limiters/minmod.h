/* Generalised minmod (van Leer 1979; Kurganov and Tadmor 2000): minmod(theta a, (a + b) / 2,
 * theta b), 1 <= theta <= 2; THETA 1 is minmod, 2 is MC. Half the limited slope, from the
 * differences to both neighbours. */

MR_FN real half_slope(real a, real b) {
    real sign = mr_copysign(R(0.125), a) + mr_copysign(R(0.125), b);    /* 0 where they differ */
    return sign * mr_min(R(2.0) * THETA * mr_min(mr_abs(a), mr_abs(b)), mr_abs(a + b));
}

/* At most room / 4 in size. */
MR_FN real half_slope_within(real a, real b, real room) {
    real sign = mr_copysign(R(0.125), a) + mr_copysign(R(0.125), b);
    real most = mr_min(mr_abs(a + b), room);
    return sign * mr_min(R(2.0) * THETA * mr_min(mr_abs(a), mr_abs(b)), most);
}
