/* mare_engine.h - a Lua engine with all of Mare in it, embedded in a C or C++ program.
 *
 *   mare_engine *engine;
 *   mare_engine_create(NULL, &engine);
 *   mare_value x = mare_value_number(21), y;
 *   mare_engine_evaluate(engine, "return 6 * 7", "script", &y);    // y.number == 42
 *   mare_engine_run(engine, "function twice(x) return 2 * x end", "script");
 *   mare_engine_call(engine, "twice", &x, 1);
 *   mare_engine_result(engine, 0, &y);             // y.number == 42
 *   mare_engine_destroy(engine);
 *
 * Conventions are those of mare.h: a status, a message for the calling thread, the result last.
 *   Errors    A script that fails is an error value like any other: MARE_ERROR_SCRIPT, or the
 *             status of the call of Mare that failed. The engine can go on.
 *   Threads   An engine belongs to the thread that created it; a call from another one is
 *             MARE_ERROR_ARGUMENT and does nothing. Only mare_engine_interrupt and
 *             mare_engine_log_next may be called from anywhere. Any number of engines may live in
 *             as many threads, or in one; 128 KiB of stack suffice. A C function must not call the
 *             engine that calls it.
 *   Manners   Signals, locale, standard streams and environment of the process stay as they are,
 *             and nothing exits: what a script prints goes to the log, os.exit() ends the script
 *             (mare_engine_exit_code).
 *   Forks     The child of a fork may use the engine on the thread that forked; its devices are
 *             gone as mare.h says.
 *   Strings   Names and texts that go in are copied; what comes out is said to be valid until the
 *             next call, which is the next one on that engine.
 */
#ifndef MARE_ENGINE_H
#define MARE_ENGINE_H

#include "mare.h"

#include <string.h>

/* Changes with every incompatible change of this header or of mare.h; the number of the shared
 * library, libmare_engine.so.2. MARE_VERSION_NUMBER is that of mare.h. */
#define MARE_ENGINE_API_VERSION 2

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* cdef:begin */

/* ---- values ---- */

typedef enum mare_value_kind {
    MARE_VALUE_NIL = 0,
    MARE_VALUE_BOOLEAN,             /* number: 0 or 1 */
    MARE_VALUE_NUMBER,
    MARE_VALUE_STRING,              /* data: `count` bytes, and a NUL */
    MARE_VALUE_ARRAY,               /* data: `count` elements of `type` */
    MARE_VALUE_BUFFER,              /* buffer: on a device, not retained */
    MARE_VALUE_OTHER,               /* a function, an object, ...; data: its tostring() */
    MARE_VALUE_LIST,                /* data: `count` mare_values, a table of 1 .. `count` */
    MARE_VALUE_TABLE                /* data: `count` mare_value_pairs, each with another key */
} mare_value_kind;

/* What passes between C and Lua. An array is the memory of its owner, not a copy: a script
 * reads and writes that of C as a[0] .. a[#a - 1], bounds are checked, and a device's
 * buffer:upload and :download take it. One given to mare_engine_call is the script's until that
 * call returns, one given to mare_engine_set until the name is set anew; after that a script that
 * has kept it gets an error. A transfer of it that the script queues is waited for, and no plan
 * takes one. An array of Lua numbers comes out as doubles.
 *
 * A table goes in and comes out as a tree of values, which is copied, the arrays in it, too. Keys
 * are booleans, numbers and strings, and come out in this order, numbers by size, strings by their
 * bytes. One of 1 .. n alone comes out as a list, of numbers as an array, an empty
 * one as a table. At most 32 tables lie within one another, with 1048576 values in all; what has
 * more, holds itself or has a metatable comes out as MARE_VALUE_OTHER. */
typedef struct mare_value {
    uint32_t kind;                  /* mare_value_kind */
    uint32_t type;                  /* mare_type of an array's elements */
    double number;
    const void *data;
    uint64_t count;
    mare_buffer *buffer;
} mare_value;

typedef struct mare_value_pair { mare_value key, value; } mare_value_pair;

/* ---- engines ---- */

/* One Lua state with Mare's modules, and what the embedding program gave it. */
typedef struct mare_engine mare_engine;

