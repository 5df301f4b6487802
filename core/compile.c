/* compile.c - threads that compile programs, while the caller goes on: as many for a back end as
 * there are cores, or one where its compiler takes one program at a time.
 *
 * A thread ends when nothing is left for it, so that none is there in a program that compiles
 * nothing. It gets no signals: those are for the threads of the program, and what a compiler starts
 * must not be ended by Ctrl-C. The queue and each thread hold a reference to their programs; one
 * that nobody else holds is abandoned, and is not begun.
 */
#include "internal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

typedef struct compiler {
    pthread_t thread;
    const mr_backend *backend;      /* NULL: there is no such thread */
    mare_program *program;          /* the one that it compiles; NULL: none */
    bool has_ended;                 /* it waits to be joined */
} compiler;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;      /* a program or a thread has ended; its clock is monotonic */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static compiler compilers[MAX_THREADS];
static mare_program *first;         /* the first program of the queue */
static uint64_t count;              /* how many programs wait or are compiled */
static pid_t process;               /* whose threads these are: a fork has none */

/* Ends the process where a compile thread itself has called exit(), as LLVM does on a full disk:
 * the wait for that thread, and the libraries that it is inside of, would have no end. */
static void leave_compiler(void) {
    for (int i = 0; i < MAX_THREADS; i++) {
        const compiler *one = &compilers[i];
        if (!one->backend || !one->program || !pthread_equal(one->thread, pthread_self())) continue;
        dprintf(STDERR_FILENO, "mare: program '%s': its compiler has ended this process\n",
                one->program->object.label);
        _exit(EXIT_FAILURE);
    }
}

/* Waits for all compile threads at exit, since the libraries of compilers are torn down then. */
static void wait_for_all(void) {
    if (getpid() != process) return;
    pthread_mutex_lock(&lock);
    leave_compiler();
    first = NULL;
    for (int i = 0; i < MAX_THREADS; i++)
        while (compilers[i].backend && !compilers[i].has_ended) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void prepare(void) {
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &clock);
    pthread_condattr_destroy(&clock);
    process = getpid();
    (void)atexit(wait_for_all);
}

/* ---- the queue; under the lock ---- */

static void append(mare_program *program) {
    mare_program **end = &first;
    while (*end) end = &(*end)->next;
    program->next = NULL;
    *end = program;
}

static bool remove_from_queue(mare_program *program) {
    mare_program **at = &first;
    while (*at && *at != program) at = &(*at)->next;
    if (!*at) return false;
    *at = program->next;
    return true;
}

/* Puts a program that somebody waits for at the head of the queue. */
static void hurry(mare_program *program) {
    if (!remove_from_queue(program)) return;
    program->next = first;
    first = program;
}

static mare_program *take(const mr_backend *backend) {
    mare_program *program = first;
    while (program && program->device->backend != backend) program = program->next;
    if (program) remove_from_queue(program);
    return program;
}

static bool is_abandoned(const mare_program *program) {
    return atomic_load(&program->object.refs) == 1;
}

/* ---- a program ---- */

typedef struct attempt {
    mare_program *program;
    mare_status status;
} attempt;

static void try_to_build(void *data) {
    attempt *one = data;
    one->status = mr_build_run(one->program);
}

static mare_status build(mare_program *program) {
    attempt one = { .program = program };
    if (mr_guard(try_to_build, &one)) return one.status;
    mr_build_free(program);
    return mr_fail(MARE_ERROR_DEVICE,
                   "program '%s': the compiler has failed inside, most likely for lack of memory "
                   "(C++ exception)", program->object.label);
}

/* Lets go of the program before anybody is told that it has ended. self: the thread's, or NULL */
static void run(mare_program *program, compiler *self) {
    mare_status status = MARE_ERROR_INTERRUPTED;
    if (!mr_reuse_abandon(program)) status = build(program);
    if (status != MARE_OK) {
        mr_text_format(&program->failure, "%s", mare_error_message());
        mr_reuse_leave(program);
    }
    pthread_mutex_lock(&lock);
    program->status = status;
    program->is_compiling = false;
    if (self) self->program = NULL;
    count--;
    bool is_last = mr_object_unref(&program->object);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (is_last) mr_program_destroy(program);
}

