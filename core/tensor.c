/* tensor.c - buffers as arrays of other libraries, and theirs as buffers, by DLPack.
 *
 * Memory that goes out may still be used by others when they let go of it, on queues that nobody
 * here knows: it goes back to the vendor, which waits for everything, never to the pool. Memory
 * that comes in is let go of when what this process has queued on it has ended: until then it waits
 * in a list of its device, at which every exchange looks, so that the host waits for nothing.
 */
#include "internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAJOR = 1, MINOR = 0, MAX_DIMENSIONS = 32 };

/* What DLPack calls devices. */
enum { ON_HOST = 1, ON_CUDA = 2, ON_PINNED = 3, ON_OPENCL = 4, ON_MANAGED = 13 };

/* ---- types of elements ---- */

static const struct {
    uint8_t code, bits;
    const char *text;
} kinds[] = {
    [MARE_TYPE_NONE] = { 1, 8, "|u1" },
    [MARE_TYPE_INT8] = { 0, 8, "|i1" },
    [MARE_TYPE_UINT8] = { 1, 8, "|u1" },
    [MARE_TYPE_INT16] = { 0, 16, "<i2" },
    [MARE_TYPE_UINT16] = { 1, 16, "<u2" },
    [MARE_TYPE_INT32] = { 0, 32, "<i4" },
    [MARE_TYPE_UINT32] = { 1, 32, "<u4" },
    [MARE_TYPE_INT64] = { 0, 64, "<i8" },
    [MARE_TYPE_UINT64] = { 1, 64, "<u8" },
    [MARE_TYPE_FLOAT] = { 2, 32, "<f4" },
    [MARE_TYPE_DOUBLE] = { 2, 64, "<f8" },
    [MARE_TYPE_HALF] = { 2, 16, "<f2" },
    [MARE_TYPE_BOOL] = { 6, 8, "|b1" },
    [MARE_TYPE_COMPLEX_FLOAT] = { 5, 64, "<c8" },
    [MARE_TYPE_COMPLEX_DOUBLE] = { 5, 128, "<c16" },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *mare_type_code(mare_type type) {
    return (unsigned)type < KINDS ? kinds[type].text : "";
}

static mare_type type_of(const mare_tensor_view *view) {
    for (unsigned i = MARE_TYPE_NONE + 1; i < KINDS; i++)
        if (view->vector == 1 && kinds[i].code == view->code && kinds[i].bits == view->bits)
            return (mare_type)i;
    return MARE_TYPE_NONE;
}

/* ---- shapes ---- */

/* Bytes from the first element to behind the last one; false where that is beyond 64 bits, or where
 * a stride is negative. No elements: 0. */
static bool span_of(const int64_t *shape, const int64_t *strides, uint32_t dimensions,
                    uint64_t element, uint64_t *out) {
    uint64_t last = 0, row = 1;
    bool is_empty = false, is_good = true;
    for (uint32_t k = dimensions; k-- > 0;) {
        uint64_t reach = 0;
        if (shape[k] < 0 || (strides && strides[k] < 0)) return false;
        const uint64_t count = (uint64_t)shape[k], step = strides ? (uint64_t)strides[k] : row;
        is_empty = is_empty || count == 0;
        is_good = is_good && !__builtin_mul_overflow(row, count, &row) &&
                  (count == 0 || !__builtin_mul_overflow(count - 1, step, &reach)) &&
                  !__builtin_add_overflow(last, reach, &last);
    }
    *out = 0;
    return is_empty || (is_good && last < UINT64_MAX &&
                        !__builtin_mul_overflow(last + 1, element, out));
}

/* ---- out ---- */

typedef struct exported {
    mare_tensor tensor;
    mare_buffer *buffer;            /* one of the two */
    mare_host *host;
    int64_t numbers[];              /* shape and strides */
} exported;

static void finish_export(mare_tensor *tensor) {
    exported *self = tensor->owner;
    if (self->buffer) {
        mare_buffer *root = self->buffer;
        while (root->parent) root = root->parent;
        atomic_store(&root->is_lent, true);
    }
    mare_buffer_release(self->buffer);
    mare_host_release(self->host);
    free(self);
}

static mare_status check_desc(const mare_tensor_desc *desc, uint32_t type, uint64_t size,
                              const char *label) {
    uint64_t span = 0;
    MR_TRY(mr_check_reserved(desc->reserved, "tensor of", label));
    if (desc->dimensions > MAX_DIMENSIONS || (desc->dimensions && !desc->shape))
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "tensor of '%s': %u dimensions (at most %d, with a shape)", label,
                       desc->dimensions, MAX_DIMENSIONS);
    if (type == MARE_TYPE_NONE || type >= KINDS)
        return mr_fail(MARE_ERROR_ARGUMENT, "tensor of '%s': type %u is no mare_type of elements",
                       label, type);
    const uint64_t element = mare_type_size((mare_type)type);
    const bool is_good = span_of(desc->shape, desc->strides, desc->dimensions, element, &span);
    if (is_good && desc->offset <= size && span <= size - desc->offset) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT,
                   "tensor of '%s': shape and strides reach over %" PRIu64 " bytes at offset "
                   "%" PRIu64 ", of %" PRIu64 " (strides are never negative)",
                   label, is_good ? span : UINT64_MAX, desc->offset, size);
}

