/* cuda.h - the words of the kernel dialect (../README.md) for CUDA, as compiled by NVRTC.
 *
 * Stands in front of every kernel, after the defines MARE_* and MR_*. Its words are macros over
 * CUDA's overloaded functions, so that they serve float and double alike. Built with -fmad=false:
 * only mr_fma fuses. */

#ifndef MARE_REAL
#define MARE_REAL float
#endif
typedef MARE_REAL real;
typedef long long mr_index;

/* Scalar types that OpenCL C has by name and NVRTC has not. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define int32_t int
#define uint32_t uint
#define int64_t long
#define uint64_t ulong

/* Types of buffers, which compute as something else. */
typedef uchar mr_bool;
typedef struct __align__(2) mr_half { ushort bits; } mr_half;
typedef struct __align__(8) mr_complex_float { float re, im; } mr_complex_float;
typedef struct __align__(16) mr_complex_double { double re, im; } mr_complex_double;

/* R(0.5) is a literal of type real: 0.5f or 0.5. */
#define MR_JOIN_(a, b) a##b
#define MR_JOIN(a, b) MR_JOIN_(a, b)
#define MR_LITERAL_float(x) x##f
#define MR_LITERAL_double(x) x
#define R(x) MR_JOIN(MR_LITERAL_, MARE_REAL)(x)

typedef MR_JOIN(mr_complex_, MARE_REAL) mr_complex;

#define MR_KERNEL extern "C" __global__
#define MR_FN static __device__ __forceinline__
#define MR_GLOBAL
#define MR_LOCAL __shared__
#define MR_LOCAL_PTR
/* A local array of any size that the device has: its bytes come with the launch, which core reads
 * from here. */
#define MR_LOCAL_LARGE(type, name, n) \
    extern __shared__ ulonglong2 mr_local_large_[]; \
    type *const name = (type *)mr_local_large_
#define MR_CONSTANT static __constant__ const
#define MR_RESTRICT __restrict__
#define MR_ALIGNED(n) __align__(n)
#ifdef MR_REGISTERS     /* a bound that NVRTC forgets where the group is told */
#define MR_GROUP_SIZE(x, y, z)
#elif defined MR_GROUPS_PER_UNIT   /* groups that a compute unit is to hold at a time */
#define MR_GROUP_SIZE(x, y, z) __launch_bounds__((x) * (y) * (z), MR_GROUPS_PER_UNIT)
#else
#define MR_GROUP_SIZE(x, y, z) __launch_bounds__((x) * (y) * (z))
#endif

#define mr_lid_x() ((int)threadIdx.x)
#define mr_lid_y() ((int)threadIdx.y)
#define mr_lid_z() ((int)threadIdx.z)
#define mr_group_x() ((int)blockIdx.x)
#define mr_group_y() ((int)blockIdx.y)
#define mr_group_z() ((int)blockIdx.z)
#define mr_group_size_x() ((int)blockDim.x)
#define mr_group_size_y() ((int)blockDim.y)
#define mr_group_size_z() ((int)blockDim.z)
#define mr_groups_x() ((int)gridDim.x)
#define mr_groups_y() ((int)gridDim.y)
#define mr_groups_z() ((int)gridDim.z)
#define mr_gid_x() ((int)(blockIdx.x * blockDim.x + threadIdx.x))
#define mr_gid_y() ((int)(blockIdx.y * blockDim.y + threadIdx.y))
#define mr_gid_z() ((int)(blockIdx.z * blockDim.z + threadIdx.z))
#define MR_BARRIER() __syncthreads()

