/* cpu_threads.c - the threads of the processor's back end. They sleep between launches, take no
 * signals, and share a launch by a counter of groups; who launches takes part. */
#include "cpu.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SHARES = 4 };                /* pieces of a launch for each thread */

typedef struct work {
    const mr_cpu_program *program;
    const mr_cpu_kernel *kernel;
    const mr_dispatch *launch;
    mr_cpu_shape shape;
    uint64_t count, step;
} work;

struct mr_cpu_team {
    pthread_mutex_t in_turn;        /* one launch at a time */
    pthread_mutex_t lock;
    pthread_cond_t begun, ended;
    work work;
    uint64_t number;                /* of the launch */
    unsigned busy;                  /* threads that have not ended it */
    bool is_closing;
    atomic_ullong next;             /* group */
    atomic_bool failed;
    unsigned count;
    pthread_t threads[];
};

static void take_part(mr_cpu_team *team, const work *w) {
    for (;;) {
        uint64_t first = atomic_fetch_add(&team->next, w->step), end = first + w->step;
        if (first >= w->count) return;
        if (end > w->count) end = w->count;
        if (!w->program->run(w->kernel, (const uint64_t *)w->launch->values, w->launch->words,
                             &w->shape, first, end))
            atomic_store(&team->failed, true);
    }
}

static void *serve(void *context) {
    mr_cpu_team *team = context;
    uint64_t seen = 0;
    pthread_mutex_lock(&team->lock);
    for (;;) {
        while (team->number == seen && !team->is_closing)
            pthread_cond_wait(&team->begun, &team->lock);
        if (team->is_closing) break;
        seen = team->number;
        const work w = team->work;
        pthread_mutex_unlock(&team->lock);
        take_part(team, &w);
        pthread_mutex_lock(&team->lock);
        if (--team->busy == 0) pthread_cond_signal(&team->ended);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

mr_cpu_team *mr_cpu_team_open(unsigned count) {
    mr_cpu_team *team = calloc(1, sizeof *team + count * sizeof *team->threads);
    if (!team) return NULL;
    pthread_mutex_init(&team->in_turn, NULL);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->begun, NULL);
    pthread_cond_init(&team->ended, NULL);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (team->count + 1 < count &&
           pthread_create(&team->threads[team->count], NULL, serve, team) == 0)
        team->count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return team;
}

void mr_cpu_team_close(mr_cpu_team *team) {
    pthread_mutex_lock(&team->lock);
    team->is_closing = true;
    pthread_cond_broadcast(&team->begun);
    pthread_mutex_unlock(&team->lock);
    for (unsigned k = 0; k < team->count; k++) pthread_join(team->threads[k], NULL);
    pthread_mutex_destroy(&team->in_turn);
    pthread_mutex_destroy(&team->lock);
    pthread_cond_destroy(&team->begun);
    pthread_cond_destroy(&team->ended);
    free(team);
}

static work work_of(const mr_cpu_team *team, const mr_cpu_program *program,
                    const mr_cpu_kernel *kernel, const mr_dispatch *launch) {
    work w = { program, kernel, launch, .count = 1 };
    for (int k = 0; k < 3; k++) {
        w.shape.groups[k] = launch->groups[k];
        w.shape.group[k] = launch->group[k];
        w.count *= launch->groups[k];
    }
    w.step = w.count / ((team->count + 1) * SHARES);
    if (w.step == 0) w.step = 1;
    return w;
}

bool mr_cpu_team_run(mr_cpu_team *team, const mr_cpu_program *program, const mr_cpu_kernel *kernel,
                     const mr_dispatch *launch) {
    const work w = work_of(team, program, kernel, launch);
    pthread_mutex_lock(&team->in_turn);
    atomic_store(&team->next, 0);
    atomic_store(&team->failed, false);
    if (w.count > 1 && team->count > 0) {
        pthread_mutex_lock(&team->lock);
        team->work = w;
        team->number++;
        team->busy = team->count;
        pthread_cond_broadcast(&team->begun);
        pthread_mutex_unlock(&team->lock);
        take_part(team, &w);
        pthread_mutex_lock(&team->lock);
        while (team->busy) pthread_cond_wait(&team->ended, &team->lock);
        pthread_mutex_unlock(&team->lock);
    } else {
        take_part(team, &w);
    }
    bool done = !atomic_load(&team->failed);
    pthread_mutex_unlock(&team->in_turn);
    return done;
}
