/* opencl.c - the OpenCL back end: devices and memory.
 *
 * A device has one context for all its handles, made for the first and kept until the process ends
 * or the device is lost, since some drivers take a tenth of a second to make one. Drivers may put
 * off an allocation to its first use, so a new buffer of more than 64 KiB is touched once: a device
 * that is full says so when the buffer is made. To touch a small one takes 13 us on an H200, and
 * waits for a GPU that is busy; if there is no room for it, the first command that uses it says so.
 */
#include "opencl.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- devices ---- */

static pthread_mutex_t contexts = PTHREAD_MUTEX_INITIALIZER; /* of all entries */

static mare_status device_info(int index, mare_device_info *out) {
    const mr_opencl_entry *entry = mr_opencl_device_entry(index);
    if (!entry) return mr_fail(MARE_ERROR_UNAVAILABLE, "there is no OpenCL device %d", index);
    *out = entry->info;
    return MARE_OK;
}

static mare_status retain_context(mr_opencl_entry *entry) {
    int32_t code = 0;
    pthread_mutex_lock(&contexts);
    if (!entry->context)
        entry->context = mr_cl.clCreateContext(NULL, 1, &entry->id, NULL, NULL, &code);
    if (entry->context) entry->users++;
    pthread_mutex_unlock(&contexts);
    return code == 0 ? MARE_OK : mr_opencl_fail(code, "clCreateContext", "%s", entry->info.model);
}

static void release_context(mr_opencl_entry *entry, bool is_lost) {
    pthread_mutex_lock(&contexts);
    entry->was_lost |= is_lost;
    if (--entry->users == 0 && entry->was_lost) {
        mr_cl.clReleaseContext(entry->context);
        entry->context = NULL;
        entry->was_lost = false;
    }
    pthread_mutex_unlock(&contexts);
}

