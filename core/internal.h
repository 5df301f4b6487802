/* internal.h - what the files of core share above the seam: handles and what they are made of.
 * Prefix mr_/MR_. */
#ifndef MARE_INTERNAL_H
#define MARE_INTERNAL_H

#include "backend.h"
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- objects: the first member of every handle ---- */

typedef struct mr_object {
    atomic_int refs;
    char label[64];
    const char *kind;               /* "buffer", for reports */
    uint64_t bytes;                 /* of memory that it holds, for reports */
    struct mr_object *before, *after;   /* in the list of all that live */
} mr_object;

/* Memory for a handle, zeroed, with one reference and counted as live; NULL if there is none. */
void *mr_object_new(size_t size, const char *kind, const char *label);
void *mr_object_new_on_line(size_t size, const char *kind, const char *label);  /* has MR_LINE */
void mr_object_retain(mr_object *object);
bool mr_object_retain_living(mr_object *object);    /* false: its last reference is gone */
/* True if this was the last reference: then destroy, and call mr_object_delete. */
bool mr_object_unref(mr_object *object);
void mr_object_delete(mr_object *object);
/* Begins and ends a life in memory that is neither made nor freed. */
void mr_object_begin(mr_object *object, const char *kind, const char *label);
void mr_object_end(mr_object *object);

enum { MR_POOL_CLASSES = 256, MR_STREAM_SLOTS = 63, MR_PEERS = 32, MR_PROGRAM_BUCKETS = 64 };
/* Memory that small blocks share. */
typedef struct mr_slab {
    mr_native native;
    atomic_uint parts;              /* blocks that are left */
} mr_slab;

typedef struct mr_pool {
    pthread_mutex_t lock;           /* of the slots too */
    mare_buffer *newest[MR_POOL_CLASSES], *oldest[MR_POOL_CLASSES]; /* idle ones of each class */
    uint64_t released;              /* so far: numbers for the idle ones */
    uint64_t in_use, idle, limit;   /* bytes; limit 0: none */
} mr_pool;
typedef struct mr_slot {
    mare_stream *stream;            /* NULL: free, or its stream has ended */
    mr_native event;                /* made when first needed */
    bool ended;                     /* event marks the end of the last stream, or comes later */
    uint64_t since;                 /* what the pool had released when `stream` began */
} mr_slot;

struct mare_device {
    mr_object object;
    MR_LINE const mr_backend *backend;
    mr_native native;
    mare_stream *stream;            /* default; does not retain the device */
    atomic_bool is_profiled;        /* now; changes under the profile's lock */
    atomic_bool is_lost;
    _Atomic(struct mr_profile *) profile;   /* NULL: never profiled */
    mr_text fault;                  /* by which it was lost; set before is_lost */
    mare_device_info info;
    mr_pool pool;
    mr_slot slots[MR_STREAM_SLOTS];
    mare_device *next_opened;       /* pool.c's list of all handles */
    struct mr_leaving *leaving;     /* tensor.c: memory of others that is still in use */
    uint64_t serial;                /* never used twice */
    atomic_ullong peers[MR_PEERS];  /* serials of the devices whose memory it reaches; 0: none */
    mare_program *programs[MR_PROGRAM_BUCKETS]; /* reuse.c: lists by their keys */
};
struct mare_buffer {
    mr_object object;
    mare_buffer *newer, *older;     /* while it is idle: the others of its class */
    uint64_t number;                /* of its last release */
    MR_LINE mare_device *device;
    mare_buffer *parent;            /* of a view */
    mr_native native;               /* the root's */
    uint64_t offset, size;          /* offset within the root */
    atomic_ullong streams;          /* a bit for the slot of each stream that has used it */
    uint64_t pending;               /* streams that may still use the memory for its last owner */
    uint32_t type;
    uint32_t size_class;            /* of the pool's memory; 0: another's memory, or a view */
    struct mr_slab *slab;           /* of the pool, whose part its memory is; NULL: none */
    bool is_opened;                 /* memory of another process */
    atomic_bool is_lent;            /* was a tensor: others may still use it after its release */
    mare_tensor *tensor;            /* whose memory it is; NULL: no tensor's */
    mare_program *program;          /* whose variable it is; NULL: no program's */
    mare_host *host;                /* whose memory it is; NULL: no host memory's */
};
typedef struct mr_leaving mr_leaving;   /* tensor.c */
struct mare_host {
    mr_object object;
    mare_device *device;
    mr_native native;
    void *data;
    uint64_t size;
    bool is_managed;
};
struct mare_stream {
    mr_object object;
    MR_LINE mare_device *device;
    mr_native native;
    bool is_default, is_adopted;
    uint32_t slot;                  /* MR_STREAM_SLOTS: none was free */
    uint64_t serial;                /* never used twice */
    _Atomic(mare_plan *) recording; /* the plan that takes what is queued here; NULL: none */
    uint32_t branch;                /* of the recording; 0: the stream that began it */
};
struct mare_event {
    mr_object object;
    mare_device *device;
    mr_native native;
    atomic_bool recorded;
};

