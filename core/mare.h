/* mare.h - the compute API of Mare: devices, buffers, streams, events, programs, kernels and
 * launches over CUDA (Driver API + NVRTC), OpenCL, processors with programs compiled ahead, and a
 * host-only null back end.
 *
 * How to use it, in order
 *   mare_device_open("auto", &device);
 *   mare_buffer_create(device, &(mare_buffer_desc){ .size = bytes }, &x);
 *   mare_buffer_upload(x, 0, host, bytes, NULL);
 *   mare_program_create(device, &(mare_program_desc){ .source = text, .name = "f" }, &program);
 *   mare_kernel_create(program, "scale", &kernel), mare_launch_create(kernel, &launch);
 *   mare_launch_set_buffer(launch, 0, x), mare_launch_set_real(launch, 1, 2.0);
 *   mare_launch_set_shape(launch, (uint32_t[3]){ n, 1, 1 }, NULL);
 *   mare_launch_run(launch, NULL), mare_buffer_download(x, 0, host, bytes, NULL);
 *
 * Conventions
 *   Status   A function that can fail returns mare_status; MARE_OK is 0. Its result comes last,
 *            as **out, which is NULL after a failure. mare_error_message() tells what failed:
 *            the call, the object's label, the value, what is allowed. A failed call leaves
 *            every object as it was. Nothing prints, exits or aborts.
 *   Desc     A zero-initialised descriptor means sensible defaults; only fields marked
 *            "required" must be set. `reserved` must be 0: later versions find room there, so
 *            that programs built with an older header go on running, and a library that does
 *            not know of a field refuses to pass over it.
 *   Owner    Who creates (or retains) an object releases it. Children retain their parents: a
 *            buffer keeps its device alive, a launch its kernel and its buffers. Releasing NULL
 *            is fine. Strings and descriptors are copied or used only during the call.
 *   Order    Work on one stream happens in order; different streams are ordered by events only.
 *            A NULL stream means the device's default stream, which is a stream like any other.
 *            Freed memory outlives the work queued on it.
 *   Threads  Any thread may use any handle, and several one at once: two may queue on one stream,
 *            record, ask and wait for one event. But a launch, a plan, and a stream that records
 *            one belong to one thread at a time. The error message is that of the calling thread.
 *   Process  Signals stay the program's; only PoCL takes SIGFPE, for kernels that divide by zero.
 *            Drivers do not outlive a fork: children of a process that has asked for devices, as by
 *            counting them, have none but null; handles of others are MARE_ERROR_LOST there.
 *   Units    Sizes and offsets are bytes, counts are elements, times (_ms) milliseconds.
 *
 * The part between the cdef markers holds no macros and no conditionals: LuaJIT's FFI reads it
 * as it is.
 */
#ifndef MARE_H
#define MARE_H

#include <stddef.h>
#include <stdint.h>

#define MARE_VERSION "0.1.0"
#define MARE_VERSION_NUMBER 100     /* 10000 a + 100 b + c of version a.b.c, for #if */

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* cdef:begin */

/* ---- versions and errors ---- */

/* Changes with every incompatible change of this header; a macro, too. It is the number of the
 * shared library, libmare.so.7, so that programs never run with one that they do not fit. */
enum { MARE_API_VERSION = 7 };

typedef enum mare_status {
    MARE_OK = 0,
    MARE_ERROR_ARGUMENT,            /* the caller passed something that is not allowed */
    MARE_ERROR_MEMORY,              /* host or device memory is exhausted */
    MARE_ERROR_UNAVAILABLE,         /* a back end, device, library or feature is not there */
    MARE_ERROR_BUILD,               /* a program did not compile or link */
    MARE_ERROR_DEVICE,              /* a vendor call failed */
    MARE_ERROR_LOST,                /* the device faulted; its objects can only be released */
    MARE_ERROR_IO,                  /* a file could not be read or written */
    MARE_ERROR_SCRIPT,              /* a Lua script raised an error of its own */
    MARE_ERROR_STATE,               /* a simulation has come to an invalid state */
    MARE_ERROR_INTERRUPTED          /* somebody asked for it to end */
} mare_status;

/* MARE_API_VERSION of the library that was loaded */
int mare_api_version(void);
const char *mare_version(void);                 /* "0.1.0" */
/* The commit that the library was built from, "868805e64c1f", with "-dirty" behind it if files
 * had been edited, or "unknown". For people and records: nothing depends on it. */
const char *mare_commit(void);
const char *mare_status_name(mare_status status);   /* "MARE_ERROR_ARGUMENT" */
/* this thread's last failure, valid until its next mare_ call; "" if none */
const char *mare_error_message(void);
/* Sets that message, for libraries and functions of a program that fail in the manner of this
 * library. Returns `status`. */
mare_status mare_error_set(mare_status status, const char *message);

/* ---- element types ---- */

typedef enum mare_type {
    MARE_TYPE_NONE = 0,             /* untyped bytes */
    MARE_TYPE_INT8, MARE_TYPE_UINT8, MARE_TYPE_INT16, MARE_TYPE_UINT16,
    MARE_TYPE_INT32, MARE_TYPE_UINT32, MARE_TYPE_INT64, MARE_TYPE_UINT64,
    MARE_TYPE_FLOAT, MARE_TYPE_DOUBLE,
    /* The rest is for buffers: by value kernels take a float, an int and two reals instead. */
    MARE_TYPE_HALF,                 /* IEEE binary16, in memory only: kernels compute in float */
    MARE_TYPE_BOOL,                 /* a byte, 0 or 1 */
    /* real part, then imaginary part, aligned to both together */
    MARE_TYPE_COMPLEX_FLOAT, MARE_TYPE_COMPLEX_DOUBLE
} mare_type;

