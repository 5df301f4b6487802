/* null.c - a device without a device, and the skeleton to copy for a new back end.
 *
 * Memory is host memory and every transfer is real and done at once. Launches are accepted and not
 * executed: nothing here can run a kernel. A program is its own text; one that contains "#error"
 * does not build, so that failure paths can be tested on any machine.
 */
#include "backend.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct null_event {
    _Atomic double ms;
} null_event;

/* Devices, streams, programs and kernels have no state: they share one address that is not NULL. */
static const mr_native nothing = { .u64 = 1 };

static mare_status probe(mare_backend_info *out) {
    out->available = 1;
    out->device_count = 1;
    strcpy(out->version, "Mare " MARE_VERSION);
    return MARE_OK;
}

static mare_status device_info(int index, mare_device_info *out) {
    (void)index;
    *out = (mare_device_info){ .model = "host memory, runs no kernel",
                               .vendor = "Mare",
                               .driver = "Mare " MARE_VERSION,
                               .arch = "null",
                               .kind = MARE_DEVICE_OTHER,
                               .compute_units = 1,
                               .warp_size = 1,
                               .max_group_size = 1024,
                               .max_group = { 1024, 1024, 64 },
                               .max_buffer = INT64_MAX,
                               .local_memory = 48 << 10,
                               .max_local_memory = 48 << 10,
                               .view_alignment = 1,
                               .has_double = 1,
                               .has_int64_atomics = 1 };
    return MARE_OK;
}

static mare_status device_open(int index, mr_native *out) {
    (void)index;
    *out = nothing;
    return MARE_OK;
}

static void device_close(mr_native device, bool is_lost) { (void)device, (void)is_lost; }

static mare_status device_memory(mr_native device, uint64_t *available, uint64_t *total) {
    (void)device;
    *available = *total = 0;
    return MARE_OK;
}

static mare_status device_wait(mr_native device) {
    (void)device;
    return MARE_OK;
}

static mare_status buffer_alloc(mr_native device, uint64_t size, mr_native *out) {
    (void)device;
    void *memory = malloc((size_t)size);
    if (!memory)
        return mr_fail(MARE_ERROR_MEMORY, "malloc(%llu bytes) failed", (unsigned long long)size);
    *out = (mr_native){ .ptr = memory };
    return MARE_OK;
}

static void buffer_free(mr_native device, mr_native buffer) {
    (void)device;
    free(buffer.ptr);
}

static mare_status host_alloc(mr_native device, uint64_t size, mr_native *out, void **data) {
    const uint64_t page = 4096, whole = (size + page - 1) / page * page;
    (void)device;
    *data = out->ptr = aligned_alloc(page, (size_t)whole);
    if (!out->ptr)
        return mr_fail(MARE_ERROR_MEMORY, "%llu bytes do not fit", (unsigned long long)size);
    return MARE_OK;
}

static void copy_box(unsigned char *dst, const unsigned char *src, const mare_region *r) {
    for (uint64_t z = 0; z < r->depth; z++)
        for (uint64_t y = 0; y < r->height; y++)
            memcpy(dst + r->dst_offset + z * r->dst_slice + y * r->dst_pitch,
                   src + r->src_offset + z * r->src_slice + y * r->src_pitch, (size_t)r->width);
}

static mare_status write_box(mr_native device, mr_native stream, mr_native dst, const void *src,
                             const mare_region *r, int blocking) {
    (void)device, (void)stream, (void)blocking;
    copy_box(dst.ptr, src, r);
    return MARE_OK;
}

static mare_status read_box(mr_native device, mr_native stream, void *dst, mr_native src,
                            const mare_region *r, int blocking) {
    (void)device, (void)stream, (void)blocking;
    copy_box(dst, src.ptr, r);
    return MARE_OK;
}

static mare_status read_row(mr_native device, mr_native stream, void *dst, mr_native src,
                            uint64_t offset, uint64_t size) {
    (void)device, (void)stream;
    memcpy(dst, (const char *)src.ptr + offset, size);
    return MARE_OK;
}

static mare_status copy(mr_native device, mr_native stream, mr_native dst, mr_native src,
                        const mare_region *r) {
    (void)device, (void)stream;
    copy_box(dst.ptr, src.ptr, r);
    return MARE_OK;
}

static mare_status fill(mr_native device, mr_native stream, mr_native dst, uint64_t offset,
                        uint64_t size, const void *pattern, uint32_t pattern_size) {
    (void)device, (void)stream;
    unsigned char *start = (unsigned char *)dst.ptr + offset;
    for (uint64_t i = 0; i < size; i += pattern_size) memcpy(start + i, pattern, pattern_size);
    return MARE_OK;
}

static mare_status stream_create(mr_native device, int priority, mr_native *out) {
    (void)device, (void)priority;
    *out = nothing;
    return MARE_OK;
}

static void stream_destroy(mr_native device, mr_native stream) { (void)device, (void)stream; }

static mare_status stream_wait(mr_native device, mr_native stream) {
    (void)device, (void)stream;
    return MARE_OK;
}

static mare_status stream_wait_event(mr_native device, mr_native stream, mr_native event) {
    (void)device, (void)stream, (void)event;
    return MARE_OK;
}

static mare_status event_create(mr_native device, mr_native *out) {
    (void)device;
    null_event *event = calloc(1, sizeof *event);
    if (!event) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for an event");
    *out = (mr_native){ .ptr = event };
    return MARE_OK;
}