/* signature.c: kernel parameters read from the source */
typedef struct mr_signature {
    char name[128];
    uint32_t arg_count;
    uint32_t group[3];              /* that the source fixes; 0: none, or only the vendor knows */
    uint64_t local_bytes;           /* of MR_LOCAL_LARGE */
    mare_arg_info *args;
    mare_field_info *fields;        /* of all parameter blocks, in the order of the arguments */
    uint32_t field_count;
} mr_signature;
/* Finds kernel `name` in flat source text and parses its parameters and its group; names are
 * resolved through the defines. */
mare_status mr_signature_parse(const mr_source *source, const char *name, mr_signature *out);
void mr_signature_free(mr_signature *signature);
uint32_t mr_signature_first_field(const mr_signature *signature, uint32_t index);

/* What the compiler of a program is still to be given. */
typedef struct mr_build {
    mr_text text;                   /* complete */
    mr_text key;                    /* of the cache */
    char *name, *options;           /* options: not NULL */
    char *instance;                 /* of a template; NULL: none */
    uint32_t language, math;
    bool is_keepable;               /* the key tells all that the compiler reads */
} mr_build;
enum { MR_CODE_FORMS = 3 };
struct mare_program {
    mr_object object;
    mare_device *device;
    mr_native native;
    mr_text log;
    mr_text source;                 /* flat text, for the signatures */
    mare_define *defines;           /* deep copies */
    uint64_t define_count;
    uint32_t language, math;
    char *options;                  /* to compile it again; NULL: it came as code */
    char *instance;                 /* of a template that it holds; NULL: none */
    mr_blob codes[MR_CODE_FORMS];   /* that mare_program_code has given */
    bool cached;
    mr_build *build;                /* NULL: it came from the cache, or its compiler has ended */
    /* compile.c's, under its lock */
    bool is_compiling;              /* or waits for it */
    mare_status status;             /* that it ended with */
    mr_text failure;                /* the message of that */
    mare_program *next;             /* in the queue */
    /* reuse.c's */
    bool is_reusable;               /* has a key */
    uint64_t key[2];
    mare_program *reuse_next, **reuse_link;     /* under its lock; link NULL: it is in no list */
};
struct mare_kernel {
    mr_object object;
    mare_program *program;
    mr_native native;
    mr_signature signature;
    mare_kernel_info info;
};
/* A function of the program that queues the work of a library. */
struct mare_call {
    mr_object object;
    mare_device *device;
    mare_call_function function;
    void (*finish)(void *data);     /* NULL: none */
    void *data;
    mare_buffer **buffers;          /* retained */
    uint64_t buffer_count;
    uint64_t bytes;                 /* that it moves, for the profile; 0: unknown */
};
/* Work for a stream as a value. */
struct mr_op {
    mr_op_kind kind;
    bool blocking;                  /* a transfer that the host waits for */
    uint32_t repeat;                /* of a plan */
    uint32_t branch;                /* of the plan that it is in; 0: the main one */
    mare_launch *launch;            /* of the objects those are NULL that the kind has not */
    mare_call *call;
    mare_event *event;
    mare_plan *plan;
    mare_buffer *buffer;            /* destination; of a download its source */
    mare_buffer *source;            /* of a copy */
    mare_device *copier;            /* of a copy between two devices */
    void *host;                     /* host memory of a transfer; an upload only reads it */
    mare_region region;             /* offsets count from the roots; a fill is a line */
    uint32_t pattern_size;
    unsigned char pattern[16];
};
struct mare_launch {
    mr_object object;
    MR_LINE mare_device *device;
    uint64_t ordered;               /* serial of the stream that its buffers are ordered for */
    mr_dispatch dispatch;           /* its first part shares the line */
    mr_op op;                       /* to run it */
    mare_kernel *kernel;
    mare_buffer **buffers;          /* retained, by argument; NULL for scalars */
    bool *is_set;                   /* by argument, then by field of the blocks */
    uint32_t missing;               /* arguments and fields not set */
    bool has_run;                   /* under turn.c */
    uint64_t bytes;                 /* that it moves, for the profile; 0: unknown */
};
_Static_assert(offsetof(struct mare_launch, dispatch.name) - offsetof(struct mare_launch, device) <=
                   MR_LINE_BYTES, "what each run reads of a launch lies on one line");

