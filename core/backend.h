/* backend.h - the seam between Mare's public calls and a vendor.
 *
 * Above the seam (the files of core/): argument checks, defaults, labels, reference counts,
 * include resolution, the cache, error texts about the user's objects. Below it (those of
 * backends/): native calls only. No vendor type crosses it: native handles travel as mr_native. No
 * handle of core's is opened below it: what a back end has to know of one is said here.
 * Every entry is required unless marked optional. Ranges, alignment rules stated in mare.h and
 * ownership have been checked before an entry is called. An entry that fails reports through
 * mr_fail with the vendor's call, number and text, and leaves its outputs untouched.
 *
 * README.md says how to add a back end.
 */
#ifndef MARE_BACKEND_H
#define MARE_BACKEND_H

#include "support.h"

typedef union mr_native { void *ptr; uint64_t u64; } mr_native;

/* A word of the kernel arguments that a launch keeps. A buffer has one, its native and its offset
 * added up, which is an address where natives are addresses; a scalar has one; a parameter block
 * has as many as it fills. */
typedef union mr_value {
    unsigned char bytes[8];
    uint64_t u;
    float f;
    double d;
} mr_value;

/* The part of a native buffer that an argument is bound to. */
typedef struct mr_span {
    mr_native buffer;
    uint64_t offset, size;          /* bytes; size 0: all of it */
} mr_span;

/* A launch as back ends see it. Each run reads the first part, and the rest where the revision
 * tells that something has changed. */
typedef struct mr_dispatch {
    mr_native native;               /* what launch_create has made */
    uint64_t revision;              /* counts settings of arguments and shapes */
    uint32_t groups[3], group[3];
    bool is_open;                   /* scalars may change unset: somebody points to them */
    bool is_together;               /* groups wait for one another */
    bool is_programmatic;           /* may begin before the launch before it has ended */
    uint32_t local_bytes;           /* local memory that comes with the launch */
    const char *name;               /* of the kernel */
    mr_native kernel;
    uint32_t arg_count;
    uint32_t word_count;            /* of all arguments */
    const mare_arg_info *args;      /* by argument, as spans and words */
    mr_span *spans;                 /* of buffers */
    uint32_t *words;                /* where in `values` the argument begins */
    mr_value *values;
} mr_dispatch;

/* A program on its way to the compiler: one flat text, includes resolved, #line in place. */
typedef struct mr_source {
    const char *text;               /* begins with the defines as #define lines */
    const char *name;
    const char *options;            /* user's extra options, never NULL */
    const mare_define *defines;     /* for the signatures; NULL on the way to a compiler */
    uint64_t define_count;
    uint32_t language, math;
    const char *instance;           /* of a template: its name expression; NULL: none */
    bool is_kept;                   /* somebody keeps the binary */
} mr_source;

/* ---- what plan_build finds in a plan ---- */

typedef struct mr_op mr_op;

/* Kinds of work; op.c has a row for each. */
typedef enum mr_op_kind {
    MR_OP_LAUNCH,
    MR_OP_CALL,
    MR_OP_UPLOAD,
    MR_OP_DOWNLOAD,
    MR_OP_COPY,
    MR_OP_FILL,
    MR_OP_RECORD,                   /* of an event */
    MR_OP_WAIT,                     /* of the stream, for an event */
    MR_OP_PLAN                      /* within a plan only */
} mr_op_kind;
mr_op_kind mr_op_kind_of(const mr_op *op);
const mr_dispatch *mr_op_dispatch(const mr_op *op);         /* of a launch */
mr_native mr_op_event(const mr_op *op);                     /* of a record or a wait */
/* Number 0 is the main one; the others run beside it, ordered by the events of the plan. */
uint32_t mr_op_branch(const mr_op *op);
uint32_t mr_plan_branches(const mare_plan *plan);           /* beside the main one */
mr_native mr_plan_branch_device(const mare_plan *plan, uint32_t number);
mare_status mr_op_run(const mr_op *op, mr_native stream);   /* queues it on a native stream */
/* Visits the operations in order, nested plans written out, until a visit fails. */
typedef mare_status mr_visit(const mr_op *op, void *context);
mare_status mr_plan_walk(const mare_plan *plan, mr_visit *visit, void *context);

/* ---- the table of a back end ---- */

