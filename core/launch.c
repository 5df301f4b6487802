/* launch.c - a kernel with its arguments and shape: every value is checked when it is set, so that
 * running needs only to look that nothing is missing.
 */
#include "internal.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

static void destroy(mare_launch *launch) {
    if (!launch) return;
    mr_dispatch *d = &launch->dispatch;
    const mare_device *device = launch->device;
    if (d->native.u64) device->backend->launch_destroy(device->native, d->native);
    for (uint32_t i = 0; launch->buffers && i < d->arg_count; i++)
        mare_buffer_release(launch->buffers[i]);
    free(d->values);
    free(d->spans);
    free(launch->buffers);
    free(launch->is_set);
    mare_kernel_release(launch->kernel);
    mr_object_delete(&launch->object);
}

static mare_status prepare(mare_launch *launch) {
    const mare_kernel *kernel = launch->kernel;
    mr_dispatch *d = &launch->dispatch;
    d->name = kernel->signature.name;
    d->kernel = kernel->native;
    d->local_bytes = (uint32_t)kernel->signature.local_bytes;
    d->args = kernel->signature.args;
    d->arg_count = launch->missing = kernel->signature.arg_count;
    const size_t count = d->arg_count ? d->arg_count : 1;
    d->values = calloc(count, sizeof *d->values);
    d->spans = calloc(count, sizeof *d->spans);
    launch->buffers = calloc(count, sizeof *launch->buffers);
    launch->is_set = calloc(count, sizeof *launch->is_set);
    if (!d->values || !d->spans || !launch->buffers || !launch->is_set)
        return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    launch->op = (mr_op){ .kind = MR_OP_LAUNCH, .launch = launch };
    MR_TRY(mr_device_alive(launch->device));
    return launch->device->backend->launch_create(launch->device->native, d, &d->native);
}

mare_status mare_launch_create(mare_kernel *kernel, mare_launch **out) {
    if (out) *out = NULL;
    if (!kernel || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_launch_create: kernel and out are required");
    mare_launch *launch = mr_object_new_on_line(sizeof *launch, "launch", kernel->object.label);
    if (!launch) return MARE_ERROR_MEMORY;
    launch->kernel = kernel;
    launch->device = kernel->program->device;
    mare_kernel_retain(kernel);
    mare_status status = prepare(launch);
    if (status != MARE_OK) {
        mr_annotate(status, "launch of kernel '%s'", kernel->object.label);
        destroy(launch);
        return status;
    }
    *out = launch;
    return MARE_OK;
}

void mare_launch_retain(mare_launch *launch) {
    if (launch) mr_object_retain(&launch->object);
}

void mare_launch_release(mare_launch *launch) {
    if (launch && mr_object_unref(&launch->object)) destroy(launch);
}

/* ---- arguments ---- */

static mare_status find_arg(mare_launch *launch, uint32_t index, const mare_arg_info **out) {
    if (!launch) return mr_fail(MARE_ERROR_ARGUMENT, "mare_launch_set: launch is NULL");
    const mr_dispatch *d = &launch->dispatch;
    if (index >= d->arg_count)
        return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': argument %u, it has %u counted from 0",
                       d->name, index, d->arg_count);
    *out = &d->args[index];
    return MARE_OK;
}

static mare_status refuse(const mare_launch *launch, uint32_t index, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "kernel 'saxpy', argument 1 'a': expects float, got ..." */
static mare_status refuse(const mare_launch *launch, uint32_t index, const char *format, ...) {
    const mare_arg_info *info = &launch->dispatch.args[index];
    mr_text text = { 0 };
    va_list arguments;
    va_start(arguments, format);
    mr_text_vformat(&text, format, arguments);
    va_end(arguments);
    const char *type = info->is_buffer && info->type == MARE_TYPE_NONE
                           ? ""
                           : mare_type_name((mare_type)info->type);
    mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s', argument %u '%s': expects %s%s%s, got %s",
            launch->dispatch.name, index, info->name, info->is_buffer ? "a buffer" : "",
            info->is_buffer && *type ? " of " : "", type, mr_text_cstr(&text));
    mr_text_free(&text);
    return MARE_ERROR_ARGUMENT;
}

