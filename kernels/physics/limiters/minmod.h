/* Generalised minmod (van Leer 1979; Kurganov and Tadmor 2000): minmod(theta a, (a + b) / 2,
 * theta b), 1 <= theta <= 2; THETA 1 is minmod, 2 is MC. From the differences to both neighbours.
 * Half the limited slope is HALF slope(a, b): theta waits for whoever scales the slope anyway. */

#define HALF (R(0.5) * THETA)

/* That of a, b and middle which is nearest 0, where a and b have one sign; else 0. */
MR_FN real limited(real a, real b, real middle) {
#ifdef MR_CPU
    real sign = mr_copysign(R(0.5), a) + mr_copysign(R(0.5), b);
    return sign * mr_min(mr_min(mr_abs(a), mr_abs(b)), mr_abs(middle));
#else
    return mr_agreed(mr_least(a, b, middle), a, b);
#endif
}

MR_FN real middle(real a, real b) { return 1 / (R(2.0) * THETA) * (a + b); }
MR_FN real slope(real a, real b) { return limited(a, b, middle(a, b)); }
MR_FN real half_slope(real a, real b) { return HALF * slope(a, b); }

/* Half the limited slope is at most half of q in size. */
MR_FN real slope_within(real a, real b, real q) {
    real whole = middle(a, b), most = 1 / THETA * q;
    return limited(a, b, mr_copysign(mr_min(mr_abs(whole), most), whole));
}
