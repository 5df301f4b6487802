/* engine_value.c - values between C and Lua. Memory of C is a userdata in Lua that
 * holds where it is and how much: taking it back empties that, so that a script that has kept it
 * gets an error instead of someone else's memory. */
#include "engine.h"

#include <stdio.h>
#include <string.h>

typedef struct array { void *data; uint64_t count; uint32_t type; } array;

static const char array_name[] = "mare.array";

enum { CDATA = 10 };        /* lua_type of LuaJIT's own type */

/* ---- arrays of C ---- */

static array *check_array(lua_State *L) {
    array *a = luaL_checkudata(L, 1, array_name);
    if (!a->data) luaL_error(L, "the C program has taken this array back");
    return a;
}

static void *element(lua_State *L, array *a) {
    double index = luaL_checknumber(L, 2);
    if (!(index >= 0 && index < (double)a->count && index == (double)(uint64_t)index))
        luaL_error(L, "array: index %f, there are %f elements, from 0", index, (double)a->count);
    return (char *)a->data + (uint64_t)index * mare_type_size((mare_type)a->type);
}

static double load(const void *at, uint32_t type) {
    switch (type) {
    case MARE_TYPE_INT8: return *(const int8_t *)at;
    case MARE_TYPE_INT16: return *(const int16_t *)at;
    case MARE_TYPE_UINT16: return *(const uint16_t *)at;
    case MARE_TYPE_INT32: return *(const int32_t *)at;
    case MARE_TYPE_UINT32: return *(const uint32_t *)at;
    case MARE_TYPE_INT64: return (double)*(const int64_t *)at;
    case MARE_TYPE_UINT64: return (double)*(const uint64_t *)at;
    case MARE_TYPE_FLOAT: return (double)*(const float *)at;
    case MARE_TYPE_DOUBLE: return *(const double *)at;
    default: return *(const uint8_t *)at;
    }
}

/* What is no number of an integer type is refused, for C leaves open what it becomes. */
static void check_fits(lua_State *L, double v, uint32_t type) {
    static const struct { double low, high; } ranges[] = {
        [MARE_TYPE_NONE] = { 0, 255 }, [MARE_TYPE_INT8] = { -128, 127 },
        [MARE_TYPE_UINT8] = { 0, 255 }, [MARE_TYPE_INT16] = { -32768, 32767 },
        [MARE_TYPE_UINT16] = { 0, 65535 }, [MARE_TYPE_INT32] = { -0x1p31, 0x1p31 - 1 },
        [MARE_TYPE_UINT32] = { 0, 0x1p32 - 1 }, [MARE_TYPE_INT64] = { -0x1p53, 0x1p53 },
        [MARE_TYPE_UINT64] = { 0, 0x1p53 },
    };
    if (type >= MARE_TYPE_FLOAT) return;
    if (!(v >= ranges[type].low && v <= ranges[type].high && v == (double)(int64_t)v))
        luaL_error(L, "array: %f does not fit %s", v, mare_type_name((mare_type)type));
}

static void store(void *at, uint32_t type, double v) {
    switch (type) {
    case MARE_TYPE_INT8: *(int8_t *)at = (int8_t)v; break;
    case MARE_TYPE_INT16: *(int16_t *)at = (int16_t)v; break;
    case MARE_TYPE_UINT16: *(uint16_t *)at = (uint16_t)v; break;
    case MARE_TYPE_INT32: *(int32_t *)at = (int32_t)v; break;
    case MARE_TYPE_UINT32: *(uint32_t *)at = (uint32_t)v; break;
    case MARE_TYPE_INT64: *(int64_t *)at = (int64_t)v; break;
    case MARE_TYPE_UINT64: *(uint64_t *)at = (uint64_t)v; break;
    case MARE_TYPE_FLOAT: *(float *)at = (float)v; break;
    case MARE_TYPE_DOUBLE: *(double *)at = v; break;
    default: *(uint8_t *)at = (uint8_t)v;
    }
}

static int array_get(lua_State *L) {
    array *a = check_array(L);
    lua_pushnumber(L, load(element(L, a), a->type));
    return 1;
}

static int array_set(lua_State *L) {
    array *a = check_array(L);
    void *at = element(L, a);
    double value = luaL_checknumber(L, 3);
    check_fits(L, value, a->type);
    store(at, a->type, value);
    return 0;
}

