/* peer_opencl.c - launches and downloads on OpenCL, as plainly as C can. The back end's loader and
 * list of devices are used to find the device that Mare calls opencl:N, and nothing else of it. The
 * queue can time events, as those of Mare; on PoCL a launch on one that cannot is cheaper. */
#include "peer.h"

#include "../../core/backends/opencl.h"
#include "../../core/internal.h"

#include <stdio.h>
#include <stdlib.h>

static const char source[] =
    "#define P __global float *\n"
    "__kernel void few(P x, int n) { if (n < 0) x[0] = n; }\n"
    "__kernel void many(P x, P x1, P x2, P x3, P x4, P x5, P x6, P x7, int n0, int n1, int n2,\n"
    "                   int n3, int n4, int n5, int n6, int n) { if (n < 0) x[0] = n; }\n";

static struct mr_cl_context *context;
static struct mr_cl_queue *queue;
static struct mr_cl_program *program;
static struct mr_cl_kernel *few, *many;
static struct mr_cl_mem *memory, *host;
static float *pinned;
static const size_t one[3] = { 1, 1, 1 };
static struct mr_cl_device *device;
static FILE *binary;                /* of the last peer_compile */

static int32_t set_arguments(struct mr_cl_kernel *kernel, uint32_t count) {
    int32_t code = 0;
    const int32_t number = 0;
    for (uint32_t i = 0; i < count; i++)
        code |= i < count / 2 ? mr_cl.clSetKernelArg(kernel, i, sizeof memory, &memory)
                              : mr_cl.clSetKernelArg(kernel, i, sizeof number, &number);
    return code;
}

static const char *make_kernels(void) {
    const char *texts[] = { source };
    int32_t code = 0;
    program = mr_cl.clCreateProgramWithSource(context, 1, texts, NULL, &code);
    if (code || mr_cl.clBuildProgram(program, 1, &device, "", NULL, NULL)) return "clBuildProgram";
    few = mr_cl.clCreateKernel(program, "few", &code);
    if (few) many = mr_cl.clCreateKernel(program, "many", &code);
    if (code) return "clCreateKernel";
    return set_arguments(few, 2) | set_arguments(many, 16) ? "clSetKernelArg" : NULL;
}

static const char *make_memory(void) {
    const uint64_t read_write = 1, pinned_flag = 1 << 4;    /* CL_MEM_ALLOC_HOST_PTR */
    int32_t code = 0;
    memory = mr_cl.clCreateBuffer(context, read_write, 4096, NULL, &code);
    if (!code) host = mr_cl.clCreateBuffer(context, read_write | pinned_flag, 4096, NULL, &code);
    if (code) return "clCreateBuffer";
    pinned = mr_cl.clEnqueueMapBuffer(queue, host, MR_CL_TRUE, 3, 0, 4096, 0, NULL, NULL, &code);
    return code ? "clEnqueueMapBuffer" : NULL;
}

const char *peer_open(int index) {
    int32_t code = 0;
    mare_backend_info info;
    if (mr_opencl_load(NULL, 0) != MARE_OK || mr_opencl_probe(&info) != MARE_OK)
        return mare_error_message();
    mr_opencl_entry *entry = mr_opencl_device_entry(index);
    if (!entry) return "there is no such device";
    device = entry->id;
    context = mr_cl.clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    if (!code) queue = mr_cl.clCreateCommandQueue(context, device, MR_CL_QUEUE_PROFILING_ENABLE,
                                                 &code);
    if (code) return "clCreateCommandQueue";
    const char *failed = make_memory();
    return failed ? failed : make_kernels();
}

static int32_t launch(struct mr_cl_queue *on, struct mr_cl_kernel *kernel) {
    return mr_cl.clEnqueueNDRangeKernel(on, kernel, 3, NULL, one, one, 0, NULL, NULL);
}

static double launch_all(struct mr_cl_queue *on, struct mr_cl_kernel *kernel, int count) {
    int32_t code = mr_cl.clFinish(on);
    double start = peer_now();
    for (int i = 0; i < count; i++)
        code |= launch(on, kernel);
    double seconds = peer_now() - start;
    code |= mr_cl.clFinish(on);
    return code ? -1 : seconds;
}

double peer_launch(int arguments, int count) {
    return launch_all(queue, arguments == 2 ? few : many, count);
}

static struct mr_cl_queue *queue_of(const mare_launch *l) {
    return ((const mr_opencl_stream *)l->device->stream->native.ptr)->queue;
}

/* A launch of the back end begins with its kernel. */
static struct mr_cl_kernel *kernel_of(const mare_launch *l) {
    return *(struct mr_cl_kernel *const *)l->dispatch.native.ptr;
}

double peer_same(const void *l, int count) {
    return launch_all(queue_of(l), kernel_of(l), count);
}