typedef struct mare_half { uint16_t bits; } mare_half;

const char *mare_type_name(mare_type type);     /* "float"; "bytes" for MARE_TYPE_NONE */
size_t mare_type_size(mare_type type);          /* bytes of one element; 1 for MARE_TYPE_NONE */
/* The nearest half, to even where two are as near; too large a number gives an infinity. */
mare_half mare_half_of(float value);
float mare_half_value(mare_half half);          /* exact */

/* ---- back ends ---- */

typedef struct mare_backend_info {
    char name[16];                  /* "cuda", "opencl", "cpu", "null" */
    /* 1 when its library is loaded and at least one device answered */
    int32_t available;
    int32_t device_count;
    char library[256];              /* what was loaded, or "" */
    char version[128];              /* of the driver and the compiler, in the vendor's words */
    char reason[512];               /* when not available: why, and what would help */
} mare_backend_info;

int mare_backend_count(void);
/* loads the vendor's library; its absence is no error */
mare_status mare_backend_query(int index, mare_backend_info *out);

/* ---- devices ----
 * Named "cuda:0", "opencl:1", "null:0"; "cuda" means "cuda:0"; "auto" takes the first CUDA device,
 * else the first OpenCL GPU, else the first OpenCL device, else "cpu:0", the processor with the
 * programs of shipped scenarios compiled ahead, never null. A device asked for by name and
 * not there is MARE_ERROR_UNAVAILABLE, never replaced by another. Opening one twice gives two
 * independent handles. MARE_MEMORY_LIMIT (such as 1G) limits the buffers of each. After a fault of
 * the device every call on the handle answers MARE_ERROR_LOST with that fault; once everything on
 * it is released it can be opened again where the vendor allows it, else that is MARE_ERROR_LOST
 * too. The vendor's context of a device (on CUDA the primary one) stays from the first opening
 * until the process ends or the device is lost: opening again is cheap. */

typedef struct mare_device mare_device;
typedef struct mare_stream mare_stream;

typedef enum mare_device_kind {
    MARE_DEVICE_GPU = 1,
    MARE_DEVICE_CPU,
    MARE_DEVICE_OTHER
} mare_device_kind;

typedef struct mare_device_info {
    char name[32];                  /* "cuda:0" */
    char model[128];                /* "NVIDIA H200" */
    char vendor[64];
    char driver[128];               /* driver and API version */
    char arch[64];                  /* "sm_90"; OpenCL: the device's C version, as "OpenCL C 1.2" */
    char uuid[40];                  /* "" where the vendor gives none */
    uint32_t kind;                  /* mare_device_kind */
    uint32_t compute_units;
    uint32_t warp_size;             /* work-items that run in lockstep; 1 on a CPU */
    uint32_t max_group_size;        /* work-items of one group */
    uint32_t max_group[3];          /* along each dimension */
    uint32_t clock_mhz;             /* 0 if unknown */
    uint64_t memory;                /* bytes in all, or MARE_MEMORY_LIMIT */
    uint64_t max_buffer;            /* largest single buffer, bytes */
    uint64_t local_memory;          /* shared by one group, bytes */
    uint64_t max_local_memory;      /* with MR_LOCAL_LARGE, bytes; not less than local_memory */
    uint64_t view_alignment;        /* a view given to a kernel starts at a multiple of this */
    int32_t has_double;
    int32_t has_int64_atomics;
    int32_t has_scopes;             /* acquire, release, fences of the device and the system */
    int32_t has_programmatic;       /* mare_launch_set_programmatic */
    int32_t has_sharing;            /* mare_buffer_share */
    int32_t runs_kernels;           /* 0 on null: launches are checked and compute nothing */
    int32_t keeps_programs;         /* the vendor has a cache of its own: Mare's has none of them */
    int32_t has_compiler;           /* 0 on cpu: it takes programs of shipped scenarios */
    int32_t zero;
    uint64_t reserved[7];           /* 0 */
} mare_device_info;

int mare_device_count(const char *backend);     /* 0 if the back end is unknown or unavailable */
mare_status mare_device_open(const char *name, mare_device **out);
void mare_device_retain(mare_device *device);
void mare_device_release(mare_device *device);
mare_status mare_device_query(mare_device *device, mare_device_info *out);
/* Both are 0 where the vendor does not tell. */
mare_status mare_device_memory(mare_device *device, uint64_t *free, uint64_t *total);
/* CUDA has a current context on each thread, and every call of Mare's leaves it as it was. With 1
 * Mare may leave its own current on the calling thread, which saves a push and a pop in each call:
 * say so on threads where nobody else uses CUDA. 0 ends that, and no context of Mare's stays
 * current. */
void mare_thread_claim(int32_t claimed);
/* Returns when all streams of the device are idle. */
mare_status mare_device_wait(mare_device *device);
/* Bytes that this handle's buffers hold, and bytes of released ones that wait for the next buffer.
 * Reuse keeps the order: what uses the new buffer waits for the work queued on the old one. */
mare_status mare_device_pool(mare_device *device, uint64_t *in_use, uint64_t *idle);
/* Gives the idle bytes back to the vendor. When memory runs out this happens by itself, on all
 * handles of the device. */
mare_status mare_device_trim(mare_device *device);

/* ---- buffers: bytes on a device ---- */

typedef struct mare_buffer mare_buffer;

