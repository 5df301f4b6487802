/* cpu.h - the words of the kernel dialect (../README.md) in GNU C, for processors without a driver:
 * bindings/programs compiles what stands behind them. A work-item is a call; where it is stands in
 * mr_place_, which bindings/programs/run.c keeps for each thread, and a barrier lets the other
 * work-items of the group come up. MR_KERNEL stays for bindings/programs/make.lua to see. */

#include <math.h>
#include <tgmath.h>
#undef I

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long mr_index;
typedef _Float16 mr_half;

#define MR_FN static inline __attribute__((always_inline, unused))
#define MR_GLOBAL
#define MR_LOCAL static _Thread_local
#define MR_LOCAL_PTR
#define MR_LOCAL_LARGE(type, name, n) static _Thread_local type name[n] __attribute__((aligned(64)))
#define MR_CONSTANT static const
#define MR_RESTRICT restrict
#define MR_ALIGNED(n) __attribute__((aligned(n)))
#define MR_GROUP_SIZE(x, y, z)

#ifdef MR_FAST
MR_FN void mr_is_fast_(void) {}     /* for bindings/programs/make.lua to see */
#endif

struct mr_place_ { int item[3], group[3], group_size[3], groups[3]; };
extern _Thread_local struct mr_place_ mr_place_ __attribute__((visibility("hidden")));
void mr_barrier_(void) __attribute__((visibility("hidden")));

#define mr_lid_x() (mr_place_.item[0])
#define mr_lid_y() (mr_place_.item[1])
#define mr_lid_z() (mr_place_.item[2])
#define mr_group_x() (mr_place_.group[0])
#define mr_group_y() (mr_place_.group[1])
#define mr_group_z() (mr_place_.group[2])
#define mr_group_size_x() (mr_place_.group_size[0])
#define mr_group_size_y() (mr_place_.group_size[1])
#define mr_group_size_z() (mr_place_.group_size[2])
#define mr_groups_x() (mr_place_.groups[0])
#define mr_groups_y() (mr_place_.groups[1])
#define mr_groups_z() (mr_place_.groups[2])
#define mr_gid_x() (mr_group_x() * mr_group_size_x() + mr_lid_x())
#define mr_gid_y() (mr_group_y() * mr_group_size_y() + mr_lid_y())
#define mr_gid_z() (mr_group_z() * mr_group_size_z() + mr_lid_z())
#define MR_BARRIER() mr_barrier_()
#define MR_WARP_BARRIER() mr_barrier_()
/* The work-items of a group are on one thread. */
#define mr_local_add(at, x) ((void)(*(at) += (uint)(x)))
#define mr_local_or(at, x) ((void)(*(at) |= (uint)(x)))
#define mr_count_bits(x) __builtin_popcount((uint)(x))

/* Of integers, as OpenCL C and CUDA have them. */
#define min(a, b) ({ __typeof__((a) + (b)) a_ = (a), b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b) ({ __typeof__((a) + (b)) a_ = (a), b_ = (b); a_ > b_ ? a_ : b_; })
#undef isnan
#define isnan(x) ((x) != (x))
MR_FN float mr_rsqrt_float(float a) { return 1.0f / sqrtf(a); }
MR_FN double mr_rsqrt_double(double a) { return 1.0 / (sqrt)(a); }
#define mr_rcp_float(a) (1.0f / (a))

/* Numbers as the bits that they are, and back; a double by its high and its low word. */
#define MR_BITS_(name, to, from) \
    MR_FN to name(from a) { \
        to r; \
        __builtin_memcpy(&r, &a, sizeof r); \
        return r; \
    }
MR_BITS_(mr_as_int_, int, float)
MR_BITS_(mr_as_uint_, uint, float)
MR_BITS_(mr_as_float_, float, int)
MR_BITS_(mr_as_ulong_, ulong, double)
MR_BITS_(mr_of_ulong_, double, ulong)
MR_FN int mr_high_(double a) { return (int)(mr_as_ulong_(a) >> 32); }
MR_FN int mr_low_(double a) { return (int)mr_as_ulong_(a); }
MR_FN double mr_as_double_(int high, int low) {
    return mr_of_ulong_((ulong)(uint)high << 32 | (uint)low);
}
MR_FN float mr_max_nan_float(float a, float b) {
    return mr_as_uint_(a) > mr_as_uint_(b) ? a : b;
}
MR_FN double mr_max_nan_double(double a, double b) {
    return mr_as_ulong_(a) > mr_as_ulong_(b) ? a : b;
}

#define mr_cbrt(a) MR_JOIN(mr_cbrt_, MARE_REAL)((real)(a))
/* As in opencl.h, which says how. */
#define MR_HALLEY(y, x) ((y) * (((y) * (y) * (y) + 2 * (x)) / (2 * (y) * (y) * (y) + (x))))
MR_FN float mr_cbrt_float(float a) {
    float m = fabsf(a), x = m * (m < 0x1p-100f ? 0x1p24f : 0x1p-3f);
    float y = mr_as_float_((int)((float)mr_as_int_(x) * 0.33333333f) + 0x2a5119f2);
    y = MR_HALLEY(y, x);
    y = MR_HALLEY(y, x);
    y = copysignf(y * (m < 0x1p-100f ? 0x1p-8f : 2.0f), a);
    y = x > 0.0f ? y : a;
    return m < INFINITY ? y : a;
}
MR_FN double mr_cbrt_double(double a) {
    double m = (fabs)(a), x = m * (m < 0x1p-960 ? 0x1p54 : 0x1p-3);
    double y = mr_of_ulong_(mr_as_ulong_(x) / 3 + 0x2a9f7893782da1ceul);
    y = MR_HALLEY(y, x);
    y = MR_HALLEY(y, x);
    y = MR_HALLEY(y, x);
    y = (copysign)(y * (m < 0x1p-960 ? 0x1p-18 : 2.0), a);
    y = x > 0.0 ? y : a;
    return m < INFINITY ? y : a;
}

