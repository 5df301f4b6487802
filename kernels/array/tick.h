/* tick.h - takes note of the step just made and chooses the next dt, in private memory.
 *
 * With GRADUAL 1 dt changes little from one step to the next, for the sake of methods of several
 * levels, which much else would upset: the last sixteen steps are equal rather than the last two,
 * and dt grows by a tenth at most. */

#include "array/clock.h"

#if GRADUAL
#define EQUAL 16        /* steps before the target, at most */
#else
#define EQUAL 2
#endif
#define GROWTH 1.1

/* Never beyond the target; the last steps are equal rather than the last one a sliver. */
MR_FN double clip_step(double dt, double remaining, int hold) {
    if (!(EQUAL * dt > remaining)) return dt;
    if (hold) return 0.0;
    for (int steps = 1; steps < EQUAL; ++steps)
        if (steps * dt >= remaining * (1.0 - 1e-9)) return remaining / steps;
    return remaining / EQUAL;
}

/* The longest step there may be after the last one. */
MR_FN double limit_growth(const double *clock, double dt) {
#if GRADUAL
    double last = clock[CLOCK_LAST];
    if (last > 0.0 && dt > GROWTH * last) return GROWTH * last;
#endif
    return dt;
}

MR_FN void advance(double *clock) {
    double dt = clock[CLOCK_STEP], remaining = clock[CLOCK_TARGET] - clock[CLOCK_TIME];
    if (!(dt > 0.0)) return;
    clock[CLOCK_TIME] = dt >= remaining ? clock[CLOCK_TARGET] : clock[CLOCK_TIME] + dt;
    clock[CLOCK_COUNT] += 1.0;
#if GRADUAL
    clock[CLOCK_LAST] = dt;
#endif
}

MR_FN void choose_step(double *clock, double rate) {
    double remaining = clock[CLOCK_TARGET] - clock[CLOCK_TIME];
    double dt = wanted_step(clock[CLOCK_FIXED], clock[CLOCK_CFL], rate);
    int possible = rate - rate == 0.0 && clock[CLOCK_FIXED] * rate <= 1.0;
    clock[CLOCK_RATE] = rate;
    if (!possible) clock[CLOCK_FAILED] = 1.0;
    if (!possible || !(remaining > 0.0)) clock[CLOCK_STEP] = 0.0;
    else clock[CLOCK_STEP] = clip_step(limit_growth(clock, dt), remaining,
        clock[CLOCK_HOLD] != 0.0);
}

MR_FN void read_clock(double *clock, const MR_GLOBAL double *from) {
    MR_UNROLL(CLOCK_SLOTS)
    for (int k = 0; k < CLOCK_SLOTS; ++k) clock[k] = from[k];
}

MR_FN void write_clock(const double *clock, MR_GLOBAL double *to) {
    MR_UNROLL(CLOCK_SLOTS)
    for (int k = 0; k < CLOCK_SLOTS; ++k) to[k] = clock[k];
}

/* `rate` is the largest signal rate of the state, or 0 where no step was made: then it is what it
 * was. */
MR_FN void tick(double *clock, real rate) {
    advance(clock);
    choose_step(clock, rate == R(0.0) ? clock[CLOCK_RATE] : (double)rate);
}

MR_FN void tick_from(const MR_GLOBAL double *before, MR_GLOBAL double *after, real rate) {
    double clock[CLOCK_SLOTS];
    read_clock(clock, before);
    tick(clock, rate);
    write_clock(clock, after);
}
