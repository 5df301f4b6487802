/* engine_script.c - running scripts, calling their functions, their globals, and functions of C.
 * Names may lead through tables: "flow.inlet.speed". */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <luajit.h>

/* ---- results ---- */

void engine_keep_results(lua_State *L, mare_engine *engine, int first) {
    int count = lua_gettop(L) - first + 1;
    engine->result_count = 0;
    mare_value *results = realloc(engine->results, (size_t)(count + 1) * sizeof *results);
    if (!results) engine_raise(L, MARE_ERROR_MEMORY, "out of memory for %d results", count);
    else engine->results = results;
    luaL_checkstack(L, 16, "results");
    lua_newtable(L);
    int anchor = lua_gettop(L);
    for (int i = 0; i < count; i++) engine_read_value(L, first + i, anchor, &engine->results[i]);
    luaL_unref(L, LUA_REGISTRYINDEX, engine->anchor);
    engine->anchor = luaL_ref(L, LUA_REGISTRYINDEX);
    engine->result_count = (uint64_t)count;
}

/* Another thread, or a function that the engine calls, may not: the results are of who may. */
void engine_forget_results(mare_engine *engine) {
    if (engine && pthread_equal(engine->thread, pthread_self()) && !engine->running)
        engine->result_count = 0;
}

uint64_t mare_engine_result_count(const mare_engine *engine) {
    return engine && !engine->begun ? engine->result_count : 0;
}

mare_status mare_engine_result(const mare_engine *engine, uint64_t index, mare_value *out) {
    if (out) *out = (mare_value){ 0 };
    if (!engine || !out) return engine_refuse(engine, "mare_engine_result", "needs out");
    if (index < mare_engine_result_count(engine)) {
        *out = engine->results[index];
        return MARE_OK;
    }
    char text[96];
    snprintf(text, sizeof text, "has %llu results, there is no number %llu",
             (unsigned long long)mare_engine_result_count(engine), (unsigned long long)index);
    return engine_refuse(engine, "mare_engine_result", text);
}

/* ---- names ---- */

/* Pushes the table that holds the last part of `name`, and returns that part. */
static const char *push_owner(lua_State *L, const mare_engine *engine, const char *name) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, engine->environment);
    const char *dot;
    for (; (dot = strchr(name, '.')); name = dot + 1) {
        lua_pushlstring(L, name, (size_t)(dot - name));
        lua_gettable(L, -2);
        lua_remove(L, -2);
        if (!lua_istable(L, -1))
            engine_raise(L, MARE_ERROR_ARGUMENT, "'%.*s' is a %s, not a table",
                         (int)(dot - name), name, luaL_typename(L, -1));
    }
    return name;
}

/* ---- requests: what the guarded functions below are given ---- */

typedef struct request {
    mare_engine *engine;
    const char *text, *name, *path;
    const mare_value *values;
    uint64_t count;
    mare_function *function;
    void *context;
} request;

/* Runs f(L) as a call of the embedding program's. */
static mare_status serve(lua_CFunction f, request *r, const char *call) {
    mare_status status = engine_enter(r->engine, call);
    if (status != MARE_OK) return status;
    return engine_leave(r->engine, engine_protect(r->engine, f, r));
}

/* The loaded chunk is on top, or why it could not be. */
static void run_chunk(lua_State *L, mare_engine *engine, int failed) {
    if (failed == LUA_ERRFILE) engine_raise(L, MARE_ERROR_IO, "%s", lua_tostring(L, -1));
    if (failed) lua_error(L);
    if (!(engine->flags & MARE_ENGINE_COMPILED))
        luaJIT_setmode(L, -1, LUAJIT_MODE_ALLFUNC | LUAJIT_MODE_OFF);
    lua_rawgeti(L, LUA_REGISTRYINDEX, engine->environment);
    lua_setfenv(L, -2);
    int first = lua_gettop(L);
    engine_begin_script(engine);
    lua_call(L, 0, LUA_MULTRET);
    engine_keep_results(L, engine, first);
}

