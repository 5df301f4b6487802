/* engine.h - what the files of the engine share. Lua is entered at one place, engine_protect: in
 * everything it calls an error of Lua, lack of memory included, flies to there and no further. */
#ifndef MARE_BINDINGS_ENGINE_H
#define MARE_BINDINGS_ENGINE_H

#include "mare_engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <lauxlib.h>
#include <lua.h>

/* Lines that wait, a ring. */
typedef struct engine_log {
    pthread_mutex_t lock;
    uint64_t taken, written;
    struct engine_line { uint32_t level; char *text; } lines[256];
    char *partial[MARE_LOG_DEBUG + 1];      /* unfinished lines, by level */
} engine_log;

typedef struct engine_begun engine_begun;

struct mare_engine {
    lua_State *L;
    pthread_t thread;
    char label[64];
    uint32_t flags;
    lua_Alloc allocate;             /* LuaJIT's own, and its data */
    void *allocator;
    uint64_t used, limit;           /* bytes of the heap */
    atomic_bool interrupted;
    bool running, held, stopping;
    bool scripting;                 /* what is allocated is a script's */
    bool filled;                    /* the last call failed for want of memory */
    int64_t patience;               /* VM instructions left to who has asked for interrupts */
    /* of the last failure */
    mare_status status;
    bool described;                 /* the message handler was called */
    int exit_code;                  /* of os.exit(), which ended the last call; -1 */
    char *message, *traceback;
    mare_value *results;            /* anchored in Lua by `anchor` */
    uint64_t result_count;
    int anchor, borrowed;           /* references of tables */
    int environment, functions;     /* of lua/mare/launcher/embed.lua */
    uint64_t scenarios;             /* open */
    mare_engine_log *log;
    void *log_context;
    mare_engine_listener *listener;
    void *listener_context;
    engine_log queue;
    engine_begun *begun;            /* what another thread does with the engine meanwhile */
};

/* engine.c */
/* Refuses another thread, a call from within, and what an interrupt waits for. */
mare_status engine_enter(mare_engine *engine, const char *call);
/* Calls f(L) with `request` as its light userdata; whatever fails becomes a status. To be left with
 * engine_leave. */
mare_status engine_protect(mare_engine *engine, lua_CFunction f, void *request);
mare_status engine_leave(mare_engine *engine, mare_status status);
/* Before what may allocate without bound: the limit holds. */
void engine_begin_script(mare_engine *engine);
mare_engine *engine_of(lua_State *L);
/* Raises an error with a status, as bindings/errors.lua does. */
int engine_raise(lua_State *L, mare_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Refuses an argument before anything is done. */
mare_status engine_refuse(const mare_engine *engine, const char *call, const char *why);
/* Pushes a function of lua/mare/launcher/embed.lua. */
void engine_push_function(lua_State *L, const char *name);

/* engine_script.c: no results are left, where the caller may say so */
void engine_forget_results(mare_engine *engine);
/* Keeps the values from `first` on as the results. */
void engine_keep_results(lua_State *L, mare_engine *engine, int first);

/* engine_begin.c: enters, and begins engine_protect(engine, f, request) on another thread;
 * mare_engine_wait leaves. Takes the request over, which is malloc-ed; NULL: it was not. */
mare_status engine_begin(mare_engine *engine, lua_CFunction f, void *request,
                         mare_engine_wake *wake, void *context, const char *call);

/* engine_value.c */
void engine_push_value(lua_State *L, mare_engine *engine, const mare_value *value);
/* Reads the value at `index`; memory made for it is anchored in the table at `anchor`. */
void engine_read_value(lua_State *L, int index, int anchor, mare_value *out);
/* Likewise arrays, buffers and C data; false: it is none of these. */
bool engine_read_plainly(lua_State *L, int index, int anchor, mare_value *out);
double engine_array_number(const mare_value *v, uint64_t index);
void engine_open_arrays(lua_State *L);
/* home.array(value): address, bytes, type of an array of C; nothing of anything else */
int engine_home_array(lua_State *L);
void engine_end_loans(lua_State *L, mare_engine *engine);
/* Before anything is done with values of C. */
mare_status engine_check_values(const char *call, const mare_value *values, uint64_t count);
/* The array on top, if it is one, is on loan until `name` is lent anew; nil ends the loan. */
void engine_lend(lua_State *L, mare_engine *engine, const char *name);

/* engine_table.c: NULL, or why this value cannot be given to Lua */
const char *engine_check_value(const mare_value *value);
void engine_push_table(lua_State *L, mare_engine *engine, const mare_value *value);
/* False where the table is none that goes out. */
bool engine_read_table(lua_State *L, int index, int anchor, mare_value *out);

/* engine_log.c */
void engine_log_open(mare_engine *engine);
void engine_log_close(mare_engine *engine);
/* home.write(level, text): a piece of text, in lines or not; home.log(name, text): a line */
int engine_home_write(lua_State *L);
int engine_home_log(lua_State *L);
void engine_log_flush(mare_engine *engine);

/* engine_lua.c: pushes { name of a function of Lua's C API = its address }, for workers */
void engine_push_lua_calls(lua_State *L);

/* engine_event.c: home.tell(kind, names, values, message), an event for the listener in C */
int engine_home_tell(lua_State *L);

/* home.c: pushes the table that Lua knows as bindings.home, with what says where Mare lives, and
 * sets package.path to that. root NULL: found by where the library lies. */
void mare_home_push(lua_State *L, const char *root);

#endif
