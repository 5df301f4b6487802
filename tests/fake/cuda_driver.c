/* cuda_driver.c - a fake libcuda over host memory, for failure paths and to see how it is used.
 *
 * Work is queued and only done when something waits, so that a missing wait shows. Entries refuse
 * to run without the right context. What is not released when the process ends is a leak, and so is
 * a context left on the stack; the primary context may stay retained once.
 * FAKE_CUDA_CONTEXT=foreign|same: what the host has current at first.
 * FAKE_CUDA_SHARED: other processes can open its memory.
 * FAKE_WITHOUT_REQUIRED and FAKE_WITHOUT_OPTIONAL leave out a symbol of that kind.
 */
#include "../../core/backends/cuda_api.h"
#include "cuda_fail.h"

#define MR_CUDA_CALL(required, symbol, arguments)                                                  \
    unsigned symbol arguments __attribute__((visibility("default")));
#include "../../core/backends/cuda_syms.def"

enum { INVALID_VALUE = 1, NOT_INITIALIZED = 3, INVALID_CONTEXT = 201, INVALID_HANDLE = 400 };
enum { COOPERATIVE_LAUNCH_TOO_LARGE = 720, CAPTURE_UNSUPPORTED = 900, CAPTURE_ISOLATION = 905 };
enum { QUEUE_SIZE = 4096, STACK_SIZE = 16 };
enum { ROOM = 64 };     /* for groups at the same time */

struct CUctx_st { int retained; };
struct CUgraph_st;
struct CUstream_st { int priority; struct CUgraph_st *captures; };
struct CUevent_st {
    int recorded, pending, has_no_time;
    double time_ms;
    struct CUgraph_st *within;
};
struct CUfunc_st { int kind; unsigned most_shared; };
struct CUmod_st { char *text; struct CUfunc_st axpy, widths, block; float table[4]; };

/* What a kernel was given, by value. */
struct arguments {
    int n; float a; const float *x; float *y;
    char c; short s; int i; long long l; float f; double d; double *out;
};
struct work {
    enum { COPY, SET, EVENT, AXPY, WIDTHS } kind;
    char *dst;
    const char *src;
    size_t dst_pitch, dst_slice, src_pitch, src_slice, width, height, depth;
    unsigned value;
    struct CUevent_st *event;
    struct arguments arguments;
};

enum { BLOCK = WIDTHS + 1 };                      /* a kernel: axpy of a parameter block */
static struct CUctx_st primaries[2], foreign;     /* of devices 7 and 8, which are peers */
static bool reaches;                              /* 7 the memory of 8 */
static struct CUctx_st *stack[STACK_SIZE];
static int stack_depth, stack_base, started, live;
static struct work queue[QUEUE_SIZE];
static int queued;
static double clock_ms;

/* ---- failures ---- */

static bool is_primary(const struct CUctx_st *context) {
    return context == &primaries[0] || context == &primaries[1];
}
static bool is_ours(void) { return stack_depth && is_primary(stack[stack_depth - 1]); }
static bool is_device(int device) { return device == 7 || device == 8; }

#define FAIL_ON_DEMAND()                                                                           \
    do {                                                                                           \
        unsigned code_ = fake_failure(__func__);                                                   \
        if (code_) return code_;                                                                   \
    } while (0)
#define NEED_CONTEXT()                                                                             \
    do {                                                                                           \
        FAIL_ON_DEMAND();                                                                          \
        if (!is_ours()) return INVALID_CONTEXT;                                                    \
    } while (0)
/* Releases do their work also when they report a failure: it may be that of earlier work. */
#define END_OF_RELEASE() return fake_failure(__func__)

static void put_context(void) {
    const char *wish = getenv("FAKE_CUDA_CONTEXT");
    if (wish && !strcmp(wish, "foreign")) stack[stack_depth++] = &foreign;
    if (wish && !strcmp(wish, "same")) stack[stack_depth++] = &primaries[0];
    stack_base = stack_depth;
}

