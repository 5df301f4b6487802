/* table1_cuda.c - the zoom of table1.h on the CUDA Driver API, as plainly as C can. NVRTC goes
 * through the loader of the back end, which knows where to look for it. What a failing call leaves
 * is left to the end of the process. */
#include "peer.h"
#include "table1.h"

#include "../../core/backends/cuda_api.h"
#include "../../core/backends/nvrtc_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MR_LINE struct mr_cuda_calls cu;

static bool load(void) {
    static const char *const names[] = { "libcuda.so.1", NULL };
    static const mr_symbol symbols[] = {
#define MR_CUDA_CALL(required, symbol, arguments) { #symbol, (void **)&cu.symbol, required },
#include "../../core/backends/cuda_syms.def"
    };
    return mr_dl_load(names, symbols, sizeof symbols / sizeof *symbols, NULL, 0) == MARE_OK;
}

/* host:begin */
#define TRY(call)                                                                                  \
    if (call) return #call

static struct CUctx_st *context;
static struct CUmod_st *module;
static struct CUfunc_st *function;
static struct CUstream_st *compute, *copy;
static struct slot {
    unsigned long long times;
    unsigned *pinned;
    struct CUevent_st *began, *ready, *copying, *done;
} slots[SLOTS];

static const char *compile(struct table1 *t, int device) {
    char arch[16];
    int major, minor;
    mr_nvrtc_result result = { 0 };
    const mr_source source = { .text = t->source, .name = "escape.cu", .options = "" };
    double begin = peer_now();
    TRY(cu.cuDeviceGetAttribute(&major, 75, device));
    TRY(cu.cuDeviceGetAttribute(&minor, 76, device));
    snprintf(arch, sizeof arch, "sm_%d%d", major, minor);
    TRY(mr_nvrtc_compile(arch, &source, &result));
    TRY(cu.cuModuleLoadDataEx(&module, result.code.data, 0, NULL, NULL));
    TRY(cu.cuModuleGetFunction(&function, module, "escape"));
    t->compile = peer_now() - begin;
    free(result.code.data);
    free(result.log.data);
    return NULL;
}

static const char *allocate(size_t bytes) {
    TRY(cu.cuStreamCreateWithPriority(&copy, MR_CU_STREAM_NON_BLOCKING, 0));
    for (struct slot *s = slots; s < slots + SLOTS; s++) {
        TRY(cu.cuMemAlloc_v2(&s->times, bytes));
        TRY(cu.cuMemHostAlloc((void **)&s->pinned, bytes, 0));
        TRY(cu.cuEventCreate(&s->began, 0));
        TRY(cu.cuEventCreate(&s->ready, 0));
        TRY(cu.cuEventCreate(&s->copying, 0));
        TRY(cu.cuEventCreate(&s->done, 0));
    }
    return NULL;
}

static const char *queue(struct table1 *t, int k, struct slot *s, size_t bytes) {
    const float *view = t->views + 3 * k;
    float zero = 0;
    unsigned across = (unsigned)(t->size + GROUP_X - 1) / GROUP_X;
    unsigned down = (unsigned)(t->size + GROUP_Y - 1) / GROUP_Y;
    float left = view[0], top = view[1], step = view[2];
    TRY(cu.cuEventRecord(s->began, compute));
    double begin = peer_now();
    void *arguments[] = { &t->size, &t->size, &t->centre_x, &zero,     &t->centre_y, &zero,
                          &left,    &top,     &step,        &t->limit, &s->times };
    TRY(cu.cuLaunchKernel(function, across, down, 1, GROUP_X, GROUP_Y, 1, 0, compute, arguments,
                          NULL));
    t->launch[k] = peer_now() - begin;
    TRY(cu.cuEventRecord(s->ready, compute));
    TRY(cu.cuStreamWaitEvent(copy, s->ready, 0));
    TRY(cu.cuEventRecord(s->copying, copy));
    begin = peer_now();
    TRY(cu.cuMemcpyDtoHAsync_v2(s->pinned, s->times, bytes, copy));
    t->download[k] = peer_now() - begin;
    TRY(cu.cuEventRecord(s->done, copy));
    return NULL;
}

static const char *collect(struct table1 *t, int k, struct slot *s) {
    float kernel, down;
    TRY(cu.cuEventSynchronize(s->done));
    TRY(cu.cuEventElapsedTime(&kernel, s->began, s->ready));
    TRY(cu.cuEventElapsedTime(&down, s->copying, s->done));
    t->kernel[k] = 1e-3 * kernel;
    t->copy[k] = 1e-3 * down;
    return NULL;
}

static const char *zoom(struct table1 *t, size_t bytes) {
    double begin = peer_now();
    for (int k = 0; k < t->frames + SLOTS; k++) {
        struct slot *s = slots + k % SLOTS;
        const char *failed = k >= SLOTS ? collect(t, k - SLOTS, s) : NULL;
        if (!failed && k < t->frames) failed = queue(t, k, s, bytes);
        if (failed) return failed;
    }
    t->wall = peer_now() - begin;
    memcpy(t->last, slots[(t->frames - 1) % SLOTS].pinned, bytes);
    return NULL;
}

/* host:end */

static const char *release(void) {
    for (struct slot *s = slots; s < slots + SLOTS; s++) {
        TRY(cu.cuMemFree_v2(s->times));
        TRY(cu.cuMemFreeHost(s->pinned));
        TRY(cu.cuEventDestroy_v2(s->began));
        TRY(cu.cuEventDestroy_v2(s->ready));
        TRY(cu.cuEventDestroy_v2(s->copying));
        TRY(cu.cuEventDestroy_v2(s->done));
    }
    TRY(cu.cuStreamDestroy_v2(compute));
    TRY(cu.cuStreamDestroy_v2(copy));
    TRY(cu.cuModuleUnload(module));
    return NULL;
}

static const char *run(int index, struct table1 *t) {
    int device;
    size_t bytes = sizeof(unsigned) * (size_t)t->size * (size_t)t->size;
    TRY(cu.cuInit(0));
    TRY(cu.cuDeviceGet(&device, index));
    TRY(cu.cuDevicePrimaryCtxRetain(&context, device));
    TRY(cu.cuCtxPushCurrent_v2(context));
    TRY(cu.cuStreamCreateWithPriority(&compute, MR_CU_STREAM_NON_BLOCKING, 0));
    const char *failed = compile(t, device);
    if (!failed) failed = allocate(bytes);
    if (!failed) failed = zoom(t, bytes);
    if (!failed) failed = release();
    TRY(cu.cuCtxPopCurrent_v2(&context));
    TRY(cu.cuDevicePrimaryCtxRelease_v2(device));
    return failed;
}
const char *table1_run(int device, struct table1 *t) {
    return load() ? run(device, t) : mare_error_message();
}