typedef struct mare_buffer_desc {
    uint64_t size;                  /* bytes, required, > 0 */
    uint32_t type;                  /* mare_type; when set, kernel arguments must point to it */
    uint32_t flags;                 /* must be 0 */
    const char *label;              /* shown in errors and reports */
    uint64_t reserved[4];
} mare_buffer_desc;

/* A box of rows. Byte (x, y, z) of the box is at offset + z * slice + y * pitch + x. pitch 0
 * means width, slice 0 means pitch * height; slice must be a multiple of pitch. */
typedef struct mare_region {
    uint64_t width;                 /* bytes of a row, required */
    uint64_t height;                /* rows, 0 means 1 */
    uint64_t depth;                 /* slices, 0 means 1 */
    uint64_t dst_offset, dst_pitch, dst_slice;
    uint64_t src_offset, src_pitch, src_slice;
} mare_region;

mare_status mare_buffer_create(mare_device *device, const mare_buffer_desc *desc,
                               mare_buffer **out);
/* A view of `size` bytes from `offset`; it shares memory with `parent` and keeps it alive. */
mare_status mare_buffer_view(mare_buffer *parent, uint64_t offset, uint64_t size,
                             mare_buffer **out);
void mare_buffer_retain(mare_buffer *buffer);
void mare_buffer_release(mare_buffer *buffer);
uint64_t mare_buffer_size(const mare_buffer *buffer);
uint32_t mare_buffer_type(const mare_buffer *buffer);
const char *mare_buffer_label(const mare_buffer *buffer);
mare_device *mare_buffer_device(const mare_buffer *buffer);         /* not retained */

/* Transfers. With a stream they are queued and return at once: host memory must stay valid (and,
 * for an upload, unchanged) until the stream has passed them, and they overlap with kernels only
 * from pinned memory. Without a stream an upload returns when `src` may be reused and a download
 * when `dst` holds the data. */
mare_status mare_buffer_upload(mare_buffer *buffer, uint64_t offset, const void *src,
                               uint64_t size, mare_stream *stream);
mare_status mare_buffer_download(mare_buffer *buffer, uint64_t offset, void *dst, uint64_t size,
                                 mare_stream *stream);
mare_status mare_buffer_upload_region(mare_buffer *dst, const void *src, const mare_region *region,
                                      mare_stream *stream);
mare_status mare_buffer_download_region(mare_buffer *src, void *dst, const mare_region *region,
                                        mare_stream *stream);
/* Device to device. Between two devices the device of the stream (without one, that of dst) copies
 * if it reaches the other (mare_device_reach), queued like any copy. If not, the copy goes through
 * pageable memory of the host, 32 MiB at a time, and has happened when the call returns; a stream
 * of either then orders its own side, and the other side uses its default stream. Overlapping
 * ranges of one buffer are refused. */
mare_status mare_buffer_copy(mare_buffer *dst, uint64_t dst_offset, mare_buffer *src,
                             uint64_t src_offset, uint64_t size, mare_stream *stream);
mare_status mare_buffer_copy_region(mare_buffer *dst, mare_buffer *src, const mare_region *region,
                                    mare_stream *stream);
/* Repeats a pattern of 1, 2, 4, 8 or 16 bytes; offset and size are multiples of it. */
mare_status mare_buffer_fill(mare_buffer *buffer, uint64_t offset, uint64_t size,
                             const void *pattern, uint32_t pattern_size, mare_stream *stream);

/* ---- memory of other devices and other processes ----
 * Between peers, as GPUs that a link joins, kernels and copies of one device reach the memory of
 * another as it lies. Two handles on one device, in one context, are peers too, and so are all null
 * devices. What orders the work of two devices is an event of the one that a stream of the other
 * waits for, or what kernels themselves agree on by words of the system's scope. */

/* Whether `device` can reach the memory of `peer`. That a link works as promised only a transfer
 * can tell. */
mare_status mare_device_can_reach(mare_device *device, mare_device *peer, int32_t *can);
/* From now on launches, calls and copies on `device` take buffers of `peer`; not the other way
 * round. At most 32 peers; MARE_ERROR_UNAVAILABLE where the devices are none. */
mare_status mare_device_reach(mare_device *device, mare_device *peer);

/* What another process needs to open a buffer, to be sent to it as bytes. */
typedef struct mare_share { unsigned char bytes[128]; } mare_share;

/* On CUDA under Linux; elsewhere MARE_ERROR_UNAVAILABLE (has_sharing). The memory must stay until
 * all others have released what they opened: the last to be released is this buffer. */
mare_status mare_buffer_share(mare_buffer *buffer, mare_share *out);
/* A buffer of `device`, in the memory of another process on the same device or on a peer; of the
 * size and type that it has there. Once at a time in a process. label may be NULL. */
mare_status mare_buffer_open(mare_device *device, const mare_share *share, const char *label,
                             mare_buffer **out);

/* ---- pinned host memory: what transfers overlap with ---- */

typedef struct mare_host mare_host;

mare_status mare_host_create(mare_device *device, uint64_t size, const char *label,
                             mare_host **out);
/* The same of pages that move to where they are used; MARE_ERROR_UNAVAILABLE where it has none. */
mare_status mare_host_create_managed(mare_device *device, uint64_t size, const char *label,
                                     mare_host **out);
void mare_host_retain(mare_host *host);
void mare_host_release(mare_host *host);
void *mare_host_data(mare_host *host);      /* begins with a page */
uint64_t mare_host_size(const mare_host *host);
/* All of it as a buffer, which keeps it: kernels use it where it is, and what they wrote is there
 * once they were waited for. MARE_ERROR_UNAVAILABLE on OpenCL, which allows no kernel that. */