__attribute__((destructor)) static void report(void) {
    const int retained = primaries[0].retained > primaries[1].retained ? primaries[0].retained
                                                                       : primaries[1].retained;
    if (!live && stack_depth == stack_base && retained <= 1) return;
    if (!getenv("MARE_FAKE_FAIL"))
        fprintf(stderr, "fake libcuda: %d objects not released, %d contexts on the stack, not %d, "
                "a primary one retained %d times\n", live, stack_depth, stack_base, retained);
    _exit(FAKE_LEAK);
}

/* ---- work ---- */

static void do_copy(const struct work *w) {
    for (size_t z = 0; z < w->depth; z++)
        for (size_t y = 0; y < w->height; y++)
            memcpy(w->dst + z * w->dst_slice + y * w->dst_pitch,
                   w->src + z * w->src_slice + y * w->src_pitch, w->width);
}

static void do_set(const struct work *w) {
    for (size_t i = 0; i < w->height; i++) memcpy(w->dst + i * w->width, &w->value, w->width);
}

static void do_widths(const struct arguments *a) {
    double values[] = { a->c, a->s, a->i, (double)a->l, a->f, a->d };
    memcpy(a->out, values, sizeof values);
}

static void do_work(const struct work *w) {
    clock_ms += 1;
    switch (w->kind) {
    case COPY: do_copy(w); break;
    case SET: do_set(w); break;
    case WIDTHS: do_widths(&w->arguments); break;
    case AXPY:
        for (int i = 0; i < w->arguments.n; i++)
            w->arguments.y[i] += w->arguments.a * w->arguments.x[i];
        break;
    case EVENT:
        w->event->pending--;
        w->event->time_ms = clock_ms;
        break;
    }
}

static void drain(void) {
    for (int i = 0; i < queued; i++) do_work(&queue[i]);
    queued = 0;
}

/* Waits; work that was waited for in vain, as after a fault, is lost. */
static unsigned finish(const char *entry) {
    unsigned code = fake_failure(entry);
    if (code) queued = 0;
    drain();
    return code;
}

/* The manual does not promise that these wait for queued work, so the caller has to. */
static void need_idle(const char *call) {
    if (!queued) return;
    fprintf(stderr, "fake libcuda: %s under queued work\n", call);
    _exit(FAKE_LEAK);
}

static unsigned capture(struct CUgraph_st *graph, const struct work *work);
/* The graph that takes what is queued on the stream; NULL: none, or its capture has ended. */
static struct CUgraph_st *captures(const struct CUstream_st *stream);

static unsigned enqueue(struct work work, struct CUstream_st *stream) {
    if (captures(stream)) return capture(captures(stream), &work);
    if (queued == QUEUE_SIZE) drain();
    queue[queued++] = work;
    return 0;
}

static unsigned copy_line(void *dst, const void *src, size_t size, struct CUstream_st *stream) {
    if (!stream || !size) return INVALID_VALUE;
    return enqueue((struct work){ .kind = COPY, .dst = dst, .src = src, .width = size,
                                  .height = 1, .depth = 1 }, stream);
}

static unsigned set(unsigned long long dst, unsigned value, size_t width, size_t count,
                    struct CUstream_st *stream) {
    if (!stream || !count || dst % width) return INVALID_VALUE;
    return enqueue((struct work){ .kind = SET, .dst = (char *)(uintptr_t)dst, .value = value,
                                  .width = width, .height = count }, stream);
}

/* ---- library and devices ---- */

unsigned cuGetErrorName(unsigned code, const char **text) {
    *text = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 100 ? "CUDA_ERROR_NO_DEVICE"
        : code == 500 ? "CUDA_ERROR_NOT_FOUND" : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
    FAIL_ON_DEMAND();
    return *text ? 0 : INVALID_VALUE;
}

unsigned cuGetErrorString(unsigned code, const char **text) {
    *text = code == 2 ? "out of memory" : NULL;
    FAIL_ON_DEMAND();
    return *text ? 0 : INVALID_VALUE;
}

unsigned cuInit(unsigned flags) {
    FAIL_ON_DEMAND();
    if (!started) put_context();
    started = 1;
    return flags ? INVALID_VALUE : 0;
}

unsigned cuDriverGetVersion(int *version) {
    FAIL_ON_DEMAND();
    *version = 13000;
    return 0;
}

