/* opencl_library.c - a fake libOpenCL over host memory, for failure paths and for machines without
 * any OpenCL.
 *
 * Two platforms: an empty one, and one with a GPU that looks like NVIDIA's. Commands run when they
 * are queued; every command takes a microsecond of a made-up clock. The only kernel that runs is
 * saxpy(n, a, x, y). With MARE_FAKE_SLOW set a command seems to run when it is first asked for;
 * with MARE_FAKE_GROUP kernels tell that their source fixes a group of 512. MARE_FAKE_FAIL makes
 * one call fail (fake.h); with MARE_FAKE_LATE set it need not be seen, since clean-up has nobody to
 * tell. MARE_FAKE_PLATFORMS=0 leaves no platform. Objects are counted, and the process exits with
 * FAKE_LEAK if some are left, except for one context, or if MARE_FAKE_CONTEXTS is not the number of
 * contexts made.
 */
#include "fake.h"

#include "../../core/backends/opencl.h"

#pragma GCC visibility push(default)
#define MR_CL_REQUIRED(result, name, arguments) result name arguments;
#define MR_CL_OPTIONAL(result, name, arguments) result name arguments;
#include "../../core/backends/opencl_syms.def"
#pragma GCC visibility pop

#ifdef FAKE_OLD /* a library without one required entry point */
#define clEnqueueFillBuffer clEnqueueFillBuffer_is_missing
int32_t clEnqueueFillBuffer(struct mr_cl_queue *, struct mr_cl_mem *, const void *, size_t, size_t,
                            size_t, uint32_t, struct mr_cl_event *const *, struct mr_cl_event **);
#endif

struct mr_cl_platform {
    int device_count;
};
struct mr_cl_device {
    int id;
};
struct mr_cl_context {
    int refs;
};
struct mr_cl_queue {
    int refs;
    bool is_timed;
    struct mr_cl_context *context;
};
struct mr_cl_event {
    int refs;
    bool was_asked, is_timed;
    uint64_t time;
};
struct mr_cl_mem {
    int refs;
    struct mr_cl_mem *parent, *newest, *older; /* sub-buffers: of this one; of the same parent */
    size_t size;
    unsigned char *data;
    struct mr_cl_context *context;
};
struct mr_cl_program {
    int refs;
    char *source, *log;
    bool is_built;
};
struct mr_cl_kernel {
    int refs;
    struct mr_cl_program *program;
    size_t sizes[4];
    unsigned char values[4][8];
};

static struct mr_cl_platform platforms[2] = { { 0 }, { 1 } };
static struct mr_cl_device the_device;
static int live, contexts, contexts_made;
static uint64_t clock_ns = 1000;

/* ---- failures and leaks ---- */

static bool has_fired, has_fired_late;

/* The code that this call of `entry` shall return; 0 to go on. */
static int32_t injected(const char *entry) {
    static int calls;
    const char *wish = getenv("MARE_FAKE_FAIL");
    size_t length = strlen(entry);
    int number = 0, code = 0;
    if (!wish || strncmp(wish, entry, length) || wish[length] != ':') return 0;
    bool later = sscanf(wish + length, ":%d+:%d", &number, &code) == 2;
    if (!later && sscanf(wish + length, ":%d:%d", &number, &code) != 2) return 0;
    if (++calls != number && !(later && calls > number)) return 0;
    has_fired = true;
    has_fired_late = getenv("MARE_FAKE_LATE") != NULL;
    return code;
}

static void at_exit(int status, void *unused) {
    (void)unused;
    if (status != 0 && status != FAKE_UNSEEN) return;
    const char *made = getenv("MARE_FAKE_CONTEXTS");
    if (live != contexts || contexts > 1 || (made && atoi(made) != contexts_made)) {
        fprintf(stderr, "fake OpenCL: %d objects left, %d of %d contexts\n", live, contexts,
                contexts_made);
        _exit(FAKE_LEAK);
    }
    if (getenv("MARE_FAKE_FAIL") && !has_fired) _exit(FAKE_NOT_REACHED);
    if (has_fired_late) _exit(0);
}

