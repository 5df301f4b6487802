/* engine_scenario.c - scenarios stepped from the embedding program's loop: handles to what
 * mare.simulation makes in Lua (lua/mare/live/init.lua). */
#include "engine.h"

#include <math.h>
#include <stdlib.h>

struct mare_scenario { mare_engine *engine; int object; };

typedef struct request {
    mare_engine *engine;
    mare_scenario *scenario;
    const char *name;
    const char *const *options;
    double number;
    mare_scenario_progress *progress;
    mare_scenario_values *values;
    mare_scenario_part *part;
} request;

static mare_status serve(lua_CFunction f, request *r, const char *call) {
    mare_engine *engine = r->engine ? r->engine : r->scenario ? r->scenario->engine : NULL;
    if (!engine) {
        return mare_error_set(MARE_ERROR_ARGUMENT, "mare_scenario: the scenario is NULL");
    }
    mare_status status = engine_enter(engine, call);
    if (status != MARE_OK) return status;
    return engine_leave(engine, engine_protect(engine, f, r));
}

/* Pushes function `name` of lua/mare/launcher/embed.lua and the scenario. */
static void push_call(lua_State *L, const char *name, const request *r) {
    engine_push_function(L, name);
    lua_rawgeti(L, LUA_REGISTRYINDEX, r->scenario->object);
}

/* ---- life ---- */

