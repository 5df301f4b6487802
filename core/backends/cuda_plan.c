/* cuda_plan.c - the CUDA back end: plans as graphs.
 *
 * The operations are captured from private streams, one for each branch, in the relaxed mode, which
 * hinders no other thread of the program. Each kernel node is remembered with the arguments it has;
 * before a run those that its launch has changed since are written into the node. A graph that runs
 * already keeps what it was started with.
 */
#include "cuda_api.h"

#include <stdlib.h>
#include <string.h>

struct node {
    struct CUgraphNode_st *native;
    const mr_dispatch *launch;      /* alive as long as the plan */
    mr_value *values;               /* what the node has, like the two below */
    uint32_t groups[3], group[3];
};

struct cuda_plan {
    struct CUgraph_st *graph;       /* its nodes stand for those of exec */
    struct CUgraphExec_st *exec;
    struct node *nodes;
    size_t count, capacity;
};

/* A record within the plan: branches that wait for the event follow the last one's node. */
struct mark {
    const void *event;              /* that the plan records */
    struct CUevent_st *own;
};

struct capture {
    struct cuda_plan *plan;
    const mare_plan *source;
    uint32_t count;                 /* of streams */
    struct CUstream_st **streams;   /* by branch, 0 being the main one */
    struct mark *marks;
    size_t mark_count;
};

/* ---- nodes ---- */

static bool is_current(const struct node *node) {
    const mr_dispatch *launch = node->launch;
    return !memcmp(node->values, launch->values, launch->word_count * sizeof *node->values) &&
           !memcmp(node->groups, launch->groups, sizeof node->groups) &&
           !memcmp(node->group, launch->group, sizeof node->group);
}

static void note_current(struct node *node) {
    const mr_dispatch *launch = node->launch;
    memcpy(node->values, launch->values, launch->word_count * sizeof *node->values);
    memcpy(node->groups, launch->groups, sizeof node->groups);
    memcpy(node->group, launch->group, sizeof node->group);
}

static mare_status update(const struct cuda_plan *plan, struct node *node) {
    const mr_dispatch *l = node->launch;
    struct mr_cuda_launch *native = l->native.ptr;
    const struct CUDA_KERNEL_NODE_PARAMS_v2_st params = {
        .func = native->function,
        .gridDimX = l->groups[0], .gridDimY = l->groups[1], .gridDimZ = l->groups[2],
        .blockDimX = l->group[0], .blockDimY = l->group[1], .blockDimZ = l->group[2],
        .sharedMemBytes = l->local_bytes,
        .kernelParams = native->values,
    };
    unsigned code = mr_cu.cuGraphExecKernelNodeSetParams_v2(plan->exec, node->native, &params);
    MR_TRY(mr_cuda_check(code, "cuGraphExecKernelNodeSetParams('%s', %u x %u x %u groups of "
                               "%u x %u x %u)", l->name, l->groups[0],
                         l->groups[1], l->groups[2], l->group[0], l->group[1], l->group[2]));
    note_current(node);
    return MARE_OK;
}

static struct node *new_node(struct cuda_plan *plan) {
    if (plan->count == plan->capacity) {
        size_t capacity = plan->capacity ? 2 * plan->capacity : 16;
        struct node *nodes = realloc(plan->nodes, capacity * sizeof *nodes);
        if (!nodes) return NULL;
        plan->nodes = nodes;
        plan->capacity = capacity;
    }
    return memset(&plan->nodes[plan->count], 0, sizeof *plan->nodes);
}

/* ---- capture ---- */

/* The node of the launch just captured is what a next one would follow. */
static mare_status last_node(struct CUstream_st *stream, struct CUgraphNode_st **out) {
    unsigned status = 0;
    unsigned long id = 0;
    struct CUgraph_st *graph = NULL;
    struct CUgraphNode_st *const *nodes = NULL;
    size_t count = 0;
    unsigned code = mr_cu.cuStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes,
                                                    &count);
    MR_TRY(mr_cuda_check(code, "cuStreamGetCaptureInfo"));
    if (count != 1)
        return mr_fail(MARE_ERROR_DEVICE, "cuStreamGetCaptureInfo: a launch became %zu nodes",
                       count);
    *out = nodes[0];
    return MARE_OK;
}

static mare_status note_launch(struct cuda_plan *plan, struct CUstream_st *stream,
                               const mr_dispatch *launch) {
    struct node *node = new_node(plan);
    size_t size = launch->word_count * sizeof(mr_value);
    mr_value *values = node ? malloc(size ? size : 1) : NULL;
    if (!values) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a plan");
    node->launch = launch;
    node->values = values;
    note_current(node);
    plan->count++;
    return last_node(stream, &node->native);
}

/* ---- branches ---- */