__attribute__((constructor)) static void set_up(void) {
    on_exit(at_exit, NULL);
}

#define RETURN_IF_INJECTED(name)                                                                   \
    do {                                                                                           \
        int32_t code_ = injected(#name);                                                           \
        if (code_ != 0) return code_;                                                              \
    } while (0)

static bool object_fails(const char *entry, int32_t *code) {
    *code = injected(entry);
    return *code != 0;
}

static void *object(size_t size) {
    int *refs = calloc(1, size);
    *refs = 1;
    live++;
    return refs;
}

/* True when `refs`, the first member, has come to nothing. */
static bool dropped(int *refs) {
    if (--*refs > 0) return false;
    live--;
    return true;
}

static int32_t answer(const void *data, size_t data_size, size_t size, void *out, size_t *needed) {
    if (needed) *needed = data_size;
    if (out && size < data_size) return MR_CL_INVALID_VALUE;
    if (out) memcpy(out, data, data_size);
    return 0;
}

static int32_t say(const char *text, size_t size, void *out, size_t *needed) {
    return answer(text, strlen(text) + 1, size, out, needed);
}

/* ---- platforms and devices ---- */

int32_t clGetPlatformIDs(uint32_t size, struct mr_cl_platform **out, uint32_t *count) {
    RETURN_IF_INJECTED(clGetPlatformIDs);
    const char *wish = getenv("MARE_FAKE_PLATFORMS");
    if (wish && !strcmp(wish, "0")) return MR_CL_PLATFORM_NOT_FOUND_KHR;
    for (uint32_t i = 0; i < size && i < 2; i++)
        out[i] = &platforms[i];
    *count = 2;
    return 0;
}

int32_t clGetPlatformInfo(struct mr_cl_platform *platform, uint32_t name, size_t size, void *out,
                          size_t *needed) {
    RETURN_IF_INJECTED(clGetPlatformInfo);
    if (name == MR_CL_PLATFORM_NAME)
        return say(platform->device_count ? "Fake platform" : "Empty platform", size, out, needed);
    return say("OpenCL 1.2 Fake", size, out, needed);
}

int32_t clGetDeviceIDs(struct mr_cl_platform *platform, uint64_t type, uint32_t size,
                       struct mr_cl_device **out, uint32_t *count) {
    (void)type;
    RETURN_IF_INJECTED(clGetDeviceIDs);
    if (!platform->device_count) return MR_CL_DEVICE_NOT_FOUND;
    if (size) out[0] = &the_device;
    *count = 1;
    return 0;
}

static const char *device_text(uint32_t name) {
    switch (name) {
    case MR_CL_DEVICE_NAME:
        return "  Fake GPU ";
    case MR_CL_DEVICE_VENDOR:
        return "Nobody";
    case MR_CL_DRIVER_VERSION:
        return "1.0";
    case MR_CL_DEVICE_VERSION:
        return "OpenCL 1.2 FAKE";
    case MR_CL_DEVICE_OPENCL_C_VERSION:
        return "OpenCL C 1.2 fake";
    case MR_CL_DEVICE_EXTENSIONS:
        return "cl_khr_fp64 cl_khr_int64_base_atomics cl_khr_device_uuid cl_khr_priority_hints "
               "cl_nv_device_attribute_query cl_nv_compiler_options";
    default:
        return NULL;
    }
}

static bool device_number(uint32_t name, uint64_t *out) {
    static const struct {
        uint32_t name;
        uint64_t value;
    } numbers[] = {
        { MR_CL_DEVICE_TYPE, MR_CL_DEVICE_TYPE_GPU },
        { MR_CL_DEVICE_MAX_COMPUTE_UNITS, 4 },
        { MR_CL_DEVICE_MAX_WORK_GROUP_SIZE, 256 },
        { MR_CL_DEVICE_MAX_CLOCK_FREQUENCY, 1000 },
        { MR_CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024 }, /* bits */
        { MR_CL_DEVICE_GLOBAL_MEM_SIZE, 1 << 24 },
        { MR_CL_DEVICE_MAX_MEM_ALLOC_SIZE, 1 << 22 },
        { MR_CL_DEVICE_LOCAL_MEM_SIZE, 1 << 15 },
        { MR_CL_DEVICE_SINGLE_FP_CONFIG, MR_CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT },
        { MR_CL_DEVICE_DOUBLE_FP_CONFIG, 63 },
        { MR_CL_DEVICE_WARP_SIZE_NV, 32 },
        { MR_CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, 7 },
        { MR_CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, 5 },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].name == name) {
            *out = numbers[i].value;
            return true;
        }
    return false;
}