#define mr_min(a, b) mr_min_((real)(a), (real)(b))
#define mr_max(a, b) mr_max_((real)(a), (real)(b))
#define mr_max_nan(a, b) mr_max_nan_((real)(a), (real)(b))
#define mr_least(a, b, c) mr_least_((real)(a), (real)(b), (real)(c))
#define mr_agreed(x, a, b) mr_agreed_((real)(x), (real)(a), (real)(b))
#define mr_most(a, b) mr_most_((real)(a), (real)(b))
#define mr_abs(a) fabs((real)(a))
#define mr_sqrt(a) mr_sqrt_((real)(a))
#define mr_cbrt(a) cbrt((real)(a))
#define mr_rcp(a) mr_rcp_((real)(a))
#define mr_rsqrt(a) mr_rsqrt_((real)(a))
#define mr_ratio_root(a, b) mr_ratio_root_((real)(a), (real)(b))
#define mr_fma(a, b, c) fma((real)(a), (real)(b), (real)(c))
#define mr_copysign(a, b) copysign((real)(a), (real)(b))
#define mr_select(condition, yes, no) ((condition) ? (yes) : (no))

MR_FN float mr_min_(float a, float b) { return fminf(a, b); }
MR_FN float mr_max_(float a, float b) { return fmaxf(a, b); }
/* A third of fmin. */
MR_FN double mr_min_(double a, double b) { return a < b ? a : b; }
MR_FN double mr_max_(double a, double b) { return a > b ? a : b; }

/* As signed bits, numbers from 0 on are in order, and those below 0 by their size before them. */
MR_FN float mr_least_(float a, float b, float c) {
    return __int_as_float(min(min(__float_as_int(a), __float_as_int(b)), __float_as_int(c)));
}
MR_FN double mr_less_(double a, double b) { return fabs(a) < fabs(b) ? a : b; }
MR_FN double mr_least_(double a, double b, double c) { return mr_less_(mr_less_(a, b), c); }
/* 0 if they differ in sign, else the word. In so many words: of `?:` the compiler makes branches
 * around all that leads to it. */
MR_FN int mr_if_agreed_(int word, int a, int b) {
    int r;
    asm("{ .reg .pred p; setp.ne.s32 p, %1, 0; selp.b32 %0, 0, %2, p; }"
        : "=r"(r) : "r"((a ^ b) & 0x80000000), "r"(word));
    return r;
}
MR_FN float mr_agreed_(float x, float a, float b) {
    return __int_as_float(
        mr_if_agreed_(__float_as_int(x), __float_as_int(a), __float_as_int(b)));
}
MR_FN double mr_agreed_(double x, double a, double b) {
    int p = __double2hiint(a), q = __double2hiint(b);
    return __hiloint2double(mr_if_agreed_(__double2hiint(x), p, q),
        mr_if_agreed_(__double2loint(x), p, q));
}
MR_FN float mr_most_(float a, float b) {
    return __int_as_float(max(max(__float_as_int(a), __float_as_int(b)), 0));
}
/* Where both are below 0 the low word stays: not 0 but a number under 1e-313. As one of two weights
 * whose sum is no less than that of two speeds of sound (hll.h) it is lost in rounding. */
MR_FN double mr_most_(double a, double b) {
    double most = mr_max_(a, b);
    return __hiloint2double(max(__double2hiint(most), 0), __double2loint(most));
}
MR_FN float mr_max_nan_(float a, float b) {
    return __uint_as_float(max(__float_as_uint(a), __float_as_uint(b)));
}
MR_FN double mr_max_nan_(double a, double b) {
    return __longlong_as_double((long long)max((unsigned long long)__double_as_longlong(a),
        (unsigned long long)__double_as_longlong(b)));
}

#ifdef MR_FAST
/* One instruction each, and none that a compiler may merge with its neighbours: left to divide as
 * it likes, it does so in one place and not in another, and the bits of a cell depend on the
 * kernel and the lane that it falls into. */
MR_FN float mr_rcp_(float a) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
    return r;
}

MR_FN float mr_sqrt_(float a) {
    float r;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
    return r;
}

MR_FN float mr_rsqrt_(float a) {
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
    return r;
}

/* From the some 20 bits of an instruction, by a step of third order; each in one piece, because of
 * what no loop changes the compiler moves all but an asm back into the loop. */