static int array_length(lua_State *L) {
    lua_pushnumber(L, (double)check_array(L)->count);
    return 1;
}

static int array_text(lua_State *L) {
    const array *a = luaL_checkudata(L, 1, array_name);
    lua_pushfstring(L, "array of C: %f of %s", (double)a->count,
                    mare_type_name((mare_type)a->type));
    return 1;
}

void engine_open_arrays(lua_State *L) {
    static const luaL_Reg functions[] = { { "__index", array_get }, { "__newindex", array_set },
        { "__len", array_length }, { "__tostring", array_text }, { NULL, NULL } };
    luaL_newmetatable(L, array_name);
    luaL_register(L, NULL, functions);
    lua_pushliteral(L, "array");
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

/* Whether a userdata is an array; NULL if not. */
static array *to_array(lua_State *L, int index) {
    array *a = lua_type(L, index) == LUA_TUSERDATA ? lua_touserdata(L, index) : NULL;
    if (!a || !lua_getmetatable(L, index)) return NULL;
    luaL_getmetatable(L, array_name);
    int same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same ? a : NULL;
}

int engine_home_array(lua_State *L) {
    if (!to_array(L, 1)) return 0;
    const array *a = check_array(L);
    lua_pushlightuserdata(L, a->data);
    lua_pushnumber(L, (double)(a->count * mare_type_size((mare_type)a->type)));
    lua_pushstring(L, mare_type_name((mare_type)a->type));
    return 3;
}

/* Loans are in the table `borrowed`: under their numbers those of a call, by name the globals. */
static void push_array(lua_State *L, const mare_engine *engine, const mare_value *value) {
    array *a = lua_newuserdata(L, sizeof *a);
    *a = (array){ (void *)(uintptr_t)value->data, value->count, value->type };
    luaL_getmetatable(L, array_name);
    lua_setmetatable(L, -2);
    lua_rawgeti(L, LUA_REGISTRYINDEX, engine->borrowed);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
    lua_pop(L, 1);
}

static void take_back(lua_State *L, int index) {
    array *a = lua_touserdata(L, index);
    if (a) *a = (array){ NULL, 0, a->type };
}

void engine_end_loans(lua_State *L, mare_engine *engine) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, engine->borrowed);
    for (int k = (int)lua_objlen(L, -1); k > 0; k--) {
        lua_rawgeti(L, -1, k);
        take_back(L, -1);
        lua_pop(L, 1);
        lua_pushnil(L);
        lua_rawseti(L, -2, k);
    }
    lua_pop(L, 1);
}

void engine_lend(lua_State *L, mare_engine *engine, const char *name) {
    int value = lua_gettop(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, engine->borrowed);
    lua_getfield(L, -1, name);
    take_back(L, -1);
    lua_pop(L, 1);
    if (!to_array(L, value)) lua_pushnil(L);
    else lua_pushvalue(L, value);
    lua_setfield(L, -2, name);
    lua_pushnil(L);                 /* no longer of the call alone */
    lua_rawseti(L, -2, (int)lua_objlen(L, -2));
    lua_pop(L, 1);
}

/* ---- in ---- */

mare_status engine_check_values(const char *call, const mare_value *values, uint64_t count) {
    const char *wrong = NULL;
    if (!values && count) wrong = "values are NULL";
    if (count > 200) wrong = "over 200 values";
    for (uint64_t i = 0; i < count && !wrong; i++) wrong = engine_check_value(&values[i]);
    if (!wrong) return MARE_OK;
    char text[128];
    snprintf(text, sizeof text, "%s: %s", call, wrong);
    return mare_error_set(MARE_ERROR_ARGUMENT, text);
}

double engine_array_number(const mare_value *v, uint64_t index) {
    return load((const char *)v->data + index * mare_type_size((mare_type)v->type), v->type);
}

void engine_push_value(lua_State *L, mare_engine *engine, const mare_value *value) {
    luaL_checkstack(L, 8, "values");
    switch (value->kind) {
    case MARE_VALUE_BOOLEAN: lua_pushboolean(L, value->number != 0); break;
    case MARE_VALUE_NUMBER: lua_pushnumber(L, value->number); break;
    case MARE_VALUE_STRING:
        lua_pushlstring(L, value->count ? value->data : "", (size_t)value->count);
        break;
    case MARE_VALUE_ARRAY: push_array(L, engine, value); break;
    case MARE_VALUE_BUFFER:
        engine_push_function(L, "import");
        lua_pushlightuserdata(L, value->buffer);
        lua_call(L, 1, 1);
        break;
    case MARE_VALUE_LIST: case MARE_VALUE_TABLE: engine_push_table(L, engine, value); break;
    default: lua_pushnil(L);
    }
}

