/* table1_opencl.c - the zoom of table1.h on OpenCL, as plainly as C can. The back end's loader and
 * list of devices are used to find the device that Mare calls opencl:N, and nothing else of it.
 * What a failing call leaves is left to the end of the process. */
#include "peer.h"
#include "table1.h"

#include "../../core/backends/opencl.h"

#include <string.h>

/* host:begin */
#define TRY(call)                                                                                  \
    if (call) return #call
#define MAKE(target, call)                                                                         \
    target = call;                                                                                 \
    if (code) return #call

static struct mr_cl_context *context;
static struct mr_cl_queue *compute, *copy;
static struct mr_cl_program *program;
static struct slot {
    struct mr_cl_kernel *kernel;
    struct mr_cl_mem *times, *host;
    unsigned *pinned;
    struct mr_cl_event *began, *ready, *copying, *done;
} slots[SLOTS];

static const char *compile(struct table1 *t, struct mr_cl_device *device) {
    int32_t code = 0;
    double begin = peer_now();
    MAKE(program, mr_cl.clCreateProgramWithSource(context, 1, &t->source, NULL, &code));
    TRY(mr_cl.clBuildProgram(program, 1, &device,
                             "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt", NULL, NULL));
    for (struct slot *s = slots; s < slots + SLOTS; s++) {
        MAKE(s->kernel, mr_cl.clCreateKernel(program, "escape", &code));
    }
    t->compile = peer_now() - begin;
    return NULL;
}

static const char *allocate(struct mr_cl_device *device, size_t bytes) {
    int32_t code = 0;
    MAKE(copy, mr_cl.clCreateCommandQueue(context, device, MR_CL_QUEUE_PROFILING_ENABLE, &code));
    for (struct slot *s = slots; s < slots + SLOTS; s++) {
        MAKE(s->times, mr_cl.clCreateBuffer(context, 1, bytes, NULL, &code));
        MAKE(s->host, mr_cl.clCreateBuffer(context, 1 | 1 << 4, bytes, NULL, &code));
        MAKE(s->pinned, mr_cl.clEnqueueMapBuffer(copy, s->host, MR_CL_TRUE, 3, 0, bytes, 0, NULL,
                                                 NULL, &code));
    }
    return NULL;
}

static const char *bind(const struct table1 *t, const struct slot *s) {
    const float zero = 0;
    TRY(mr_cl.clSetKernelArg(s->kernel, 0, sizeof t->size, &t->size));
    TRY(mr_cl.clSetKernelArg(s->kernel, 1, sizeof t->size, &t->size));
    TRY(mr_cl.clSetKernelArg(s->kernel, 2, sizeof zero, &t->centre_x));
    TRY(mr_cl.clSetKernelArg(s->kernel, 3, sizeof zero, &zero));
    TRY(mr_cl.clSetKernelArg(s->kernel, 4, sizeof zero, &t->centre_y));
    TRY(mr_cl.clSetKernelArg(s->kernel, 5, sizeof zero, &zero));
    TRY(mr_cl.clSetKernelArg(s->kernel, 9, sizeof t->limit, &t->limit));
    TRY(mr_cl.clSetKernelArg(s->kernel, 10, sizeof s->times, &s->times));
    return NULL;
}

static const char *queue(struct table1 *t, int k, struct slot *s, size_t bytes) {
    const float *view = t->views + 3 * k;
    const size_t group[] = { GROUP_X, GROUP_Y };
    const size_t across = (size_t)(t->size + GROUP_X - 1) / GROUP_X;
    const size_t down = (size_t)(t->size + GROUP_Y - 1) / GROUP_Y;
    const size_t global[] = { across * GROUP_X, down * GROUP_Y };
    TRY(mr_cl.clEnqueueMarkerWithWaitList(compute, 0, NULL, &s->began));
    double begin = peer_now();
    for (uint32_t i = 0; i < 3; i++)
        TRY(mr_cl.clSetKernelArg(s->kernel, 6 + i, sizeof *view, &view[i]));
    TRY(mr_cl.clEnqueueNDRangeKernel(compute, s->kernel, 2, NULL, global, group, 0, NULL,
                                     &s->ready));
    t->launch[k] = peer_now() - begin;
    TRY(mr_cl.clFlush(compute));
    /* As Mare waits and records; a marker that waits itself may end before. */
    TRY(mr_cl.clEnqueueBarrierWithWaitList(copy, 1, &s->ready, NULL));
    TRY(mr_cl.clEnqueueMarkerWithWaitList(copy, 0, NULL, &s->copying));
    begin = peer_now();
    TRY(mr_cl.clEnqueueReadBuffer(copy, s->times, 0, 0, bytes, s->pinned, 0, NULL, &s->done));
    t->download[k] = peer_now() - begin;
    TRY(mr_cl.clFlush(copy));
    return NULL;
}

