/* engine_table.c - tables between C and Lua: trees of values, each level one block of memory that
 * its owner keeps, the program's or, anchored in Lua, the engine's. Tables that are no trees, as
 * those that hold themselves, and objects (with a metatable) do not go out.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 32, MOST = 1 << 20 };      /* levels, and values in all */

/* ---- in ---- */

static const char *check_level(const mare_value *value, int depth, uint64_t *most);

static const char *check_list(const mare_value *values, uint64_t count, int depth,
                              uint64_t *most) {
    for (uint64_t i = 0; i < count; i++) {
        const char *wrong = check_level(&values[i], depth, most);
        if (wrong) return wrong;
    }
    return NULL;
}

static bool is_key(const mare_value *key) {
    return key->kind == MARE_VALUE_STRING || key->kind == MARE_VALUE_BOOLEAN ||
           (key->kind == MARE_VALUE_NUMBER && key->number == key->number);
}

static const char *check_pairs(const mare_value_pair *pairs, uint64_t count, int depth,
                               uint64_t *most) {
    for (uint64_t i = 0; i < count; i++) {
        if (!is_key(&pairs[i].key)) return "a key that is no string, number or boolean";
        const char *wrong = check_level(&pairs[i].key, depth, most);
        if (!wrong) wrong = check_level(&pairs[i].value, depth, most);
        if (wrong) return wrong;
    }
    return NULL;
}

static const char *check_data(const mare_value *v) {
    bool is_array = v->kind == MARE_VALUE_ARRAY, is_text = v->kind == MARE_VALUE_STRING;
    bool is_table = v->kind == MARE_VALUE_LIST || v->kind == MARE_VALUE_TABLE;
    if (v->kind > MARE_VALUE_TABLE || v->kind == MARE_VALUE_OTHER)
        return "a value of a kind that cannot be given";
    if (is_array && v->type > MARE_TYPE_DOUBLE) return "an array of no known type";
    if ((is_array || ((is_text || is_table) && v->count)) && !v->data)
        return "a value without data";
    if ((is_array || is_text) && v->count >> 48) return "a value of impossible size";
    if (v->kind == MARE_VALUE_BUFFER && !v->buffer) return "a buffer that is NULL";
    return NULL;
}

static const char *check_level(const mare_value *v, int depth, uint64_t *most) {
    const char *wrong = check_data(v);
    if (wrong || (v->kind != MARE_VALUE_LIST && v->kind != MARE_VALUE_TABLE)) return wrong;
    if (depth == DEEPEST) return "tables more than 32 deep";
    if (v->count > *most) return "tables of more than 1048576 values";
    *most -= v->count;
    return v->kind == MARE_VALUE_LIST ? check_list(v->data, v->count, depth + 1, most)
                                      : check_pairs(v->data, v->count, depth + 1, most);
}

const char *engine_check_value(const mare_value *value) {
    uint64_t most = MOST;
    return check_level(value, 0, &most);
}

/* An array within a table is copied: a loan of it could end at any time. */
static void push_inner(lua_State *L, mare_engine *engine, const mare_value *value) {
    if (value->kind != MARE_VALUE_ARRAY) {
        engine_push_value(L, engine, value);
        return;
    }
    int count = value->count < INT32_MAX ? (int)value->count : INT32_MAX;
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        lua_pushnumber(L, engine_array_number(value, (uint64_t)i));
        lua_rawseti(L, -2, i + 1);
    }
}

void engine_push_table(lua_State *L, mare_engine *engine, const mare_value *value) {
    const mare_value *values = value->data;
    const mare_value_pair *pairs = value->data;
    luaL_checkstack(L, 8, "tables");
    lua_newtable(L);
    for (uint64_t i = 0; i < value->count; i++) {
        if (value->kind == MARE_VALUE_LIST) {
            push_inner(L, engine, &values[i]);
            lua_rawseti(L, -2, (int)i + 1);
        } else {
            engine_push_value(L, engine, &pairs[i].key);
            push_inner(L, engine, &pairs[i].value);
            lua_rawset(L, -3);
        }
    }
}

/* ---- out ---- */

/* The level at which a table lies, and how many values there may still be. */
typedef struct walk { int anchor, depth; uint64_t *most; } walk;

static bool read_level(lua_State *L, int index, walk w, mare_value *out);

static bool is_object(lua_State *L, int index) {
    if (!lua_getmetatable(L, index)) return false;
    lua_pop(L, 1);
    return true;
}

static bool read_inner(lua_State *L, int index, walk w, mare_value *out) {
    if (lua_istable(L, index) && !is_object(L, index))
        return engine_read_plainly(L, index, w.anchor, out) || read_level(L, index, w, out);
    engine_read_value(L, index, w.anchor, out);
    return true;
}

/* Memory for so many things, kept as long as the anchor. */
static void *reserve(lua_State *L, int anchor, size_t count, size_t size) {
    void *block = lua_newuserdata(L, count * size + 1);
    lua_rawseti(L, anchor, (int)lua_objlen(L, anchor) + 1);
    return block;
}

static size_t count_pairs(lua_State *L, int index) {
    size_t count = 0;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) count++;
    return count;
}

static bool read_list(lua_State *L, int index, walk w, size_t count, mare_value *out) {
    mare_value *values = reserve(L, w.anchor, count, sizeof *values);
    *out = (mare_value){ .kind = MARE_VALUE_LIST, .data = values, .count = count };
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, index, (int)i + 1);
        bool read = read_inner(L, lua_gettop(L), w, &values[i]);
        lua_pop(L, 1);
        if (!read) return false;
    }
    return true;
}

/* Booleans, numbers by size, strings by their bytes. */
static int compare_keys(const void *one, const void *other) {
    const mare_value *a = one, *b = other;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->kind != MARE_VALUE_STRING) return (a->number > b->number) - (a->number < b->number);
    int order = memcmp(a->data, b->data, (size_t)(a->count < b->count ? a->count : b->count));
    return order ? order : (a->count > b->count) - (a->count < b->count);
}

static bool read_pairs(lua_State *L, int index, walk w, size_t count, mare_value *out) {
    mare_value_pair *pairs = reserve(L, w.anchor, count, sizeof *pairs);
    *out = (mare_value){ .kind = MARE_VALUE_TABLE, .data = pairs, .count = count };
    size_t i = 0;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1), i++) {
        int key = lua_gettop(L) - 1;
        if (lua_istable(L, key)) return false;
        engine_read_value(L, key, w.anchor, &pairs[i].key);
        if (!is_key(&pairs[i].key) || !read_inner(L, key + 1, w, &pairs[i].value)) return false;
    }
    qsort(pairs, count, sizeof *pairs, compare_keys);
    return true;
}

/* A table that holds itself comes to the deepest level. */
static bool read_level(lua_State *L, int index, walk w, mare_value *out) {
    if (w.depth == DEEPEST || is_object(L, index)) return false;
    luaL_checkstack(L, 16, "tables");
    size_t count = count_pairs(L, index), length = lua_objlen(L, index);
    if (count > *w.most) return false;
    *w.most -= count;
    w.depth++;
    return count && count == length ? read_list(L, index, w, count, out)
                                    : read_pairs(L, index, w, count, out);
}

bool engine_read_table(lua_State *L, int index, int anchor, mare_value *out) {
    uint64_t most = MOST;
    int top = lua_gettop(L);
    bool read = read_level(L, index, (walk){ anchor, 0, &most }, out);
    lua_settop(L, top);
    return read;
}
