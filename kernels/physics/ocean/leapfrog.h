/* leapfrog.h - the weights of a step of nonlinear.krn, which says what they mean. */

/* next = old + renew (q - old) + span q' */
typedef struct method { real renew, span, filter, ratio; int is_filtering, is_measuring; } method;

MR_FN real leap(const method *m, real q, real old, real rate) {
    return mr_fma(m->span, rate, mr_fma(m->renew, q - old, old));
}

/* q, filtered. */
MR_FN real smoothed(const method *m, real q, real old, real next) {
    real mean = mr_fma(m->ratio, old - next, next);
    return mr_fma(m->filter, mean - q, q);
}

/* Whether this step filters: the first FILTER_STEPS of FILTER_PERIOD do. */
MR_FN int is_filtering(const MR_GLOBAL double *clock) {
    return (mr_index)clock[CLOCK_COUNT] % FILTER_PERIOD < FILTER_STEPS;
}

/* Whether the step before did, so that the level before is in `third`. */
MR_FN int is_after_filter(const MR_GLOBAL double *clock) {
    return ((mr_index)clock[CLOCK_COUNT] + FILTER_PERIOD - 1) % FILTER_PERIOD < FILTER_STEPS;
}

/* The weights of a step, or of one of those that go back from the initial state. */
MR_FN method choose_method(const MR_GLOBAL double *clock, int level, real filter) {
    double dt = clock[CLOCK_STEP], last = clock[CLOCK_LAST], r;
    if (!(last > 0.0))
        last = wanted_step(clock[CLOCK_FIXED], clock[CLOCK_CFL], clock[CLOCK_RATE]);
    r = dt / last;
    if (level == 1) {
        method back = { R(1.0), (real)(-0.5 * last), R(0.0), R(0.5), 0, 0 };
        return back;
    } else if (level == 2) {
        method back = { R(0.0), (real)-last, R(0.0), R(0.5), 0, 0 };
        return back;
    }
    method leapfrog = { (real)(1.0 - r * r), (real)((1.0 + r) * dt), filter, (real)(r / (1.0 + r)),
        is_filtering(clock), (mr_index)clock[CLOCK_COUNT] % RATE_PERIOD == 0 };
    return leapfrog;
}