static const char *seconds(struct mr_cl_event *from, struct mr_cl_event *to, double *out) {
    uint64_t start, end;
    const uint32_t at = MR_CL_PROFILING_COMMAND_END;
    TRY(mr_cl.clGetEventProfilingInfo(from, at, sizeof start, &start, NULL));
    TRY(mr_cl.clGetEventProfilingInfo(to, at, sizeof end, &end, NULL));
    *out = 1e-9 * (double)(end - start);
    TRY(mr_cl.clReleaseEvent(from));
    TRY(mr_cl.clReleaseEvent(to));
    return NULL;
}

static const char *collect(struct table1 *t, int k, struct slot *s) {
    TRY(mr_cl.clWaitForEvents(1, &s->done));
    TRY(seconds(s->began, s->ready, &t->kernel[k]));
    TRY(seconds(s->copying, s->done, &t->copy[k]));
    return NULL;
}

static const char *zoom(struct table1 *t, size_t bytes) {
    double begin = peer_now();
    for (int k = 0; k < t->frames + SLOTS; k++) {
        struct slot *s = slots + k % SLOTS;
        const char *failed = k >= SLOTS ? collect(t, k - SLOTS, s) : NULL;
        if (!failed && k < t->frames) failed = queue(t, k, s, bytes);
        if (failed) return failed;
    }
    t->wall = peer_now() - begin;
    memcpy(t->last, slots[(t->frames - 1) % SLOTS].pinned, bytes);
    return NULL;
}

/* host:end */

static const char *release(void) {
    for (struct slot *s = slots; s < slots + SLOTS; s++) {
        TRY(mr_cl.clEnqueueUnmapMemObject(copy, s->host, s->pinned, 0, NULL, NULL));
        TRY(mr_cl.clFinish(copy));
        TRY(mr_cl.clReleaseMemObject(s->host));
        TRY(mr_cl.clReleaseMemObject(s->times));
        TRY(mr_cl.clReleaseKernel(s->kernel));
    }
    TRY(mr_cl.clReleaseProgram(program));
    TRY(mr_cl.clReleaseCommandQueue(copy));
    TRY(mr_cl.clReleaseCommandQueue(compute));
    TRY(mr_cl.clReleaseContext(context));
    return NULL;
}

static const char *run(struct mr_cl_device *device, struct table1 *t) {
    int32_t code = 0;
    size_t bytes = sizeof(unsigned) * (size_t)t->size * (size_t)t->size;
    MAKE(context, mr_cl.clCreateContext(NULL, 1, &device, NULL, NULL, &code));
    MAKE(compute, mr_cl.clCreateCommandQueue(context, device, MR_CL_QUEUE_PROFILING_ENABLE, &code));
    const char *failed = compile(t, device);
    if (!failed) failed = allocate(device, bytes);
    for (int k = 0; !failed && k < SLOTS; k++)
        failed = bind(t, &slots[k]);
    if (!failed) failed = zoom(t, bytes);
    return failed ? failed : release();
}
const char *table1_run(int index, struct table1 *t) {
    mare_backend_info info;
    if (mr_opencl_load(NULL, 0) != MARE_OK || mr_opencl_probe(&info) != MARE_OK)
        return mare_error_message();
    mr_opencl_entry *entry = mr_opencl_device_entry(index);
    return entry ? run(entry->id, t) : "there is no such device";
}
