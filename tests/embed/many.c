/* many.c - engines one after the other and side by side: opened, run and closed in up to eight
 * threads at once, and interrupted from others. Says how long an engine takes to open. */
#include "check.h"
#include "mare_engine.h"

#include <pthread.h>
#include <time.h>

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double run_one(uint32_t flags) {
    mare_engine *engine;
    mare_value value;
    if (!check_ok(mare_engine_create(&(mare_engine_desc){ .flags = flags }, &engine), __FILE__,
                  __LINE__, "create")) return 0;
    CHECK_OK(mare_engine_run(engine, "local s = 0 for i = 1, 1000 do s = s + i end\n"
                                     "print(s) return s", "t"));
    CHECK_OK(mare_engine_result(engine, 0, &value));
    double sum = value.number;
    CHECK_FAILS(mare_engine_run(engine, "error 'x'", "t"), MARE_ERROR_SCRIPT, "x");
    CHECK_OK(mare_engine_destroy(engine));
    return sum;
}

static void *run_some(void *unused) {
    for (uint32_t i = 0; i < 20; i++)
        CHECK_NUMBER(run_one(i % 2 ? MARE_ENGINE_SANDBOX : MARE_ENGINE_COMPILED), 500500);
    return unused;
}

static const char device_script[] =
    "local d = require('mare').device.open 'null'\n"
    "local b = d:buffer { type = 'float', count = 100, label = 'b' } b:fill(3)\n"
    "assert(b:totable()[100] == 3) b:release() d:release() return 3";

static void *use_device(void *unused) {
    mare_engine *engine;
    CHECK_OK(mare_engine_create(NULL, &engine));
    CHECK_OK(mare_engine_run(engine, device_script, "t"));
    CHECK_OK(mare_engine_destroy(engine));
    return unused;
}

static void together(void *(*run)(void *), size_t count) {
    pthread_t threads[8];
    for (size_t i = 0; i < count; i++) pthread_create(&threads[i], NULL, run, NULL);
    for (size_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static mare_engine *victim;

static void *run_for_ever(void *ready) {
    CHECK_OK(mare_engine_create(NULL, &victim));
    pthread_barrier_wait(ready);
    CHECK_FAILS(mare_engine_run(victim, "while true do end", "t"), MARE_ERROR_INTERRUPTED, "");
    pthread_barrier_wait(ready);
    CHECK_OK(mare_engine_destroy(victim));
    return NULL;
}

static void interrupted_from_outside(void) {
    pthread_barrier_t ready;
    pthread_t thread;
    pthread_barrier_init(&ready, NULL, 2);
    pthread_create(&thread, NULL, run_for_ever, &ready);
    pthread_barrier_wait(&ready);
    mare_engine_interrupt(victim);
    pthread_barrier_wait(&ready);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&ready);
}

int main(void) {
    double start = seconds();
    for (int i = 0; i < 1000; i++) CHECK_NUMBER(run_one(0), 500500);
    printf("an engine opened, run and closed in %.2f ms\n", seconds() - start);
    together(run_some, 2);
    together(run_some, 8);
    together(use_device, 8);
    interrupted_from_outside();
    CHECK_NUMBER(mare_live_objects(), 0);
    return check_result();
}