MR_FN double mr_rcp_(double a) {
    double r;
    asm("{ .reg .f64 s, e; rcp.approx.ftz.f64 s, %1; neg.f64 e, %1;"
        "fma.rn.f64 e, e, s, 0d3FF0000000000000; fma.rn.f64 e, e, e, e; fma.rn.f64 %0, s, e, s; }"
        : "=d"(r) : "d"(a));
    return r;
}

/* e = 1 - a s^2, s + s e (0.5 + 0.375 e) */
MR_FN double mr_rsqrt_(double a) {
    double r;
    asm("{ .reg .f64 s, e, f; rsqrt.approx.ftz.f64 s, %1; mul.f64 e, %1, s; neg.f64 e, e;"
        "fma.rn.f64 e, e, s, 0d3FF0000000000000;"
        "fma.rn.f64 f, e, 0d3FD8000000000000, 0d3FE0000000000000; mul.f64 e, e, s;"
        "fma.rn.f64 %0, e, f, s; }" : "=d"(r) : "d"(a));
    return r;
}

MR_FN double mr_sqrt_(double a) { return a * mr_rsqrt_(a + 1e-300); }    /* 0 of 0 */

/* Of third order, too, in the form of a square that has MR_ROOT left out: 3 (q - 5/3)^2 / 8 + 5/6
 * with q = x r^2 is 1 / sqrt(q) near 1. To what the instruction leaves at 0, the low word, any will
 * do; that of x is there already. */
#define MR_ROOT ((real)(sizeof(real) == 8 ? 0.375 : 1.0))
MR_FN double mr_ratio_root_(double a, double b) {
    double x = a * b, r;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    r = __hiloint2double(__double2hiint(r), __double2loint(x));
    double y = a * r, h = fma(b * y, r, -1.6666666666666667);
    return y * fma(h, h, 2.2222222222222222);
}
#else
#define MR_ROOT R(1.0)
MR_FN double mr_sqrt_(double a) { return sqrt(a); }
MR_FN double mr_rcp_(double a) { return 1.0 / a; }
MR_FN double mr_rsqrt_(double a) { return rsqrt(a); }
MR_FN double mr_ratio_root_(double a, double b) { return a * rsqrt(a * b); }
/* The nearest number, of one that is normal and has a normal result: what a division does, less its
 * care of all others, which costs a branch each. */
MR_FN float mr_rcp_(float a) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
    return fmaf(r, fmaf(-a, r, 1.0f), r);
}
MR_FN float mr_sqrt_(float a) { return sqrtf(a); }
MR_FN float mr_rsqrt_(float a) {
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
    return fmaf(0.5f * r, fmaf(-(a * r), r, 1.0f), r);
}
#endif
MR_FN float mr_ratio_root_(float a, float b) { return a * mr_rsqrt_(a * b); }

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
MR_FN float mr_half_load(const mr_half *from, mr_index i) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(from[i].bits));
    return x;
}
MR_FN void mr_half_store(mr_half *to, mr_index i, float x) {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to[i].bits) : "f"(x));
}
/* The nearest half, as a float. */
MR_FN float mr_half_round(float x) {
    mr_half nearest;
    mr_half_store(&nearest, 0, x);
    return mr_half_load(&nearest, 0);
}

#define MR_PRAGMA_(text) _Pragma(#text)
#define MR_UNROLL(n) MR_PRAGMA_(unroll n)
#define MR_LANES(l, n) _Pragma("unroll") for (int l = 0; l < (n); ++l)

/* n neighbours between private memory and an address aligned to 4 elements (2, 1 where n is no
 * multiple of 4, 2). */
typedef struct __align__(2 * sizeof(real)) mr_pair { real a, b; } mr_pair;
typedef struct __align__(16) mr_quad { real a, b, c, d; } mr_quad;