mare_status mare_host_buffer(mare_host *host, uint32_t type, mare_buffer **out);

/* ---- streams and events ---- */

typedef struct mare_event mare_event;

typedef struct mare_stream_desc {
    int32_t priority;               /* 0 normal, 1 high, -1 low; a hint */
    const char *label;
    uint64_t reserved[4];
} mare_stream_desc;

/* `desc` may be NULL. */
mare_status mare_stream_create(mare_device *device, const mare_stream_desc *desc,
                               mare_stream **out);
void mare_stream_retain(mare_stream *stream);
void mare_stream_release(mare_stream *stream);          /* queued work still completes */
mare_status mare_stream_wait(mare_stream *stream);      /* the host waits until it is idle */
mare_status mare_stream_flush(mare_stream *stream);     /* makes sure that queued work starts */
/* Later work on stream waits for event. On OpenCL the host waits where that is another device's. */
mare_status mare_stream_wait_event(mare_stream *stream, mare_event *event);
mare_stream *mare_device_stream(mare_device *device);   /* the default stream; not retained */

mare_status mare_event_create(mare_device *device, mare_event **out);
void mare_event_retain(mare_event *event);
void mare_event_release(mare_event *event);
mare_status mare_event_record(mare_event *event, mare_stream *stream);
/* The host waits for it; an event that was never recorded is an error. */
mare_status mare_event_wait(mare_event *event);
mare_status mare_event_query(mare_event *event, int32_t *done);     /* without waiting */
/* The host waits for both. */
mare_status mare_event_elapsed_ms(mare_event *start, mare_event *stop, double *out);

/* ---- programs and kernels ---- */

typedef struct mare_program mare_program;
typedef struct mare_kernel mare_kernel;

typedef enum mare_language {
    /* the single-source dialect of kernels/README.md; its prelude is put in front */
    MARE_LANGUAGE_MARE = 0,
    MARE_LANGUAGE_CUDA,             /* plain CUDA C++, on CUDA devices */
    MARE_LANGUAGE_OPENCL            /* plain OpenCL C, on OpenCL devices */
} mare_language;

/* STRICT: IEEE division and square root, denormals kept. FAST: approximate division and square
 * root, denormals may be flushed. In both, a * b + c is fused only where the source says fma and
 * nothing is reassociated, so that the same expression gives the same bits wherever it stands; for
 * that FAST kernels divide and take roots by the words mr_rcp and mr_sqrt.
 * RELAXED: whatever the vendor calls fast maths. */
typedef enum mare_math { MARE_MATH_STRICT = 0, MARE_MATH_FAST, MARE_MATH_RELAXED } mare_math;

/* value NULL means 1 */
typedef struct mare_define { const char *name; const char *value; } mare_define;

typedef struct mare_program_desc {
    const char *source;             /* text, required */
    const char *name;               /* file name that compile errors show; "source" if NULL */
    uint32_t language;              /* mare_language */
    uint32_t math;                  /* mare_math */
    /* also name types of kernel arguments: MARE_REAL = double makes `real` a double. In the
     * dialect of any name but x, y, z */
    const mare_define *defines;
    uint64_t define_count;
    /* where #include "..." is searched, after the folder of the including file */
    const char *const *include_paths;
    uint64_t include_path_count;
    const char *options;            /* handed to the vendor's compiler as they are; no -D, -U */
    uint64_t reserved[4];
} mare_program_desc;

/* Compiles, or loads the binary from the on-disk cache, whose key is the text after inclusion, the
 * options, the device, the driver and Mare's version. A program for which the compiler reads more
 * files is not kept, but for headers of the CUDA toolkit. One in the dialect that somebody holds is
 * given again, retained, to those who ask with its key, unless it may have variables of its own. */
mare_status mare_program_create(mare_device *device, const mare_program_desc *desc,
                                mare_program **out);
/* The same on a thread of core: many programs are compiled side by side while the caller goes on:
 *   for (int i = 0; i < n; i++) mare_program_begin(device, &desc[i], &program[i]);
 *   for (int i = 0; i < n; i++) mare_kernel_create(program[i], name[i], &kernel[i]);
 * CUDA has as many threads as there are cores, OpenCL one: PoCL compiles one program at a time.
 * They end when nothing is left to compile. Descriptors, headers and memory fail here, the compiler
 * in mare_program_wait and in whatever wants the program: a kernel, its log. Those wait. A program
 * may be released at any time: one that has not been begun will not be, of another one the thread
 * lets go when it is done. */
mare_status mare_program_begin(mare_device *device, const mare_program_desc *desc,
                               mare_program **out);
/* Waits until the program is compiled, at most so many milliseconds (UINT64_MAX: to the end); it is
 * the next that a thread takes. *done is 0 when it was not yet. Fails as the compiler did, each
 * time. Any number of threads may wait for one program. */
mare_status mare_program_wait(mare_program *program, uint64_t timeout_ms, int32_t *done);
/* Programs that were begun and are not compiled, of the whole process. */
uint64_t mare_program_pending(void);
/* Returns when no thread compiles what has been released: before a library that may be unloaded, or
 * an allocator, is taken away. A program that ends waits for all threads by itself. */
void mare_program_settle(void);
void mare_program_retain(mare_program *program);
void mare_program_release(mare_program *program);
/* the compiler's warnings; "" if none or cached */
const char *mare_program_log(const mare_program *program);
/* 1 when it came from the on-disk cache */
int mare_program_cached(const mare_program *program);
/* The code that a compiler makes of a program. form: "binary", what the driver is given; on CUDA
 * also "cubin", which that is, and "ptx", for which the program is compiled once more; on NVIDIA's
 * OpenCL the binary is "ptx". PoCL crashes on a damaged binary: a checksum is in front of its own.
 * MARE_ERROR_UNAVAILABLE where there is no such form. *data is followed by a NUL and lives as long
 * as the program. */
