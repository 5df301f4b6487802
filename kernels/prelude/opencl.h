/* opencl.h - the words of the kernel dialect (../README.md) for OpenCL C 1.2.
 *
 * Stands in front of every kernel, after the defines MARE_* and MR_*. On a CPU (MR_CPU) minimum
 * and maximum are comparisons, which are one instruction there where fmin and fmax are four, and
 * lane loops are left to the vectoriser instead of unrolled. */

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF

#ifndef MARE_REAL
#define MARE_REAL float
#endif
typedef MARE_REAL real;
typedef long mr_index;

/* R(0.5) is a literal of type real: 0.5f or 0.5. */
#define MR_JOIN_(a, b) a##b
#define MR_JOIN(a, b) MR_JOIN_(a, b)
#define MR_LITERAL_float(x) x##f
#define MR_LITERAL_double(x) x
#define R(x) MR_JOIN(MR_LITERAL_, MARE_REAL)(x)

/* Types of buffers, which compute as something else. */
typedef uchar mr_bool;
typedef half mr_half;
typedef struct __attribute__((aligned(8))) mr_complex_float { float re, im; } mr_complex_float;
typedef struct __attribute__((aligned(16))) mr_complex_double { double re, im; } mr_complex_double;
typedef MR_JOIN(mr_complex_, MARE_REAL) mr_complex;

#define int32_t int
#define uint32_t uint
#define int64_t long
#define uint64_t ulong

#define MR_KERNEL __kernel
#define MR_FN static inline __attribute__((always_inline))
#define MR_GLOBAL __global
#define MR_LOCAL __local
#define MR_LOCAL_PTR __local
/* A local array of any size that the device has; on NVIDIA's OpenCL that is 48 KB. */
#define MR_LOCAL_LARGE(type, name, n) __local type name[n] __attribute__((aligned(16)))
#define MR_CONSTANT __constant const
#define MR_RESTRICT restrict
#define MR_ALIGNED(n) __attribute__((aligned(n)))
#ifdef MR_REGISTERS     /* a bound that NVIDIA's compiler forgets where the group is told */
#define MR_GROUP_SIZE(x, y, z)
#else
#define MR_GROUP_SIZE(x, y, z) __attribute__((reqd_work_group_size(x, y, z)))
#endif

#define mr_lid_x() ((int)get_local_id(0))
#define mr_lid_y() ((int)get_local_id(1))
#define mr_lid_z() ((int)get_local_id(2))
#define mr_group_x() ((int)get_group_id(0))
#define mr_group_y() ((int)get_group_id(1))
#define mr_group_z() ((int)get_group_id(2))
#define mr_group_size_x() ((int)get_local_size(0))
#define mr_group_size_y() ((int)get_local_size(1))
#define mr_group_size_z() ((int)get_local_size(2))
#define mr_groups_x() ((int)get_num_groups(0))
#define mr_groups_y() ((int)get_num_groups(1))
#define mr_groups_z() ((int)get_num_groups(2))
#define mr_gid_x() ((int)get_global_id(0))
#define mr_gid_y() ((int)get_global_id(1))
#define mr_gid_z() ((int)get_global_id(2))
#define MR_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)

