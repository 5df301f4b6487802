/* steps.c - calls functions of libraries whose arguments are described by data.
 *
 * The calling conventions of x86-64 and AArch64 pass whole numbers and pointers as words of 64 bits
 * and reals in registers of their own, whatever their order among each other; a function does not
 * see words behind those that it takes. So one type of function stands for all of them. */
#include "internal.h"

#include <string.h>


typedef int any_function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                         uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                         uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                         uint64_t, uint64_t, uint64_t, double, double);

static int call(const mare_step *step, const uint64_t *w) {
    any_function *function = NULL;
    double reals[2];
    memcpy(&function, &step->function, sizeof function);
    memcpy(reals, step->reals, sizeof reals);
    return function(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12],
                    w[13], w[14], w[15], w[16], w[17], w[18], w[19], w[20], w[21], w[22], w[23],
                    reals[0], reals[1]);
}

static mare_status run(const mare_step *step, void *queue) {
    uint64_t words[MARE_STEP_WORDS];
    memcpy(words, step->words, sizeof words);
    if (step->queue_at >= MARE_STEP_WORDS)
        return mr_fail(MARE_ERROR_ARGUMENT, "%s: the queue is word %d of %d", step->name,
                       (int)step->queue_at, MARE_STEP_WORDS);
    if (step->queue_at >= 0)
        words[step->queue_at] = (uint64_t)(uintptr_t)(step->by_address ? (void *)&queue : queue);
    const int code = call(step, words);
    if (code == 0) return MARE_OK;
    return mr_fail(MARE_ERROR_DEVICE, "%s returned %d", step->name, code);
}

mare_status mare_call_steps(void *steps, void *queue) {
    const mare_steps *list = steps;
    if (!list || (list->count && !list->steps))
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_call_steps: there are no steps");
    for (uint64_t i = 0; i < list->count; i++) MR_TRY(run(&list->steps[i], queue));
    return MARE_OK;
}
