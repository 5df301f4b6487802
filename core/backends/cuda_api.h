/* cuda_api.h - the CUDA Driver API as Mare declares it, and what the files of this back end share.
 *
 * Struct tags are the vendor's own: a declaration here and one of cuda.h are compatible types.
 */
#ifndef MARE_CUDA_API_H
#define MARE_CUDA_API_H

#include "../backend.h"

#include <pthread.h>

struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUarray_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;
struct CUkern_st;
struct CUuuid_st { char bytes[16]; };

struct CUDA_MEMCPY3D_st {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    unsigned srcMemoryType;
    const void *srcHost;
    unsigned long long srcDevice;
    struct CUarray_st *srcArray;
    void *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    unsigned dstMemoryType;
    void *dstHost;
    unsigned long long dstDevice;
    struct CUarray_st *dstArray;
    void *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
};

struct CUDA_KERNEL_NODE_PARAMS_v2_st {
    struct CUfunc_st *func;
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    void **kernelParams;
    void **extra;
    struct CUkern_st *kern;
    struct CUctx_st *ctx;
};

struct CUipcMemHandle_st { char reserved[64]; };

/* The vendor's value is a union of 64 bytes, whose kinds that Mare uses are ints. */
struct CUlaunchAttribute_st { unsigned id; char pad[4]; int value; char rest[60]; };

struct CUlaunchConfig_st {
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    struct CUstream_st *hStream;
    struct CUlaunchAttribute_st *attrs;
    unsigned numAttrs;
};

enum {
#define MR_CUDA_CONSTANT(name, value) MR_##name = value,
#include "cuda_syms.def"
};

struct mr_cuda_calls {
#define MR_CUDA_CALL(required, symbol, arguments) unsigned(*symbol) arguments;
#include "cuda_syms.def"
};
extern MR_LINE struct mr_cuda_calls mr_cu;

struct mr_cuda_device {
    int id;                         /* the driver's CUdevice */
    int driver;                     /* 13000 for CUDA 13.0 */
    int warp_size;
    int unit_items;                 /* threads that a multiprocessor holds at once */
    size_t max_pitch;               /* bytes between rows that a strided copy can do */
    char arch[16];                  /* "sm_90" */
    struct CUctx_st *context;       /* of the next, which lasts as long as this */
    struct mr_cuda_context *holder;
    pthread_mutex_t landing_lock;
    void *landing;                  /* pinned memory for small results; NULL: none yet */
};

/* ---- cuda.c ---- */

/* MARE_OK for CUDA_SUCCESS; else the one place where a driver code becomes a status and a message,
 * "call: NAME (number): text". */