mare_status mare_program_code(mare_program *program, const char *form, const void **data,
                              uint64_t *size);
/* A program from code that was compiled elsewhere: on CUDA PTX, a cubin or a fat binary; on OpenCL
 * SPIR-V, where the driver takes it, or a binary of the driver's own, of PoCL one that
 * mare_program_code gave. desc->source declares its kernels, so that arguments are checked as ever;
 * nothing is compiled of it, and options are refused. */
mare_status mare_program_load(mare_device *device, const mare_program_desc *desc, const void *code,
                              uint64_t size, mare_program **out);
/* A variable of a program as a buffer, which keeps the program: on CUDA one that is declared
 * extern "C" __device__ or __constant__; elsewhere MARE_ERROR_UNAVAILABLE. type: mare_type. */
mare_status mare_program_variable(mare_program *program, const char *name, uint32_t type,
                                  mare_buffer **out);
/* Compiles for a target without a device: "cuda:sm_90". Success or MARE_ERROR_BUILD; *size is
 * that of the binary. log, unless NULL, receives the compiler's warnings, cut to log_size bytes. */
mare_status mare_program_check(const char *target, const mare_program_desc *desc, uint64_t *size,
                               char *log, uint64_t log_size);

typedef struct mare_kernel_info {
    char name[128];
    uint32_t arg_count;
    uint32_t max_group_size;
    uint32_t registers;             /* of a work-item; 0 if the vendor does not tell */
    uint32_t warp_size;
    uint64_t local_memory;          /* of a group, bytes */
    uint64_t private_memory;        /* of a work-item: stack and spills, bytes */
    /* resident groups of max_group_size on a compute unit; 0 if the vendor does not tell */
    uint32_t groups_per_unit;
} mare_kernel_info;

typedef struct mare_arg_info {
    char name[64];
    /* of the scalar, or of what the pointer points to; NONE for void and structs */
    uint32_t type;
    uint32_t is_buffer;             /* 1: a pointer to global memory */
    uint32_t is_const;              /* 1: a pointer to const */
    uint32_t field_count;           /* of a parameter block, a struct by value; else 0 */
    uint64_t size;                  /* of a value, bytes; 0 of a buffer */
} mare_arg_info;

/* A field of a parameter block. The struct is declared in the source of the kernel and holds
 * scalars of the types that arguments may have, arrays of one dimension of them and the vendors'
 * vectors of two and four (int2); it lies in memory as in C. */
typedef struct mare_field_info {
    char name[64];
    uint32_t type;                  /* of an element */
    uint32_t count;                 /* elements: 1, or those of an array or a vector */
    uint64_t offset;                /* from the start of the block, bytes */
} mare_field_info;

/* name: of MARE_LANGUAGE_CUDA also an instance of a template, "scale<float, 4>", with each argument
 * of it. That is compiled by itself, as a program of its own with variables of its own. */
mare_status mare_kernel_create(mare_program *program, const char *name, mare_kernel **out);
void mare_kernel_retain(mare_kernel *kernel);
void mare_kernel_release(mare_kernel *kernel);
mare_status mare_kernel_query(mare_kernel *kernel, mare_kernel_info *out);
mare_status mare_kernel_arg(mare_kernel *kernel, uint32_t index, mare_arg_info *out);
/* Fields count from 0 in each block. */
mare_status mare_kernel_field(mare_kernel *kernel, uint32_t index, uint32_t field,
                              mare_field_info *out);

/* ---- launches: a kernel with its arguments and shape, prepared once and run often ---- */

typedef struct mare_launch mare_launch;

mare_status mare_launch_create(mare_kernel *kernel, mare_launch **out);
void mare_launch_retain(mare_launch *launch);
void mare_launch_release(mare_launch *launch);
/* Arguments count from 0. An integer outside the range of its type, a fraction for an integer, a
 * buffer of another type or device are refused. */
mare_status mare_launch_set_buffer(mare_launch *launch, uint32_t index, mare_buffer *buffer);
mare_status mare_launch_set_int(mare_launch *launch, uint32_t index, int64_t value);
mare_status mare_launch_set_real(mare_launch *launch, uint32_t index, double value);
mare_status mare_launch_set_scalar(mare_launch *launch, uint32_t index, uint32_t type,
                                   const void *value);
/* The address of a scalar, to be written in place; NULL if the argument is something else. */
void *mare_launch_scalar(mare_launch *launch, uint32_t index);
/* A parameter block as a whole: a struct that is declared as the kernel's is, of the same size. */
mare_status mare_launch_set_block(mare_launch *launch, uint32_t index, const void *value,
                                  uint64_t size);
/* One field of it, checked as an argument is. element: of an array, 0 of a scalar; elements that
 * are not set are 0. */
mare_status mare_launch_set_field_int(mare_launch *launch, uint32_t index, uint32_t field,
                                      uint32_t element, int64_t value);
mare_status mare_launch_set_field_real(mare_launch *launch, uint32_t index, uint32_t field,
                                       uint32_t element, double value);
/* The address of a field, to be written in place, or NULL. */
void *mare_launch_field(mare_launch *launch, uint32_t index, uint32_t field);
/* global: work-items along x, y, z, rounded up to whole groups (kernels guard their bounds).
 * group NULL: the one that the source fixes by MR_GROUP_SIZE or reqd_work_group_size with
 * integers, names defined so, + - * / and brackets, else chosen by Mare. A fixed group allows no
 * other. Rounded up, an axis of a MARE_LANGUAGE_MARE kernel has at most 2^31 - 1 work-items: its
 * indices are ints. On CUDA there are at most 65535 groups along y, and along z. */
