/* lifetime.c - opening and closing everything many times leaves nothing behind, and one device
 * serves many threads. */
#include "devices.h"
#include "resident.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CYCLES = 100, OPENINGS = 1000, GROWTH = 1 << 20, THREADS = 4, ROUNDS = 20, COUNT = 1000 };

static const char source[] = "MR_KERNEL void add(int n, int a, MR_GLOBAL int *x) { int i = "
                             "mr_gid_x(); if (i < n) x[i] += a; }\n";

static void use(mare_device *device, mare_program *program, bool runs) {
    mare_kernel *kernel = NULL;
    mare_launch *launch = NULL;
    mare_buffer *buffer = NULL;
    mare_stream *stream = NULL;
    int32_t values[COUNT];
    CHECK_OK(mare_stream_create(device, NULL, &stream));
    CHECK_OK(mare_kernel_create(program, "add", &kernel));
    CHECK_OK(mare_launch_create(kernel, &launch));
    CHECK_OK(mare_buffer_create(device,
                                &(mare_buffer_desc){ sizeof values, MARE_TYPE_INT32, 0, "x" },
                                &buffer));
    CHECK_OK(mare_buffer_fill(buffer, 0, sizeof values, "\0", 1, stream));
    CHECK_OK(mare_launch_set_int(launch, 0, COUNT));
    CHECK_OK(mare_launch_set_int(launch, 1, 3));
    CHECK_OK(mare_launch_set_buffer(launch, 2, buffer));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ COUNT, 1, 1 }, NULL));
    for (int i = 0; i < 5; i++) CHECK_OK(mare_launch_run(launch, stream));
    CHECK_OK(mare_buffer_download(buffer, 0, values, sizeof values, stream));
    CHECK_OK(mare_stream_wait(stream));
    CHECK(values[0] == (runs ? 15 : 0) && values[COUNT - 1] == values[0]);
    mare_kernel_release(kernel);
    mare_buffer_release(buffer);
    mare_launch_release(launch);
    mare_stream_release(stream);
}

static void cycle(const char *name, bool runs) {
    mare_device *device = NULL;
    mare_program *program = NULL;
    mare_event *event = NULL;
    mare_host *host = NULL;
    if (!CHECK_OK(mare_device_open(name, &device))) return;
    CHECK_OK(mare_program_create(device,
                                 &(mare_program_desc){ .source = source, .name = "add.krn" },
                                 &program));
    CHECK_OK(mare_event_create(device, &event));
    CHECK_OK(mare_host_create(device, 4096, "stage", &host));
    use(device, program, runs);
    CHECK_OK(mare_event_record(event, NULL));
    mare_device_release(device);
    mare_program_release(program);
    mare_host_release(host);
    mare_event_release(event);
}

typedef struct worker {
    pthread_t thread;
    mare_device *device;
    mare_program *program;
    bool runs;
} worker;

static void *work(void *argument) {
    worker *self = argument;
    for (int i = 0; i < ROUNDS; i++) use(self->device, self->program, self->runs);
    CHECK_FAILS(mare_device_wait(NULL), MARE_ERROR_ARGUMENT, "mare_device_wait");
    return NULL;
}

static void serves_threads(mare_device *device, bool runs) {
    mare_program *program = NULL;
    worker workers[THREADS];
    CHECK_OK(mare_program_create(device,
                                 &(mare_program_desc){ .source = source, .name = "add.krn" },
                                 &program));
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){ .device = device, .program = program, .runs = runs };
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
    mare_program_release(program);
}

static void *watch(void *event) {
    int32_t done = 0;
    while (mare_event_query(event, &done) != MARE_OK || !done) sched_yield();
    return NULL;
}

static void *begin(void *stream) { return mare_plan_begin(stream) == MARE_OK ? stream : NULL; }

/* One thread asks for an event that another records; of two that begin to record, one may. */
static void shares_streams_and_events(mare_device *device) {
    mare_event *event = NULL;
    mare_stream *stream = mare_device_stream(device);
    pthread_t other;
    void *began = NULL;
    CHECK_OK(mare_event_create(device, &event));
    CHECK(pthread_create(&other, NULL, watch, event) == 0);
    for (int i = 0; i < ROUNDS; i++) CHECK_OK(mare_event_record(event, stream));
    CHECK_OK(mare_stream_flush(stream));
    pthread_join(other, NULL);
    mare_event_release(event);
    CHECK(pthread_create(&other, NULL, begin, stream) == 0);
    bool here = begin(stream) != NULL;
    pthread_join(other, &began);
    CHECK(here != (began != NULL));
    CHECK_OK(mare_plan_end(stream, NULL, NULL));
}