/* Texts only: bytecode could do anything. */
static int do_run(lua_State *L) {
    const request *r = lua_touserdata(L, 1);
    if (r->path) {
        run_chunk(L, r->engine, luaL_loadfilex(L, r->path, "t"));
        return 0;
    }
    lua_pushfstring(L, "=%s", r->name ? r->name : "script");
    const char *name = lua_tostring(L, -1);
    run_chunk(L, r->engine, luaL_loadbufferx(L, r->text, strlen(r->text), name, "t"));
    return 0;
}

mare_status mare_engine_run(mare_engine *engine, const char *text, const char *name) {
    engine_forget_results(engine);
    if (!engine || !text) return engine_refuse(engine, "mare_engine_run", "needs a text");
    return serve(do_run, &(request){ .engine = engine, .text = text, .name = name },
                 "mare_engine_run");
}

mare_status mare_engine_run_file(mare_engine *engine, const char *path) {
    engine_forget_results(engine);
    if (!engine || !path) return engine_refuse(engine, "mare_engine_run_file", "needs a path");
    return serve(do_run, &(request){ .engine = engine, .path = path }, "mare_engine_run_file");
}

static int do_call(lua_State *L) {
    const request *r = lua_touserdata(L, 1);
    lua_getfield(L, -1, push_owner(L, r->engine, r->name));
    int first = lua_gettop(L);
    if (!lua_isfunction(L, -1) && !luaL_getmetafield(L, -1, "__call"))
        engine_raise(L, MARE_ERROR_ARGUMENT, "'%s' is a %s, not a function", r->name,
                     luaL_typename(L, first));
    lua_settop(L, first);
    for (uint64_t i = 0; i < r->count; i++) engine_push_value(L, r->engine, &r->values[i]);
    engine_begin_script(r->engine);
    lua_call(L, (int)r->count, LUA_MULTRET);
    engine_keep_results(L, r->engine, first);
    return 0;
}

mare_status mare_engine_call(mare_engine *engine, const char *function,
                             const mare_value *arguments, uint64_t argument_count) {
    static const char call[] = "mare_engine_call";
    engine_forget_results(engine);
    if (!engine || !function) return engine_refuse(engine, call, "needs the name of a function");
    mare_status status = engine_check_values(call, arguments, argument_count);
    if (status != MARE_OK) return status;
    return serve(do_call, &(request){ .engine = engine, .name = function, .values = arguments,
        .count = argument_count }, call);
}

/* ---- begun, and not waited for ---- */

/* One block of a request with its values and its texts, NULL standing for a text too. */
static request *copy_request(const request *r) {
    const char *texts[] = { r->text, r->name };
    size_t values = (size_t)r->count * sizeof *r->values, sizes[2];
    for (int i = 0; i < 2; i++) sizes[i] = texts[i] ? strlen(texts[i]) + 1 : 0;
    request *copy = malloc(sizeof *copy + values + sizes[0] + sizes[1]);
    if (!copy) return NULL;
    *copy = *r;
    copy->values = memcpy(copy + 1, r->count ? r->values : (const void *)r, values);
    char *end = (char *)(copy + 1) + values;
    if (texts[0]) copy->text = memcpy(end, texts[0], sizes[0]);
    if (texts[1]) copy->name = memcpy(end + sizes[0], texts[1], sizes[1]);
    return copy;
}

mare_status mare_engine_begin(mare_engine *engine, const char *text, const char *name,
                              mare_engine_wake *wake, void *context) {
    static const char call[] = "mare_engine_begin";
    engine_forget_results(engine);
    if (!engine || !text) return engine_refuse(engine, call, "needs a text");
    const request r = { .engine = engine, .text = text, .name = name };
    return engine_begin(engine, do_run, copy_request(&r), wake, context, call);
}

mare_status mare_engine_begin_call(mare_engine *engine, const char *function,
                                   const mare_value *arguments, uint64_t argument_count,
                                   mare_engine_wake *wake, void *context) {
    static const char call[] = "mare_engine_begin_call";
    engine_forget_results(engine);
    if (!engine || !function) return engine_refuse(engine, call, "needs the name of a function");
    mare_status status = engine_check_values(call, arguments, argument_count);
    if (status != MARE_OK) return status;
    const request r = { .engine = engine, .name = function, .values = arguments,
        .count = argument_count };
    return engine_begin(engine, do_call, copy_request(&r), wake, context, call);
}