static void fill_numbers(exported *self, const mare_tensor_desc *desc) {
    int64_t *shape = self->numbers, *strides = shape + desc->dimensions, row = 1;
    for (uint32_t k = desc->dimensions; k-- > 0;) {
        shape[k] = desc->shape[k];
        strides[k] = desc->strides ? desc->strides[k] : row;
        row *= shape[k] ? shape[k] : 1;
    }
    self->tensor.view.shape = shape;
    self->tensor.view.strides = strides;
}

static exported *new_export(const mare_tensor_desc *desc, uint32_t type) {
    exported *self = calloc(1, sizeof *self + 2 * desc->dimensions * sizeof(int64_t));
    if (!self) return NULL;
    self->tensor = (mare_tensor){ .major = MAJOR, .minor = MINOR, .owner = self,
                                  .deleter = finish_export,
                                  .flags = desc->is_read_only ? MARE_TENSOR_READ_ONLY : 0 };
    mare_tensor_view *view = &self->tensor.view;
    view->dimensions = (int32_t)desc->dimensions;
    view->code = kinds[type].code;
    view->bits = kinds[type].bits;
    view->vector = 1;
    fill_numbers(self, desc);
    return self;
}

static int32_t number_of(const mare_device *device) {
    const char *colon = strchr(device->info.name, ':');
    return colon ? atoi(colon + 1) : 0;
}

static int32_t kind_of(const mare_device *device) {
    if (device->backend == &mr_backend_cuda) return ON_CUDA;
    return device->backend == &mr_backend_opencl ? ON_OPENCL : ON_HOST;
}

/* An OpenCL object is no address: the offset stands beside it. */
static void set_place(mare_tensor_view *view, mare_buffer *buffer, uint64_t offset) {
    const mare_device *device = buffer->device;
    const uint64_t memory = device->backend->buffer_native(buffer->native);
    const bool is_address = kind_of(device) != ON_OPENCL;
    offset += buffer->offset;
    view->device_type = kind_of(device);
    view->device_id = view->device_type == ON_HOST ? 0 : number_of(device);
    view->data = (void *)(uintptr_t)(is_address ? memory + offset : memory);
    view->offset = is_address ? 0 : offset;
}

/* What others queue on `queue` from now on comes after what the streams here have queued on the
 * buffer. */
static mare_status hand_over(mare_buffer *buffer, void *queue) {
    mare_device *device = buffer->device;
    const mr_backend *backend = device->backend;
    mr_native other;
    while (buffer->parent) buffer = buffer->parent;
    const uint64_t streams = atomic_load(&buffer->streams) | buffer->pending;
    if (!queue || !streams || !backend->stream_adopt) return MARE_OK;
    if (!mr_order_covers(streams)) return backend->device_wait(device->native);
    MR_TRY(backend->stream_adopt(device->native, queue, &other));
    mare_status status = mr_order_wait(device, streams, UINT64_MAX, device, other);
    backend->stream_disown(device->native, other);
    return status;
}

static void visit_leaving(mare_device *device, bool waits);

mare_status mare_tensor_export(mare_buffer *buffer, const mare_tensor_desc *desc, void *queue,
                               mare_tensor **out) {
    if (out) *out = NULL;
    if (!buffer || !desc || !out)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_tensor_export: buffer, desc and out are required");
    const char *label = buffer->object.label;
    const uint32_t type = desc->type ? desc->type : buffer->type;
    MR_TRY(check_desc(desc, type, buffer->size, label));
    MR_TRY(mr_device_alive(buffer->device));
    exported *self = new_export(desc, type);
    if (!self) return mr_fail(MARE_ERROR_MEMORY, "tensor of '%s': out of host memory", label);
    mare_status status = hand_over(buffer, queue);
    if (status != MARE_OK) {
        free(self);
        return mr_device_note(buffer->device, mr_annotate(status, "tensor of '%s'", label));
    }
    set_place(&self->tensor.view, buffer, desc->offset);
    mare_buffer_retain(buffer);
    self->buffer = buffer;
    *out = &self->tensor;
    visit_leaving(buffer->device, false);
    return MARE_OK;
}

