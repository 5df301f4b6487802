/* processor.c - the device cpu, with a library of one program: groups on all threads, work-items
 * that wait for one another, and what is refused. */
#include "check.h"

#include <string.h>

enum { COUNT = 1000, GROUP = 40 };

static const char source[] = "MR_KERNEL void twice(MR_GLOBAL int *x, int n) {}\n"
                             "MR_KERNEL void turn(MR_GLOBAL int *x) {}\n";
static mare_device *device;
static mare_program *program;
static mare_buffer *buffer;

static mare_launch *launch_of(const char *name) {
    mare_kernel *kernel = NULL;
    mare_launch *launch = NULL;
    CHECK_OK(mare_kernel_create(program, name, &kernel));
    CHECK_OK(mare_launch_create(kernel, &launch));
    CHECK_OK(mare_launch_set_buffer(launch, 0, buffer));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ COUNT, 1, 1 },
                                   (uint32_t[3]){ GROUP, 1, 1 }));
    mare_kernel_release(kernel);
    return launch;
}

static void runs_kernels(void) {
    int32_t x[COUNT], n = COUNT - 1;
    for (int i = 0; i < COUNT; i++) x[i] = i;
    CHECK_OK(mare_buffer_upload(buffer, 0, x, sizeof x, NULL));
    mare_launch *twice = launch_of("twice"), *turn = launch_of("turn");
    CHECK_OK(mare_launch_set_scalar(twice, 1, MARE_TYPE_INT32, &n));
    for (int k = 0; k < 20; k++) {
        CHECK_OK(mare_launch_run(turn, NULL));
        CHECK_OK(mare_launch_run(turn, NULL));
    }
    CHECK_OK(mare_launch_run(twice, NULL));
    CHECK_OK(mare_launch_run(turn, NULL));
    CHECK_OK(mare_buffer_download(buffer, 0, x, sizeof x, NULL));
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        int from = i / GROUP * GROUP + GROUP - 1 - i % GROUP;
        wrong += x[i] != (from < COUNT - 1 ? 2 * from : from);
    }
    CHECK_NUMBER(wrong, 0);
    mare_launch_release(twice);
    mare_launch_release(turn);
}

static void refuses_others(void) {
    mare_program *none = NULL;
    mare_kernel *kernel = NULL;
    CHECK_FAILS(mare_program_create(device, &(mare_program_desc){ .source = "// other",
        .name = "own.krn" }, &none), MARE_ERROR_UNAVAILABLE, "own.krn is not among the programs");
    CHECK_FAILS(mare_kernel_create(program, "thrice", &kernel), MARE_ERROR_ARGUMENT, "thrice");
}

int main(void) {
    mare_device_info info;
    setenv("MARE_PROGRAMS", FAKE_PROGRAMS, 1);
    CHECK_OK(mare_device_open("cpu", &device));
    CHECK_OK(mare_device_query(device, &info));
    CHECK(info.kind == MARE_DEVICE_CPU && info.runs_kernels && !info.has_compiler);
    CHECK_OK(mare_program_create(device, &(mare_program_desc){ .source = source }, &program));
    CHECK_OK(mare_buffer_create(device, &(mare_buffer_desc){ .size = COUNT * sizeof(int32_t),
        .type = MARE_TYPE_INT32, .label = "x" }, &buffer));
    runs_kernels();
    refuses_others();
    mare_buffer_release(buffer);
    mare_program_release(program);
    mare_device_release(device);
    return check_result();
}
