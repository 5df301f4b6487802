/* opencl_transfer.c - reads, writes, copies and fills.
 *
 * Mare gives a box as a byte offset and pitches; OpenCL wants an origin (x, y, z) that makes the
 * same offset with the same pitches. On the host's side the offset simply goes into the pointer.
 * A small transfer that the host waits for goes through the device's queue without times where its
 * stream has nothing left to do: NVIDIA's driver takes 11 to 16 us for 4 KiB there, 21 to 24 in a
 * queue with times (580, H200), and 10 us more for up to 256 KiB, too. Behind a kernel it takes 3
 * us less to wait for the stream first: 25.7 us for launch, wait and 4 bytes, 28.7 without. */
#include "opencl.h"

#include <inttypes.h>

typedef struct box {
    size_t origin[3], pitch, slice;
} box;

static box make_box(const mare_region *r, uint64_t offset, uint64_t pitch, uint64_t slice) {
    box b = { .pitch = pitch, .slice = r->depth > 1 ? slice : pitch * r->height };
    b.origin[0] = offset % b.slice % b.pitch;
    b.origin[1] = offset % b.slice / b.pitch;
    b.origin[2] = offset / b.slice;
    return b;
}

static box dst_box(const mare_region *r) {
    return make_box(r, r->dst_offset, r->dst_pitch, r->dst_slice);
}

static box src_box(const mare_region *r) {
    return make_box(r, r->src_offset, r->src_pitch, r->src_slice);
}

static bool is_packed(const mare_region *r, const box *b) {
    return (r->height == 1 || b->pitch == r->width) &&
           (r->depth == 1 || b->slice == r->width * r->height);
}

/* "WxHxD bytes at OFFSET", the argument that error messages show. */
#define BOX_TEXT "%" PRIu64 "x%" PRIu64 "x%" PRIu64 " bytes at %" PRIu64
#define BOX_VALUES(r, offset) (r)->width, (r)->height, (r)->depth, (offset)

/* Whether a stream has nothing left to do, for which it is waited with NVIDIA's driver. */
static bool comes_to_idle(mr_native device, mr_native stream) {
    const mr_opencl_stream *s = stream.ptr;
    if (mr_opencl_is_idle(stream.ptr)) return true;
    if (!((const mr_opencl_device *)device.ptr)->entry->is_nvidia || atomic_load(&s->is_lent))
        return false;
    return mr_opencl_stream_wait(device, stream) == MARE_OK && mr_opencl_is_idle(stream.ptr);
}

/* Of one transfer to or from the host. There is no stream in the command where none is needed. */
static struct mr_cl_queue *begin_with_host(mr_native device, mr_native stream,
                                           const mare_region *r, int blocking,
                                           mr_opencl_command *command) {
    enum { SMALL = 1 << 18 };
    if (!blocking || mr_region_volume(r) > SMALL || !comes_to_idle(device, stream))
        return mr_opencl_begin(stream, command);
    return ((const mr_opencl_device *)device.ptr)->service;
}

static mare_status end_with_host(const mr_opencl_command *command, int blocking) {
    if (!command->stream) return MARE_OK;
    MR_TRY(mr_opencl_end(command));
    if (blocking) mr_opencl_note_end(command->stream, command->number);
    return MARE_OK;
}

mare_status mr_opencl_write(mr_native device, mr_native stream, mr_native dst, const void *src,
                            const mare_region *r, int blocking) {
    static const size_t zero[3];
    MR_OPENCL_COMMAND(command);
    struct mr_cl_queue *queue = begin_with_host(device, stream, r, blocking, &command);
    struct mr_cl_mem *mem = ((mr_opencl_buffer *)dst.ptr)->mem;
    const char *host = (const char *)src + r->src_offset;
    const box to = dst_box(r), from = src_box(r);
    const size_t size[3] = { r->width, r->height, r->depth };
    const uint32_t wait = blocking != 0;
    if (is_packed(r, &to) && is_packed(r, &from))
        MR_CL_TRY(clEnqueueWriteBuffer,
                  (queue, mem, wait, r->dst_offset, mr_region_volume(r), host, 0, NULL,
                   command.wanted),
                  BOX_TEXT, BOX_VALUES(r, r->dst_offset));
    else
        MR_CL_TRY(clEnqueueWriteBufferRect,
                  (queue, mem, wait, to.origin, zero, size, to.pitch, to.slice, from.pitch,
                   from.slice, host, 0, NULL, command.wanted),
                  BOX_TEXT, BOX_VALUES(r, r->dst_offset));
    return end_with_host(&command, blocking);
}

