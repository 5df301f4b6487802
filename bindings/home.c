/* home.c - where Mare lives: its Lua, its header and the library that this program has loaded. The
 * launcher and the engine tell Lua by the table bindings.home. */
#include "engine.h"

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;     /* see bindings/lock.lua */

/* home.locked(f, ...): its first result, under the lock of libraries that stand no two threads. In
 * Lua the hook of an interrupt, or a full heap, could come between and leave it locked. A call may
 * come inside another one: of a finaliser, where Lua collects before or after the call of C. */
static int locked(lua_State *L) {
    static _Thread_local int depth;
    if (depth++ == 0) pthread_mutex_lock(&library_lock);
    int status = lua_pcall(L, lua_gettop(L) - 1, 1, 0);
    int number = errno;
    if (--depth == 0) pthread_mutex_unlock(&library_lock);
    errno = number;
    return status ? lua_error(L) : 1;
}

/* Pushes the real path of folder/name if Mare's Lua lies there. */
static int push_root(lua_State *L, const char *folder, const char *name) {
    char path[PATH_MAX], real[PATH_MAX], file[PATH_MAX + 32];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length >= (int)sizeof path || !realpath(path, real)) return 0;
    snprintf(file, sizeof file, "%s/lua/mare/init.lua", real);
    if (access(file, R_OK) != 0) return 0;
    lua_pushstring(L, real);
    return 1;
}

/* The file that a symbol of Mare was loaded from; the program itself where it is linked in. */
static void library_path(char out[PATH_MAX]) {
    Dl_info info;
    const char *path = NULL;
    if (dladdr((void *)(uintptr_t)&mare_api_version, &info)) path = info.dli_fname;
    if (!path || !realpath(path, out)) snprintf(out, PATH_MAX, "%s", path ? path : "");
}

/* Beside the library: of an installation or a bundle, on systems that keep libraries of several
 * machines apart, and of the source tree that holds the build folder. */
static void push_any_root(lua_State *L, const char *folder) {
    static const char *const places[] = { "../share/mare", "../../share/mare", "..", "../.." };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (push_root(L, folder, places[i])) return;
    if (push_root(L, MARE_SOURCE_DIR, ".")) return;
    luaL_error(L, "no lua/mare/init.lua in %s/../share/mare, %s/../../share/mare, %s/.. or "
               MARE_SOURCE_DIR, folder, folder, folder);
}

/* package[field] = the value on top .. package[field] */
static void prepend_path(lua_State *L, const char *field) {
    lua_getglobal(L, "package");
    lua_insert(L, -2);
    lua_getfield(L, -2, field);
    lua_concat(L, 2);
    lua_setfield(L, -2, field);
    lua_pop(L, 1);
}

static void set_paths(lua_State *L, const char *root) {
    lua_pushfstring(L, "%s/?.lua;%s/lua/?.lua;%s/lua/?/init.lua;", root, root, root);
    lua_pushfstring(L, "%s/vendor/?.lua;%s/vendor/?/init.lua;", root, root);
    lua_concat(L, 2);
    prepend_path(L, "path");
    lua_pushfstring(L, "%s/vendor/?.so;", root);
    prepend_path(L, "cpath");
}

static void set_string(lua_State *L, const char *field, const char *text) {
    lua_pushstring(L, text);
    lua_setfield(L, -2, field);
}

void mare_home_push(lua_State *L, const char *root) {
    char library[PATH_MAX], folder[PATH_MAX];
    library_path(library);
    memcpy(folder, library, sizeof folder);
    lua_newtable(L);
    set_string(L, "library", library);
    set_string(L, "version", mare_version());
    set_string(L, "commit", mare_commit());
    lua_pushnumber(L, (double)(uintptr_t)&library_lock);
    lua_setfield(L, -2, "lock");
    lua_pushcfunction(L, locked);
    lua_setfield(L, -2, "locked");
    if (!root) push_any_root(L, dirname(folder));
    else if (!push_root(L, root, "."))
        luaL_error(L, "root '%s': no lua/mare/init.lua there", root);
    const char *found = lua_tostring(L, -1);
    set_paths(L, found);
    lua_pushfstring(L, "%s/core/mare.h", found);
    lua_setfield(L, -3, "header");
    lua_setfield(L, -2, "root");
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "bindings.home");
    lua_pop(L, 1);
}
