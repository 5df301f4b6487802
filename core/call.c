/* call.c - a function of the program that queues the work of a library on a stream. */
#include "internal.h"

#include <stdlib.h>

static void destroy(mare_call *call) {
    mare_device *device = call->device;
    for (uint64_t i = 0; i < call->buffer_count; i++) mare_buffer_release(call->buffers[i]);
    if (call->finish) call->finish(call->data);
    free(call->buffers);
    mr_object_delete(&call->object);
    mare_device_release(device);
}

static mare_status check(const mare_device *device, const mare_call_desc *desc) {
    if (!desc->function || !desc->label || !*desc->label)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_call_create: label and function are required");
    MR_TRY(mr_check_reserved(desc->reserved, "call", desc->label));
    if (desc->buffer_count && !desc->buffers)
        return mr_fail(MARE_ERROR_ARGUMENT, "call '%s': %llu buffers, but the list of them is NULL",
                       desc->label, (unsigned long long)desc->buffer_count);
    for (uint64_t i = 0; i < desc->buffer_count; i++) {
        const mare_buffer *buffer = desc->buffers[i];
        if (!buffer)
            return mr_fail(MARE_ERROR_ARGUMENT, "call '%s': buffer %llu is NULL", desc->label,
                           (unsigned long long)i);
        if (!mr_device_reaches(device, buffer->device))
            return mr_fail(MARE_ERROR_ARGUMENT,
                           "call '%s': buffer '%s' belongs to another device (%s; the call is on "
                           "%s)",
                           desc->label, buffer->object.label, buffer->device->info.name,
                           device->info.name);
    }
    return MARE_OK;
}

mare_status mare_call_create(mare_device *device, const mare_call_desc *desc, mare_call **out) {
    if (out) *out = NULL;
    if (!device || !desc || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_call_create: device, desc and out are required");
    MR_TRY(check(device, desc));
    const uint64_t count = desc->buffer_count;
    mare_buffer **buffers = calloc(count ? count : 1, sizeof *buffers);
    if (!buffers)
        return mr_fail(MARE_ERROR_MEMORY, "call '%s': out of host memory", desc->label);
    mare_call *call = mr_object_new(sizeof *call, "call", desc->label);
    if (!call) {
        free(buffers);
        return MARE_ERROR_MEMORY;
    }
    for (uint64_t i = 0; i < count; i++) mare_buffer_retain(buffers[i] = desc->buffers[i]);
    call->device = device;
    call->function = desc->function;
    call->finish = desc->finish;
    call->data = desc->data;
    call->buffers = buffers;
    call->buffer_count = count;
    call->bytes = desc->bytes;
    mare_device_retain(device);
    *out = call;
    return MARE_OK;
}

void mare_call_retain(mare_call *call) {
    if (call) mr_object_retain(&call->object);
}

void mare_call_release(mare_call *call) {
    if (call && mr_object_unref(&call->object)) destroy(call);
}

mare_status mare_call_run(mare_call *call, mare_stream *stream) {
    if (!call) return mr_fail(MARE_ERROR_ARGUMENT, "mare_call_run: call is NULL");
    MR_TRY(mr_device_pick_stream(call->device, stream, "call", call->object.label, &stream));
    return mr_op_submit(&(mr_op){ .kind = MR_OP_CALL, .call = call }, stream);
}