mare_status mr_cuda_check(unsigned code, const char *call, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- cuda_context.c ---- */

/* Sets context and holder for the device's id. */
mare_status mr_cuda_context_open(struct mr_cuda_device *device);
void mr_cuda_context_close(const struct mr_cuda_device *device, bool is_lost);
/* A call that needs the device's context was refused, and has done no harm, because another one is
 * current or none. Nearly always the right one is: what is called often asks afterwards. */
static inline bool mr_cuda_is_elsewhere(unsigned code) {
    return code == MR_CUDA_ERROR_INVALID_CONTEXT || code == MR_CUDA_ERROR_INVALID_HANDLE;
}
/* Makes the device's context current; `pushed` goes to mr_cuda_leave, which undoes it. */
mare_status mr_cuda_enter(mr_native device, bool *pushed);
/* A pop of what was pushed cannot fail while the driver lives. */
static inline void mr_cuda_leave(bool pushed) {
    struct CUctx_st *popped;
    if (pushed) (void)mr_cu.cuCtxPopCurrent_v2(&popped);
}
/* For releases, which report nothing; the second waits until the device is idle. False: no context,
 * release nothing. */
bool mr_cuda_enter_release(mr_native device, bool *pushed);
bool mr_cuda_enter_idle(mr_native device, bool *pushed);
void mr_cuda_thread_claim(bool claimed);
/* Contexts that reach the memory of others are waited for, too, where memory is given back. */
void mr_cuda_context_reaches(const struct mr_cuda_device *device);
void mr_cuda_wait_for_peers(void);

/* ---- cuda.c ---- */
mare_status mr_cuda_device_open(int index, mr_native *out);
void mr_cuda_device_close(mr_native device, bool is_lost);
/* Gives back the memory for small results. */
void mr_cuda_landing_free(const struct mr_cuda_device *device);

/* ---- cuda_foreign.c ---- */
mare_status mr_cuda_device_adopt(int index, void *context, mr_native *out);
mare_status mr_cuda_stream_adopt(mr_native device, void *queue, mr_native *out);
void mr_cuda_stream_disown(mr_native device, mr_native stream);
mare_status mr_cuda_buffer_adopt(mr_native device, uint64_t memory, uint64_t size,
                                 mr_native *out);
void mr_cuda_buffer_disown(mr_native device, mr_native buffer);
void *mr_cuda_device_native(mr_native device);
void *mr_cuda_stream_native(mr_native stream);
uint64_t mr_cuda_buffer_native(mr_native buffer);
mare_status mr_cuda_call_run(mr_native device, mr_native stream, mare_call_function function,
                             void *data);

/* ---- cuda_peer.c ---- */
mare_status mr_cuda_peer_can_reach(mr_native device, mr_native peer, int *can);
mare_status mr_cuda_peer_reach(mr_native device, mr_native peer);
mare_status mr_cuda_peer_copy(mr_native device, mr_native stream, mr_native dst_device,
                              mr_native dst, mr_native src_device, mr_native src,
                              const mare_region *r);
mare_status mr_cuda_share_make(mr_native device, mr_native buffer, unsigned char name[64]);
mare_status mr_cuda_share_open(mr_native device, const unsigned char name[64], mr_native *out);
void mr_cuda_share_close(mr_native device, mr_native buffer);

/* ---- cuda_memory.c ---- */
mare_status mr_cuda_buffer_alloc(mr_native device, uint64_t size, mr_native *out);
void mr_cuda_buffer_free(mr_native device, mr_native buffer);
mare_status mr_cuda_host_alloc(mr_native device, uint64_t size, mr_native *out, void **data);
void mr_cuda_host_free(mr_native device, mr_native host);
mare_status mr_cuda_managed_alloc(mr_native device, uint64_t size, mr_native *out, void **data);
mare_status mr_cuda_write(mr_native device, mr_native stream, mr_native dst, const void *src,
                          const mare_region *r, int blocking);
mare_status mr_cuda_read(mr_native device, mr_native stream, void *dst, mr_native src,
                         const mare_region *r, int blocking);
mare_status mr_cuda_read_row(mr_native device, mr_native stream, void *dst, mr_native src,
                             uint64_t offset, uint64_t size);
mare_status mr_cuda_copy(mr_native device, mr_native stream, mr_native dst, mr_native src,
                         const mare_region *r);
mare_status mr_cuda_fill(mr_native device, mr_native stream, mr_native dst, uint64_t offset,
                         uint64_t size, const void *pattern, uint32_t pattern_size);

/* ---- cuda_program.c ---- */
mare_status mr_cuda_program_build(mr_native device, const mr_source *source, mr_blob *binary,
                                  mr_native *loaded, mr_blob *log);
mare_status mr_cuda_program_check(const char *arch, const mr_source *source, mr_blob *binary,
                                  mr_blob *log);
mare_status mr_cuda_program_code(mr_native device, mr_native program, const mr_source *source,
                                 const char *form, mr_blob *out);
mare_status mr_cuda_program_take(mr_native device, const mr_blob *code, mr_native *out);
mare_status mr_cuda_program_variable(mr_native device, mr_native program, const char *name,
                                     uint64_t *memory, uint64_t *size);
mare_status mr_cuda_program_load(mr_native device, const mr_blob *binary, mr_native *out);
void mr_cuda_program_unload(mr_native device, mr_native program);
mare_status mr_cuda_program_key(mr_native device, uint32_t language, char *out, size_t size);
mare_status mr_cuda_kernel_get(mr_native device, mr_native program, const char *name,
                               mr_native *out);
void mr_cuda_kernel_release(mr_native device, mr_native kernel);
mare_status mr_cuda_kernel_info(mr_native device, mr_native kernel, mare_kernel_info *out);
mare_status mr_cuda_kernel_fill(mr_native device, mr_native kernel, uint32_t items,
                                uint64_t local_bytes, uint32_t *groups, uint32_t *most_items);
/* A native launch: what cuLaunchKernel wants beside shapes. values[i] points to argument i. */
struct mr_cuda_launch { struct CUfunc_st *function; void *values[]; };
mare_status mr_cuda_launch_create(mr_native device, const mr_dispatch *launch, mr_native *out);
void mr_cuda_launch_destroy(mr_native device, mr_native launch);
mare_status mr_cuda_launch_run(mr_native device, mr_native stream, const mr_dispatch *launch);

/* ---- cuda_plan.c ---- */
mare_status mr_cuda_plan_build(mr_native device, const mare_plan *plan, mr_native *out);
mare_status mr_cuda_plan_run(mr_native device, mr_native stream, mr_native plan, uint32_t repeat);
void mr_cuda_plan_destroy(mr_native device, mr_native plan);

#endif
