/* run.c - runs groups of work-items of programs that are compiled for the processor. Work-items
 * take turns on the calling thread; where there are barriers each has a stack of its own, and a
 * barrier hands over to the next one. */
#include "backends/cpu_programs.h"

#include <stdlib.h>
#include <ucontext.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

struct mr_place_ { int item[3], group[3], group_size[3], groups[3]; };
extern _Thread_local struct mr_place_ mr_place_ __attribute__((visibility("hidden")));
_Thread_local struct mr_place_ mr_place_;
void mr_barrier_(void) __attribute__((visibility("hidden")));

enum { STACK = 256 << 10 };

typedef struct launch {
    const mr_cpu_kernel *kernel;
    const uint64_t *values;
    const uint32_t *words;
} launch;

/* A work-item of a group with barriers. */
typedef struct fiber { ucontext_t context; int item[3], has_ended; char *stack; } fiber;
typedef struct team { ucontext_t caller; fiber *fibers, *running; launch launch; } team;
static _Thread_local team *current;

static void set_place(int to[3], uint64_t index, const uint32_t size[3]) {
    to[0] = (int)(index % size[0]);
    to[1] = (int)(index / size[0] % size[1]);
    to[2] = (int)(index / size[0] / size[1]);
}

static void take_place(const int item[3]) {
    for (int k = 0; k < 3; k++) mr_place_.item[k] = item[k];
}

/* ---- with barriers ---- */

void mr_barrier_(void) {
    team *t = current;
    if (!t) return;                 /* a group of one */
    fiber *me = t->running;
    swapcontext(&me->context, &t->caller);
    take_place(me->item);
}

static void run_fiber(void) {
    team *t = current;
    fiber *me = t->running;
    take_place(me->item);
    t->launch.kernel->item(t->launch.values, t->launch.words);
    me->has_ended = 1;
    swapcontext(&me->context, &t->caller);
}

static void begin_fiber(fiber *f, uint64_t index, const uint32_t size[3]) {
    set_place(f->item, index, size);
    f->has_ended = 0;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = NULL;
    makecontext(&f->context, run_fiber, 0);
}

static void run_team(team *t, uint64_t count, const uint32_t size[3]) {
    for (uint64_t k = 0; k < count; k++) begin_fiber(&t->fibers[k], k, size);
    current = t;
    for (uint64_t left = count; left > 0;)
        for (uint64_t k = 0; k < count; k++) {
            fiber *f = t->running = &t->fibers[k];
            if (f->has_ended) continue;
            swapcontext(&t->caller, &f->context);
            left -= (uint64_t)f->has_ended;
        }
    current = NULL;
}

static int open_team(team *t, uint64_t count) {
    char *stacks = malloc(count * STACK);
    t->fibers = calloc(count, sizeof *t->fibers);
    if (!stacks || !t->fibers) {
        free(stacks);
        free(t->fibers);
        return 0;
    }
    for (uint64_t k = 0; k < count; k++) t->fibers[k].stack = stacks + k * STACK;
    return 1;
}

static void close_team(team *t) {
    free(t->fibers[0].stack);
    free(t->fibers);
}

/* ---- groups ---- */

static void run_items(const launch *l, uint64_t count, const uint32_t size[3]) {
    for (uint64_t k = 0; k < count; k++) {
        set_place(mr_place_.item, k, size);
        l->kernel->item(l->values, l->words);
    }
}

/* Sets whether numbers that are not normal count as 0; returns how it was. */
static unsigned flush(unsigned mode, int is_mode, int on) {
#ifdef __SSE__
    unsigned before = _mm_getcsr();
    _mm_setcsr(is_mode ? mode : on ? before | 0x8040u : before & ~0x8040u);
    return before;
#else
    (void)is_mode, (void)on;
    return mode;
#endif
}

int mr_programs_run(const mr_cpu_kernel *kernel, const uint64_t *values, const uint32_t *words,
                    const mr_cpu_shape *shape, uint64_t first, uint64_t end) {
    const uint64_t count = (uint64_t)shape->group[0] * shape->group[1] * shape->group[2];
    team t = { .launch = { kernel, values, words } };
    const int is_team = kernel->waits && count > 1;
    if (is_team && !open_team(&t, count)) return 0;
    for (int k = 0; k < 3; k++) {
        mr_place_.group_size[k] = (int)shape->group[k];
        mr_place_.groups[k] = (int)shape->groups[k];
    }
    unsigned mode = flush(0, 0, kernel->is_fast);
    for (uint64_t group = first; group < end; group++) {
        set_place(mr_place_.group, group, shape->groups);
        if (is_team) run_team(&t, count, shape->group);
        else run_items(&t.launch, count, shape->group);
    }
    flush(mode, 1, 0);
    if (is_team) close_team(&t);
    return 1;
}
