/* cuda.c - the CUDA back end: the driver library, devices, streams and events.
 *
 * Each entry of the seam enters the device's context and leaves it once; see cuda_context.c.
 */
#include "cuda_api.h"
#include "nvrtc_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MR_LINE struct mr_cuda_calls mr_cu;

static struct {
    pthread_once_t once;
    mare_status status;             /* of loading and cuInit */
    char reason[512];
    char library[256];
    char driver[64];                /* "CUDA 13.0, driver 580.159.03" */
    int version;                    /* 13000 */
    int count;
} state = { .once = PTHREAD_ONCE_INIT };

/* ---- errors ---- */

static mare_status status_of(unsigned code) {
    switch (code) {
    case MR_CUDA_SUCCESS: return MARE_OK;
    case MR_CUDA_ERROR_OUT_OF_MEMORY: return MARE_ERROR_MEMORY;
    case MR_CUDA_ERROR_STUB_LIBRARY:
    case MR_CUDA_ERROR_NO_DEVICE:
    case MR_CUDA_ERROR_INVALID_DEVICE:
    case MR_CUDA_ERROR_SYSTEM_NOT_READY:
    case MR_CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: return MARE_ERROR_UNAVAILABLE;
    case MR_CUDA_ERROR_INVALID_IMAGE:
    case MR_CUDA_ERROR_NO_BINARY_FOR_GPU:
    case MR_CUDA_ERROR_INVALID_PTX:
    case MR_CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case MR_CUDA_ERROR_NOT_FOUND: return MARE_ERROR_BUILD;
    case MR_CUDA_ERROR_ECC_UNCORRECTABLE:
    case MR_CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case MR_CUDA_ERROR_ILLEGAL_ADDRESS:
    case MR_CUDA_ERROR_LAUNCH_TIMEOUT:
    case MR_CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case MR_CUDA_ERROR_ASSERT:
    case MR_CUDA_ERROR_HARDWARE_STACK_ERROR:
    case MR_CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case MR_CUDA_ERROR_MISALIGNED_ADDRESS:
    case MR_CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case MR_CUDA_ERROR_INVALID_PC:
    case MR_CUDA_ERROR_LAUNCH_FAILED: return MARE_ERROR_LOST;
    default: return MARE_ERROR_DEVICE;
    }
}

mare_status mr_cuda_check(unsigned code, const char *call, ...) {
    if (code == MR_CUDA_SUCCESS) return MARE_OK;
    char what[256];
    va_list arguments;
    va_start(arguments, call);
    vsnprintf(what, sizeof what, call, arguments);
    va_end(arguments);
    const char *name = NULL, *text = NULL;
    if (mr_cu.cuGetErrorName(code, &name) != MR_CUDA_SUCCESS || !name) name = "CUDA error";
    if (mr_cu.cuGetErrorString(code, &text) != MR_CUDA_SUCCESS || !text) text = "no description";
    return mr_fail(status_of(code), "%s: %s (%u): %s", what, name, code, text);
}

/* ---- the driver library ---- */

static mare_status load_library(void) {
    static const char *const names[] = { "libcuda.so.1", "libcuda.so", NULL };
    static const mr_symbol symbols[] = {
#define MR_CUDA_CALL(required, symbol, arguments) { #symbol, (void **)&mr_cu.symbol, required },
#include "cuda_syms.def"
    };
    return mr_dl_load(names, symbols, sizeof symbols / sizeof *symbols, state.library,
                      sizeof state.library);
}

/* The kernel module's version, "580.159.03", which the driver API does not tell; "" if unknown. */
static void read_module_version(char *out, int size) {
    FILE *file = fopen("/sys/module/nvidia/version", "r");
    out[0] = '\0';
    if (!file) return;
    if (!fgets(out, size, file)) out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    fclose(file);
}

