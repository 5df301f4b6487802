/* buffer.c - bytes on a device: creation, views, transfers, copies, fills, and pinned host memory.
 *
 * Every range is checked here against the buffer or view it is given for, before a back end hears
 * of it; a back end only sees offsets within the root allocation.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a copy between two devices holds on the host at once: large enough for full bandwidth, small
 * beside the memory. */
enum { STAGING_BYTES = 32 << 20 };

typedef unsigned long long ull; /* for %llu */

/* ---- creation ---- */

mare_status mr_buffer_check_desc(mare_device *device, const mare_buffer_desc *desc,
                                 const char *label) {
    MR_TRY(mr_check_reserved(desc->reserved, "buffer", label));
    if (desc->size == 0) return mr_fail(MARE_ERROR_ARGUMENT, "buffer '%s': size is 0", label);
    if (desc->flags)
        return mr_fail(MARE_ERROR_ARGUMENT, "buffer '%s': flags is %u, must be 0", label,
                       desc->flags);
    size_t element = mare_type_size((mare_type)desc->type);
    if (!element)
        return mr_fail(MARE_ERROR_ARGUMENT, "buffer '%s': type %u is no mare_type", label,
                       desc->type);
    if (desc->size % element)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "buffer '%s': size %llu is no multiple of %s's %zu bytes", label,
                       (ull)desc->size, mare_type_name((mare_type)desc->type), element);
    uint64_t most = device->info.max_buffer;
    if (most && desc->size > most)
        return mr_fail(MARE_ERROR_MEMORY,
                       "buffer '%s': %llu bytes, %s allows at most %llu for one buffer%s", label,
                       (ull)desc->size, device->info.name, (ull)most,
                       most == device->pool.limit ? " (MARE_MEMORY_LIMIT)" : "");
    return MARE_OK;
}

mare_status mare_buffer_create(mare_device *device, const mare_buffer_desc *desc,
                               mare_buffer **out) {
    if (out) *out = NULL;
    if (!device || !desc || !out)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_buffer_create: device, desc and out are required");
    const char *label = desc->label ? desc->label : "buffer";
    MR_TRY(mr_buffer_check_desc(device, desc, label));
    mare_buffer *buffer = NULL;
    mare_status status = mr_pool_take(device, desc->size, &buffer);
    if (status != MARE_OK) {
        mr_annotate(status, "buffer '%s' of %llu bytes on %s", label, (ull)desc->size,
                    device->info.name);
        return mr_device_note(device, status);
    }
    mr_object_begin(&buffer->object, "buffer", label);
    buffer->object.bytes = desc->size;
    buffer->type = desc->type;
    mare_device_retain(device);
    *out = buffer;
    return MARE_OK;
}

static mare_status check_range(const mare_buffer *buffer, const char *verb, uint64_t offset,
                               uint64_t size) {
    if (offset <= buffer->size && size <= buffer->size - offset) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT,
                   "buffer '%s': %s of %llu bytes at offset %llu, but it has %llu bytes",
                   buffer->object.label, verb, (ull)size, (ull)offset, (ull)buffer->size);
}