/* ---- globals ---- */

static int do_set(lua_State *L) {
    const request *r = lua_touserdata(L, 1);
    const char *field = push_owner(L, r->engine, r->name);
    engine_push_value(L, r->engine, r->values);
    engine_lend(L, r->engine, r->name);
    lua_setfield(L, -2, field);
    return 0;
}

mare_status mare_engine_set(mare_engine *engine, const char *name, const mare_value *value) {
    static const char call[] = "mare_engine_set";
    if (!engine || !name || !value) return engine_refuse(engine, call, "needs a name and a value");
    mare_status status = engine_check_values(call, value, 1);
    if (status != MARE_OK) return status;
    return serve(do_set, &(request){ .engine = engine, .name = name, .values = value }, call);
}

static int do_get(lua_State *L) {
    const request *r = lua_touserdata(L, 1);
    lua_getfield(L, -1, push_owner(L, r->engine, r->name));
    engine_keep_results(L, r->engine, lua_gettop(L));
    return 0;
}

mare_status mare_engine_get(mare_engine *engine, const char *name, mare_value *out) {
    static const char call[] = "mare_engine_get";
    engine_forget_results(engine);
    if (out) *out = (mare_value){ 0 };
    if (!engine || !name || !out) return engine_refuse(engine, call, "needs a name and out");
    mare_status status = serve(do_get, &(request){ .engine = engine, .name = name }, call);
    if (status == MARE_OK) *out = engine->results[0];
    return status;
}

/* ---- functions of C ---- */

typedef struct callee { mare_function *function; void *context; } callee;

enum { RESULTS = 16, ARGUMENTS = 32 };

/* The function of C, whose name is the second upvalue, has failed. */
static int raise_refusal(lua_State *L, mare_status status) {
    const char *message = mare_error_message();
    if (*message) return engine_raise(L, status, "%s", message);
    return engine_raise(L, status, "%s returned %s without a message",
                        lua_tostring(L, lua_upvalueindex(2)), mare_status_name(status));
}

static int call_program(lua_State *L) {
    const callee *c = lua_touserdata(L, lua_upvalueindex(1));
    mare_value arguments[ARGUMENTS], results[RESULTS] = { { 0 } };
    int count = lua_gettop(L);
    if (count > ARGUMENTS)
        return luaL_error(L, "%d arguments for a C function, at most %d fit", count, ARGUMENTS);
    lua_newtable(L);
    for (int i = 0; i < count; i++) engine_read_value(L, i + 1, count + 1, &arguments[i]);
    uint64_t given = 0;
    mare_error_set(MARE_OK, "");        /* an older message is not that of this call */
    mare_status status = c->function(c->context, arguments, (uint64_t)count, results, RESULTS,
                                     &given);
    if (status != MARE_OK) return raise_refusal(L, status);
    if (given > RESULTS) return luaL_error(L, "a C function gives more results than fit");
    if (engine_check_values("the C function", results, given) != MARE_OK)
        return luaL_error(L, "%s", mare_error_message());
    for (uint64_t i = 0; i < given; i++) engine_push_value(L, engine_of(L), &results[i]);
    return (int)given;
}

static int do_register(lua_State *L) {
    const request *r = lua_touserdata(L, 1);
    const char *field = push_owner(L, r->engine, r->name);
    callee *c = lua_newuserdata(L, sizeof *c);
    *c = (callee){ r->function, r->context };
    lua_pushstring(L, r->name);
    lua_pushcclosure(L, call_program, 2);
    lua_setfield(L, -2, field);
    return 0;
}

mare_status mare_engine_register(mare_engine *engine, const char *name, mare_function *function,
                                 void *context) {
    static const char call[] = "mare_engine_register";
    if (!engine || !name || !function)
        return engine_refuse(engine, call, "needs a name and a function");
    return serve(do_register, &(request){ .engine = engine, .name = name, .function = function,
        .context = context }, call);
}
