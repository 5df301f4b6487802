/* op.c - work for a stream as a value. Everything that can be queued passes through mr_op_submit,
 * which runs it, hands it to the plan that is being recorded, or has the profile time it.
 */
#include "internal.h"

typedef unsigned long long ull; /* for %llu */

static mare_device *device_of(const mr_op *op) {
    switch (op->kind) {
    case MR_OP_LAUNCH: return op->launch->device;
    case MR_OP_RECORD:
    case MR_OP_WAIT: return op->event->device;
    case MR_OP_PLAN: return mr_plan_device(op->plan);
    default: return op->buffer->device;
    }
}

/* ---- running ---- */

/* Through the seam; a plan is no single piece of work and never comes here. */
static mare_status perform(const mr_op *op, mare_device *device, mr_native stream) {
    const mr_backend *backend = device->backend;
    const mr_native native = device->native;
    const mare_region *r = &op->region;
    switch (op->kind) {
    case MR_OP_LAUNCH: return backend->launch_run(native, stream, op->launch);
    case MR_OP_UPLOAD:
        return backend->write(native, stream, op->buffer->native, op->host, r, op->blocking);
    case MR_OP_DOWNLOAD:
        return backend->read(native, stream, op->host, op->buffer->native, r, op->blocking);
    case MR_OP_COPY:
        return backend->copy(native, stream, op->buffer->native, op->source->native, r);
    case MR_OP_FILL:
        return backend->fill(native, stream, op->buffer->native, r->dst_offset, r->width,
                             op->pattern, op->pattern_size);
    case MR_OP_RECORD: return backend->event_record(native, op->event->native, stream);
    case MR_OP_WAIT: return backend->stream_wait_event(native, stream, op->event->native);
    case MR_OP_PLAN: break;
    }
    return mr_fail(MARE_ERROR_ARGUMENT, "op of kind %d", op->kind);
}

static mare_status explain(const mr_op *op, mare_status status) {
    const ull bytes = mr_region_volume(&op->region);
    const char *label = op->buffer ? op->buffer->object.label : "";
    const mare_launch *l = op->launch;
    switch (op->kind) {
    case MR_OP_LAUNCH:
        return mr_annotate(status, "kernel '%s' (%u x %u x %u groups of %u x %u x %u)",
                           l->kernel->signature.name, l->groups[0], l->groups[1], l->groups[2],
                           l->group[0], l->group[1], l->group[2]);
    case MR_OP_UPLOAD:
        return mr_annotate(status, "buffer '%s': upload of %llu bytes", label, bytes);
    case MR_OP_DOWNLOAD:
        return mr_annotate(status, "buffer '%s': download of %llu bytes", label, bytes);
    case MR_OP_COPY:
        return mr_annotate(status, "buffer '%s': copy of %llu bytes from '%s'", label, bytes,
                           op->source->object.label);
    case MR_OP_FILL: return mr_annotate(status, "buffer '%s': fill of %llu bytes", label, bytes);
    case MR_OP_RECORD: return mr_annotate(status, "event: record");
    case MR_OP_WAIT: return mr_annotate(status, "event: a stream's wait");
    case MR_OP_PLAN: break;
    }
    return status;
}

mare_status mr_op_fail(const mr_op *op, mare_status status) {
    return mr_device_note(device_of(op), explain(op, status));
}

mare_status mr_op_run(const mr_op *op, mr_native stream) {
    mare_status status = perform(op, device_of(op), stream);
    if (status != MARE_OK) return explain(op, status);
    if (op->kind == MR_OP_RECORD) op->event->recorded = true;
    return MARE_OK;
}

static mare_status refuse_recording(const mr_op *op, const mare_stream *stream) {
    return mr_fail(MARE_ERROR_ARGUMENT,
                   "buffer '%s': stream '%s' is recording a plan, which cannot hold a transfer "
                   "that the host waits for: give it the stream",
                   op->buffer->object.label, stream->object.label);
}

mare_status mr_op_submit(const mr_op *op, mare_stream *stream) {
    if (stream->recording && op->blocking) return refuse_recording(op, stream);
    if (stream->recording) return mr_plan_add(stream->recording, op);
    mare_status status = mr_device_alive(stream->device);
    if (status == MARE_OK) status = mr_order_op(op, stream);
    if (status != MARE_OK) return explain(op, status);
    status = mr_profile_is_on(stream->device) ? mr_profile_run(op, stream)
                                              : mr_op_run(op, stream->native);
    return mr_device_note(stream->device, status);
}

/* ---- keeping ---- */

void mr_op_retain(const mr_op *op) {
    switch (op->kind) {
    case MR_OP_LAUNCH: mare_launch_retain(op->launch); break;
    case MR_OP_RECORD:
    case MR_OP_WAIT: mare_event_retain(op->event); break;
    case MR_OP_PLAN: mare_plan_retain(op->plan); break;
    default:
        mare_buffer_retain(op->buffer);
        mare_buffer_retain(op->source);
    }
}

void mr_op_release(const mr_op *op) {
    switch (op->kind) {
    case MR_OP_LAUNCH: mare_launch_release(op->launch); break;
    case MR_OP_RECORD:
    case MR_OP_WAIT: mare_event_release(op->event); break;
    case MR_OP_PLAN: mare_plan_release(op->plan); break;
    default:
        mare_buffer_release(op->buffer);
        mare_buffer_release(op->source);
    }
}
