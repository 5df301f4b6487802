/* opencl.h - the words of the kernel dialect (../README.md) for OpenCL C 1.2.
 *
 * Stands in front of every kernel, after the defines. On a CPU (MR_CPU) minimum and maximum are
 * comparisons, which are one instruction there where fmin and fmax are four, and lane loops are
 * left to the vectoriser instead of unrolled. */

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

#define int32_t int
#define uint32_t uint
#define int64_t long
#define uint64_t ulong

#define MR_KERNEL __kernel
#define MR_FN static inline __attribute__((always_inline))
#define MR_GLOBAL __global
#define MR_LOCAL __local
#define MR_LOCAL_PTR __local
#define MR_CONSTANT __constant const
#define MR_RESTRICT restrict
#define MR_GROUP_SIZE(x, y, z) __attribute__((reqd_work_group_size(x, y, z)))

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
#define mr_min(a, b) fmin((real)(a), (real)(b))
#define mr_max(a, b) fmax((real)(a), (real)(b))
#endif
#define mr_abs(a) fabs((real)(a))
#define mr_sqrt(a) MR_JOIN(mr_sqrt_, MARE_REAL)((real)(a))
#define mr_cbrt(a) cbrt((real)(a))
#define mr_rcp(a) MR_JOIN(mr_rcp_, MARE_REAL)((real)(a))
#define mr_cbrt(a) cbrt((real)(a))
#define mr_fma(a, b, c) fma((real)(a), (real)(b), (real)(c))
#define mr_copysign(a, b) copysign((real)(a), (real)(b))
#define mr_select(condition, yes, no) ((condition) ? (yes) : (no))

#define mr_rcp_double(a) (1.0 / (a))
#define mr_sqrt_double(a) sqrt(a)
#if defined(MR_FAST) && defined(__NV_CL_C_VERSION)
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
#else
#define mr_rcp_float(a) (1.0f / (a))
#define mr_sqrt_float(a) sqrt(a)
#endif

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
