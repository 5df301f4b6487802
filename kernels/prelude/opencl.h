/* opencl.h - the words of the kernel dialect (../README.md) for OpenCL C 1.2.
 *
 * Stands in front of every kernel, after the defines MARE_* and MR_*. On a CPU (MR_CPU) minimum
 * and maximum are comparisons, which are one instruction there where fmin and fmax are four, and
 * lane loops are left to the vectoriser instead of unrolled. */

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF

#ifdef MR_BARE
/* Without clang's header of 18000 lines, which PoCL reads before each program unless core keeps it
 * out: the functions of OpenCL C that the dialect is made of, declared as they are there, for all
 * scalars that they take. A text that calls others is compiled with the header. */
#define MR_CONST_ __attribute__((overloadable)) __attribute__((const))
#define MR_OPEN_ __attribute__((overloadable))
#define MR_OF_1_(f) float MR_CONST_ f(float); double MR_CONST_ f(double);
#define MR_OF_2_(f) float MR_CONST_ f(float, float); double MR_CONST_ f(double, double);
#define MR_OF_3_(f) float MR_CONST_ f(float, float, float); \
    double MR_CONST_ f(double, double, double);
#define MR_ASKS_(f) int MR_CONST_ f(float); int MR_CONST_ f(double);
#define MR_WHOLE_1_(f, type) type MR_CONST_ f(type);
#define MR_WHOLE_2_(f, type) type MR_CONST_ f(type, type);
#define MR_WHOLE_(of, f) of(f, char) of(f, uchar) of(f, short) of(f, ushort) of(f, int) \
    of(f, uint) of(f, long) of(f, ulong)
#define MR_CHANGE_(f, space, type) type MR_OPEN_ f(volatile space type *, type);
#define MR_CHANGES_(f) MR_CHANGE_(f, __global, int) MR_CHANGE_(f, __global, uint) \
    MR_CHANGE_(f, __local, int) MR_CHANGE_(f, __local, uint)
#define MR_REPLACE_(space, type) \
    type MR_OPEN_ atomic_cmpxchg(volatile space type *, type, type);
#define MR_HALVES_IN_(space) \
    float MR_OPEN_ __attribute__((pure)) vload_half(size_t, const space half *);
#define MR_HALVES_TO_(space) void MR_OPEN_ vstore_half_rte(float, size_t, space half *); \
    void MR_OPEN_ vstore_half_rte(double, size_t, space half *);

size_t MR_CONST_ get_global_id(uint);
size_t MR_CONST_ get_local_id(uint);
size_t MR_CONST_ get_group_id(uint);
size_t MR_CONST_ get_num_groups(uint);
size_t MR_CONST_ get_local_size(uint);
size_t MR_CONST_ get_global_size(uint);
void MR_OPEN_ __attribute__((convergent)) barrier(cl_mem_fence_flags);
MR_OF_1_(fabs) MR_OF_1_(sqrt) MR_OF_1_(rsqrt) MR_OF_1_(cbrt) MR_OF_1_(floor) MR_OF_1_(ceil)
MR_OF_1_(trunc) MR_OF_1_(rint) MR_OF_1_(round) MR_OF_1_(exp) MR_OF_1_(exp2) MR_OF_1_(expm1)
MR_OF_1_(log) MR_OF_1_(log2) MR_OF_1_(log10) MR_OF_1_(log1p) MR_OF_1_(sin) MR_OF_1_(cos)
MR_OF_1_(tan) MR_OF_1_(asin) MR_OF_1_(acos) MR_OF_1_(atan) MR_OF_1_(sinh) MR_OF_1_(cosh)
MR_OF_1_(tanh) MR_OF_1_(asinh) MR_OF_1_(acosh) MR_OF_1_(atanh) MR_OF_1_(erf) MR_OF_1_(erfc)
MR_OF_1_(lgamma) MR_OF_1_(tgamma)
MR_OF_2_(fmin) MR_OF_2_(fmax) MR_OF_2_(pow) MR_OF_2_(atan2) MR_OF_2_(hypot) MR_OF_2_(fmod)
MR_OF_2_(nextafter) MR_OF_2_(copysign) MR_OF_2_(min) MR_OF_2_(max) MR_OF_3_(fma)
MR_ASKS_(isnan) MR_ASKS_(isinf) MR_ASKS_(isfinite)
MR_WHOLE_(MR_WHOLE_2_, min) MR_WHOLE_(MR_WHOLE_2_, max) MR_WHOLE_(MR_WHOLE_1_, popcount)
MR_CHANGES_(atomic_add) MR_CHANGES_(atomic_or) MR_CHANGES_(atomic_min) MR_CHANGES_(atomic_max)
MR_CHANGES_(atomic_xchg)
MR_CHANGE_(atomic_xchg, __global, float) MR_CHANGE_(atomic_xchg, __local, float)
MR_REPLACE_(__global, int) MR_REPLACE_(__global, uint) MR_REPLACE_(__local, int)
MR_REPLACE_(__local, uint)
MR_HALVES_IN_(__global) MR_HALVES_IN_(__local) MR_HALVES_IN_(__constant) MR_HALVES_IN_(__private)
MR_HALVES_TO_(__global) MR_HALVES_TO_(__local) MR_HALVES_TO_(__private)
#endif