/* No handle is left for the end of the recording. */
static void drops_recordings(const char *name) {
    uint64_t before = mare_live_objects();
    mare_device *device = NULL;
    CHECK_OK(mare_device_open(name, &device));
    CHECK_OK(mare_plan_begin(mare_device_stream(device)));
    mare_device_release(device);
    CHECK_NUMBER(mare_live_objects(), before);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* 1000 handles of a device, one after the other, each with a stream and memory in the pool. */
static void open_many(const char *name, int count) {
    for (int i = 0; i < count; i++) {
        mare_device *device = NULL;
        mare_stream *stream = NULL;
        mare_buffer *buffer = NULL;
        if (!CHECK_OK(mare_device_open(name, &device))) return;
        CHECK_OK(mare_stream_create(device, NULL, &stream));
        CHECK_OK(mare_buffer_create(device, &(mare_buffer_desc){ .size = 100000 }, &buffer));
        CHECK_OK(mare_buffer_fill(buffer, 0, 100000, "", 1, stream));
        mare_buffer_release(buffer);
        mare_stream_release(stream);
        mare_device_release(device);
    }
}

static void stays_flat(const char *name) {
    open_many(name, OPENINGS / 10);
    double start = now();
    long before = resident_bytes();
    open_many(name, OPENINGS);
    long growth = resident_bytes() - before;
    printf("%s: %ld bytes grown over %d openings of %.3f ms\n", name, growth, OPENINGS,
           1e3 * (now() - start) / OPENINGS);
    CHECK(growth < GROWTH);
}

/* In the child. A driver would wait there for its threads for ever. */
static int use_after_fork(mare_device *device, mare_buffer *buffer, const mare_device_info *info) {
    char byte = 1;
    mare_device *again = NULL;
    alarm(20);
    if (info->runs_kernels) {
        CHECK_FAILS(mare_buffer_upload(buffer, 0, &byte, 1, NULL), MARE_ERROR_LOST, "forked");
        CHECK_FAILS(mare_device_open(info->name, &again), MARE_ERROR_UNAVAILABLE, "forked");
        CHECK_FAILS(mare_device_open("auto", &again), MARE_ERROR_UNAVAILABLE, "forked");
    } else {
        CHECK_OK(mare_buffer_upload(buffer, 0, &byte, 1, NULL));
        CHECK_OK(mare_device_open(info->name, &again));
    }
    mare_device_release(again);
    mare_buffer_release(buffer);
    mare_device_release(device);
    fflush(NULL);
    return check_failures ? 1 : 0;
}

static void outlives_forks(const mare_device_info *info) {
    mare_device *device = NULL;
    mare_buffer *buffer = NULL;
    int status = 1;
    if (!CHECK_OK(mare_device_open(info->name, &device))) return;
    CHECK_OK(mare_buffer_create(device, &(mare_buffer_desc){ .size = 64 }, &buffer));
    CHECK_OK(mare_buffer_fill(buffer, 0, 64, "\0", 1, NULL));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(use_after_fork(device, buffer, info));
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK_OK(mare_buffer_fill(buffer, 0, 64, "\1", 1, NULL));
    CHECK_OK(mare_device_wait(device));
    mare_buffer_release(buffer);
    mare_device_release(device);
}

static void test(mare_device *device, const mare_device_info *info) {
    bool runs = info->runs_kernels;
    uint64_t before = mare_live_objects();
    double start = now();
    for (int i = 0; i < CYCLES; i++) {
        cycle(info->name, runs);
        CHECK_NUMBER(mare_live_objects(), before);
    }
    printf("%s: %d cycles of %.3f ms\n", info->name, CYCLES, 1e3 * (now() - start) / CYCLES);
    fflush(stdout);
    serves_threads(device, runs);
    shares_streams_and_events(device);
    drops_recordings(info->name);
    outlives_forks(info);
    stays_flat(info->name);
}

int part_lifetime(void) { return run_on_devices(test); }