/* ---- threads ---- */

static void *serve(void *data) {
    compiler *self = data;
    pthread_mutex_lock(&lock);
    while ((self->program = take(self->backend))) {
        pthread_cond_broadcast(&changed);       /* it is not about to end */
        pthread_mutex_unlock(&lock);
        run(self->program, self);
        pthread_mutex_lock(&lock);
    }
    self->has_ended = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void join_ended(void) {
    for (int i = 0; i < MAX_THREADS; i++) {
        if (!compilers[i].has_ended) continue;
        (void)pthread_join(compilers[i].thread, NULL);
        compilers[i] = (compiler){ 0 };
    }
}

static int count_threads(const mr_backend *backend) {
    int threads = 0;
    for (int i = 0; i < MAX_THREADS; i++)
        threads += compilers[i].backend == backend && !compilers[i].has_ended;
    return threads;
}

static bool start(compiler *one, const mr_backend *backend) {
    sigset_t all, before;
    one->backend = backend;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&one->thread, NULL, serve, one);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0) one->backend = NULL;
    return code == 0;
}

static void start_one(const mr_backend *backend) {
    long cores = backend->compiles_in_turn ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
    join_ended();
    if (count_threads(backend) >= (cores > 1 ? cores : 1)) return;
    for (int i = 0; i < MAX_THREADS; i++) {
        if (compilers[i].backend) continue;
        (void)start(&compilers[i], backend);
        return;
    }
}

/* ---- what the rest of core calls ---- */

void mr_compile_begin(mare_program *program) {
    pthread_once(&once, prepare);
    mare_program_retain(program);
    program->is_compiling = true;
    mr_reuse_enter(program);
    pthread_mutex_lock(&lock);
    append(program);
    count++;
    start_one(program->device->backend);
    pthread_mutex_unlock(&lock);
}

static struct timespec after(uint64_t milliseconds) {
    const uint64_t longest = 1000000000;        /* a million seconds */
    struct timespec end;
    if (milliseconds > longest) milliseconds = longest;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)(milliseconds / 1000);
    end.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_nsec -= 1000000000;
        end.tv_sec++;
    }
    return end;
}

/* Compiles a program in the thread that waits for it, if no compile thread can be started. */
static void help(mare_program *program) {
    start_one(program->device->backend);
    if (count_threads(program->device->backend) || !remove_from_queue(program)) return;
    pthread_mutex_unlock(&lock);
    run(program, NULL);
    pthread_mutex_lock(&lock);
}

bool mr_compile_wait(mare_program *program, uint64_t timeout_ms) {
    const struct timespec end = after(timeout_ms);
    int code = 0;
    pthread_mutex_lock(&lock);
    if (program->is_compiling) {
        hurry(program);
        help(program);
    }
    while (program->is_compiling && code == 0)
        code = timeout_ms == UINT64_MAX ? pthread_cond_wait(&changed, &lock)
                                        : pthread_cond_timedwait(&changed, &lock, &end);
    bool has_ended = !program->is_compiling;
    pthread_mutex_unlock(&lock);
    return has_ended;
}

/* ---- public ---- */

uint64_t mare_program_pending(void) {
    pthread_mutex_lock(&lock);
    uint64_t pending = count;
    pthread_mutex_unlock(&lock);
    return pending;
}

static mare_program *find_abandoned(void) {
    mare_program *program = first;
    while (program && !is_abandoned(program)) program = program->next;
    return program;
}

/* Returns whether a thread compiles a program that nobody else holds. One that is about to end
 * counts too, so that it can be joined. */
static bool is_at_abandoned(void) {
    for (int i = 0; i < MAX_THREADS; i++) {
        const compiler *one = &compilers[i];
        if (!one->backend || one->has_ended) continue;
        if (!one->program || is_abandoned(one->program)) return true;
    }
    return false;
}

void mare_program_settle(void) {
    mare_program *program;
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
    while ((program = find_abandoned())) {
        remove_from_queue(program);
        pthread_mutex_unlock(&lock);
        run(program, NULL);
        pthread_mutex_lock(&lock);
    }
    while (is_at_abandoned()) pthread_cond_wait(&changed, &lock);
    join_ended();
    pthread_mutex_unlock(&lock);
}