mare_status mare_tensor_export_host(mare_host *host, const mare_tensor_desc *desc,
                                    mare_tensor **out) {
    if (out) *out = NULL;
    if (!host || !desc || !out)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_tensor_export_host: host, desc and out are required");
    MR_TRY(check_desc(desc, desc->type, host->size, host->object.label));
    exported *self = new_export(desc, desc->type);
    if (!self)
        return mr_fail(MARE_ERROR_MEMORY, "tensor of '%s': out of host memory",
                       host->object.label);
    self->tensor.view.device_type = ON_HOST;
    self->tensor.view.data = (char *)host->data + desc->offset;
    mare_host_retain(host);
    self->host = host;
    *out = &self->tensor;
    return MARE_OK;
}

/* ---- in ---- */

static bool is_here(const mare_device *device, const mare_tensor_view *view) {
    const int32_t kind = kind_of(device), given = view->device_type;
    if (kind == ON_HOST) return given == ON_HOST || given == ON_PINNED || given == ON_MANAGED;
    return (given == kind || (kind == ON_CUDA && given == ON_MANAGED)) &&
           (kind == ON_OPENCL || view->device_id == number_of(device));
}

/* Kernels read an element at once, which GPUs do where it begins at a multiple of its size. */
static mare_status check_place(const mare_tensor_view *view, const char *label) {
    const uint64_t element = mare_type_size(type_of(view));
    const uint64_t address = view->device_type == ON_OPENCL ? 0 : (uintptr_t)view->data;
    const uint64_t beyond = (address + view->offset) % element;
    if (!beyond) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT,
                   "tensor '%s': it begins %" PRIu64 " bytes behind a multiple of its elements' "
                   "%" PRIu64 " bytes: copy it", label, beyond, element);
}

static mare_status check_tensor(const mare_device *device, const mare_tensor *tensor,
                                const char *label, uint64_t *span) {
    const mare_tensor_view *view = &tensor->view;
    if (tensor->major != MAJOR)
        return mr_fail(MARE_ERROR_UNAVAILABLE, "tensor '%s': DLPack %u.%u (here: %d.x)", label,
                       tensor->major, tensor->minor, MAJOR);
    if (tensor->flags & MARE_TENSOR_READ_ONLY)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "tensor '%s' may only be read; a buffer can be written: copy it", label);
    if (!is_here(device, view))
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "tensor '%s' is on device %d:%d of DLPack, which is not %s (%d:%d): copy it",
                       label, view->device_type, view->device_id, device->info.name,
                       kind_of(device), number_of(device));
    if (type_of(view) == MARE_TYPE_NONE)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "tensor '%s': elements of code %u, %u bits, vectors of %u have no mare_type",
                       label, view->code, view->bits, view->vector);
    const bool is_good = view->dimensions >= 0 && view->dimensions <= MAX_DIMENSIONS &&
                         (view->shape || !view->dimensions) &&
                         span_of(view->shape, view->strides, (uint32_t)view->dimensions,
                                 mare_type_size(type_of(view)), span);
    if (is_good && *span && view->data) return check_place(view, label);
    return mr_fail(MARE_ERROR_ARGUMENT,
                   "tensor '%s': it has no elements, or a negative stride, or more than %d "
                   "dimensions", label, MAX_DIMENSIONS);
}

mare_status mare_tensor_import(mare_device *device, mare_tensor *tensor, const char *label,
                               mare_buffer **out) {
    if (out) *out = NULL;
    if (!device || !tensor || !out)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_tensor_import: device, tensor and out are required");
    uint64_t span = 0;
    if (!label) label = "tensor";
    MR_TRY(check_tensor(device, tensor, label, &span));
    const mare_tensor_view *view = &tensor->view;
    const bool is_address = kind_of(device) != ON_OPENCL;
    const uint64_t memory = (uintptr_t)view->data + (is_address ? view->offset : 0);
    const mare_buffer_desc desc = { .size = is_address ? span : view->offset + span,
                                    .type = is_address ? type_of(view) : MARE_TYPE_NONE,
                                    .label = label };
    mare_buffer *root = NULL;
    MR_TRY(mare_buffer_adopt(device, memory, &desc, &root));
    mare_status status = is_address ? MARE_OK : mare_buffer_view(root, view->offset, span, out);
    if (is_address) *out = root;
    else mare_buffer_release(root);
    if (status != MARE_OK) return status;
    (*out)->type = type_of(view);
    root->tensor = tensor;
    visit_leaving(device, false);
    return MARE_OK;
}

/* ---- what leaves ---- */

struct mr_leaving {
    mr_leaving *next;
    mr_native event;
    mare_tensor *tensor;
};

