/* plans.c - recorded work: nothing runs before its time, replays follow the launches as they are
 * then, plans nest and hold what they need. */
#include "devices.h"

enum { COUNT = 1000, BYTES = 4 * COUNT };

static const char source[] =
    "MR_KERNEL void add(int n, int a, MR_GLOBAL int *x) {\n"
    "    int i = mr_gid_x();\n"
    "    if (i < n) x[i] += a;\n"
    "}\n";
enum { N, A, X };

static mare_device *device;
static mare_stream *stream;
static mare_launch *add;
static bool runs_kernels;

static mare_buffer *make(const char *label) {
    mare_buffer *buffer = NULL;
    CHECK_OK(mare_buffer_create(
        device, &(mare_buffer_desc){ BYTES, MARE_TYPE_INT32, 0, label }, &buffer));
    CHECK_OK(mare_buffer_fill(buffer, 0, BYTES, "\0", 1, NULL));
    CHECK_OK(mare_device_wait(device));
    return buffer;
}

static mare_launch *bind(mare_buffer *x, int a) {
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    mare_launch *launch = NULL;
    CHECK_OK(mare_program_create(
        device, &(mare_program_desc){ .source = source, .name = "add.krn" }, &program));
    CHECK_OK(mare_kernel_create(program, "add", &kernel));
    CHECK_OK(mare_launch_create(kernel, &launch));
    CHECK_OK(mare_launch_set_int(launch, N, COUNT));
    CHECK_OK(mare_launch_set_int(launch, A, a));
    CHECK_OK(mare_launch_set_buffer(launch, X, x));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ COUNT, 1, 1 }, NULL));
    mare_kernel_release(kernel);
    mare_program_release(program);
    return launch;
}

/* What element i of x holds once the stream is idle. */
static int value(mare_buffer *x, uint64_t i) {
    int32_t out = -1;
    CHECK_OK(mare_stream_wait(stream));
    CHECK_OK(mare_buffer_download(x, 4 * i, &out, 4, NULL));
    return out;
}

/* With kernels that run the sum is `expected`, without them nothing has happened. */
#define CHECK_SUM(x, i, expected) CHECK_NUMBER(value(x, i), runs_kernels ? (expected) : 0)

static mare_plan *end(const char *label) {
    mare_plan *plan = NULL;
    CHECK_OK(mare_plan_end(stream, label, &plan));
    return plan;
}

static void replays_transfers(void) {
    mare_buffer *a = make("a"), *b = make("b");
    mare_host *host = NULL;
    CHECK_OK(mare_host_create(device, 2 * BYTES, "pinned", &host));
    int32_t *in = mare_host_data(host), *out = in + COUNT;
    memset(in, 0, 2 * BYTES);
    CHECK_OK(mare_plan_begin(stream));
    CHECK_OK(mare_buffer_upload(a, 0, in, BYTES, stream));
    CHECK_OK(mare_buffer_fill(a, 8, 8, (int32_t[]){ 5, 6 }, 8, stream));
    CHECK_OK(mare_buffer_copy(b, 0, a, 4, BYTES - 4, stream));
    CHECK_OK(mare_buffer_download(b, 0, out, BYTES, stream));
    mare_plan *plan = end("transfers");
    for (int i = 0; i < COUNT; i++) in[i] = 100 + i;
    CHECK_NUMBER(value(a, 2), 0);
    CHECK_NUMBER(out[0], 0);
    mare_buffer_release(a);
    for (int round = 1; round <= 3; round++) {
        in[1] = round;
        CHECK_OK(mare_plan_run(plan, 1, stream));
        CHECK_OK(mare_stream_wait(stream));
        CHECK(out[0] == round && out[1] == 5 && out[2] == 6 && out[3] == 104);
        CHECK_NUMBER(out[COUNT - 2], 100 + COUNT - 1);
    }
    mare_plan_release(plan);
    mare_host_release(host);
    mare_buffer_release(b);
}

