/* slopes.h - limited slopes of depth and velocity. Needs the half_slope() of a limiter. */

MR_FN primitive slope_of(primitive w, primitive a, primitive b) {
    primitive d;
    d.h = half_slope(a.h, b.h);
    d.un = half_slope(a.un, b.un);
    d.ut = half_slope(a.ut, b.ut);
    return d;
}
