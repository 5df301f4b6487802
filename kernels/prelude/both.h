/* both.h - the words of the kernel dialect (../README.md) that CUDA and OpenCL have in common, in
 * the middle of cuda.h and opencl.h: what it needs of the language stands before it, what only one
 * of them has behind. Instructions of NVIDIA's GPUs are PTX in both; MR_PTX_ARCH is the
 * architecture there, such as 900.
 *
 * MR_BRIEF is defined for a kernel of one expression, which is to be ready soon: words that it does
 * not know are left out here, and optimizations in core/backends/nvrtc.c. */

#ifndef MARE_REAL
#define MARE_REAL float
#endif
typedef MARE_REAL real;

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
#define MR_REAL_(name) MR_JOIN(name, MARE_REAL)

/* Types of buffers, which compute as something else. */
typedef uchar mr_bool;
typedef struct MR_ALIGNED(8) mr_complex_float { float re, im; } mr_complex_float;
typedef struct MR_ALIGNED(16) mr_complex_double { double re, im; } mr_complex_double;
typedef MR_REAL_(mr_complex_) mr_complex;

#define MR_PRAGMA_(text) _Pragma(#text)
#define MR_UNROLL(n) MR_PRAGMA_(unroll n)
#ifndef MR_LANES
#define MR_LANES(l, n) _Pragma("unroll") for (int l = 0; l < (n); ++l)
#endif

/* ---- numbers ---- */

#define mr_least(a, b, c) MR_REAL_(mr_least_)((real)(a), (real)(b), (real)(c))
#define mr_mark(mark, x) MR_REAL_(mr_mark_)((real)(mark), (real)(x))
#define mr_agreed(x, a, b) MR_REAL_(mr_agreed_)((real)(x), (real)(a), (real)(b))
#define mr_max_nan(a, b) MR_REAL_(mr_max_nan_)((real)(a), (real)(b))
#define mr_abs(a) fabs((real)(a))
#define mr_sqrt(a) MR_REAL_(mr_sqrt_)((real)(a))
#define mr_rcp(a) MR_REAL_(mr_rcp_)((real)(a))
#define mr_rsqrt(a) MR_REAL_(mr_rsqrt_)((real)(a))
#define mr_ratio_root(a, b) MR_REAL_(mr_ratio_root_)((real)(a), (real)(b))
#define mr_fma(a, b, c) fma((real)(a), (real)(b), (real)(c))
#define mr_copysign(a, b) copysign((real)(a), (real)(b))
#define mr_select(condition, yes, no) ((condition) ? (yes) : (no))
#ifndef mr_cbrt
#define mr_cbrt(a) cbrt((real)(a))
#endif

#ifdef MR_CPU
#define mr_min(a, b) ((a) < (b) ? (a) : (b))
#define mr_max(a, b) ((a) > (b) ? (a) : (b))
#define mr_most(a, b) mr_max(mr_max(a, b), R(0.0))
#else
#define mr_min(a, b) MR_REAL_(mr_min_)((real)(a), (real)(b))
#define mr_max(a, b) MR_REAL_(mr_max_)((real)(a), (real)(b))
#define mr_most(a, b) MR_REAL_(mr_most_)((real)(a), (real)(b))
#define mr_min_float(a, b) fmin(a, b)
#define mr_max_float(a, b) fmax(a, b)
/* A third of fmin. */
MR_FN double mr_min_double(double a, double b) { return a < b ? a : b; }
MR_FN double mr_max_double(double a, double b) { return a > b ? a : b; }
#define mr_most_float(a, b) mr_as_float_(max(max(mr_as_int_(a), mr_as_int_(b)), 0))
/* Where both are below 0 the low word stays: not 0 but a number under 1e-313. As one of two weights
 * whose sum is no less than that of two speeds of sound (hll.h) it is lost in rounding. */
MR_FN double mr_most_double(double a, double b) {
    double most = mr_max_double(a, b);
    return mr_as_double_(max(mr_high_(most), 0), mr_low_(most));
}
#endif

/* As signed bits, numbers from 0 on are in order, and those below 0 by their size before them. */
#define mr_least_float(a, b, c) \
    mr_as_float_(min(min(mr_as_int_(a), mr_as_int_(b)), mr_as_int_(c)))