MR_FN void mr_load_lanes(real *to, const real *from, int n) {
    MR_LANES(l, n) {
        if (n % 4 == 0) {
            if (l % 4 != 0) continue;
            mr_quad v = *(const mr_quad *)(from + l);
            to[l] = v.a, to[l + 1] = v.b, to[l + 2] = v.c, to[l + 3] = v.d;
        } else if (n % 2 == 0) {
            if (l % 2 != 0) continue;
            mr_pair v = *(const mr_pair *)(from + l);
            to[l] = v.a, to[l + 1] = v.b;
        } else {
            to[l] = from[l];
        }
    }
}

MR_FN void mr_store_lanes(real *to, const real *from, int n) {
    MR_LANES(l, n) {
        if (n % 4 == 0) {
            if (l % 4 != 0) continue;
            mr_quad v = { from[l], from[l + 1], from[l + 2], from[l + 3] };
            *(mr_quad *)(to + l) = v;
        } else if (n % 2 == 0) {
            if (l % 2 != 0) continue;
            mr_pair v = { from[l], from[l + 1] };
            *(mr_pair *)(to + l) = v;
        } else {
            to[l] = from[l];
        }
    }
}

/* Lanes of a warp, all of which must be here: the next lower one's value, and the next higher. */
#define MR_SHUFFLE 1
#define mr_shuffle_up(x) __shfl_up_sync(0xffffffffu, x, 1)
#define mr_shuffle_down(x) __shfl_down_sync(0xffffffffu, x, 1)
/* An int that all lanes have, so that the compiler knows: what depends on it does not diverge. */
#define mr_uniform(x) __shfl_sync(0xffffffffu, x, 0)

/* The maximum over the lanes of a warp, in which a NaN survives. */
MR_FN double mr_warp_most(double x) {
    MR_UNROLL(5)
    for (int k = 16; k > 0; k /= 2) x = mr_max_nan_(x, __shfl_xor_sync(0xffffffffu, x, k));
    return x;
}
MR_FN float mr_warp_most(float x) {
#if __CUDA_ARCH__ >= 800
    return __uint_as_float(__reduce_max_sync(0xffffffffu, __float_as_uint(x)));
#else
    MR_UNROLL(5)
    for (int k = 16; k > 0; k /= 2) x = mr_max_nan_(x, __shfl_xor_sync(0xffffffffu, x, k));
    return x;
#endif
}

/* Named barriers: of the first `n` work-items that come to this place in the group, all wait for
 * all; those that only arrive, having something for the others and nothing to wait for, go on. */
MR_FN void mr_barrier_sync(int place, int n) {
    asm volatile("barrier.sync %0, %1;" :: "r"(place), "r"(n) : "memory");
}
MR_FN void mr_barrier_arrive(int place, int n) {
    asm volatile("barrier.arrive %0, %1;" :: "r"(place), "r"(n) : "memory");
}

/* Mailboxes between groups that run together: a word is a float that brings along the number of the
 * step, so that it is there with the number or not yet, and no fence is needed. */
MR_FN ulong mr_mail(float x, uint number) { return (ulong)number << 32 | __float_as_uint(x); }
MR_FN int mr_is_mail(ulong word, uint number) { return (uint)(word >> 32) == number; }
MR_FN float mr_mail_value(ulong word) { return __uint_as_float((uint)word); }

MR_FN void mr_publish(ulong *to, ulong a) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" :: "l"(to), "l"(a) : "memory");
}
MR_FN void mr_publish_pair(ulong *to, ulong a, ulong b) {
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" :: "l"(to), "l"(a), "l"(b)
        : "memory");
}
MR_FN void mr_poll_pair(const ulong *from, ulong *a, ulong *b) {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(*a), "=l"(*b) : "l"(from)
        : "memory");
}

/* Words of 32 bits that groups, devices and the host share: what was written before a release is
 * there after the acquire that reads it. The plain ones are of the device's scope; those of the
 * system's reach other devices and the host, too. Atomics are relaxed and return what was there. */
