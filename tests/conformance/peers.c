/* peers.c - memory of another device: which buffers are taken, copies without the host, and what is
 * released while a peer works on it. A second handle on each device is its peer, and so are, where
 * there are several, the next CUDA device and its memory; and memory of another process. */
#include "devices.h"

#include <unistd.h>

enum { COUNT = 4000, BYTES = 4 * COUNT, ROUNDS = 30 };

static const char source[] =
    "MR_KERNEL void add(int n, MR_GLOBAL const int *x, MR_GLOBAL int *y) {\n"
    "    int i = mr_gid_x();\n"
    "    if (i < n) y[i] += x[i];\n"
    "}\n";

static int32_t values[COUNT];

static mare_buffer *make(mare_device *device, const char *label, int32_t value) {
    mare_buffer *buffer = NULL;
    CHECK_OK(mare_buffer_create(
        device, &(mare_buffer_desc){ BYTES, MARE_TYPE_INT32, 0, label }, &buffer));
    CHECK_OK(mare_buffer_fill(buffer, 0, BYTES, &value, 4, NULL));
    CHECK_OK(mare_device_wait(device));
    return buffer;
}

static mare_launch *bind(mare_device *device) {
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    mare_launch *launch = NULL;
    CHECK_OK(mare_program_create(
        device, &(mare_program_desc){ .source = source, .name = "add.krn" }, &program));
    CHECK_OK(mare_kernel_create(program, "add", &kernel));
    CHECK_OK(mare_launch_create(kernel, &launch));
    CHECK_OK(mare_launch_set_int(launch, 0, COUNT));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ COUNT, 1, 1 }, NULL));
    mare_kernel_release(kernel);
    mare_program_release(program);
    return launch;
}

/* All elements once `stream` is idle. */
static bool holds(mare_buffer *buffer, mare_stream *stream, int32_t value) {
    CHECK_OK(mare_stream_wait(stream));
    CHECK_OK(mare_buffer_download(buffer, 0, values, BYTES, NULL));
    for (int i = 0; i < COUNT; i++)
        if (values[i] != value) return false;
    return true;
}

/* Before and after, and only in one direction. */
static void takes_buffers(mare_device *device, mare_device *peer, mare_launch *launch) {
    mare_buffer *far = make(peer, "far", 1), *near = make(device, "near", 1);
    mare_call *call = NULL;
    mare_launch *other = bind(peer);
    const mare_call_desc desc = { .label = "c", .function = (mare_call_function)abort,
                                  .buffers = &far, .buffer_count = 1 };
    CHECK_FAILS(mare_launch_set_buffer(launch, 1, far), MARE_ERROR_ARGUMENT, "'far'", "another");
    CHECK_FAILS(mare_call_create(device, &desc, &call), MARE_ERROR_ARGUMENT, "'far'", "another");
    CHECK_OK(mare_device_reach(device, peer));
    CHECK_OK(mare_device_reach(device, peer));
    CHECK_OK(mare_launch_set_buffer(launch, 1, far));
    CHECK_OK(mare_call_create(device, &desc, &call));
    CHECK_FAILS(mare_launch_set_buffer(other, 1, near), MARE_ERROR_ARGUMENT, "'near'", "another");
    mare_call_release(call);
    mare_launch_release(other);
    mare_buffer_release(far);
    mare_buffer_release(near);
}

/* The kernel reads what the peer has just filled and adds to what the peer then downloads. */
static void computes(mare_device *device, mare_device *peer, mare_launch *launch, bool runs) {
    mare_stream *stream = NULL, *own = mare_device_stream(peer);
    mare_event *filled = NULL, *added = NULL;
    mare_buffer *x = make(peer, "x", 0), *y = make(peer, "y", 0);
    CHECK_OK(mare_stream_create(device, NULL, &stream));
    CHECK_OK(mare_event_create(peer, &filled));
    CHECK_OK(mare_event_create(device, &added));
    CHECK_OK(mare_launch_set_buffer(launch, 1, x));
    CHECK_OK(mare_launch_set_buffer(launch, 2, y));
    int32_t sum = 0;
    for (int32_t i = 1; i <= ROUNDS; i++) {
        CHECK_OK(mare_buffer_fill(x, 0, BYTES, &i, 4, own));
        CHECK_OK(mare_event_record(filled, own));
        CHECK_OK(mare_stream_wait_event(stream, filled));
        CHECK_OK(mare_launch_run(launch, stream));
        CHECK_OK(mare_event_record(added, stream));
        CHECK_OK(mare_stream_wait_event(own, added));
        sum += i;
    }
    CHECK(holds(y, own, runs ? sum : 0));
    mare_event_release(filled);
    mare_event_release(added);
    mare_stream_release(stream);
    mare_buffer_release(x);
    mare_buffer_release(y);
}