#define mr_least_double(a, b, c) mr_less_double(mr_less_double(a, b), c)
MR_FN double mr_less_double(double a, double b) { return fabs(a) < fabs(b) ? a : b; }

/* 0 if they differ in sign, else the word. PTX has it in so many words: of `?:` the compiler makes
 * branches around all that leads to it. */
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
    return mr_as_float_(mr_if_agreed_(mr_as_int_(x), mr_as_int_(a), mr_as_int_(b)));
}
MR_FN double mr_agreed_double(double x, double a, double b) {
    int p = mr_high_(a), q = mr_high_(b);
    return mr_as_double_(mr_if_agreed_(mr_high_(x), p, q), mr_if_agreed_(mr_low_(x), p, q));
}

/* Finite where both are finite and from 0 on. As bits, floats that are no numbers, without a sign
 * as NVIDIA's GPUs make them, are above all others: one instruction instead of a sum. */
#if MR_PTX_ARCH
MR_FN float mr_mark_float(float mark, float x) {
    return mr_as_float_(max(mr_as_int_(mark), mr_as_int_(x)));
}
#else
MR_FN float mr_mark_float(float mark, float x) { return mark + x; }
#endif
MR_FN double mr_mark_double(double mark, double x) { return mark + x; }

#if defined(MR_FAST) && MR_PTX_ARCH
/* One instruction each, and none that a compiler may merge with its neighbours: left to divide as
 * it likes, it does so in one place and not in another, and the bits of a cell depend on the
 * kernel and the lane that it falls into. */
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

/* From the some 20 bits of an instruction, by a step of third order; each in one piece, because of
 * what no loop changes the compiler moves all but an asm back into the loop. */
MR_FN double mr_rcp_double(double a) {
    double r;
    asm("{ .reg .f64 s, e; rcp.approx.ftz.f64 s, %1; neg.f64 e, %1;"
        "fma.rn.f64 e, e, s, 0d3FF0000000000000; fma.rn.f64 e, e, e, e; fma.rn.f64 %0, s, e, s; }"
        : "=d"(r) : "d"(a));
    return r;
}

/* e = 1 - a s^2, s + s e (0.5 + 0.375 e) */
MR_FN double mr_rsqrt_double(double a) {
    double r;
    asm("{ .reg .f64 s, e, f; rsqrt.approx.ftz.f64 s, %1; mul.f64 e, %1, s; neg.f64 e, e;"
        "fma.rn.f64 e, e, s, 0d3FF0000000000000;"
        "fma.rn.f64 f, e, 0d3FD8000000000000, 0d3FE0000000000000; mul.f64 e, e, s;"
        "fma.rn.f64 %0, e, f, s; }" : "=d"(r) : "d"(a));
    return r;
}

MR_FN double mr_sqrt_double(double a) { return a * mr_rsqrt_double(a + 1e-300); }    /* 0 of 0 */

/* Of third order, too, in the form of a square that has MR_ROOT left out: 3 (q - 5/3)^2 / 8 + 5/6
 * with q = x r^2 is 1 / sqrt(q) near 1. To what the instruction leaves at 0, the low word, any will
 * do; that of x is there already. */
#define MR_ROOT ((real)(sizeof(real) == 8 ? 0.375 : 1.0))
MR_FN double mr_ratio_root_double(double a, double b) {
    double x = a * b, r;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    r = mr_as_double_(mr_high_(r), mr_low_(x));
    double y = a * r, h = fma(b * y, r, -1.6666666666666667);
    return y * fma(h, h, 2.2222222222222222);
}
#else
#define MR_ROOT R(1.0)
#define mr_sqrt_float(a) sqrt(a)
#define mr_sqrt_double(a) sqrt(a)
#define mr_rcp_double(a) (1.0 / (a))
MR_FN double mr_ratio_root_double(double a, double b) { return a * mr_rsqrt_double(a * b); }
#endif
MR_FN float mr_ratio_root_float(float a, float b) { return a * mr_rsqrt_float(a * b); }

#ifndef MR_BRIEF
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

/* ---- words that groups share, copies that go ahead ---- */

