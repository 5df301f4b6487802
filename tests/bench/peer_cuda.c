/* peer_cuda.c - launches, a graph and downloads on the CUDA Driver API, as plainly as C can. */
#include "peer.h"

#include "../../core/backends/cuda_api.h"
#include "../../core/internal.h"
#include "../../core/backends/nvrtc_api.h"

#include <stdio.h>
#include <stdlib.h>

#define MANY 16

/* if (n < 0) *x = n; and the same with eight pointers and eight numbers. */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry few(.param .u64 x, .param .u32 n) {\n"
    "  .reg .pred p; .reg .u32 r; .reg .u64 a;\n"
    "  ld.param.u32 r, [n];\n  setp.ge.s32 p, r, 0;\n  @p bra done;\n"
    "  ld.param.u64 a, [x];\n  cvta.to.global.u64 a, a;\n  st.global.u32 [a], r;\ndone: ret;\n}\n"
    ".visible .entry many(.param .u64 x, .param .u64 x1, .param .u64 x2, .param .u64 x3,\n"
    "  .param .u64 x4, .param .u64 x5, .param .u64 x6, .param .u64 x7, .param .u32 n0,\n"
    "  .param .u32 n1, .param .u32 n2, .param .u32 n3, .param .u32 n4, .param .u32 n5,\n"
    "  .param .u32 n6, .param .u32 n) {\n"
    "  .reg .pred p; .reg .u32 r; .reg .u64 a;\n"
    "  ld.param.u32 r, [n];\n  setp.ge.s32 p, r, 0;\n  @p bra done;\n"
    "  ld.param.u64 a, [x];\n  cvta.to.global.u64 a, a;\n  st.global.u32 [a], r;\ndone: ret;\n}\n";

static struct mr_cuda_calls cu;
static struct CUctx_st *context;
static struct CUmod_st *module;
static struct CUfunc_st *few, *many;
static struct CUstream_st *stream;
static unsigned long long memory;
static int number, device;
static float *pinned;
static FILE *binary;                /* of the last peer_compile */

static bool load(void) {
    static const char *const names[] = { "libcuda.so.1", NULL };
    static const mr_symbol symbols[] = {
#define MR_CUDA_CALL(required, symbol, arguments) { #symbol, (void **)&cu.symbol, required },
#include "../../core/backends/cuda_syms.def"
    };
    return mr_dl_load(names, symbols, sizeof symbols / sizeof *symbols, NULL, 0) == MARE_OK;
}

#define TRY(call)                                                                                  \
    if (cu.call) return #call

static const char *make(void) {
    TRY(cuModuleLoadDataEx(&module, ptx, 0, NULL, NULL));
    TRY(cuModuleGetFunction(&few, module, "few"));
    TRY(cuModuleGetFunction(&many, module, "many"));
    TRY(cuStreamCreateWithPriority(&stream, MR_CU_STREAM_NON_BLOCKING, 0));
    TRY(cuMemAlloc_v2(&memory, 4096));
    TRY(cuMemHostAlloc((void **)&pinned, 4096, 0));
    return NULL;
}

static void leave(void) {
    struct CUctx_st *popped;
    (void)cu.cuCtxPopCurrent_v2(&popped);
}

/* The primary context, as Mare's; between the calls it is not current, as with Mare. */
const char *peer_open(int index) {
    if (!load()) return mare_error_message();
    TRY(cuInit(0));
    TRY(cuDeviceGet(&device, index));
    TRY(cuDevicePrimaryCtxRetain(&context, device));
    TRY(cuCtxPushCurrent_v2(context));
    const char *failed = make();
    leave();
    return failed;
}

static unsigned launch(struct CUfunc_st *function, void **arguments) {
    return cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
}

static double launch_all(int arguments, int count) {
    void *values[MANY];
    for (int i = 0; i < MANY; i++) values[i] = i < 8 ? (void *)&memory : (void *)&number;
    if (arguments == 2) values[1] = &number;
    struct CUfunc_st *function = arguments == 2 ? few : many;
    unsigned code = cu.cuStreamSynchronize(stream);
    double start = peer_now();
    for (int i = 0; i < count; i++) code |= launch(function, values);
    double seconds = peer_now() - start;
    code |= cu.cuStreamSynchronize(stream);
    return code ? -1 : seconds;
}

static struct CUstream_st *stream_of(const mare_launch *l) { return l->device->stream->native.ptr; }

static unsigned launch_mares(const mare_launch *l, struct CUstream_st *own) {
    const struct mr_cuda_launch *native = l->dispatch.native.ptr;
    return cu.cuLaunchKernel(native->function, 1, 1, 1, 1, 1, 1, 0, own,
                             (void **)(uintptr_t)native->values, NULL);
}

static double launch_same(const mare_launch *l, int count) {
    struct CUstream_st *own = stream_of(l);
    unsigned code = cu.cuStreamSynchronize(own);
    double start = peer_now();
    for (int i = 0; i < count; i++) code |= launch_mares(l, own);
    double seconds = peer_now() - start;
    code |= cu.cuStreamSynchronize(own);
    return code ? -1 : seconds;
}

static unsigned capture(int kernels, struct CUgraphExec_st **exec) {
    void *values[] = { &memory, &number };
    struct CUgraph_st *graph = NULL;
    unsigned code = cu.cuStreamBeginCapture_v2(stream, MR_CU_STREAM_CAPTURE_MODE_RELAXED);
    for (int i = 0; i < kernels; i++) code |= launch(few, values);
    code |= cu.cuStreamEndCapture(stream, &graph);
    if (!code) code = cu.cuGraphInstantiateWithFlags(exec, graph, 0);
    if (graph) code |= cu.cuGraphDestroy(graph);
    return code;
}

static double run_graph(int kernels, int count) {
    struct CUgraphExec_st *exec = NULL;
    unsigned code = capture(kernels, &exec);
    if (code) return -1;
    code = cu.cuGraphLaunch(exec, stream) | cu.cuStreamSynchronize(stream);
    double start = peer_now();
    for (int i = 0; i < count; i++) code |= cu.cuGraphLaunch(exec, stream);
    code |= cu.cuStreamSynchronize(stream);
    double seconds = peer_now() - start;
    code |= cu.cuGraphExecDestroy(exec);
    return code ? -1 : seconds;
}

static double download_all(const mare_launch *l, int count) {
    struct CUstream_st *own = stream_of(l);
    unsigned code = cu.cuStreamSynchronize(own);
    double start = peer_now();
    for (int i = 0; i < count; i++)
        code |= launch_mares(l, own)
            | cu.cuMemcpyDtoHAsync_v2(pinned, l->buffers[0]->native.u64, 4, own)
            | cu.cuStreamSynchronize(own);
    double seconds = peer_now() - start;
    return code ? -1 : seconds;
}

static double copy_all(int count) {
    unsigned code = cu.cuStreamSynchronize(stream);
    double start = peer_now();
    for (int i = 0; i < count; i++)
        code |= cu.cuMemcpyHtoDAsync_v2(memory, pinned, 4096, stream);
    code |= cu.cuStreamSynchronize(stream);
    double seconds = peer_now() - start;
    return code ? -1 : seconds;
}

#define WITHIN_CONTEXT(call)                                                                       \
    if (cu.cuCtxPushCurrent_v2(context)) return -1;                                                \
    double seconds = call;                                                                         \
    leave();                                                                                       \
    return seconds

double peer_launch(int arguments, int count) { WITHIN_CONTEXT(launch_all(arguments, count)); }
double peer_same(const void *l, int count) { WITHIN_CONTEXT(launch_same(l, count)); }
double peer_plan(int kernels, int count) { WITHIN_CONTEXT(run_graph(kernels, count)); }
double peer_download(const void *l, int count) { WITHIN_CONTEXT(download_all(l, count)); }
double peer_copy(int count) { WITHIN_CONTEXT(copy_all(count)); }

static double alloc_all(unsigned long bytes, int count) {
    unsigned long long taken = 0;
    unsigned code = 0;
    double start = peer_now();
    for (int i = 0; i < count && !code; i++) {
        code = cu.cuMemAlloc_v2(&taken, bytes);
        if (!code) code = cu.cuMemFree_v2(taken);
    }
    double seconds = peer_now() - start;
    return code ? -1 : seconds;
}

/* NVRTC through the loader and the options of the back end: only what is above them differs. */
static double compile_text(const char *text) {
    char arch[16];
    int major = 0, minor = 0;
    mr_nvrtc_result result = { 0 };
    struct CUmod_st *built = NULL;
    const mr_source source = { .text = text, .name = "peer.cu", .options = "" };
    unsigned code = cu.cuDeviceGetAttribute(&major, 75, device)
        | cu.cuDeviceGetAttribute(&minor, 76, device);
    snprintf(arch, sizeof arch, "sm_%d%d", major, minor);
    double start = peer_now();
    if (code || mr_nvrtc_compile(arch, &source, &result) != MARE_OK) return -1;
    const mr_blob cubin = result.code;
    code = cu.cuModuleLoadDataEx(&built, cubin.data, 0, NULL, NULL);
    double seconds = peer_now() - start;
    if (binary) fclose(binary);
    binary = tmpfile();
    bool kept = binary && fwrite(cubin.data, 1, cubin.size, binary) == cubin.size;
    kept = kept && !fflush(binary);
    free(cubin.data);
    free(result.log.data);
    if (!code) code = cu.cuModuleUnload(built);
    return code || !kept ? -1 : seconds;
}

static double load_all(int count) {
    static unsigned char data[1 << 22];
    struct CUmod_st *loaded = NULL;
    unsigned code = 0;
    double start = peer_now();
    for (int i = 0; i < count && !code; i++) {
        rewind(binary);
        if (!fread(data, 1, sizeof data, binary)) return -1;
        code = cu.cuModuleLoadDataEx(&loaded, data, 0, NULL, NULL);
        if (!code) code = cu.cuModuleUnload(loaded);
    }
    double seconds = peer_now() - start;
    return code ? -1 : seconds;
}

double peer_alloc(unsigned long bytes, int count) { WITHIN_CONTEXT(alloc_all(bytes, count)); }
double peer_compile(const char *source) { WITHIN_CONTEXT(compile_text(source)); }
double peer_load(int count) { WITHIN_CONTEXT(load_all(count)); }

double peer_context(int count) {
    struct CUctx_st *current = NULL;
    unsigned code = 0;
    double start = peer_now();
    for (int i = 0; i < count; i++) {
        code |= cu.cuCtxGetCurrent(&current) | cu.cuCtxPushCurrent_v2(context);
        leave();
    }
    double seconds = peer_now() - start;
    return code ? -1 : seconds;
}

void peer_close(void) {
    if (binary) fclose(binary);
    binary = NULL;
    if (!context) return;
    if (!cu.cuCtxPushCurrent_v2(context)) {
        (void)(cu.cuStreamSynchronize(stream) | cu.cuStreamDestroy_v2(stream));
        (void)(cu.cuMemFree_v2(memory) | cu.cuMemFreeHost(pinned) | cu.cuModuleUnload(module));
        leave();
    }
    (void)cu.cuDevicePrimaryCtxRelease_v2(device);
    context = NULL;
}