/* device.c */
/* The stream to use on `device`: NULL means its default stream; a stream of another device is
 * refused. `what` and `label` name the object for the message. */
mare_status mr_device_pick_stream(mare_device *device, mare_stream *stream, const char *what,
                                  const char *label, mare_stream **out);

/* MARE_ERROR_LOST, with the fault, once the device is lost. */
mare_status mr_device_alive(const mare_device *device);
/* Returns `status`; the first MARE_ERROR_LOST, with its complete message, marks the device. */
mare_status mr_device_note(mare_device *device, mare_status status);
/* Loses it in the child of a fork, if it is a driver's: nothing is said to that from now on. */
void mr_device_leave(mare_device *device);
/* A call of the back end on behalf of the user; the rest is what it was for, with a format. */
#define MR_ON_DEVICE(device, call, ...)                                                    \
    do {                                                                                   \
        mare_status mr_status_ = mr_device_alive(device);                                  \
        if (mr_status_ == MARE_OK) mr_status_ = (device)->backend->call;                   \
        if (mr_status_ != MARE_OK)                                                         \
            return mr_device_note(device, mr_annotate(mr_status_, __VA_ARGS__));           \
    } while (0)

/* device.c: in a context of the program, unless that is NULL */
mare_status mr_device_open(const char *name, void *context, mare_device **out);

/* buffer.c: refuses a descriptor of no possible buffer */
mare_status mr_buffer_check_desc(mare_device *device, const mare_buffer_desc *desc,
                                 const char *label);

/* stream.c: what default streams and others have in common; the device is not retained */
mare_status mr_stream_open(mare_device *device, mare_stream *stream, int priority, void *queue);
void mr_stream_close(mare_stream *stream);
/* The stream, which does not record, waits for an event of its device or of another. */
mare_status mr_stream_await(mare_stream *stream, mare_event *event);

/* peer.c: whether work on a device may use buffers of the other */
bool mr_device_reaches(const mare_device *device, const mare_device *other);