unsigned cuDeviceGetCount(int *count) {
    FAIL_ON_DEMAND();
    *count = getenv("FAKE_CUDA_EMPTY") ? 0 : 2;
    return started ? 0 : NOT_INITIALIZED;
}

unsigned cuDeviceGet(int *device, int ordinal) {
    FAIL_ON_DEMAND();
    *device = 7 + ordinal;
    return ordinal == 0 || ordinal == 1 ? 0 : MR_CUDA_ERROR_INVALID_DEVICE;
}

unsigned cuDeviceGetName(char *name, int size, int device) {
    FAIL_ON_DEMAND();
    snprintf(name, (size_t)size, "Fake GPU");
    return is_device(device) ? 0 : MR_CUDA_ERROR_INVALID_DEVICE;
}

unsigned cuDeviceTotalMem_v2(size_t *bytes, int device) {
    FAIL_ON_DEMAND();
    *bytes = (size_t)1 << 42;
    return is_device(device) ? 0 : MR_CUDA_ERROR_INVALID_DEVICE;
}

unsigned cuDeviceGetAttribute(int *value, unsigned attribute, int device) {
    FAIL_ON_DEMAND();
    switch (attribute) {
    case MR_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case MR_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case MR_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: *value = 1024; break;
    case MR_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *value = 64; break;
    case MR_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 49152; break;
    case MR_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 232448; break;
    case MR_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: *value = 2048; break;
    case MR_CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: *value = 1; break;
    case MR_CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; break;
    case MR_CU_DEVICE_ATTRIBUTE_MAX_PITCH: *value = 4096; break;
    case MR_CU_DEVICE_ATTRIBUTE_CLOCK_RATE: *value = 1980000; break;
    case MR_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 132; break;
    case MR_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
    case MR_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; break;
    default: return INVALID_VALUE;
    }
    return is_device(device) ? 0 : MR_CUDA_ERROR_INVALID_DEVICE;
}

#ifndef FAKE_WITHOUT_OPTIONAL
unsigned cuDeviceGetUuid_v2(struct CUuuid_st *uuid, int device) {
    FAIL_ON_DEMAND();
    for (int i = 0; i < 16; i++) uuid->bytes[i] = (char)(i * 17 + device - 7);
    return is_device(device) ? 0 : MR_CUDA_ERROR_INVALID_DEVICE;
}
#endif

/* ---- contexts ---- */

unsigned cuDevicePrimaryCtxRetain(struct CUctx_st **context, int device) {
    FAIL_ON_DEMAND();
    if (!is_device(device)) return MR_CUDA_ERROR_INVALID_DEVICE;
    primaries[device - 7].retained++;
    *context = &primaries[device - 7];
    return 0;
}

unsigned cuDevicePrimaryCtxRelease_v2(int device) {
    if (!is_device(device) || !primaries[device - 7].retained) return MR_CUDA_ERROR_INVALID_DEVICE;
    primaries[device - 7].retained--;
    END_OF_RELEASE();
}

unsigned cuCtxGetCurrent(struct CUctx_st **context) {
    FAIL_ON_DEMAND();
    *context = stack_depth ? stack[stack_depth - 1] : NULL;
    return 0;
}

/* Instead of what is current; NULL takes that away. What is set so may stay on the stack. */
unsigned cuCtxSetCurrent(struct CUctx_st *context) {
    unsigned code = fake_failure(__func__);
    if (code && context) return code;
    if (context && (!is_primary(context) || !context->retained)) return INVALID_CONTEXT;
    int before = stack_depth;
    if (stack_depth) stack_depth--;
    if (context) stack[stack_depth++] = context;
    stack_base += stack_depth - before;
    return code;
}

unsigned cuCtxPushCurrent_v2(struct CUctx_st *context) {
    FAIL_ON_DEMAND();
    if (!is_primary(context) || !context->retained || stack_depth == STACK_SIZE ||
        (stack_depth && stack[stack_depth - 1] == context))
        return INVALID_CONTEXT;         /* what is current already is not to be pushed again */
    stack[stack_depth++] = context;
    return 0;
}

unsigned cuCtxPopCurrent_v2(struct CUctx_st **context) {
    if (!stack_depth) return INVALID_CONTEXT;
    *context = stack[--stack_depth];
    END_OF_RELEASE();
}

