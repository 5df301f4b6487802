/* opencl_launch.c - launches.
 *
 * In OpenCL arguments are state of the kernel object, so a launch has one of its own and hands over
 * only what changed since its last run. A view becomes a sub-buffer, made when the view changes and
 * kept. A buffer is known by its serial number: a new one may lie at the address of one that is
 * gone.
 */
#include "opencl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the kernel object holds for one argument. */
typedef struct shadow {
    bool is_set;
    uint64_t serial, offset, extent;
    unsigned char bytes[8];
    struct mr_cl_mem *view;
} shadow;

typedef struct launch_state {
    struct mr_cl_kernel *kernel;
    shadow *shadows;
    uint32_t count;
} launch_state;

mare_status mr_opencl_launch_create(mr_native device, mr_native program, mr_native kernel,
                                    const char *name, mr_native *out) {
    (void)device;
    (void)kernel;
    launch_state *launch = calloc(1, sizeof *launch);
    if (!launch) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a launch");
    int32_t code = 0;
    launch->kernel = mr_cl.clCreateKernel(((mr_opencl_program *)program.ptr)->program, name, &code);
    if (!launch->kernel) {
        free(launch);
        return mr_opencl_fail(code, "clCreateKernel", "%s", name);
    }
    out->ptr = launch;
    return MARE_OK;
}

void mr_opencl_launch_destroy(mr_native device, mr_native native) {
    (void)device;
    launch_state *launch = native.ptr;
    if (!launch) return;
    mr_cl.clReleaseKernel(launch->kernel);
    for (uint32_t i = 0; i < launch->count; i++)
        if (launch->shadows[i].view) mr_cl.clReleaseMemObject(launch->shadows[i].view);
    free(launch->shadows);
    free(launch);
}

static mare_status make_view(const mr_opencl_device *device, uint32_t index, const mr_arg *arg,
                             struct mr_cl_mem **out) {
    const mr_opencl_buffer *buffer = arg->value.buffer.ptr;
    const uint64_t align = device->entry->info.view_alignment;
    if (arg->offset % align)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "argument %u: a view at byte %" PRIu64
                       "; on %s a kernel takes views that start at a multiple "
                       "of %" PRIu64 " bytes",
                       index, arg->offset, device->entry->info.model, align);
    const size_t region[2] = { arg->offset, arg->extent }; /* origin and size: a cl_buffer_region */
    int32_t code = 0;
    *out = mr_cl.clCreateSubBuffer(buffer->mem, 0, MR_CL_BUFFER_CREATE_TYPE_REGION, region, &code);
    if (!*out)
        return mr_opencl_fail(code, "clCreateSubBuffer",
                              "argument %u, %" PRIu64 " bytes at %" PRIu64, index, arg->extent,
                              arg->offset);
    return MARE_OK;
}

static mare_status set_buffer(const mr_opencl_device *device, launch_state *launch, uint32_t index,
                              const mr_arg *arg) {
    shadow *last = &launch->shadows[index];
    const mr_opencl_buffer *buffer = arg->value.buffer.ptr;
    if (last->is_set && last->serial == buffer->serial && last->offset == arg->offset &&
        last->extent == arg->extent)
        return MARE_OK;
    bool is_whole = arg->offset == 0 && (arg->extent == 0 || arg->extent == buffer->size);
    struct mr_cl_mem *view = NULL;
    if (!is_whole) MR_TRY(make_view(device, index, arg, &view));
    struct mr_cl_mem *mem = view ? view : buffer->mem;
    int32_t code = mr_cl.clSetKernelArg(launch->kernel, index, sizeof mem, &mem);
    if (code != 0) {
        if (view) mr_cl.clReleaseMemObject(view);
        return mr_opencl_fail(code, "clSetKernelArg", "argument %u, a buffer", index);
    }
    if (last->view) mr_cl.clReleaseMemObject(last->view);
    *last = (shadow){ true, buffer->serial, arg->offset, arg->extent, { 0 }, view };
    return MARE_OK;
}

static mare_status set_scalar(launch_state *launch, uint32_t index, const mr_arg *arg) {
    shadow *last = &launch->shadows[index];
    if (last->is_set && !memcmp(last->bytes, arg->value.bytes, arg->size)) return MARE_OK;
    MR_CL_TRY(clSetKernelArg, (launch->kernel, index, arg->size, arg->value.bytes),
              "argument %u, %u bytes", index, arg->size);
    memcpy(last->bytes, arg->value.bytes, arg->size);
    last->is_set = true;
    return MARE_OK;
}

static mare_status make_shadows(launch_state *launch, uint32_t count) {
    if (launch->count == count) return MARE_OK;
    launch->shadows = calloc(count, sizeof *launch->shadows);
    if (!launch->shadows)
        return mr_fail(MARE_ERROR_MEMORY, "out of host memory for %u arguments", count);
    launch->count = count;
    return MARE_OK;
}

mare_status mr_opencl_launch_run(mr_native native, mr_native stream, mr_native launch_native,
                                 const uint32_t groups[3], const uint32_t group[3],
                                 const mr_arg *args, uint32_t arg_count) {
    launch_state *launch = launch_native.ptr;
    MR_TRY(make_shadows(launch, arg_count));
    for (uint32_t i = 0; i < arg_count; i++)
        MR_TRY(args[i].is_buffer ? set_buffer(native.ptr, launch, i, &args[i])
                                 : set_scalar(launch, i, &args[i]));
    size_t global[3], local[3];
    for (int i = 0; i < 3; i++) {
        local[i] = group[i];
        global[i] = (size_t)groups[i] * group[i];
    }
    MR_CL_TRY(clEnqueueNDRangeKernel,
              (((mr_opencl_stream *)stream.ptr)->queue, launch->kernel, 3, NULL, global, local, 0,
               NULL, NULL),
              "%ux%ux%u groups of %ux%ux%u", groups[0], groups[1], groups[2], group[0], group[1],
              group[2]);
    return MARE_OK;
}
