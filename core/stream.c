/* stream.c - queues of work and the events that order and time them. */
#include "internal.h"

/* ---- streams ---- */

static void end(const mare_stream *stream) {
    const mare_device *device = stream->device;
    const mr_backend *backend = device->backend;
    (stream->is_adopted ? backend->stream_disown : backend->stream_destroy)(device->native,
                                                                             stream->native);
}

mare_status mr_stream_open(mare_device *device, mare_stream *stream, int priority, void *queue) {
    const mr_backend *backend = device->backend;
    static atomic_ullong serials;
    stream->device = device;
    stream->serial = atomic_fetch_add(&serials, 1) + 1;
    MR_TRY(mr_device_alive(device));
    stream->is_adopted = queue != NULL;
    MR_TRY(queue ? backend->stream_adopt(device->native, queue, &stream->native)
                 : backend->stream_create(device->native, priority, &stream->native));
    mare_status status = mr_order_add(stream);
    if (status != MARE_OK) end(stream);
    if (status != MARE_OK) stream->native = (mr_native){ 0 };
    return status;
}

void mr_stream_close(mare_stream *stream) {
    mr_order_remove(stream);
    end(stream);
}

mare_status mare_stream_create(mare_device *device, const mare_stream_desc *desc,
                               mare_stream **out) {
    if (out) *out = NULL;
    if (!device || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_stream_create: device and out are required");
    static const mare_stream_desc defaults;
    if (!desc) desc = &defaults;
    const char *label = desc->label ? desc->label : "stream";
    MR_TRY(mr_check_reserved(desc->reserved, "stream", label));
    if (desc->priority < -1 || desc->priority > 1)
        return mr_fail(MARE_ERROR_ARGUMENT, "stream '%s': priority %d (allowed: -1, 0, 1)", label,
                       desc->priority);
    mare_stream *stream = mr_object_new_on_line(sizeof *stream, "stream", label);
    if (!stream) return MARE_ERROR_MEMORY;
    mare_status status = mr_stream_open(device, stream, desc->priority, NULL);
    if (status != MARE_OK) {
        mr_object_delete(&stream->object);
        return mr_device_note(device, mr_annotate(status, "stream '%s'", label));
    }
    mare_device_retain(device);
    *out = stream;
    return MARE_OK;
}

void mare_stream_retain(mare_stream *stream) {
    if (!stream) return;
    if (stream->is_default) mare_device_retain(stream->device);
    else mr_object_retain(&stream->object);
}

void mare_stream_release(mare_stream *stream) {
    if (!stream) return;
    mare_device *device = stream->device;
    if (!stream->is_default) {
        if (!mr_object_unref(&stream->object)) return;
        mr_plan_abandon(stream);
        mr_stream_close(stream);
        mr_object_delete(&stream->object);
    }
    mare_device_release(device);
}

static mare_status refuse_recording(const mare_stream *stream, const char *what) {
    if (!stream->recording) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT, "stream '%s': %s while it is recording a plan",
                   stream->object.label, what);
}

mare_status mare_stream_wait(mare_stream *stream) {
    if (!stream) return mr_fail(MARE_ERROR_ARGUMENT, "mare_stream_wait: stream is NULL");
    MR_TRY(refuse_recording(stream, "wait"));
    MR_ON_DEVICE(stream->device, stream_wait(stream->device->native, stream->native),
                 "stream '%s': wait", stream->object.label);
    return MARE_OK;
}

mare_status mare_stream_flush(mare_stream *stream) {
    if (!stream) return mr_fail(MARE_ERROR_ARGUMENT, "mare_stream_flush: stream is NULL");
    MR_TRY(refuse_recording(stream, "flush"));
    MR_ON_DEVICE(stream->device, stream_flush(stream->device->native, stream->native),
                 "stream '%s': flush", stream->object.label);
    return MARE_OK;
}

/* ---- events ---- */