/* Takes a line of the log, without its end; it may not call the engine. Runs on its thread. */
typedef void mare_engine_log(void *context, uint32_t level, const char *text);

/* Memory for Lua's heap: as realloc(block, new_size), as free(block) where new_size is 0; block is
 * NULL and old_size without a meaning for a new one. NULL where there is none, but never for less
 * than there was. On the engine's thread; it may not call the engine. */
typedef void *mare_engine_allocate(void *context, void *block, size_t old_size, size_t new_size);

enum {
    /* Scripts see the language, math, string, table, bit, coroutine and what C gives them:
     * no files, processes, foreign functions or modules. Kernels are native code, so that there is
     * no `mare` either; scenarios that C opens are its own affair. */
    MARE_ENGINE_SANDBOX = 1,
    /* Scripts run as machine code, which is several times faster; but a loop of theirs that calls
     * nothing of Mare's can then not be interrupted. Mare's own Lua is compiled in any case. */
    MARE_ENGINE_COMPILED = 2
};

/* How an engine is to be; all zero is a good one. */
typedef struct mare_engine_desc {
    const char *label;              /* shown in errors; "engine" if NULL */
    const char *root;               /* folder of Mare's Lua; NULL: the one of this library */
    const char *path;               /* more places for require, as in Lua's package.path */
    /* most bytes that Lua's heap may take; 0: no limit. The call after one that failed for want of
     * them may take a quarter more, and at least 256 KiB, so that it can let go of something. With
     * a limit Lua is interpreted, not compiled, where LuaJIT is the system's 2.1.0-beta3. */
    uint64_t memory;
    uint32_t flags;                 /* MARE_ENGINE_* */
    mare_engine_log *log;           /* NULL: lines wait for mare_engine_log_next */
    void *log_context;
    mare_engine_allocate *allocate; /* NULL: LuaJIT's own; machine code has other memory */
    void *allocate_context;
    uint64_t reserved[6];           /* must be 0: as in mare.h, room for later versions */
} mare_engine_desc;

/* MARE_ENGINE_API_VERSION of the library that was loaded */
int mare_engine_api_version(void);

/* desc may be NULL. MARE_ERROR_UNAVAILABLE where Mare's Lua is not found. */
mare_status mare_engine_create(const mare_engine_desc *desc, mare_engine **out);
/* Its scenarios must have been closed. NULL is fine. */
mare_status mare_engine_destroy(mare_engine *engine);

/* ---- scripts ---- */

/* Runs a Lua text; `name` stands for it in messages. What it returns are the results. */
mare_status mare_engine_run(mare_engine *engine, const char *text, const char *name);
/* MARE_ERROR_IO where the file cannot be read. */
mare_status mare_engine_run_file(mare_engine *engine, const char *path);
/* Calls a global function, or one in tables as "flow.inlet.speed". */
mare_status mare_engine_call(mare_engine *engine, const char *function,
                             const mare_value *arguments, uint64_t argument_count);
/* How many values the last run, call or get has returned; 0 where it failed, or os.exit() ended
 * it. */
uint64_t mare_engine_result_count(const mare_engine *engine);
/* One of them, from 0, valid until the next run, call, get or step. */
mare_status mare_engine_result(const mare_engine *engine, uint64_t index, mare_value *out);
/* Sets a global variable, or a field of a table as "flow.depth". */
mare_status mare_engine_set(mare_engine *engine, const char *name, const mare_value *value);
/* Reads one, nil where there is none; valid like a result. */
mare_status mare_engine_get(mare_engine *engine, const char *name, mare_value *out);

/* A function of C that scripts call. It gives at most `room` results and their number in
 * *count, 0 before; their memory must last until it is called again. To fail it returns
 * mare_error_set(status, message), which the script gets as an error. An exception of C++ that
 * leaves it is an error of the script, "C++ exception"; no longjmp or thread exit may. */
typedef mare_status mare_function(void *context, const mare_value *arguments,
                                  uint64_t argument_count, mare_value *results, uint64_t room,
                                  uint64_t *count);
/* Makes it a global, or a field of a table, of that name. */
mare_status mare_engine_register(mare_engine *engine, const char *name, mare_function *function,
                                 void *context);

