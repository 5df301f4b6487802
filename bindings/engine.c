/* engine.c - engines: one Lua state each, entered by one thread under one guard.
 *
 * An interrupt is a flag that a hook looks at every few thousand VM instructions. LuaJIT tests no
 * hooks in machine code and knows no other way in without a signal, so that scripts are not
 * compiled unless the embedding program wants it; Mare's own modules are, and their loops ask for
 * interrupts. A script that catches the error of an interrupt gets the next one at the next
 * instruction, until it has ended.
 */
#include "engine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <luajit.h>
#include <lualib.h>

enum { RESERVE = 1 << 18 };                 /* bytes at least, to be asked where scripts took all */
enum { RESERVE_SHARE = 4 };                 /* of the limit */
enum { PERIOD = 10000 };                    /* VM instructions between two looks at the flag */
enum { PATIENCE = 100000000 };              /* to put files in order after having asked */

static const char engine_key;               /* in the registry: its engine */

mare_engine *engine_of(lua_State *L) {
    lua_pushlightuserdata(L, (void *)(uintptr_t)&engine_key);
    lua_rawget(L, LUA_REGISTRYINDEX);
    mare_engine *engine = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return engine;
}

/* ---- memory ---- */

/* To let go of many handles takes memory in proportion: the collector's table of finalizers is
 * made anew, and that is one block. */
static uint64_t reserve(const mare_engine *engine) {
    uint64_t share = engine->limit / RESERVE_SHARE;
    return share > RESERVE ? share : RESERVE;
}

/* LuaJIT collects when the heap has grown by a share of what lived; near the limit that is too
 * late, so that share is small where there is a limit. */
static void *allocate(void *context, void *block, size_t old_size, size_t new_size) {
    mare_engine *engine = context;
    uint64_t others = engine->used - old_size;
    uint64_t limit = engine->limit + (engine->scripting ? 0 : reserve(engine));
    if (engine->limit && new_size > old_size && others + new_size > limit) return NULL;
    void *result = engine->allocate(engine->allocator, block, old_size, new_size);
    if (result || !new_size) engine->used = others + new_size;
    return result;
}

/* A script in an engine that others have filled has the reserve, too, so that it can let go. */
void engine_begin_script(mare_engine *engine) {
    engine->scripting = !engine->filled && engine->used + RESERVE < engine->limit;
}

static void count_memory(mare_engine *engine) {
    engine->allocate = lua_getallocf(engine->L, &engine->allocator);
    engine->used = (uint64_t)lua_gc(engine->L, LUA_GCCOUNT, 0) * 1024 +
                   (uint64_t)lua_gc(engine->L, LUA_GCCOUNTB, 0);
    lua_setallocf(engine->L, allocate, engine);
    if (engine->limit) lua_gc(engine->L, LUA_GCSETPAUSE, 110);
}

/* ---- interrupts ---- */

static void look_for_interrupt(lua_State *L, lua_Debug *where) {
    (void)where;
    mare_engine *engine = engine_of(L);
    if (!atomic_load_explicit(&engine->interrupted, memory_order_relaxed) || engine->held) return;
    if (engine->patience > 0) {
        engine->patience -= PERIOD;
        return;
    }
    engine->stopping = true;
    lua_sethook(L, look_for_interrupt, LUA_MASKCOUNT, 1);
    lua_pushliteral(L, "interrupted");
    lua_error(L);
}

/* home.interrupted(): whether to stop. Who asks is given time to do it in order. */
static int home_interrupted(lua_State *L) {
    mare_engine *engine = engine_of(L);
    bool answer = atomic_load(&engine->interrupted);
    if (answer && engine->patience == 0) engine->patience = PATIENCE;
    lua_pushboolean(L, answer);
    return 1;
}

/* home.is_stopping(): whether an interrupt has begun to raise errors. */
static int home_is_stopping(lua_State *L) {
    lua_pushboolean(L, engine_of(L)->stopping);
    return 1;
}