#if __CUDA_ARCH__ >= 700
#define MR_SCOPES 1
#define MR_SCOPED_(system, scope) \
    MR_FN uint mr_load_acquire##system(const uint *from) { \
        uint x; \
        asm volatile("ld.acquire." scope ".global.u32 %0, [%1];" \
            : "=r"(x) : "l"(from) : "memory"); \
        return x; \
    } \
    MR_FN void mr_store_release##system(uint *to, uint x) { \
        asm volatile("st.release." scope ".global.u32 [%0], %1;" :: "l"(to), "r"(x) : "memory"); \
    } \
    MR_FN void mr_fence##system(void) { asm volatile("fence.acq_rel." scope ";" ::: "memory"); } \
    MR_ATOMIC_(mr_atomic_add##system, "atom.add.relaxed." scope ".global.u32") \
    MR_ATOMIC_(mr_atomic_max##system, "atom.max.relaxed." scope ".global.u32") \
    MR_ATOMIC_(mr_atomic_exchange##system, "atom.exch.relaxed." scope ".global.b32") \
    MR_FN uint mr_atomic_replace##system(uint *at, uint expected, uint x) { \
        uint before; \
        asm volatile("atom.cas.relaxed." scope ".global.b32 %0, [%1], %2, %3;" \
            : "=r"(before) : "l"(at), "r"(expected), "r"(x) : "memory"); \
        return before; \
    }
#define MR_ATOMIC_(name, instruction) \
    MR_FN uint name(uint *at, uint x) { \
        uint before; \
        asm volatile(instruction " %0, [%1], %2;" \
            : "=r"(before) : "l"(at), "r"(x) : "memory"); \
        return before; \
    }
MR_SCOPED_(, "gpu")
MR_SCOPED_(_system, "sys")
#endif

/* Programmatic dependent launches (mare_launch_set_programmatic): the next launch of the stream may
 * begin once all groups have come to the first word or ended; behind the second all launches before
 * this one have ended, with what they wrote. */
#if __CUDA_ARCH__ >= 900
#define mr_start_dependents() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#define mr_wait_for_previous() asm volatile("griddepcontrol.wait;" ::: "memory")
#else
#define mr_start_dependents()
#define mr_wait_for_previous()
#endif

/* n neighbours from a buffer into local memory, and on from there. Between mr_fetch_lanes and
 * mr_fetch_wait they are on their way, which only the work-item that asked may wait for.
 * mr_fetch_askew is for rows that begin in the middle of 32 bytes: it goes through the first cache,
 * past which moving those costs an H200 15 % more energy. */
MR_FN void mr_read_lanes(real *to, const real *from, int n) { mr_load_lanes(to, from, n); }

#if __CUDA_ARCH__ >= 800
#define MR_FETCH_(name, cache) \
    MR_FN void name(real *to, const real *from, int n) { \
        const int size = n * (int)sizeof(real); \
        const int chunk = size % 16 == 0 ? 16 : size % 8 == 0 ? 8 : 4; \
        uint local = (uint)__cvta_generic_to_shared(to); \
        MR_LANES(k, size / chunk) { \
            const char *source = (const char *)from + k * chunk; \
            if (chunk == 16) \
                asm volatile("cp.async." cache ".shared.global [%0], [%1], 16;" \
                    :: "r"(local + k * chunk), "l"(source) : "memory"); \
            else if (chunk == 8) \
                asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" \
                    :: "r"(local + k * chunk), "l"(source) : "memory"); \
            else \
                asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" \
                    :: "r"(local + k * chunk), "l"(source) : "memory"); \
        } \
    }
MR_FETCH_(mr_fetch_lanes, "cg")
MR_FETCH_(mr_fetch_askew, "ca")
#define mr_fetch_close() asm volatile("cp.async.commit_group;" ::: "memory")
#define mr_fetch_wait(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")
#else
MR_FN void mr_fetch_lanes(real *to, const real *from, int n) { mr_store_lanes(to, from, n); }
#define mr_fetch_askew mr_fetch_lanes
#define mr_fetch_close()
#define mr_fetch_wait(n)
#endif
