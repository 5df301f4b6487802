/* foreign.c - contexts, queues and memory that the program has made, as devices, streams and
 * buffers; and the natives of these. */
#include "internal.h"

/* Refuses where the back end has not the entry. */
static mare_status need(bool is_there, const mare_device *device, const char *call) {
    if (is_there) return MARE_OK;
    return mr_fail(MARE_ERROR_UNAVAILABLE, "%s: %s takes no natives and has none to give", call,
                   device->info.name);
}

mare_status mare_device_adopt(const char *name, void *context, mare_device **out) {
    if (out) *out = NULL;
    if (!out || !context)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_device_adopt: context and out are required");
    return mr_device_open(name, context, out);
}

mare_status mare_stream_adopt(mare_device *device, void *queue, const char *label,
                              mare_stream **out) {
    if (out) *out = NULL;
    if (!device || !queue || !out)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_stream_adopt: device, queue and out are required");
    MR_TRY(need(device->backend->stream_adopt, device, "mare_stream_adopt"));
    if (!label) label = "adopted stream";
    mare_stream *stream = mr_object_new_on_line(sizeof *stream, "stream", label);
    if (!stream) return MARE_ERROR_MEMORY;
    mare_status status = mr_stream_open(device, stream, 0, queue);
    if (status != MARE_OK) {
        mr_object_delete(&stream->object);
        return mr_device_note(device, mr_annotate(status, "stream '%s'", label));
    }
    mare_device_retain(device);
    *out = stream;
    return MARE_OK;
}

mare_status mare_buffer_adopt(mare_device *device, uint64_t memory, const mare_buffer_desc *desc,
                              mare_buffer **out) {
    if (out) *out = NULL;
    if (!device || !memory || !desc || !out)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_buffer_adopt: device, memory, desc and out are required");
    MR_TRY(need(device->backend->buffer_adopt, device, "mare_buffer_adopt"));
    const char *label = desc->label ? desc->label : "adopted buffer";
    MR_TRY(mr_buffer_check_desc(device, desc, label));
    mare_buffer *buffer = mr_object_new_on_line(sizeof *buffer, "buffer", label);
    if (!buffer) return MARE_ERROR_MEMORY;
    buffer->device = device;
    buffer->size = desc->size;
    buffer->type = desc->type;
    mare_status status = mr_device_alive(device);
    if (status == MARE_OK)
        status = device->backend->buffer_adopt(device->native, memory, desc->size,
                                               &buffer->native);
    if (status != MARE_OK) {
        mr_object_delete(&buffer->object);
        return mr_device_note(device, mr_annotate(status, "buffer '%s'", label));
    }
    mare_device_retain(device);
    *out = buffer;
    return MARE_OK;
}

mare_status mare_device_native(mare_device *device, void **context) {
    if (!device || !context)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_device_native: device and context are required");
    MR_TRY(need(device->backend->device_native, device, "mare_device_native"));
    *context = device->backend->device_native(device->native);
    return MARE_OK;
}

mare_status mare_stream_native(mare_stream *stream, void **queue) {
    if (!stream || !queue)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_stream_native: stream and queue are required");
    const mare_device *device = stream->device;
    MR_TRY(need(device->backend->stream_native, device, "mare_stream_native"));
    *queue = device->backend->stream_native(stream->native);
    return MARE_OK;
}

mare_status mare_buffer_native(mare_buffer *buffer, uint64_t *memory, uint64_t *offset) {
    if (!buffer || !memory || !offset)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_buffer_native: buffer, memory and offset are required");
    const mare_device *device = buffer->device;
    MR_TRY(need(device->backend->buffer_native, device, "mare_buffer_native"));
    *memory = device->backend->buffer_native(buffer->native);
    *offset = buffer->offset;
    return MARE_OK;
}