static void follows_its_launches(void) {
    mare_buffer *x = make("x"), *y = make("y");
    CHECK_OK(mare_launch_set_buffer(add, X, x));
    CHECK_OK(mare_launch_set_int(add, A, 1));
    CHECK_OK(mare_plan_begin(stream));
    CHECK_OK(mare_launch_run(add, stream));
    CHECK_OK(mare_launch_run(add, stream));
    mare_plan *plan = end("twice");
    CHECK_OK(mare_plan_run(plan, 0, stream));
    CHECK_NUMBER(value(x, 0), 0);
    CHECK_OK(mare_plan_run(plan, 3, stream));
    CHECK_SUM(x, COUNT - 1, 6);
    *(int32_t *)mare_launch_scalar(add, A) = 10;
    CHECK_OK(mare_plan_run(plan, 1, stream));
    CHECK_SUM(x, 0, 26);
    CHECK_OK(mare_launch_set_buffer(add, X, y));
    CHECK_OK(mare_plan_run(plan, 1, NULL));
    CHECK_OK(mare_device_wait(device));
    CHECK_SUM(x, 0, 26);
    CHECK_SUM(y, 0, 20);
    CHECK_OK(mare_launch_set_shape(add, (uint32_t[3]){ 16, 1, 1 }, (uint32_t[3]){ 16, 1, 1 }));
    CHECK_OK(mare_plan_run(plan, 1, stream));
    CHECK_SUM(y, 15, 40);
    CHECK_SUM(y, 16, 20);
    CHECK_OK(mare_launch_set_shape(add, (uint32_t[3]){ COUNT, 1, 1 }, NULL));
    mare_plan_release(plan);
    mare_buffer_release(x);
    mare_buffer_release(y);
}

static void nests(void) {
    mare_buffer *x = make("x");
    mare_plan *empty = NULL;
    CHECK_OK(mare_launch_set_buffer(add, X, x));
    CHECK_OK(mare_launch_set_int(add, A, 1));
    CHECK_OK(mare_plan_begin(stream));
    empty = end(NULL);
    CHECK_OK(mare_plan_run(empty, 7, stream));
    CHECK_OK(mare_plan_begin(stream));
    CHECK_OK(mare_launch_run(add, stream));
    mare_plan *inner = end("inner");
    CHECK_OK(mare_plan_begin(stream));
    CHECK_OK(mare_buffer_fill(x, 0, BYTES, "\0", 1, stream));
    CHECK_OK(mare_plan_run(inner, 5, stream));
    CHECK_OK(mare_plan_run(empty, 1, stream));
    CHECK_OK(mare_launch_run(add, stream));
    mare_plan *outer = end("outer");
    mare_plan_release(inner);
    mare_plan_release(empty);
    CHECK_OK(mare_plan_run(outer, 0, stream));
    CHECK_SUM(x, 0, 0);
    CHECK_OK(mare_plan_run(outer, 2, stream));
    CHECK_SUM(x, 0, 6);
    CHECK_OK(mare_launch_set_int(add, A, 2));
    CHECK_OK(mare_plan_run(outer, 1, stream));
    CHECK_SUM(x, 0, 12);
    mare_plan_release(outer);
    mare_buffer_release(x);
}

/* Each plan holds nothing but the one before it. */
static void nests_64_deep(void) {
    enum { MOST = 64 };
    mare_buffer *x = make("x");
    CHECK_OK(mare_plan_begin(stream));
    CHECK_OK(mare_buffer_fill(x, 0, BYTES, (int32_t[]){ 7 }, 4, stream));
    mare_plan *plan = end("deep");
    for (int depth = 1; depth <= MOST; depth++) {
        mare_plan *inner = plan;
        CHECK_OK(mare_plan_begin(stream));
        CHECK_OK(mare_plan_run(inner, 1, stream));
        plan = end("deep");
        mare_plan_release(inner);
    }
    CHECK_OK(mare_plan_begin(stream));
    CHECK_FAILS(mare_plan_run(plan, 1, stream), MARE_ERROR_ARGUMENT, "plan 'deep'", "64 deep");
    mare_plan_release(end(NULL));
    CHECK_OK(mare_plan_run(plan, 1, stream));
    CHECK_NUMBER(value(x, 0), 7);
    mare_plan_release(plan);
    mare_buffer_release(x);
}

