/* lost.c - a real fault on a CUDA device: the handle answers with it until it is released, the
 * process lives, and the device can be opened again and works, or the driver refuses this process
 * and the opening says so. (On a CPU a stray write ends the process.)
 */
#include "devices.h"

enum { BYTES = 4096 };

static const char source[] =
    "extern \"C\" __global__ void stray(int *x) { x[1ull << 44] = 1; }\n";

typedef struct objects {
    mare_device *device;
    mare_buffer *x;
    mare_program *program;
    mare_kernel *kernel;
    mare_launch *launch;
} objects;

static void make_all(objects *o) {
    const mare_program_desc program = {
        .source = source, .name = "stray.cu", .language = MARE_LANGUAGE_CUDA
    };
    const uint32_t one[3] = { 1, 1, 1 };
    CHECK_OK(mare_buffer_create(
        o->device, &(mare_buffer_desc){ .size = BYTES, .label = "x" }, &o->x));
    CHECK_OK(mare_program_create(o->device, &program, &o->program));
    CHECK_OK(mare_kernel_create(o->program, "stray", &o->kernel));
    CHECK_OK(mare_launch_create(o->kernel, &o->launch));
    CHECK_OK(mare_launch_set_buffer(o->launch, 0, o->x));
    CHECK_OK(mare_launch_set_shape(o->launch, one, one));
}

static void close_all(objects *o) {
    mare_launch_release(o->launch);
    mare_kernel_release(o->kernel);
    mare_program_release(o->program);
    mare_buffer_release(o->x);
    mare_device_release(o->device);
    CHECK_NUMBER(mare_live_objects(), 0);
}

static void loses(objects *o) {
    const char *fault = "was lost: device 'cuda:0': wait: cuCtxSynchronize";
    mare_buffer *refused = NULL;
    CHECK_OK(mare_launch_run(o->launch, NULL));
    CHECK_FAILS(mare_device_wait(o->device), MARE_ERROR_LOST, "device 'cuda:0': wait", "(700)");
    CHECK_FAILS(mare_launch_run(o->launch, NULL), MARE_ERROR_LOST, "kernel 'stray'", fault);
    CHECK_FAILS(mare_buffer_fill(o->x, 0, BYTES, "", 1, NULL), MARE_ERROR_LOST, "'x'", fault);
    CHECK_FAILS(mare_buffer_create(o->device, &(mare_buffer_desc){ .size = 8, .label = "y" },
                                   &refused),
                MARE_ERROR_LOST, "'y'", fault);
    CHECK_FAILS(mare_device_wait(o->device), MARE_ERROR_LOST, fault);
}

static void works(objects *o) {
    const int32_t seven = 7;
    int32_t values[BYTES / 4] = { 0 };
    make_all(o);
    CHECK_OK(mare_buffer_fill(o->x, 0, BYTES, &seven, 4, NULL));
    CHECK_OK(mare_buffer_download(o->x, 0, values, BYTES, NULL));
    CHECK(values[0] == 7 && values[BYTES / 4 - 1] == 7);
}

int part_lost(void) {
    const char *only = getenv("MARE_TEST_DEVICE");
    objects first = { 0 }, second = { 0 };
    if (!mare_device_count("cuda") || (only && strncmp(only, "cuda", 4) != 0))
        return check_skip("needs a CUDA device");
    if (!CHECK_OK(mare_device_open("cuda:0", &first.device))) return check_result();
    make_all(&first);
    loses(&first);
    close_all(&first);
    mare_status again = mare_device_open("cuda:0", &second.device);
    printf("cuda:0, opened again: %s\n", again == MARE_OK ? "works" : mare_error_message());
    if (again == MARE_OK) works(&second);
    else CHECK_FAILS(again, MARE_ERROR_LOST, "device 'cuda:0': it was lost before", "new process");
    close_all(&second);
    return check_result();
}