/* An event of ours at what the branch has come to; an edge where another branch waits for it. */
static mare_status mark_place(struct capture *capture, uint32_t branch, const void *event,
                              struct CUevent_st **out) {
    struct mark *more = realloc(capture->marks, (capture->mark_count + 1) * sizeof *more);
    if (!more) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a plan");
    capture->marks = more;
    struct mark *made = &more[capture->mark_count];
    const mr_native device = mr_plan_branch_device(capture->source, branch);
    bool pushed;
    *made = (struct mark){ .event = event };
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = mr_cuda_check(mr_cu.cuEventCreate(&made->own, MR_CU_EVENT_DEFAULT),
                                       "cuEventCreate");
    if (status == MARE_OK) {
        capture->mark_count++;
        status = mr_cuda_check(mr_cu.cuEventRecord(made->own, capture->streams[branch]),
                               "cuEventRecord");
    }
    mr_cuda_leave(pushed);
    if (status == MARE_OK) *out = made->own;
    return status;
}

static mare_status wait_for_mark(const struct capture *capture, uint32_t branch,
                                 struct CUevent_st *mark) {
    return mr_cuda_check(mr_cu.cuStreamWaitEvent(capture->streams[branch], mark, 0),
                         "cuStreamWaitEvent");
}

/* The branches begin behind the beginning of the main one, which makes them part of the capture, */
static mare_status fork_branches(struct capture *capture) {
    struct CUevent_st *start = NULL;
    if (capture->count == 1) return MARE_OK;
    MR_TRY(mark_place(capture, 0, NULL, &start));
    for (uint32_t i = 1; i < capture->count; i++) MR_TRY(wait_for_mark(capture, i, start));
    return MARE_OK;
}

/* and end before its end, as the driver wants it. */
static mare_status join_branches(struct capture *capture) {
    for (uint32_t i = 1; i < capture->count; i++) {
        struct CUevent_st *end = NULL;
        MR_TRY(mark_place(capture, i, NULL, &end));
        MR_TRY(wait_for_mark(capture, 0, end));
    }
    return MARE_OK;
}

/* A node of its own kind records the event for those who wait for it outside of the graph. */
static mare_status capture_record(struct capture *capture, const mr_op *op) {
    const uint32_t branch = mr_op_branch(op);
    struct CUevent_st *event = mr_op_event(op).ptr, *mark = NULL;
    MR_TRY(mr_cuda_check(mr_cu.cuEventRecordWithFlags(event, capture->streams[branch],
                                                      MR_CU_EVENT_RECORD_EXTERNAL),
                         "cuEventRecordWithFlags"));
    return capture->count > 1 ? mark_place(capture, branch, event, &mark) : MARE_OK;
}

static mare_status capture_wait(const struct capture *capture, const mr_op *op) {
    const uint32_t branch = mr_op_branch(op);
    struct CUevent_st *event = mr_op_event(op).ptr;
    for (size_t i = capture->mark_count; i-- > 0;)
        if (capture->marks[i].event == event)
            return wait_for_mark(capture, branch, capture->marks[i].own);
    return mr_cuda_check(mr_cu.cuStreamWaitEvent(capture->streams[branch], event,
                                                 MR_CU_EVENT_WAIT_EXTERNAL),
                         "cuStreamWaitEvent");
}

/* ---- operations ---- */

static mare_status capture_op(const mr_op *op, void *context) {
    struct capture *capture = context;
    struct CUstream_st *stream = capture->streams[mr_op_branch(op)];
    switch (mr_op_kind_of(op)) {
    case MR_OP_RECORD: return capture_record(capture, op);
    case MR_OP_WAIT: return capture_wait(capture, op);
    case MR_OP_LAUNCH:
        MR_TRY(mr_op_run(op, (mr_native){ .ptr = stream }));
        return note_launch(capture->plan, stream, mr_op_dispatch(op));
    default: return mr_op_run(op, (mr_native){ .ptr = stream });
    }
}

/* Ends the capture in any case; a failure of an operation comes before what it does to the end. */
static mare_status capture_all(struct capture *capture) {
    MR_TRY(mr_cuda_check(mr_cu.cuStreamBeginCapture_v2(capture->streams[0],
                                                       MR_CU_STREAM_CAPTURE_MODE_RELAXED),
                         "cuStreamBeginCapture"));
    mare_status status = fork_branches(capture);
    if (status == MARE_OK) status = mr_plan_walk(capture->source, capture_op, capture);
    if (status == MARE_OK) status = join_branches(capture);
    unsigned code = mr_cu.cuStreamEndCapture(capture->streams[0], &capture->plan->graph);
    return status != MARE_OK ? status : mr_cuda_check(code, "cuStreamEndCapture");
}