unsigned cuCtxSynchronize(void) {
    return is_ours() ? finish(__func__) : INVALID_CONTEXT;
}

unsigned cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    NEED_CONTEXT();
    *least = 0;
    *greatest = -5;
    return 0;
}

/* ---- memory ---- */

#include "cuda_shared.h"

unsigned cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    NEED_CONTEXT();
    *free_bytes = (size_t)1 << 41;
    *total = (size_t)1 << 42;
    return 0;
}

unsigned cuMemAlloc_v2(unsigned long long *address, size_t size) {
    NEED_CONTEXT();
    void *memory = NULL;
    if (size < (size_t)1 << 40) memory = is_sharing() ? shared_allocate(size) : malloc(size);
    if (!memory) return MR_CUDA_ERROR_OUT_OF_MEMORY;
    live++;
    *address = (uintptr_t)memory;
    return 0;
}

unsigned cuMemFree_v2(unsigned long long address) {
    if (!address) return INVALID_VALUE;
    need_idle("cuMemFree");
    if (is_sharing()) shared_free(address);
    else free((void *)(uintptr_t)address);
    live--;
    END_OF_RELEASE();
}

unsigned cuMemHostAlloc(void **data, size_t size, unsigned flags) {
    NEED_CONTEXT();
    *data = flags == 1 ? malloc(size) : NULL;
    if (!*data) return MR_CUDA_ERROR_OUT_OF_MEMORY;
    live++;
    return 0;
}

unsigned cuMemFreeHost(void *data) {
    if (!data) return INVALID_VALUE;
    need_idle("cuMemFreeHost");
    free(data);
    live--;
    END_OF_RELEASE();
}

unsigned cuMemcpyHtoDAsync_v2(unsigned long long dst, const void *src, size_t size,
                              struct CUstream_st *stream) {
    NEED_CONTEXT();
    return copy_line((void *)(uintptr_t)dst, src, size, stream);
}

unsigned cuMemcpyDtoHAsync_v2(void *dst, unsigned long long src, size_t size,
                              struct CUstream_st *stream) {
    NEED_CONTEXT();
    return copy_line(dst, (void *)(uintptr_t)src, size, stream);
}

unsigned cuMemcpyDtoDAsync_v2(unsigned long long dst, unsigned long long src, size_t size,
                              struct CUstream_st *stream) {
    NEED_CONTEXT();
    return copy_line((void *)(uintptr_t)dst, (void *)(uintptr_t)src, size, stream);
}

static void *end_of(unsigned type, const void *host, unsigned long long device) {
    void *memory = type == 1 ? (void *)(uintptr_t)host : (void *)(uintptr_t)device;
    bool clear = type == 1 ? !device : !host;           /* Mare sets only the one that counts */
    return clear && (type == 1 || type == 2) ? memory : NULL;
}

unsigned cuMemcpy3DAsync_v2(const struct CUDA_MEMCPY3D_st *c, struct CUstream_st *stream) {
    NEED_CONTEXT();
    struct work w = { .kind = COPY, .dst = end_of(c->dstMemoryType, c->dstHost, c->dstDevice),
                      .src = end_of(c->srcMemoryType, c->srcHost, c->srcDevice),
                      .dst_pitch = c->dstPitch, .dst_slice = c->dstPitch * c->dstHeight,
                      .src_pitch = c->srcPitch, .src_slice = c->srcPitch * c->srcHeight,
                      .width = c->WidthInBytes, .height = c->Height, .depth = c->Depth };
    bool offsets = c->srcXInBytes || c->srcY || c->srcZ || c->dstXInBytes || c->dstY || c->dstZ;
    bool unused = c->srcLOD || c->dstLOD || c->reserved0 || c->reserved1;
    bool pitches = w.dst_pitch >= w.width && w.src_pitch >= w.width && w.dst_pitch <= 4096
        && w.src_pitch <= 4096;
    bool heights = c->dstHeight >= c->Height && c->srcHeight >= c->Height;
    if (!stream || !w.dst || !w.src || offsets || unused || !pitches || !heights
        || !w.width || !w.height || !w.depth)
        return INVALID_VALUE;
    return enqueue(w, stream);
}

