/* saxpy.c - y = a x + y on the best device here, with libmare alone.
 *     cc -std=c99 saxpy.c $(pkg-config --cflags --libs mare) -o saxpy */
#include <mare.h>
#include <stdio.h>

enum { N = 1000 };

static const char source[] =
    "MR_KERNEL void saxpy(int n, float a, MR_GLOBAL const float *x, MR_GLOBAL float *y) {\n"
    "    int i = mr_gid_x();\n"
    "    if (i < n) y[i] += a * x[i];\n"
    "}\n";

static float x[N], y[N];

static mare_status compute(mare_device *device) {
    mare_buffer_desc bx = { .size = sizeof x, .type = MARE_TYPE_FLOAT, .label = "x" };
    mare_buffer_desc by = { .size = sizeof y, .type = MARE_TYPE_FLOAT, .label = "y" };
    mare_program_desc text = { 0 };
    mare_buffer *dx = NULL, *dy = NULL;
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    mare_launch *launch = NULL;
    uint32_t shape[3] = { N, 1, 1 };
    mare_status s;
    text.source = source;
    text.name = "saxpy.krn";
    if ((s = mare_buffer_create(device, &bx, &dx)) == MARE_OK &&
        (s = mare_buffer_create(device, &by, &dy)) == MARE_OK &&
        (s = mare_buffer_upload(dx, 0, x, sizeof x, NULL)) == MARE_OK &&
        (s = mare_buffer_upload(dy, 0, y, sizeof y, NULL)) == MARE_OK &&
        (s = mare_program_create(device, &text, &program)) == MARE_OK &&
        (s = mare_kernel_create(program, "saxpy", &kernel)) == MARE_OK &&
        (s = mare_launch_create(kernel, &launch)) == MARE_OK &&
        (s = mare_launch_set_int(launch, 0, N)) == MARE_OK &&
        (s = mare_launch_set_real(launch, 1, 2.0)) == MARE_OK &&
        (s = mare_launch_set_buffer(launch, 2, dx)) == MARE_OK &&
        (s = mare_launch_set_buffer(launch, 3, dy)) == MARE_OK &&
        (s = mare_launch_set_shape(launch, shape, NULL)) == MARE_OK &&
        (s = mare_launch_run(launch, NULL)) == MARE_OK)
        s = mare_buffer_download(dy, 0, y, sizeof y, NULL);
    mare_launch_release(launch);
    mare_kernel_release(kernel);
    mare_program_release(program);
    mare_buffer_release(dy);
    mare_buffer_release(dx);
    return s;
}

int main(void) {
    mare_device *device;
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1.0f;
    mare_status status = mare_device_open("auto", &device);
    if (status == MARE_OK) status = compute(device);
    if (status != MARE_OK) fprintf(stderr, "%s\n", mare_error_message());
    else printf("y[999] = %g\n", (double)y[999]);
    mare_device_release(device);
    return status != MARE_OK;
}