static void device_close(mr_native native, bool is_lost) {
    mr_opencl_device *device = native.ptr;
    if (!device) return;
    mr_opencl_forget_gone(device, false);
    if (device->service) mr_cl.clReleaseCommandQueue(device->service);
    if (device->is_adopted) mr_cl.clReleaseContext(device->context);
    else if (device->context) release_context(device->entry, is_lost);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

static mare_status make_service(mr_opencl_device *device, struct mr_cl_context *context) {
    int32_t code = 0;
    if (context) MR_CL_TRY(clRetainContext, (context), "the given one");
    else MR_TRY(retain_context(device->entry));
    device->is_adopted = context != NULL;
    device->context = context ? context : device->entry->context;
    device->service = mr_cl.clCreateCommandQueue(device->context, device->entry->id, 0, &code);
    if (!device->service) return mr_opencl_fail(code, "clCreateCommandQueue", "no properties");
    return MARE_OK;
}

mare_status mr_opencl_device_open(int index, struct mr_cl_context *context, mr_native *out) {
    mr_opencl_entry *entry = mr_opencl_device_entry(index);
    if (!entry) return mr_fail(MARE_ERROR_UNAVAILABLE, "there is no OpenCL device %d", index);
    mr_opencl_device *device = calloc(1, sizeof *device);
    if (!device) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a device");
    device->entry = entry;
    pthread_mutex_init(&device->lock, NULL);
    mare_status status = make_service(device, context);
    if (status != MARE_OK)
        device_close((mr_native){ .ptr = device }, false);
    else
        out->ptr = device;
    return status;
}

static mare_status device_open(int index, mr_native *out) {
    return mr_opencl_device_open(index, NULL, out);
}

/* OpenCL tells how much there is, not how much is free. */
static mare_status device_memory(mr_native native, uint64_t *available, uint64_t *total) {
    (void)native;
    *available = *total = 0;
    return MARE_OK;
}

static mare_status device_wait(mr_native native) {
    mr_opencl_device *device = native.ptr;
    int32_t code = 0;
    pthread_mutex_lock(&device->lock);
    for (mr_opencl_stream *stream = device->streams; stream && code == 0; stream = stream->next)
        code = mr_opencl_stream_finish(stream);
    if (code == 0) code = mr_cl.clFinish(device->service);
    const char *call = code == 0 ? "clWaitForEvents" : "clFinish";
    if (code == 0) code = mr_opencl_forget_gone(device, true);
    pthread_mutex_unlock(&device->lock);
    return code == 0 ? MARE_OK : mr_opencl_fail(code, call, "every stream of the device");
}

/* ---- memory ---- */

static mr_opencl_buffer *buffer_of(mr_native native) { return native.ptr; }

static mare_status make_buffer(mr_opencl_device *device, uint64_t size, uint64_t flags,
                               mr_opencl_buffer **out) {
    const mare_device_info *info = &device->entry->info;
    if (size > info->max_buffer)
        return mr_fail(MARE_ERROR_MEMORY,
                       "%" PRIu64 " bytes are more than one buffer of %s may have: %" PRIu64
                       " (CL_DEVICE_MAX_MEM_ALLOC_SIZE)",
                       size, info->model, info->max_buffer);
    int32_t code = 0;
    struct mr_cl_mem *mem = mr_cl.clCreateBuffer(device->context, flags, size, NULL, &code);
    if (!mem) return mr_opencl_fail(code, "clCreateBuffer", "%" PRIu64 " bytes", size);
    mare_status status = mr_opencl_buffer_wrap(mem, size, out);
    if (status != MARE_OK) mr_cl.clReleaseMemObject(mem);
    return status;
}

enum { UNTOUCHED = 1 << 16 };

static mare_status first_touch(mr_opencl_device *device, const mr_opencl_buffer *buffer) {
    const unsigned char zero = 0;
    int32_t code =
        mr_cl.clEnqueueFillBuffer(device->service, buffer->mem, &zero, 1, 0, 1, 0, NULL, NULL);
    if (code == 0) code = mr_cl.clFinish(device->service);
    if (code == 0) return MARE_OK;
    return mr_opencl_fail(code, "clEnqueueFillBuffer + clFinish",
                          "first touch of %" PRIu64 " bytes", buffer->size);
}

/* The driver of a CPU hands out more memory than there is, and the system kills who uses it: so
 * Mare counts the bytes. */
static mare_status reserve(mr_opencl_entry *entry, uint64_t size) {
    uint64_t before = atomic_fetch_add(&entry->allocated, size);
    if (before <= entry->info.memory && size <= entry->info.memory - before) return MARE_OK;
    atomic_fetch_sub(&entry->allocated, size);
    return mr_fail(MARE_ERROR_MEMORY,
                   "%" PRIu64 " bytes do not fit: %s has %" PRIu64
                   ", of which buffers hold %" PRIu64,
                   size, entry->info.model, entry->info.memory, before);
}

static mare_status buffer_alloc(mr_native native, uint64_t size, mr_native *out) {
    mr_opencl_device *device = native.ptr;
    mr_opencl_buffer *buffer = NULL;
    mare_status status = reserve(device->entry, size);
    if (status != MARE_OK) return status;
    status = make_buffer(device, size, MR_CL_MEM_READ_WRITE, &buffer);
    if (status == MARE_OK && size > UNTOUCHED) status = first_touch(device, buffer);
    if (status == MARE_OK) {
        out->ptr = buffer;
        return MARE_OK;
    }
    if (buffer) mr_opencl_buffer_drop(buffer);
    atomic_fetch_sub(&device->entry->allocated, size);
    return status;
}

static void buffer_free(mr_native native, mr_native buffer) {
    mr_opencl_device *device = native.ptr;
    if (!buffer.ptr) return;
    atomic_fetch_sub(&device->entry->allocated, buffer_of(buffer)->size);
    mr_opencl_buffer_drop(buffer_of(buffer));
}

enum { PAGE_BYTES = 4096 };

/* Pinned host memory is a buffer in host memory, mapped for as long as it lives. It begins with a
 * page, as CUDA's does, so that files can take it as it lies; PoCL's buffers need not. */
static mare_status host_alloc(mr_native native, uint64_t size, mr_native *out, void **data) {
    mr_opencl_device *device = native.ptr;
    mr_opencl_buffer *host = NULL;
    const uint64_t whole = size + PAGE_BYTES - 1;
    int32_t code = 0;
    MR_TRY(make_buffer(device, whole, MR_CL_MEM_READ_WRITE | MR_CL_MEM_ALLOC_HOST_PTR, &host));
    host->mapped =
        mr_cl.clEnqueueMapBuffer(device->service, host->mem, MR_CL_TRUE,
                                 MR_CL_MAP_READ | MR_CL_MAP_WRITE, 0, whole, 0, NULL, NULL, &code);
    if (!host->mapped) {
        mr_opencl_buffer_drop(host);
        return mr_opencl_fail(code, "clEnqueueMapBuffer", "%" PRIu64 " bytes", size);
    }
    out->ptr = host;
    *data = (char *)host->mapped + (-(uintptr_t)host->mapped & (PAGE_BYTES - 1));
    return MARE_OK;
}

/* Queued transfers hold the address only, so that they have to end before it goes. */
static void host_free(mr_native native, mr_native host_native) {
    mr_opencl_device *device = native.ptr;
    mr_opencl_buffer *host = buffer_of(host_native);
    if (!host) return;
    (void)device_wait(native);
    if (mr_cl.clEnqueueUnmapMemObject(device->service, host->mem, host->mapped, 0, NULL, NULL) == 0)
        mr_cl.clFinish(device->service);
    mr_opencl_buffer_drop(host);
}

const mr_backend mr_backend_opencl = {
    .name = "opencl",
    .prelude = mr_prelude_opencl,
    .language = MARE_LANGUAGE_OPENCL,
    .runs_kernels = true,
    .has_compiler = true,
    .compiles_in_turn = true,
    .probe = mr_opencl_probe,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .device_memory = device_memory,
    .device_wait = device_wait,
    .buffer_alloc = buffer_alloc,
    .buffer_free = buffer_free,
    .host_alloc = host_alloc,
    .host_free = host_free,
    .write = mr_opencl_write,
    .read = mr_opencl_read,
    .read_row = mr_opencl_read_row,
    .copy = mr_opencl_copy,
    .fill = mr_opencl_fill,
    .stream_create = mr_opencl_stream_create,
    .stream_destroy = mr_opencl_stream_destroy,
    .stream_wait = mr_opencl_stream_wait,
    .stream_flush = mr_opencl_stream_flush,
    .stream_has_ended = mr_opencl_stream_has_ended,
    .stream_wait_event = mr_opencl_stream_wait_event,
    .event_create = mr_opencl_event_create,
    .event_destroy = mr_opencl_event_destroy,
    .event_record = mr_opencl_event_record,
    .event_wait = mr_opencl_event_wait,
    .event_query = mr_opencl_event_query,
    .event_elapsed_ms = mr_opencl_event_elapsed_ms,
    .program_build = mr_opencl_program_build,
    .program_load = mr_opencl_program_load,
    .program_unload = mr_opencl_program_unload,
    .program_key = mr_opencl_program_key,
    .program_code = mr_opencl_program_code,
    .program_take = mr_opencl_program_take,
    .kernel_get = mr_opencl_kernel_get,
    .kernel_release = mr_opencl_kernel_release,
    .kernel_info = mr_opencl_kernel_info,
    .launch_create = mr_opencl_launch_create,
    .launch_destroy = mr_opencl_launch_destroy,
    .launch_run = mr_opencl_launch_run,
    .call_run = mr_opencl_call_run,
    .device_adopt = mr_opencl_device_adopt,
    .stream_adopt = mr_opencl_stream_adopt,
    .stream_disown = mr_opencl_stream_destroy,
    .buffer_adopt = mr_opencl_buffer_adopt,
    .buffer_disown = mr_opencl_buffer_disown,
    .device_native = mr_opencl_device_native,
    .stream_native = mr_opencl_stream_native,
    .buffer_native = mr_opencl_buffer_native,
    .peer_can_reach = mr_opencl_peer_can_reach,
    .peer_reach = mr_opencl_peer_reach,
    .peer_copy = mr_opencl_peer_copy,
};