/* home.hold(on): until it is off the hook raises nothing. Returns what it was. */
static int home_hold(lua_State *L) {
    mare_engine *engine = engine_of(L);
    bool held = engine->held;
    engine->held = lua_toboolean(L, 1);
    lua_pushboolean(L, held);
    return 1;
}

void mare_engine_interrupt(mare_engine *engine) {
    if (engine) atomic_store(&engine->interrupted, true);
}

/* ---- failures ---- */

static void forget_failure(mare_engine *engine) {
    free(engine->message);
    free(engine->traceback);
    engine->message = engine->traceback = NULL;
    engine->status = MARE_OK;
}

static void note_failure(mare_engine *engine, mare_status status, const char *message,
                         const char *traceback) {
    forget_failure(engine);
    engine->status = status;
    engine->message = strdup(message);
    engine->traceback = strdup(traceback);
}

/* The status of an error of Mare by the name that it carries. */
static mare_status status_named(const char *name) {
    for (int status = MARE_ERROR_ARGUMENT; status <= MARE_ERROR_INTERRUPTED; status++)
        if (!strcmp(name, mare_status_name((mare_status)status))) return (mare_status)status;
    if (!strcmp(name, "stop")) return MARE_OK;
    if (!strcmp(name, "interrupted") || !strcmp(name, "unfinished")) return MARE_ERROR_INTERRUPTED;
    return !strcmp(name, "usage") ? MARE_ERROR_ARGUMENT : MARE_ERROR_SCRIPT;
}

int engine_raise(lua_State *L, mare_status status, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    engine_push_function(L, "raise");
    lua_pushstring(L, mare_status_name(status));
    lua_pushstring(L, text);
    lua_call(L, 2, 0);
    return 0;
}

/* Pushes the stack without the addresses of functions that have no name, and without the last of
 * these, by which the engine calls. */
static const char *push_traceback(lua_State *L) {
    static const char nameless[] = ": at 0x";
    luaL_traceback(L, L, NULL, 1);
    const char *line = lua_tostring(L, -1);
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    size_t unknown = 0;
    for (size_t size; *line; line += size) {
        size = strcspn(line + 1, "\n") + 1;
        const char *found = strstr(line, nameless);
        if (found && found < line + size) {
            unknown++;
            continue;
        }
        for (; unknown; unknown--) luaL_addstring(&out, "\n\t[C]: in ?");
        luaL_addlstring(&out, line, size);
    }
    luaL_pushresult(&out);
    return lua_tostring(L, -1);
}

/* The message handler: (failure). */
static int describe(lua_State *L) {
    mare_engine *engine = engine_of(L);
    mare_status status = MARE_ERROR_SCRIPT;
    engine->described = true;
    if (lua_istable(L, 1)) {
        lua_pushliteral(L, "code");
        lua_rawget(L, 1);
        if (lua_type(L, -1) == LUA_TNUMBER) engine->exit_code = (int)lua_tointeger(L, -1);
        lua_pushliteral(L, "status");
        lua_rawget(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING) status = status_named(lua_tostring(L, -1));
    }
    if (lua_isstring(L, 1)) lua_pushvalue(L, 1);
    else if (!luaL_callmeta(L, 1, "__tostring"))
        lua_pushfstring(L, "(an error that is a %s)", luaL_typename(L, 1));
    const char *text = lua_tostring(L, -1);
    if (!text) text = "(an error without words)";
    const char *stack = push_traceback(L);
    if (atomic_load(&engine->interrupted)) status = MARE_ERROR_INTERRUPTED;
    note_failure(engine, status, text, stack);
    lua_settop(L, 1);
    return 1;
}

typedef struct job { lua_CFunction f; void *request; int failed; } job;

static int run_job(lua_State *L) {
    job *j = lua_touserdata(L, 1);
    lua_pushcfunction(L, describe);
    lua_pushcfunction(L, j->f);
    lua_pushlightuserdata(L, j->request);
    j->failed = lua_pcall(L, 1, 0, 2);
    return 0;
}