#ifdef MR_CPU
#define mr_min(a, b) ((a) < (b) ? (a) : (b))
#define mr_max(a, b) ((a) > (b) ? (a) : (b))
#else
#define mr_min(a, b) MR_JOIN(mr_min_, MARE_REAL)((real)(a), (real)(b))
#define mr_max(a, b) MR_JOIN(mr_max_, MARE_REAL)((real)(a), (real)(b))
#define mr_min_float(a, b) fmin(a, b)
#define mr_max_float(a, b) fmax(a, b)
/* A third of fmin. */
MR_FN double mr_min_double(double a, double b) { return a < b ? a : b; }
MR_FN double mr_max_double(double a, double b) { return a > b ? a : b; }
#endif
#define mr_max_nan(a, b) MR_JOIN(mr_max_nan_, MARE_REAL)((real)(a), (real)(b))
/* See cuda.h. */
#define mr_least(a, b, c) MR_JOIN(mr_least_, MARE_REAL)((real)(a), (real)(b), (real)(c))
#define mr_least_float(a, b, c) as_float(min(min(as_int(a), as_int(b)), as_int(c)))
#define mr_least_double(a, b, c) mr_less_double(mr_less_double(a, b), c)
MR_FN double mr_less_double(double a, double b) { return fabs(a) < fabs(b) ? a : b; }
#ifdef MR_CPU
#define mr_most(a, b) mr_max(mr_max(a, b), R(0.0))
#else
#define mr_most(a, b) MR_JOIN(mr_most_, MARE_REAL)((real)(a), (real)(b))
#define mr_most_float(a, b) as_float(max(max(as_int(a), as_int(b)), 0))
MR_FN double mr_most_double(double a, double b) {
    int2 most = as_int2(mr_max_double(a, b));
    return as_double((int2)(most.x, max(most.y, 0)));
}
#endif
#define mr_agreed(x, a, b) MR_JOIN(mr_agreed_, MARE_REAL)((real)(x), (real)(a), (real)(b))
/* 0 if they differ in sign, else the word; see cuda.h. */
#if MR_PTX_ARCH
MR_FN int mr_if_agreed_(int word, int a, int b) {
    int r;
    asm("{ .reg .pred p; setp.ne.s32 p, %1, 0; selp.b32 %0, 0, %2, p; }"
        : "=r"(r) : "r"((a ^ b) & 0x80000000), "r"(word));
    return r;
}
#else
MR_FN int mr_if_agreed_(int word, int a, int b) { return word & ~((a ^ b) >> 31); }
#endif
MR_FN float mr_agreed_float(float x, float a, float b) {
    return as_float(mr_if_agreed_(as_int(x), as_int(a), as_int(b)));
}
MR_FN double mr_agreed_double(double x, double a, double b) {
    int p = as_int2(a).y, q = as_int2(b).y;
    return as_double((int2)(mr_if_agreed_(as_int2(x).x, p, q), mr_if_agreed_(as_int2(x).y, p, q)));
}
#ifdef MR_CPU
/* Not the library's max: PoCL 6's LLVM 18 ends the process over some with a constant 0. To choose
 * between a and b themselves takes cdklm 7 % longer. */
MR_FN uint mr_higher_(uint a, uint b) { return a > b ? a : b; }
MR_FN ulong mr_higher_long_(ulong a, ulong b) { return a > b ? a : b; }
#define mr_max_nan_float(a, b) as_float(mr_higher_(as_uint(a), as_uint(b)))
#define mr_max_nan_double(a, b) as_double(mr_higher_long_(as_ulong(a), as_ulong(b)))
#else
#define mr_max_nan_float(a, b) as_float(max(as_uint(a), as_uint(b)))
#define mr_max_nan_double(a, b) as_double(max(as_ulong(a), as_ulong(b)))
#endif
#define mr_abs(a) fabs((real)(a))
#define mr_sqrt(a) MR_JOIN(mr_sqrt_, MARE_REAL)((real)(a))
#ifdef MR_CPU
#define mr_cbrt(a) MR_JOIN(mr_cbrt_, MARE_REAL)((real)(a))
/* The library's is a call a lane, which a loop over lanes cannot vectorise. From a third of the
 * exponent, some 4 % off, each of Halley's steps cubes the error. All is done on x times a cube, so
 * that neither do the largest overflow in 2 y^3 + x nor are the smallest denormal; where denormal
 * numbers count as 0, so does x. */