/* Events recorded by a plan order streams and tell times like any others. */
static void records_events(void) {
    mare_buffer *x = make("x"), *y = make("y");
    mare_event *start = NULL, *stop = NULL, *between = NULL;
    double ms = -1;
    CHECK_OK(mare_event_create(device, &start));
    CHECK_OK(mare_event_create(device, &stop));
    CHECK_OK(mare_event_create(device, &between));
    CHECK_OK(mare_plan_begin(stream));
    CHECK_OK(mare_event_record(start, stream));
    for (int i = 0; i < 20; i++) CHECK_OK(mare_buffer_copy(y, 0, x, 0, BYTES, stream));
    CHECK_OK(mare_event_record(stop, stream));
    mare_plan *plan = end("timed");
    CHECK_FAILS(mare_event_wait(stop), MARE_ERROR_ARGUMENT, "never recorded");
    CHECK_OK(mare_buffer_fill(x, 0, BYTES, (int32_t[]){ 9 }, 4, stream));
    CHECK_OK(mare_plan_run(plan, 1, stream));
    CHECK_OK(mare_stream_wait_event(mare_device_stream(device), stop));
    int32_t out = 0;
    CHECK_OK(mare_buffer_download(y, 0, &out, 4, NULL));
    CHECK_NUMBER(out, 9);
    CHECK_OK(mare_event_elapsed_ms(start, stop, &ms));
    CHECK(ms > 0 && ms < 10000);
    CHECK_OK(mare_event_record(between, stream));
    CHECK_OK(mare_plan_run(plan, 2, stream));
    CHECK_OK(mare_event_elapsed_ms(between, start, &ms));
    CHECK(ms >= 0); /* recorded anew */
    mare_plan_release(plan);
    mare_event_release(between);
    mare_event_release(start);
    mare_event_release(stop);
    mare_buffer_release(x);
    mare_buffer_release(y);
}

static void waits_for_events(void) {
    mare_buffer *x = make("x"), *y = make("y");
    mare_event *filled = NULL;
    CHECK_OK(mare_event_create(device, &filled));
    CHECK_OK(mare_event_record(filled, NULL));
    CHECK_OK(mare_plan_begin(stream));
    CHECK_OK(mare_stream_wait_event(stream, filled));
    CHECK_OK(mare_buffer_copy(y, 0, x, 0, BYTES, stream));
    mare_plan *plan = end("consumer");
    for (int32_t round = 1; round <= 20; round++) {
        CHECK_OK(mare_buffer_fill(x, 0, BYTES, &round, 4, NULL));
        CHECK_OK(mare_event_record(filled, NULL));
        CHECK_OK(mare_plan_run(plan, 1, stream));
        CHECK_NUMBER(value(y, COUNT - 1), round);
    }
    mare_plan_release(plan);
    mare_event_release(filled);
    mare_buffer_release(x);
    mare_buffer_release(y);
}

/* x goes from the main branch to y in another and back to z; every round is ordered by the events
 * alone, and what follows the plan by the plan. A nested plan runs in the branch that it is in. */