int32_t clGetDeviceInfo(struct mr_cl_device *device, uint32_t name, size_t size, void *out,
                        size_t *needed) {
    static const size_t sizes[3] = { 256, 128, 64 };
    static const unsigned char uuid[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
    uint64_t number = 0;
    (void)device;
    RETURN_IF_INJECTED(clGetDeviceInfo);
    if (device_text(name)) return say(device_text(name), size, out, needed);
    if (device_number(name, &number)) return answer(&number, sizeof number, size, out, needed);
    if (name == MR_CL_DEVICE_MAX_WORK_ITEM_SIZES)
        return answer(sizes, sizeof sizes, size, out, needed);
    if (name == MR_CL_DEVICE_UUID_KHR) return answer(uuid, sizeof uuid, size, out, needed);
    return MR_CL_INVALID_VALUE;
}

/* ---- contexts and queues ---- */

struct mr_cl_context *clCreateContext(const intptr_t *properties, uint32_t count,
                                      struct mr_cl_device *const *devices,
                                      void (*notify)(const char *, const void *, size_t, void *),
                                      void *data, int32_t *code) {
    (void)properties, (void)count, (void)devices, (void)notify, (void)data;
    if (object_fails("clCreateContext", code)) return NULL;
    contexts++;
    contexts_made++;
    return object(sizeof(struct mr_cl_context));
}

/* Releases what is to be released also when it reports a failure. */
#define RELEASE(name, type)                                                                        \
    int32_t name(struct type *it) {                                                                \
        if (dropped(&it->refs)) free(it);                                                          \
        return injected(#name);                                                                    \
    }
int32_t clReleaseContext(struct mr_cl_context *it) {
    if (it->refs == 1) contexts--;
    if (dropped(&it->refs)) free(it);
    return injected("clReleaseContext");
}
RELEASE(clReleaseCommandQueue, mr_cl_queue)
RELEASE(clReleaseEvent, mr_cl_event)

struct mr_cl_queue *clCreateCommandQueue(struct mr_cl_context *context, struct mr_cl_device *device,
                                         uint64_t properties, int32_t *code) {
    (void)device;
    if (object_fails("clCreateCommandQueue", code)) return NULL;
    struct mr_cl_queue *queue = object(sizeof *queue);
    queue->is_timed = properties & MR_CL_QUEUE_PROFILING_ENABLE;
    queue->context = context;
    return queue;
}

struct mr_cl_queue *clCreateCommandQueueWithProperties(struct mr_cl_context *context,
                                                       struct mr_cl_device *device,
                                                       const uint64_t *properties, int32_t *code) {
    (void)device, (void)properties;
    if (object_fails("clCreateCommandQueueWithProperties", code)) return NULL;
    struct mr_cl_queue *queue = object(sizeof *queue);
    queue->is_timed = true;
    queue->context = context;
    return queue;
}

/* What a host's objects are asked before they are shared, and the references to them. */
int32_t clGetContextInfo(struct mr_cl_context *context, uint32_t name, size_t size, void *out,
                         size_t *needed) {
    struct mr_cl_device *device = &the_device;
    (void)context, (void)name;
    RETURN_IF_INJECTED(clGetContextInfo);
    return answer(&device, sizeof device, size, out, needed);
}

int32_t clGetCommandQueueInfo(struct mr_cl_queue *queue, uint32_t name, size_t size, void *out,
                              size_t *needed) {
    struct mr_cl_device *device = &the_device;
    const uint64_t properties = MR_CL_QUEUE_PROFILING_ENABLE;
    RETURN_IF_INJECTED(clGetCommandQueueInfo);
    if (name == MR_CL_QUEUE_CONTEXT)
        return answer(&queue->context, sizeof queue->context, size, out, needed);
    if (name == MR_CL_QUEUE_DEVICE) return answer(&device, sizeof device, size, out, needed);
    return answer(&properties, sizeof properties, size, out, needed);
}

#define RETAIN(name, type)                                                                         \
    int32_t name(struct type *it) {                                                                \
        RETURN_IF_INJECTED(name);                                                                  \
        it->refs++;                                                                                \
        return 0;                                                                                  \
    }
RETAIN(clRetainContext, mr_cl_context)
RETAIN(clRetainCommandQueue, mr_cl_queue)
RETAIN(clRetainMemObject, mr_cl_mem)

int32_t clFlush(struct mr_cl_queue *queue) {
    (void)queue;
    return injected("clFlush");
}

int32_t clFinish(struct mr_cl_queue *queue) {
    (void)queue;
    return injected("clFinish");
}

/* A command that has run. */
static int32_t done(const struct mr_cl_queue *queue, struct mr_cl_event **event) {
    clock_ns += 1000;
    if (!event) return 0;
    *event = object(sizeof **event);
    (*event)->is_timed = queue->is_timed;
    (*event)->time = clock_ns;
    return 0;
}

/* ---- memory ---- */

struct mr_cl_mem *clCreateBuffer(struct mr_cl_context *context, uint64_t flags, size_t size,
                                 void *host, int32_t *code) {
    (void)flags, (void)host;
    if (object_fails("clCreateBuffer", code)) return NULL;
    struct mr_cl_mem *mem = object(sizeof *mem);
    mem->context = context;
    mem->size = size;
    mem->data = malloc(size);
    return mem;
}

struct mr_cl_mem *clCreateSubBuffer(struct mr_cl_mem *parent, uint64_t flags, uint32_t type,
                                    const void *info, int32_t *code) {
    (void)flags, (void)type;
    const size_t *region = info;
    if (object_fails("clCreateSubBuffer", code)) return NULL;
    *code = region[0] % 128 ? MR_CL_MISALIGNED_SUB_BUFFER_OFFSET : 0;
    if (region[0] + region[1] > parent->size) *code = MR_CL_INVALID_VALUE;
    if (*code != 0) return NULL;
    struct mr_cl_mem *mem = object(sizeof *mem);
    *mem = (struct mr_cl_mem){ .refs = 1, .parent = parent, .older = parent->newest,
                               .size = region[1], .data = parent->data + region[0],
                               .context = parent->context };
    return parent->newest = mem;
}

/* NVIDIA's driver crashes where a later part that overlaps this one is still there. */
static void leave_parent(struct mr_cl_mem *mem) {
    struct mr_cl_mem **at = &mem->parent->newest;
    for (; *at != mem; at = &(*at)->older)
        if ((*at)->data < mem->data + mem->size && mem->data < (*at)->data + (*at)->size) abort();
    *at = mem->older;
}

/* Nor does it keep a buffer for its parts. */
static void drop_mem(struct mr_cl_mem *mem) {
    if (!dropped(&mem->refs)) return;
    if (mem->newest) abort();
    if (mem->parent) leave_parent(mem);
    else free(mem->data);
    free(mem);
}

int32_t clGetMemObjectInfo(struct mr_cl_mem *mem, uint32_t name, size_t size, void *out,
                           size_t *needed) {
    RETURN_IF_INJECTED(clGetMemObjectInfo);
    if (name == MR_CL_MEM_SIZE) return answer(&mem->size, sizeof mem->size, size, out, needed);
    return answer(&mem->context, sizeof mem->context, size, out, needed);
}

int32_t clReleaseMemObject(struct mr_cl_mem *mem) {
    drop_mem(mem);
    return injected("clReleaseMemObject");
}

#define QUEUE struct mr_cl_queue *queue
#define MEM struct mr_cl_mem *
#define WAIT uint32_t wait_count, struct mr_cl_event *const *wait, struct mr_cl_event **event
#define UNUSED (void)queue, (void)wait_count, (void)wait

void *clEnqueueMapBuffer(QUEUE, MEM mem, uint32_t blocking, uint64_t flags, size_t offset,
                         size_t size, WAIT, int32_t *code) {
    UNUSED, (void)blocking, (void)flags, (void)size, (void)event;
    return object_fails("clEnqueueMapBuffer", code) ? NULL : mem->data + offset;
}

int32_t clEnqueueUnmapMemObject(QUEUE, MEM mem, void *mapped, WAIT) {
    UNUSED, (void)mem, (void)mapped, (void)event;
    return injected("clEnqueueUnmapMemObject");
}

int32_t clEnqueueReadBuffer(QUEUE, MEM mem, uint32_t blocking, size_t offset, size_t size,
                            void *out, WAIT) {
    UNUSED, (void)blocking;
    RETURN_IF_INJECTED(clEnqueueReadBuffer);
    if (offset + size > mem->size) return MR_CL_INVALID_VALUE;
    memcpy(out, mem->data + offset, size);
    return done(queue, event);
}

int32_t clEnqueueWriteBuffer(QUEUE, MEM mem, uint32_t blocking, size_t offset, size_t size,
                             const void *in, WAIT) {
    UNUSED, (void)blocking;
    RETURN_IF_INJECTED(clEnqueueWriteBuffer);
    if (offset + size > mem->size) return MR_CL_INVALID_VALUE;
    memcpy(mem->data + offset, in, size);
    return done(queue, event);
}

int32_t clEnqueueCopyBuffer(QUEUE, MEM src, MEM dst, size_t from, size_t to, size_t size, WAIT) {
    UNUSED;
    RETURN_IF_INJECTED(clEnqueueCopyBuffer);
    if (from + size > src->size || to + size > dst->size) return MR_CL_INVALID_VALUE;
    memcpy(dst->data + to, src->data + from, size);
    return done(queue, event);
}

int32_t clEnqueueFillBuffer(QUEUE, MEM mem, const void *pattern, size_t pattern_size, size_t offset,
                            size_t size, WAIT) {
    UNUSED;
    RETURN_IF_INJECTED(clEnqueueFillBuffer);
    if (offset + size > mem->size || size % pattern_size) return MR_CL_INVALID_VALUE;
    for (size_t i = 0; i < size; i += pattern_size)
        memcpy(mem->data + offset + i, pattern, pattern_size);
    return done(queue, event);
}

/* ---- boxes ---- */

typedef struct side {
    unsigned char *data;
    size_t limit;
    const size_t *origin;
    size_t pitch, slice;
} side;

static size_t at(const side *s, size_t x, size_t y, size_t z) {
    return (s->origin[2] + z) * s->slice + (s->origin[1] + y) * s->pitch + s->origin[0] + x;
}

/* As strict as the strictest: an origin within its row and slice, rows within the pitch. */
static bool is_allowed(const side *s, const size_t size[3]) {
    return s->pitch >= size[0] && s->slice % s->pitch == 0 && s->slice >= size[1] * s->pitch &&
           s->origin[0] < s->pitch && s->origin[1] * s->pitch < s->slice &&
           at(s, size[0], size[1] - 1, size[2] - 1) <= s->limit;
}

static int32_t move_box(side to, side from, const size_t size[3]) {
    if (!is_allowed(&to, size) || !is_allowed(&from, size)) return MR_CL_INVALID_VALUE;
    if (to.data == from.data && (to.pitch != from.pitch || to.slice != from.slice))
        return MR_CL_INVALID_VALUE;
    for (size_t z = 0; z < size[2]; z++)
        for (size_t y = 0; y < size[1]; y++)
            memcpy(to.data + at(&to, 0, y, z), from.data + at(&from, 0, y, z), size[0]);
    return 0;
}

int32_t clEnqueueReadBufferRect(QUEUE, MEM mem, uint32_t blocking, const size_t *origin,
                                const size_t *host_origin, const size_t *size, size_t pitch,
                                size_t slice, size_t host_pitch, size_t host_slice, void *host,
                                WAIT) {
    UNUSED, (void)blocking;
    RETURN_IF_INJECTED(clEnqueueReadBufferRect);
    int32_t code = move_box((side){ host, SIZE_MAX, host_origin, host_pitch, host_slice },
                            (side){ mem->data, mem->size, origin, pitch, slice }, size);
    return code ? code : done(queue, event);
}

int32_t clEnqueueWriteBufferRect(QUEUE, MEM mem, uint32_t blocking, const size_t *origin,
                                 const size_t *host_origin, const size_t *size, size_t pitch,
                                 size_t slice, size_t host_pitch, size_t host_slice,
                                 const void *host, WAIT) {
    UNUSED, (void)blocking;
    RETURN_IF_INJECTED(clEnqueueWriteBufferRect);
    int32_t code = move_box(
        (side){ mem->data, mem->size, origin, pitch, slice },
        (side){ (unsigned char *)(uintptr_t)host, SIZE_MAX, host_origin, host_pitch, host_slice },
        size);
    return code ? code : done(queue, event);
}

int32_t clEnqueueCopyBufferRect(QUEUE, MEM src, MEM dst, const size_t *src_origin,
                                const size_t *dst_origin, const size_t *size, size_t src_pitch,
                                size_t src_slice, size_t dst_pitch, size_t dst_slice, WAIT) {
    UNUSED;
    RETURN_IF_INJECTED(clEnqueueCopyBufferRect);
    int32_t code = move_box((side){ dst->data, dst->size, dst_origin, dst_pitch, dst_slice },
                            (side){ src->data, src->size, src_origin, src_pitch, src_slice }, size);
    return code ? code : done(queue, event);
}

/* ---- events ---- */

int32_t clEnqueueMarkerWithWaitList(QUEUE, WAIT) {
    UNUSED;
    RETURN_IF_INJECTED(clEnqueueMarkerWithWaitList);
    return done(queue, event);
}

int32_t clEnqueueBarrierWithWaitList(QUEUE, WAIT) {
    UNUSED;
    RETURN_IF_INJECTED(clEnqueueBarrierWithWaitList);
    return done(queue, event);
}

int32_t clWaitForEvents(uint32_t count, struct mr_cl_event *const *events) {
    (void)count, (void)events;
    return injected("clWaitForEvents");
}

int32_t clGetEventInfo(struct mr_cl_event *event, uint32_t name, size_t size, void *out,
                       size_t *needed) {
    const bool runs = getenv("MARE_FAKE_SLOW") && !event->was_asked;
    const int32_t state = runs ? MR_CL_RUNNING : MR_CL_COMPLETE;
    (void)name;
    RETURN_IF_INJECTED(clGetEventInfo);
    event->was_asked = true;
    return answer(&state, sizeof state, size, out, needed);
}

int32_t clGetEventProfilingInfo(struct mr_cl_event *event, uint32_t name, size_t size, void *out,
                                size_t *needed) {
    (void)name;
    RETURN_IF_INJECTED(clGetEventProfilingInfo);
    if (!event->is_timed) return MR_CL_PROFILING_INFO_NOT_AVAILABLE;
    return answer(&event->time, sizeof event->time, size, out, needed);
}

int32_t clRetainEvent(struct mr_cl_event *event) {
    RETURN_IF_INJECTED(clRetainEvent);
    event->refs++;
    return 0;
}

/* ---- programs: the text is the binary ---- */

static const char magic[] = "FAKE BINARY\n";

static struct mr_cl_program *make_program(const char *first, const char *second) {
    struct mr_cl_program *program = object(sizeof *program);
    size_t size = strlen(first) + strlen(second) + 1;
    program->source = malloc(size);
    snprintf(program->source, size, "%s%s", first, second);
    return program;
}

struct mr_cl_program *clCreateProgramWithSource(struct mr_cl_context *context, uint32_t count,
                                                const char **texts, const size_t *sizes,
                                                int32_t *code) {
    (void)context, (void)sizes;
    if (object_fails("clCreateProgramWithSource", code)) return NULL;
    return make_program(texts[0], count > 1 ? texts[1] : "");
}

struct mr_cl_program *clCreateProgramWithBinary(struct mr_cl_context *context, uint32_t count,
                                                struct mr_cl_device *const *devices,
                                                const size_t *sizes, const unsigned char **binaries,
                                                int32_t *status, int32_t *code) {
    (void)context, (void)count, (void)devices;
    if (object_fails("clCreateProgramWithBinary", code)) return NULL;
    bool is_ours = sizes[0] > sizeof magic && !memcmp(binaries[0], magic, sizeof magic - 1);
    *code = *status = is_ours ? 0 : MR_CL_INVALID_BINARY;
    return is_ours ? make_program("", (const char *)binaries[0] + sizeof magic - 1) : NULL;
}

/* SPIR-V is the text of a program behind its mark. */
struct mr_cl_program *clCreateProgramWithIL(struct mr_cl_context *context, const void *code,
                                            size_t size, int32_t *error) {
    (void)context;
    if (object_fails("clCreateProgramWithIL", error)) return NULL;
    return size > 4 ? make_program("", (const char *)code + 4) : NULL;
}

/* As NVIDIA's compiler reports: the line within all texts, whatever #line says. */
static char *nvidia_log(const char *source, const char *token) {
    unsigned line = 1;
    char log[128];
    for (const char *at = source; at < token; at++)
        line += *at == '\n';
    snprintf(log, sizeof log, "<kernel>:%u:5: error: what is this?\n    ^\n", line);
    return strdup(log);
}

static char *build_log(const char *source, const char *options) {
    const char *token = strstr(source, "nvidia_error");
    if (token) return nvidia_log(source, token);
    if (strstr(options, "-cl-std") && !strstr(options, "-DMR_PTX_ARCH=750"))
        return strdup("error: this is an sm_75\n");
    if (strstr(options, "denorms")) return strdup("error: signs become instructions\n");
    if (strstr(source, "syntax_error")) return strdup("error: bad.krn:2:5: what is this?\n");
    if (strstr(options, "-cl-nv-verbose"))
        return strdup("ptxas info    : Compiling entry function 'saxpy' for 'sm_00'\n"
                      "ptxas info    : Used 17 registers, 0 bytes cmem[0]\n");
    return strdup("(): Warning: Function saxpy is a kernel, so overriding noinline attribute. The "
                  "function may be inlined when called.\n");
}

int32_t clBuildProgram(struct mr_cl_program *program, uint32_t count,
                       struct mr_cl_device *const *devices, const char *options,
                       void (*notify)(struct mr_cl_program *, void *), void *data) {
    (void)count, (void)devices, (void)notify, (void)data;
    RETURN_IF_INJECTED(clBuildProgram);
    free(program->log);
    program->log = build_log(program->source, options);
    program->is_built = !strstr(program->log, "error:");
    return program->is_built ? 0 : MR_CL_BUILD_PROGRAM_FAILURE;
}

int32_t clGetProgramBuildInfo(struct mr_cl_program *program, struct mr_cl_device *device,
                              uint32_t name, size_t size, void *out, size_t *needed) {
    (void)device, (void)name;
    RETURN_IF_INJECTED(clGetProgramBuildInfo);
    return say(program->log ? program->log : "", size, out, needed);
}

int32_t clGetProgramInfo(struct mr_cl_program *program, uint32_t name, size_t size, void *out,
                         size_t *needed) {
    RETURN_IF_INJECTED(clGetProgramInfo);
    size_t length = sizeof magic + strlen(program->source);
    if (name == MR_CL_PROGRAM_BINARY_SIZES)
        return answer(&length, sizeof length, size, out, needed);
    snprintf(*(char **)out, length, "%s%s", magic, program->source);
    return 0;
}

static void drop_program(struct mr_cl_program *program) {
    if (!dropped(&program->refs)) return;
    free(program->source);
    free(program->log);
    free(program);
}

int32_t clReleaseProgram(struct mr_cl_program *program) {
    drop_program(program);
    return injected("clReleaseProgram");
}

/* ---- kernels ---- */

struct mr_cl_kernel *clCreateKernel(struct mr_cl_program *program, const char *name,
                                    int32_t *code) {
    if (object_fails("clCreateKernel", code)) return NULL;
    *code = strcmp(name, "saxpy") ? MR_CL_INVALID_KERNEL_NAME : 0;
    if (*code != 0) return NULL;
    struct mr_cl_kernel *kernel = object(sizeof *kernel);
    kernel->program = program;
    program->refs++;
    return kernel;
}

int32_t clReleaseKernel(struct mr_cl_kernel *kernel) {
    drop_program(kernel->program);
    if (dropped(&kernel->refs)) free(kernel);
    return injected("clReleaseKernel");
}

int32_t clSetKernelArg(struct mr_cl_kernel *kernel, uint32_t index, size_t size,
                       const void *value) {
    static const size_t sizes[4] = { 4, 4, 8, 8 };
    RETURN_IF_INJECTED(clSetKernelArg);
    if (index >= 4) return MR_CL_INVALID_ARG_INDEX;
    if (size != sizes[index]) return MR_CL_INVALID_ARG_SIZE;
    kernel->sizes[index] = size;
    memcpy(kernel->values[index], value, size);
    return 0;
}

int32_t clGetKernelInfo(struct mr_cl_kernel *kernel, uint32_t name, size_t size, void *out,
                        size_t *needed) {
    static const uint32_t count = 4;
    (void)kernel;
    RETURN_IF_INJECTED(clGetKernelInfo);
    if (name != MR_CL_KERNEL_NUM_ARGS) return MR_CL_INVALID_VALUE;
    return answer(&count, sizeof count, size, out, needed);
}

int32_t clGetKernelWorkGroupInfo(struct mr_cl_kernel *kernel, struct mr_cl_device *device,
                                 uint32_t name, size_t size, void *out, size_t *needed) {
    (void)kernel, (void)device;
    RETURN_IF_INJECTED(clGetKernelWorkGroupInfo);
    const size_t fixed[3] = { getenv("MARE_FAKE_GROUP") ? 512 : 0, 1, 1 };
    if (name == MR_CL_KERNEL_COMPILE_WORK_GROUP_SIZE)
        return answer(fixed, sizeof fixed, size, out, needed);
    uint64_t value = name == MR_CL_KERNEL_WORK_GROUP_SIZE                      ? 128
                     : name == MR_CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE ? 32
                     : name == MR_CL_KERNEL_LOCAL_MEM_SIZE ? 64 + 16 /* as NVIDIA's compiler */
                                                           : 16;
    return answer(&value, sizeof value, size, out, needed);
}

int32_t clEnqueueNDRangeKernel(QUEUE, struct mr_cl_kernel *kernel, uint32_t dimensions,
                               const size_t *offset, const size_t *global, const size_t *local,
                               WAIT) {
    UNUSED, (void)dimensions, (void)offset;
    RETURN_IF_INJECTED(clEnqueueNDRangeKernel);
    for (int i = 0; i < 4; i++)
        if (kernel->sizes[i] == 0) return MR_CL_INVALID_KERNEL_ARGS;
    if (local[0] * local[1] * local[2] > 128) return MR_CL_INVALID_WORK_GROUP_SIZE;
    int32_t n;
    float a;
    struct mr_cl_mem *x, *y;
    memcpy(&n, kernel->values[0], sizeof n);
    memcpy(&a, kernel->values[1], sizeof a);
    memcpy(&x, kernel->values[2], sizeof x);
    memcpy(&y, kernel->values[3], sizeof y);
    if (x->size / sizeof a < (size_t)n || y->size / sizeof a < (size_t)n)
        return MR_CL_INVALID_VALUE; /* a stray access on a device */
    for (int32_t i = 0; i < n && (size_t)i < global[0]; i++)
        ((float *)(void *)y->data)[i] += a * ((float *)(void *)x->data)[i];
    return done(queue, event);
}
