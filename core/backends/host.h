/* host.h - entries of a back end's table, as backend.h describes them: host.c. */
#ifndef MARE_HOST_H
#define MARE_HOST_H

#include "backend.h"

/* Of what has no state: streams, and a null device, program and kernel. */
static const mr_native mr_host_nothing = { .u64 = 1 };

mare_status mr_host_device_wait(mr_native device);
mare_status mr_host_buffer_alloc(mr_native device, uint64_t size, mr_native *out);
void mr_host_buffer_free(mr_native device, mr_native buffer);
mare_status mr_host_pinned_alloc(mr_native device, uint64_t size, mr_native *out, void **data);
mare_status mr_host_write_box(mr_native device, mr_native stream, mr_native dst, const void *src,
                              const mare_region *r, int blocking);
mare_status mr_host_read_box(mr_native device, mr_native stream, void *dst, mr_native src,
                             const mare_region *r, int blocking);
mare_status mr_host_read_row(mr_native device, mr_native stream, void *dst, mr_native src,
                             uint64_t offset, uint64_t size);
mare_status mr_host_copy(mr_native device, mr_native stream, mr_native dst, mr_native src,
                         const mare_region *r);
mare_status mr_host_fill(mr_native device, mr_native stream, mr_native dst, uint64_t offset,
                         uint64_t size, const void *pattern, uint32_t pattern_size);
mare_status mr_host_stream_create(mr_native device, int priority, mr_native *out);
void mr_host_stream_destroy(mr_native device, mr_native stream);
mare_status mr_host_stream_wait(mr_native device, mr_native stream);
mare_status mr_host_stream_wait_event(mr_native device, mr_native stream, mr_native event);
mare_status mr_host_event_create(mr_native device, mr_native *out);
void mr_host_event_destroy(mr_native device, mr_native event);
mare_status mr_host_event_record(mr_native device, mr_native event, mr_native stream);
mare_status mr_host_event_wait(mr_native device, mr_native event);
mare_status mr_host_event_query(mr_native device, mr_native event, int *done);
mare_status mr_host_event_elapsed_ms(mr_native device, mr_native start, mr_native stop,
                                     double *out);
mare_status mr_host_call_run(mr_native device, mr_native stream, mare_call_function function,
                             void *data);
mare_status mr_host_buffer_adopt(mr_native device, uint64_t memory, uint64_t size, mr_native *out);
void mr_host_buffer_disown(mr_native device, mr_native buffer);
uint64_t mr_host_buffer_native(mr_native buffer);
mare_status mr_host_peer_can_reach(mr_native device, mr_native peer, int *can);
mare_status mr_host_peer_reach(mr_native device, mr_native peer);
mare_status mr_host_peer_copy(mr_native device, mr_native stream, mr_native dst_device,
                              mr_native dst, mr_native src_device, mr_native src,
                              const mare_region *r);
void mr_host_device_close(mr_native device, bool is_lost);

/* The entries above in a table. */
#define MR_HOST_ENTRIES                                                                            \
    .device_wait = mr_host_device_wait, .buffer_alloc = mr_host_buffer_alloc,                      \
    .buffer_free = mr_host_buffer_free, .host_alloc = mr_host_pinned_alloc,                        \
    .host_free = mr_host_buffer_free, .managed_alloc = mr_host_pinned_alloc, .maps_host = true,    \
    .write = mr_host_write_box, .read = mr_host_read_box,                                          \
    .read_row = mr_host_read_row, .copy = mr_host_copy, .fill = mr_host_fill,                      \
    .stream_create = mr_host_stream_create, .stream_destroy = mr_host_stream_destroy,              \
    .stream_wait = mr_host_stream_wait, .stream_flush = mr_host_stream_wait,                       \
    .stream_wait_event = mr_host_stream_wait_event, .event_create = mr_host_event_create,          \
    .event_destroy = mr_host_event_destroy, .event_record = mr_host_event_record,                  \
    .event_wait = mr_host_event_wait, .event_query = mr_host_event_query,                          \
    .event_elapsed_ms = mr_host_event_elapsed_ms, .call_run = mr_host_call_run,                    \
    .buffer_adopt = mr_host_buffer_adopt, .buffer_disown = mr_host_buffer_disown,                  \
    .buffer_native = mr_host_buffer_native, .peer_can_reach = mr_host_peer_can_reach,              \
    .peer_reach = mr_host_peer_reach, .peer_copy = mr_host_peer_copy

#endif