/* Words of 32 bits that groups, devices and the host share: what was written before a release is
 * there after the acquire that reads it. The plain ones are of the device's scope; those of the
 * system's reach other devices and the host, too. Atomics are relaxed and return what was there. */
#if MR_PTX_ARCH >= 700
#define MR_SCOPES 1
#define MR_SCOPED_(system, scope) \
    MR_FN uint mr_load_acquire##system(const MR_GLOBAL uint *from) { \
        uint x; \
        asm volatile("ld.acquire." scope ".global.u32 %0, [%1];" \
            : "=r"(x) : "l"(from) : "memory"); \
        return x; \
    } \
    MR_FN void mr_store_release##system(MR_GLOBAL uint *to, uint x) { \
        asm volatile("st.release." scope ".global.u32 [%0], %1;" :: "l"(to), "r"(x) : "memory"); \
    } \
    MR_FN void mr_fence##system(void) { asm volatile("fence.acq_rel." scope ";" ::: "memory"); } \
    MR_ATOMIC_(mr_atomic_add##system, "atom.add.relaxed." scope ".global.u32") \
    MR_ATOMIC_(mr_atomic_max##system, "atom.max.relaxed." scope ".global.u32") \
    MR_ATOMIC_(mr_atomic_exchange##system, "atom.exch.relaxed." scope ".global.b32") \
    MR_FN uint mr_atomic_replace##system(MR_GLOBAL uint *at, uint expected, uint x) { \
        uint before; \
        asm volatile("atom.cas.relaxed." scope ".global.b32 %0, [%1], %2, %3;" \
            : "=r"(before) : "l"(at), "r"(expected), "r"(x) : "memory"); \
        return before; \
    }
#define MR_ATOMIC_(name, instruction) \
    MR_FN uint name(MR_GLOBAL uint *at, uint x) { \
        uint before; \
        asm volatile(instruction " %0, [%1], %2;" \
            : "=r"(before) : "l"(at), "r"(x) : "memory"); \
        return before; \
    }
MR_SCOPED_(, "gpu")
MR_SCOPED_(_system, "sys")

/* A word of 64 bits that is there as a whole or not yet. */
MR_FN void mr_publish(MR_GLOBAL ulong *to, ulong a) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" :: "l"(to), "l"(a) : "memory");
}
MR_FN ulong mr_poll(const MR_GLOBAL ulong *from) {
    ulong a;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(a) : "l"(from) : "memory");
    return a;
}
#endif

/* n neighbours from a buffer into local memory, and on from there. Between mr_fetch_lanes and
 * mr_fetch_wait they are on their way, which only the work-item that asked may wait for.
 * mr_fetch_askew is for rows that begin in the middle of 32 bytes: it goes through the first cache,
 * past which moving those costs an H200 15 % more energy. */
#if MR_PTX_ARCH >= 800
#define MR_FETCH_(name, cache) \
    MR_FN void name(MR_LOCAL_PTR real *to, const MR_GLOBAL real *from, int n) { \
        const int size = n * (int)sizeof(real); \
        const int chunk = size % 16 == 0 ? 16 : size % 8 == 0 ? 8 : 4; \
        uint address = mr_local_address_(to); \
        MR_LANES(k, size / chunk) { \
            const MR_GLOBAL char *source = (const MR_GLOBAL char *)from + k * chunk; \
            if (chunk == 16) \
                asm volatile("cp.async." cache ".shared.global [%0], [%1], 16;" \
                    :: "r"(address + k * chunk), "l"(source) : "memory"); \
            else if (chunk == 8) \
                asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" \
                    :: "r"(address + k * chunk), "l"(source) : "memory"); \
            else \
                asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" \
                    :: "r"(address + k * chunk), "l"(source) : "memory"); \
        } \
    }
MR_FETCH_(mr_fetch_lanes, "cg")
MR_FETCH_(mr_fetch_askew, "ca")
#define mr_fetch_close() asm volatile("cp.async.commit_group;" ::: "memory")
#define mr_fetch_wait(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")
#else
#define mr_fetch_askew mr_fetch_lanes
#define mr_fetch_close()
#define mr_fetch_wait(n)
#endif
#endif