mare_status mare_buffer_view(mare_buffer *parent, uint64_t offset, uint64_t size,
                             mare_buffer **out) {
    if (out) *out = NULL;
    if (!parent || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_buffer_view: parent and out are required");
    if (size == 0)
        return mr_fail(MARE_ERROR_ARGUMENT, "buffer '%s': view of 0 bytes", parent->object.label);
    MR_TRY(check_range(parent, "view", offset, size));
    mare_buffer *view = mr_object_new_on_line(sizeof *view, "view", parent->object.label);
    if (!view) return MARE_ERROR_MEMORY;
    view->device = parent->device;
    view->parent = parent;
    view->native = parent->native;
    view->offset = parent->offset + offset;
    view->size = size;
    view->type = parent->type;
    mare_buffer_retain(parent);
    *out = view;
    return MARE_OK;
}

void mare_buffer_retain(mare_buffer *buffer) {
    if (buffer) mr_object_retain(&buffer->object);
}

/* Lets go of memory of the program or of another process. */
static void disown(mare_buffer *buffer) {
    const mare_device *device = buffer->device;
    const mr_backend *backend = device->backend;
    if (buffer->tensor) mr_tensor_leave(buffer);
    (buffer->is_opened ? backend->share_close : backend->buffer_disown)(device->native,
                                                                        buffer->native);
    mare_program_release(buffer->program);
    mare_host_release(buffer->host);
    free(buffer);
}

void mare_buffer_release(mare_buffer *buffer) {
    while (buffer && mr_object_unref(&buffer->object)) {
        mare_buffer *parent = buffer->parent;
        mare_device *device = buffer->device;
        mr_object_end(&buffer->object);
        if (parent) free(buffer);
        else if (buffer->size_class) mr_pool_give(buffer);
        else disown(buffer);
        if (!parent) mare_device_release(device);
        buffer = parent;
    }
}

uint64_t mare_buffer_size(const mare_buffer *buffer) { return buffer ? buffer->size : 0; }

uint32_t mare_buffer_type(const mare_buffer *buffer) {
    return buffer ? buffer->type : MARE_TYPE_NONE;
}

const char *mare_buffer_label(const mare_buffer *buffer) {
    return buffer ? buffer->object.label : "";
}

mare_device *mare_buffer_device(const mare_buffer *buffer) {
    return buffer ? buffer->device : NULL;
}

/* ---- transfers ---- */

static mare_status pick_stream(const mare_buffer *buffer, mare_stream *stream, mare_stream **out) {
    return mr_device_pick_stream(buffer->device, stream, "buffer", buffer->object.label, out);
}

static mare_status upload(mare_buffer *dst, const void *src, const mare_region *r,
                          mare_stream *stream) {
    mr_op op = { .kind = MR_OP_UPLOAD, .blocking = !stream, .buffer = dst, .region = *r };
    op.host = (void *)(uintptr_t)src;
    MR_TRY(pick_stream(dst, stream, &stream));
    return mr_op_submit(&op, stream);
}

static mare_status download(mare_buffer *src, void *dst, const mare_region *r,
                            mare_stream *stream) {
    mr_op op = { .kind = MR_OP_DOWNLOAD, .blocking = !stream, .buffer = src, .host = dst };
    op.region = *r;
    MR_TRY(pick_stream(src, stream, &stream));
    return mr_op_submit(&op, stream);
}

mare_status mare_buffer_upload(mare_buffer *buffer, uint64_t offset, const void *src, uint64_t size,
                               mare_stream *stream) {
    if (!buffer || !src)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_buffer_upload: buffer and src are required");
    MR_TRY(check_range(buffer, "upload", offset, size));
    if (size == 0) return MARE_OK;
    mare_region r = mr_region_linear(buffer->offset + offset, 0, size);
    return upload(buffer, src, &r, stream);
}

MR_RARE static mare_status download_row(mare_buffer *buffer, uint64_t offset, void *dst,
                                        uint64_t size, mare_stream *stream) {
    if (!buffer || !dst)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_buffer_download: buffer and dst are required");
    MR_TRY(check_range(buffer, "download", offset, size));
    if (size == 0) return MARE_OK;
    mare_region r = mr_region_linear(0, buffer->offset + offset, size);
    return download(buffer, dst, &r, stream);
}

MR_RARE static mare_status refuse_row(mare_buffer *buffer, uint64_t size, mare_status status) {
    mr_op op = { .kind = MR_OP_DOWNLOAD, .buffer = buffer };
    op.region = mr_region_linear(0, 0, size);
    return mr_op_fail(&op, status);
}

static inline bool is_within(const mare_buffer *buffer, uint64_t offset, uint64_t size) {
    return size && size <= buffer->size && offset <= buffer->size - size;
}

/* Whether the download can go straight to the back end: nothing is to be ordered or recorded. */
static inline bool is_plain(const mare_buffer *buffer, const mare_stream *stream) {
    return stream->device == buffer->device && mr_order_is_known(buffer, stream) &&
           mr_stream_is_plain(stream);
}

/* A queued download goes straight to the back end where it may. After the wait for a result little
 * of Mare's code is in the caches, so that the time depends on how many lines of it are run. */
MR_HOT mare_status mare_buffer_download(mare_buffer *buffer, uint64_t offset, void *dst,
                                        uint64_t size, mare_stream *stream) {
    if (!buffer || !dst || !stream || !is_within(buffer, offset, size) || !is_plain(buffer, stream))
        return download_row(buffer, offset, dst, size, stream);
    const mare_device *device = buffer->device;
    mare_status status = device->backend->read_row(device->native, stream->native, dst,
                                                   buffer->native, buffer->offset + offset, size);
    return status == MARE_OK ? MARE_OK : refuse_row(buffer, size, status);
}

static mare_status check_box(const mare_buffer *buffer, const char *verb, uint64_t offset,
                             const mare_region *r, bool representable, uint64_t end) {
    if (representable && end <= buffer->size) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT,
                   "buffer '%s': %s of a box of %llu bytes x %llu rows x %llu slices at offset "
                   "%llu ends %s its %llu "
                   "bytes",
                   buffer->object.label, verb, (ull)r->width, (ull)r->height, (ull)r->depth,
                   (ull)offset, representable ? "beyond" : "(64-bit overflow) far beyond",
                   (ull)buffer->size);
}