/* ---- out ---- */

/* Keeps the value on top as long as the anchor; pops it. */
static void keep(lua_State *L, int anchor) {
    lua_rawseti(L, anchor, (int)lua_objlen(L, anchor) + 1);
}

/* Of no text, which a __tostring may give, "". */
static void read_text(lua_State *L, int anchor, uint32_t kind, mare_value *out) {
    size_t size = 0;
    const char *text = lua_tolstring(L, -1, &size);
    out->kind = kind;
    out->data = text ? text : "";
    out->count = size;
    keep(L, anchor);
}

/* A table of numbers 1 .. n and nothing else there. */
static bool read_numbers(lua_State *L, int index, int anchor, mare_value *out) {
    size_t count = lua_objlen(L, index);
    if (!count || lua_getmetatable(L, index)) {
        if (count) lua_pop(L, 1);
        return false;
    }
    double *numbers = lua_newuserdata(L, count * sizeof *numbers);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, index, (int)i + 1);
        bool is_number = lua_type(L, -1) == LUA_TNUMBER;
        numbers[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
        if (is_number) continue;
        lua_pop(L, 1);
        return false;
    }
    keep(L, anchor);
    *out = (mare_value){ .kind = MARE_VALUE_ARRAY, .type = MARE_TYPE_DOUBLE, .data = numbers,
        .count = count };
    return true;
}

/* embed.lua knows handles and C data: export(value) -> nothing, or 'number', x, or 'buffer',
 * pointer, or 'array', pointer, count, type. The pointers are C data, too. */
static bool read_foreign(lua_State *L, int index, mare_value *out) {
    int top = lua_gettop(L);
    engine_push_function(L, "export");
    lua_pushvalue(L, index);
    lua_call(L, 1, 4);
    const char *kind = lua_tostring(L, top + 1);
    if (kind && kind[0] == 'n') *out = mare_value_number(lua_tonumber(L, top + 2));
    else if (kind && kind[0] == 'b')
        *out = mare_value_buffer(*(mare_buffer *const *)lua_topointer(L, top + 2));
    else if (kind)
        *out = mare_value_array((uint32_t)lua_tonumber(L, top + 4),
                                *(void *const *)lua_topointer(L, top + 2),
                                (uint64_t)lua_tonumber(L, top + 3));
    lua_settop(L, top);
    return kind != NULL;
}

bool engine_read_plainly(lua_State *L, int index, int anchor, mare_value *out) {
    const array *a = to_array(L, index);
    bool is_table = lua_type(L, index) == LUA_TTABLE;
    if (a) *out = mare_value_array(a->type, a->data, a->data ? a->count : 0);
    else if (is_table && read_numbers(L, index, anchor, out)) return true;
    else if (!is_table && lua_type(L, index) != CDATA) return false;
    else if (!read_foreign(L, index, out)) return false;
    lua_pushvalue(L, index);
    keep(L, anchor);
    return true;
}

void engine_read_value(lua_State *L, int index, int anchor, mare_value *out) {
    luaL_checkstack(L, 16, "values");
    *out = (mare_value){ 0 };
    switch (lua_type(L, index)) {
    case LUA_TNIL: return;
    case LUA_TBOOLEAN:
        out->kind = MARE_VALUE_BOOLEAN;
        out->number = lua_toboolean(L, index);
        return;
    case LUA_TNUMBER: *out = mare_value_number(lua_tonumber(L, index)); return;
    case LUA_TSTRING:
        lua_pushvalue(L, index);
        read_text(L, anchor, MARE_VALUE_STRING, out);
        return;
    default:
        if (engine_read_plainly(L, index, anchor, out)) return;
        if (lua_istable(L, index) && engine_read_table(L, index, anchor, out)) return;
        lua_getglobal(L, "tostring");
        lua_pushvalue(L, index);
        lua_call(L, 1, 1);
        read_text(L, anchor, MARE_VALUE_OTHER, out);
    }
}
