/* threads.c - two engines in two threads; one is told to stop.
 *     cc -std=c99 threads.c $(pkg-config --cflags --libs mare_engine) -lpthread -o threads */
#define _POSIX_C_SOURCE 200809L
#include <mare_engine.h>
#include <pthread.h>
#include <stdio.h>

typedef struct task {
    const char *script;
    mare_engine *engine;
    pthread_barrier_t *ready;
    mare_status status;
    double result;
} task;

static void *work(void *context) {
    task *t = context;
    mare_value value = { 0 };
    t->status = mare_engine_create(NULL, &t->engine);
    pthread_barrier_wait(t->ready);
    if (t->status == MARE_OK) t->status = mare_engine_run(t->engine, t->script, "task");
    if (t->status == MARE_OK) t->status = mare_engine_result(t->engine, 0, &value);
    t->result = value.number;
    pthread_barrier_wait(t->ready);         /* nobody interrupts it any more */
    mare_engine_destroy(t->engine);
    return NULL;
}

int main(void) {
    pthread_barrier_t ready;
    pthread_t threads[2];
    task tasks[2] = { { 0 }, { 0 } };
    tasks[0].script = "local s = 0 for i = 1, 1e5 do s = s + i end return s";
    tasks[1].script = "while true do end";
    pthread_barrier_init(&ready, NULL, 3);
    for (int k = 0; k < 2; k++) {
        tasks[k].ready = &ready;
        if (pthread_create(&threads[k], NULL, work, &tasks[k])) return 1;
    }
    pthread_barrier_wait(&ready);
    mare_engine_interrupt(tasks[1].engine);
    pthread_barrier_wait(&ready);
    for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
    pthread_barrier_destroy(&ready);
    printf("%.0f; %s\n", tasks[0].result, mare_status_name(tasks[1].status));
    return tasks[0].status != MARE_OK || tasks[1].status != MARE_ERROR_INTERRUPTED;
}