#include "cuda_peers.h"

unsigned cuMemsetD8Async(unsigned long long dst, unsigned char value, size_t count,
                         struct CUstream_st *stream) {
    NEED_CONTEXT();
    return set(dst, value, 1, count, stream);
}

unsigned cuMemsetD16Async(unsigned long long dst, unsigned short value, size_t count,
                          struct CUstream_st *stream) {
    NEED_CONTEXT();
    return set(dst, value, 2, count, stream);
}

unsigned cuMemsetD32Async(unsigned long long dst, unsigned value, size_t count,
                          struct CUstream_st *stream) {
    NEED_CONTEXT();
    return set(dst, value, 4, count, stream);
}

/* ---- streams and events ---- */

unsigned cuStreamCreateWithPriority(struct CUstream_st **stream, unsigned flags, int priority) {
    NEED_CONTEXT();
    if (flags != 1 || priority > 0 || priority < -5) return INVALID_VALUE;
    *stream = calloc(1, sizeof **stream);
    (*stream)->priority = priority;
    live++;
    return 0;
}

unsigned cuStreamDestroy_v2(struct CUstream_st *stream) {
    if (!stream || captures(stream)) return INVALID_HANDLE;
    free(stream);
    live--;
    END_OF_RELEASE();
}

unsigned cuStreamSynchronize(struct CUstream_st *stream) {
    if (!is_ours()) return INVALID_CONTEXT;
    if (stream && captures(stream)) return CAPTURE_UNSUPPORTED;
    return stream ? finish(__func__) : INVALID_HANDLE;
}

unsigned cuStreamWaitEvent(struct CUstream_st *stream, struct CUevent_st *event, unsigned flags) {
    NEED_CONTEXT();
    if (!stream || !event || !event->recorded) return INVALID_HANDLE;
    if (event->within && !flags) {              /* the stream follows it into the graph */
        stream->captures = event->within;
        return 0;
    }
    if (flags != (captures(stream) ? MR_CU_EVENT_WAIT_EXTERNAL : 0)) return CAPTURE_ISOLATION;
    return 0;
}

unsigned cuEventCreate(struct CUevent_st **event, unsigned flags) {
    NEED_CONTEXT();
    if (flags && flags != MR_CU_EVENT_DISABLE_TIMING) return INVALID_VALUE;
    *event = calloc(1, sizeof **event);
    (*event)->has_no_time = flags != 0;
    live++;
    return 0;
}

unsigned cuEventDestroy_v2(struct CUevent_st *event) {
    if (!event) return INVALID_HANDLE;
    drain();
    free(event);
    live--;
    END_OF_RELEASE();
}

unsigned cuEventRecord(struct CUevent_st *event, struct CUstream_st *stream) {
    NEED_CONTEXT();
    if (!event || !stream) return INVALID_HANDLE;
    event->recorded = 1;
    event->within = captures(stream);           /* then it tells no time */
    if (event->within) return 0;
    event->pending++;
    return enqueue((struct work){ .kind = EVENT, .event = event }, stream);
}

unsigned cuEventSynchronize(struct CUevent_st *event) {
    if (!is_ours()) return INVALID_CONTEXT;
    return event ? finish(__func__) : INVALID_HANDLE;
}

/* The first question finds pending work unfinished, the next finds it done. */
unsigned cuEventQuery(struct CUevent_st *event) {
    NEED_CONTEXT();
    int pending = event->pending;
    drain();
    return pending ? MR_CUDA_ERROR_NOT_READY : 0;
}

#ifndef FAKE_WITHOUT_REQUIRED
unsigned cuEventElapsedTime(float *ms, struct CUevent_st *start, struct CUevent_st *stop) {
    NEED_CONTEXT();
    if (!start->recorded || !stop->recorded) return INVALID_HANDLE;
    if (start->has_no_time || stop->has_no_time) return INVALID_HANDLE;
    if (start->pending || stop->pending) return MR_CUDA_ERROR_NOT_READY;
    *ms = (float)(stop->time_ms - start->time_ms);
    return 0;
}
#endif

/* ---- modules and kernels ---- */

