/* plugin.c - a C module for the Lua of another program, of 5.1 to 5.4, which runs texts in an
 * engine of Mare's with a Lua of its own: require('plugin')('return 6 * 7') is 42.
 *     cc -std=c99 -shared -fPIC plugin.c -o plugin.so \
 *         $(pkg-config --cflags lua5.4) $(pkg-config --cflags --libs mare_engine) */
#include <lauxlib.h>
#include <mare_engine.h>

static int run(lua_State *L) {
    mare_engine **engine = lua_touserdata(L, lua_upvalueindex(1));
    mare_value value;
    if (mare_engine_evaluate(*engine, luaL_checkstring(L, 1), "plugin", &value) != MARE_OK)
        return luaL_error(L, "%s", mare_error_message());
    lua_pushnumber(L, value.number);
    return 1;
}

static int end(lua_State *L) {
    mare_engine_destroy(*(mare_engine **)lua_touserdata(L, 1));
    return 0;
}

int luaopen_plugin(lua_State *L) {
    mare_engine **engine = lua_newuserdata(L, sizeof *engine);
    if (mare_engine_create(NULL, engine)) return luaL_error(L, "%s", mare_error_message());
    lua_newtable(L);
    lua_pushcfunction(L, end);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_pushcclosure(L, run, 1);
    return 1;
}
