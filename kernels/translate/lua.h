/* lua.h - what operators and functions of Lua mean where C means something else. */
#pragma once

/* The remainder of a / b with the sign of a; 0 where b is 0, for which C knows none, as it does
 * for the least a and -1. */
MR_FN int lua_remainder_int(int a, int b) { return b == 0 || b == -1 ? 0 : a % b; }
MR_FN int64_t lua_remainder_long(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

/* The same with the sign of b: a % b. */
MR_FN int lua_modulo_int(int a, int b) {
    int r = lua_remainder_int(a, b);
    return r != 0 && (r ^ b) < 0 ? r + b : r;
}

MR_FN int64_t lua_modulo_long(int64_t a, int64_t b) {
    int64_t r = lua_remainder_long(a, b);
    return r != 0 && (r ^ b) < 0 ? r + b : r;
}

MR_FN real lua_modulo(real a, real b) { return a - floor(a / b) * b; }

/* a b + c and a / b: in strict maths Lua's bits. */
#ifdef MR_FAST
MR_FN real lua_mad(real a, real b, real c) { return mr_fma(a, b, c); }
MR_FN real lua_over(real a, real b) { return a * mr_rcp(b); }
#else
MR_FN real lua_mad(real a, real b, real c) { return a * b + c; }
MR_FN real lua_over(real a, real b) { return a / b; }
#endif

/* x ^ n as a product, for a whole n that is known. */
MR_FN int lua_power_int(int x, int n) {
    int product = x;
    for (int k = 1; k < n; ++k) product *= x;
    return product;
}

MR_FN int64_t lua_power_long(int64_t x, int n) {
    int64_t product = x;
    for (int k = 1; k < n; ++k) product *= x;
    return product;
}

MR_FN real lua_power(real x, int n) {
    real product = x;
    for (int k = 1; k < n; ++k) product *= x;
    return product;
}

MR_FN int lua_min_int(int a, int b) { return a < b ? a : b; }
MR_FN int lua_max_int(int a, int b) { return a > b ? a : b; }
MR_FN int lua_abs_int(int a) { return a < 0 ? -a : a; }
MR_FN int64_t lua_min_long(int64_t a, int64_t b) { return a < b ? a : b; }
MR_FN int64_t lua_max_long(int64_t a, int64_t b) { return a > b ? a : b; }
MR_FN int64_t lua_abs_long(int64_t a) { return a < 0 ? -a : a; }

/* Shifts count modulo 32, as those of Lua's bit library. */
MR_FN int lua_lshift(int a, int n) { return (int)((unsigned)a << (n & 31)); }
MR_FN int lua_rshift(int a, int n) { return (int)((unsigned)a >> (n & 31)); }
MR_FN int lua_arshift(int a, int n) { return a >> (n & 31); }
MR_FN int lua_bnot(int a) { return ~a; }

#ifdef __OPENCL_VERSION__
#define lua_huge() ((real)INFINITY)
#define lua_nan() ((real)NAN)
#else
#define lua_huge() ((real)__int_as_float(0x7f800000))
#define lua_nan() ((real)__int_as_float(0x7fffffff))
#endif

/* Write the sum, the least or the most of what is there and x, and give what was there. */
#ifdef __OPENCL_VERSION__
#define LUA_ATOMIC_(name, opencl, cuda) \
    MR_FN int lua_atomic_##name(MR_GLOBAL int *at, int x) { return opencl(at, x); } \
    MR_FN int lua_atomic_##name##_local(MR_LOCAL_PTR int *at, int x) { return opencl(at, x); }
#else
#define LUA_ATOMIC_(name, opencl, cuda) \
    MR_FN int lua_atomic_##name(int *at, int x) { return cuda(at, x); } \
    MR_FN int lua_atomic_##name##_local(int *at, int x) { return cuda(at, x); }
#endif
LUA_ATOMIC_(add, atomic_add, atomicAdd)
LUA_ATOMIC_(least, atomic_min, atomicMin)
LUA_ATOMIC_(most, atomic_max, atomicMax)

/* A place in an array of `count` elements; what is outside is noted, with the number of the place
 * in the text, and becomes 0. */
MR_FN int64_t lua_place(int64_t k, int64_t count, int site, MR_GLOBAL int *fault) {
    if (k >= 0 && k < count) return k;
    fault[1] = (int)k;
    fault[0] = site;
    return 0;
}