static mare_status check_buffer(const mare_launch *launch, uint32_t index,
                                const mare_buffer *buffer) {
    const mare_arg_info *info = &launch->dispatch.args[index];
    const mare_device *device = launch->device;
    const char *label = buffer->object.label;
    if (!info->is_buffer) return refuse(launch, index, "the buffer '%s'", label);
    if (!mr_device_reaches(device, buffer->device))
        return refuse(launch, index, "the buffer '%s' of another device (%s; the kernel is on %s)",
                      label, buffer->device->info.name, device->info.name);
    if (info->type && buffer->type && info->type != buffer->type)
        return refuse(launch, index, "the buffer '%s' of %s", label,
                      mare_type_name((mare_type)buffer->type));
    uint64_t alignment = mare_type_size((mare_type)info->type);
    if (alignment < device->info.view_alignment) alignment = device->info.view_alignment;
    if (buffer->offset % alignment)
        return refuse(launch, index,
                      "a view of '%s' that starts at byte %llu (%s needs multiples of %llu)", label,
                      (unsigned long long)buffer->offset, device->info.name,
                      (unsigned long long)alignment);
    return MARE_OK;
}

static void mark_set(mare_launch *launch, uint32_t index) {
    launch->dispatch.revision++;
    if (launch->is_set[index]) return;
    launch->is_set[index] = true;
    launch->missing--;
}

mare_status mare_launch_set_buffer(mare_launch *launch, uint32_t index, mare_buffer *buffer) {
    const mare_arg_info *info = NULL;
    MR_TRY(find_arg(launch, index, &info));
    if (!buffer) return refuse(launch, index, "NULL as a buffer");
    MR_TRY(check_buffer(launch, index, buffer));
    mare_buffer_retain(buffer);
    mare_buffer_release(launch->buffers[index]);
    launch->buffers[index] = buffer;
    launch->ordered = 0;
    launch->dispatch.values[index].u = buffer->native.u64 + buffer->offset;
    launch->dispatch.spans[index] = (mr_span){ buffer->native, buffer->offset,
                                               buffer->parent ? buffer->size : 0 };
    mark_set(launch, index);
    return MARE_OK;
}

static bool is_real(uint32_t type) { return type == MARE_TYPE_FLOAT || type == MARE_TYPE_DOUBLE; }

static bool is_unsigned(uint32_t type) { return !is_real(type) && type % 2 == 0; }

/* The values of an integer type; an unsigned 64-bit type is cut at what an int64_t can hold. */
static void integer_range(uint32_t type, int64_t *least, int64_t *most) {
    unsigned bits = 8 * (unsigned)mare_type_size((mare_type)type);
    *least = is_unsigned(type) ? 0 : INT64_MIN >> (64 - bits);
    *most = is_unsigned(type) && bits < 64 ? (int64_t)(UINT64_MAX >> (64 - bits))
                                           : INT64_MAX >> (64 - bits);
    if (is_unsigned(type) && bits == 64) *most = INT64_MAX;
}

/* Two's complement, little endian: the low bytes are the smaller type. */
static void store_integer(mare_launch *launch, uint32_t index, uint64_t value) {
    launch->dispatch.values[index].u = value;
    mark_set(launch, index);
}

static void store_real(mare_launch *launch, uint32_t index, uint32_t type, double value) {
    if (type == MARE_TYPE_FLOAT) launch->dispatch.values[index].f = (float)value;
    else launch->dispatch.values[index].d = value;
    mark_set(launch, index);
}

/* Whether float or double holds the integer exactly: its odd part must fit the significand. */
static bool is_exact(int64_t value, uint32_t type) {
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    while (magnitude && magnitude % 2 == 0) magnitude /= 2;
    return magnitude < 1ULL << (type == MARE_TYPE_FLOAT ? 24 : 53);
}

mare_status mare_launch_set_int(mare_launch *launch, uint32_t index, int64_t value) {
    const mare_arg_info *info = NULL;
    MR_TRY(find_arg(launch, index, &info));
    long long shown = (long long)value;
    if (info->is_buffer) return refuse(launch, index, "the integer %lld", shown);
    if (is_real(info->type)) {
        if (!is_exact(value, info->type))
            return refuse(launch, index, "the integer %lld, which it cannot hold", shown);
        store_real(launch, index, info->type, (double)value);
        return MARE_OK;
    }
    int64_t least = 0, most = 0;
    integer_range(info->type, &least, &most);
    if (value < least || value > most)
        return refuse(launch, index, "the integer %lld outside %lld .. %lld", shown,
                      (long long)least, (long long)most);
    store_integer(launch, index, (uint64_t)value);
    return MARE_OK;
}

static mare_status set_whole(mare_launch *launch, uint32_t index, uint32_t type, double value) {
    bool is_high = type == MARE_TYPE_UINT64 && value >= 0x1p63 &&
                   value < 0x1p64; /* doubles so large are whole */
    if (!is_high && !(value < 0x1p63 && value >= -0x1p63))
        return refuse(launch, index, "%.17g, which is out of its range", value);
    if (!is_high && value != (double)(int64_t)value)
        return refuse(launch, index, "%.17g, which is not whole", value);
    if (!is_high) return mare_launch_set_int(launch, index, (int64_t)value);
    store_integer(launch, index, (uint64_t)value);
    return MARE_OK;
}

