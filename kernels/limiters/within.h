/* within.h - half_slope(), but at most room / 4 in size. */

MR_FN real half_slope_within(real a, real b, real room) {
    real most = R(0.25) * room;
    return mr_max(-most, mr_min(half_slope(a, b), most));
}
