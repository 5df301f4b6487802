/* clock.h - the clock buffer: CLOCK_SLOTS doubles, on the device from the first step to the last,
 * and the same again where steps tick themselves. lua/mare/base/constants.lua says what is in
 * them. */

#ifndef ARRAY_CLOCK
#define ARRAY_CLOCK

/* The dt of the next step, but for the target. */
MR_FN double wanted_step(double fixed, double cfl, double rate) {
    return fixed > 0.0 ? fixed : cfl / rate;
}

#endif