static mare_status fail_plainly(mare_engine *engine, int failed) {
    if (failed == LUA_ERRMEM) {
        char text[96];
        snprintf(text, sizeof text, "out of memory: Lua has %llu bytes, the limit is %llu",
                 (unsigned long long)engine->used, (unsigned long long)engine->limit);
        note_failure(engine, MARE_ERROR_MEMORY, text, "");
    } else if (failed == LUA_ERRERR) {
        note_failure(engine, MARE_ERROR_SCRIPT, "an error while an error was described", "");
    } else if (!engine->described) {        /* no error of Lua's */
        note_failure(engine, MARE_ERROR_SCRIPT, "an exception was thrown in a function that is "
                     "not Lua's (C++ exception)", "");
    }
    return engine->status;
}

mare_status engine_protect(mare_engine *engine, lua_CFunction f, void *request) {
    lua_State *L = engine->L;
    int top = lua_gettop(L);
    job j = { f, request, 0 };
    engine->described = false;
    int outside = lua_cpcall(L, run_job, &j);
    int failed = outside ? outside : j.failed;
    if (failed) fail_plainly(engine, failed);
    lua_settop(L, top);
    return failed ? engine->status : MARE_OK;
}

static mare_status refuse_interrupted(mare_engine *engine, const char *call) {
    atomic_store(&engine->interrupted, false);
    note_failure(engine, MARE_ERROR_INTERRUPTED, "interrupted", "");
    char text[128];
    snprintf(text, sizeof text, "engine '%s': %s: interrupted", engine->label, call);
    return mare_error_set(MARE_ERROR_INTERRUPTED, text);
}

mare_status engine_refuse(const mare_engine *engine, const char *call, const char *why) {
    char text[256];
    if (!engine) snprintf(text, sizeof text, "%s: engine is NULL", call);
    else snprintf(text, sizeof text, "%s: engine '%s' %s", call, engine->label, why);
    return mare_error_set(MARE_ERROR_ARGUMENT, text);
}

mare_status engine_enter(mare_engine *engine, const char *call) {
    if (!engine) return engine_refuse(NULL, call, "");
    if (!pthread_equal(engine->thread, pthread_self()))
        return engine_refuse(engine, call, "belongs to the thread that created it");
    if (engine->begun)
        return engine_refuse(engine, call, "does what was begun: mare_engine_wait comes first");
    if (engine->running)
        return engine_refuse(engine, call, "is running: a function that it calls must not");
    if (atomic_load(&engine->interrupted)) return refuse_interrupted(engine, call);
    forget_failure(engine);
    engine->exit_code = -1;
    engine->running = true;
    engine->patience = 0;
    return MARE_OK;
}

static int recover(lua_State *L) {
    mare_engine *engine = lua_touserdata(L, 1);
    lua_sethook(L, look_for_interrupt, LUA_MASKCOUNT, PERIOD);
    engine_end_loans(L, engine);
    if (engine->status != MARE_OK && engine->functions) {
        engine_push_function(L, "recover");
        lua_call(L, 0, 0);
    }
    if (engine->status == MARE_ERROR_MEMORY) lua_gc(L, LUA_GCCOLLECT, 0);
    return 0;
}

mare_status engine_leave(mare_engine *engine, mare_status status) {
    lua_State *L = engine->L;
    engine->scripting = false;
    engine->filled = status == MARE_ERROR_MEMORY;
    if (status == MARE_ERROR_INTERRUPTED) atomic_store(&engine->interrupted, false);
    bool pending = atomic_exchange(&engine->interrupted, false);
    int top = lua_gettop(L);
    (void)lua_cpcall(L, recover, engine);
    lua_settop(L, top);
    if (pending) atomic_store(&engine->interrupted, true);
    engine->held = engine->running = engine->stopping = false;
    engine_log_flush(engine);
    if (status == MARE_OK) return MARE_OK;
    const char *message = engine->message ? engine->message : "out of memory";
    size_t size = strlen(engine->label) + strlen(message) + sizeof "engine '': ";
    char *text = malloc(size);
    if (!text) return mare_error_set(status, "out of memory, and none left to tell more");
    snprintf(text, size, "engine '%s': %s", engine->label, message);
    mare_error_set(status, text);
    free(text);
    return status;
}

