/* engine_event.c - the events of an engine for a function of C. embed.lua makes each flat,
 * two lists of names and of plain values, which Lua keeps alive until the function has returned.
 */
#include "engine.h"

#include <stdlib.h>

typedef struct request { mare_engine *engine; bool listens; double pause; } request;

/* The field at `index` of the two lists. */
static void read_field(lua_State *L, int index, mare_event_field *out) {
    size_t size = 0;
    mare_value *value = &out->value;
    lua_rawgeti(L, 2, index);
    out->name = lua_tostring(L, -1);
    lua_rawgeti(L, 3, index);
    *value = (mare_value){ .kind = MARE_VALUE_NUMBER };
    if (lua_type(L, -1) == LUA_TNUMBER) value->number = lua_tonumber(L, -1);
    else if (lua_type(L, -1) == LUA_TBOOLEAN) {
        value->kind = MARE_VALUE_BOOLEAN;
        value->number = lua_toboolean(L, -1);
    } else {
        value->kind = MARE_VALUE_STRING;
        value->data = lua_tolstring(L, -1, &size);
        value->count = size;
    }
    lua_pop(L, 2);
}

int engine_home_tell(lua_State *L) {
    mare_engine *engine = engine_of(L);
    const char *kind = luaL_checkstring(L, 1), *message = lua_tostring(L, 4);
    const size_t count = lua_objlen(L, 2);
    mare_event_field *fields = lua_newuserdata(L, (count + 1) * sizeof *fields);
    for (size_t k = 0; k < count; k++) read_field(L, (int)k + 1, &fields[k]);
    const mare_engine_event event = { kind, message, fields, count };
    if (engine->listener) engine->listener(engine->listener_context, &event);
    return 0;
}

static int do_listen(lua_State *L) {
    const request *r = lua_touserdata(L, 1);
    engine_push_function(L, "listen");
    if (r->listens) lua_pushnumber(L, r->pause);
    else lua_pushnil(L);
    lua_call(L, 1, 0);
    return 0;
}

mare_status mare_engine_listen(mare_engine *engine, mare_engine_listener *listener, void *context,
                               double pause) {
    static const char call[] = "mare_engine_listen";
    if (!(pause >= 0))
        return engine_refuse(engine, call, "needs a pause in seconds, 0 or more");
    mare_status status = engine_enter(engine, call);
    if (status != MARE_OK) return status;
    request r = { engine, listener != NULL, pause };
    status = engine_protect(engine, do_listen, &r);
    if (status == MARE_OK) {
        engine->listener = listener;
        engine->listener_context = context;
    }
    return engine_leave(engine, status);
}
