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

/* What a plan may come to with its nested plans written out, as graphs have it; how deep they may
 * lie in each other, since a walk and a release go down by recursion; and its branches. */
enum { MAX_OPERATIONS = 1 << 20, MAX_DEPTH = 64, MAX_BRANCHES = 64 };

/* A stream whose work is recorded beside that of the stream which began. */
typedef struct branch {
    mare_stream *stream;
    mare_event *end;                /* of the branch in a replay that walks the list */
} branch;

struct mare_plan {
    mr_object object;
    mare_device *device;
    mr_op *ops;
    size_t count, capacity;
    uint64_t total;                 /* operations, nested plans written out */
    uint32_t depth;                 /* of plans within plans; 0: none in this one */
    branch *branches;               /* their operations have numbers from 1 on */
    uint32_t branch_count;
    mare_event *start;              /* of a replay, which branches wait for; NULL: no branches */
    mr_native native;               /* 0 before the first run, or where the back end has none */
};

/* ---- life ---- */

void mare_plan_retain(mare_plan *plan) {
    if (plan) mr_object_retain(&plan->object);
}

static void release_branches(mare_plan *plan) {
    for (uint32_t i = 0; i < plan->branch_count; i++) {
        mare_stream_release(plan->branches[i].stream);
        mare_event_release(plan->branches[i].end);
    }
    mare_event_release(plan->start);
    free(plan->branches);
}

static void destroy(mare_plan *plan) {
    mare_device *device = plan->device;
    if (plan->native.u64) device->backend->plan_destroy(device->native, plan->native);
    for (size_t i = 0; i < plan->count; i++) mr_op_release(&plan->ops[i]);
    free(plan->ops);
    release_branches(plan);
    mr_object_delete(&plan->object);
}

void mare_plan_release(mare_plan *plan) {
    if (!plan || !mr_object_unref(&plan->object)) return;
    mare_device *device = plan->device;
    destroy(plan);
    mare_device_release(device);
}

/* The streams of the branches queue again what they are given. */
static void end_branches(mare_plan *plan) {
    for (uint32_t i = 0; i < plan->branch_count; i++) {
        plan->branches[i].stream->branch = 0;
        atomic_store(&plan->branches[i].stream->recording, NULL);
    }
}

/* Only the end of the recording gives the plan its hold on the device: the stream has one, and the
 * default stream's recording would keep its own device alive. */
void mr_plan_abandon(mare_stream *stream) {
    mare_plan *plan = atomic_exchange(&stream->recording, NULL);
    if (!plan) return;
    end_branches(plan);
    destroy(plan);
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

static mare_status check_join(const mare_stream *stream, const mare_stream *other) {
    const char *label = other->object.label;
    if (!stream->recording || stream->branch)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_plan_join: stream '%s' has begun no recording",
                       stream->object.label);
    if (other->recording)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_plan_join: stream '%s' is recording already",
                       label);
    if (other->device->backend != stream->device->backend)
        return mr_fail(MARE_ERROR_UNAVAILABLE,
                       "mare_plan_join: stream '%s' is of %s, the recording of %s", label,
                       other->device->info.name, stream->device->info.name);
    if (stream->recording->branch_count < MAX_BRANCHES) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT, "mare_plan_join: stream '%s': a plan has at most %d "
                   "branches", label, MAX_BRANCHES);
}

static mare_status add_branch(mare_plan *plan, mare_stream *other) {
    branch made = { .stream = other };
    branch *more = realloc(plan->branches, (plan->branch_count + 1) * sizeof *more);
    if (!more) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a plan");
    plan->branches = more;
    if (!plan->start) MR_TRY(mare_event_create(plan->device, &plan->start));
    MR_TRY(mare_event_create(other->device, &made.end));
    mare_stream_retain(other);
    more[plan->branch_count++] = made;
    return MARE_OK;
}