mare_status mare_launch_set_real(mare_launch *launch, uint32_t index, double value) {
    const mare_arg_info *info = NULL;
    MR_TRY(find_arg(launch, index, &info));
    if (info->is_buffer) return refuse(launch, index, "the number %.17g", value);
    if (!is_real(info->type)) return set_whole(launch, index, info->type, value);
    if (info->type == MARE_TYPE_FLOAT && (value > FLT_MAX || value < -FLT_MAX) &&
        value - value == 0)
        return refuse(launch, index, "%.17g, which is out of its range", value);
    store_real(launch, index, info->type, value);
    return MARE_OK;
}

mare_status mare_launch_set_scalar(mare_launch *launch, uint32_t index, uint32_t type,
                                   const void *value) {
    const mare_arg_info *info = NULL;
    MR_TRY(find_arg(launch, index, &info));
    if (!value) return refuse(launch, index, "NULL as a value");
    if (info->is_buffer || type != info->type)
        return refuse(launch, index, "a %s", mare_type_name((mare_type)type));
    memcpy(launch->dispatch.values[index].bytes, value, mare_type_size((mare_type)type));
    mark_set(launch, index);
    return MARE_OK;
}

void *mare_launch_scalar(mare_launch *launch, uint32_t index) {
    const mare_arg_info *info = NULL;
    if (find_arg(launch, index, &info) != MARE_OK) return NULL;
    if (info->is_buffer) {
        refuse(launch, index, "a request for its value");
        return NULL;
    }
    mark_set(launch, index); /* zero until it is written */
    launch->dispatch.is_open = true;
    return launch->dispatch.values[index].bytes;
}

/* ---- shape ---- */

static uint32_t limit_of(const mare_launch *launch) {
    uint32_t device = launch->device->info.max_group_size;
    uint32_t kernel = launch->kernel->info.max_group_size;
    return kernel && kernel < device ? kernel : device;
}

/* Rows of 32 suit lockstep hardware and its memory; a CPU runs a group as a loop along x, the
 * longer the better. */
static void choose_group(const mare_launch *launch, const uint32_t global[3], uint32_t group[3]) {
    static const uint32_t choices[3][3] = { { 256, 1, 1 }, { 32, 8, 1 }, { 32, 4, 2 } };
    const mare_device_info *info = &launch->device->info;
    const uint32_t *fixed = launch->kernel->signature.group;
    if (fixed[0]) {
        memcpy(group, fixed, sizeof choices[0]);
        return;
    }
    int dimensions = global[2] > 1 ? 3 : global[1] > 1 ? 2 : 1;
    if (info->kind == MARE_DEVICE_CPU) dimensions = 1;
    memcpy(group, choices[dimensions - 1], sizeof choices[0]);
    for (int d = 0; d < 3; d++)
        while (group[d] > info->max_group[d] || (group[d] > 1 && group[d] / 2 >= global[d]))
            group[d] /= 2;
    for (int d = 2; d >= 0; d--)
        while (group[0] * group[1] * group[2] > limit_of(launch) && group[d] > 1) group[d] /= 2;
}

/* This is checked on every back end, though some vendors take any group. The dialect's indices are
 * ints. */
static mare_status check_source(const mare_launch *launch, const uint32_t global[3],
                                const uint32_t group[3]) {
    const mr_signature *signature = &launch->kernel->signature;
    const uint32_t *fixed = signature->group;
    if (fixed[0] && memcmp(fixed, group, sizeof signature->group) != 0)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "kernel '%s': a group of %u x %u x %u, its source fixes %u x %u x %u",
                       signature->name, group[0], group[1], group[2], fixed[0], fixed[1], fixed[2]);
    if (launch->kernel->program->language != MARE_LANGUAGE_MARE) return MARE_OK;
    for (int d = 0; d < 3; d++) {
        uint64_t items = ((uint64_t)global[d] + group[d] - 1) / group[d] * group[d];
        if (items > INT32_MAX)
            return mr_fail(MARE_ERROR_ARGUMENT,
                           "kernel '%s': %llu work-items along %c in groups of %u, its indices "
                           "are ints (at most %d)",
                           signature->name, (unsigned long long)items, "xyz"[d], group[d],
                           INT32_MAX);
    }
    return MARE_OK;
}