typedef long mr_index;
typedef half mr_half;

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
/* OpenCL 1.2 has no warps, NVIDIA's GPUs have. */
#if MR_PTX_ARCH
#define MR_WARP_BARRIER() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#else
#define MR_WARP_BARRIER() MR_BARRIER()
#endif
/* On words of local memory, at once. */
#define mr_local_add(at, x) ((void)atomic_add(at, (uint)(x)))
#define mr_local_or(at, x) ((void)atomic_or(at, (uint)(x)))
#define mr_count_bits(x) ((int)popcount((uint)(x)))

/* Numbers as the bits that they are, and back; a double by its high and its low word. */
#define mr_as_int_(a) as_int(a)
#define mr_as_float_(a) as_float(a)
#define mr_high_(a) (as_int2(a).y)
#define mr_low_(a) (as_int2(a).x)
#define mr_as_double_(high, low) as_double((int2)(low, high))
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
#endif

#if !(defined(MR_FAST) && MR_PTX_ARCH)
#define mr_rcp_float(a) (1.0f / (a))
#ifdef MR_CPU
#define mr_rsqrt_double(a) (1.0 / sqrt(a))
#define mr_rsqrt_float(a) (1.0f / sqrt(a))
#else
#define mr_rsqrt_double(a) rsqrt(a)
#define mr_rsqrt_float(a) rsqrt(a)
#endif
#endif

#ifdef MR_CPU
/* vectorised after PoCL links its library, not where clang looks */
#pragma clang diagnostic ignored "-Wpass-failed"
#define MR_LANES(l, n) \
    _Pragma("clang loop vectorize(enable) vectorize_width(16)") \
    _Pragma("clang loop interleave(disable) unroll(disable)") \
    for (int l = 0; l < (n); ++l)
#endif

/* NVIDIA's OpenCL takes PTX. */
#define mr_local_address_(to) ((uint)(size_t)(to))
#include "prelude/both.h"

#define mr_store_last(to, i, x, y) ((to)[i].re = (x), (to)[i].im = (y))

/* Element i of halves as a float, and back to the nearest half. */
#define mr_half_load(from, i) vload_half((size_t)(i), from)
#define mr_half_store(to, i, x) vstore_half_rte((float)(x), (size_t)(i), to)
/* The nearest half, as a float. */
MR_FN float mr_half_round(float x) {
    ushort nearest;
    vstore_half_rte(x, 0, (half *)&nearest);
    return vload_half(0, (const half *)&nearest);
}
#ifdef cl_khr_fp64
MR_FN float mr_half_round_double(double x) {
    ushort nearest;
    vstore_half_rte(x, 0, (half *)&nearest);
    return vload_half(0, (const half *)&nearest);
}
#endif
/* Floats and doubles as whole numbers of a type, the nearest where they are beyond it; NaN as 0. */
#define mr_to_int32(x) ((x) == (x) ? convert_int_sat(x) : 0)
#define mr_to_uint32(x) ((x) == (x) ? convert_uint_sat(x) : 0u)
#define mr_to_int64(x) ((x) == (x) ? convert_long_sat(x) : 0l)
#define mr_to_uint64(x) ((x) == (x) ? convert_ulong_sat(x) : 0ul)