/* What another thread changes meanwhile is told when that has ended. */
static bool is_settled(const mare_engine *engine) { return engine && !engine->begun; }

int mare_engine_exit_code(const mare_engine *engine) {
    return is_settled(engine) ? engine->exit_code : -1;
}

const char *mare_engine_traceback(const mare_engine *engine) {
    return is_settled(engine) && engine->traceback ? engine->traceback : "";
}

/* ---- life ---- */

void engine_push_function(lua_State *L, const char *name) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, engine_of(L)->functions);
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
}

static void add_function(lua_State *L, const char *name, lua_CFunction f) {
    lua_pushcfunction(L, f);
    lua_setfield(L, -2, name);
}

static void fill_home(lua_State *L, const mare_engine *engine) {
    add_function(L, "interrupted", home_interrupted);
    add_function(L, "is_stopping", home_is_stopping);
    add_function(L, "hold", home_hold);
    add_function(L, "write", engine_home_write);
    add_function(L, "log", engine_home_log);
    add_function(L, "tell", engine_home_tell);
    add_function(L, "array", engine_home_array);
    engine_push_lua_calls(L);
    lua_setfield(L, -2, "lua");
    lua_getglobal(L, "xpcall");
    lua_setfield(L, -2, "call");
    lua_pushboolean(L, 1);
    lua_setfield(L, -2, "embedded");
    lua_pushboolean(L, (engine->flags & MARE_ENGINE_COMPILED) != 0);
    lua_setfield(L, -2, "compiled");
    lua_pushboolean(L, (engine->flags & MARE_ENGINE_SANDBOX) != 0);
    lua_setfield(L, -2, "sandbox");
}

typedef struct start { mare_engine *engine; const mare_engine_desc *desc; } start;

/* Whether this is LuaJIT of before 2023, whose compiled code does not stand every error of memory:
 * it crashed in 65 of 185 loops of d:stream() that came to the limit. */
static bool is_old(lua_State *L) {
    lua_getglobal(L, "jit");
    lua_getfield(L, -1, "version");
    bool old = strcmp(lua_tostring(L, -1), "LuaJIT 2.1.0-beta3") == 0;
    lua_pop(L, 2);
    return old;
}

/* lua/mare/launcher/embed.lua returns a function(home) -> environment of scripts, functions */
static int start_state(lua_State *L) {
    start *s = lua_touserdata(L, 1);
    mare_engine *engine = s->engine;
    lua_pushlightuserdata(L, (void *)(uintptr_t)&engine_key);
    lua_pushlightuserdata(L, engine);
    lua_rawset(L, LUA_REGISTRYINDEX);
    luaL_openlibs(L);
    if (s->desc->memory && is_old(L)) luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    lua_newtable(L);
    engine->borrowed = luaL_ref(L, LUA_REGISTRYINDEX);
    engine_open_arrays(L);
    if (s->desc->path) {
        lua_getglobal(L, "package");
        lua_pushfstring(L, "%s;", s->desc->path);
        lua_getfield(L, -2, "path");
        lua_concat(L, 2);
        lua_setfield(L, -2, "path");
    }
    mare_home_push(L, s->desc->root);
    fill_home(L, engine);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "mare.launcher.embed");
    lua_call(L, 1, 1);
    lua_pushvalue(L, -2);
    lua_call(L, 1, 2);
    engine->functions = luaL_ref(L, LUA_REGISTRYINDEX);
    engine->environment = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_sethook(L, look_for_interrupt, LUA_MASKCOUNT, PERIOD);
    return 0;
}

