/* clock.h - the clock buffer: 10 doubles, on the device from the first step to the last, and the
 * same again where steps tick themselves. */

#ifndef CLOCK_TIME
#define CLOCK_TIME 0    /* of the state */
#define CLOCK_STEP 1    /* dt of the step to come; 0 at the target: then a step changes no bit */
#define CLOCK_TARGET 2  /* the time to reach exactly */
#define CLOCK_CFL 3     /* dt times the largest signal rate; at most 1 is stable */
#define CLOCK_COUNT 4   /* steps taken */
#define CLOCK_RATE 5    /* largest signal rate of the state: max((|u| + c) / dx, (|v| + c) / dy) */
#define CLOCK_FAILED 6  /* 1 when it is NaN, infinite or too high for FIXED; time stands still */
#define CLOCK_HOLD 7    /* 1: dt is 0 from where the target would change it, instead of changed */
#define CLOCK_LAST 8    /* dt of the step taken last, 0 where none was; kept with GRADUAL only */
#define CLOCK_FIXED 9   /* the dt that is wanted; 0: the one that follows from the rate */
#define CLOCK_SLOTS 10

/* The dt of the next step, but for the target. */
MR_FN double wanted_step(double fixed, double cfl, double rate) {
    return fixed > 0.0 ? fixed : cfl / rate;
}

#endif
