/* engine_lua.c - the functions of Lua's C API by their names. The engine keeps its LuaJIT to
 * itself, so that neither programs nor Lua's own FFI find them as symbols. */
#include "engine.h"

#include <string.h>

#include <luajit.h>
#include <lualib.h>

typedef void any_function(void);

static const struct { const char *name; any_function *function; } calls[] = {
#define CALL(name) { #name, (any_function *)name }
    CALL(luaJIT_profile_dumpstack), CALL(luaJIT_profile_start), CALL(luaJIT_profile_stop),
    CALL(luaJIT_setmode), CALL(luaL_addlstring), CALL(luaL_addstring), CALL(luaL_addvalue),
    CALL(luaL_argerror), CALL(luaL_buffinit), CALL(luaL_callmeta), CALL(luaL_checkany),
    CALL(luaL_checkinteger), CALL(luaL_checklstring), CALL(luaL_checknumber),
    CALL(luaL_checkoption), CALL(luaL_checkstack), CALL(luaL_checktype), CALL(luaL_checkudata),
    CALL(luaL_error), CALL(luaL_execresult), CALL(luaL_fileresult), CALL(luaL_findtable),
    CALL(luaL_getmetafield), CALL(luaL_gsub), CALL(luaL_loadbuffer), CALL(luaL_loadbufferx),
    CALL(luaL_loadfile), CALL(luaL_loadfilex), CALL(luaL_loadstring), CALL(luaL_newmetatable),
    CALL(luaL_newstate), CALL(luaL_openlib), CALL(luaL_openlibs), CALL(luaL_optinteger),
    CALL(luaL_optlstring), CALL(luaL_optnumber), CALL(luaL_prepbuffer), CALL(luaL_pushmodule),
    CALL(luaL_pushresult), CALL(luaL_ref), CALL(luaL_register), CALL(luaL_setfuncs),
    CALL(luaL_setmetatable), CALL(luaL_testudata), CALL(luaL_traceback), CALL(luaL_typerror),
    CALL(luaL_unref), CALL(luaL_where), CALL(lua_atpanic), CALL(lua_call), CALL(lua_checkstack),
    CALL(lua_close), CALL(lua_concat), CALL(lua_copy), CALL(lua_cpcall), CALL(lua_createtable),
    CALL(lua_dump), CALL(lua_equal), CALL(lua_error), CALL(lua_gc), CALL(lua_getallocf),
    CALL(lua_getfenv), CALL(lua_getfield), CALL(lua_gethook), CALL(lua_gethookcount),
    CALL(lua_gethookmask), CALL(lua_getinfo), CALL(lua_getlocal), CALL(lua_getmetatable),
    CALL(lua_getstack), CALL(lua_gettable), CALL(lua_gettop), CALL(lua_getupvalue),
    CALL(lua_insert), CALL(lua_iscfunction), CALL(lua_isnumber), CALL(lua_isstring),
    CALL(lua_isuserdata), CALL(lua_isyieldable), CALL(lua_lessthan), CALL(lua_load),
    CALL(lua_loadx), CALL(lua_newstate), CALL(lua_newthread), CALL(lua_newuserdata),
    CALL(lua_next), CALL(lua_objlen), CALL(lua_pcall), CALL(lua_pushboolean),
    CALL(lua_pushcclosure), CALL(lua_pushfstring), CALL(lua_pushinteger),
    CALL(lua_pushlightuserdata), CALL(lua_pushlstring), CALL(lua_pushnil), CALL(lua_pushnumber),
    CALL(lua_pushstring), CALL(lua_pushthread), CALL(lua_pushvalue), CALL(lua_pushvfstring),
    CALL(lua_rawequal), CALL(lua_rawget), CALL(lua_rawgeti), CALL(lua_rawset), CALL(lua_rawseti),
    CALL(lua_remove), CALL(lua_replace), CALL(lua_resume), CALL(lua_setallocf), CALL(lua_setfenv),
    CALL(lua_setfield), CALL(lua_sethook), CALL(lua_setlocal), CALL(lua_setmetatable),
    CALL(lua_settable), CALL(lua_settop), CALL(lua_setupvalue), CALL(lua_status),
    CALL(lua_toboolean), CALL(lua_tocfunction), CALL(lua_tointeger), CALL(lua_tointegerx),
    CALL(lua_tolstring), CALL(lua_tonumber), CALL(lua_tonumberx), CALL(lua_topointer),
    CALL(lua_tothread), CALL(lua_touserdata), CALL(lua_type), CALL(lua_typename),
    CALL(lua_upvalueid), CALL(lua_upvaluejoin), CALL(lua_version), CALL(lua_xmove),
    CALL(lua_yield), CALL(luaopen_base), CALL(luaopen_bit), CALL(luaopen_debug),
    CALL(luaopen_ffi), CALL(luaopen_io), CALL(luaopen_jit), CALL(luaopen_math), CALL(luaopen_os),
    CALL(luaopen_package), CALL(luaopen_string), CALL(luaopen_string_buffer), CALL(luaopen_table),
#undef CALL
};

void *mare_engine_lua_function(const char *name) {
    for (size_t i = 0; name && i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i].name, name)) return (void *)(uintptr_t)calls[i].function;
    return NULL;
}

/* What bindings/worker.lua calls; numbers, for they go from state to state as text. */
void engine_push_lua_calls(lua_State *L) {
    static const char *const needed[] = { "luaL_newstate", "luaL_openlibs", "luaL_loadstring",
        "lua_pushlstring", "lua_pcall", "lua_tolstring", "lua_tonumber", "lua_close" };
    lua_newtable(L);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        lua_pushnumber(L, (double)(uintptr_t)mare_engine_lua_function(needed[i]));
        lua_setfield(L, -2, needed[i]);
    }
}