mare_status mare_launch_set_shape(mare_launch *launch, const uint32_t global[3],
                                  const uint32_t group[3]);
/* The bytes that a run reads and writes, for the profile; 0: unknown. */
mare_status mare_launch_set_bytes(mare_launch *launch, uint64_t bytes);
/* All groups run at the same time, so that they may wait for one another: to be said before the
 * launch is recorded. More than there is room for fail to run; MARE_ERROR_UNAVAILABLE where the
 * vendor promises no such thing, as in OpenCL. */
mare_status mare_launch_set_together(mare_launch *launch, int32_t together);
/* The launch may begin before the one queued before it on the stream has ended, namely when all its
 * groups have said mr_start_dependents() or ended; mr_wait_for_previous() waits for the rest of it.
 * To be said before the launch is recorded. MARE_ERROR_UNAVAILABLE where the device has no such
 * thing (has_programmatic): there a launch begins when the one before it has ended. */
mare_status mare_launch_set_programmatic(mare_launch *launch, int32_t programmatic);
mare_status mare_launch_run(mare_launch *launch, mare_stream *stream);

/* ---- calls: the work of somebody else's library on a stream ----
 * A call is a function of the program that queues work of a library (a matrix product, a transform,
 * a message) on the native queue of a stream: a CUstream, a cl_command_queue, NULL on null, where
 * it does its work at once. That work then has its place in the order of the stream, in plans and
 * in the profile, as a launch has.
 *
 * The function runs on the thread that runs the call, on CUDA with the device's context current,
 * which it leaves current. It only queues: nothing on `queue` is waited for. Of Mare it calls no
 * more than mare_buffer_native and mare_error_set; a status other than MARE_OK becomes that of
 * mare_call_run, with the message that it has set. Replaying a plan calls it each time, but on
 * CUDA, where the first run of the plan captures what it queues: what it hands to the library must
 * stay the same for as long as a plan holds the call. */

typedef struct mare_call mare_call;
typedef mare_status (*mare_call_function)(void *data, void *queue);

typedef struct mare_call_desc {
    const char *label;              /* its name in errors and in the profile, required */
    mare_call_function function;    /* required */
    void *data;                     /* handed to the function */
    /* Called once with `data` when no handle and no plan holds the call any more; what the
     * function has queued may still be running. NULL: nothing is to be done then. */
    void (*finish)(void *data);
    /* What the work reads and writes: kept alive as long as the call, and ordered like the buffers
     * of a launch. */
    mare_buffer *const *buffers;
    uint64_t buffer_count;
    uint64_t bytes;                 /* that the work moves, for the profile; 0: unknown */
    uint64_t reserved[4];
} mare_call_desc;

mare_status mare_call_create(mare_device *device, const mare_call_desc *desc, mare_call **out);
void mare_call_retain(mare_call *call);
void mare_call_release(mare_call *call);
mare_status mare_call_run(mare_call *call, mare_stream *stream);

enum { MARE_STEP_WORDS = 24 };

/* One call of a function of a library: what takes whole numbers, pointers and at most two reals,
 * and returns an int, 0 where all is well. */
typedef struct mare_step {
    const char *name;               /* for messages */
    void *function;
    uint64_t words[MARE_STEP_WORDS];/* its whole numbers and pointers, in their order */
    uint64_t reals[2];              /* the bits of its floats or doubles, in their order */
    int32_t queue_at;               /* the word that becomes the native queue; -1: none */
    int32_t by_address;             /* 1: it becomes the address of the queue instead */
} mare_step;

typedef struct mare_steps {
    const mare_step *steps;
    uint64_t count;
} mare_steps;

/* A mare_call_function that calls the functions of a mare_steps one after the other and ends at the
 * first that does not return 0, as MARE_ERROR_DEVICE. So a program that writes no C, such as one in
 * Lua, queues a library whose functions take other arguments than (data, queue). */
mare_status mare_call_steps(void *steps, void *queue);

/* ---- plans: work recorded once and replayed with one call ----
 * From mare_plan_begin to mare_plan_end what is queued on `stream` is recorded instead of run:
 * launches, calls, copies, fills, transfers, event records and waits, plans. A plan holds the
 * launches, buffers and events themselves, so a replay uses the arguments and shapes its launches
 * have at that time: write a scalar or set another buffer, and the next replay follows. The memory
 * of transfers must stay valid as long as the plan, and must be pinned. What makes the host wait is
 * refused. A recording, too, keeps what it has recorded, and thereby the device, until it is ended
 * or its stream goes. On CUDA a plan is a graph, instantiated by its first run. */

typedef struct mare_plan mare_plan;

mare_status mare_plan_begin(mare_stream *stream);
/* From now on the recording of `stream` takes what is queued on `other`, too, a stream of the same
 * device or of another device of its back end: a branch of the plan, up to 64. In a replay branches
 * begin with the plan and run beside it, ordered by the events that are recorded and waited for
 * within the recording, and the plan has ended when all have. Streams of branches record nothing
 * while the plan runs; what else is queued on them is ordered by events. Such a plan is no part of
 * another. On CUDA all branches are one graph, over several devices too. */