static mare_status check_shape(const mare_launch *launch, const uint32_t global[3],
                               const uint32_t group[3]) {
    const mare_device_info *info = &launch->device->info;
    const char *name = launch->dispatch.name;
    for (int d = 0; d < 3; d++) {
        if (!global[d])
            return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': global size along %c is 0", name,
                           "xyz"[d]);
        if (!group[d] || group[d] > info->max_group[d])
            return mr_fail(MARE_ERROR_ARGUMENT,
                           "kernel '%s': group size %u along %c (allowed on %s: 1 to %u)", name,
                           group[d], "xyz"[d], info -> name, info -> max_group[d]);
    }
    uint64_t plane = (uint64_t)group[0] * group[1];
    if (plane <= limit_of(launch) && plane * group[2] <= limit_of(launch)) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT,
                   "kernel '%s': a group of %u x %u x %u work-items, %s allows %u for it", name,
                   group[0], group[1], group[2], info->name, limit_of(launch));
}

mare_status mare_launch_set_shape(mare_launch *launch, const uint32_t global[3],
                                  const uint32_t group[3]) {
    if (!launch || !global)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_launch_set_shape: launch and global are required");
    uint32_t chosen[3];
    if (group) memcpy(chosen, group, sizeof chosen);
    else choose_group(launch, global, chosen);
    MR_TRY(check_shape(launch, global, chosen));
    MR_TRY(check_source(launch, global, chosen));
    for (int d = 0; d < 3; d++) {
        launch->dispatch.group[d] = chosen[d];
        launch->dispatch.groups[d] = global[d] / chosen[d] + (global[d] % chosen[d] != 0);
    }
    launch->dispatch.revision++;
    return MARE_OK;
}

/* ---- running ---- */

static mare_status refuse_incomplete(const mare_launch *launch) {
    const mr_dispatch *d = &launch->dispatch;
    if (!launch->missing)
        return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': its shape is not set", d->name);
    mr_text missing = { 0 };
    for (uint32_t i = 0; i < d->arg_count; i++)
        if (!launch->is_set[i])
            mr_text_format(&missing, "%s%u '%s'", missing.size ? ", " : "", i, d->args[i].name);
    mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': arguments not set: %s", d->name,
            mr_text_cstr(&missing));
    mr_text_free(&missing);
    return MARE_ERROR_ARGUMENT;
}

mare_status mare_launch_set_bytes(mare_launch *launch, uint64_t bytes) {
    if (!launch) return mr_fail(MARE_ERROR_ARGUMENT, "mare_launch_set_bytes: launch is NULL");
    launch->bytes = bytes;
    return MARE_OK;
}

mare_status mare_launch_set_together(mare_launch *launch, int32_t together) {
    if (!launch) return mr_fail(MARE_ERROR_ARGUMENT, "mare_launch_set_together: launch is NULL");
    const mare_device *device = launch->device;
    if (together && !device->backend->runs_together)
        return mr_fail(MARE_ERROR_UNAVAILABLE,
                       "kernel '%s': %s does not promise to run all groups at the same time",
                       launch->dispatch.name, device->info.name);
    launch->dispatch.is_together = together != 0;
    return MARE_OK;
}

mare_status mare_launch_set_programmatic(mare_launch *launch, int32_t programmatic) {
    if (!launch)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_launch_set_programmatic: launch is NULL");
    const mare_device_info *info = &launch->device->info;
    if (programmatic && !info->has_programmatic)
        return mr_fail(MARE_ERROR_UNAVAILABLE,
                       "kernel '%s': %s (%s) has no programmatic dependent launches",
                       launch->dispatch.name, info->name, info->arch);
    launch->dispatch.is_programmatic = programmatic != 0;
    return MARE_OK;
}

/* Whether the launch can go straight to the back end: it is complete, it has run on this stream, so
 * that its device is the stream's, and its buffers have not changed since. */
static bool is_plain(const mare_launch *launch, const mare_stream *stream) {
    return launch->ordered == stream->serial && mr_stream_is_plain(stream);
}

MR_RARE static mare_status run_otherwise(mare_launch *launch, mare_stream *stream) {
    const char *label = launch->object.label;
    MR_TRY(mr_device_pick_stream(launch->device, stream, "kernel", label, &stream));
    if (launch->missing || !launch->dispatch.group[0]) return refuse_incomplete(launch);
    return mr_op_submit(&launch->op, stream);
}

MR_HOT mare_status mare_launch_run(mare_launch *launch, mare_stream *stream) {
    if (!launch) return mr_fail(MARE_ERROR_ARGUMENT, "mare_launch_run: launch is NULL");
    const mare_device *device = launch->device;
    const mare_stream *used = stream ? stream : device->stream;
    if (!is_plain(launch, used)) return run_otherwise(launch, stream);
    mare_status status = device->backend->launch_run(device->native, used->native,
                                                     &launch->dispatch);
    return status == MARE_OK ? MARE_OK : mr_op_fail(&launch->op, status);
}