/* ---- begun, and not waited for ----
 * These do what mare_engine_run, mare_engine_call and mare_scenario_run do, on a thread that the
 * engine starts, without signals of the program's. Until mare_engine_wait has said that it is done
 * the owner of the engine may call nothing else but mare_engine_interrupt and mare_engine_log_next,
 * and what the arguments point to must stay (names and texts are copied). Functions of C, of the
 * log and of events, and the allocator are called on that thread meanwhile. */

/* Called once, on that thread, when all has ended, so that the program hears of it in its own loop:
 * by a byte into a pipe or an eventfd, or by what its loop has for other threads. It may not call
 * the engine, nor wait for its owner. */
typedef void mare_engine_wake(void *context);

/* wake: NULL for a program that asks now and then. */
mare_status mare_engine_begin(mare_engine *engine, const char *text, const char *name,
                              mare_engine_wake *wake, void *context);
mare_status mare_engine_begin_call(mare_engine *engine, const char *function,
                                   const mare_value *arguments, uint64_t argument_count,
                                   mare_engine_wake *wake, void *context);
/* Waits at most so long for the end of what was begun: 0 asks, UINT64_MAX waits. *done: whether it
 * has come; then the status, the results, the traceback and the exit code are those of that. It is
 * to be called until it has come; mare_engine_interrupt hastens it. */
mare_status mare_engine_wait(mare_engine *engine, uint64_t timeout_ms, int32_t *done);

/* From any thread: what the engine runs now, else the next thing that it is asked to run, ends with
 * MARE_ERROR_INTERRUPTED; a scenario first comes to the end of a batch of steps. C code that a
 * script calls is not interrupted. */
void mare_engine_interrupt(mare_engine *engine);
/* With what os.exit() ended the last thing that the engine was asked to run: 0 with MARE_OK, others
 * with MARE_ERROR_SCRIPT; -1 where it did not. */
int mare_engine_exit_code(const mare_engine *engine);
/* Where in Lua the last failure came from; "" if it did not; valid until the next call. */
const char *mare_engine_traceback(const mare_engine *engine);
/* Bytes of Lua's heap. */
uint64_t mare_engine_memory(const mare_engine *engine);
/* From any thread: takes the oldest line of the log, cut to `size` bytes with its NUL; 0 when there
 * is none. Of lines that nobody takes the last 256 are kept. What scripts print is MARE_LOG_INFO,
 * what they write to io.stderr MARE_LOG_WARN. */
int mare_engine_log_next(mare_engine *engine, uint32_t *level, char *text, uint64_t size);
/* ---- events: what Mare has to say, piece by piece ----
 * Beside lines of the log a program can have events: a kind and fields with names, so that it need
 * not read numbers out of texts. Kinds are "warning", "note", "answer", "log" (level), "start"
 * (version, title, options.nx, grid.nx, ...), "progress" (percent, t, step, dt, cells_per_second,
 * eta), "interlude", "output" (path, t), "checkpoint" (path, t, step), "rates" (steps, seconds,
 * cells_per_second), "files" (paths.1, ...), "failure" (reason, status, t, step) and "end" (t,
 * step, wall_seconds); lua/mare/base/events.lua has the list. More kinds and fields may come: a
 * program passes over what it does not know.
 *
 * Fields are a flat list, sorted by name, of numbers, booleans and strings, which C reads without a
 * parser; a field within a table has both names, as "grid.nx", and lists count from 1. What people
 * read is `message`. Fields that all events of a run have: run, which tells runs apart, and quiet,
 * where the options asked for no messages but warnings, as those of mare_scenario_open do. */

typedef struct mare_event_field {
    const char *name;
    mare_value value;               /* MARE_VALUE_NUMBER, _BOOLEAN or _STRING */
} mare_event_field;

typedef struct mare_engine_event {
    const char *kind;
    const char *message;            /* NULL where there is nothing for people to read */
    const mare_event_field *fields;
    uint64_t field_count;
} mare_engine_event;

/* Takes an event, which is valid until it returns. It runs on the engine's thread, within the
 * call of C that made the event; it may not call the engine, but for mare_engine_interrupt and
 * mare_engine_log_next. No exception, longjmp or thread exit may pass through it. */