mare_status mare_plan_join(mare_stream *stream, mare_stream *other);
/* out NULL throws the recording away; label may be NULL */
mare_status mare_plan_end(mare_stream *stream, const char *label, mare_plan **out);
void mare_plan_retain(mare_plan *plan);
void mare_plan_release(mare_plan *plan);
/* Queues the whole `repeat` times; on a recording stream the plan becomes part of the recording,
 * where plans lie at most 64 deep in each other. With 0 it queues nothing, but does what a first
 * run has to do before: on CUDA that makes the graph; and what the stream gets from now on waits
 * for former uses of the memory that the plan works on, on other devices too. */
mare_status mare_plan_run(mare_plan *plan, uint32_t repeat, mare_stream *stream);

/* ---- the on-disk cache of compiled programs ----
 * In $MARE_CACHE, else $XDG_CACHE_HOME/mare, else ~/.cache/mare; MARE_CACHE=off switches it off. A
 * cache that cannot be read or written costs time, never a failure. Of processes that want the same
 * program at once, one compiles and the others wait for it. Programs of PoCL are in PoCL's own
 * cache instead (keeps_programs; POCL_CACHE_DIR), unless that is off (POCL_KERNEL_CACHE=0): for
 * Mare's all would be compiled once more. PoCL compiles when a kernel is first launched: with
 * MARE_TURNS=1, for processes of one run, that launch waits, and one of them compiles for all.
 * What was longest unused goes when the folder exceeds $MARE_CACHE_SIZE (such as 512M, the
 * default). Entries of another user than root, or that others may write, are not used: see logs. */

typedef struct mare_cache_info {
    char file[72];
    char program[128], device[128]; /* name given at creation */
    uint64_t size;                  /* bytes on disk */
    int64_t used;                   /* for the last time, seconds since 1970 */
} mare_cache_info;

const char *mare_cache_path(void);                                  /* "" when switched off */
mare_status mare_cache_count(uint64_t *out);    /* lists what is there, for this thread's queries */
mare_status mare_cache_query(uint64_t index, mare_cache_info *out); /* last used first */
mare_status mare_cache_clear(uint64_t *removed);
/* Keeps a text there, under all that it depends on; then what is under a key, until this thread's
 * next call, or NULL. name: for mare_cache_query; the device is "text". */
mare_status mare_cache_keep(const char *key, const char *name, const char *text);
const char *mare_cache_find(const char *key);

/* ---- logs ----
 * Core writes nothing. What it has to say beside errors waits for the program to take it, the last
 * 128 lines of it. MARE_LOG=off|error|warn|info|debug tells what is kept, warn if it is not set. */

typedef enum mare_log_level {
    MARE_LOG_OFF = 0,
    MARE_LOG_ERROR,                 /* a device was lost */
    MARE_LOG_WARN,                  /* something works, but not as it should */
    MARE_LOG_INFO,
    MARE_LOG_DEBUG
} mare_log_level;

void mare_log_set(uint32_t level);
/* Takes the oldest line, cut to `size` bytes with its NUL; 0 when there is none. */
int mare_log_next(uint32_t *level, char *text, uint64_t size);
/* Takes a line, which is valid until it returns. Lines come from any thread, one at a time, from
 * within calls of Mare: the function may call nothing of Mare's. */
typedef void mare_log_function(void *context, uint32_t level, const char *text);
/* From now on lines of core go to this function and none waits any more; NULL: they wait again.
 * When it has returned, the function before is not called any more. */
void mare_log_listen(mare_log_function *function, void *context);

/* ---- profile: what ran when ----
 * Between begin and end every launch, call, transfer, copy and fill on the device is timed by
 * events, and NVTX ranges of their names surround their queueing where a library for them is found.
 * Plans are then replayed operation by operation. Records come after the end, in the order of
 * queueing; beginning anew forgets them. */

typedef struct mare_profile_record {
    /* of the kernel or the call, or "upload", "download", "copy", "fill" */
    char name[128];
    char stream[64];                /* its label */
    uint32_t stream_index;          /* tells streams of one label apart */
    uint32_t is_kernel;
    uint32_t registers;             /* of a kernel's work-item; 0 if the vendor does not tell */
    uint32_t resident;              /* work-items of the kernel that a compute unit holds, or 0 */
    double start_ms, stop_ms;       /* since mare_profile_begin */
    uint64_t bytes;                 /* moved; of a kernel what mare_launch_set_bytes told */
} mare_profile_record;

/* The shape of a launch, and how it fills the device. */
typedef struct mare_profile_shape {
    uint32_t groups[3];             /* along x, y, z; 0: the record is of no launch */
    uint32_t group[3];              /* work-items of a group */
    /* groups of this size that a compute unit holds at once; 0 if the vendor does not tell */
    uint32_t resident_groups;
    /* work-items that a compute unit can hold; the occupancy is the share that groups of this size
     * take: resident_groups * group[0] * group[1] * group[2] / most_items. 0: not told */
    uint32_t most_items;
    uint64_t local_memory;          /* of a group, bytes */
    uint64_t private_memory;        /* of a work-item, bytes */
    uint64_t reserved[4];           /* 0 */
} mare_profile_shape;

mare_status mare_profile_begin(mare_device *device);    /* waits for the default stream */
mare_status mare_profile_end(mare_device *device);      /* waits for what is queued */
/* Takes the next record; *found is 0 when there is none. */
mare_status mare_profile_next(mare_device *device, mare_profile_record *out, int32_t *found);
/* Of the record that was taken last. */
mare_status mare_profile_last_shape(mare_device *device, mare_profile_shape *out);