static mare_status start_driver(void) {
    char module[32];
    MR_TRY(load_library());
    MR_TRY(mr_cuda_check(mr_cu.cuInit(0), "cuInit"));
    MR_TRY(mr_cuda_check(mr_cu.cuDriverGetVersion(&state.version), "cuDriverGetVersion"));
    MR_TRY(mr_cuda_check(mr_cu.cuDeviceGetCount(&state.count), "cuDeviceGetCount"));
    read_module_version(module, sizeof module);
    snprintf(state.driver, sizeof state.driver, "CUDA %d.%d%s%s", state.version / 1000,
             state.version % 1000 / 10, module[0] ? ", driver " : "", module);
    if (state.count < 1) return mr_fail(MARE_ERROR_UNAVAILABLE, "the driver reports no device");
    return MARE_OK;
}

static void load_once(void) {
    state.status = start_driver();
    if (state.status != MARE_OK)
        snprintf(state.reason, sizeof state.reason,
                 "%.400s; is an NVIDIA driver for this GPU installed?", mare_error_message());
}

static mare_status load(void) {
    pthread_once(&state.once, load_once);
    if (state.status != MARE_OK) return mr_fail(state.status, "%s", state.reason);
    return MARE_OK;
}

static mare_status probe(mare_backend_info *out) {
    char compiler[64];
    pthread_once(&state.once, load_once);
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "cuda");
    memcpy(out->library, state.library, sizeof out->library);
    memcpy(out->reason, state.reason, sizeof out->reason);
    if (state.status != MARE_OK) return MARE_OK;
    mr_nvrtc_version(compiler, sizeof compiler);
    out->available = 1;
    out->device_count = state.count;
    snprintf(out->version, sizeof out->version, "%.63s, %.60s", state.driver, compiler);
    return MARE_OK;
}

/* ---- devices ---- */