#define MR_HALLEY(y, x) ((y) * (((y) * (y) * (y) + 2 * (x)) / (2 * (y) * (y) * (y) + (x))))
MR_FN float mr_cbrt_float(float a) {
    float m = fabs(a), x = m * (m < 0x1p-100f ? 0x1p24f : 0x1p-3f);
    float y = as_float((int)((float)as_int(x) * 0.33333333f) + 0x2a5119f2);
    y = MR_HALLEY(y, x);
    y = MR_HALLEY(y, x);
    y = copysign(y * (m < 0x1p-100f ? 0x1p-8f : 2.0f), a);
    y = x > 0.0f ? y : a;
    return m < INFINITY ? y : a;
}

MR_FN double mr_cbrt_double(double a) {
    double m = fabs(a), x = m * (m < 0x1p-960 ? 0x1p54 : 0x1p-3);
    double y = as_double(as_long(x) / 3 + 0x2a9f7893782da1ce);
    y = MR_HALLEY(y, x);
    y = MR_HALLEY(y, x);
    y = MR_HALLEY(y, x);
    y = copysign(y * (m < 0x1p-960 ? 0x1p-18 : 2.0), a);
    y = x > 0.0 ? y : a;
    return m < INFINITY ? y : a;
}
#else
#define mr_cbrt(a) cbrt((real)(a))
#endif
#define mr_rcp(a) MR_JOIN(mr_rcp_, MARE_REAL)((real)(a))
#define mr_rsqrt(a) MR_JOIN(mr_rsqrt_, MARE_REAL)((real)(a))
#define mr_ratio_root(a, b) MR_JOIN(mr_ratio_root_, MARE_REAL)((real)(a), (real)(b))
#define mr_fma(a, b, c) fma((real)(a), (real)(b), (real)(c))
#define mr_copysign(a, b) copysign((real)(a), (real)(b))
#define mr_select(condition, yes, no) ((condition) ? (yes) : (no))

#if defined(MR_FAST) && MR_PTX_ARCH
/* See cuda.h. */
MR_FN float mr_rcp_float(float a) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
    return r;
}

MR_FN float mr_sqrt_float(float a) {
    float r;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
    return r;
}

MR_FN float mr_rsqrt_float(float a) {
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
    return r;
}

MR_FN double mr_rcp_double(double a) {
    double r;
    asm("{ .reg .f64 s, e; rcp.approx.ftz.f64 s, %1; neg.f64 e, %1;"
        "fma.rn.f64 e, e, s, 0d3FF0000000000000; fma.rn.f64 e, e, e, e; fma.rn.f64 %0, s, e, s; }"
        : "=d"(r) : "d"(a));
    return r;
}

MR_FN double mr_rsqrt_double(double a) {
    double r;
    asm("{ .reg .f64 s, e, f; rsqrt.approx.ftz.f64 s, %1; mul.f64 e, %1, s; neg.f64 e, e;"
        "fma.rn.f64 e, e, s, 0d3FF0000000000000;"
        "fma.rn.f64 f, e, 0d3FD8000000000000, 0d3FE0000000000000; mul.f64 e, e, s;"
        "fma.rn.f64 %0, e, f, s; }" : "=d"(r) : "d"(a));
    return r;
}

MR_FN double mr_sqrt_double(double a) { return a * mr_rsqrt_double(a + 1e-300); }   /* 0 of 0 */

#define MR_ROOT ((real)(sizeof(real) == 8 ? 0.375 : 1.0))
MR_FN double mr_ratio_root_double(double a, double b) {
    double x = a * b, r;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    r = as_double((int2)(as_int2(x).x, as_int2(r).y));
    double y = a * r, h = fma(b * y, r, -1.6666666666666667);
    return y * fma(h, h, 2.2222222222222222);
}
#else
#define MR_ROOT R(1.0)
#define mr_sqrt_double(a) sqrt(a)
#define mr_rcp_double(a) (1.0 / (a))
#define mr_rcp_float(a) (1.0f / (a))
#define mr_sqrt_float(a) sqrt(a)
#ifdef MR_CPU
#define mr_rsqrt_double(a) (1.0 / sqrt(a))
#define mr_rsqrt_float(a) (1.0f / sqrt(a))
#else
#define mr_rsqrt_double(a) rsqrt(a)
#define mr_rsqrt_float(a) rsqrt(a)
#endif
MR_FN double mr_ratio_root_double(double a, double b) { return a * mr_rsqrt_double(a * b); }
#endif
MR_FN float mr_ratio_root_float(float a, float b) { return a * mr_rsqrt_float(a * b); }

