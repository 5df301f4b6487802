/* argument.c - the values that a launch is given, each checked when it is set: buffers, scalars,
 * and the fields of parameter blocks, which are checked as scalars are.
 */
#include "internal.h"

#include <float.h>
#include <string.h>

/* Where a number goes: a scalar, or an element of a field. */
typedef struct target {
    mare_launch *launch;
    const mare_arg_info *arg;
    const mare_field_info *field;   /* NULL: the argument itself */
    uint32_t index, element;
    uint32_t type;                  /* of what is there now */
    unsigned char *at;
    bool *is_set;
} target;

static mare_status find_arg(mare_launch *launch, uint32_t index, target *out) {
    if (!launch) return mr_fail(MARE_ERROR_ARGUMENT, "mare_launch_set: launch is NULL");
    const mr_dispatch *d = &launch->dispatch;
    if (index >= d->arg_count)
        return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': argument %u, it has %u counted from 0",
                       d->name, index, d->arg_count);
    *out = (target){ .launch = launch,
                     .arg = &d->args[index],
                     .index = index,
                     .type = d->args[index].type,
                     .at = d->values[d->words[index]].bytes,
                     .is_set = &launch->is_set[index] };
    return MARE_OK;
}

static mare_status find_field(mare_launch *launch, uint32_t index, uint32_t field,
                              uint32_t element, target *out) {
    MR_TRY(find_arg(launch, index, out));
    const mr_signature *signature = &launch->kernel->signature;
    const char *kernel = launch->dispatch.name, *name = out->arg->name;
    if (field >= out->arg->field_count)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "kernel '%s', argument %u '%s': field %u, it has %u counted from 0", kernel,
                       index, name, field, out->arg->field_count);
    const uint32_t place = mr_signature_first_field(signature, index) + field;
    out->field = &signature->fields[place];
    if (element >= out->field->count)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "kernel '%s', argument %u '%s.%s': element %u, it has %u counted from 0",
                       kernel, index, name, out->field->name, element, out->field->count);
    out->type = out->field->type;
    out->element = element;
    out->at += out->field->offset + element * mare_type_size((mare_type)out->type);
    out->is_set = &launch->is_set[signature->arg_count + place];
    return MARE_OK;
}

/* ---- refusals ---- */

/* "expects" what: "a buffer of float", "a block of 24 bytes", "int32". */
static void describe(const target *t, mr_text *text) {
    const char *type = mare_type_name((mare_type)t->type);
    if (t->field) mr_text_format(text, "%s", type);
    else if (t->arg->field_count)
        mr_text_format(text, "a block of %llu bytes", (unsigned long long)t->arg->size);
    else if (!t->arg->is_buffer) mr_text_format(text, "%s", type);
    else mr_text_format(text, t->type ? "a buffer of %s" : "a buffer", type);
}

static mare_status refuse(const target *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "kernel 'saxpy', argument 1 'a': expects float, got ..." */
static mare_status refuse(const target *t, const char *format, ...) {
    mr_text got = { 0 }, wanted = { 0 }, place = { 0 };
    va_list arguments;
    va_start(arguments, format);
    mr_text_vformat(&got, format, arguments);
    va_end(arguments);
    describe(t, &wanted);
    if (t->field) mr_text_format(&place, ".%s", t->field->name);
    if (t->field && t->field->count > 1) mr_text_format(&place, "[%u]", t->element);
    mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s', argument %u '%s%s': expects %s, got %s",
            t->launch->dispatch.name, t->index, t->arg->name, mr_text_cstr(&place),
            mr_text_cstr(&wanted), mr_text_cstr(&got));
    mr_text_free(&got);
    mr_text_free(&wanted);
    mr_text_free(&place);
    return MARE_ERROR_ARGUMENT;
}

static bool takes_number(const target *t) {
    return t->field || (!t->arg->is_buffer && !t->arg->field_count);
}

static void mark(mare_launch *launch, bool *is_set) {
    if (*is_set) return;
    *is_set = true;
    launch->missing--;
}

static void mark_set(const target *t) {
    t->launch->dispatch.revision++;
    mark(t->launch, t->is_set);
}

/* ---- buffers ---- */

static mare_status check_buffer(const target *t, const mare_buffer *buffer) {
    const mare_arg_info *info = t->arg;
    const mare_device *device = t->launch->device;
    const char *label = buffer->object.label;
    if (!info->is_buffer) return refuse(t, "the buffer '%s'", label);
    if (!mr_device_reaches(device, buffer->device))
        return refuse(t, "the buffer '%s' of another device (%s; the kernel is on %s)", label,
                      buffer->device->info.name, device->info.name);
    if (info->type && buffer->type && info->type != buffer->type)
        return refuse(t, "the buffer '%s' of %s", label, mare_type_name((mare_type)buffer->type));
    uint64_t alignment = mare_type_size((mare_type)info->type);
    if (alignment < device->info.view_alignment) alignment = device->info.view_alignment;
    if (buffer->offset % alignment)
        return refuse(t, "a view of '%s' that starts at byte %llu (%s needs multiples of %llu)",
                      label, (unsigned long long)buffer->offset, device->info.name,
                      (unsigned long long)alignment);
    return MARE_OK;
}

mare_status mare_launch_set_buffer(mare_launch *launch, uint32_t index, mare_buffer *buffer) {
    target t;
    MR_TRY(find_arg(launch, index, &t));
    if (!buffer) return refuse(&t, "NULL as a buffer");
    MR_TRY(check_buffer(&t, buffer));
    mr_dispatch *d = &launch->dispatch;
    mare_buffer_retain(buffer);
    mare_buffer_release(launch->buffers[index]);
    launch->buffers[index] = buffer;
    launch->ordered = 0;
    d->values[d->words[index]].u = buffer->native.u64 + buffer->offset;
    d->spans[index] = (mr_span){ buffer->native, buffer->offset,
                                 buffer->parent ? buffer->size : 0 };
    mark_set(&t);
    return MARE_OK;
}