unsigned cuModuleLoadDataEx(struct CUmod_st **module, const void *image, unsigned option_count,
                            unsigned *options, void **values) {
    unsigned code = fake_failure(__func__);
    if (option_count != 2 || options[0] != 5 || options[1] != 6) return INVALID_VALUE;
    if (code) snprintf(values[0], (size_t)(uintptr_t)values[1], "ptxas says no");
    if (code) return code;
    NEED_CONTEXT();
    if (memcmp(image, "\177ELF", 4) && memcmp(image, "// PTX", 6))
        return MR_CUDA_ERROR_INVALID_IMAGE;
    struct CUmod_st *made = calloc(1, sizeof *made);
    made->text = strdup((const char *)image + 4);
    made->axpy.kind = AXPY;
    made->widths.kind = WIDTHS;
    made->block.kind = BLOCK;
    live++;
    *module = made;
    return 0;
}

unsigned cuModuleUnload(struct CUmod_st *module) {
    if (!module) return INVALID_HANDLE;
    need_idle("cuModuleUnload");
    free(module->text);
    free(module);
    live--;
    END_OF_RELEASE();
}

unsigned cuModuleGetFunction(struct CUfunc_st **function, struct CUmod_st *module,
                             const char *name) {
    NEED_CONTEXT();
    if (!strstr(module->text, name) || strstr(module->text, "mangled"))
        return MR_CUDA_ERROR_NOT_FOUND;
    *function = !strcmp(name, "widths")  ? &module->widths
                : !strcmp(name, "block") ? &module->block
                                         : &module->axpy;
    return 0;
}

/* Any program has the variable "table" whose text has the word. */
unsigned cuModuleGetGlobal_v2(unsigned long long *address, size_t *size, struct CUmod_st *module,
                              const char *name) {
    NEED_CONTEXT();
    if (strcmp(name, "table") != 0 || !strstr(module->text, name)) return MR_CUDA_ERROR_NOT_FOUND;
    *address = (uintptr_t)module->table;
    *size = sizeof module->table;
    return 0;
}

unsigned cuFuncGetAttribute(int *value, unsigned attribute, struct CUfunc_st *function) {
    NEED_CONTEXT();
    static const int values[] = { 512, 256, 0, 8, 40 };
    if (attribute > 4 || !function) return INVALID_VALUE;
    *value = values[attribute];
    return 0;
}

/* 256 bytes are static. */
unsigned cuFuncSetAttribute(struct CUfunc_st *function, unsigned attribute, int value) {
    NEED_CONTEXT();
    if (attribute != MR_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > 232448 - 256)
        return INVALID_VALUE;
    function->most_shared = (unsigned)value;
    return 0;
}

#ifndef FAKE_WITHOUT_OPTIONAL
unsigned cuFuncGetParamInfo(struct CUfunc_st *function, size_t index, size_t *offset,
                            size_t *size) {
    NEED_CONTEXT();
    if (index >= (function->kind == AXPY ? 4 : function->kind == BLOCK ? 3 : 7))
        return INVALID_VALUE;
    *offset = 8 * index;
    *size = 8;
    return 0;
}
#endif

unsigned cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, struct CUfunc_st *function,
                                                     int block_size, size_t dynamic_shared) {
    NEED_CONTEXT();
    *blocks = function && dynamic_shared <= function->most_shared ? 2048 / block_size : 0;
    return 0;
}

static struct arguments read_axpy(void **p) {
    return (struct arguments){ .n = *(int *)p[0], .a = *(float *)p[1], .x = *(float **)p[2],
                               .y = *(float **)p[3] };
}

static struct arguments read_block(void **p) {
    const struct { int n; float a; } *block = p[0];
    return (struct arguments){ .n = block->n, .a = block->a, .x = *(float **)p[1],
                               .y = *(float **)p[2] };
}

static struct arguments read_widths(void **p) {
    return (struct arguments){ .c = *(char *)p[0], .s = *(short *)p[1], .i = *(int *)p[2],
                               .l = *(long long *)p[3], .f = *(float *)p[4], .d = *(double *)p[5],
                               .out = *(double **)p[6] };
}

