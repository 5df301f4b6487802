/* opencl.h - what the files of the OpenCL back end share.
 *
 * opencl_load.c finds the library and turns its error codes into Mare's; opencl_platform.c lists
 * devices; opencl.c has devices and memory, opencl_stream.c streams and events; opencl_transfer.c
 * moves data; opencl_program.c compiles; opencl_launch.c runs. Vendor calls go through the pointers
 * in mr_cl.
 */
#ifndef MARE_OPENCL_H
#define MARE_OPENCL_H

#include "../backend.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

struct mr_cl_platform;
struct mr_cl_device;
struct mr_cl_context;
struct mr_cl_queue;
struct mr_cl_mem;
struct mr_cl_event;
struct mr_cl_program;
struct mr_cl_kernel;

/* What NVIDIA's compiler adds to the local memory of a kernel, in bytes: neither the limit of a
 * device nor the need of a kernel counts it. */
enum { MR_PTX_LOCAL_BYTES = 16 };

enum {
#define MR_CL_CONSTANT(name, value) MR_##name = value,
#define MR_CL_ERROR(name, value, status, meaning) MR_##name = value,
#include "opencl_syms.def"
};

/* The vendor's entry points; valid once mr_opencl_load has succeeded. */
struct mr_cl_api {
#define MR_CL_REQUIRED(result, name, arguments) result(*name) arguments;
#define MR_CL_OPTIONAL(result, name, arguments) result(*name) arguments;
#include "opencl_syms.def"
};
extern struct mr_cl_api mr_cl;

mare_status mr_opencl_load(char *loaded, size_t loaded_size);

/* Around calls in which a driver may take signals, as PoCL's LLVM does where it begins and where it
 * compiles, to remove its files: its handler lets the next SIGINT kill, and virtual machines want
 * SIGSEGV for themselves. Threads and processes that the driver starts meanwhile do not get those
 * that come from outside: Ctrl-C would end PoCL's linker, and that PoCL's abort(). `mask` is the
 * thread's own. */
void mr_opencl_hold_signals(sigset_t *mask);
void mr_opencl_release_signals(const sigset_t *mask);

/* The same to the end of the block, which may be an exception: LLVM throws one where memory is
 * short, PoCL lets it pass, and nothing else would let the signals in again. */
#define MR_OPENCL_HOLD_SIGNALS(mask)                                                              \
    __attribute__((cleanup(mr_opencl_release_signals))) sigset_t mask;                            \
    mr_opencl_hold_signals(&mask)

/* The only place where an error code becomes a mare_status. The format tells the call's important
 * argument: "clCreateBuffer(4096 bytes): CL_... (-4): device memory is exhausted". */