mare_status mare_event_create(mare_device *device, mare_event **out) {
    if (out) *out = NULL;
    if (!device || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_event_create: device and out are required");
    mare_event *event = mr_object_new(sizeof *event, "event", "event");
    if (!event) return MARE_ERROR_MEMORY;
    event->device = device;
    mare_status status = mr_device_alive(device);
    if (status == MARE_OK) status = device->backend->event_create(device->native, &event->native);
    if (status != MARE_OK) {
        mr_object_delete(&event->object);
        mr_annotate(status, "event on device '%s'", device->info.name);
        return mr_device_note(device, status);
    }
    mare_device_retain(device);
    *out = event;
    return MARE_OK;
}

void mare_event_retain(mare_event *event) {
    if (event) mr_object_retain(&event->object);
}

void mare_event_release(mare_event *event) {
    if (!event || !mr_object_unref(&event->object)) return;
    mare_device *device = event->device;
    device->backend->event_destroy(device->native, event->native);
    mr_object_delete(&event->object);
    mare_device_release(device);
}

mare_status mare_event_record(mare_event *event, mare_stream *stream) {
    if (!event) return mr_fail(MARE_ERROR_ARGUMENT, "mare_event_record: event is NULL");
    MR_TRY(mr_device_pick_stream(event->device, stream, "event", event->object.label, &stream));
    return mr_op_submit(&(mr_op){ .kind = MR_OP_RECORD, .event = event }, stream);
}

static mare_status need_recorded(const mare_event *event, const char *call) {
    if (!event) return mr_fail(MARE_ERROR_ARGUMENT, "%s: event is NULL", call);
    if (!event->recorded)
        return mr_fail(MARE_ERROR_ARGUMENT, "%s: the event was never recorded", call);
    return MARE_OK;
}

mare_status mare_event_wait(mare_event *event) {
    MR_TRY(need_recorded(event, "mare_event_wait"));
    MR_ON_DEVICE(event->device, event_wait(event->device->native, event->native), "event: wait");
    return MARE_OK;
}

mare_status mare_event_query(mare_event *event, int32_t *done) {
    if (!done) return mr_fail(MARE_ERROR_ARGUMENT, "mare_event_query: done is NULL");
    MR_TRY(need_recorded(event, "mare_event_query"));
    int answer = 0;
    MR_ON_DEVICE(event->device, event_query(event->device->native, event->native, &answer),
                 "event: query");
    *done = answer != 0;
    return MARE_OK;
}

mare_status mare_event_elapsed_ms(mare_event *start, mare_event *stop, double *out) {
    if (!out) return mr_fail(MARE_ERROR_ARGUMENT, "mare_event_elapsed_ms: out is NULL");
    MR_TRY(need_recorded(start, "mare_event_elapsed_ms (start)"));
    MR_TRY(need_recorded(stop, "mare_event_elapsed_ms (stop)"));
    mare_device *device = start->device;
    if (stop->device != device)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_event_elapsed_ms: the events belong to devices %s and %s",
                       device->info.name, stop->device->info.name);
    MR_TRY(mare_event_wait(start));
    MR_TRY(mare_event_wait(stop));
    MR_ON_DEVICE(device, event_elapsed_ms(device->native, start->native, stop->native, out),
                 "event: elapsed time");
    return MARE_OK;
}

mare_status mr_stream_await(mare_stream *stream, mare_event *event) {
    const mare_device *device = stream->device;
    const bool is_ordered = event->device == device ||
                            (device->backend->orders_devices &&
                             event->device->backend == device->backend);
    if (is_ordered)
        return mr_op_submit(&(mr_op){ .kind = MR_OP_WAIT, .event = event }, stream);
    MR_TRY(refuse_recording(stream, "wait for another device's event"));
    return mare_event_wait(event); /* the vendor orders no two devices: the host waits */
}

mare_status mare_stream_wait_event(mare_stream *stream, mare_event *event) {
    if (!stream) return mr_fail(MARE_ERROR_ARGUMENT, "mare_stream_wait_event: stream is NULL");
    if (stream->recording && event && mr_plan_records(stream->recording, event))
        return mr_plan_add(stream, &(mr_op){ .kind = MR_OP_WAIT, .event = event });
    MR_TRY(need_recorded(event, "mare_stream_wait_event"));
    if (stream->recording && event->device != stream->device)
        return refuse_recording(stream, "wait for another device's event");
    return mr_stream_await(stream, event);
}