static mare_status attribute(int device, unsigned which, const char *name, int *out) {
    return mr_cuda_check(mr_cu.cuDeviceGetAttribute(out, which, device),
                         "cuDeviceGetAttribute(%s)", name);
}
#define ATTRIBUTE(device, name, out)                                                               \
    MR_TRY(attribute(device, MR_CU_DEVICE_ATTRIBUTE_##name, #name, out))

static mare_status read_arch(int device, char *out, size_t size, int *major) {
    int minor = 0;
    ATTRIBUTE(device, COMPUTE_CAPABILITY_MAJOR, major);
    ATTRIBUTE(device, COMPUTE_CAPABILITY_MINOR, &minor);
    snprintf(out, size, "sm_%d%d", *major, minor);
    return MARE_OK;
}

static void read_uuid(int device, char *out, size_t size) {
    struct CUuuid_st uuid;
    out[0] = '\0';
    if (!mr_cu.cuDeviceGetUuid_v2 || mr_cu.cuDeviceGetUuid_v2(&uuid, device) != MR_CUDA_SUCCESS)
        return;
    for (size_t i = 0, at = 0; i < sizeof uuid.bytes; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        int n = snprintf(out + at, size - at, "%s%02x", dash ? "-" : "",
                         (unsigned)(unsigned char)uuid.bytes[i]);
        at += (size_t)n;
    }
}

static mare_status read_limits(int device, mare_device_info *out) {
    int units = 0, warp = 0, threads = 0, shared = 0, most_shared = 0, clock_khz = 0, unified = 0;
    int block[3] = { 0 };
    ATTRIBUTE(device, MULTIPROCESSOR_COUNT, &units);
    ATTRIBUTE(device, WARP_SIZE, &warp);
    ATTRIBUTE(device, MAX_THREADS_PER_BLOCK, &threads);
    ATTRIBUTE(device, MAX_SHARED_MEMORY_PER_BLOCK, &shared);
    ATTRIBUTE(device, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &most_shared);
    ATTRIBUTE(device, UNIFIED_ADDRESSING, &unified);
    ATTRIBUTE(device, MAX_BLOCK_DIM_X, &block[0]);
    ATTRIBUTE(device, MAX_BLOCK_DIM_Y, &block[1]);
    ATTRIBUTE(device, MAX_BLOCK_DIM_Z, &block[2]);
    /* only shown to people, and on its way out of the API, so that its lack is no failure */
    if (mr_cu.cuDeviceGetAttribute(&clock_khz, MR_CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device))
        clock_khz = 0;
    out->compute_units = (uint32_t)units;
    out->warp_size = (uint32_t)warp;
    out->max_group_size = (uint32_t)threads;
    out->local_memory = (uint64_t)shared;
    out->max_local_memory = (uint64_t)(most_shared > shared ? most_shared : shared);
    out->clock_mhz = (uint32_t)(clock_khz / 1000);
    out->has_sharing = unified;
    for (int i = 0; i < 3; i++) out->max_group[i] = (uint32_t)block[i];
    return MARE_OK;
}

static mare_status read_info(int index, mare_device_info *out) {
    int device = 0, major = 0;
    size_t memory = 0;
    MR_TRY(mr_cuda_check(mr_cu.cuDeviceGet(&device, index), "cuDeviceGet(%d)", index));
    MR_TRY(mr_cuda_check(mr_cu.cuDeviceGetName(out->model, sizeof out->model, device),
                         "cuDeviceGetName"));
    MR_TRY(mr_cuda_check(mr_cu.cuDeviceTotalMem_v2(&memory, device), "cuDeviceTotalMem"));
    MR_TRY(read_arch(device, out->arch, sizeof out->arch, &major));
    MR_TRY(read_limits(device, out));
    read_uuid(device, out->uuid, sizeof out->uuid);
    snprintf(out->name, sizeof out->name, "cuda:%d", index);
    snprintf(out->vendor, sizeof out->vendor, "NVIDIA");
    memcpy(out->driver, state.driver, sizeof state.driver);
    out->kind = MARE_DEVICE_GPU;
    out->memory = out->max_buffer = memory;
    out->view_alignment = 1;
    out->has_double = out->has_int64_atomics = 1;
    out->has_scopes = major >= 7;
    out->has_programmatic = major >= 9;
    return MARE_OK;
}

static mare_status device_info(int index, mare_device_info *out) {
    mare_device_info info = { 0 };
    MR_TRY(load());
    MR_TRY(read_info(index, &info));
    *out = info;
    return MARE_OK;
}

static mare_status describe(int index, struct mr_cuda_device *out) {
    int pitch = 0, major = 0;
    out->driver = state.version;
    MR_TRY(mr_cuda_check(mr_cu.cuDeviceGet(&out->id, index), "cuDeviceGet(%d)", index));
    MR_TRY(read_arch(out->id, out->arch, sizeof out->arch, &major));
    ATTRIBUTE(out->id, WARP_SIZE, &out->warp_size);
    ATTRIBUTE(out->id, MAX_THREADS_PER_MULTIPROCESSOR, &out->unit_items);
    ATTRIBUTE(out->id, MAX_PITCH, &pitch);
    out->max_pitch = (size_t)pitch;
    return MARE_OK;
}

mare_status mr_cuda_device_open(int index, mr_native *out) {
    struct mr_cuda_device found = { 0 };
    MR_TRY(load());
    MR_TRY(describe(index, &found));
    struct mr_cuda_device *device = malloc(sizeof *device);
    if (!device) return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    mare_status status = mr_cuda_context_open(&found);
    if (status != MARE_OK) {
        free(device);
        return status;
    }
    *device = found;
    pthread_mutex_init(&device->landing_lock, NULL);
    out->ptr = device;
    return MARE_OK;
}

void mr_cuda_device_close(mr_native native, bool is_lost) {
    struct mr_cuda_device *device = native.ptr;
    mr_cuda_landing_free(device);
    mr_cuda_context_close(device, is_lost);
    pthread_mutex_destroy(&device->landing_lock);
    free(device);
}

static mare_status device_memory(mr_native device, uint64_t *free_bytes, uint64_t *total_bytes) {
    bool pushed;
    size_t free_size = 0, total_size = 0;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = mr_cuda_check(mr_cu.cuMemGetInfo_v2(&free_size, &total_size),
                                       "cuMemGetInfo");
    mr_cuda_leave(pushed);
    if (status != MARE_OK) return status;
    *free_bytes = free_size;
    *total_bytes = total_size;
    return MARE_OK;
}

static mare_status device_wait(mr_native device) {
    bool pushed;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = mr_cuda_check(mr_cu.cuCtxSynchronize(), "cuCtxSynchronize");
    mr_cuda_leave(pushed);
    return status;
}

/* ---- streams ---- */

/* Normal is the driver's default, 0, which is also the lowest there is on all GPUs so far. */
static mare_status make_stream(int priority, struct CUstream_st **out) {
    int least = 0, greatest = 0;
    MR_TRY(mr_cuda_check(mr_cu.cuCtxGetStreamPriorityRange(&least, &greatest),
                         "cuCtxGetStreamPriorityRange"));
    int level = priority > 0 ? greatest : priority < 0 ? least : 0;
    return mr_cuda_check(mr_cu.cuStreamCreateWithPriority(out, MR_CU_STREAM_NON_BLOCKING, level),
                         "cuStreamCreateWithPriority(%d)", level);
}

static mare_status stream_create(mr_native device, int priority, mr_native *out) {
    bool pushed;
    struct CUstream_st *stream = NULL;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = make_stream(priority, &stream);
    mr_cuda_leave(pushed);
    if (status == MARE_OK) out->ptr = stream;
    return status;
}

/* The driver keeps a destroyed stream until the work queued on it is done. */
static void stream_destroy(mr_native device, mr_native stream) {
    bool pushed;
    if (!mr_cuda_enter_release(device, &pushed)) return;
    (void)mr_cu.cuStreamDestroy_v2(stream.ptr);
    mr_cuda_leave(pushed);
}

static mare_status stream_wait(mr_native device, mr_native stream) {
    bool pushed;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = mr_cuda_check(mr_cu.cuStreamSynchronize(stream.ptr),
                                       "cuStreamSynchronize");
    mr_cuda_leave(pushed);
    return status;
}

/* On Linux the driver submits at once. */
static mare_status stream_flush(mr_native device, mr_native stream) {
    (void)device;
    (void)stream;
    return MARE_OK;
}

static mare_status stream_wait_event(mr_native device, mr_native stream, mr_native event) {
    bool pushed;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = mr_cuda_check(mr_cu.cuStreamWaitEvent(stream.ptr, event.ptr, 0),
                                       "cuStreamWaitEvent");
    mr_cuda_leave(pushed);
    return status;
}

/* ---- events ---- */

static mare_status make_event(mr_native device, unsigned flags, mr_native *out) {
    bool pushed;
    struct CUevent_st *event = NULL;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = mr_cuda_check(mr_cu.cuEventCreate(&event, flags), "cuEventCreate");
    mr_cuda_leave(pushed);
    if (status == MARE_OK) out->ptr = event;
    return status;
}

static mare_status event_create(mr_native device, mr_native *out) {
    return make_event(device, MR_CU_EVENT_DEFAULT, out);
}

/* The driver takes 0.13 us to record one, 0.89 us for one with a time (seen with a Hopper GPU). */
static mare_status mark_create(mr_native device, mr_native *out) {
    return make_event(device, MR_CU_EVENT_DISABLE_TIMING, out);
}

static void event_destroy(mr_native device, mr_native event) {
    bool pushed;
    if (!mr_cuda_enter_release(device, &pushed)) return;
    (void)mr_cu.cuEventDestroy_v2(event.ptr);
    mr_cuda_leave(pushed);
}

static mare_status event_record(mr_native device, mr_native event, mr_native stream) {
    bool pushed;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = mr_cuda_check(mr_cu.cuEventRecord(event.ptr, stream.ptr),
                                       "cuEventRecord");
    mr_cuda_leave(pushed);
    return status;
}

static mare_status event_wait(mr_native device, mr_native event) {
    bool pushed;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = mr_cuda_check(mr_cu.cuEventSynchronize(event.ptr), "cuEventSynchronize");
    mr_cuda_leave(pushed);
    return status;
}

static mare_status event_query(mr_native device, mr_native event, int *done) {
    bool pushed;
    MR_TRY(mr_cuda_enter(device, &pushed));
    unsigned code = mr_cu.cuEventQuery(event.ptr);
    bool busy = code == MR_CUDA_ERROR_NOT_READY;
    mare_status status = busy ? MARE_OK : mr_cuda_check(code, "cuEventQuery");
    mr_cuda_leave(pushed);
    if (status == MARE_OK) *done = !busy;
    return status;
}

static mare_status event_elapsed_ms(mr_native device, mr_native start, mr_native stop,
                                    double *out) {
    bool pushed;
    float ms = 0;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = mr_cuda_check(mr_cu.cuEventElapsedTime(&ms, start.ptr, stop.ptr),
                                       "cuEventElapsedTime");
    mr_cuda_leave(pushed);
    if (status == MARE_OK) *out = ms;
    return status;
}

const mr_backend mr_backend_cuda = {
    .name = "cuda",
    .prelude = mr_prelude_cuda,
    .language = MARE_LANGUAGE_CUDA,
    .runs_kernels = true,
    .has_compiler = true,
    .maps_host = true,
    .splits_memory = true,
    .runs_together = true,
    .orders_devices = true,
    .probe = probe,
    .device_info = device_info,
    .device_open = mr_cuda_device_open,
    .device_close = mr_cuda_device_close,
    .device_memory = device_memory,
    .device_wait = device_wait,
    .buffer_alloc = mr_cuda_buffer_alloc,
    .buffer_free = mr_cuda_buffer_free,
    .host_alloc = mr_cuda_host_alloc,
    .host_free = mr_cuda_host_free,
    .managed_alloc = mr_cuda_managed_alloc,
    .write = mr_cuda_write,
    .read = mr_cuda_read,
    .read_row = mr_cuda_read_row,
    .copy = mr_cuda_copy,
    .fill = mr_cuda_fill,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_wait = stream_wait,
    .stream_flush = stream_flush,
    .stream_wait_event = stream_wait_event,
    .event_create = event_create,
    .mark_create = mark_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_wait = event_wait,
    .event_query = event_query,
    .event_elapsed_ms = event_elapsed_ms,
    .program_build = mr_cuda_program_build,
    .program_load = mr_cuda_program_load,
    .program_unload = mr_cuda_program_unload,
    .program_check = mr_cuda_program_check,
    .program_code = mr_cuda_program_code,
    .program_take = mr_cuda_program_take,
    .program_variable = mr_cuda_program_variable,
    .kernel_fill = mr_cuda_kernel_fill,
    .program_key = mr_cuda_program_key,
    .kernel_get = mr_cuda_kernel_get,
    .kernel_release = mr_cuda_kernel_release,
    .kernel_info = mr_cuda_kernel_info,
    .most_groups = 65535,
    .launch_create = mr_cuda_launch_create,
    .launch_destroy = mr_cuda_launch_destroy,
    .launch_run = mr_cuda_launch_run,
    .call_run = mr_cuda_call_run,
    .device_adopt = mr_cuda_device_adopt,
    .stream_adopt = mr_cuda_stream_adopt,
    .stream_disown = mr_cuda_stream_disown,
    .buffer_adopt = mr_cuda_buffer_adopt,
    .buffer_disown = mr_cuda_buffer_disown,
    .device_native = mr_cuda_device_native,
    .stream_native = mr_cuda_stream_native,
    .buffer_native = mr_cuda_buffer_native,
    .plan_build = mr_cuda_plan_build,
    .plan_run = mr_cuda_plan_run,
    .plan_destroy = mr_cuda_plan_destroy,
    .peer_can_reach = mr_cuda_peer_can_reach,
    .peer_reach = mr_cuda_peer_reach,
    .peer_copy = mr_cuda_peer_copy,
    .share_make = mr_cuda_share_make,
    .share_open = mr_cuda_share_open,
    .share_close = mr_cuda_share_close,
    .thread_claim = mr_cuda_thread_claim,
};
