/* cuda_plan.c - the CUDA back end: plans as graphs.
 *
 * The operations are captured from a private stream, in the relaxed mode, which hinders no other
 * thread of the host. Each kernel node is remembered with the arguments it has; before a run those
 * that its launch has changed since are written into the node. A graph that runs already keeps what
 * it was started with.
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

struct capture {
    struct cuda_plan *plan;
    struct CUstream_st *stream;
};

/* ---- nodes ---- */

static bool is_current(const struct node *node) {
    const mr_dispatch *launch = node->launch;
    return !memcmp(node->values, launch->values, launch->arg_count * sizeof *node->values) &&
           !memcmp(node->groups, launch->groups, sizeof node->groups) &&
           !memcmp(node->group, launch->group, sizeof node->group);
}

static void note_current(struct node *node) {
    const mr_dispatch *launch = node->launch;
    memcpy(node->values, launch->values, launch->arg_count * sizeof *node->values);
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
static mare_status last_node(const struct capture *capture, struct CUgraphNode_st **out) {
    unsigned status = 0;
    unsigned long id = 0;
    struct CUgraph_st *graph = NULL;
    struct CUgraphNode_st *const *nodes = NULL;
    size_t count = 0;
    unsigned code = mr_cu.cuStreamGetCaptureInfo_v2(capture->stream, &status, &id, &graph, &nodes,
                                                    &count);
    MR_TRY(mr_cuda_check(code, "cuStreamGetCaptureInfo"));
    if (count != 1)
        return mr_fail(MARE_ERROR_DEVICE, "cuStreamGetCaptureInfo: a launch became %zu nodes",
                       count);
    *out = nodes[0];
    return MARE_OK;
}

static mare_status note_launch(const struct capture *capture, const mr_dispatch *launch) {
    struct node *node = new_node(capture->plan);
    size_t size = launch->arg_count * sizeof(mr_value);
    mr_value *values = node ? malloc(size ? size : 1) : NULL;
    if (!values) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a plan");
    node->launch = launch;
    node->values = values;
    note_current(node);
    capture->plan->count++;
    return last_node(capture, &node->native);
}

/* Inside a graph events are recorded and waited for by nodes of their own kind. */
static mare_status capture_op(const mr_op *op, void *context) {
    const struct capture *capture = context;
    struct CUstream_st *stream = capture->stream;
    switch (mr_op_kind_of(op)) {
    case MR_OP_RECORD:
        return mr_cuda_check(mr_cu.cuEventRecordWithFlags(mr_op_event(op).ptr, stream,
                                                          MR_CU_EVENT_RECORD_EXTERNAL),
                             "cuEventRecordWithFlags");
    case MR_OP_WAIT:
        return mr_cuda_check(mr_cu.cuStreamWaitEvent(stream, mr_op_event(op).ptr,
                                                     MR_CU_EVENT_WAIT_EXTERNAL),
                             "cuStreamWaitEvent");
    case MR_OP_LAUNCH:
        MR_TRY(mr_op_run(op, (mr_native){ .ptr = stream }));
        return note_launch(capture, mr_op_dispatch(op));
    default: return mr_op_run(op, (mr_native){ .ptr = stream });
    }
}

/* Ends the capture in any case; a failure of an operation comes before what it does to the end. */
static mare_status capture_all(const struct capture *capture, const mare_plan *plan) {
    struct CUgraph_st **graph = &capture->plan->graph;
    MR_TRY(mr_cuda_check(mr_cu.cuStreamBeginCapture_v2(capture->stream,
                                                       MR_CU_STREAM_CAPTURE_MODE_RELAXED),
                         "cuStreamBeginCapture"));
    mare_status status = mr_plan_walk(plan, capture_op, (void *)(uintptr_t)capture);
    unsigned code = mr_cu.cuStreamEndCapture(capture->stream, graph);
    return status != MARE_OK ? status : mr_cuda_check(code, "cuStreamEndCapture");
}

static mare_status build(struct cuda_plan *made, const mare_plan *plan) {
    struct capture capture = { made, NULL };
    MR_TRY(mr_cuda_check(
        mr_cu.cuStreamCreateWithPriority(&capture.stream, MR_CU_STREAM_NON_BLOCKING, 0),
        "cuStreamCreateWithPriority(0)"));
    mare_status status = capture_all(&capture, plan);
    (void)mr_cu.cuStreamDestroy_v2(capture.stream);
    if (status != MARE_OK) return status;
    return mr_cuda_check(mr_cu.cuGraphInstantiateWithFlags(&made->exec, made->graph, 0),
                         "cuGraphInstantiateWithFlags");
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