typedef void mare_engine_listener(void *context, const mare_engine_event *event);

/* From now on the function hears of all events of the engine; it takes the place of the one before,
 * NULL ends it. pause: least seconds between two events of progress of a run. The log goes on as
 * before. */
mare_status mare_engine_listen(mare_engine *engine, mare_engine_listener *listener, void *context,
                               double pause);

/* The lua_State, for programs that speak to it themselves: on its thread, leaving its stack as it
 * was. NULL on another thread. */
void *mare_engine_lua(mare_engine *engine);
/* The function of Lua 5.1's C API to call on it, by its name, as "lua_pushnumber"; NULL if there is
 * none. The engine has a LuaJIT of its own, which it shows to nobody: a Lua that the program is
 * linked with is another one, whose functions know nothing of this state. For the same reason C
 * modules for Lua, which look for such symbols, do not load in an engine. */
void *mare_engine_lua_function(const char *name);

/* ---- DLPack's capsules in Python ---- */

/* A new tuple of functions that Python calls as its own, for who holds its lock; NULL where there
 * is no Python. Addresses are numbers. What fails gives its mare_status, a number, or raises:
 *   hold(buffer, shape)         an object that keeps a buffer, with the sizes of its axes
 *   give(held, queue, is_old)   a capsule of that array: see mare_tensor_export. queue: or 0;
 *                               is_old: 1 for who knows no DLPack 1
 *   take(capsule, device)       held, buffer and shape in the memory of a capsule's tensor, which
 *                               is taken: see mare_tensor_import */
void *mare_engine_python(void);

/* ---- scenarios, stepped from the embedding program's own loop ---- */

/* A simulation that a scenario file has set up. */
typedef struct mare_scenario mare_scenario;

typedef struct mare_scenario_progress {
    double t;                       /* model time */
    double dt;                      /* of the next step */
    double t_end;                   /* that the scenario asks for */
    double fraction;                /* of t_end that is reached, 0 .. 1 */
    double cells_per_second;        /* of the last step or run; 0 before */
    uint64_t steps;                 /* taken so far */
    uint32_t nx, ny;                /* cells of the whole grid */
} mare_scenario_progress;

/* A variable on the host: value (i, j) is element j * nx + i, x fastest, south first. */
typedef struct mare_scenario_values {
    const void *data;
    uint32_t type;                  /* MARE_TYPE_FLOAT or MARE_TYPE_DOUBLE */
    uint32_t nx, ny;
} mare_scenario_values;

/* Unknowns where they are, in the memory of a device: unknown k of cell (i, j) of the part is
 * element offset + k * plane + j * stride + i. */
typedef struct mare_scenario_part {
    mare_buffer *buffer;            /* not retained */
    uint32_t type;
    uint32_t i0, j0, nx, ny;        /* the part of the grid that it holds */
    uint32_t unknowns;
    uint64_t offset, stride, plane; /* elements */
} mare_scenario_part;

/* Sets up a scenario of Mare by its name, or one by its file name. options: words as on the command
 * line, "--nx=512", ended by NULL; or NULL. The run writes what they ask for, and is quiet. */
mare_status mare_scenario_open(mare_engine *engine, const char *name, const char *const *options,
                               mare_scenario **out);
/* NULL is fine. */
mare_status mare_scenario_close(mare_scenario *scenario);
/* Takes so many steps, at least 1, of the length that is stable: past the scenario's end too, which
 * is for the caller to heed (t and t_end of mare_scenario_read). */
mare_status mare_scenario_step(mare_scenario *scenario, uint64_t steps);
/* On to model time t exactly, with the output that the options ask for; infinity: the scenario's
 * own end. */
mare_status mare_scenario_run(mare_scenario *scenario, double t);
/* The same, begun and not waited for: see mare_engine_begin. */
mare_status mare_scenario_begin(mare_scenario *scenario, double t, mare_engine_wake *wake,
                                void *context);