/* pool.c: the memory of buffers */
mare_status mr_pool_open(mare_device *device);
void mr_pool_close(mare_device *device);
/* Around a fork: what it leaves of the handles. */
void mr_pool_begin_fork(void);
void mr_pool_end_fork(bool is_child);
/* A buffer with memory, whose life is still to begin; and takes one whose life has ended. */
mare_status mr_pool_take(mare_device *device, uint64_t size, mare_buffer **out);
void mr_pool_give(mare_buffer *buffer);
/* The memory that a buffer is a part of as the back end has it; adds what lies before the part. */
mr_native mr_pool_whole(const mare_buffer *buffer, uint64_t *offset);
uint64_t mr_pool_trim(mare_device *device);         /* bytes given back */
/* Cuts what the vendor tells down to MARE_MEMORY_LIMIT. */
void mr_pool_limit(mare_device *device, uint64_t *free, uint64_t *total);

/* order.c: who waits for whom when memory changes hands */
mare_status mr_order_add(mare_stream *stream);
void mr_order_remove(mare_stream *stream);
void mr_order_close(mare_device *device);
bool mr_order_covers(uint64_t streams);             /* false: some of them have no slot */
/* Whether the stream has used the buffer before, so that nothing is left to order. */
static inline bool mr_order_is_known(const mare_buffer *buffer, const mare_stream *stream) {
    while (buffer->parent) buffer = buffer->parent;
    return stream->device == buffer->device && stream->slot != MR_STREAM_SLOTS &&
           atomic_load_explicit(&buffer->streams, memory_order_acquire) >> stream->slot & 1;
}
/* To be called before work with the buffer is queued on the stream. */
mare_status mr_order_use(mare_buffer *buffer, const mare_stream *stream);
/* The memory goes back to the vendor when it is released, after all work there is. */
void mr_order_give_up(mare_buffer *buffer);

/* A queue on device `there` waits for what these streams have queued so far; for memory that was
 * released as this `number`, UINT64_MAX if it is not. */
mare_status mr_order_wait(mare_device *device, uint64_t streams, uint64_t number,
                          const mare_device *there, mr_native queue);
/* An event that tells an order, and no time. */
mare_status mr_order_mark(mare_device *device, mr_native *out);

/* tensor.c */
/* Lets go of the memory of a released buffer that is a tensor's, when what is queued on it has
 * ended. */
void mr_tensor_leave(mare_buffer *buffer);
void mr_tensor_close(mare_device *device);      /* waits for what has not been let go of */

/* op.c */
/* Queues it, or records it where the stream is recording. */
mare_status mr_op_submit(const mr_op *op, mare_stream *stream);
/* Returns `status`, a failure of the back end, with what it was for; notes a loss. */
mare_status mr_op_fail(const mr_op *op, mare_status status) __attribute__((cold));
void mr_op_retain(const mr_op *op);                         /* the objects it works on */
void mr_op_release(const mr_op *op);
/* Its name in the profile; NULL: it is not timed. */
const char *mr_op_name(const mr_op *op);
uint64_t mr_op_bytes(const mr_op *op);                      /* of what is timed */
/* Before it runs on the stream: the stream waits for the former use of its memory. */
mare_status mr_op_order(const mr_op *op, const mare_stream *stream);

/* plan.c */
mare_status mr_plan_add(mare_stream *stream, const mr_op *op);  /* to the stream's recording */
/* Whether an event is recorded within it, so that its branches may wait for it. */
bool mr_plan_records(const mare_plan *plan, const mare_event *event);
void mr_plan_abandon(mare_stream *stream);          /* of the stream's recording, if any */
mare_device *mr_plan_device(const mare_plan *plan);
mare_status mr_plan_order(const mare_plan *plan, const mare_stream *stream);

/* profile.c */
static inline bool mr_profile_is_on(const mare_device *device) {
    return atomic_load_explicit(&device->is_profiled, memory_order_relaxed);
}
/* mr_op_run, timed if the profile is on */
mare_status mr_profile_run(const mr_op *op, mare_stream *stream);
/* Whether what is queued on it goes to the back end and nowhere else. */
static inline bool mr_stream_is_plain(const mare_stream *stream) {
    return !stream->recording && !mr_profile_is_on(stream->device) &&
           !atomic_load_explicit(&stream->device->is_lost, memory_order_acquire);
}
void mr_profile_close(mare_device *device);