typedef struct mr_backend {
    /* What is called for each piece of work. read_row: one row, not blocking. */
    MR_LINE mare_status (*launch_run)(mr_native device, mr_native stream,
                                      const mr_dispatch *launch);
    mare_status (*read_row)(mr_native device, mr_native stream, void *dst, mr_native src,
                            uint64_t offset, uint64_t size);
    mare_status (*event_record)(mr_native device, mr_native event, mr_native stream);
    mare_status (*stream_wait_event)(mr_native device, mr_native stream, mr_native event);
    mare_status (*stream_flush)(mr_native device, mr_native stream);
    mare_status (*event_wait)(mr_native device, mr_native event);
    mare_status (*event_elapsed_ms)(mr_native device, mr_native start, mr_native stop, double *out);

    const char *name;
    const char *prelude;            /* stands in front of texts in the dialect */
    uint32_t language;              /* mare_language that it takes besides the dialect */
    /* else it takes every language, and "auto" does not choose it */
    bool runs_kernels;
    bool has_compiler;              /* else it takes the programs that came with it alone */
    bool maps_host;                 /* buffer_adopt takes addresses of such host memory */
    bool splits_memory;             /* a part of it is an address within, which costs less */
    bool runs_together;             /* all groups of a launch at the same time, where asked to */
    bool orders_devices;            /* a stream waits for events of all its devices */
    bool compiles_in_turn;          /* one program at a time, whatever the threads */
    /* Loads the vendor's library once per process and fills `out`; absence is a reason in `out`,
     * not a failure. */
    mare_status (*probe)(mare_backend_info *out);

    mare_status (*device_info)(int index, mare_device_info *out);
    mare_status (*device_open)(int index, mr_native *out);
    void (*device_close)(mr_native device, bool is_lost);
    mare_status (*device_memory)(mr_native device, uint64_t *free, uint64_t *total);
    mare_status (*device_wait)(mr_native device);

    mare_status (*buffer_alloc)(mr_native device, uint64_t size, mr_native *out);
    /* Comes into force when all work queued on it has ended. */
    void (*buffer_free)(mr_native device, mr_native buffer);
    mare_status (*host_alloc)(mr_native device, uint64_t size, mr_native *out, void **data);
    void (*host_free)(mr_native device, mr_native host);
    /* Optional: memory whose pages move to where they are used, which buffer_free frees. */
    mare_status (*managed_alloc)(mr_native device, uint64_t size, mr_native *out, void **data);

    /* Queued on `stream`. `blocking`: return when the host memory may be reused (write) or holds
     * the data (read). */
    mare_status (*write)(mr_native device, mr_native stream, mr_native dst, const void *src,
                         const mare_region *r, int blocking);
    mare_status (*read)(mr_native device, mr_native stream, void *dst, mr_native src,
                        const mare_region *r, int blocking);
    mare_status (*copy)(mr_native device, mr_native stream, mr_native dst, mr_native src,
                        const mare_region *r);
    mare_status (*fill)(mr_native device, mr_native stream, mr_native dst, uint64_t offset,
                        uint64_t size, const void *pattern, uint32_t pattern_size);

    mare_status (*stream_create)(mr_native device, int priority, mr_native *out);
    void (*stream_destroy)(mr_native device, mr_native stream);
    mare_status (*stream_wait)(mr_native device, mr_native stream);
    /* Optional: whether all that was queued is known to have ended. Where it is not there, or says
     * no, others wait for an event. */
    bool (*stream_has_ended)(mr_native device, mr_native stream);

    mare_status (*event_create)(mr_native device, mr_native *out);
    /* An event without a time, which is recorded sooner; may be NULL: event_create. */
    mare_status (*mark_create)(mr_native device, mr_native *out);
    void (*event_destroy)(mr_native device, mr_native event);
    mare_status (*event_query)(mr_native device, mr_native event, int *done);

    /* Compiles to a binary for this device. If the vendor's compiler gives a program that is loaded
     * `loaded` may take that; then the binary is wanted only if source->is_kept. `log` receives the
     * compiler's text, also when it fails (then the failure is MARE_ERROR_BUILD and the message
     * holds the log). */
    mare_status (*program_build)(mr_native device, const mr_source *source, mr_blob *binary,
                                 mr_native *loaded, mr_blob *log);
    mare_status (*program_load)(mr_native device, const mr_blob *binary, mr_native *out);
    void (*program_unload)(mr_native device, mr_native program);
    /* optional: compile without a device; as program_build */
    mare_status (*program_check)(const char *arch, const mr_source *source, mr_blob *binary,
                                 mr_blob *log);
    /* Optional: the code of a program in a form that mare_program_code allows, which fails with
     * MARE_ERROR_UNAVAILABLE where the vendor has it not. source: the program's own, NULL where it
     * was loaded from code. */
    mare_status (*program_code)(mr_native device, mr_native program, const mr_source *source,
                                const char *form, mr_blob *out);
    /* Optional: a program from code that others have compiled, which a NUL follows. */
    mare_status (*program_take)(mr_native device, const mr_blob *code, mr_native *out);
    /* Optional: the memory of a variable of a program. */
    mare_status (*program_variable)(mr_native device, mr_native program, const char *name,
                                    uint64_t *memory, uint64_t *size);
    /* What besides the text makes a binary valid: device, driver, versions of the compiler and the
     * headers that it brings for the language. Part of the cache key. */
    mare_status (*program_key)(mr_native device, uint32_t language, char *out, size_t size);

    mare_status (*kernel_get)(mr_native device, mr_native program, const char *name,
                              mr_native *out);
    void (*kernel_release)(mr_native device, mr_native kernel);
    /* All but the name; arg_count stays as it is where the vendor does not tell. local_memory holds
     * what the source says of MR_LOCAL_LARGE, for which room is made, and gains the rest. */
    mare_status (*kernel_info)(mr_native device, mr_native kernel, mare_kernel_info *out);
    /* Optional: groups of so many work-items that a compute unit holds at once, and work-items of
     * any kernel that it can hold. */
    mare_status (*kernel_fill)(mr_native device, mr_native kernel, uint32_t items,
                               uint64_t local_bytes, uint32_t *groups, uint32_t *most_items);

    uint32_t most_groups;       /* optional: that a launch has along y and along z */

    /* What a prepared launch needs natively, so that a run has little to do. The launch stays where
     * it is, and so do its values; they are not set yet. */
    mare_status (*launch_create)(mr_native device, const mr_dispatch *launch, mr_native *out);
    void (*launch_destroy)(mr_native device, mr_native launch);

    /* Calls a function of the program with the native queue, on which it may queue what it likes;
     * where there are contexts, with the device's current. Returns the status of the function. */
    mare_status (*call_run)(mr_native device, mr_native stream, mare_call_function function,
                            void *data);

    /* Optional, all three or none: a plan as one native object, made of what mr_plan_walk visits.
     * A run uses the arguments and shapes that the launches have then. Without them core walks the
     * plan at each run. */
    mare_status (*plan_build)(mr_native device, const mare_plan *plan, mr_native *out);
    mare_status (*plan_run)(mr_native device, mr_native stream, mr_native plan, uint32_t repeat);
    /* May be called while the plan runs. */
    void (*plan_destroy)(mr_native device, mr_native plan);

    /* Optional, those of devices and streams all or none, and those of buffers: what the program
     * has made, which disown leaves as it was. */
    mare_status (*device_adopt)(int index, void *context, mr_native *out);
    mare_status (*stream_adopt)(mr_native device, void *queue, mr_native *out);
    void (*stream_disown)(mr_native device, mr_native stream);
    mare_status (*buffer_adopt)(mr_native device, uint64_t memory, uint64_t size, mr_native *out);
    void (*buffer_disown)(mr_native device, mr_native buffer);
    /* optional, each by itself */
    void *(*device_native)(mr_native device);
    void *(*stream_native)(mr_native stream);
    uint64_t (*buffer_native)(mr_native buffer);

    /* Optional, all or none: whether kernels and copies of a device can reach the memory of a peer
     * of the same back end, that they may from now on, and a copy between the two. buffer_free
     * waits for the work of peers, too. */
    mare_status (*peer_can_reach)(mr_native device, mr_native peer, int *can);
    mare_status (*peer_reach)(mr_native device, mr_native peer);
    mare_status (*peer_copy)(mr_native device, mr_native stream, mr_native dst_device,
                             mr_native dst, mr_native src_device, mr_native src,
                             const mare_region *r);

    /* Optional, all or none: memory that another process opens by the bytes of `name`. */
    mare_status (*share_make)(mr_native device, mr_native buffer, unsigned char name[64]);
    mare_status (*share_open)(mr_native device, const unsigned char name[64], mr_native *out);
    void (*share_close)(mr_native device, mr_native buffer);

    /* optional: see mare_thread_claim */
    void (*thread_claim)(bool claimed);
} mr_backend;

extern const mr_backend mr_backend_cuda;
extern const mr_backend mr_backend_opencl;
extern const mr_backend mr_backend_cpu;
extern const mr_backend mr_backend_null;
extern const mr_backend mr_backend_gone; /* of no name: see backends/gone.c */

#endif
