/* x ^ y of LuaJIT, all of whose sources are compiled behind this. What LuaJIT compiles has x * x
   for x ^ 2, and one in a thousand of these has other bits than pow(x, 2) of glibc: so has all of
   LuaJIT now, or bits would depend on when it compiles. */
#ifndef MARE_LUA_POW_H
#define MARE_LUA_POW_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE     /* as its sources want before any header */
#endif
#include <math.h>

__attribute__((visibility("hidden"))) double mare_lua_pow(double x, double y);

#define pow mare_lua_pow

#endif
