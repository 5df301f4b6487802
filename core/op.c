/* op.c - work for a stream as a value. Everything that can be queued passes through mr_op_submit,
 * which runs it, hands it to the plan that is being recorded, or has the profile time it.
 *
 * What the kinds of work differ in stands in one table, `kinds`: a new kind is a name in mr_op_kind
 * and a row there.
 */
#include "internal.h"

typedef unsigned long long ull; /* for %llu */

typedef struct kind {
    /* for the profile; NULL: it takes no time of the device and is not timed */
    const char *(*name)(const mr_op *op);
    uint64_t (*bytes)(const mr_op *op);     /* that it moves, for the profile */
    mare_device *(*device)(const mr_op *op);
    /* Queues it through the seam; NULL: a plan, which is no single piece of work. */
    mare_status (*perform)(const mr_op *op, const mare_device *device, mr_native stream);
    /* Puts what it is in front of a failure. */
    mare_status (*explain)(const mr_op *op, mare_status status);
    /* Has the stream wait for the former use of the memory that it uses; NULL: it uses none. */
    mare_status (*order)(const mr_op *op, const mare_stream *stream);
    void (*retain)(const mr_op *op);        /* the objects it works on */
    void (*release)(const mr_op *op);
} kind;

/* ---- launches ---- */

static const char *launch_name(const mr_op *op) { return op->launch->dispatch.name; }
static uint64_t launch_bytes(const mr_op *op) { return op->launch->bytes; }
static mare_device *launch_device(const mr_op *op) { return op->launch->device; }
static void retain_launch(const mr_op *op) { mare_launch_retain(op->launch); }
static void release_launch(const mr_op *op) { mare_launch_release(op->launch); }

static mare_status run_launch(const mr_op *op, const mare_device *device, mr_native stream) {
    if (mr_turn_is_due(op->launch)) return mr_turn_run(op->launch, stream);
    return device->backend->launch_run(device->native, stream, &op->launch->dispatch);
}

static mare_status explain_launch(const mr_op *op, mare_status status) {
    const mr_dispatch *l = &op->launch->dispatch;
    return mr_annotate(status, "kernel '%s' (%u x %u x %u groups of %u x %u x %u)", l->name,
                       l->groups[0], l->groups[1], l->groups[2], l->group[0], l->group[1],
                       l->group[2]);
}

static mare_status order_launch(const mr_op *op, const mare_stream *stream) {
    mare_launch *launch = op->launch;
    if (launch->ordered == stream->serial) return MARE_OK;
    for (uint32_t i = 0; i < launch->dispatch.arg_count; i++)
        if (launch->buffers[i]) MR_TRY(mr_order_use(launch->buffers[i], stream));
    launch->ordered = stream->serial;
    return MARE_OK;
}

/* ---- calls ---- */

static const char *call_name(const mr_op *op) { return op->call->object.label; }
static uint64_t call_bytes(const mr_op *op) { return op->call->bytes; }
static mare_device *call_device(const mr_op *op) { return op->call->device; }
static void retain_call(const mr_op *op) { mare_call_retain(op->call); }
static void release_call(const mr_op *op) { mare_call_release(op->call); }

static mare_status run_call(const mr_op *op, const mare_device *device, mr_native stream) {
    const mare_call *call = op->call;
    mr_clear_error();                       /* a function that says nothing shall not quote */
    return device->backend->call_run(device->native, stream, call->function, call->data);
}

static mare_status explain_call(const mr_op *op, mare_status status) {
    return mr_annotate(status, "call '%s'", op->call->object.label);
}

static mare_status order_call(const mr_op *op, const mare_stream *stream) {
    for (uint64_t i = 0; i < op->call->buffer_count; i++)
        MR_TRY(mr_order_use(op->call->buffers[i], stream));
    return MARE_OK;
}

/* ---- transfers, copies and fills ---- */

static const char *upload_name(const mr_op *op) { return (void)op, "upload"; }
static const char *download_name(const mr_op *op) { return (void)op, "download"; }
static const char *copy_name(const mr_op *op) { return (void)op, "copy"; }
static const char *fill_name(const mr_op *op) { return (void)op, "fill"; }
static uint64_t region_bytes(const mr_op *op) { return mr_region_volume(&op->region); }
static mare_device *buffer_device(const mr_op *op) { return op->buffer->device; }

static mare_status run_upload(const mr_op *op, const mare_device *device, mr_native stream) {
    return device->backend->write(device->native, stream, op->buffer->native, op->host,
                                  &op->region, op->blocking);
}

static mare_status run_download(const mr_op *op, const mare_device *device, mr_native stream) {
    return device->backend->read(device->native, stream, op->host, op->buffer->native,
                                 &op->region, op->blocking);
}

static mare_device *copy_device(const mr_op *op) {
    return op->copier ? op->copier : op->buffer->device;
}

static mare_status run_copy(const mr_op *op, const mare_device *device, mr_native stream) {
    if (op->copier)
        return device->backend->peer_copy(device->native, stream, op->buffer->device->native,
                                          op->buffer->native, op->source->device->native,
                                          op->source->native, &op->region);
    return device->backend->copy(device->native, stream, op->buffer->native, op->source->native,
                                 &op->region);
}

static mare_status run_fill(const mr_op *op, const mare_device *device, mr_native stream) {
    return device->backend->fill(device->native, stream, op->buffer->native,
                                 op->region.dst_offset, op->region.width, op->pattern,
                                 op->pattern_size);
}

static mare_status explain_region(const mr_op *op, mare_status status) {
    const bool is_copy = op->source != NULL;
    return mr_annotate(status, "buffer '%s': %s of %llu bytes%s%s%s", op->buffer->object.label,
                       mr_op_name(op), (ull)region_bytes(op), is_copy ? " from '" : "",
                       is_copy ? op->source->object.label : "", is_copy ? "'" : "");
}