static void branches_to(mare_stream *other, mare_device *second) {
    mare_buffer *x = make("x"), *z = make("z"), *y = NULL;
    mare_event *filled = NULL, *copied = NULL;
    mare_plan *inner = NULL, *plan = NULL;
    CHECK_OK(mare_buffer_create(second, &(mare_buffer_desc){ BYTES, MARE_TYPE_INT32, 0, "y" }, &y));
    CHECK_OK(mare_event_create(device, &filled));
    CHECK_OK(mare_event_create(second, &copied));
    CHECK_OK(mare_plan_begin(other));
    CHECK_OK(mare_buffer_copy(y, 0, x, 0, BYTES, other));
    CHECK_OK(mare_plan_end(other, "inner", &inner));
    CHECK_OK(mare_plan_begin(stream));
    CHECK_OK(mare_plan_join(stream, other));
    CHECK_OK(mare_launch_run(add, stream));
    CHECK_OK(mare_event_record(filled, stream));
    CHECK_OK(mare_stream_wait_event(other, filled));
    CHECK_OK(mare_plan_run(inner, 1, other));
    CHECK_OK(mare_event_record(copied, other));
    CHECK_OK(mare_stream_wait_event(stream, copied));
    CHECK_OK(mare_buffer_copy(z, 0, y, 0, BYTES, stream));
    CHECK_OK(mare_buffer_fill(y, 0, 4, "\3\0\0", 4, other));
    plan = end("branches");
    CHECK_OK(mare_launch_set_buffer(add, X, x));
    CHECK_OK(mare_launch_set_int(add, A, 2));
    CHECK_OK(mare_buffer_fill(x, 0, BYTES, "\1\0\0", 4, stream));
    for (uint32_t round = 1; round <= 3; round++) {
        CHECK_OK(mare_plan_run(plan, round, stream));
        CHECK_OK(mare_buffer_copy(x, 0, z, 0, BYTES, stream));
    }
    CHECK_NUMBER(value(z, COUNT - 1), runs_kernels ? 13 : 1);
    CHECK_OK(mare_plan_begin(stream));
    CHECK_FAILS(mare_plan_run(plan, 1, stream), MARE_ERROR_ARGUMENT, "'branches'", "part of");
    CHECK_OK(mare_plan_join(stream, other));
    CHECK_FAILS(mare_plan_join(stream, other), MARE_ERROR_ARGUMENT, "already");
    CHECK_FAILS(mare_plan_end(other, NULL, NULL), MARE_ERROR_ARGUMENT, "has joined");
    CHECK_FAILS(mare_stream_wait(other), MARE_ERROR_ARGUMENT, "recording");
    CHECK_OK(mare_plan_end(stream, NULL, NULL));
    CHECK_FAILS(mare_plan_join(stream, other), MARE_ERROR_ARGUMENT, "begun no recording");
    CHECK_OK(mare_plan_begin(other));
    CHECK_FAILS(mare_plan_run(plan, 1, stream), MARE_ERROR_ARGUMENT, "'branches'", "branch");
    CHECK_OK(mare_plan_end(other, NULL, NULL));
    mare_plan_release(inner);
    mare_plan_release(plan);
    mare_event_release(filled);
    mare_event_release(copied);
    mare_buffer_release(x);
    mare_buffer_release(y);
    mare_buffer_release(z);
}

/* A second stream, one of a second handle, and one of the next CUDA device if that is a peer. */
static void branches(const mare_device_info *info) {
    mare_stream *other = NULL;
    mare_device *second = NULL;
    int index = 0;
    int32_t can = 0;
    char name[32];
    CHECK_OK(mare_stream_create(device, NULL, &other));
    branches_to(other, device);
    mare_stream_release(other);
    CHECK_OK(mare_device_open(info->name, &second));
    CHECK_OK(mare_device_reach(device, second));
    CHECK_OK(mare_device_reach(second, device));
    branches_to(mare_device_stream(second), second);
    mare_device_release(second);
    if (sscanf(info->name, "cuda:%d", &index) != 1 || index + 1 >= mare_device_count("cuda"))
        return;
    snprintf(name, sizeof name, "cuda:%d", index + 1);
    CHECK_OK(mare_device_open(name, &second));
    CHECK_OK(mare_device_can_reach(device, second, &can));
    if (can && CHECK_OK(mare_device_reach(device, second)) &&
        CHECK_OK(mare_device_reach(second, device)))
        branches_to(mare_device_stream(second), second);
    mare_device_release(second);
}