/* Complex numbers, of the type real. */
MR_FN mr_complex mr_complex_of(real re, real im) {
    mr_complex z = { re, im };
    return z;
}
MR_FN mr_complex mr_complex_add(mr_complex a, mr_complex b) {
    return mr_complex_of(a.re + b.re, a.im + b.im);
}
MR_FN mr_complex mr_complex_sub(mr_complex a, mr_complex b) {
    return mr_complex_of(a.re - b.re, a.im - b.im);
}
MR_FN mr_complex mr_complex_mul(mr_complex a, mr_complex b) {
    return mr_complex_of(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}

/* Element i of halves as a float, and back to the nearest half. */
#define mr_half_load(from, i) vload_half((size_t)(i), from)
#define mr_half_store(to, i, x) vstore_half_rte((float)(x), (size_t)(i), to)
/* The nearest half, as a float. */
MR_FN float mr_half_round(float x) {
    ushort nearest;
    vstore_half_rte(x, 0, (half *)&nearest);
    return vload_half(0, (const half *)&nearest);
}

#define MR_PRAGMA_(text) _Pragma(#text)
#define MR_UNROLL(n) MR_PRAGMA_(unroll n)
#ifdef MR_CPU
/* vectorised after PoCL links its library, not where clang looks */
#pragma clang diagnostic ignored "-Wpass-failed"
#define MR_LANES(l, n) \
    _Pragma("clang loop vectorize(enable) vectorize_width(16)") \
    _Pragma("clang loop interleave(disable) unroll(disable)") \
    for (int l = 0; l < (n); ++l)
#define MR_WIDE_ 0
#else
#define MR_LANES(l, n) _Pragma("unroll") for (int l = 0; l < (n); ++l)
#define MR_WIDE_ 1
#endif

/* Tells a CPU what will be read soon. */
#if defined(MR_CPU) && defined(__clang__)
#define mr_prefetch(address) __builtin_prefetch(address)
#else
#define mr_prefetch(address)
#endif

/* n neighbours between private memory and an address aligned to 4 elements (2, 1 where n is no
 * multiple of 4, 2). */
typedef MR_JOIN(MARE_REAL, 2) mr_pair;
typedef MR_JOIN(MARE_REAL, 4) mr_quad;

MR_FN void mr_load_lanes(real *to, const __global real *from, int n) {
    MR_LANES(l, n) {
        if (MR_WIDE_ && n % 4 == 0) {
            if (l % 4 == 0) vstore4(*(const __global mr_quad *)(from + l), 0, to + l);
        } else if (MR_WIDE_ && n % 2 == 0) {
            if (l % 2 == 0) vstore2(*(const __global mr_pair *)(from + l), 0, to + l);
        } else {
            to[l] = from[l];
        }
    }
}

MR_FN void mr_store_lanes(__global real *to, const real *from, int n) {
    MR_LANES(l, n) {
        if (MR_WIDE_ && n % 4 == 0) {
            if (l % 4 == 0) *(__global mr_quad *)(to + l) = vload4(0, from + l);
        } else if (MR_WIDE_ && n % 2 == 0) {
            if (l % 2 == 0) *(__global mr_pair *)(to + l) = vload2(0, from + l);
        } else {
            to[l] = from[l];
        }
    }
}

/* n neighbours from a buffer into local memory, and on from there. Between mr_fetch_lanes and
 * mr_fetch_wait they are on their way, which only the work-item that asked may wait for. */
MR_FN void mr_read_lanes(real *to, const __local real *from, int n) {
    MR_LANES(l, n) {
        if (MR_WIDE_ && n % 4 == 0) {
            if (l % 4 == 0) vstore4(*(const __local mr_quad *)(from + l), 0, to + l);
        } else if (MR_WIDE_ && n % 2 == 0) {
            if (l % 2 == 0) vstore2(*(const __local mr_pair *)(from + l), 0, to + l);
        } else {
            to[l] = from[l];
        }
    }
}

#if MR_PTX_ARCH
/* NVIDIA's OpenCL has no sub-groups, but takes PTX. */
#define MR_SHUFFLE 1
MR_FN uint mr_shuffle_bits_up(uint x) {
    uint y;
    asm volatile("shfl.sync.up.b32 %0, %1, 1, 0, 0xffffffff;" : "=r"(y) : "r"(x));
    return y;
}
MR_FN uint mr_shuffle_bits_down(uint x) {
    uint y;
    asm volatile("shfl.sync.down.b32 %0, %1, 1, 31, 0xffffffff;" : "=r"(y) : "r"(x));
    return y;
}
/* An int that all lanes have, so that the compiler knows: what depends on it does not diverge. */
MR_FN int mr_uniform(int x) {
    int y;
    asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, 0xffffffff;" : "=r"(y) : "r"(x));
    return y;
}
#define MR_HALVES_float(f, a) as_float(f(as_uint(a)))
#define MR_HALVES_double(f, a) as_double((uint2)(f(as_uint2(a).x), f(as_uint2(a).y)))
#define MR_HALVES MR_JOIN(MR_HALVES_, MARE_REAL)
#define mr_shuffle_up(x) MR_HALVES(mr_shuffle_bits_up, x)
#define mr_shuffle_down(x) MR_HALVES(mr_shuffle_bits_down, x)

/* The maximum over the lanes of a warp, in which a NaN survives. */
#define MR_LANE_BITS_(name, k) \
    MR_FN uint name(uint x) { \
        uint y; \
        asm volatile("shfl.sync.bfly.b32 %0, %1, " #k ", 31, 0xffffffff;" : "=r"(y) : "r"(x)); \
        return y; \
    }
MR_LANE_BITS_(mr_lane_bits_1, 1)
MR_LANE_BITS_(mr_lane_bits_2, 2)
MR_LANE_BITS_(mr_lane_bits_4, 4)
MR_LANE_BITS_(mr_lane_bits_8, 8)
MR_LANE_BITS_(mr_lane_bits_16, 16)
MR_FN real mr_warp_most(real x) {
    x = mr_max_nan(x, MR_HALVES(mr_lane_bits_16, x));
    x = mr_max_nan(x, MR_HALVES(mr_lane_bits_8, x));
    x = mr_max_nan(x, MR_HALVES(mr_lane_bits_4, x));
    x = mr_max_nan(x, MR_HALVES(mr_lane_bits_2, x));
    return mr_max_nan(x, MR_HALVES(mr_lane_bits_1, x));
}

#endif

/* Words that groups share; see cuda.h. A CPU and its host are one system. */
#if MR_PTX_ARCH >= 700
#define MR_SCOPES 1
#define MR_SCOPED_(system, scope) \
    MR_FN uint mr_load_acquire##system(const __global uint *from) { \
        uint x; \
        asm volatile("ld.acquire." scope ".global.u32 %0, [%1];" \
            : "=r"(x) : "l"(from) : "memory"); \
        return x; \
    } \
    MR_FN void mr_store_release##system(__global uint *to, uint x) { \
        asm volatile("st.release." scope ".global.u32 [%0], %1;" :: "l"(to), "r"(x) : "memory"); \
    } \
    MR_FN void mr_fence##system(void) { asm volatile("fence.acq_rel." scope ";" ::: "memory"); } \
    MR_ATOMIC_(mr_atomic_add##system, "atom.add.relaxed." scope ".global.u32") \
    MR_ATOMIC_(mr_atomic_max##system, "atom.max.relaxed." scope ".global.u32") \
    MR_ATOMIC_(mr_atomic_exchange##system, "atom.exch.relaxed." scope ".global.b32") \
    MR_FN uint mr_atomic_replace##system(__global uint *at, uint expected, uint x) { \
        uint before; \
        asm volatile("atom.cas.relaxed." scope ".global.b32 %0, [%1], %2, %3;" \
            : "=r"(before) : "l"(at), "r"(expected), "r"(x) : "memory"); \
        return before; \
    }
#define MR_ATOMIC_(name, instruction) \
    MR_FN uint name(__global uint *at, uint x) { \
        uint before; \
        asm volatile(instruction " %0, [%1], %2;" \
            : "=r"(before) : "l"(at), "r"(x) : "memory"); \
        return before; \
    }
MR_SCOPED_(, "gpu")
MR_SCOPED_(_system, "sys")
#elif defined(MR_CPU) && defined(__clang__)
#define MR_SCOPES 1
#define MR_SCOPED_(system) \
    MR_FN uint mr_load_acquire##system(const __global uint *from) { \
        return __atomic_load_n(from, __ATOMIC_ACQUIRE); \
    } \
    MR_FN void mr_store_release##system(__global uint *to, uint x) { \
        __atomic_store_n(to, x, __ATOMIC_RELEASE); \
    } \
    MR_FN void mr_fence##system(void) { __atomic_thread_fence(__ATOMIC_ACQ_REL); } \
    MR_FN uint mr_atomic_add##system(__global uint *at, uint x) { return atomic_add(at, x); } \
    MR_FN uint mr_atomic_max##system(__global uint *at, uint x) { return atomic_max(at, x); } \
    MR_FN uint mr_atomic_exchange##system(__global uint *at, uint x) { \
        return atomic_xchg(at, x); \
    } \
    MR_FN uint mr_atomic_replace##system(__global uint *at, uint expected, uint x) { \
        return atomic_cmpxchg(at, expected, x); \
    }