/* What a launch with these arguments does; false if there is no such launch. */
static bool make_launch(struct CUfunc_st *function, const unsigned grid[3],
                        const unsigned block[3], void **arguments, struct work *out) {
    bool shape = grid[0] && grid[1] && grid[1] <= 65535 && grid[2] && block[0] && block[1]
        && block[2] && block[0] * block[1] * block[2] <= 1024;
    if (!function || !shape) return false;
    *out = (struct work){ .kind = function->kind == WIDTHS ? WIDTHS : AXPY };
    out->arguments = function->kind == AXPY    ? read_axpy(arguments)
                     : function->kind == BLOCK ? read_block(arguments)
                                               : read_widths(arguments);
    return true;
}

static unsigned enqueue_launch(struct CUfunc_st *function, const unsigned grid[3],
                               const unsigned block[3], unsigned shared,
                               struct CUstream_st *stream, void **arguments) {
    struct work w;
    if (!stream || shared != function->most_shared) return INVALID_VALUE;
    if (!make_launch(function, grid, block, arguments, &w)) return INVALID_VALUE;
    return enqueue(w, stream);
}

unsigned cuLaunchKernel(struct CUfunc_st *function, unsigned grid_x, unsigned grid_y,
                        unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                        unsigned dynamic_shared, struct CUstream_st *stream, void **arguments,
                        void **extra) {
    NEED_CONTEXT();
    const unsigned grid[] = { grid_x, grid_y, grid_z }, block[] = { block_x, block_y, block_z };
    if (extra) return INVALID_VALUE;
    return enqueue_launch(function, grid, block, dynamic_shared, stream, arguments);
}

unsigned cuLaunchCooperativeKernel(struct CUfunc_st *function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned dynamic_shared,
                                   struct CUstream_st *stream, void **arguments) {
    NEED_CONTEXT();
    const unsigned grid[] = { grid_x, grid_y, grid_z }, block[] = { block_x, block_y, block_z };
    if (grid_x * grid_y * grid_z > ROOM) return COOPERATIVE_LAUNCH_TOO_LARGE;
    return enqueue_launch(function, grid, block, dynamic_shared, stream, arguments);
}

/* Programmatic launches only: others have entries of their own. */
unsigned cuLaunchKernelEx(const struct CUlaunchConfig_st *c, struct CUfunc_st *function,
                          void **arguments, void **extra) {
    NEED_CONTEXT();
    const unsigned grid[] = { c->gridDimX, c->gridDimY, c->gridDimZ };
    const unsigned block[] = { c->blockDimX, c->blockDimY, c->blockDimZ };
    const bool together = c->numAttrs == 2;
    if (extra || c->numAttrs < 1 || c->numAttrs > 2) return INVALID_VALUE;
    if (c->attrs[0].id != MR_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION ||
        c->attrs[0].value != 1)
        return INVALID_VALUE;
    if (together && (c->attrs[1].id != MR_CU_LAUNCH_ATTRIBUTE_COOPERATIVE || !c->attrs[1].value))
        return INVALID_VALUE;
    if (together && grid[0] * grid[1] * grid[2] > ROOM) return COOPERATIVE_LAUNCH_TOO_LARGE;
    return enqueue_launch(function, grid, block, c->sharedMemBytes, c->hStream, arguments);
}

/* ---- graphs ---- */

enum { GRAPH_SIZE = 256 };

struct CUgraphNode_st { struct work work; };
struct CUgraph_st { int count, ended; struct CUgraphNode_st nodes[GRAPH_SIZE], *last; };
struct CUgraphExec_st { const struct CUgraph_st *graph; int count; struct work work[GRAPH_SIZE]; };

static struct CUgraph_st *captures(const struct CUstream_st *stream) {
    return stream->captures && !stream->captures->ended ? stream->captures : NULL;
}

static unsigned capture(struct CUgraph_st *graph, const struct work *work) {
    if (graph->count == GRAPH_SIZE) return INVALID_VALUE;
    graph->last = &graph->nodes[graph->count++];
    graph->last->work = *work;
    return 0;
}

/* Relaxed, so that the host's other threads are not disturbed. */
unsigned cuStreamBeginCapture_v2(struct CUstream_st *stream, unsigned mode) {
    NEED_CONTEXT();
    if (!stream || stream->captures || mode != MR_CU_STREAM_CAPTURE_MODE_RELAXED)
        return INVALID_VALUE;
    stream->captures = calloc(1, sizeof *stream->captures);
    live++;
    return 0;
}

