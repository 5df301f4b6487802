/* engine_begin.c - what an engine does on a thread of its own while the program goes on.
 *
 * The state of Lua goes from the program's thread to that one and back: it is used by one at a
 * time, and pthread_create and pthread_join are the order between them. Meanwhile the engine is
 * `running` for its owner, which is refused as from within.
 */
#include "engine.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct engine_begun {
    mare_engine *engine;
    lua_CFunction f;
    void *request;                  /* owned; its texts lie behind it */
    mare_engine_wake *wake;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool has_ended;
    mare_status status;
};

static void free_begun(engine_begun *begun) {
    pthread_mutex_destroy(&begun->lock);
    pthread_cond_destroy(&begun->ended);
    free(begun->request);
    free(begun);
}

static void *run_begun(void *context) {
    engine_begun *begun = context;
    begun->status = engine_protect(begun->engine, begun->f, begun->request);
    pthread_mutex_lock(&begun->lock);
    begun->has_ended = true;
    pthread_cond_signal(&begun->ended);
    pthread_mutex_unlock(&begun->lock);
    if (begun->wake) begun->wake(begun->context);
    return NULL;
}

static engine_begun *new_begun(mare_engine *engine, lua_CFunction f, void *request,
                               mare_engine_wake *wake, void *context) {
    engine_begun *begun = calloc(1, sizeof *begun);
    if (!begun) return NULL;
    *begun = (engine_begun){ .engine = engine, .f = f, .request = request, .wake = wake,
        .context = context };
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&begun->lock, NULL);
    pthread_cond_init(&begun->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    return begun;
}

/* No signal of the program's is for this thread. */
static bool start_thread(engine_begun *begun) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&begun->thread, NULL, run_begun, begun) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

mare_status engine_begin(mare_engine *engine, lua_CFunction f, void *request,
                         mare_engine_wake *wake, void *context, const char *call) {
    if (!request) return mare_error_set(MARE_ERROR_MEMORY, "out of memory to begin anything");
    mare_status status = engine_enter(engine, call);
    if (status != MARE_OK) {
        free(request);
        return status;
    }
    engine_begun *begun = new_begun(engine, f, request, wake, context);
    engine->begun = begun;
    if (begun && start_thread(begun)) return MARE_OK;
    engine->begun = NULL;
    if (begun) free_begun(begun);
    else free(request);
    (void)engine_leave(engine, MARE_OK);
    return mare_error_set(MARE_ERROR_MEMORY, "no thread can be started");
}

static bool await(engine_begun *begun, uint64_t timeout_ms) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const uint64_t most = (uint64_t)INT32_MAX * 1000;
    if (timeout_ms > most) timeout_ms = most;
    end.tv_sec += (time_t)(timeout_ms / 1000);
    end.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (end.tv_nsec >= 1000000000) end.tv_sec++, end.tv_nsec -= 1000000000;
    int failed = 0;
    pthread_mutex_lock(&begun->lock);
    while (!begun->has_ended && !failed)
        failed = timeout_ms ? pthread_cond_timedwait(&begun->ended, &begun->lock, &end) : 1;
    bool has_ended = begun->has_ended;
    pthread_mutex_unlock(&begun->lock);
    return has_ended;
}

mare_status mare_engine_wait(mare_engine *engine, uint64_t timeout_ms, int32_t *done) {
    static const char call[] = "mare_engine_wait";
    if (done) *done = 0;
    if (!engine || !done) return engine_refuse(engine, call, "needs done");
    if (!pthread_equal(engine->thread, pthread_self()))
        return engine_refuse(engine, call, "belongs to the thread that created it");
    engine_begun *begun = engine->begun;
    if (!begun) return engine_refuse(engine, call, "has begun nothing that was not waited for");
    if (!await(begun, timeout_ms)) return MARE_OK;
    pthread_join(begun->thread, NULL);
    engine->begun = NULL;
    mare_status status = begun->status;
    free_begun(begun);
    *done = 1;
    return engine_leave(engine, status);
}