MR_SCOPED_()
MR_SCOPED_(_system)
#endif

/* Launches begin when those before them have ended; see cuda.h. */
#define mr_start_dependents()
#define mr_wait_for_previous()

#if MR_PTX_ARCH >= 800
#define MR_FETCH_(name, cache) \
    MR_FN void name(__local real *to, const __global real *from, int n) { \
        const int size = n * (int)sizeof(real); \
        const int chunk = size % 16 == 0 ? 16 : size % 8 == 0 ? 8 : 4; \
        uint local_address = (uint)(size_t)to; \
        MR_LANES(k, size / chunk) { \
            const __global char *source = (const __global char *)from + k * chunk; \
            if (chunk == 16) \
                asm volatile("cp.async." cache ".shared.global [%0], [%1], 16;" \
                    :: "r"(local_address + k * chunk), "l"(source) : "memory"); \
            else if (chunk == 8) \
                asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" \
                    :: "r"(local_address + k * chunk), "l"(source) : "memory"); \
            else \
                asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" \
                    :: "r"(local_address + k * chunk), "l"(source) : "memory"); \
        } \
    }
MR_FETCH_(mr_fetch_lanes, "cg")
MR_FETCH_(mr_fetch_askew, "ca")
#define mr_fetch_close() asm volatile("cp.async.commit_group;" ::: "memory")
#define mr_fetch_wait(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")
#else
MR_FN void mr_fetch_lanes(__local real *to, const __global real *from, int n) {
    MR_LANES(l, n) to[l] = from[l];
}
#define mr_fetch_askew mr_fetch_lanes
#define mr_fetch_close()
#define mr_fetch_wait(n)
#endif