mare_status mare_plan_join(mare_stream *stream, mare_stream *other) {
    if (!stream || !other)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_plan_join: stream and other are required");
    MR_TRY(check_join(stream, other));
    mare_plan *plan = stream->recording;
    MR_TRY_WITH(add_branch(plan, other), "stream '%s'", other->object.label);
    other->branch = plan->branch_count;
    atomic_store(&other->recording, plan);
    return MARE_OK;
}

static mare_status refuse_branch(const mare_stream *stream) {
    if (!stream->branch) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT,
                   "mare_plan_end: stream '%s' has joined a recording; the stream that began ends "
                   "it", stream->object.label);
}

mare_status mare_plan_end(mare_stream *stream, const char *label, mare_plan **out) {
    if (out) *out = NULL;
    if (!stream) return mr_fail(MARE_ERROR_ARGUMENT, "mare_plan_end: stream is NULL");
    MR_TRY(refuse_branch(stream));
    mare_plan *plan = atomic_exchange(&stream->recording, NULL);
    if (!plan)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_plan_end: stream '%s' is not recording",
                       stream->object.label);
    end_branches(plan);
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

bool mr_plan_records(const mare_plan *plan, const mare_event *event) {
    for (size_t i = 0; i < plan->count; i++)
        if (plan->ops[i].kind == MR_OP_RECORD && plan->ops[i].event == event) return true;
    return false;
}

mare_status mr_plan_add(mare_stream *stream, const mr_op *op) {
    mare_plan *plan = stream->recording;
    const mare_plan *nested = op->kind == MR_OP_PLAN ? op->plan : NULL;
    const uint64_t size = nested ? nested->total * op->repeat : 1;
    const uint32_t depth = nested ? nested->depth + 1 : 0;
    if (size == 0) return MARE_OK;
    if (nested && nested->branch_count)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "plan '%s' has branches and cannot be a part of another plan",
                       nested->object.label);
    if (plan->total + size > MAX_OPERATIONS)
        return mr_fail(MARE_ERROR_ARGUMENT, "a plan of %llu operations (allowed: %d)",
                       (unsigned long long)(plan->total + size), MAX_OPERATIONS);
    if (depth > MAX_DEPTH)
        return mr_fail(MARE_ERROR_ARGUMENT, "plan '%s': nested more than %d deep",
                       nested->object.label, MAX_DEPTH);
    MR_TRY(make_room(plan));
    if (plan->depth < depth) plan->depth = depth;
    mr_op_retain(op);
    plan->ops[plan->count] = *op;
    plan->ops[plan->count++].branch = stream->branch;
    plan->total += size;
    return MARE_OK;
}

/* ---- running ---- */

static mare_status walk(const mare_plan *plan, uint32_t within, mr_visit *visit, void *context);

/* `within`: the branch that a nested plan is in, which has none of its own. */
static mare_status visit_op(const mr_op *op, uint32_t within, mr_visit *visit, void *context) {
    mr_op moved;
    if (within) {
        moved = *op;
        moved.branch = within;
        op = &moved;
    }
    if (op->kind != MR_OP_PLAN) return visit(op, context);
    for (uint32_t n = 0; n < op->repeat; n++) MR_TRY(walk(op->plan, op->branch, visit, context));
    return MARE_OK;
}

static mare_status walk(const mare_plan *plan, uint32_t within, mr_visit *visit, void *context) {
    for (size_t i = 0; i < plan->count; i++)
        MR_TRY(visit_op(&plan->ops[i], within, visit, context));
    return MARE_OK;
}

mare_status mr_plan_walk(const mare_plan *plan, mr_visit *visit, void *context) {
    return walk(plan, 0, visit, context);
}

uint32_t mr_plan_branches(const mare_plan *plan) { return plan->branch_count; }

mr_native mr_plan_branch_device(const mare_plan *plan, uint32_t number) {
    return number ? plan->branches[number - 1].stream->device->native : plan->device->native;
}

/* A replay that walks the list. */
typedef struct replay {
    const mare_plan *plan;
    mare_stream *stream;
} replay;

