/* opencl_foreign.c - the OpenCL back end: the program's own contexts, queues and memory, and its
 * calls of other libraries. Each object is asked whether it fits, retained, and released like one
 * of Mare's own. */
#include "opencl.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_DEVICES = 64 };

static mare_status need_calls(void) {
    if (mr_cl.clRetainContext && mr_cl.clGetContextInfo && mr_cl.clRetainCommandQueue &&
        mr_cl.clGetCommandQueueInfo && mr_cl.clRetainMemObject && mr_cl.clGetMemObjectInfo)
        return MARE_OK;
    return mr_fail(MARE_ERROR_UNAVAILABLE, "this OpenCL library adopts nothing: it lacks "
                                           "clRetainContext and its like");
}

mare_status mr_opencl_device_adopt(int index, void *context, mr_native *out) {
    const mr_opencl_entry *entry = mr_opencl_device_entry(index);
    struct mr_cl_device *ids[MAX_DEVICES];
    size_t size = 0, i = 0;
    MR_TRY(need_calls());
    MR_CL_TRY(clGetContextInfo, (context, MR_CL_CONTEXT_DEVICES, sizeof ids, ids, &size),
              "its devices");
    while (entry && i < size / sizeof *ids && ids[i] != entry->id) i++;
    if (entry && i == size / sizeof *ids)
        return mr_fail(MARE_ERROR_ARGUMENT, "the given context lacks the device %s",
                       entry->info.model);
    return mr_opencl_device_open(index, context, out);
}

mare_status mr_opencl_stream_adopt(mr_native native, void *queue, mr_native *out) {
    const mr_opencl_device *device = native.ptr;
    struct mr_cl_context *context = NULL;
    struct mr_cl_device *id = NULL;
    uint64_t properties = 0;
    MR_TRY(need_calls());
    MR_CL_TRY(clGetCommandQueueInfo,
              (queue, MR_CL_QUEUE_CONTEXT, sizeof context, &context, NULL), "its context");
    MR_CL_TRY(clGetCommandQueueInfo, (queue, MR_CL_QUEUE_DEVICE, sizeof id, &id, NULL),
              "its device");
    MR_CL_TRY(clGetCommandQueueInfo,
              (queue, MR_CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL),
              "its properties");
    if (context != device->context || id != device->entry->id)
        return mr_fail(MARE_ERROR_ARGUMENT, "the given queue is of another context or device "
                                            "(mare_device_adopt opens one in a given context)");
    if (properties & MR_CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        return mr_fail(MARE_ERROR_ARGUMENT, "the given queue is out of order");
    MR_CL_TRY(clRetainCommandQueue, (queue), "the given one");
    mare_status status = mr_opencl_stream_wrap(native.ptr, queue, out);
    if (status == MARE_OK) (void)mr_opencl_stream_native(*out); /* lent from the first */
    else mr_cl.clReleaseCommandQueue(queue);
    return status;
}

mare_status mr_opencl_buffer_adopt(mr_native native, uint64_t memory, uint64_t size,
                                   mr_native *out) {
    const mr_opencl_device *device = native.ptr;
    struct mr_cl_mem *mem = (struct mr_cl_mem *)(uintptr_t)memory;
    struct mr_cl_context *context = NULL;
    size_t there = 0;
    mr_opencl_buffer *buffer = NULL;
    MR_TRY(need_calls());
    MR_CL_TRY(clGetMemObjectInfo, (mem, MR_CL_MEM_CONTEXT, sizeof context, &context, NULL),
              "its context");
    MR_CL_TRY(clGetMemObjectInfo, (mem, MR_CL_MEM_SIZE, sizeof there, &there, NULL), "its size");
    if (context != device->context)
        return mr_fail(MARE_ERROR_ARGUMENT, "the given memory is of another context");
    if (there < size)
        return mr_fail(MARE_ERROR_ARGUMENT, "the given memory has %zu bytes, not %" PRIu64,
                       there, size);
    MR_CL_TRY(clRetainMemObject, (mem), "the given one");
    mare_status status = mr_opencl_buffer_wrap(mem, size, &buffer);
    if (status != MARE_OK) mr_cl.clReleaseMemObject(mem);
    else out->ptr = buffer;
    return status;
}

void mr_opencl_buffer_disown(mr_native device, mr_native native) {
    (void)device;
    mr_opencl_buffer_drop(native.ptr);
}

void *mr_opencl_device_native(mr_native device) {
    return ((const mr_opencl_device *)device.ptr)->context;
}

/* A lent stream is never idle, so that it does not turn away from its queue. */
void *mr_opencl_stream_native(mr_native native) {
    mr_opencl_stream *stream = native.ptr;
    atomic_store(&stream->is_lent, true);
    (void)mr_opencl_stream_use_times(stream);
    return stream->timed;
}

uint64_t mr_opencl_buffer_native(mr_native buffer) {
    return (uintptr_t)((const mr_opencl_buffer *)buffer.ptr)->mem;
}

/* What the library has queued counts as one command without an event, also where it failed half
 * way, so that the next record puts a marker behind it. */
mare_status mr_opencl_call_run(mr_native device, mr_native stream_native,
                               mare_call_function function, void *data) {
    (void)device;
    mr_opencl_stream *stream = stream_native.ptr;
    int32_t code = mr_opencl_stream_use_times(stream);
    if (code != 0)
        return mr_opencl_fail(code, "clEnqueueBarrierWithWaitList", "a stream that turns");
    mare_status status = function(data, stream->timed);
    atomic_fetch_add(&stream->queued, 1);
    return status;
}

/* ---- peers: handles on one device in one context, which has their buffers in common ---- */

mare_status mr_opencl_peer_can_reach(mr_native device, mr_native peer, int *can) {
    const mr_opencl_device *one = device.ptr, *other = peer.ptr;
    *can = one->context == other->context;
    return MARE_OK;
}

mare_status mr_opencl_peer_reach(mr_native device, mr_native peer) {
    (void)device, (void)peer;
    return MARE_OK;
}

mare_status mr_opencl_peer_copy(mr_native device, mr_native stream, mr_native dst_device,
                                mr_native dst, mr_native src_device, mr_native src,
                                const mare_region *r) {
    (void)dst_device, (void)src_device;
    return mr_opencl_copy(device, stream, dst, src, r);
}