static mare_status check_dst(const mare_buffer *buffer, const char *verb, const mare_region *r) {
    uint64_t end = 0;
    bool representable = mr_region_dst_end(r, &end);
    return check_box(buffer, verb, r->dst_offset, r, representable, end);
}

static mare_status check_src(const mare_buffer *buffer, const char *verb, const mare_region *r) {
    uint64_t end = 0;
    bool representable = mr_region_src_end(r, &end);
    return check_box(buffer, verb, r->src_offset, r, representable, end);
}

static mare_status check_host(const mare_buffer *buffer, const char *verb, bool representable) {
    if (representable) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT, "buffer '%s': %s: the box in host memory overflows 64 bits",
                   buffer->object.label, verb);
}

mare_status mare_buffer_upload_region(mare_buffer *dst, const void *src, const mare_region *region,
                                      mare_stream *stream) {
    if (!dst || !src)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_buffer_upload_region: dst and src are required");
    mare_region r;
    uint64_t end = 0;
    MR_TRY_WITH(mr_region_normalise(region, &r), "buffer '%s': upload", dst->object.label);
    MR_TRY(check_dst(dst, "upload", &r));
    MR_TRY(check_host(dst, "upload", mr_region_src_end(&r, &end)));
    r.dst_offset += dst->offset;
    return upload(dst, src, &r, stream);
}

mare_status mare_buffer_download_region(mare_buffer *src, void *dst, const mare_region *region,
                                        mare_stream *stream) {
    if (!dst || !src)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_buffer_download_region: src and dst are required");
    mare_region r;
    uint64_t end = 0;
    MR_TRY_WITH(mr_region_normalise(region, &r), "buffer '%s': download", src->object.label);
    MR_TRY(check_src(src, "download", &r));
    MR_TRY(check_host(src, "download", mr_region_dst_end(&r, &end)));
    r.src_offset += src->offset;
    return download(src, dst, &r, stream);
}

/* ---- copies ---- */

/* A copy between two devices through host memory. */
typedef struct relay {
    mare_buffer *dst, *src;
    mare_stream *dst_stream, *src_stream;
    unsigned char *staging;
} relay;

static mare_status relay_copy(const relay *way, const mare_region *r) {
    if (mr_region_volume(r) > STAGING_BYTES) {
        mare_region first, second;
        mr_region_split(r, &first, &second);
        MR_TRY(relay_copy(way, &first));
        return relay_copy(way, &second);
    }
    mare_region in = *r, out = *r;
    in.dst_offset = out.src_offset = 0;
    in.dst_pitch = out.src_pitch = r->width;
    in.dst_slice = out.src_slice = r->width * r->height;
    mr_op op = { MR_OP_DOWNLOAD, true, .buffer = way->src, .host = way->staging, .region = in };
    MR_TRY(mr_op_submit(&op, way->src_stream));
    op = (mr_op){ MR_OP_UPLOAD, true, .buffer = way->dst, .host = way->staging, .region = out };
    return mr_op_submit(&op, way->dst_stream);
}

/* A stream of either device orders its own side; the other side uses its default stream. */
static mare_status copy_between(mare_buffer *dst, mare_buffer *src, const mare_region *r,
                                mare_stream *stream) {
    relay way = { dst, src, dst->device->stream, src->device->stream, NULL };
    if (stream && stream->device == dst->device) way.dst_stream = stream;
    else if (stream && stream->device == src->device) way.src_stream = stream;
    else if (stream)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "copy of buffer '%s' (%s) to '%s' (%s): stream '%s' belongs to neither",
                       src->object.label, src->device->info.name, dst->object.label,
                       dst->device->info.name, stream->object.label);
    if (way.dst_stream->recording || way.src_stream->recording)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "between two devices the host waits, which a plan cannot record");
    uint64_t volume = mr_region_volume(r);
    size_t size = volume < STAGING_BYTES ? (size_t)volume : (size_t)STAGING_BYTES;
    way.staging = malloc(size);
    if (!way.staging)
        return mr_fail(MARE_ERROR_MEMORY, "copy between devices: %zu bytes of host memory", size);
    mare_status status = relay_copy(&way, r);
    free(way.staging);
    return status;
}