static mare_status order_buffers(const mr_op *op, const mare_stream *stream) {
    if (op->source) MR_TRY(mr_order_use(op->source, stream));
    return mr_order_use(op->buffer, stream);
}

static void retain_buffers(const mr_op *op) {
    mare_buffer_retain(op->buffer);
    mare_buffer_retain(op->source);
}

static void release_buffers(const mr_op *op) {
    mare_buffer_release(op->buffer);
    mare_buffer_release(op->source);
}

/* ---- events ---- */

static mare_device *event_device(const mr_op *op) { return op->event->device; }
static void retain_event(const mr_op *op) { mare_event_retain(op->event); }
static void release_event(const mr_op *op) { mare_event_release(op->event); }

static mare_status run_record(const mr_op *op, const mare_device *device, mr_native stream) {
    MR_TRY(device->backend->event_record(device->native, op->event->native, stream));
    op->event->recorded = true;
    return MARE_OK;
}

static mare_status run_wait(const mr_op *op, const mare_device *device, mr_native stream) {
    return device->backend->stream_wait_event(device->native, stream, op->event->native);
}

static mare_status explain_record(const mr_op *op, mare_status status) {
    (void)op;
    return mr_annotate(status, "event: record");
}

static mare_status explain_wait(const mr_op *op, mare_status status) {
    (void)op;
    return mr_annotate(status, "event: a stream's wait");
}

/* ---- plans within plans ---- */

static mare_device *plan_device(const mr_op *op) { return mr_plan_device(op->plan); }
static mare_status explain_plan(const mr_op *op, mare_status s) { return (void)op, s; }
static void retain_plan(const mr_op *op) { mare_plan_retain(op->plan); }
static void release_plan(const mr_op *op) { mare_plan_release(op->plan); }

static mare_status order_plan(const mr_op *op, const mare_stream *stream) {
    return mr_plan_order(op->plan, stream);
}

/* ---- the table ---- */

static const kind kinds[] = {
    [MR_OP_LAUNCH] = { launch_name, launch_bytes, launch_device, run_launch, explain_launch,
                       order_launch, retain_launch, release_launch },
    [MR_OP_CALL] = { call_name, call_bytes, call_device, run_call, explain_call, order_call,
                     retain_call, release_call },
    [MR_OP_UPLOAD] = { upload_name, region_bytes, buffer_device, run_upload, explain_region,
                       order_buffers, retain_buffers, release_buffers },
    [MR_OP_DOWNLOAD] = { download_name, region_bytes, buffer_device, run_download, explain_region,
                         order_buffers, retain_buffers, release_buffers },
    [MR_OP_COPY] = { copy_name, region_bytes, copy_device, run_copy, explain_region,
                     order_buffers, retain_buffers, release_buffers },
    [MR_OP_FILL] = { fill_name, region_bytes, buffer_device, run_fill, explain_region,
                     order_buffers, retain_buffers, release_buffers },
    [MR_OP_RECORD] = { NULL, NULL, event_device, run_record, explain_record, NULL, retain_event,
                       release_event },
    [MR_OP_WAIT] = { NULL, NULL, event_device, run_wait, explain_wait, NULL, retain_event,
                     release_event },
    [MR_OP_PLAN] = { NULL, NULL, plan_device, NULL, explain_plan, order_plan, retain_plan,
                     release_plan },
};

const char *mr_op_name(const mr_op *op) {
    return kinds[op->kind].name ? kinds[op->kind].name(op) : NULL;
}

mr_op_kind mr_op_kind_of(const mr_op *op) { return op->kind; }

const mr_dispatch *mr_op_dispatch(const mr_op *op) { return &op->launch->dispatch; }

mr_native mr_op_event(const mr_op *op) { return op->event->native; }

uint32_t mr_op_branch(const mr_op *op) { return op->branch; }

uint64_t mr_op_bytes(const mr_op *op) { return kinds[op->kind].bytes(op); }

void mr_op_retain(const mr_op *op) { kinds[op->kind].retain(op); }

void mr_op_release(const mr_op *op) { kinds[op->kind].release(op); }

mare_status mr_op_order(const mr_op *op, const mare_stream *stream) {
    return kinds[op->kind].order ? kinds[op->kind].order(op, stream) : MARE_OK;
}

/* ---- running ---- */

mare_status mr_op_fail(const mr_op *op, mare_status status) {
    return mr_device_note(kinds[op->kind].device(op), kinds[op->kind].explain(op, status));
}

mare_status mr_op_run(const mr_op *op, mr_native stream) {
    const kind *k = &kinds[op->kind];
    mare_status status = k->perform(op, k->device(op), stream);
    return status == MARE_OK ? MARE_OK : k->explain(op, status);
}

static mare_status refuse_recording(const mr_op *op, const mare_stream *stream) {
    return mr_fail(MARE_ERROR_ARGUMENT,
                   "buffer '%s': stream '%s' is recording a plan, which cannot hold a transfer "
                   "that the host waits for: give it the stream",
                   op->buffer->object.label, stream->object.label);
}

mare_status mr_op_submit(const mr_op *op, mare_stream *stream) {
    if (stream->recording && op->blocking) return refuse_recording(op, stream);
    if (stream->recording) return mr_plan_add(stream, op);
    mare_status status = mr_device_alive(stream->device);
    if (status == MARE_OK) status = mr_op_order(op, stream);
    if (status != MARE_OK) return kinds[op->kind].explain(op, status);
    status = mr_profile_is_on(stream->device) ? mr_profile_run(op, stream)
                                              : mr_op_run(op, stream->native);
    return mr_device_note(stream->device, status);
}