/* Queued, in both directions, rows and boxes, and in plans, which take nothing that waits. */
static void copies(mare_device *device, mare_device *peer) {
    mare_stream *stream = mare_device_stream(device);
    mare_plan *plan = NULL;
    mare_buffer *far = make(peer, "far", 5), *near = make(device, "near", 0);
    mare_buffer *back = make(peer, "back", 0);
    const mare_region box = { .width = 8, .height = 10, .depth = 3,
                              .dst_offset = 16, .dst_pitch = 64, .dst_slice = 640,
                              .src_offset = 4, .src_pitch = 32, .src_slice = 320 };
    CHECK_OK(mare_plan_begin(stream));
    CHECK_OK(mare_buffer_copy(near, 0, far, 0, BYTES, stream));
    CHECK_OK(mare_buffer_copy(back, 0, near, 0, BYTES, stream));
    CHECK_OK(mare_plan_end(stream, "there and back", &plan));
    CHECK_OK(mare_plan_run(plan, 1, stream));
    CHECK_OK(mare_stream_wait(stream));
    CHECK(holds(back, mare_device_stream(peer), 5));
    CHECK_OK(mare_buffer_fill(near, 0, BYTES, "\0", 1, NULL));
    CHECK_OK(mare_buffer_copy_region(near, far, &box, NULL));
    CHECK_OK(mare_buffer_download(near, 0, values, BYTES, NULL));
    for (int i = 0; i < COUNT; i++) {
        const int at = 4 * i - 16, z = at / 640, y = at % 640 / 64, x = at % 64;
        const bool inside = at >= 0 && z < 3 && y < 10 && x < 8;
        if (!CHECK(values[i] == (inside ? 5 : 0))) break;
    }
    mare_plan_release(plan);
    mare_buffer_release(back);
    mare_buffer_release(near);
    mare_buffer_release(far);
}

/* The peer's memory goes while the device still works on it, and comes back as another buffer. */
static void outlives(mare_device *device, mare_device *peer, mare_launch *launch, bool runs) {
    mare_buffer *y = make(device, "y", 0);
    for (int i = 0; i < ROUNDS; i++) {
        mare_buffer *x = make(peer, "x", 1), *next = NULL;
        const mare_buffer_desc desc = { .size = BYTES, .label = "next" };
        CHECK_OK(mare_launch_set_buffer(launch, 1, x));
        CHECK_OK(mare_launch_set_buffer(launch, 2, y));
        CHECK_OK(mare_launch_run(launch, NULL));
        CHECK_OK(mare_launch_set_buffer(launch, 1, y));
        mare_buffer_release(x);
        CHECK_OK(mare_buffer_create(peer, &desc, &next));
        CHECK_OK(mare_buffer_fill(next, 0, BYTES, "\7", 1, NULL));
        mare_buffer_release(next);
    }
    CHECK(holds(y, mare_device_stream(device), runs ? ROUNDS : 0));
    mare_buffer_release(y);
}

static void work(mare_device *device, mare_device *peer, bool runs) {
    int32_t can = 0;
    CHECK_OK(mare_device_can_reach(device, peer, &can));
    CHECK_NUMBER(can, 1);
    mare_launch *launch = bind(device);
    takes_buffers(device, peer, launch);
    computes(device, peer, launch, runs);
    copies(device, peer);
    outlives(device, peer, launch, runs);
    mare_launch_release(launch);
}

