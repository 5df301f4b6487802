/* profile.c - times of what ran, in the order in which it was queued. */
#include "devices.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { COUNT = 1 << 18, BYTES = 4 * COUNT, MANY = 3000, ROUNDS = 40 };

static const char source[] = "MR_KERNEL void scale(int n, float a, MR_GLOBAL float *x) {\n"
                             "    int i = mr_gid_x();\n"
                             "    if (i < n) x[i] *= a;\n"
                             "}\n";

static mare_launch *bind(mare_device *device, mare_buffer *x) {
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    mare_launch *launch = NULL;
    CHECK_OK(mare_program_create(
        device, &(mare_program_desc){ .source = source, .name = "scale.krn" }, &program));
    CHECK_OK(mare_kernel_create(program, "scale", &kernel));
    CHECK_OK(mare_launch_create(kernel, &launch));
    CHECK_OK(mare_launch_set_int(launch, 0, COUNT));
    CHECK_OK(mare_launch_set_real(launch, 1, 1));
    CHECK_OK(mare_launch_set_buffer(launch, 2, x));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ COUNT, 1, 1 }, NULL));
    CHECK_OK(mare_launch_set_bytes(launch, 2 * BYTES));
    mare_kernel_release(kernel);
    mare_program_release(program);
    return launch;
}

/* The next record must be this one; returns when it ended. */
static double next(mare_device *device, const char *name, const char *stream, uint64_t bytes,
                   double after) {
    mare_profile_record record;
    int32_t found = 0;
    CHECK_OK(mare_profile_next(device, &record, &found));
    if (!CHECK(found)) return after;
    CHECK_TEXT(record.name, name);
    CHECK_TEXT(record.stream, stream);
    CHECK_NUMBER(record.bytes, bytes);
    CHECK_NUMBER(record.is_kernel, !strcmp(name, "scale"));
    CHECK(record.start_ms >= after && record.stop_ms >= record.start_ms);
    CHECK(record.stop_ms < 60000);
    return record.stop_ms;
}

static void nothing_left(mare_device *device) {
    mare_profile_record record;
    int32_t found = 1;
    CHECK_OK(mare_profile_next(device, &record, &found));
    CHECK_NUMBER(found, 0);
}

static void records_in_order(mare_device *device, mare_buffer *x, mare_launch *launch) {
    float *data = calloc(COUNT, 4);
    mare_stream *stream = NULL;
    mare_plan *plan = NULL;
    CHECK(data != NULL);
    CHECK_OK(mare_stream_create(device, &(mare_stream_desc){ 0, "mine" }, &stream));
    CHECK_OK(mare_profile_begin(device));
    CHECK_FAILS(mare_profile_begin(device), MARE_ERROR_ARGUMENT, "already");
    data[COUNT - 1] = 5;
    CHECK_OK(mare_buffer_upload(x, 0, data, BYTES, NULL));
    CHECK_OK(mare_plan_begin(stream));
    CHECK_OK(mare_buffer_fill(x, 4, 8, "\0", 1, stream));
    CHECK_OK(mare_launch_run(launch, stream));
    CHECK_OK(mare_plan_end(stream, NULL, &plan));
    CHECK_OK(mare_plan_run(plan, 2, stream));
    CHECK_OK(mare_stream_wait(stream));
    data[COUNT - 1] = 0;
    CHECK_OK(mare_buffer_download(x, 0, data, BYTES, NULL));
    CHECK_NUMBER(data[COUNT - 1], 5);
    nothing_left(device);
    CHECK_OK(mare_profile_end(device));
    double time = next(device, "upload", "default", BYTES, 0);
    for (int i = 0; i < 2; i++) {
        time = next(device, "fill", "mine", 8, time);
        time = next(device, "scale", "mine", 2 * BYTES, time);
    }
    next(device, "download", "default", BYTES, time);
    nothing_left(device);
    mare_plan_release(plan);
    mare_stream_release(stream);
    free(data);
}

/* More pieces than events at a time; begun anew it forgets the others. */
static void records_many(mare_device *device, mare_buffer *x) {
    double time = 0;
    CHECK_OK(mare_profile_begin(device));
    CHECK_OK(mare_buffer_fill(x, 0, 4, "\0", 1, NULL));
    CHECK_OK(mare_profile_end(device));
    CHECK_FAILS(mare_profile_end(device), MARE_ERROR_ARGUMENT, "not profiled");
    CHECK_OK(mare_profile_begin(device));
    for (uint64_t i = 1; i <= MANY; i++) CHECK_OK(mare_buffer_fill(x, 0, i, "\0", 1, NULL));
    CHECK_OK(mare_profile_end(device));
    CHECK_OK(mare_buffer_fill(x, 0, 4, "\0", 1, NULL));
    for (uint64_t i = 1; i <= MANY; i++) time = next(device, "fill", "default", i, time);
    nothing_left(device);
    CHECK_OK(mare_profile_begin(device)); /* and left running when the device goes */
}

typedef struct worker {
    mare_device *device;
    mare_launch *launch;
    atomic_bool stop;
    mare_status status;
} worker;

static void *work(void *context) {
    worker *mine = context;
    mare_stream *stream = NULL;
    mine->status = mare_stream_create(mine->device, NULL, &stream);
    while (mine->status == MARE_OK && !atomic_load(&mine->stop)) {
        mine->status = mare_launch_run(mine->launch, stream);
        if (mine->status == MARE_OK) mine->status = mare_stream_wait(stream);
    }
    mare_stream_release(stream);
    return NULL;
}

/* Profiles begin, end and are read while another thread works; times stay in order. */
static void records_beside_threads(mare_device *device, mare_launch *launch) {
    worker other = { .device = device, .launch = launch };
    mare_profile_record record;
    pthread_t thread;
    int32_t found = 0;
    if (!CHECK(pthread_create(&thread, NULL, work, &other) == 0)) return;
    for (int i = 0; i < ROUNDS; i++) {
        double before = 0;
        CHECK_OK(mare_profile_begin(device));
        usleep(500);
        CHECK_OK(mare_profile_end(device));
        CHECK_OK(mare_profile_next(device, &record, &found));
        for (; found; before = record.start_ms) {
            CHECK_TEXT(record.name, "scale");
            CHECK(record.start_ms >= before && record.stop_ms >= record.start_ms);
            CHECK_OK(mare_profile_next(device, &record, &found));
        }
    }
    atomic_store(&other.stop, true);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_NUMBER(other.status, MARE_OK);
}

static void test(mare_device *device, const mare_device_info *info) {
    mare_buffer *x = NULL;
    (void)info;
    CHECK_OK(mare_buffer_create(device, &(mare_buffer_desc){ BYTES, MARE_TYPE_FLOAT, 0, "x" }, &x));
    mare_launch *launch = bind(device, x);
    records_in_order(device, x, launch);
    records_beside_threads(device, launch);
    records_many(device, x);
    mare_launch_release(launch);
    mare_buffer_release(x);
}

int part_profile(void) { return run_on_devices(test); }