#define MR_UNROLL(n)
#define MR_LANES(l, n) _Pragma("GCC ivdep") for (int l = 0; l < (n); ++l)
#define MR_PTX_ARCH 0
#include "prelude/both.h"
#undef MR_UNROLL
#define MR_UNROLL(n)

/* Functions, as of macros in one another GCC makes branches. */
#undef mr_min
#undef mr_max
#undef mr_most
#undef mr_least_float
#undef mr_copysign
MR_FN float mr_min_float(float a, float b) { return a < b ? a : b; }
MR_FN float mr_max_float(float a, float b) { return a > b ? a : b; }
MR_FN double mr_min_double(double a, double b) { return a < b ? a : b; }
MR_FN double mr_max_double(double a, double b) { return a > b ? a : b; }
MR_FN int mr_less_bits_(int a, int b) { return a < b ? a : b; }
#define mr_min(a, b) MR_REAL_(mr_min_)((real)(a), (real)(b))
#define mr_max(a, b) MR_REAL_(mr_max_)((real)(a), (real)(b))
#define mr_most(a, b) mr_max(mr_max(a, b), R(0.0))
#define mr_least_float(a, b, c) mr_as_float_(mr_less_bits_(mr_less_bits_( \
    mr_as_int_(a), mr_as_int_(b)), mr_as_int_(c)))

MR_FN float mr_copysign_float(float a, float b) {
    return mr_as_float_((mr_as_int_(a) & 0x7fffffff) | (mr_as_int_(b) & ~0x7fffffff));
}
#define mr_copysign_double(a, b) (copysign)(a, b)
#define mr_copysign(a, b) MR_REAL_(mr_copysign_)((real)(a), (real)(b))

#define mr_half_load(from, i) ((float)(from)[i])
#define mr_half_store(to, i, x) ((void)((to)[i] = (mr_half)(float)(x)))
#define mr_half_round(x) ((float)(mr_half)(float)(x))
#define mr_half_round_double(x) ((float)(mr_half)(double)(x))
MR_FN uint mr_halves(float a, float b) {
    mr_half both[2] = { (mr_half)a, (mr_half)b };
    uint word;
    __builtin_memcpy(&word, both, sizeof word);
    return word;
}
MR_FN float mr_first_half(uint word) {
    mr_half first;
    __builtin_memcpy(&first, &word, sizeof first);
    return (float)first;
}
MR_FN float mr_second_half(uint word) { return mr_first_half(word >> 16); }
/* Floats and doubles as whole numbers of a type, the nearest where they are beyond it; NaN as 0. */
#define MR_TO_(type, name, least, most, end) \
    MR_FN type name(double x) { \
        return x >= (end) ? (most) : x > (least) ? (type)x : x == x ? (type)(least) : 0; \
    }
MR_TO_(int, mr_to_int32, -0x1p31, 0x7fffffff, 0x1p31)
MR_TO_(uint, mr_to_uint32, 0.0, ~0u, 0x1p32)
MR_TO_(int64_t, mr_to_int64, -0x1p63, 0x7fffffffffffffff, 0x1p63)
MR_TO_(uint64_t, mr_to_uint64, 0.0, ~0ul, 0x1p64)
#define mr_prefetch(address) __builtin_prefetch(address)
#define mr_store_last(to, i, x, y) ((to)[i].re = (x), (to)[i].im = (y))

MR_FN void mr_load_lanes(real *to, const real *from, int n) {
    MR_LANES(l, n) to[l] = from[l];
}
#define mr_store_lanes mr_load_lanes
#define mr_read_lanes mr_load_lanes
#define mr_fetch_lanes mr_load_lanes

/* Words that groups share: a CPU and its host are one system. */
#define MR_SCOPES 1
#define MR_SCOPED_(system) \
    MR_FN uint mr_load_acquire##system(const uint *from) { \
        return __atomic_load_n(from, __ATOMIC_ACQUIRE); \
    } \
    MR_FN void mr_store_release##system(uint *to, uint x) { \
        __atomic_store_n(to, x, __ATOMIC_RELEASE); \
    } \
    MR_FN void mr_fence##system(void) { __atomic_thread_fence(__ATOMIC_ACQ_REL); } \
    MR_FN uint mr_atomic_add##system(uint *at, uint x) { \
        return __atomic_fetch_add(at, x, __ATOMIC_RELAXED); \
    } \
    MR_FN uint mr_atomic_exchange##system(uint *at, uint x) { \
        return __atomic_exchange_n(at, x, __ATOMIC_RELAXED); \
    } \
    MR_FN uint mr_atomic_replace##system(uint *at, uint expected, uint x) { \
        __atomic_compare_exchange_n(at, &expected, x, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        return expected; \
    } \
    MR_FN uint mr_atomic_max##system(uint *at, uint x) { \
        uint before = __atomic_load_n(at, __ATOMIC_RELAXED); \
        while (before < x && !__atomic_compare_exchange_n(at, &before, x, 1, __ATOMIC_RELAXED, \
            __ATOMIC_RELAXED)) {} \
        return before; \
    }
MR_SCOPED_()
MR_SCOPED_(_system)

/* Launches begin when those before them have ended; see cuda.h. */
#define mr_start_dependents()
#define mr_wait_for_previous()