static void let_go(mare_tensor *tensor) {
    if (tensor->deleter) tensor->deleter(tensor);
}

/* Marks by an event where the default stream has come behind all that uses the buffer. */
static mare_status mark_end(mare_buffer *buffer, uint64_t streams, mr_native *event) {
    mare_device *device = buffer->device;
    const mr_backend *backend = device->backend;
    const uint64_t own = device->stream->slot < MR_STREAM_SLOTS ? 1ull << device->stream->slot : 0;
    if (!mr_order_covers(streams)) return MARE_ERROR_UNAVAILABLE;
    MR_TRY(mr_order_wait(device, streams & ~own, UINT64_MAX, device, device->stream->native));
    MR_TRY(mr_order_mark(device, event));
    mare_status status = backend->event_record(device->native, *event, device->stream->native);
    if (status == MARE_OK) status = backend->stream_flush(device->native, device->stream->native);
    if (status != MARE_OK) backend->event_destroy(device->native, *event);
    return status;
}

void mr_tensor_leave(mare_buffer *buffer) {
    mare_device *device = buffer->device;
    const uint64_t streams = atomic_load(&buffer->streams);
    mr_leaving *leaving = streams ? calloc(1, sizeof *leaving) : NULL;
    if (leaving && mark_end(buffer, streams, &leaving->event) == MARE_OK) {
        leaving->tensor = buffer->tensor;
        pthread_mutex_lock(&device->pool.lock);
        leaving->next = device->leaving;
        device->leaving = leaving;
        pthread_mutex_unlock(&device->pool.lock);
        visit_leaving(device, false);
        return;
    }
    free(leaving);
    if (streams) (void)device->backend->device_wait(device->native);
    let_go(buffer->tensor);
}

static bool has_ended(mare_device *device, const mr_leaving *leaving, bool waits) {
    int done = 0;
    const mr_backend *backend = device->backend;
    if (waits) return (void)backend->event_wait(device->native, leaving->event), true;
    return backend->event_query(device->native, leaving->event, &done) != MARE_OK || done;
}

/* Takes out of the list what has ended. */
static mr_leaving *take_ended(mare_device *device, bool waits) {
    mr_leaving *ended = NULL;
    pthread_mutex_lock(&device->pool.lock);
    for (mr_leaving **link = &device->leaving; *link;) {
        mr_leaving *each = *link;
        if (!has_ended(device, each, waits)) {
            link = &each->next;
            continue;
        }
        *link = each->next;
        each->next = ended;
        ended = each;
    }
    pthread_mutex_unlock(&device->pool.lock);
    return ended;
}

static void visit_leaving(mare_device *device, bool waits) {
    mr_leaving *ended = device->leaving || waits ? take_ended(device, waits) : NULL;
    while (ended) {
        mr_leaving *next = ended->next;
        device->backend->event_destroy(device->native, ended->event);
        let_go(ended->tensor);
        free(ended);
        ended = next;
    }
}

void mr_tensor_close(mare_device *device) { visit_leaving(device, true); }

/* ---- the structure before DLPack 1 ---- */

static void finish_old(mare_old_tensor *old) {
    let_go(old->owner);
    free(old);
}

mare_status mare_tensor_to_old(mare_tensor *tensor, mare_old_tensor **out) {
    if (out) *out = NULL;
    if (!tensor || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_tensor_to_old: tensor and out are required");
    if (tensor->flags & MARE_TENSOR_READ_ONLY)
        return mr_fail(MARE_ERROR_ARGUMENT, "a tensor that may only be read cannot be given to "
                                            "who knows no DLPack 1: it could not be told");
    mare_old_tensor *old = calloc(1, sizeof *old);
    if (!old) return mr_fail(MARE_ERROR_MEMORY, "tensor: out of host memory");
    *old = (mare_old_tensor){ .view = tensor->view, .owner = tensor, .deleter = finish_old };
    *out = old;
    return MARE_OK;
}

static void finish_renewed(mare_tensor *tensor) {
    mare_old_tensor *old = tensor->owner;
    if (old->deleter) old->deleter(old);
    free(tensor);
}

mare_status mare_tensor_from_old(mare_old_tensor *old, mare_tensor **out) {
    if (out) *out = NULL;
    if (!old || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_tensor_from_old: old and out are required");
    mare_tensor *tensor = calloc(1, sizeof *tensor);
    if (!tensor) return mr_fail(MARE_ERROR_MEMORY, "tensor: out of host memory");
    *tensor = (mare_tensor){ .major = MAJOR, .minor = MINOR, .view = old->view, .owner = old,
                             .deleter = finish_renewed };
    *out = tensor;
    return MARE_OK;
}