/* ---- numbers ---- */

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

/* Two's complement, little endian: the low bytes are the smaller type. A scalar has its word to
 * itself, which is written whole. */
static void store_integer(const target *t, uint64_t value) {
    if (t->field) memcpy(t->at, &value, mare_type_size((mare_type)t->type));
    else memcpy(t->at, &value, sizeof value);
    mark_set(t);
}

static void store_real(const target *t, double value) {
    const float rounded = (float)value;
    if (t->type == MARE_TYPE_FLOAT) memcpy(t->at, &rounded, sizeof rounded);
    else memcpy(t->at, &value, sizeof value);
    mark_set(t);
}

/* Whether float or double holds the integer exactly: its odd part must fit the significand. */
static bool is_exact(int64_t value, uint32_t type) {
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    while (magnitude && magnitude % 2 == 0) magnitude /= 2;
    return magnitude < 1ULL << (type == MARE_TYPE_FLOAT ? 24 : 53);
}

static mare_status set_int(const target *t, int64_t value) {
    long long shown = (long long)value;
    if (!takes_number(t)) return refuse(t, "the integer %lld", shown);
    if (is_real(t->type)) {
        if (!is_exact(value, t->type))
            return refuse(t, "the integer %lld, which it cannot hold", shown);
        store_real(t, (double)value);
        return MARE_OK;
    }
    int64_t least = 0, most = 0;
    integer_range(t->type, &least, &most);
    if (value < least || value > most)
        return refuse(t, "the integer %lld outside %lld .. %lld", shown, (long long)least,
                      (long long)most);
    store_integer(t, (uint64_t)value);
    return MARE_OK;
}

static mare_status set_whole(const target *t, double value) {
    bool is_high = t->type == MARE_TYPE_UINT64 && value >= 0x1p63 &&
                   value < 0x1p64; /* doubles so large are whole */
    if (!is_high && !(value < 0x1p63 && value >= -0x1p63))
        return refuse(t, "%.17g, which is out of its range", value);
    if (!is_high && value != (double)(int64_t)value)
        return refuse(t, "%.17g, which is not whole", value);
    if (!is_high) return set_int(t, (int64_t)value);
    store_integer(t, (uint64_t)value);
    return MARE_OK;
}

static mare_status set_real(const target *t, double value) {
    if (!takes_number(t)) return refuse(t, "the number %.17g", value);
    if (!is_real(t->type)) return set_whole(t, value);
    if (t->type == MARE_TYPE_FLOAT && (value > FLT_MAX || value < -FLT_MAX) && value - value == 0)
        return refuse(t, "%.17g, which is out of its range", value);
    store_real(t, value);
    return MARE_OK;
}

mare_status mare_launch_set_int(mare_launch *launch, uint32_t index, int64_t value) {
    target t;
    MR_TRY(find_arg(launch, index, &t));
    return set_int(&t, value);
}

mare_status mare_launch_set_real(mare_launch *launch, uint32_t index, double value) {
    target t;
    MR_TRY(find_arg(launch, index, &t));
    return set_real(&t, value);
}

mare_status mare_launch_set_scalar(mare_launch *launch, uint32_t index, uint32_t type,
                                   const void *value) {
    target t;
    MR_TRY(find_arg(launch, index, &t));
    if (!value) return refuse(&t, "NULL as a value");
    if (!takes_number(&t) || type != t.type)
        return refuse(&t, "a %s", mare_type_name((mare_type)type));
    memcpy(t.at, value, mare_type_size((mare_type)type));
    mark_set(&t);
    return MARE_OK;
}

/* Zero until it is written. */
static void *open(const target *t) {
    mark_set(t);
    t->launch->dispatch.is_open = true;
    return t->at;
}

void *mare_launch_scalar(mare_launch *launch, uint32_t index) {
    target t = { 0 };
    if (find_arg(launch, index, &t) != MARE_OK) return NULL;
    if (takes_number(&t)) return open(&t);
    refuse(&t, "a request for its value");
    return NULL;
}

/* ---- parameter blocks ---- */

mare_status mare_launch_set_block(mare_launch *launch, uint32_t index, const void *value,
                                  uint64_t size) {
    target t;
    MR_TRY(find_arg(launch, index, &t));
    if (!value) return refuse(&t, "NULL as a block");
    if (!t.arg->field_count || size != t.arg->size)
        return refuse(&t, "a block of %llu bytes", (unsigned long long)size);
    const mr_signature *signature = &launch->kernel->signature;
    bool *fields = launch->is_set + signature->arg_count;
    const uint32_t first = mr_signature_first_field(signature, index);
    memcpy(t.at, value, size);
    launch->dispatch.revision++;
    for (uint32_t k = first; k < first + t.arg->field_count; k++) mark(launch, &fields[k]);
    return MARE_OK;
}

mare_status mare_launch_set_field_int(mare_launch *launch, uint32_t index, uint32_t field,
                                      uint32_t element, int64_t value) {
    target t;
    MR_TRY(find_field(launch, index, field, element, &t));
    return set_int(&t, value);
}

mare_status mare_launch_set_field_real(mare_launch *launch, uint32_t index, uint32_t field,
                                       uint32_t element, double value) {
    target t;
    MR_TRY(find_field(launch, index, field, element, &t));
    return set_real(&t, value);
}

void *mare_launch_field(mare_launch *launch, uint32_t index, uint32_t field) {
    target t = { 0 };
    return find_field(launch, index, field, 0, &t) == MARE_OK ? open(&t) : NULL;
}