/* source.c: resolves #include "..." into one text. #pragma once is honoured; #include NAME is
 * looked up in the defines; a file that is not found is left to the compiler (then *complete is
 * false); <...> likewise. #line keeps error positions true. */
mare_status mr_source_flatten(const mare_program_desc *desc, mr_text *out, bool *complete);

/* turn.c */
/* Whether the first run of a launch has to wait for other processes that compile the kernel. */
bool mr_turn_is_due(const mare_launch *launch);
/* Runs a launch when no other process compiles its kernel, and waits for the stream. */
mare_status mr_turn_run(mare_launch *launch, mr_native stream);

/* cache.c, beside what support.h has */
/* Makes this thread of this process the one that compiles `key`. True: another one is compiling it.
 * False with *lock < 0: no lock can be had. The lock ends with the process. */
bool mr_cache_lock(const char *key, size_t key_size, int *lock);
void mr_cache_unlock(int lock);

/* program.c */
extern const char *const mr_language_names[];      /* by mare_language */
/* Waits for the compiler; its failure if it failed. */
mare_status mr_program_finish(mare_program *program);
void mr_program_destroy(mare_program *program);     /* without references */
/* For code.c: the checks of a descriptor for a device; a program without anything in it; its copies
 * of the defines; what its compiler gets. */
mare_status mr_program_check_desc(const mare_device *device, const mare_program_desc *desc,
                                  const char *name);
mare_program *mr_program_new(mare_device *device, const mare_program_desc *desc, const char *name);
mare_status mr_program_keep_defines(mare_program *program, const mare_program_desc *desc);
void mr_program_compose(const mare_device *device, const mare_program_desc *desc,
                        const mr_text *flat, mr_text *out);
/* A program with an instance of a template in it, compiled. */
mare_status mr_program_create_instance(mare_device *device, const mare_program_desc *desc,
                                       const char *expression, mare_program **out);

/* code.c: the same of a program; kernel.c reads what the expression says of its parameters */
mare_status mr_program_instance(mare_program *program, const char *expression, mare_program **out);

/* reuse.c */
/* The same program if the device has it, retained; its compiler may be at work. NULL: none */
mare_program *mr_reuse_find(mare_program *program);
/* From now on it is found; it is complete, or mr_compile_wait waits for it. */
void mr_reuse_enter(mare_program *program);
void mr_reuse_leave(mare_program *program);
/* Whether nobody but the caller holds it, and so nobody will find it. */
bool mr_reuse_abandon(mare_program *program);

/* build.c */
mare_status mr_build_key(mare_program *program);
/* Looks into the cache; a program that is there has no build any more. */
void mr_build_find(mare_program *program);
mare_status mr_build_run(mare_program *program);    /* compiles, or waits for who does */
void mr_build_free(mare_program *program);

/* compile.c */
void mr_compile_begin(mare_program *program);       /* on a thread, which calls mr_build_run */
/* At most so long, UINT64_MAX: to the end. Returns whether nothing is left to wait for. */
bool mr_compile_wait(mare_program *program, uint64_t timeout_ms);

/* guard.c: false if an exception came out of the function */
bool mr_guard(void (*function)(void *), void *argument);

/* registry.c */
extern const char mr_fork_reason[];     /* why the child of a fork has no devices */
const mr_backend *mr_registry_backend(int index);           /* NULL past the end */
/* NULL if there is none of that name */
const mr_backend *mr_registry_find(const char *name, size_t size);
/* the failure, with the names there are */
mare_status mr_registry_unknown(const char *what, const char *name);
mare_status mr_registry_resolve(const char *name, const mr_backend **backend, int *index);

#endif