mare_status mr_opencl_read(mr_native device, mr_native stream, void *dst, mr_native src,
                           const mare_region *r, int blocking) {
    static const size_t zero[3];
    MR_OPENCL_COMMAND(command);
    struct mr_cl_queue *queue = begin_with_host(device, stream, r, blocking, &command);
    struct mr_cl_mem *mem = ((mr_opencl_buffer *)src.ptr)->mem;
    char *host = (char *)dst + r->dst_offset;
    const box to = dst_box(r), from = src_box(r);
    const size_t size[3] = { r->width, r->height, r->depth };
    const uint32_t wait = blocking != 0;
    if (is_packed(r, &to) && is_packed(r, &from))
        MR_CL_TRY(clEnqueueReadBuffer,
                  (queue, mem, wait, r->src_offset, mr_region_volume(r), host, 0, NULL,
                   command.wanted),
                  BOX_TEXT, BOX_VALUES(r, r->src_offset));
    else
        MR_CL_TRY(clEnqueueReadBufferRect,
                  (queue, mem, wait, from.origin, zero, size, from.pitch, from.slice, to.pitch,
                   to.slice, host, 0, NULL, command.wanted),
                  BOX_TEXT, BOX_VALUES(r, r->src_offset));
    return end_with_host(&command, blocking);
}

mare_status mr_opencl_read_row(mr_native device, mr_native stream, void *dst, mr_native src,
                               uint64_t offset, uint64_t size) {
    (void)device;
    MR_OPENCL_COMMAND(command);
    struct mr_cl_queue *queue = mr_opencl_begin(stream, &command);
    struct mr_cl_mem *mem = ((mr_opencl_buffer *)src.ptr)->mem;
    MR_CL_TRY(clEnqueueReadBuffer,
              (queue, mem, 0, offset, size, dst, 0, NULL, command.wanted),
              "%" PRIu64 " bytes at %" PRIu64, size, offset);
    return mr_opencl_end(&command);
}

static mare_status copy_bytes(mr_native stream, struct mr_cl_mem *to, struct mr_cl_mem *from,
                              uint64_t to_offset, uint64_t from_offset, uint64_t size) {
    MR_OPENCL_COMMAND(command);
    struct mr_cl_queue *queue = mr_opencl_begin(stream, &command);
    MR_CL_TRY(clEnqueueCopyBuffer,
              (queue, from, to, from_offset, to_offset, size, 0, NULL, command.wanted),
              "%" PRIu64 " bytes from %" PRIu64 " to %" PRIu64, size, from_offset, to_offset);
    return mr_opencl_end(&command);
}

/* Within one buffer OpenCL takes boxes of equal pitches only; others go row by row. */
static mare_status copy_rows(mr_native stream, struct mr_cl_mem *mem, const mare_region *r,
                             const box *to, const box *from) {
    for (uint64_t z = 0; z < r->depth; z++)
        for (uint64_t y = 0; y < r->height; y++)
            MR_TRY(copy_bytes(stream, mem, mem, r->dst_offset + z * to->slice + y * to->pitch,
                              r->src_offset + z * from->slice + y * from->pitch, r->width));
    return MARE_OK;
}

mare_status mr_opencl_copy(mr_native device, mr_native stream, mr_native dst, mr_native src,
                           const mare_region *r) {
    (void)device;
    struct mr_cl_mem *into = ((mr_opencl_buffer *)dst.ptr)->mem;
    struct mr_cl_mem *out_of = ((mr_opencl_buffer *)src.ptr)->mem;
    const box to = dst_box(r), from = src_box(r);
    const size_t size[3] = { r->width, r->height, r->depth };
    if (is_packed(r, &to) && is_packed(r, &from))
        return copy_bytes(stream, into, out_of, r->dst_offset, r->src_offset,
                          mr_region_volume(r));
    if (into == out_of && (to.pitch != from.pitch || to.slice != from.slice))
        return copy_rows(stream, into, r, &to, &from);
    MR_OPENCL_COMMAND(command);
    struct mr_cl_queue *queue = mr_opencl_begin(stream, &command);
    MR_CL_TRY(clEnqueueCopyBufferRect,
              (queue, out_of, into, from.origin, to.origin, size, from.pitch, from.slice, to.pitch,
               to.slice, 0, NULL, command.wanted),
              BOX_TEXT, BOX_VALUES(r, r->dst_offset));
    return mr_opencl_end(&command);
}

mare_status mr_opencl_fill(mr_native device, mr_native stream, mr_native dst, uint64_t offset,
                           uint64_t size, const void *pattern, uint32_t pattern_size) {
    (void)device;
    MR_OPENCL_COMMAND(command);
    struct mr_cl_queue *queue = mr_opencl_begin(stream, &command);
    MR_CL_TRY(clEnqueueFillBuffer,
              (queue, ((mr_opencl_buffer *)dst.ptr)->mem, pattern, pattern_size, offset, size, 0,
               NULL, command.wanted),
              "%" PRIu64 " bytes at %" PRIu64, size, offset);
    return mr_opencl_end(&command);
}