static void event_destroy(mr_native device, mr_native event) {
    (void)device;
    free(event.ptr);
}

static mare_status event_record(mr_native device, mr_native event, mr_native stream) {
    (void)device, (void)stream;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    ((null_event *)event.ptr)->ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    return MARE_OK;
}

static mare_status event_wait(mr_native device, mr_native event) {
    (void)device, (void)event;
    return MARE_OK;
}

static mare_status event_query(mr_native device, mr_native event, int *done) {
    (void)device, (void)event;
    *done = 1;
    return MARE_OK;
}

static mare_status event_elapsed_ms(mr_native device, mr_native start, mr_native stop,
                                    double *out) {
    (void)device;
    *out = ((null_event *)stop.ptr)->ms - ((null_event *)start.ptr)->ms;
    return MARE_OK;
}

static mare_status program_build(mr_native device, const mr_source *source, mr_blob *binary,
                                 mr_native *loaded, mr_blob *log) {
    (void)device, (void)loaded, (void)log;
    const char *error = strstr(source->text, "#error");
    if (error) return mr_fail(MARE_ERROR_BUILD, "%.*s", (int)strcspn(error, "\n"), error);
    size_t size = strlen(source->text);
    void *text = malloc(size + 1);
    if (!text)
        return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a program of %zu bytes", size);
    memcpy(text, source->text, size + 1);
    *binary = (mr_blob){ text, size };
    return MARE_OK;
}

static mare_status program_load(mr_native device, const mr_blob *binary, mr_native *out) {
    (void)device, (void)binary;
    *out = nothing;
    return MARE_OK;
}

static void program_unload(mr_native device, mr_native program) { (void)device, (void)program; }

static mare_status program_key(mr_native device, uint32_t language, char *out, size_t size) {
    (void)device, (void)language;
    if (size) out[0] = '\0';
    return MARE_OK;
}

static mare_status kernel_get(mr_native device, mr_native program, const char *name,
                              mr_native *out) {
    (void)device, (void)program, (void)name;
    *out = nothing;
    return MARE_OK;
}

static void kernel_release(mr_native device, mr_native kernel) { (void)device, (void)kernel; }

static mare_status kernel_info(mr_native device, mr_native kernel, mare_kernel_info *out) {
    (void)device, (void)kernel;
    out->max_group_size = 1024;
    out->warp_size = 1;
    return MARE_OK;
}

static mare_status launch_create(mr_native device, const mr_dispatch *launch, mr_native *out) {
    (void)device, (void)launch;
    *out = nothing;
    return MARE_OK;
}

static void launch_destroy(mr_native device, mr_native launch) { (void)device, (void)launch; }

static mare_status launch_run(mr_native device, mr_native stream, const mr_dispatch *launch) {
    (void)device, (void)stream, (void)launch;
    return MARE_OK;
}

static mare_status call_run(mr_native device, mr_native stream, mare_call_function function,
                            void *data) {
    (void)device, (void)stream;
    return function(data, NULL);
}

static mare_status buffer_adopt(mr_native device, uint64_t memory, uint64_t size, mr_native *out) {
    (void)device, (void)size;
    out->ptr = (void *)(uintptr_t)memory;
    return MARE_OK;
}

static void buffer_disown(mr_native device, mr_native buffer) { (void)device, (void)buffer; }

static uint64_t buffer_native(mr_native buffer) { return (uintptr_t)buffer.ptr; }

static mare_status peer_can_reach(mr_native device, mr_native peer, int *can) {
    (void)device, (void)peer;
    *can = 1;
    return MARE_OK;
}

static mare_status peer_reach(mr_native device, mr_native peer) {
    (void)device, (void)peer;
    return MARE_OK;
}

static mare_status peer_copy(mr_native device, mr_native stream, mr_native dst_device,
                             mr_native dst, mr_native src_device, mr_native src,
                             const mare_region *r) {
    (void)dst_device, (void)src_device;
    return copy(device, stream, dst, src, r);
}

const mr_backend mr_backend_null = {
    .name = "null",
    .prelude = "",
    .orders_devices = true,
    .probe = probe,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .device_memory = device_memory,
    .device_wait = device_wait,
    .buffer_alloc = buffer_alloc,
    .buffer_free = buffer_free,
    .host_alloc = host_alloc,
    .host_free = buffer_free,
    .write = write_box,
    .read = read_box,
    .read_row = read_row,
    .copy = copy,
    .fill = fill,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_wait = stream_wait,
    .stream_flush = stream_wait,
    .stream_wait_event = stream_wait_event,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_wait = event_wait,
    .event_query = event_query,
    .event_elapsed_ms = event_elapsed_ms,
    .program_build = program_build,
    .program_load = program_load,
    .program_unload = program_unload,
    .program_key = program_key,
    .kernel_get = kernel_get,
    .kernel_release = kernel_release,
    .kernel_info = kernel_info,
    .launch_create = launch_create,
    .launch_destroy = launch_destroy,
    .launch_run = launch_run,
    .call_run = call_run,
    .buffer_adopt = buffer_adopt,
    .buffer_disown = buffer_disown,
    .buffer_native = buffer_native,
    .peer_can_reach = peer_can_reach,
    .peer_reach = peer_reach,
    .peer_copy = peer_copy,
};
