/* cuda.h - the words of the kernel dialect (../README.md) for CUDA, as compiled by NVRTC.
 *
 * Stands in front of every kernel, after the defines. Its words are macros over CUDA's overloaded
 * functions, so that they serve float and double alike. Built with -fmad=false: only mr_fma
 * fuses. */

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

/* R(0.5) is a literal of type real: 0.5f or 0.5. */
#define MR_JOIN_(a, b) a##b
#define MR_JOIN(a, b) MR_JOIN_(a, b)
#define MR_LITERAL_float(x) x##f
#define MR_LITERAL_double(x) x
#define R(x) MR_JOIN(MR_LITERAL_, MARE_REAL)(x)

#define MR_KERNEL extern "C" __global__
#define MR_FN static __device__ __forceinline__
#define MR_GLOBAL
#define MR_LOCAL __shared__
#define MR_LOCAL_PTR
#define MR_CONSTANT static __constant__ const
#define MR_RESTRICT __restrict__
#define MR_GROUP_SIZE(x, y, z) __launch_bounds__((x) * (y) * (z))

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

#define mr_min(a, b) fmin((real)(a), (real)(b))
#define mr_max(a, b) fmax((real)(a), (real)(b))
#define mr_abs(a) fabs((real)(a))
#define mr_sqrt(a) mr_sqrt_((real)(a))
#define mr_cbrt(a) cbrt((real)(a))
#define mr_rcp(a) mr_rcp_((real)(a))
#define mr_cbrt(a) cbrt((real)(a))
#define mr_fma(a, b, c) fma((real)(a), (real)(b), (real)(c))
#define mr_copysign(a, b) copysign((real)(a), (real)(b))
#define mr_select(condition, yes, no) ((condition) ? (yes) : (no))

MR_FN double mr_rcp_(double a) { return 1.0 / a; }
MR_FN double mr_sqrt_(double a) { return sqrt(a); }
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
#else
MR_FN float mr_rcp_(float a) { return 1.0f / a; }
MR_FN float mr_sqrt_(float a) { return sqrtf(a); }
#endif

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
