/* cuda.h - the words of the kernel dialect (../README.md) for CUDA, as compiled by NVRTC.
 *
 * Stands in front of every kernel, after the defines MARE_* and MR_*. Built with -fmad=false: only
 * mr_fma fuses. */

typedef long long mr_index;

/* Scalar types that OpenCL C has by name and NVRTC has not. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

typedef struct __align__(2) mr_half { ushort bits; } mr_half;

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
#define MR_WARP_BARRIER() __syncwarp()
/* On words of local memory, at once. */
#define mr_local_add(at, x) ((void)atomicAdd(at, x))
#define mr_local_or(at, x) ((void)atomicOr(at, x))
#define mr_count_bits(x) __popc(x)

/* Numbers as the bits that they are, and back; a double by its high and its low word. */
#define mr_as_int_(a) __float_as_int(a)
#define mr_as_float_(a) __int_as_float(a)
#define mr_high_(a) __double2hiint(a)
#define mr_low_(a) __double2loint(a)
#define mr_as_double_(high, low) __hiloint2double(high, low)
#define mr_max_nan_float(a, b) __uint_as_float(max(__float_as_uint(a), __float_as_uint(b)))
#define mr_max_nan_double(a, b) \
    __longlong_as_double((long long)max((unsigned long long)__double_as_longlong(a), \
        (unsigned long long)__double_as_longlong(b)))

#ifndef MR_FAST
#define mr_rsqrt_double(a) rsqrt(a)
/* The nearest number, of one that is normal and has a normal result: what a division does, less its
 * care of all others, which costs a branch each. */
MR_FN float mr_rcp_float(float a) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
    return fmaf(r, fmaf(-a, r, 1.0f), r);
}
MR_FN float mr_rsqrt_float(float a) {
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
    return fmaf(0.5f * r, fmaf(-(a * r), r, 1.0f), r);
}
#endif

#define MR_PTX_ARCH __CUDA_ARCH__
#define mr_local_address_(to) ((uint)__cvta_generic_to_shared(to))
#include "prelude/both.h"

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
MR_FN float mr_half_round_double(double x) {
    mr_half nearest;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(nearest.bits) : "d"(x));
    return mr_half_load(&nearest, 0);
}

/* Floats and doubles as whole numbers of a type, the nearest where they are beyond it, as cvt does;
 * NaN, which cvt makes the least number where one of the two has 64 bits, as 0. */
#define MR_TO_(type, name, suffix, letter) \
    MR_FN type name(float x) { \
        type whole; \
        asm("cvt.rzi." suffix ".f32 %0, %1;" : letter(whole) : "f"(x)); \
        return x == x ? whole : 0; \
    } \
    MR_FN type name(double x) { \
        type whole; \
        asm("cvt.rzi." suffix ".f64 %0, %1;" : letter(whole) : "d"(x)); \
        return x == x ? whole : 0; \
    }
MR_TO_(int, mr_to_int32, "s32", "=r")
MR_TO_(uint, mr_to_uint32, "u32", "=r")
MR_TO_(int64_t, mr_to_int64, "s64", "=l")
MR_TO_(uint64_t, mr_to_uint64, "u64", "=l")

/* Shows an element of up to 8 bytes to the host, in memory of which it reads both halves with the
 * number of the launch behind each: the words of a half are written together. */
MR_FN void mr_show(uint *to, ulong bits, uint launch) {
    asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::
        "l"(to), "r"((uint)bits), "r"(launch), "r"((uint)(bits >> 32)) : "memory");
}

#ifndef MR_BRIEF
/* Two halves as the word that they are in memory: of two floats, and each of them. */
MR_FN uint mr_halves(float a, float b) {
    mr_half both[2];
    mr_half_store(both, 0, a);
    mr_half_store(both, 1, b);
    return both[0].bits | (uint)both[1].bits << 16;
}
MR_FN float mr_first_half(uint word) {
    mr_half half = { (ushort)word };
    return mr_half_load(&half, 0);
}
MR_FN float mr_second_half(uint word) { return mr_first_half(word >> 16); }

/* A complex number that is not read soon: it leaves the caches before others. */
MR_FN void mr_store_last(mr_complex_float *to, mr_index i, float re, float im) {
    asm volatile("st.global.cs.v2.f32 [%0], {%1, %2};" :: "l"(to + i), "f"(re), "f"(im) : "memory");
}
MR_FN void mr_store_last(mr_complex_double *to, mr_index i, double re, double im) {
    asm volatile("st.global.cs.v2.f64 [%0], {%1, %2};" :: "l"(to + i), "d"(re), "d"(im) : "memory");
}

/* Bytes that come into local memory by themselves, by as many as 16: `word`, of local memory too,
 * counts them. One work-item makes the word, before a barrier; and for each turn, 0, 1, ..., says
 * how many bytes come, and whence; all wait for them. Before the next turn there is a barrier. */
#if __CUDA_ARCH__ >= 900
MR_FN void mr_bulk_make(ulong *word) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;"
        :: "r"(mr_local_address_(word)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
MR_FN void mr_bulk_expect(ulong *word, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
        :: "r"(mr_local_address_(word)), "r"(bytes) : "memory");
}
MR_FN void mr_bulk_fetch(ulong *word, void *to, const void *from, int bytes) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1], %2, [%3];" :: "r"(mr_local_address_(to)), "l"(from), "r"(bytes),
        "r"(mr_local_address_(word)) : "memory");
}
MR_FN void mr_bulk_wait(ulong *word, int turn) {
    int is_here = 0;
    while (!is_here)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
            "selp.b32 %0, 1, 0, p; }"
            : "=r"(is_here) : "r"(mr_local_address_(word)), "r"(turn & 1) : "memory");
}
#endif

/* To the cache that all compute units share. */
MR_FN void mr_prefetch(const void *address) {
    asm volatile("prefetch.global.L2 [%0];" :: "l"(address));
}

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
    for (int k = 16; k > 0; k /= 2) x = mr_max_nan_double(x, __shfl_xor_sync(0xffffffffu, x, k));
    return x;
}
MR_FN float mr_warp_most(float x) {
#if __CUDA_ARCH__ >= 800
    return __uint_as_float(__reduce_max_sync(0xffffffffu, __float_as_uint(x)));
#else
    MR_UNROLL(5)
    for (int k = 16; k > 0; k /= 2) x = mr_max_nan_float(x, __shfl_xor_sync(0xffffffffu, x, k));
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

MR_FN void mr_publish_pair(ulong *to, ulong a, ulong b) {
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" :: "l"(to), "l"(a), "l"(b)
        : "memory");
}
MR_FN void mr_poll_pair(const ulong *from, ulong *a, ulong *b) {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(*a), "=l"(*b) : "l"(from)
        : "memory");
}

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

MR_FN void mr_read_lanes(real *to, const real *from, int n) { mr_load_lanes(to, from, n); }
#if __CUDA_ARCH__ < 800
MR_FN void mr_fetch_lanes(real *to, const real *from, int n) { mr_store_lanes(to, from, n); }
#endif
#endif