/* The device that copies between the two; NULL if none of them reaches the other. */
static mare_device *copier_of(const mare_buffer *dst, const mare_buffer *src,
                              const mare_stream *stream) {
    mare_device *device = stream ? stream->device : dst->device;
    if (device != dst->device && device != src->device) return NULL;
    return mr_device_reaches(device, device == dst->device ? src->device : dst->device) ? device
                                                                                        : NULL;
}

/* The boxes are within their buffers; offsets count from the roots. */
static mare_status copy(mare_buffer *dst, mare_buffer *src, const mare_region *r,
                        mare_stream *stream) {
    if (dst->device != src->device) {
        mr_op op = { .kind = MR_OP_COPY, .buffer = dst, .source = src, .region = *r };
        op.copier = copier_of(dst, src, stream);
        if (op.copier) return mr_op_submit(&op, stream ? stream : op.copier->stream);
        MR_TRY_WITH(copy_between(dst, src, r, stream), "buffer '%s': copy from '%s'",
                    dst->object.label, src->object.label);
        return MARE_OK;
    }
    if (dst->native.u64 == src->native.u64 && mr_region_overlaps(r))
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "buffer '%s': copy within it of %llu bytes from %llu to %llu overlaps",
                       dst->object.label, (ull)mr_region_volume(r), (ull)r->src_offset,
                       (ull)r->dst_offset);
    MR_TRY(pick_stream(dst, stream, &stream));
    return mr_op_submit(
        &(mr_op){ .kind = MR_OP_COPY, .buffer = dst, .source = src, .region = *r }, stream);
}

mare_status mare_buffer_copy(mare_buffer *dst, uint64_t dst_offset, mare_buffer *src,
                             uint64_t src_offset, uint64_t size, mare_stream *stream) {
    if (!dst || !src)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_buffer_copy: dst and src are required");
    MR_TRY(check_range(dst, "copy into it", dst_offset, size));
    MR_TRY(check_range(src, "copy from it", src_offset, size));
    if (size == 0) return MARE_OK;
    mare_region r = mr_region_linear(dst->offset + dst_offset, src->offset + src_offset, size);
    return copy(dst, src, &r, stream);
}

mare_status mare_buffer_copy_region(mare_buffer *dst, mare_buffer *src, const mare_region *region,
                                    mare_stream *stream) {
    if (!dst || !src)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_buffer_copy_region: dst and src are required");
    mare_region r;
    MR_TRY_WITH(mr_region_normalise(region, &r), "buffer '%s': copy from '%s'", dst->object.label,
                src->object.label);
    MR_TRY(check_dst(dst, "copy into it", &r));
    MR_TRY(check_src(src, "copy from it", &r));
    r.dst_offset += dst->offset;
    r.src_offset += src->offset;
    return copy(dst, src, &r, stream);
}

mare_status mare_buffer_fill(mare_buffer *buffer, uint64_t offset, uint64_t size,
                             const void *pattern, uint32_t pattern_size, mare_stream *stream) {
    if (!buffer || !pattern)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_buffer_fill: buffer and pattern are required");
    const char *label = buffer->object.label;
    if (!pattern_size || pattern_size > 16 || pattern_size & (pattern_size - 1))
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "buffer '%s': fill with a pattern of %u bytes (allowed: 1, 2, 4, 8, 16)",
                       label, pattern_size);
    MR_TRY(check_range(buffer, "fill", offset, size));
    uint64_t start = buffer->offset + offset;
    if (start % pattern_size || size % pattern_size)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "buffer '%s': fill of %llu bytes at byte %llu of its memory must keep to "
                       "multiples of the pattern's %u bytes",
                       label, (ull)size, (ull)start, pattern_size);
    if (size == 0) return MARE_OK;
    mr_op op = { .kind = MR_OP_FILL, .buffer = buffer, .pattern_size = pattern_size };
    op.region = mr_region_linear(start, 0, size);
    memcpy(op.pattern, pattern, pattern_size);
    MR_TRY(pick_stream(buffer, stream, &stream));
    return mr_op_submit(&op, stream);
}

