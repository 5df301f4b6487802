/* host.c - what back ends have in common whose devices are the processor: memory is host memory,
 * and every transfer is real and done at once. Streams have no state, events are times. */
#include "host.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct host_event {
    _Atomic double ms;
} host_event;

void mr_host_device_close(mr_native device, bool is_lost) { (void)device, (void)is_lost; }

mare_status mr_host_device_wait(mr_native device) {
    (void)device;
    return MARE_OK;
}

mare_status mr_host_buffer_alloc(mr_native device, uint64_t size, mr_native *out) {
    (void)device;
    void *memory = malloc((size_t)size);
    if (!memory)
        return mr_fail(MARE_ERROR_MEMORY, "malloc(%llu bytes) failed", (unsigned long long)size);
    *out = (mr_native){ .ptr = memory };
    return MARE_OK;
}

void mr_host_buffer_free(mr_native device, mr_native buffer) {
    (void)device;
    free(buffer.ptr);
}

mare_status mr_host_pinned_alloc(mr_native device, uint64_t size, mr_native *out, void **data) {
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

mare_status mr_host_write_box(mr_native device, mr_native stream, mr_native dst, const void *src,
                              const mare_region *r, int blocking) {
    (void)device, (void)stream, (void)blocking;
    copy_box(dst.ptr, src, r);
    return MARE_OK;
}

mare_status mr_host_read_box(mr_native device, mr_native stream, void *dst, mr_native src,
                             const mare_region *r, int blocking) {
    (void)device, (void)stream, (void)blocking;
    copy_box(dst, src.ptr, r);
    return MARE_OK;
}

mare_status mr_host_read_row(mr_native device, mr_native stream, void *dst, mr_native src,
                             uint64_t offset, uint64_t size) {
    (void)device, (void)stream;
    memcpy(dst, (const char *)src.ptr + offset, size);
    return MARE_OK;
}

mare_status mr_host_copy(mr_native device, mr_native stream, mr_native dst, mr_native src,
                         const mare_region *r) {
    (void)device, (void)stream;
    copy_box(dst.ptr, src.ptr, r);
    return MARE_OK;
}

mare_status mr_host_fill(mr_native device, mr_native stream, mr_native dst, uint64_t offset,
                         uint64_t size, const void *pattern, uint32_t pattern_size) {
    (void)device, (void)stream;
    unsigned char *start = (unsigned char *)dst.ptr + offset;
    for (uint64_t i = 0; i < size; i += pattern_size) memcpy(start + i, pattern, pattern_size);
    return MARE_OK;
}

mare_status mr_host_stream_create(mr_native device, int priority, mr_native *out) {
    (void)device, (void)priority;
    *out = mr_host_nothing;
    return MARE_OK;
}

void mr_host_stream_destroy(mr_native device, mr_native stream) { (void)device, (void)stream; }

mare_status mr_host_stream_wait(mr_native device, mr_native stream) {
    (void)device, (void)stream;
    return MARE_OK;
}

mare_status mr_host_stream_wait_event(mr_native device, mr_native stream, mr_native event) {
    (void)device, (void)stream, (void)event;
    return MARE_OK;
}

mare_status mr_host_event_create(mr_native device, mr_native *out) {
    (void)device;
    host_event *event = calloc(1, sizeof *event);
    if (!event) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for an event");
    *out = (mr_native){ .ptr = event };
    return MARE_OK;
}

void mr_host_event_destroy(mr_native device, mr_native event) {
    (void)device;
    free(event.ptr);
}

mare_status mr_host_event_record(mr_native device, mr_native event, mr_native stream) {
    (void)device, (void)stream;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    ((host_event *)event.ptr)->ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    return MARE_OK;
}

mare_status mr_host_event_wait(mr_native device, mr_native event) {
    (void)device, (void)event;
    return MARE_OK;
}

mare_status mr_host_event_query(mr_native device, mr_native event, int *done) {
    (void)device, (void)event;
    *done = 1;
    return MARE_OK;
}

mare_status mr_host_event_elapsed_ms(mr_native device, mr_native start, mr_native stop,
                                     double *out) {
    (void)device;
    *out = ((host_event *)stop.ptr)->ms - ((host_event *)start.ptr)->ms;
    return MARE_OK;
}

mare_status mr_host_call_run(mr_native device, mr_native stream, mare_call_function function,
                             void *data) {
    (void)device, (void)stream;
    return function(data, NULL);
}

mare_status mr_host_buffer_adopt(mr_native device, uint64_t memory, uint64_t size, mr_native *out) {
    (void)device, (void)size;
    out->ptr = (void *)(uintptr_t)memory;
    return MARE_OK;
}

void mr_host_buffer_disown(mr_native device, mr_native buffer) { (void)device, (void)buffer; }

uint64_t mr_host_buffer_native(mr_native buffer) { return (uintptr_t)buffer.ptr; }

mare_status mr_host_peer_can_reach(mr_native device, mr_native peer, int *can) {
    (void)device, (void)peer;
    *can = 1;
    return MARE_OK;
}

mare_status mr_host_peer_reach(mr_native device, mr_native peer) {
    (void)device, (void)peer;
    return MARE_OK;
}

mare_status mr_host_peer_copy(mr_native device, mr_native stream, mr_native dst_device,
                              mr_native dst, mr_native src_device, mr_native src,
                              const mare_region *r) {
    (void)dst_device, (void)src_device;
    return mr_host_copy(device, stream, dst, src, r);
}
