/* steps.c - functions of other arguments than (data, queue), called as the work of a library. */
#include "check.h"

static int sums[2];
static void *seen[2];

/* As a product of matrices of a library takes them: words, small whole numbers, reals between. */
static int mixed(void *handle, int a, float alpha, const int *x, int64_t stride, double beta,
                 int b, int c, int d, int e, int32_t negative, void **queue) {
    sums[0] = a + *x + (int)stride + b + c + d + e + negative;
    sums[1] = (int)(4 * (double)alpha) + (int)(2 * beta);
    seen[0] = handle;
    seen[1] = *queue;
    return 0;
}

static int plain(void *queue, int code) {
    seen[0] = queue;
    return code;
}

static uint64_t bits(const void *real, size_t size) {
    uint64_t word = 0;
    memcpy(&word, real, size);
    return word;
}

static void *address(void (*function)(void)) {
    void *found = NULL;
    memcpy(&found, &function, sizeof found);
    return found;
}

static void passes_all(void) {
    int x = 5, queue = 0;
    const float alpha = 0.25f;
    const double beta = 1.5;
    mare_step step = { .name = "mixed", .function = address((void (*)(void))mixed),
                       .queue_at = 9, .by_address = 1 };
    const uint64_t words[] = { (uintptr_t)&x, 1, (uintptr_t)&x, 1000, 20, 30, 40, 50,
                               (uint64_t)-7 };
    memcpy(step.words, words, sizeof words);
    step.reals[0] = bits(&alpha, sizeof alpha);
    step.reals[1] = bits(&beta, sizeof beta);
    CHECK_OK(mare_call_steps(&(mare_steps){ &step, 1 }, &queue));
    CHECK_NUMBER(sums[0], 1 + 5 + 1000 + 20 + 30 + 40 + 50 - 7);
    CHECK_NUMBER(sums[1], 1 + 3);
    CHECK(seen[0] == &x && seen[1] == &queue);
}

static void ends_at_the_first_failure(void) {
    int queue = 0;
    mare_step steps[2] = { { .name = "first", .function = address((void (*)(void))plain) },
                           { .name = "second", .function = address((void (*)(void))plain) } };
    mare_steps list = { steps, 2 };
    steps[1].queue_at = -1;
    CHECK_OK(mare_call_steps(&list, &queue));
    CHECK(seen[0] == NULL);
    steps[0].words[1] = 13;
    CHECK_FAILS(mare_call_steps(&list, &queue), MARE_ERROR_DEVICE, "first returned 13");
    CHECK(seen[0] == &queue);
    steps[0].queue_at = MARE_STEP_WORDS;
    CHECK_FAILS(mare_call_steps(&list, &queue), MARE_ERROR_ARGUMENT, "word 24 of 24");
    CHECK_FAILS(mare_call_steps(NULL, &queue), MARE_ERROR_ARGUMENT, "no steps");
}

int main(void) {
    passes_all();
    ends_at_the_first_failure();
    return check_result();
}