/* ---- pinned host memory ---- */

static mare_status allocate(mare_host *host) {
    const mare_device *device = host->device;
    const mr_backend *backend = device->backend;
    if (!host->is_managed)
        return backend->host_alloc(device->native, host->size, &host->native, &host->data);
    if (!backend->managed_alloc)
        return mr_fail(MARE_ERROR_UNAVAILABLE, "%s has no managed memory", device->info.name);
    /* A driver promises more than there is, which ends the process where it is touched. */
    const uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) +
                          device->info.memory;
    if (host->size > most)
        return mr_fail(MARE_ERROR_MEMORY, "the machine and %s have %llu bytes", device->info.name,
                       (ull)most);
    return backend->managed_alloc(device->native, host->size, &host->native, &host->data);
}

static mare_status create_host(mare_device *device, uint64_t size, const char *label,
                               bool is_managed, mare_host **out) {
    if (out) *out = NULL;
    if (!device || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_host_create: device and out are required");
    if (!label) label = "host memory";
    if (size == 0) return mr_fail(MARE_ERROR_ARGUMENT, "host memory '%s': size is 0", label);
    if (size > INT64_MAX)       /* back ends round it up */
        return mr_fail(MARE_ERROR_MEMORY, "host memory '%s' of %llu bytes: no machine has that",
                       label, (ull)size);
    mare_host *host = mr_object_new(sizeof *host, "host memory", label);
    if (!host) return MARE_ERROR_MEMORY;
    host->device = device;
    host->size = host->object.bytes = size;
    host->is_managed = is_managed;
    mare_status status = mr_device_alive(device);
    if (status == MARE_OK) status = allocate(host);
    if (status != MARE_OK) {
        mr_object_delete(&host->object);
        mr_annotate(status, "host memory '%s' of %llu bytes", label, (ull)size);
        return mr_device_note(device, status);
    }
    mare_device_retain(device);
    *out = host;
    return MARE_OK;
}

mare_status mare_host_create(mare_device *device, uint64_t size, const char *label,
                             mare_host **out) {
    return create_host(device, size, label, false, out);
}

mare_status mare_host_create_managed(mare_device *device, uint64_t size, const char *label,
                                     mare_host **out) {
    return create_host(device, size, label, true, out);
}

void mare_host_retain(mare_host *host) {
    if (host) mr_object_retain(&host->object);
}

void mare_host_release(mare_host *host) {
    if (!host || !mr_object_unref(&host->object)) return;
    mare_device *device = host->device;
    const mr_backend *backend = device->backend;
    (host->is_managed ? backend->buffer_free : backend->host_free)(device->native, host->native);
    mr_object_delete(&host->object);
    mare_device_release(device);
}

void *mare_host_data(mare_host *host) { return host ? host->data : NULL; }

uint64_t mare_host_size(const mare_host *host) { return host ? host->size : 0; }

static mare_status adopt_host(mare_host *host, mare_buffer *buffer) {
    const mare_device *device = host->device;
    if (!device->backend->maps_host)
        return mr_fail(MARE_ERROR_UNAVAILABLE, "kernels of %s cannot use memory of the host",
                       device->info.name);
    MR_TRY(mr_device_alive(device));
    return device->backend->buffer_adopt(device->native, (uintptr_t)host->data, host->size,
                                         &buffer->native);
}

mare_status mare_host_buffer(mare_host *host, uint32_t type, mare_buffer **out) {
    if (out) *out = NULL;
    if (!host || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_host_buffer: host and out are required");
    const char *label = host->object.label;
    const size_t element = mare_type_size((mare_type)type);
    if (!element || host->size % element)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "host memory '%s': %llu bytes cannot be elements of type %u", label,
                       (ull)host->size, type);
    mare_buffer *buffer = mr_object_new_on_line(sizeof *buffer, "buffer", label);
    if (!buffer) return MARE_ERROR_MEMORY;
    buffer->device = host->device;
    buffer->size = host->size;
    buffer->type = type;
    mare_status status = adopt_host(host, buffer);
    if (status != MARE_OK) {
        mr_object_delete(&buffer->object);
        return mr_device_note(host->device, mr_annotate(status, "host memory '%s'", label));
    }
    buffer->host = host;
    mare_host_retain(host);
    mare_device_retain(buffer->device);
    *out = buffer;
    return MARE_OK;
}
