/* cuda_context.c - the CUDA back end: contexts, and which one is current.
 *
 * Only primary contexts are used, which the CUDA runtime uses too. To make one takes 100 ms and
 * more, so it is retained until the process ends. That of a lost device is released with the last
 * Mare device on it: unless the program holds it too, the driver then ends it and may give a new
 * one. It is never reset, for the program may use it.
 *
 * A call leaves the current context as it found it, but on a thread that Mare was given
 * (mare_thread_claim): there the device's context stays current. One that is current already is
 * not pushed again.
 */
#include "cuda_api.h"

#include <stdatomic.h>
#include <stdlib.h>

struct mr_cuda_context {
    int device;                     /* the driver's CUdevice */
    int users;                      /* open Mare devices */
    bool was_lost;
    atomic_bool reaches;            /* memory of other contexts */
    struct CUctx_st *native;        /* retained; NULL: not yet, or let go */
    struct mr_cuda_context *next;
};

/* Never freed, like what they hold. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mr_cuda_context *contexts;
static _Thread_local bool is_claimed;

/* ---- the current one ---- */

static unsigned enter(struct CUctx_st *native, bool *pushed, const char **call) {
    struct CUctx_st *current = NULL;
    *pushed = false;
    *call = "cuCtxGetCurrent";
    unsigned code = mr_cu.cuCtxGetCurrent(&current);
    if (code != MR_CUDA_SUCCESS || current == native) return code;
    *call = is_claimed ? "cuCtxSetCurrent" : "cuCtxPushCurrent";
    if (is_claimed) return mr_cu.cuCtxSetCurrent(native);
    code = mr_cu.cuCtxPushCurrent_v2(native);
    *pushed = code == MR_CUDA_SUCCESS;
    return code;
}

mare_status mr_cuda_enter(mr_native device, bool *pushed) {
    const struct mr_cuda_device *entered = device.ptr;
    const char *call;
    unsigned code = enter(entered->context, pushed, &call);
    return code == MR_CUDA_SUCCESS ? MARE_OK : mr_cuda_check(code, "%s", call);
}

bool mr_cuda_enter_release(mr_native device, bool *pushed) {
    const struct mr_cuda_device *entered = device.ptr;
    const char *call;
    return enter(entered->context, pushed, &call) == MR_CUDA_SUCCESS;
}

bool mr_cuda_enter_idle(mr_native device, bool *pushed) {
    if (!mr_cuda_enter_release(device, pushed)) return false;
    (void)mr_cu.cuCtxSynchronize();
    return true;
}

static bool is_among(const struct CUctx_st *native) {
    for (const struct mr_cuda_context *c = contexts; c; c = c->next)
        if (c->native && c->native == native) return true;
    return false;
}

/* On a thread that is given back no context of Mare's stays current. */
void mr_cuda_thread_claim(bool claimed) {
    struct CUctx_st *current = NULL;
    bool was_claimed = is_claimed;
    is_claimed = claimed;
    if (claimed || !was_claimed) return;
    pthread_mutex_lock(&lock);
    if (contexts && mr_cu.cuCtxGetCurrent(&current) == MR_CUDA_SUCCESS && is_among(current))
        (void)mr_cu.cuCtxSetCurrent(NULL);
    pthread_mutex_unlock(&lock);
}

/* ---- retaining ---- */

static struct mr_cuda_context *find(int device) {
    for (struct mr_cuda_context *c = contexts; c; c = c->next)
        if (c->device == device) return c;
    struct mr_cuda_context *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->device = device;
    made->next = contexts;
    return contexts = made;
}

/* Whether a context can do anything: memory, a stream, work. */
static unsigned use(const char **call) {
    struct CUstream_st *stream = NULL;
    unsigned long long memory = 0;
    *call = "cuStreamCreateWithPriority";
    unsigned code = mr_cu.cuStreamCreateWithPriority(&stream, MR_CU_STREAM_NON_BLOCKING, 0);
    if (code != MR_CUDA_SUCCESS) return code;
    *call = "cuMemAlloc";
    code = mr_cu.cuMemAlloc_v2(&memory, 4);
    if (code == MR_CUDA_SUCCESS) {
        *call = "cuMemsetD8Async";
        code = mr_cu.cuMemsetD8Async(memory, 0, 4, stream);
        if (code == MR_CUDA_SUCCESS) {
            *call = "cuStreamSynchronize";
            code = mr_cu.cuStreamSynchronize(stream);
        }
        (void)mr_cu.cuMemFree_v2(memory);
    }
    (void)mr_cu.cuStreamDestroy_v2(stream);
    return code;
}

static unsigned try_out(struct CUctx_st *native, const char **call) {
    bool pushed;
    unsigned code = enter(native, &pushed, call);
    if (code == MR_CUDA_SUCCESS) code = use(call);
    mr_cuda_leave(pushed);
    return code;
}

/* Releases it; it may end now, so that it must not stay current on this thread. */
static void let_go(int device, const struct CUctx_st *native) {
    struct CUctx_st *current = NULL;
    if (is_claimed && mr_cu.cuCtxGetCurrent(&current) == MR_CUDA_SUCCESS && current == native)
        (void)mr_cu.cuCtxSetCurrent(NULL);
    (void)mr_cu.cuDevicePrimaryCtxRelease_v2(device);
}

static mare_status retain(struct mr_cuda_context *context) {
    struct CUctx_st *native = NULL;
    const char *call = "cuDevicePrimaryCtxRetain";
    unsigned code = mr_cu.cuDevicePrimaryCtxRetain(&native, context->device);
    if (code == MR_CUDA_SUCCESS && context->was_lost) {
        code = try_out(native, &call);
        if (code != MR_CUDA_SUCCESS) let_go(context->device, native);
    }
    if (code != MR_CUDA_SUCCESS) {
        mare_status status = mr_cuda_check(code, "%s", call);
        if (!context->was_lost) return status;
        return mr_annotate(MARE_ERROR_LOST, "it was lost before, and the driver gives this process "
                                            "no working context again (a new process gets one)");
    }
    context->native = native;
    context->was_lost = false;
    return MARE_OK;
}

mare_status mr_cuda_context_open(struct mr_cuda_device *device) {
    pthread_mutex_lock(&lock);
    struct mr_cuda_context *context = find(device->id);
    mare_status status = !context          ? mr_fail(MARE_ERROR_MEMORY, "out of host memory")
                         : context->native ? MARE_OK
                                           : retain(context);
    if (status == MARE_OK) {
        context->users++;
        device->holder = context;
        device->context = context->native;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void mr_cuda_context_close(const struct mr_cuda_device *device, bool is_lost) {
    struct mr_cuda_context *context = device->holder;
    pthread_mutex_lock(&lock);
    context->was_lost |= is_lost;
    if (--context->users == 0 && context->was_lost) {
        let_go(context->device, context->native);
        context->native = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- peers ---- */

void mr_cuda_context_reaches(const struct mr_cuda_device *device) {
    device->holder->reaches = true;
}

/* That of the calling device is idle already. */
void mr_cuda_wait_for_peers(void) {
    pthread_mutex_lock(&lock);
    for (const struct mr_cuda_context *c = contexts; c; c = c->next) {
        bool pushed = false;
        const char *call;
        if (!c->reaches || !c->native) continue;
        if (enter(c->native, &pushed, &call) == MR_CUDA_SUCCESS) (void)mr_cu.cuCtxSynchronize();
        mr_cuda_leave(pushed);
    }
    pthread_mutex_unlock(&lock);
}