mare_status mr_opencl_fail(int32_t code, const char *call, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

#define MR_CL_TRY(function, arguments, ...)                                                        \
    do {                                                                                           \
        int32_t mr_code_ = mr_cl.function arguments;                                               \
        if (mr_code_ != 0) return mr_opencl_fail(mr_code_, #function, __VA_ARGS__);                \
    } while (0)

/* ---- opencl_platform.c: the devices of all platforms, in the order in which they answer ---- */

typedef struct mr_opencl_entry {
    struct mr_cl_device *id;
    mare_device_info info;
    bool is_nvidia, is_pocl;
    uint32_t ptx_arch;         /* 900 for sm_90, 0 on devices of others */
    bool has_rounded_division; /* IEEE division and square root on request */
    bool has_priorities;       /* cl_khr_priority_hints */
    bool has_clang_header;     /* it reads clang's header of all functions before each program */
    bool has_verbose;          /* cl_nv_compiler_options: the assembler tells registers */
    atomic_ullong allocated;   /* bytes of this process's buffers */
    struct mr_cl_context *context; /* NULL before the first opening, and after the device's loss */
    uint32_t users;                /* handles that are open on it */
    bool was_lost;
    char key[512];             /* names and versions that make a binary valid */
} mr_opencl_entry;

mare_status mr_opencl_probe(mare_backend_info *out);
mr_opencl_entry *mr_opencl_device_entry(int index); /* NULL if there is none */
/* Fails where PoCL's folder has no room for a program: LLVM ends the process then. */
mare_status mr_opencl_check_room(void);

/* ---- what mr_native points to ---- */

typedef struct mr_opencl_device {
    mr_opencl_entry *entry;
    struct mr_cl_context *context;
    bool is_adopted;             /* the context is the program's, retained */
    struct mr_cl_queue *service; /* without times; no stream's work is before what is queued here */
    pthread_mutex_t lock;        /* of the lists */
    struct mr_opencl_stream *streams;
    struct mr_opencl_stream *gone; /* released with work queued, whose end their last event marks */
} mr_opencl_device;

typedef struct mr_opencl_stream {
    MR_LINE struct mr_cl_queue *_Atomic queue; /* one of the two below */
    struct mr_opencl_stream *next;
    struct mr_cl_queue *timed, *untimed; /* the second is NULL until it is first wanted */
    bool may_turn;            /* from one to the other, as those of NVIDIA's driver */
    atomic_uint calm;         /* waits in a row without a record */
    pthread_rwlock_t turn;    /* held by who queues, if it may turn */
    atomic_ullong queued;     /* commands so far, */
    atomic_ullong recorded;   /* those before the last record, */
    atomic_ullong span;       /* and those between it and the one before */
    atomic_ullong ended;      /* commands of which the host knows that they have ended */
    atomic_bool is_lent;      /* the queue is others', too, whose commands nobody counts */
    pthread_mutex_t lock;     /* of the two below */
    struct mr_cl_event *last; /* the event kept last, that of the command of this number */
    uint64_t last_number;
} mr_opencl_stream;

typedef struct mr_opencl_view mr_opencl_view;

typedef struct mr_opencl_buffer {
    struct mr_cl_mem *mem;
    uint64_t serial; /* tells a new buffer at an old address from the old one */
    uint64_t size;
    void *mapped; /* of pinned host memory; NULL for device memory */
    mr_opencl_view *newest; /* behind the lock of opencl_view.c, as is */
    bool is_freed;          /* it waits for its views */
} mr_opencl_buffer;

typedef struct mr_opencl_program {
    struct mr_cl_program *program;
    mr_text log; /* of the assembler; NVIDIA tells registers there */
} mr_opencl_program;

typedef struct mr_opencl_kernel {
    struct mr_cl_kernel *kernel;
    const mr_opencl_program *program;
    char name[128];
} mr_opencl_kernel;

/* ---- opencl_stream.c: commands ----
 * Between begin and end a command is queued, with `wanted` for its event; there is no end if that
 * fails. MR_OPENCL_COMMAND declares it, and keeps the stream's queue to the end of the block.
 * Events cost time. So only those commands have one behind which a record is expected, since it
 * comes if records go on as regularly as before, and some commands after it. */

typedef struct mr_opencl_command {
    mr_opencl_stream *stream;
    uint64_t number;
    struct mr_cl_event *event, **wanted;
} mr_opencl_command;

void mr_opencl_keep(const mr_opencl_command *command);

static inline void mr_opencl_let_go(const mr_opencl_command *command) {
    if (command->stream && command->stream->may_turn)
        pthread_rwlock_unlock(&command->stream->turn);
}

#define MR_OPENCL_COMMAND(name)                                                                    \
    __attribute__((cleanup(mr_opencl_let_go))) mr_opencl_command name = { 0 }

static inline struct mr_cl_queue *mr_opencl_begin(mr_native stream, mr_opencl_command *command) {
    enum { KEPT = 64 };
    mr_opencl_stream *s = stream.ptr;
    if (s->may_turn) pthread_rwlock_rdlock(&s->turn);
    command->stream = s;
    command->number = atomic_load_explicit(&s->queued, memory_order_relaxed) + 1;
    command->event = NULL;
    uint64_t expected = atomic_load_explicit(&s->recorded, memory_order_relaxed) +
                        atomic_load_explicit(&s->span, memory_order_relaxed);
    command->wanted = command->number - expected < KEPT ? &command->event : NULL;
    return s->queue;
}

/* After a call that has waited for the first `number` commands of a stream. */
static inline void mr_opencl_note_end(mr_opencl_stream *stream, uint64_t number) {
    atomic_store_explicit(&stream->ended, number, memory_order_relaxed);
}

static inline bool mr_opencl_is_idle(mr_opencl_stream *stream) {
    return !atomic_load_explicit(&stream->is_lent, memory_order_relaxed) &&
           atomic_load_explicit(&stream->ended, memory_order_relaxed) ==
               atomic_load_explicit(&stream->queued, memory_order_relaxed);
}

static inline mare_status mr_opencl_end(const mr_opencl_command *command) {
    atomic_fetch_add(&command->stream->queued, 1);
    if (command->event) mr_opencl_keep(command);
    return MARE_OK;
}

/* opencl_stream.c: takes the queue over, unless it fails */
mare_status mr_opencl_stream_wrap(mr_opencl_device *device, struct mr_cl_queue *queue,
                                  mr_native *out);
/* Waits for all its work; the code of what failed. */
int32_t mr_opencl_stream_finish(mr_opencl_stream *stream);
/* Turns it to the queue with times, if it is not there; likewise. */
int32_t mr_opencl_stream_use_times(mr_opencl_stream *stream);
/* Drops the streams that went, `wait`ing for their work; the code of what failed. */
int32_t mr_opencl_forget_gone(mr_opencl_device *device, bool wait);
/* opencl_view.c: likewise memory, which is dropped with all its views; and a view of it for an
 * argument of a launch, which is dropped before another is taken, so that few wait. */
mare_status mr_opencl_buffer_wrap(struct mr_cl_mem *mem, uint64_t size, mr_opencl_buffer **out);
void mr_opencl_buffer_drop(mr_opencl_buffer *buffer);
mare_status mr_opencl_view_take(const mr_span *span, uint32_t index, mr_opencl_view **out);
struct mr_cl_mem *mr_opencl_view_mem(const mr_opencl_view *view);
void mr_opencl_view_drop(mr_opencl_buffer *buffer, mr_opencl_view *view);
/* opencl.c: a device, in its own context where that is NULL */
mare_status mr_opencl_device_open(int index, struct mr_cl_context *context, mr_native *out);

/* opencl_foreign.c: what the program has made */
mare_status mr_opencl_device_adopt(int index, void *context, mr_native *out);
mare_status mr_opencl_stream_adopt(mr_native device, void *queue, mr_native *out);
mare_status mr_opencl_buffer_adopt(mr_native device, uint64_t memory, uint64_t size,
                                   mr_native *out);
void mr_opencl_buffer_disown(mr_native device, mr_native buffer);
void *mr_opencl_device_native(mr_native device);
void *mr_opencl_stream_native(mr_native stream);
uint64_t mr_opencl_buffer_native(mr_native buffer);
mare_status mr_opencl_call_run(mr_native device, mr_native stream, mare_call_function function,
                               void *data);

mare_status mr_opencl_peer_can_reach(mr_native device, mr_native peer, int *can);
mare_status mr_opencl_peer_reach(mr_native device, mr_native peer);
mare_status mr_opencl_peer_copy(mr_native device, mr_native stream, mr_native dst_device,
                                mr_native dst, mr_native src_device, mr_native src,
                                const mare_region *r);

/* ---- the other files: entries of the back end's table ---- */

mare_status mr_opencl_stream_create(mr_native device, int priority, mr_native *out);
void mr_opencl_stream_destroy(mr_native device, mr_native stream);
mare_status mr_opencl_stream_wait(mr_native device, mr_native stream);
mare_status mr_opencl_stream_flush(mr_native device, mr_native stream);
bool mr_opencl_stream_has_ended(mr_native device, mr_native stream);
mare_status mr_opencl_stream_wait_event(mr_native device, mr_native stream, mr_native event);
mare_status mr_opencl_event_create(mr_native device, mr_native *out);
void mr_opencl_event_destroy(mr_native device, mr_native event);
mare_status mr_opencl_event_record(mr_native device, mr_native event, mr_native stream);
mare_status mr_opencl_event_wait(mr_native device, mr_native event);
mare_status mr_opencl_event_query(mr_native device, mr_native event, int *done);
mare_status mr_opencl_event_elapsed_ms(mr_native device, mr_native start, mr_native stop,
                                       double *out);

mare_status mr_opencl_write(mr_native device, mr_native stream, mr_native dst, const void *src,
                            const mare_region *r, int blocking);
mare_status mr_opencl_read(mr_native device, mr_native stream, void *dst, mr_native src,
                           const mare_region *r, int blocking);
mare_status mr_opencl_read_row(mr_native device, mr_native stream, void *dst, mr_native src,
                               uint64_t offset, uint64_t size);
mare_status mr_opencl_copy(mr_native device, mr_native stream, mr_native dst, mr_native src,
                           const mare_region *r);
mare_status mr_opencl_fill(mr_native device, mr_native stream, mr_native dst, uint64_t offset,
                           uint64_t size, const void *pattern, uint32_t pattern_size);

mare_status mr_opencl_program_build(mr_native device, const mr_source *source, mr_blob *binary,
                                    mr_native *loaded, mr_blob *log);
mare_status mr_opencl_program_load(mr_native device, const mr_blob *binary, mr_native *out);
void mr_opencl_program_unload(mr_native device, mr_native program);
mare_status mr_opencl_program_code(mr_native device, mr_native program, const mr_source *source,
                                   const char *form, mr_blob *out);
mare_status mr_opencl_program_take(mr_native device, const mr_blob *code, mr_native *out);
mare_status mr_opencl_program_key(mr_native device, uint32_t language, char *out,
                                  size_t size);

mare_status mr_opencl_kernel_get(mr_native device, mr_native program, const char *name,
                                 mr_native *out);
void mr_opencl_kernel_release(mr_native device, mr_native kernel);
mare_status mr_opencl_kernel_info(mr_native device, mr_native kernel, mare_kernel_info *out);
mare_status mr_opencl_launch_create(mr_native device, const mr_dispatch *launch, mr_native *out);
void mr_opencl_launch_destroy(mr_native device, mr_native launch);
mare_status mr_opencl_launch_run(mr_native device, mr_native stream, const mr_dispatch *launch);

#endif