/* ---- what the program has already ----
 * A program that speaks to the vendor itself can let Mare work in its context, on its queues and in
 * its memory, and use those of Mare. Natives are CUcontext, CUstream and CUdeviceptr on CUDA,
 * cl_context, cl_command_queue and cl_mem on OpenCL; on null memory's is its address, and the rest
 * is MARE_ERROR_UNAVAILABLE. On OpenCL Mare retains what it is given. On CUDA the program keeps it:
 * it must last until Mare's object is released and the work queued on it has ended. Mare orders its
 * own work; what the program queues itself is ordered by the queue that both use, or by the
 * program. */

/* Opens a device within a context of the program: on OpenCL one that has the device, on CUDA the
 * device's primary one, current or not, which is that of the CUDA runtime. Others are refused. */
mare_status mare_device_adopt(const char *name, void *context, mare_device **out);
/* A stream that is a queue of the program, in order and of this device's context. label may be
 * NULL. */
mare_status mare_stream_adopt(mare_device *device, void *queue, const char *label,
                              mare_stream **out);
/* A buffer that is memory of the program, at least desc->size bytes of this device's context. */
mare_status mare_buffer_adopt(mare_device *device, uint64_t memory, const mare_buffer_desc *desc,
                              mare_buffer **out);
/* The natives of Mare's objects, valid as long as these. */
mare_status mare_device_native(mare_device *device, void **context);
mare_status mare_stream_native(mare_stream *stream, void **queue);
/* offset: of a view in its memory, bytes; to be added to a CUdeviceptr */
mare_status mare_buffer_native(mare_buffer *buffer, uint64_t *memory, uint64_t *offset);

/* ---- arrays of other libraries: DLPack 1 ----
 * NumPy, CuPy, PyTorch, JAX and others exchange arrays without a copy as structures that one
 * allocates and the other lets go of, on any thread, by calling deleter(self) once. mare_tensor is
 * DLPack's DLManagedTensorVersioned, mare_old_tensor its DLManagedTensor of before version 1. On
 * CUDA `data` is an address on the device, on OpenCL a cl_mem, on null an address of the host. */

typedef struct mare_tensor_view {
    void *data;
    int32_t device_type;            /* 1 host, 2 CUDA, 3 pinned, 4 OpenCL, 13 managed */
    int32_t device_id;
    int32_t dimensions;
    uint8_t code;                   /* 0 signed, 1 unsigned, 2 real, 5 complex, 6 bool */
    uint8_t bits;
    uint16_t vector;                /* numbers in an element: 1 */
    int64_t *shape;                 /* elements along each dimension, the last one the fastest */
    int64_t *strides;               /* elements; NULL: row after row */
    uint64_t offset;                /* bytes from data to the first element */
} mare_tensor_view;

enum { MARE_TENSOR_READ_ONLY = 1 }; /* flags */

typedef struct mare_tensor {
    uint32_t major, minor;
    void *owner;
    void (*deleter)(struct mare_tensor *self);
    uint64_t flags;
    mare_tensor_view view;
} mare_tensor;

typedef struct mare_old_tensor {
    mare_tensor_view view;
    void *owner;
    void (*deleter)(struct mare_old_tensor *self);
} mare_old_tensor;

typedef struct mare_tensor_desc {
    uint32_t type;                  /* mare_type; 0: that of the buffer */
    uint32_t dimensions;            /* at most 32; 0: one element */
    const int64_t *shape;
    const int64_t *strides;         /* elements, not negative; NULL: row after row */
    uint64_t offset;                /* bytes to the first element */
    int32_t is_read_only;
    uint64_t reserved[4];
} mare_tensor_desc;

/* An array in the memory of a buffer, which it keeps alive. queue: the native queue on which others
 * are going to use it, which then comes after what is queued here now, the host waiting for nothing
 * (on CUDA (void *)1 is the legacy default stream, (void *)2 the one of the thread); NULL: the
 * caller orders that. Work that Mare queues later is ordered by who uses both. */
mare_status mare_tensor_export(mare_buffer *buffer, const mare_tensor_desc *desc, void *queue,
                               mare_tensor **out);
/* An array in pinned memory, for libraries on the host. */
mare_status mare_tensor_export_host(mare_host *host, const mare_tensor_desc *desc,
                                    mare_tensor **out);
/* A buffer in the memory of somebody's array, from its first element to its last one. It takes the
 * tensor over, unless it fails, and lets go of it when it is released and what is queued on it has
 * ended. What the other has queued comes first if it was told of this device's queue. Refused are
 * arrays on other devices, those that may only be read, and those with negative strides. */
mare_status mare_tensor_import(mare_device *device, mare_tensor *tensor, const char *label,
                               mare_buffer **out);
/* The same array for who knows no DLPack 1, or of such a one; takes the other structure over. */
mare_status mare_tensor_to_old(mare_tensor *tensor, mare_old_tensor **out);
mare_status mare_tensor_from_old(mare_old_tensor *old, mare_tensor **out);
/* "<f4" for float: the type of NumPy's and CUDA's array interfaces. */
const char *mare_type_code(mare_type type);

/* ---- reports ---- */

/* Handles not yet released, of all kinds, default streams included, in this process. */
uint64_t mare_live_objects(void);

typedef struct mare_object_info {
    char kind[16];                  /* "buffer", "view", "stream", ... */
    char label[64];
    uint64_t bytes;                 /* that a buffer or host memory holds; a view has none */
    uint32_t refs;
} mare_object_info;

/* The first `capacity` of the live handles, the oldest first; *count is how many there are. */
mare_status mare_object_list(mare_object_info *out, uint64_t capacity, uint64_t *count);

/* cdef:end */

#define MARE_API_VERSION 7          /* as above, for #if */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
