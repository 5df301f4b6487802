/* pool.c - memory that changes hands keeps the order: work queued on a buffer that was released
 * meanwhile never meets the data of the next owner, whatever streams the two are used on.
 *
 * The old owner's last work is slow, so that it would come too late if nobody waited for it.
 */
#include "devices.h"

enum { COUNT = 1 << 18, BYTES = 4 * COUNT, SPIN = 2000000, SEVEN = 7 };

static const char source[] =
    "MR_KERNEL void slow(int n, int rounds, MR_GLOBAL int *x) {\n"
    "    uint state = (uint)(mr_gid_x() + 1);\n"
    "    for (int i = 0; i < rounds; i++) state = state * 1664525u + 1013904223u;\n"
    "    for (int i = mr_gid_x(); i < n; i += 32) x[i] = (int)(state | 8u);\n"
    "}\n";

static int32_t values[COUNT];

typedef struct stage {
    mare_device *device;
    mare_launch *slow;
    mare_buffer *rest;              /* for the launch to hold when it is to let go of another */
    mare_stream *first, *second;
} stage;

static mare_buffer *make(mare_device *device, const char *label) {
    mare_buffer *buffer = NULL;
    const mare_buffer_desc desc = { BYTES, MARE_TYPE_INT32, 0, label };
    CHECK_OK(mare_buffer_create(device, &desc, &buffer));
    return buffer;
}

static mare_launch *make_launch(mare_device *device) {
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    mare_launch *launch = NULL;
    CHECK_OK(mare_program_create(
        device, &(mare_program_desc){ .source = source, .name = "slow.krn" }, &program));
    CHECK_OK(mare_kernel_create(program, "slow", &kernel));
    CHECK_OK(mare_launch_create(kernel, &launch));
    CHECK_OK(mare_launch_set_int(launch, 0, COUNT));
    CHECK_OK(mare_launch_set_int(launch, 1, SPIN));
    const uint32_t size[3] = { 32, 1, 1 };
    CHECK_OK(mare_launch_set_shape(launch, size, size));
    mare_kernel_release(kernel);
    mare_program_release(program);
    return launch;
}

static uint64_t idle_bytes(mare_device *device) {
    uint64_t in_use = 0, idle = 0;
    CHECK_OK(mare_device_pool(device, &in_use, &idle));
    return idle;
}

/* Queues slow work on an old owner and releases it; its memory waits for the next. */
static void leave_work(const stage *s, mare_stream *stream) {
    mare_buffer *old = make(s->device, "old");
    CHECK_OK(mare_launch_set_buffer(s->slow, 2, old));
    CHECK_OK(mare_launch_run(s->slow, stream));
    CHECK_OK(mare_stream_flush(stream));
    CHECK_OK(mare_launch_set_buffer(s->slow, 2, s->rest));
    CHECK_NUMBER(idle_bytes(s->device), 0);
    mare_buffer_release(old);
    CHECK_NUMBER(idle_bytes(s->device), BYTES);
}

static void expect_seven(const char *what) {
    for (int i = 0; i < COUNT; i++)
        if (values[i] != SEVEN) {
            CHECK_TEXT(what, "all are 7");
            return;
        }
}

/* The next owner is filled on `stream` while the old work still runs. */
static void take_over(const stage *s, mare_stream *stream, const char *what) {
    const int32_t seven = SEVEN;
    mare_buffer *next = make(s->device, what);
    CHECK_NUMBER(idle_bytes(s->device), 0);
    CHECK_OK(mare_buffer_fill(next, 0, BYTES, &seven, 4, stream));
    CHECK_OK(mare_stream_wait(stream));
    CHECK_OK(mare_device_wait(s->device));
    CHECK_OK(mare_buffer_download(next, 0, values, BYTES, stream));
    CHECK_OK(mare_stream_wait(stream));
    expect_seven(what);
    mare_buffer_release(next);
    CHECK_OK(mare_device_trim(s->device));
    CHECK_NUMBER(idle_bytes(s->device), 0);
}

static void passes_on(const stage *s) {
    leave_work(s, s->first);
    take_over(s, s->first, "same stream");
    leave_work(s, s->first);
    take_over(s, s->second, "other stream");
    leave_work(s, mare_device_stream(s->device));
    take_over(s, s->second, "after the default stream");
}

/* Nobody used the owner in between: the wait is inherited. */
static void passes_on_twice(const stage *s) {
    leave_work(s, s->first);
    mare_buffer_release(make(s->device, "between"));
    take_over(s, s->second, "second owner");
}

static void outlives_a_stream(const stage *s) {
    mare_stream *gone = NULL, *later = NULL;
    CHECK_OK(mare_stream_create(s->device, NULL, &gone));
    leave_work(s, gone);
    mare_stream_release(gone);
    take_over(s, s->second, "stream that went");
    CHECK_OK(mare_stream_create(s->device, NULL, &gone));
    leave_work(s, gone);
    mare_stream_release(gone);
    CHECK_OK(mare_stream_create(s->device, NULL, &later));  /* in the slot of the last */
    take_over(s, later, "stream in the place of another");
    mare_stream_release(later);
}

static bool has_ended(mare_event *event) {
    int32_t done = 0;
    CHECK_OK(mare_event_query(event, &done));
    return done != 0;
}