static void refuses_what_waits(mare_buffer *x) {
    int32_t word = 0;
    mare_stream *own = mare_device_stream(device);
    CHECK_OK(mare_plan_begin(own));
    CHECK_FAILS(mare_plan_begin(own), MARE_ERROR_ARGUMENT, "'default'", "already");
    CHECK_FAILS(mare_stream_wait(own), MARE_ERROR_ARGUMENT, "'default'", "wait", "recording");
    CHECK_FAILS(mare_stream_flush(own), MARE_ERROR_ARGUMENT, "'default'", "flush", "recording");
    CHECK_FAILS(mare_buffer_upload(x, 0, &word, 4, NULL), MARE_ERROR_ARGUMENT, "'x'", "'default'",
                "recording");
    CHECK_FAILS(mare_buffer_download(x, 0, &word, 4, NULL), MARE_ERROR_ARGUMENT, "'x'",
                "give it the stream");
    CHECK_OK(mare_plan_end(own, NULL, NULL));
    CHECK_FAILS(mare_plan_end(own, NULL, NULL), MARE_ERROR_ARGUMENT, "'default'", "not recording");
    CHECK_FAILS(mare_plan_begin(NULL), MARE_ERROR_ARGUMENT, "stream is NULL");
    CHECK_FAILS(mare_plan_run(NULL, 1, NULL), MARE_ERROR_ARGUMENT, "plan is NULL");
}

static void refuses_other_devices(mare_buffer *x) {
    mare_device *other = NULL;
    mare_buffer *far = NULL;
    mare_plan *plan = NULL;
    CHECK_OK(mare_device_open("null:0", &other));
    CHECK_OK(mare_buffer_create(other, &(mare_buffer_desc){ BYTES, 0, 0, "far" }, &far));
    CHECK_OK(mare_plan_begin(stream));
    CHECK_FAILS(mare_buffer_copy(x, 0, far, 0, BYTES, stream), MARE_ERROR_ARGUMENT, "'x'", "'far'",
                "cannot record");
    plan = end("here");
    CHECK_FAILS(mare_plan_run(plan, 1, mare_device_stream(other)), MARE_ERROR_ARGUMENT, "'here'",
                "'default'");
    CHECK_OK(mare_plan_begin(stream));
    CHECK_OK(mare_buffer_fill(x, 0, BYTES, "\0", 1, stream));
    mare_plan *one = end("one");
    CHECK_OK(mare_plan_begin(stream));
    CHECK_FAILS(mare_plan_run(one, 2000000, stream), MARE_ERROR_ARGUMENT, "2000000 operations");
    mare_plan_release(end(NULL));
    mare_plan_release(one);
    mare_plan_release(plan);
    mare_buffer_release(far);
    mare_device_release(other);
}

/* Handles go while the plan is queued, a stream while it records. */
static void outlives_handles(mare_buffer *x) {
    mare_stream *brief = NULL;
    mare_launch *launch = bind(x, 3);
    CHECK_OK(mare_buffer_fill(x, 0, BYTES, "\0", 1, stream));
    CHECK_OK(mare_plan_begin(stream));
    CHECK_OK(mare_launch_run(launch, stream));
    mare_plan *plan = end("brief");
    mare_launch_release(launch);
    CHECK_OK(mare_plan_run(plan, 4, stream));
    mare_plan_release(plan);
    CHECK_SUM(x, 0, 12);
    CHECK_OK(mare_stream_create(device, NULL, &brief));
    CHECK_OK(mare_plan_begin(brief));
    CHECK_OK(mare_buffer_fill(x, 0, BYTES, "\1", 1, brief));
    mare_stream_release(brief);
    CHECK_SUM(x, 0, 12);
}

static void test(mare_device *opened, const mare_device_info *info) {
    device = opened;
    runs_kernels = info->runs_kernels;
    CHECK_OK(mare_stream_create(device, &(mare_stream_desc){ 0, "plans" }, &stream));
    mare_buffer *x = make("x");
    add = bind(x, 1);
    replays_transfers();
    follows_its_launches();
    nests();
    nests_64_deep();
    records_events();
    waits_for_events();
    branches(info);
    refuses_what_waits(x);
    refuses_other_devices(x);
    outlives_handles(x);
    mare_launch_release(add);
    mare_buffer_release(x);
    mare_stream_release(stream);
}

int part_plans(void) { return run_on_devices(test); }