static void refuses(mare_device *device, const mare_device_info *info) {
    mare_device *other = NULL;
    int32_t can = 1;
    CHECK_FAILS(mare_device_reach(device, NULL), MARE_ERROR_ARGUMENT, "required");
    CHECK_FAILS(mare_device_can_reach(device, device, NULL), MARE_ERROR_ARGUMENT, "can");
    CHECK_OK(mare_device_can_reach(device, device, &can));
    CHECK_NUMBER(can, 1);
    if (!info->runs_kernels) return;
    CHECK_OK(mare_device_open("null", &other));
    CHECK_OK(mare_device_can_reach(device, other, &can));
    CHECK_NUMBER(can, 0);
    CHECK_FAILS(mare_device_reach(device, other), MARE_ERROR_UNAVAILABLE, "null:0", "no peers");
    mare_device_release(other);
}

/* ---- other processes ---- */

/* What the child does: `name` and the bytes in hexadecimal. */
static int open_share(const char *name, const char *bytes) {
    mare_device *device = NULL;
    mare_buffer *buffer = NULL;
    mare_share share;
    const int32_t nine = 9;
    for (size_t i = 0; i < sizeof share.bytes; i++) {
        unsigned byte = 0;
        sscanf(bytes + 2 * i, "%2x", &byte);
        share.bytes[i] = (unsigned char)byte;
    }
    CHECK_OK(mare_device_open(name, &device));
    if (CHECK_OK(mare_buffer_open(device, &share, "theirs", &buffer))) {
        CHECK(mare_buffer_size(buffer) == BYTES / 2);
        CHECK(mare_buffer_type(buffer) == MARE_TYPE_INT32);
        CHECK_OK(mare_buffer_fill(buffer, 0, BYTES / 2, &nine, 4, NULL));
        CHECK_OK(mare_device_wait(device));
    }
    mare_buffer_release(buffer);
    mare_device_release(device);
    return check_result();
}

/* Half of a buffer, which a child fills. */
static void shares(mare_device *device, const mare_device_info *info) {
    char command[1024], self[512] = "";
    mare_share share = { { 0 } };
    mare_buffer *buffer = make(device, "ours", 1), *half = NULL, *none = buffer;
    CHECK_OK(mare_buffer_view(buffer, BYTES / 2, BYTES / 2, &half));
    CHECK_FAILS(mare_buffer_open(device, &share, NULL, &none),
                info->has_sharing ? MARE_ERROR_ARGUMENT : MARE_ERROR_UNAVAILABLE,
                info->has_sharing ? "mare_share" : info->name);
    CHECK(!none);
    if (info->has_sharing) {
        CHECK_OK(mare_buffer_share(half, &share));
        CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
        int at = snprintf(command, sizeof command, "'%s' peers %s ", self, info->name);
        for (size_t i = 0; i < sizeof share.bytes; i++)
            at += snprintf(command + at, sizeof command - (size_t)at, "%02x", share.bytes[i]);
        CHECK(system(command) == 0);
        CHECK_OK(mare_buffer_download(buffer, 0, values, BYTES, NULL));
        CHECK(values[COUNT / 2 - 1] == 1 && values[COUNT / 2] == 9 && values[COUNT - 1] == 9);
    } else {
        CHECK_FAILS(mare_buffer_share(half, &share), MARE_ERROR_UNAVAILABLE, "'ours'", info->name);
    }
    mare_buffer_release(half);
    mare_buffer_release(buffer);
}

/* The CUDA device after this one, if they are peers. */
static void works_with_next(mare_device *device, const mare_device_info *info) {
    char name[32];
    int index = 0;
    int32_t can = 0;
    mare_device *next = NULL;
    if (sscanf(info->name, "cuda:%d", &index) != 1 || index + 1 >= mare_device_count("cuda"))
        return;
    snprintf(name, sizeof name, "cuda:%d", index + 1);
    if (!CHECK_OK(mare_device_open(name, &next))) return;
    CHECK_OK(mare_device_can_reach(device, next, &can));
    if (can) work(device, next, true);
    else CHECK_FAILS(mare_device_reach(device, next), MARE_ERROR_UNAVAILABLE, name);
    mare_device_release(next);
}

static void test(mare_device *device, const mare_device_info *info) {
    mare_device *second = NULL;
    CHECK_OK(mare_device_open(info->name, &second));
    work(device, second, info->runs_kernels);
    works_with_next(device, info);
    refuses(device, info);
    shares(device, info);
    mare_device_release(second);
}

int part_peers(void) {
    if (*part_arguments) return open_share(part_arguments[0], part_arguments[1]);
    return run_on_devices(test);
}