static mare_status make_stream(mr_native device, struct CUstream_st **out) {
    bool pushed;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = mr_cuda_check(
        mr_cu.cuStreamCreateWithPriority(out, MR_CU_STREAM_NON_BLOCKING, 0),
        "cuStreamCreateWithPriority(0)");
    mr_cuda_leave(pushed);
    return status;
}

/* What a graph of several devices works on may be given back on each of them. */
static void note_devices(const mare_plan *plan) {
    for (uint32_t i = 0; mr_plan_branches(plan) && i <= mr_plan_branches(plan); i++)
        mr_cuda_context_reaches(mr_plan_branch_device(plan, i).ptr);
}

static void end_capture(struct capture *capture) {
    for (size_t i = 0; i < capture->mark_count; i++)
        (void)mr_cu.cuEventDestroy_v2(capture->marks[i].own);
    for (uint32_t i = 0; i < capture->count && capture->streams[i]; i++)
        (void)mr_cu.cuStreamDestroy_v2(capture->streams[i]);
    free(capture->marks);
    free(capture->streams);
}

static bool is_on_one_device(const mare_plan *plan) {
    for (uint32_t i = 1; i <= mr_plan_branches(plan); i++)
        if (mr_plan_branch_device(plan, i).ptr != mr_plan_branch_device(plan, 0).ptr) return false;
    return true;
}

/* With all that a launch would have to do first, and might wait with for other work. */
static mare_status instantiate(struct cuda_plan *made, const mare_plan *plan,
                               struct CUstream_st *stream) {
    MR_TRY(mr_cuda_check(mr_cu.cuGraphInstantiateWithFlags(&made->exec, made->graph, 0),
                         "cuGraphInstantiateWithFlags"));
    if (!is_on_one_device(plan)) return MARE_OK;
    MR_TRY(mr_cuda_check(mr_cu.cuGraphUpload(made->exec, stream), "cuGraphUpload"));
    return mr_cuda_check(mr_cu.cuStreamSynchronize(stream), "cuStreamSynchronize");
}

static mare_status build(struct cuda_plan *made, const mare_plan *plan) {
    struct capture capture = { .plan = made, .source = plan, .count = mr_plan_branches(plan) + 1 };
    mare_status status = MARE_OK;
    capture.streams = calloc(capture.count, sizeof(struct CUstream_st *));
    if (!capture.streams) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a plan");
    note_devices(plan);
    for (uint32_t i = 0; i < capture.count && status == MARE_OK; i++)
        status = make_stream(mr_plan_branch_device(plan, i), &capture.streams[i]);
    if (status == MARE_OK) status = capture_all(&capture);
    if (status == MARE_OK) status = instantiate(made, plan, capture.streams[0]);
    end_capture(&capture);
    return status;
}

/* ---- entries ---- */

/* The driver keeps what still runs until it is done. */
static void destroy(struct cuda_plan *plan) {
    if (plan->exec) (void)mr_cu.cuGraphExecDestroy(plan->exec);
    if (plan->graph) (void)mr_cu.cuGraphDestroy(plan->graph);
    for (size_t i = 0; i < plan->count; i++) free(plan->nodes[i].values);
    free(plan->nodes);
    free(plan);
}

mare_status mr_cuda_plan_build(mr_native device, const mare_plan *plan, mr_native *out) {
    bool pushed;
    struct cuda_plan *made = calloc(1, sizeof *made);
    if (!made) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a plan");
    mare_status status = mr_cuda_enter(device, &pushed);
    if (status == MARE_OK) {
        status = build(made, plan);
        mr_cuda_leave(pushed);
    }
    if (status == MARE_OK) out->ptr = made;
    else destroy(made);
    return status;
}

static mare_status run(struct cuda_plan *plan, uint32_t repeat, struct CUstream_st *stream) {
    for (size_t i = 0; i < plan->count; i++)
        if (!is_current(&plan->nodes[i])) MR_TRY(update(plan, &plan->nodes[i]));
    for (uint32_t n = 0; n < repeat; n++) {
        unsigned code = mr_cu.cuGraphLaunch(plan->exec, stream);
        if (code) return mr_cuda_check(code, "cuGraphLaunch");
    }
    return MARE_OK;
}

mare_status mr_cuda_plan_run(mr_native device, mr_native stream, mr_native plan, uint32_t repeat) {
    bool pushed;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = run(plan.ptr, repeat, stream.ptr);
    mr_cuda_leave(pushed);
    return status;
}

void mr_cuda_plan_destroy(mr_native device, mr_native plan) {
    bool pushed;
    bool inside = mr_cuda_enter(device, &pushed) == MARE_OK;
    destroy(plan.ptr);
    if (inside) mr_cuda_leave(pushed);
}
