/* Generalised minmod (van Leer 1979; Kurganov and Tadmor 2000): minmod(theta a, (a + b) / 2,
 * theta b), 1 <= theta <= 2; THETA 1 is minmod, 2 is MC. From the differences to both neighbours.
 * Half the limited slope is HALF slope(a, b). */

#define HALF R(0.25)

/* Twice theta times the smaller size, but at most `most`. */
MR_FN real bounded(real a, real b, real most) {
#ifdef MR_CPU
    return mr_min(R(2.0) * THETA * mr_min(mr_abs(a), mr_abs(b)), most);
#else       /* the product serves the neighbour too */
    return mr_least(R(2.0) * THETA * mr_abs(a), R(2.0) * THETA * mr_abs(b), most);
#endif
}

/* That size times `unit`, with the sign of both. */
MR_FN real with_sign(real unit, real a, real b, real most) {
    real one = R(0.5) * unit;
    real sign = mr_copysign(one, a) + mr_copysign(one, b);      /* 0 where they differ */
    return sign * bounded(a, b, most);
}

/* Twice the limited slope again, where a minimum takes selects: those take the sign along. */
MR_FN real selected(real a, real b) {
    real smaller = mr_select(mr_abs(a) < mr_abs(b), a, b), middle = a + b;
    real steep = R(2.0) * THETA * mr_agreed(smaller, a, b);
    return mr_select(mr_abs(steep) < mr_abs(middle), steep, middle);
}

MR_FN real half_slope(real a, real b) {
    if (MR_SELECTS) return HALF * selected(a, b);
    return with_sign(HALF, a, b, mr_abs(a) + mr_abs(b));
}

MR_FN real slope(real a, real b) {
    if (MR_SELECTS) return selected(a, b);
    return with_sign(R(1.0), a, b, mr_abs(a) + mr_abs(b));
}

/* At most room in size. */
MR_FN real slope_within(real a, real b, real room) {
    if (MR_SELECTS) {
        real whole = selected(a, b);
        return mr_select(mr_abs(whole) < room, whole, mr_copysign(room, whole));
    }
    return with_sign(R(1.0), a, b, mr_min(mr_abs(a) + mr_abs(b), room));
}