static int do_open(lua_State *L) {
    const request *r = lua_touserdata(L, 1);
    engine_push_function(L, "open");
    lua_pushstring(L, r->name);
    lua_newtable(L);
    for (int i = 0; r->options && r->options[i]; i++) {
        lua_pushstring(L, r->options[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_call(L, 2, 1);
    r->scenario->object = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

mare_status mare_scenario_open(mare_engine *engine, const char *name, const char *const *options,
                               mare_scenario **out) {
    static const char call[] = "mare_scenario_open";
    if (out) *out = NULL;
    if (!engine || !name || !out) return engine_refuse(engine, call, "needs a name and out");
    mare_scenario *scenario = malloc(sizeof *scenario);
    if (!scenario) return mare_error_set(MARE_ERROR_MEMORY, "mare_scenario_open: out of memory");
    *scenario = (mare_scenario){ engine, LUA_NOREF };
    mare_status status = serve(do_open, &(request){ .engine = engine, .scenario = scenario,
        .name = name, .options = options }, call);
    if (status == MARE_OK && scenario->object == LUA_NOREF)     /* --help, or os.exit() */
        status = engine_refuse(engine, call, "has no scenario: it ended without a simulation");
    if (status != MARE_OK) {
        free(scenario);
        return status;
    }
    engine->scenarios++;
    *out = scenario;
    return MARE_OK;
}

static int do_close(lua_State *L) {
    const request *r = lua_touserdata(L, 1);
    push_call(L, "close", r);
    luaL_unref(L, LUA_REGISTRYINDEX, r->scenario->object);
    lua_call(L, 1, 0);
    return 0;
}

mare_status mare_scenario_close(mare_scenario *scenario) {
    if (!scenario) return MARE_OK;
    mare_engine *engine = scenario->engine;
    mare_status status = engine_enter(engine, "mare_scenario_close");
    if (status != MARE_OK) return status;
    request r = { .scenario = scenario };
    (void)engine_leave(engine, engine_protect(engine, do_close, &r));
    engine->scenarios--;
    free(scenario);
    return MARE_OK;
}

/* ---- steps ---- */

static int do_step(lua_State *L) {
    const request *r = lua_touserdata(L, 1);
    push_call(L, "step", r);
    lua_pushnumber(L, r->number);
    lua_call(L, 2, 0);
    return 0;
}

mare_status mare_scenario_step(mare_scenario *scenario, uint64_t steps) {
    return serve(do_step, &(request){ .scenario = scenario, .number = (double)steps },
                 "mare_scenario_step");
}

static int do_run(lua_State *L) {
    const request *r = lua_touserdata(L, 1);
    push_call(L, "run", r);
    if (isinf(r->number) && r->number > 0) lua_pushnil(L);
    else lua_pushnumber(L, r->number);
    lua_call(L, 2, 0);
    return 0;
}

mare_status mare_scenario_run(mare_scenario *scenario, double t) {
    return serve(do_run, &(request){ .scenario = scenario, .number = t }, "mare_scenario_run");
}

mare_status mare_scenario_begin(mare_scenario *scenario, double t, mare_engine_wake *wake,
                                void *context) {
    static const char call[] = "mare_scenario_begin";
    if (!scenario) return mare_error_set(MARE_ERROR_ARGUMENT, "mare_scenario_begin: it is NULL");
    request *r = malloc(sizeof *r);
    if (r) *r = (request){ .scenario = scenario, .number = t };
    return engine_begin(scenario->engine, do_run, r, wake, context, call);
}

/* ---- what it is like now ---- */

static double number_field(lua_State *L, const char *name) {
    lua_getfield(L, -1, name);
    double value = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return value;
}

static int do_read(lua_State *L) {
    const request *r = lua_touserdata(L, 1);
    push_call(L, "progress", r);
    lua_call(L, 1, 1);
    *r->progress = (mare_scenario_progress){
        .t = number_field(L, "t"), .dt = number_field(L, "dt"), .t_end = number_field(L, "t_end"),
        .fraction = number_field(L, "fraction"),
        .cells_per_second = number_field(L, "cells_per_second"),
        .steps = (uint64_t)number_field(L, "steps"), .nx = (uint32_t)number_field(L, "nx"),
        .ny = (uint32_t)number_field(L, "ny"),
    };
    return 0;
}

mare_status mare_scenario_read(mare_scenario *scenario, mare_scenario_progress *out) {
    static const char call[] = "mare_scenario_read";
    if (!out) return mare_error_set(MARE_ERROR_ARGUMENT, "mare_scenario_read: out is NULL");
    *out = (mare_scenario_progress){ 0 };
    return serve(do_read, &(request){ .scenario = scenario, .progress = out }, call);
}

/* The pointer that a C datum of Lua holds, from field `name` of the table on top. */
static void *pointer_field(lua_State *L, const char *name) {
    lua_getfield(L, -1, name);
    void *const *datum = lua_topointer(L, -1);
    lua_pop(L, 1);
    return datum ? *datum : NULL;
}

static int do_field(lua_State *L) {
    const request *r = lua_touserdata(L, 1);
    push_call(L, "field", r);
    lua_pushstring(L, r->name);
    lua_call(L, 2, 1);
    *r->values = (mare_scenario_values){
        .data = pointer_field(L, "data"), .type = (uint32_t)number_field(L, "type"),
        .nx = (uint32_t)number_field(L, "nx"), .ny = (uint32_t)number_field(L, "ny"),
    };
    return 0;
}

mare_status mare_scenario_field(mare_scenario *scenario, const char *variable,
                                mare_scenario_values *out) {
    static const char call[] = "mare_scenario_field";
    if (!out || !variable)
        return mare_error_set(MARE_ERROR_ARGUMENT, "mare_scenario_field: variable or out is NULL");
    *out = (mare_scenario_values){ 0 };
    return serve(do_field, &(request){ .scenario = scenario, .name = variable, .values = out },
                 call);
}

static int do_state(lua_State *L) {
    const request *r = lua_touserdata(L, 1);
    push_call(L, "part", r);
    lua_pushnumber(L, r->number);
    lua_call(L, 2, 1);
    *r->part = (mare_scenario_part){
        .buffer = pointer_field(L, "buffer"), .type = (uint32_t)number_field(L, "type"),
        .i0 = (uint32_t)number_field(L, "i0"), .j0 = (uint32_t)number_field(L, "j0"),
        .nx = (uint32_t)number_field(L, "nx"), .ny = (uint32_t)number_field(L, "ny"),
        .unknowns = (uint32_t)number_field(L, "unknowns"),
        .offset = (uint64_t)number_field(L, "offset"),
        .stride = (uint64_t)number_field(L, "stride"),
        .plane = (uint64_t)number_field(L, "plane"),
    };
    return 0;
}

mare_status mare_scenario_state(mare_scenario *scenario, uint32_t part, mare_scenario_part *out) {
    static const char call[] = "mare_scenario_state";
    if (!out) return mare_error_set(MARE_ERROR_ARGUMENT, "mare_scenario_state: out is NULL");
    *out = (mare_scenario_part){ 0 };
    return serve(do_state, &(request){ .scenario = scenario, .number = part, .part = out }, call);
}