/* New memory is touched once: that touch does not wait for the work of a stream that went, but who
 * waits for the device does. On CPUs: what others do to allocate is the vendor's. */
static void leaves_work_behind(const stage *s, const mare_device_info *info) {
    mare_stream *gone = NULL;
    mare_event *end = NULL;
    if (info->kind != MARE_DEVICE_CPU || info->compute_units < 2) return;
    CHECK_OK(mare_stream_create(s->device, NULL, &gone));
    CHECK_OK(mare_event_create(s->device, &end));
    CHECK_OK(mare_launch_set_buffer(s->slow, 2, s->rest));
    CHECK_OK(mare_launch_set_int(s->slow, 1, 8 * SPIN));
    CHECK_OK(mare_launch_run(s->slow, gone));
    CHECK_OK(mare_event_record(end, gone));
    bool runs = !has_ended(end);    /* not with a driver that works while it queues */
    mare_stream_release(gone);
    CHECK_OK(mare_device_trim(s->device));
    mare_buffer_release(make(s->device, "fresh"));
    CHECK(!runs || !has_ended(end));
    CHECK_OK(mare_device_wait(s->device));
    CHECK(has_ended(end));
    CHECK_OK(mare_device_trim(s->device));
    CHECK_OK(mare_launch_set_int(s->slow, 1, SPIN));
    mare_event_release(end);
}

/* Memory that a stream left behind is not waited for in the work of the next one in its place. */
static void is_not_confused(const stage *s, const mare_device_info *info) {
    mare_stream *gone = NULL, *later = NULL;
    mare_event *end = NULL;
    const int32_t seven = SEVEN;
    if (info->kind != MARE_DEVICE_CPU || info->compute_units < 2) return;
    CHECK_OK(mare_stream_create(s->device, NULL, &gone));
    CHECK_OK(mare_event_create(s->device, &end));
    leave_work(s, gone);
    mare_stream_release(gone);
    CHECK_OK(mare_device_wait(s->device));
    CHECK_OK(mare_stream_create(s->device, NULL, &later));
    CHECK_OK(mare_launch_set_int(s->slow, 1, 8 * SPIN));
    CHECK_OK(mare_launch_run(s->slow, later));
    CHECK_OK(mare_event_record(end, later));
    bool runs = !has_ended(end);
    mare_buffer *next = make(s->device, "next");
    CHECK_OK(mare_buffer_fill(next, 0, BYTES, &seven, 4, s->second));
    CHECK_OK(mare_stream_wait(s->second));
    CHECK(!runs || !has_ended(end));
    CHECK_OK(mare_device_wait(s->device));
    mare_buffer_release(next);
    mare_stream_release(later);
    mare_event_release(end);
    CHECK_OK(mare_launch_set_int(s->slow, 1, SPIN));
    CHECK_OK(mare_device_trim(s->device));
}

static void replays(const stage *s) {
    mare_plan *plan = NULL;
    mare_buffer *old = make(s->device, "old");
    CHECK_OK(mare_launch_set_buffer(s->slow, 2, old));
    CHECK_OK(mare_plan_begin(s->first));
    CHECK_OK(mare_launch_run(s->slow, s->first));
    CHECK_OK(mare_plan_end(s->first, "slow", &plan));
    CHECK_OK(mare_plan_run(plan, 1, s->first));
    CHECK_OK(mare_stream_flush(s->first));
    mare_plan_release(plan);
    CHECK_OK(mare_launch_set_buffer(s->slow, 2, s->rest));
    mare_buffer_release(old);
    CHECK_NUMBER(idle_bytes(s->device), BYTES);
    take_over(s, s->second, "buffer of a plan");
}

/* More streams than are told apart: their memory goes back to the vendor, and all works. */
static void bears_many_streams(const stage *s) {
    enum { MANY = 70 };
    mare_stream *streams[MANY];
    const int32_t seven = SEVEN;
    for (int i = 0; i < MANY; i++) CHECK_OK(mare_stream_create(s->device, NULL, &streams[i]));
    mare_buffer *buffer = make(s->device, "many");
    for (int i = 0; i < MANY; i++) {
        CHECK_OK(mare_buffer_fill(buffer, 0, BYTES, &seven, 4, streams[i]));
        CHECK_OK(mare_stream_wait(streams[i]));
    }
    mare_buffer_release(buffer);
    CHECK_NUMBER(idle_bytes(s->device), 0);
    for (int i = 0; i < MANY; i++) mare_stream_release(streams[i]);
}

static void test(mare_device *device, const mare_device_info *info) {
    stage s = { device, make_launch(device), make(device, "rest"), NULL, NULL };
    CHECK_OK(mare_stream_create(device, NULL, &s.first));
    CHECK_OK(mare_stream_create(device, NULL, &s.second));
    passes_on(&s);
    passes_on_twice(&s);
    outlives_a_stream(&s);
    leaves_work_behind(&s, info);
    is_not_confused(&s, info);
    replays(&s);
    bears_many_streams(&s);
    mare_launch_release(s.slow);
    mare_buffer_release(s.rest);
    mare_stream_release(s.first);
    mare_stream_release(s.second);
}

int part_pool(void) { return run_on_devices(test); }