mare_status mare_scenario_read(mare_scenario *scenario, mare_scenario_progress *out);
/* A variable by name, as "rho"; waits for it. Valid until the next step, run or close. */
mare_status mare_scenario_field(mare_scenario *scenario, const char *variable,
                                mare_scenario_values *out);
/* Parts count from 0; MARE_ERROR_ARGUMENT past the last one. Valid until the next step, run or
 * close. What the caller queues on it must end before that. */
mare_status mare_scenario_state(mare_scenario *scenario, uint32_t part, mare_scenario_part *out);

/* cdef:end */

#pragma GCC visibility pop

/* ---- shorthands ---- */

/* Runs a text, as mare_engine_run, and gives the first value that it returns, which is nil where it
 * fails or returns none; valid like a result. */
static inline mare_status mare_engine_evaluate(mare_engine *engine, const char *text,
                                               const char *name, mare_value *out) {
    mare_value nil = { MARE_VALUE_NIL, 0, 0.0, NULL, 0, NULL };
    mare_status status = mare_engine_run(engine, text, name);
    *out = nil;
    if (status != MARE_OK || !mare_engine_result_count(engine)) return status;
    return mare_engine_result(engine, 0, out);
}

/* The value of a field of an event; NULL if it has none of that name. */
static inline const mare_value *mare_event_value(const mare_engine_event *event,
                                                 const char *name) {
    for (uint64_t k = 0; k < event->field_count; k++)
        if (!strcmp(event->fields[k].name, name)) return &event->fields[k].value;
    return NULL;
}

static inline mare_value mare_value_number(double number) {
    mare_value value = { MARE_VALUE_NUMBER, 0, 0.0, NULL, 0, NULL };
    value.number = number;
    return value;
}

static inline mare_value mare_value_bytes(const void *text, uint64_t size) {
    mare_value value = { MARE_VALUE_STRING, 0, 0.0, NULL, 0, NULL };
    value.data = text;
    value.count = size;
    return value;
}

static inline mare_value mare_value_string(const char *text) {
    uint64_t size = 0;
    while (text && text[size]) size++;
    return mare_value_bytes(text, size);
}

static inline mare_value mare_value_array(uint32_t type, void *data, uint64_t count) {
    mare_value value = mare_value_bytes(data, count);
    value.kind = MARE_VALUE_ARRAY;
    value.type = type;
    return value;
}

/* mare_value grid[] = { mare_value_number(64), mare_value_string("periodic") }; a table { 64,
 * "periodic" } is mare_value_list(grid, 2). */
static inline mare_value mare_value_list(const mare_value *values, uint64_t count) {
    mare_value value = mare_value_bytes(values, count);
    value.kind = MARE_VALUE_LIST;
    return value;
}

/* mare_value_pair options[] = { mare_value_field("nx", mare_value_number(64)) }; a table
 * { nx = 64 } is mare_value_table(options, 1). */
static inline mare_value mare_value_table(const mare_value_pair *pairs, uint64_t count) {
    mare_value value = mare_value_bytes(pairs, count);
    value.kind = MARE_VALUE_TABLE;
    return value;
}

static inline mare_value_pair mare_value_field(const char *name, mare_value value) {
    mare_value_pair pair = { { MARE_VALUE_NIL, 0, 0.0, NULL, 0, NULL },
                             { MARE_VALUE_NIL, 0, 0.0, NULL, 0, NULL } };
    pair.key = mare_value_string(name);
    pair.value = value;
    return pair;
}

/* The value of a string as key of a table; NULL if it has none, or is no table. */
static inline const mare_value *mare_value_at(const mare_value *table, const char *name) {
    const mare_value_pair *pairs = (const mare_value_pair *)table->data;
    if (table->kind != MARE_VALUE_TABLE) return NULL;
    for (uint64_t k = 0; k < table->count; k++)
        if (pairs[k].key.kind == MARE_VALUE_STRING &&
            !strcmp((const char *)pairs[k].key.data, name)) return &pairs[k].value;
    return NULL;
}

static inline mare_value mare_value_buffer(mare_buffer *buffer) {
    mare_value value = { MARE_VALUE_BUFFER, 0, 0.0, NULL, 0, NULL };
    value.buffer = buffer;
    return value;
}

#ifdef __cplusplus
}
#endif
#endif