/* A failure of the capture comes out here, and there is no graph then. */
unsigned cuStreamEndCapture(struct CUstream_st *stream, struct CUgraph_st **graph) {
    unsigned code = fake_failure(__func__);
    if (!is_ours()) return INVALID_CONTEXT;
    if (!stream || !stream->captures) return INVALID_VALUE;
    static struct CUgraph_st *failed;           /* other streams may still point to it */
    *graph = stream->captures;
    (*graph)->ended = 1;
    stream->captures = NULL;
    if (!code) return 0;
    free(failed);
    failed = *graph;
    live--;
    *graph = NULL;
    return code;
}

unsigned cuStreamGetCaptureInfo_v2(struct CUstream_st *stream, unsigned *status, unsigned long *id,
                                   struct CUgraph_st **graph, struct CUgraphNode_st *const **nodes,
                                   size_t *count) {
    NEED_CONTEXT();
    if (!stream) return INVALID_HANDLE;
    *status = stream->captures ? 1 : 0;
    *id = 1;
    *graph = stream->captures;
    *nodes = stream->captures ? &stream->captures->last : NULL;
    *count = stream->captures && stream->captures->last;
    return 0;
}

unsigned cuEventRecordWithFlags(struct CUevent_st *event, struct CUstream_st *stream,
                                unsigned flags) {
    NEED_CONTEXT();
    if (!event || !stream || !stream->captures || flags != MR_CU_EVENT_RECORD_EXTERNAL)
        return INVALID_VALUE;
    return enqueue((struct work){ .kind = EVENT, .event = event }, stream);
}

unsigned cuGraphInstantiateWithFlags(struct CUgraphExec_st **exec, struct CUgraph_st *graph,
                                     unsigned long long flags) {
    NEED_CONTEXT();
    if (!graph || !graph->count || flags) return INVALID_VALUE;
    struct CUgraphExec_st *made = calloc(1, sizeof *made);
    made->graph = graph;
    made->count = graph->count;
    for (int i = 0; i < graph->count; i++) made->work[i] = graph->nodes[i].work;
    live++;
    *exec = made;
    return 0;
}

unsigned cuGraphExecKernelNodeSetParams_v2(struct CUgraphExec_st *exec, struct CUgraphNode_st *node,
                                           const struct CUDA_KERNEL_NODE_PARAMS_v2_st *p) {
    NEED_CONTEXT();
    const unsigned grid[] = { p->gridDimX, p->gridDimY, p->gridDimZ };
    const unsigned block[] = { p->blockDimX, p->blockDimY, p->blockDimZ };
    long index = node - exec->graph->nodes;
    struct work w;
    if (index < 0 || index >= exec->count || p->extra || p->kern || p->ctx
        || !p->func || p->sharedMemBytes != p->func->most_shared
        || !make_launch(p->func, grid, block, p->kernelParams, &w)
        || w.kind != exec->work[index].kind)
        return INVALID_VALUE;
    exec->work[index] = w;
    return 0;
}

unsigned cuGraphUpload(struct CUgraphExec_st *exec, struct CUstream_st *stream) {
    NEED_CONTEXT();
    return exec && stream && !stream->captures ? 0 : INVALID_VALUE;
}

unsigned cuGraphLaunch(struct CUgraphExec_st *exec, struct CUstream_st *stream) {
    NEED_CONTEXT();
    if (!exec || !stream || stream->captures) return INVALID_VALUE;
    for (int i = 0; i < exec->count; i++) {
        struct CUevent_st *event = exec->work[i].event;
        if (event) event->recorded = 1;
        if (event) event->pending++;
        enqueue(exec->work[i], stream);
    }
    return 0;
}

unsigned cuGraphExecDestroy(struct CUgraphExec_st *exec) {
    if (!exec) return INVALID_HANDLE;
    free(exec);
    live--;
    END_OF_RELEASE();
}

unsigned cuGraphDestroy(struct CUgraph_st *graph) {
    if (!graph) return INVALID_HANDLE;
    free(graph);
    live--;
    END_OF_RELEASE();
}
