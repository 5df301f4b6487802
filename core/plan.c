/* plan.c - work recorded once and replayed with one call.
 *
 * A plan is a list of operations that holds the objects they work on. A back end with graphs of its
 * own turns the list into one at the first run; otherwise a replay walks the list. OpenCL's
 * cl_khr_command_buffer is left alone: its arguments cannot be patched, it holds neither transfers
 * nor events, NVIDIA's driver 580 lacks it, and PoCL 3.1 replays 100 empty kernels in 1.46 us each,
 * enqueued in 1.17 us.
 */
#include "internal.h"

#include <stdlib.h>

/* What a plan may come to with its nested plans written out, as graphs have it; and how deep they
 * may lie in each other, since a walk and a release go down by recursion. */
enum { MAX_OPERATIONS = 1 << 20, MAX_DEPTH = 64 };

struct mare_plan {
    mr_object object;
    mare_device *device;
    mr_op *ops;
    size_t count, capacity;
    uint64_t total;                 /* operations, nested plans written out */
    uint32_t depth;                 /* of plans within plans; 0: none in this one */
    mr_native native;               /* 0 before the first run, or where the back end has none */
};

/* ---- life ---- */

void mare_plan_retain(mare_plan *plan) {
    if (plan) mr_object_retain(&plan->object);
}

static void destroy(mare_plan *plan) {
    mare_device *device = plan->device;
    if (plan->native.u64) device->backend->plan_destroy(device->native, plan->native);
    for (size_t i = 0; i < plan->count; i++) mr_op_release(&plan->ops[i]);
    free(plan->ops);
    mr_object_delete(&plan->object);
}

void mare_plan_release(mare_plan *plan) {
    if (!plan || !mr_object_unref(&plan->object)) return;
    mare_device *device = plan->device;
    destroy(plan);
    mare_device_release(device);
}

/* Only the end of the recording gives the plan its hold on the device: the stream has one, and the
 * default stream's recording would keep its own device alive. */
void mr_plan_abandon(mare_stream *stream) {
    mare_plan *plan = atomic_exchange(&stream->recording, NULL);
    if (plan) destroy(plan);
}

mare_device *mr_plan_device(const mare_plan *plan) { return plan->device; }

/* ---- recording ---- */

mare_status mare_plan_begin(mare_stream *stream) {
    if (!stream) return mr_fail(MARE_ERROR_ARGUMENT, "mare_plan_begin: stream is NULL");
    mare_plan *none = NULL, *plan = mr_object_new(sizeof *plan, "plan", "plan");
    if (!plan) return MARE_ERROR_MEMORY;
    plan->device = stream->device;
    if (atomic_compare_exchange_strong(&stream->recording, &none, plan)) return MARE_OK;
    destroy(plan);
    return mr_fail(MARE_ERROR_ARGUMENT, "mare_plan_begin: stream '%s' is recording already",
                   stream->object.label);
}

mare_status mare_plan_end(mare_stream *stream, const char *label, mare_plan **out) {
    if (out) *out = NULL;
    if (!stream) return mr_fail(MARE_ERROR_ARGUMENT, "mare_plan_end: stream is NULL");
    mare_plan *plan = atomic_exchange(&stream->recording, NULL);
    if (!plan)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_plan_end: stream '%s' is not recording",
                       stream->object.label);
    mare_device_retain(plan->device);
    if (label) mr_text_cut(plan->object.label, sizeof plan->object.label, label);
    if (out) *out = plan;
    else mare_plan_release(plan);
    return MARE_OK;
}

static mare_status make_room(mare_plan *plan) {
    if (plan->count < plan->capacity) return MARE_OK;
    size_t capacity = plan->capacity ? 2 * plan->capacity : 16;
    mr_op *ops = realloc(plan->ops, capacity * sizeof *ops);
    if (!ops) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a plan");
    plan->ops = ops;
    plan->capacity = capacity;
    return MARE_OK;
}

mare_status mr_plan_add(mare_plan *plan, const mr_op *op) {
    const mare_plan *nested = op->kind == MR_OP_PLAN ? op->plan : NULL;
    const uint64_t size = nested ? nested->total * op->repeat : 1;
    const uint32_t depth = nested ? nested->depth + 1 : 0;
    if (size == 0) return MARE_OK;
    if (plan->total + size > MAX_OPERATIONS)
        return mr_fail(MARE_ERROR_ARGUMENT, "a plan of %llu operations (allowed: %d)",
                       (unsigned long long)(plan->total + size), MAX_OPERATIONS);
    if (depth > MAX_DEPTH)
        return mr_fail(MARE_ERROR_ARGUMENT, "plan '%s': nested more than %d deep",
                       nested->object.label, MAX_DEPTH);
    MR_TRY(make_room(plan));
    if (plan->depth < depth) plan->depth = depth;
    mr_op_retain(op);
    plan->ops[plan->count++] = *op;
    plan->total += size;
    return MARE_OK;
}

/* ---- running ---- */

mare_status mr_plan_walk(const mare_plan *plan, mr_visit *visit, void *context) {
    for (size_t i = 0; i < plan->count; i++) {
        const mr_op *op = &plan->ops[i];
        if (op->kind != MR_OP_PLAN) MR_TRY(visit(op, context));
        else
            for (uint32_t n = 0; n < op->repeat; n++)
                MR_TRY(mr_plan_walk(op->plan, visit, context));
    }
    return MARE_OK;
}

static mare_status queue_op(const mr_op *op, void *stream) { return mr_op_submit(op, stream); }

static mare_status mark_recorded(const mr_op *op, void *nothing) {
    (void)nothing;
    if (op->kind == MR_OP_RECORD) op->event->recorded = true;
    return MARE_OK;
}

mare_status mr_plan_order(const mare_plan *plan, const mare_stream *stream) {
    for (size_t i = 0; i < plan->count; i++) MR_TRY(mr_op_order(&plan->ops[i], stream));
    return MARE_OK;
}

static mare_status run_native(mare_plan *plan, uint32_t repeat, mare_stream *stream) {
    const mr_backend *backend = plan->device->backend;
    const mr_native device = plan->device->native;
    MR_TRY(mr_device_alive(plan->device));
    MR_TRY(mr_plan_order(plan, stream));
    if (!plan->native.u64) {
        MR_TRY(backend->plan_build(device, plan, &plan->native));
        mr_plan_walk(plan, mark_recorded, NULL);
    }
    return backend->plan_run(device, stream->native, plan->native, repeat);
}

static mare_status run_list(const mare_plan *plan, uint32_t repeat, mare_stream *stream) {
    for (uint32_t n = 0; n < repeat; n++) MR_TRY(mr_plan_walk(plan, queue_op, stream));
    return MARE_OK;
}

mare_status mare_plan_run(mare_plan *plan, uint32_t repeat, mare_stream *stream) {
    if (!plan) return mr_fail(MARE_ERROR_ARGUMENT, "mare_plan_run: plan is NULL");
    const char *label = plan->object.label;
    MR_TRY(mr_device_pick_stream(plan->device, stream, "plan", label, &stream));
    if (stream->recording)
        return mr_plan_add(stream->recording,
                           &(mr_op){ .kind = MR_OP_PLAN, .plan = plan, .repeat = repeat });
    if (!plan->total || !repeat) return MARE_OK;
    bool is_native = plan->device->backend->plan_build && !mr_profile_is_on(plan->device);
    mare_status status = is_native ? run_native(plan, repeat, stream)
                                   : run_list(plan, repeat, stream);
    if (status == MARE_OK) return MARE_OK;
    return mr_device_note(plan->device, mr_annotate(status, "plan '%s'", label));
}