/* Two halves as the word that they are in memory: of two floats, and each of them. */
MR_FN uint mr_halves(float a, float b) {
    ushort both[2];
    vstore_half_rte(a, 0, (half *)both);
    vstore_half_rte(b, 1, (half *)both);
    return both[0] | (uint)both[1] << 16;
}
MR_FN float mr_first_half(uint word) {
    ushort bits = (ushort)word;
    return vload_half(0, (const half *)&bits);
}
MR_FN float mr_second_half(uint word) { return mr_first_half(word >> 16); }

#ifndef MR_BRIEF
/* Tells what will be read soon. */
#if defined(MR_CPU) && defined(__clang__)
#define mr_prefetch(address) __builtin_prefetch(address)
#elif MR_PTX_ARCH
#define mr_prefetch(address) asm volatile("prefetch.global.L2 [%0];" :: "l"(address))
#else
#define mr_prefetch(address)
#endif

/* n neighbours between private memory and an address aligned to 4 elements (2, 1 where n is no
 * multiple of 4, 2). */
typedef MR_JOIN(MARE_REAL, 2) mr_pair;
typedef MR_JOIN(MARE_REAL, 4) mr_quad;

#ifdef MR_CPU
#define MR_COPY_(name, to_space, from_space) \
    MR_FN void name(to_space real *to, const from_space real *from, int n) { \
        MR_LANES(l, n) to[l] = from[l]; \
    }
MR_COPY_(mr_load_lanes, __private, __global)
MR_COPY_(mr_store_lanes, __global, __private)
MR_COPY_(mr_read_lanes, __private, __local)
#else
MR_FN void mr_load_lanes(real *to, const __global real *from, int n) {
    MR_LANES(l, n) {
        if (n % 4 == 0) {
            if (l % 4 == 0) vstore4(*(const __global mr_quad *)(from + l), 0, to + l);
        } else if (n % 2 == 0) {
            if (l % 2 == 0) vstore2(*(const __global mr_pair *)(from + l), 0, to + l);
        } else {
            to[l] = from[l];
        }
    }
}

MR_FN void mr_store_lanes(__global real *to, const real *from, int n) {
    MR_LANES(l, n) {
        if (n % 4 == 0) {
            if (l % 4 == 0) *(__global mr_quad *)(to + l) = vload4(0, from + l);
        } else if (n % 2 == 0) {
            if (l % 2 == 0) *(__global mr_pair *)(to + l) = vload2(0, from + l);
        } else {
            to[l] = from[l];
        }
    }
}

MR_FN void mr_read_lanes(real *to, const __local real *from, int n) {
    MR_LANES(l, n) {
        if (n % 4 == 0) {
            if (l % 4 == 0) vstore4(*(const __local mr_quad *)(from + l), 0, to + l);
        } else if (n % 2 == 0) {
            if (l % 2 == 0) vstore2(*(const __local mr_pair *)(from + l), 0, to + l);
        } else {
            to[l] = from[l];
        }
    }
}
#endif

#if MR_PTX_ARCH
/* NVIDIA's OpenCL has no sub-groups. */
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

/* Words that groups share: a CPU and its host are one system. */
#if defined(MR_CPU) && defined(__clang__)
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
MR_FN void mr_publish(__global ulong *to, ulong a) { __atomic_store_n(to, a, __ATOMIC_RELAXED); }
MR_FN ulong mr_poll(const __global ulong *from) { return __atomic_load_n(from, __ATOMIC_RELAXED); }
#endif

/* Launches begin when those before them have ended; see cuda.h. */
#define mr_start_dependents()
#define mr_wait_for_previous()

#if !(MR_PTX_ARCH >= 800)
MR_FN void mr_fetch_lanes(__local real *to, const __global real *from, int n) {
    MR_LANES(l, n) to[l] = from[l];
}
#endif
#endif
