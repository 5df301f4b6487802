/* compile.c - programs that threads compile: side by side or in turn, in what order, and what comes
 * of those that fail, that nobody wants any more, that somebody holds already, or that no thread
 * can be had for.
 *
 * On the null back end with a compiler in front that waits at a gate, so that nothing here depends
 * on how long anything takes.
 */
#include "check.h"
#include "internal.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

enum { MANY = 40 };

static mare_device *device;
static mr_backend slow;

/* ---- the compiler ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_open;
    int running, most, wanted;      /* wanted: that must be there before any goes on */
    int finished;
    char order[4096];               /* the last letters of what was compiled, as it began */
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* Without threads of the test before. */
static void reset(bool in_turn, int wanted) {
    mare_program_settle();
    pthread_mutex_lock(&gate.lock);
    gate.is_open = false;
    gate.most = gate.finished = 0;
    gate.wanted = wanted;
    memset(gate.order, 0, sizeof gate.order);
    pthread_mutex_unlock(&gate.lock);
    slow.compiles_in_turn = in_turn;
}

static void open_gate(void) {
    pthread_mutex_lock(&gate.lock);
    gate.is_open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

/* Until so many programs are being compiled. */
static void await_running(int number) {
    pthread_mutex_lock(&gate.lock);
    while (gate.running < number) pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void forget_exception(_Unwind_Reason_Code reason, struct _Unwind_Exception *exception) {
    (void)reason, (void)exception;
}

static void throw(void) {
    static struct _Unwind_Exception exception = { .exception_class = 1,
                                                  .exception_cleanup = forget_exception };
    (void)_Unwind_RaiseException(&exception);
}

static mare_status build(mr_native native, const mr_source *source, mr_blob *binary,
                         mr_native *loaded, mr_blob *log) {
    pthread_mutex_lock(&gate.lock);
    gate.order[strlen(gate.order)] = source->name[strlen(source->name) - 1];
    gate.running++;
    if (gate.running > gate.most) gate.most = gate.running;
    pthread_cond_broadcast(&gate.changed);
    while (!gate.is_open && (gate.wanted == 0 || gate.running < gate.wanted))
        pthread_cond_wait(&gate.changed, &gate.lock);
    if (gate.wanted) gate.is_open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
    if (strstr(source->text, "throw")) throw();
    mare_status status = mr_backend_null.program_build(native, source, binary, loaded, log);
    pthread_mutex_lock(&gate.lock);
    gate.running--;
    gate.finished++;
    pthread_mutex_unlock(&gate.lock);
    return status;
}

/* ---- threads that cannot be had ---- */

#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
#define HAS_NO_THREADS 1
static bool no_threads;

typedef int create_thread(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *data) {
    static create_thread *next;
    if (no_threads) return 11;      /* EAGAIN */
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return next(thread, attributes, start, data);
}
#endif

/* ---- tests ---- */

static mare_program *begin(const char *name, const char *source) {
    mare_program *program = NULL;
    CHECK_OK(mare_program_begin(
        device, &(mare_program_desc){ .source = source, .name = name }, &program));
    return program;
}

static bool is_done(mare_program *program, uint64_t timeout) {
    int32_t done = -1;
    CHECK_OK(mare_program_wait(program, timeout, &done));
    return done;
}

static void compiles_side_by_side(void) {
    const bool has_cores = sysconf(_SC_NPROCESSORS_ONLN) > 1;
    reset(false, has_cores ? 2 : 1);
    mare_program *a = begin("a", "int a;"), *b = begin("b", "int b;");
    CHECK(is_done(a, UINT64_MAX) && is_done(b, UINT64_MAX));
    CHECK_NUMBER(gate.most, has_cores ? 2 : 1);
    CHECK_NUMBER(mare_program_pending(), 0);
    mare_program_release(a);
    mare_program_release(b);
}

static void waits_no_longer_than_asked(void) {
    mare_kernel *kernel = NULL;
    reset(false, 0);
    mare_program *a = begin("a", "MR_KERNEL void f() {}");
    CHECK(!is_done(a, 0) && !is_done(a, 1));
    CHECK_NUMBER(mare_program_pending(), 1);
    open_gate();
    CHECK_OK(mare_kernel_create(a, "f", &kernel));
    CHECK(is_done(a, 0));
    CHECK_TEXT(mare_program_log(a), "");
    CHECK_NUMBER(mare_program_cached(a), 0);
    mare_kernel_release(kernel);
    mare_program_release(a);
}

/* One after the other in the order of their begin, but for what somebody waits for. */
static void takes_next_what_is_waited_for(void) {
    static const char *const names[] = { "a", "b", "c", "d" };
    mare_program *list[4];
    reset(true, 0);
    for (int i = 0; i < 4; i++) list[i] = begin(names[i], "int x;");
    await_running(1);
    CHECK(!is_done(list[3], 0));
    open_gate();
    CHECK(is_done(list[3], UINT64_MAX));
    for (int i = 0; i < 4; i++) {
        CHECK(is_done(list[i], UINT64_MAX));
        mare_program_release(list[i]);
    }
    CHECK_TEXT(gate.order, "adbc");
    CHECK_NUMBER(gate.most, 1);
}

static void fails_each_time(void) {
    int32_t done = 0;
    mare_kernel *kernel = NULL;
    reset(false, 0);
    open_gate();
    mare_program *a = begin("a", "#error stop");
    for (int i = 0; i < 2; i++) {
        CHECK_FAILS(mare_program_wait(a, UINT64_MAX, &done), MARE_ERROR_BUILD, "'a'", "stop");
        CHECK_NUMBER(done, 1);
    }
    CHECK_FAILS(mare_kernel_create(a, "f", &kernel), MARE_ERROR_BUILD, "'a'", "stop");
    CHECK_TEXT(mare_program_log(a), "");
    mare_program_release(a);
}

static void survives_exceptions(void) {
    int32_t done = 0;
    reset(true, 0);
    open_gate();
    mare_program *a = begin("a", "throw"), *b = begin("b", "int b;");
    CHECK_FAILS(mare_program_wait(a, UINT64_MAX, &done), MARE_ERROR_DEVICE, "'a'",
                "C++ exception");
    CHECK(is_done(b, UINT64_MAX));
    mare_program_release(a);
    mare_program_release(b);
    gate.running = 0;
}

static void drops_what_nobody_wants(void) {
    const uint64_t before = mare_live_objects();
    reset(true, 0);
    mare_program *a = begin("a", "int a;"), *b = begin("b", "int b;"), *c = begin("c", "int c;");
    await_running(1);
    mare_program_release(a);
    mare_program_release(b);
    CHECK_NUMBER(mare_program_pending(), 3);
    open_gate();
    CHECK(is_done(c, UINT64_MAX));
    mare_program_release(c);
    mare_program_settle();
    CHECK_TEXT(gate.order, "ac");
    CHECK_NUMBER(mare_program_pending(), 0);
    CHECK_NUMBER(mare_live_objects(), before);
}

/* Engines may close while others go on. */
static void settles_beside_others(void) {
    reset(true, 0);
    mare_program *a = begin("a", "int a;"), *b = begin("b", "int b;");
    await_running(1);
    mare_program_release(b);
    mare_program_settle();
    CHECK_NUMBER(mare_program_pending(), 1);
    open_gate();
    CHECK(is_done(a, UINT64_MAX));
    mare_program_release(a);
}

static void *wait_for(void *program) {
    return is_done(program, UINT64_MAX) ? program : NULL;
}

static void is_waited_for_by_many(void) {
    pthread_t threads[8];
    reset(false, 0);
    mare_program *a = begin("a", "int a;");
    for (int i = 0; i < 8; i++) CHECK(pthread_create(&threads[i], NULL, wait_for, a) == 0);
    open_gate();
    for (int i = 0; i < 8; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        CHECK(result == a);
    }
    mare_program_release(a);
}

static void compiles_without_threads(void) {
#ifdef HAS_NO_THREADS
    reset(false, 0);
    open_gate();
    no_threads = true;
    mare_program *a = begin("a", "int a;"), *b = begin("b", "int b;");
    CHECK(is_done(b, 0));
    CHECK_TEXT(gate.order, "b");
    mare_program_release(a);
    mare_program_settle();
    CHECK_TEXT(gate.order, "b");
    mare_program_release(b);
    no_threads = false;
#endif
}

static void compiles_many(void) {
    mare_program *list[MANY];
    reset(false, 0);
    open_gate();
    for (int i = 0; i < MANY; i++) list[i] = begin("many", i % 8 ? "int a;" : "#error no");
    for (int i = MANY - 1; i >= 0; i--) {
        int32_t done = 0;
        if (i % 5 == 0) CHECK(mare_program_wait(list[i], UINT64_MAX, &done) ==
                              (i % 8 ? MARE_OK : MARE_ERROR_BUILD));
        mare_program_release(list[i]);
    }
    mare_program_settle();
    CHECK_NUMBER(mare_program_pending(), 0);
}

static void loads_from_the_cache(void) {
    char folder[] = "/tmp/mare-compile-XXXXXX", command[64];
    CHECK(mkdtemp(folder) != NULL);
    setenv("MARE_CACHE", folder, 1);
    reset(false, 0);
    open_gate();
    mare_program *a = begin("a", "int kept;");
    CHECK(is_done(a, UINT64_MAX));
    CHECK_NUMBER(mare_program_cached(a), 0);
    mare_program_release(a);
    a = begin("a", "int kept;");
    CHECK_NUMBER(mare_program_cached(a), 1);
    CHECK_NUMBER(gate.finished, 1);
    mare_program_release(a);
    setenv("MARE_CACHE", "off", 1);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

/* ---- a program that somebody holds ---- */

static mare_program *create(const char *name, const char *source) {
    mare_program *program = NULL;
    CHECK_OK(mare_program_create(
        device, &(mare_program_desc){ .source = source, .name = name }, &program));
    return program;
}

static void gives_what_is_held(void) {
    const uint64_t before = mare_live_objects();
    reset(false, 0);
    mare_program *a = begin("a", "int a;"), *same = begin("a", "int a;");
    CHECK(a == same);
    CHECK_NUMBER(mare_program_pending(), 1);
    mare_program_release(a);
    open_gate();
    CHECK(is_done(same, UINT64_MAX));
    CHECK(create("a", "int a;") == same);
    mare_program *other = create("a", "int b;"), *third = create("b", "int a;");
    CHECK(other != same && third != same);
    CHECK_NUMBER(gate.finished, 3);
    mare_program_release(same);
    mare_program_release(same);
    mare_program_release(other);
    mare_program_release(third);
    CHECK_NUMBER(mare_live_objects(), before);
    mare_program_release(create("a", "int a;"));
    CHECK_NUMBER(gate.finished, 4);
}

/* Variables are of one program. */
static void gives_nobody_the_variables_of_another(void) {
    static const char variable[] = "extern \"C\" __device__ float x;";
    const mare_define space = { "SPACE", "__constant__" };
    const mare_program_desc plain = { .source = "int a;", .language = MARE_LANGUAGE_CUDA },
                            defined = { .source = "SPACE int a;", .defines = &space,
                                        .define_count = 1 };
    reset(false, 0);
    open_gate();
    const mare_program_desc list[] = {
        { .source = variable }, plain, defined,
        { .source = "void f(void) { static int n; n++; }" },
        { .source = "int a;", .options = "--device-as-default-execution-space" },
    };
    for (int i = 0; i < 5; i++) {
        mare_program *a = NULL, *b = NULL;
        CHECK_OK(mare_program_create(device, &list[i], &a));
        CHECK_OK(mare_program_create(device, &list[i], &b));
        CHECK(a != b);
        mare_program_release(a);
        mare_program_release(b);
    }
}

/* Who waits for one that fails is told; the next who asks lets it be compiled again. */
static void forgets_what_failed(void) {
    int32_t done = 0;
    reset(false, 0);
    mare_program *a = begin("a", "#error stop"), *same = begin("a", "#error stop");
    CHECK(a == same);
    open_gate();
    CHECK_FAILS(mare_program_wait(same, UINT64_MAX, &done), MARE_ERROR_BUILD, "'a'", "stop");
    mare_program *again = begin("a", "#error stop");
    CHECK(again != a);
    CHECK_FAILS(mare_program_wait(again, UINT64_MAX, &done), MARE_ERROR_BUILD, "'a'", "stop");
    CHECK_NUMBER(gate.finished, 2);
    mare_program_release(a);
    mare_program_release(same);
    mare_program_release(again);
}

/* One that nobody wanted any more, in the queue, is wanted again. */
static void takes_up_what_was_dropped(void) {
    reset(true, 0);
    mare_program *a = begin("a", "int a;"), *b = begin("b", "int b;");
    await_running(1);
    mare_program_release(b);
    CHECK(begin("b", "int b;") == b);
    open_gate();
    CHECK(is_done(b, UINT64_MAX));
    CHECK_TEXT(gate.order, "ab");
    mare_program_release(a);
    mare_program_release(b);
}

static void *ask_often(void *unused) {
    static const char *const texts[] = { "int a;", "int b;", "int c;" };
    for (int i = 0; i < 300; i++) {
        mare_program *program = i % 2 ? create("many", texts[i % 3]) : begin("many", texts[i % 3]);
        if (i % 5) CHECK(is_done(program, UINT64_MAX));
        mare_program_release(program);
    }
    return unused;
}

static void is_asked_for_by_many(void) {
    const uint64_t before = mare_live_objects();
    pthread_t threads[4];
    reset(false, 0);
    open_gate();
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, ask_often, NULL) == 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    mare_program_settle();
    CHECK_NUMBER(mare_program_pending(), 0);
    CHECK_NUMBER(mare_live_objects(), before);
}

/* What the descriptor points to is read before the call returns. */
static void refuses_at_once(void) {
    mare_program *program = NULL;
    int32_t done = 0;
    mare_program_desc desc = { .source = NULL, .name = "a" };
    CHECK_FAILS(mare_program_begin(NULL, &desc, &program), MARE_ERROR_ARGUMENT,
                "mare_program_begin");
    CHECK_FAILS(mare_program_begin(device, &desc, &program), MARE_ERROR_ARGUMENT, "source is NULL");
    CHECK(program == NULL);
    CHECK_FAILS(mare_program_wait(NULL, 0, &done), MARE_ERROR_ARGUMENT, "mare_program_wait");
    char text[] = "int early;";
    reset(false, 0);
    program = begin("a", text);
    strcpy(text, "#error");
    open_gate();
    CHECK(is_done(program, UINT64_MAX));
    mare_program_release(program);
}

int main(void) {
    setenv("MARE_CACHE", "off", 1);
    CHECK_OK(mare_device_open("null", &device));
    slow = mr_backend_null;
    slow.program_build = build;
    device->backend = &slow;
    compiles_side_by_side();
    waits_no_longer_than_asked();
    takes_next_what_is_waited_for();
    fails_each_time();
    survives_exceptions();
    drops_what_nobody_wants();
    settles_beside_others();
    is_waited_for_by_many();
    compiles_without_threads();
    compiles_many();
    loads_from_the_cache();
    gives_what_is_held();
    gives_nobody_the_variables_of_another();
    forgets_what_failed();
    takes_up_what_was_dropped();
    is_asked_for_by_many();
    refuses_at_once();
    mare_device_release(device);
    mare_program_settle();
    CHECK_NUMBER(mare_live_objects(), 0);
    return check_result();
}