double peer_plan(int kernels, int count) {
    int32_t code = mr_cl.clFinish(queue);
    double start = peer_now();
    for (int i = 0; i < count * kernels; i++) code |= launch(queue, few);
    code |= mr_cl.clFinish(queue);
    double seconds = peer_now() - start;
    return code ? -1 : seconds;
}

double peer_download(const void *mares, int count) {
    const mare_launch *l = mares;
    struct mr_cl_queue *own = queue_of(l);
    struct mr_cl_kernel *kernel = kernel_of(l);
    struct mr_cl_mem *from = ((const mr_opencl_buffer *)l->buffers[0]->native.ptr)->mem;
    int32_t code = mr_cl.clFinish(own);
    double start = peer_now();
    for (int i = 0; i < count; i++)
        code |= launch(own, kernel) |
                mr_cl.clEnqueueReadBuffer(own, from, MR_CL_TRUE, 0, 4, pinned, 0, NULL, NULL);
    double seconds = peer_now() - start;
    return code ? -1 : seconds;
}

double peer_copy(int count) {
    int32_t code = mr_cl.clFinish(queue);
    double start = peer_now();
    for (int i = 0; i < count; i++)
        code |= mr_cl.clEnqueueWriteBuffer(queue, memory, 0, 0, 4096, pinned, 0, NULL, NULL);
    code |= mr_cl.clFinish(queue);
    double seconds = peer_now() - start;
    return code ? -1 : seconds;
}

double peer_alloc(unsigned long bytes, int count) {
    int32_t code = 0;
    double start = peer_now();
    for (int i = 0; i < count && !code; i++) {
        struct mr_cl_mem *taken = mr_cl.clCreateBuffer(context, 1, bytes, NULL, &code);
        if (taken) code |= mr_cl.clReleaseMemObject(taken);
    }
    double seconds = peer_now() - start;
    return code ? -1 : seconds;
}

static size_t get_binary(struct mr_cl_program *built, unsigned char **data) {
    size_t size = 0;
    if (mr_cl.clGetProgramInfo(built, MR_CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL))
        return 0;
    *data = malloc(size);
    if (*data && !mr_cl.clGetProgramInfo(built, MR_CL_PROGRAM_BINARIES, sizeof *data, data, NULL))
        return size;
    return 0;
}

static bool keep(unsigned char *data, size_t size) {
    if (binary) fclose(binary);
    binary = size ? tmpfile() : NULL;
    bool good = binary && fwrite(data, 1, size, binary) == size && !fflush(binary);
    free(data);
    return good;
}

double peer_compile(const char *text) {
    int32_t code = 0;
    double start = peer_now();
    struct mr_cl_program *built = mr_cl.clCreateProgramWithSource(context, 1, &text, NULL, &code);
    if (!code) code = mr_cl.clBuildProgram(built, 1, &device, "-cl-std=CL1.2", NULL, NULL);
    unsigned char *data = NULL;
    size_t size = code ? 0 : get_binary(built, &data);
    double seconds = peer_now() - start;
    if (!keep(data, size)) code = -1;
    if (built) mr_cl.clReleaseProgram(built);
    return code ? -1 : seconds;
}

static int32_t load_binary(void) {
    static unsigned char data[1 << 22];
    const unsigned char *texts[] = { data };
    int32_t code = 0, state = 0;
    rewind(binary);
    const size_t size = fread(data, 1, sizeof data, binary);
    struct mr_cl_program *loaded =
        mr_cl.clCreateProgramWithBinary(context, 1, &device, &size, texts, &state, &code);
    if (!code) code = mr_cl.clBuildProgram(loaded, 1, &device, "", NULL, NULL);
    if (loaded) code |= mr_cl.clReleaseProgram(loaded);
    return code;
}

double peer_load(int count) {
    int32_t code = 0;
    double start = peer_now();
    for (int i = 0; i < count; i++) code |= load_binary();
    double seconds = peer_now() - start;
    return code ? -1 : seconds;
}

double peer_context(int count) {
    (void)count;
    return 0;
}

void peer_close(void) {
    if (binary) fclose(binary);
    binary = NULL;
    if (!context) return;
    if (queue) {
        mr_cl.clEnqueueUnmapMemObject(queue, host, pinned, 0, NULL, NULL);
        mr_cl.clFinish(queue);
        mr_cl.clReleaseCommandQueue(queue);
    }
    if (few) mr_cl.clReleaseKernel(few);
    if (many) mr_cl.clReleaseKernel(many);
    if (program) mr_cl.clReleaseProgram(program);
    if (memory) mr_cl.clReleaseMemObject(memory);
    if (host) mr_cl.clReleaseMemObject(host);
    mr_cl.clReleaseContext(context);
    context = NULL;
}
