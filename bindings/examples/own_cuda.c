/* own_cuda.c - a program with a CUDA context, a stream and memory of its own lets Mare work there.
 *     cc -std=c99 own_cuda.c -I$CUDA_HOME/include $(pkg-config --cflags --libs mare) -lcuda */
#include <cuda.h>
#include <mare.h>
#include <stdio.h>

enum { N = 1000 };

static const char source[] =
    "MR_KERNEL void count(int n, MR_GLOBAL float *x) {\n"
    "    int i = mr_gid_x();\n"
    "    if (i < n) x[i] = (float)i;\n"
    "}\n";

/* Queues a kernel of Mare's on the stream, between what the program queues itself. */
static mare_status count(CUcontext context, CUstream queue, CUdeviceptr memory) {
    mare_buffer_desc floats = { .size = N * sizeof(float), .type = MARE_TYPE_FLOAT,
                                .label = "x" };
    mare_program_desc text = { 0 };
    uint32_t shape[3] = { N, 1, 1 };
    mare_device *device = NULL;
    mare_stream *stream = NULL;
    mare_buffer *x = NULL;
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    mare_launch *launch = NULL;
    mare_status s;
    text.source = source;
    if ((s = mare_device_adopt("cuda:0", context, &device)) == MARE_OK &&
        (s = mare_stream_adopt(device, queue, "program's", &stream)) == MARE_OK &&
        (s = mare_buffer_adopt(device, memory, &floats, &x)) == MARE_OK &&
        (s = mare_program_create(device, &text, &program)) == MARE_OK &&
        (s = mare_kernel_create(program, "count", &kernel)) == MARE_OK &&
        (s = mare_launch_create(kernel, &launch)) == MARE_OK &&
        (s = mare_launch_set_int(launch, 0, N)) == MARE_OK &&
        (s = mare_launch_set_buffer(launch, 1, x)) == MARE_OK &&
        (s = mare_launch_set_shape(launch, shape, NULL)) == MARE_OK)
        s = mare_launch_run(launch, stream);
    if (stream && s == MARE_OK) s = mare_stream_wait(stream);
    mare_launch_release(launch), mare_kernel_release(kernel), mare_program_release(program);
    mare_buffer_release(x), mare_stream_release(stream), mare_device_release(device);
    return s;
}

int main(void) {
    CUdevice device;
    CUcontext context;
    CUstream stream;
    CUdeviceptr memory;
    float last = 0;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context) || cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) ||
        cuMemAlloc(&memory, N * sizeof(float))) return 77;
    mare_status status = count(context, stream, memory);
    if (status != MARE_OK) fprintf(stderr, "%s\n", mare_error_message());
    cuMemcpyDtoH(&last, memory + (N - 1) * sizeof last, sizeof last);
    printf("x[999] = %g\n", (double)last);
    cuMemFree(memory), cuStreamDestroy(stream), cuDevicePrimaryCtxRelease(device);
    return status != MARE_OK;
}