static void close_engine(mare_engine *engine) {
    if (engine->L) {
        lua_sethook(engine->L, NULL, 0, 0);
        lua_setallocf(engine->L, engine->allocate, engine->allocator);
        lua_close(engine->L);
        mare_program_settle();  /* threads still compile what its scripts had begun */
    }
    engine_log_close(engine);
    free(engine->message);
    free(engine->traceback);
    free(engine->results);
    free(engine);
}

int mare_engine_api_version(void) { return MARE_ENGINE_API_VERSION; }

static mare_status check_desc(const mare_engine_desc *desc) {
    for (size_t i = 0; i < sizeof desc->reserved / sizeof *desc->reserved; i++)
        if (desc->reserved[i])
            return mare_error_set(MARE_ERROR_ARGUMENT, "mare_engine_create: reserved must be 0: "
                                  "the descriptor is of a newer version, or was not set to zero");
    if (!(desc->flags & ~(uint32_t)(MARE_ENGINE_SANDBOX | MARE_ENGINE_COMPILED))) return MARE_OK;
    char text[128];
    snprintf(text, sizeof text, "mare_engine_create: flags = %#x (allowed: MARE_ENGINE_SANDBOX, "
             "MARE_ENGINE_COMPILED)", desc->flags);
    return mare_error_set(MARE_ERROR_ARGUMENT, text);
}

mare_status mare_engine_create(const mare_engine_desc *desc, mare_engine **out) {
    static const mare_engine_desc plain;
    if (!desc) desc = &plain;
    if (!out) return mare_error_set(MARE_ERROR_ARGUMENT, "mare_engine_create: out is NULL");
    *out = NULL;
    if (check_desc(desc) != MARE_OK) return MARE_ERROR_ARGUMENT;
    mare_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return mare_error_set(MARE_ERROR_MEMORY, "mare_engine_create: out of memory");
    engine->thread = pthread_self();
    engine->flags = desc->flags;
    engine->limit = desc->memory;
    engine->log = desc->log;
    engine->log_context = desc->log_context;
    engine->anchor = LUA_NOREF;
    engine->exit_code = -1;
    snprintf(engine->label, sizeof engine->label, "%s", desc->label ? desc->label : "engine");
    engine_log_open(engine);
    mare_status status = MARE_ERROR_MEMORY;
    engine->L = desc->allocate ? lua_newstate(desc->allocate, desc->allocate_context)
                               : luaL_newstate();
    if (engine->L) {
        count_memory(engine);
        status = engine_protect(engine, start_state, &(start){ engine, desc });
        if (status == MARE_ERROR_SCRIPT) status = MARE_ERROR_UNAVAILABLE;
    }
    status = engine->L ? engine_leave(engine, status)
                       : mare_error_set(status, "mare_engine_create: out of memory");
    if (status != MARE_OK) close_engine(engine);
    else *out = engine;
    return status;
}

mare_status mare_engine_destroy(mare_engine *engine) {
    if (!engine) return MARE_OK;
    /* What was begun or runs keeps its interrupt. */
    if (pthread_equal(engine->thread, pthread_self()) && !engine->begun && !engine->running)
        atomic_store(&engine->interrupted, false);
    mare_status status = engine_enter(engine, "mare_engine_destroy");
    if (status != MARE_OK) return status;
    engine->running = false;
    if (engine->scenarios)
        return engine_refuse(engine, "mare_engine_destroy", "has open scenarios");
    close_engine(engine);
    return MARE_OK;
}

void *mare_engine_lua(mare_engine *engine) {
    if (!engine || !pthread_equal(engine->thread, pthread_self())) {
        (void)engine_refuse(engine, "mare_engine_lua", "belongs to the thread that created it");
        return NULL;
    }
    return is_settled(engine) ? engine->L : NULL;
}

uint64_t mare_engine_memory(const mare_engine *engine) {
    return is_settled(engine) ? engine->used : 0;
}