static mare_status queue_op(const mr_op *op, void *context) {
    const replay *on = context;
    mare_stream *stream = op->branch ? on->plan->branches[op->branch - 1].stream : on->stream;
    return op->kind == MR_OP_WAIT ? mr_stream_await(stream, op->event) : mr_op_submit(op, stream);
}

static mare_status mark_recorded(const mr_op *op, void *nothing) {
    (void)nothing;
    if (op->kind == MR_OP_RECORD) op->event->recorded = true;
    return MARE_OK;
}

mare_status mr_plan_order(const mare_plan *plan, const mare_stream *stream) {
    for (size_t i = 0; i < plan->count; i++) MR_TRY(mr_op_order(&plan->ops[i], stream));
    return MARE_OK;
}

static mare_status make_ready(mare_plan *plan) {
    if (plan->native.u64) return MARE_OK;
    MR_TRY(plan->device->backend->plan_build(plan->device->native, plan, &plan->native));
    mr_plan_walk(plan, mark_recorded, NULL);
    return MARE_OK;
}

static mare_status run_native(mare_plan *plan, uint32_t repeat, mare_stream *stream) {
    const mr_backend *backend = plan->device->backend;
    MR_TRY(mr_device_alive(plan->device));
    MR_TRY(mr_plan_order(plan, stream));
    MR_TRY(make_ready(plan));
    if (!repeat) return MARE_OK;
    return backend->plan_run(plan->device->native, stream->native, plan->native, repeat);
}

/* Branches begin behind what the stream has before, */
static mare_status begin_branches(const mare_plan *plan, mare_stream *stream) {
    if (!plan->start) return MARE_OK;
    MR_TRY(mare_event_record(plan->start, stream));
    for (uint32_t i = 0; i < plan->branch_count; i++)
        MR_TRY(mr_stream_await(plan->branches[i].stream, plan->start));
    return MARE_OK;
}

/* and what it gets then comes behind them. */
static mare_status wait_for_branches(const mare_plan *plan, mare_stream *stream) {
    for (uint32_t i = 0; i < plan->branch_count; i++) {
        const branch *each = &plan->branches[i];
        MR_TRY(mare_event_record(each->end, each->stream));
        MR_TRY(mr_stream_await(stream, each->end));
    }
    return MARE_OK;
}

static mare_status run_list(const mare_plan *plan, uint32_t repeat, mare_stream *stream) {
    replay on = { plan, stream };
    if (!repeat) return mr_plan_order(plan, stream);
    for (uint32_t n = 0; n < repeat; n++) {
        MR_TRY(begin_branches(plan, stream));
        MR_TRY(mr_plan_walk(plan, queue_op, &on));
        MR_TRY(wait_for_branches(plan, stream));
    }
    return MARE_OK;
}

/* What is queued on the streams of branches must not go into a recording. */
static mare_status check_branches(const mare_plan *plan) {
    for (uint32_t i = 0; i < plan->branch_count; i++)
        if (plan->branches[i].stream->recording)
            return mr_fail(MARE_ERROR_ARGUMENT,
                           "stream '%s', on which a branch of it runs, is recording",
                           plan->branches[i].stream->object.label);
    return MARE_OK;
}

mare_status mare_plan_run(mare_plan *plan, uint32_t repeat, mare_stream *stream) {
    if (!plan) return mr_fail(MARE_ERROR_ARGUMENT, "mare_plan_run: plan is NULL");
    const char *label = plan->object.label;
    MR_TRY(mr_device_pick_stream(plan->device, stream, "plan", label, &stream));
    if (stream->recording)
        return mr_plan_add(stream, &(mr_op){ .kind = MR_OP_PLAN, .plan = plan, .repeat = repeat });
    if (!plan->total) return MARE_OK;
    bool is_native = plan->device->backend->plan_build && !mr_profile_is_on(plan->device);
    mare_status status = check_branches(plan);
    if (status == MARE_OK)
        status = is_native ? run_native(plan, repeat, stream) : run_list(plan, repeat, stream);
    if (status == MARE_OK) return MARE_OK;
    return mr_device_note(plan->device, mr_annotate(status, "plan '%s'", label));
}
