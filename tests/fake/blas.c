/* blas.c - a fake libcublas and libclblast over host memory: what they are asked for, they compute
 * one element after the other. It refuses what the libraries refuse, and a product without a stream
 * or without memory of the caller's, which a plan could not hold.
 */
#include "cuda_fail.h"

#include <math.h>
#include <stdint.h>

#define API __attribute__((visibility("default")))
#define FAIL_ON_DEMAND()                                                                           \
    do {                                                                                           \
        unsigned code_ = fake_failure(__func__);                                                   \
        if (code_) return (int)code_;                                                              \
    } while (0)

enum { NOT_INITIALIZED = 1, INVALID_VALUE = 7, NOT_SUPPORTED = 15 };
enum { REAL_32 = 0, REAL_64 = 1, COMPUTE_32 = 68, COMPUTE_64 = 70, TF32 = 77 };

API int cublasCreate_v2(void **handle);
API int cublasSetStream_v2(void *handle, void *stream);
API int cublasSetWorkspace_v2(void *handle, void *memory, size_t size);
API int cublasGetProperty(int kind, int *value);
API int cublasGemmEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha,
                     const void *a, int a_type, int lda, const void *b, int b_type, int ldb,
                     const void *beta, void *c, int c_type, int ldc, int compute, int algorithm);
API int cublasGemmStridedBatchedEx(void *handle, int ta, int tb, int m, int n, int k,
                                   const void *alpha, const void *a, int a_type, int lda,
                                   long long a_stride, const void *b, int b_type, int ldb,
                                   long long b_stride, const void *beta, void *c, int c_type,
                                   int ldc, long long c_stride, int count, int compute,
                                   int algorithm);
API int CLBlastSgemm(int layout, int ta, int tb, size_t m, size_t n, size_t k, float alpha,
                     const float *a, size_t a_offset, size_t lda, const float *b, size_t b_offset,
                     size_t ldb, float beta, float *c, size_t c_offset, size_t ldc, void **queue,
                     void **event);

static int handle_of_all, has_stream, has_workspace;

int cublasCreate_v2(void **handle) {
    FAIL_ON_DEMAND();
    *handle = &handle_of_all;
    return 0;
}

int cublasSetStream_v2(void *handle, void *stream) {
    FAIL_ON_DEMAND();
    has_stream = stream == NULL;                /* the only queue of a null device */
    has_workspace = 0;                          /* as the library does */
    return handle == &handle_of_all ? 0 : NOT_INITIALIZED;
}

int cublasSetWorkspace_v2(void *handle, void *memory, size_t size) {
    FAIL_ON_DEMAND();
    has_workspace = memory && size >= (size_t)1 << 22;
    return handle == &handle_of_all ? 0 : NOT_INITIALIZED;
}

int cublasGetProperty(int kind, int *value) {
    *value = 90 + kind;
    return 0;
}

/* Rounds to the 10 bits of TF32. */
static double rounded(double x) {
    int exponent = 0;
    double part = frexp(x, &exponent);
    return ldexp(rint(ldexp(part, 11)), exponent - 11);
}

static double at(const void *x, int type, size_t index, int compute) {
    double value = type == REAL_32 ? (double)((const float *)x)[index] : ((const double *)x)[index];
    return compute == TF32 ? rounded(value) : value;
}

/* Columns after columns. */
static void multiply(int ta, int tb, int m, int n, int k, const void *a, int lda, const void *b,
                     int ldb, void *c, int type, int ldc, int compute) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += at(a, type, (size_t)(ta ? i * lda + l : l * lda + i), compute)
                       * at(b, type, (size_t)(tb ? l * ldb + j : j * ldb + l), compute);
            size_t to = (size_t)(j * ldc + i);
            if (type == REAL_32)
                ((float *)c)[to] = (float)sum;
            else
                ((double *)c)[to] = sum;
        }
}

/* cuBLAS reads 16 bytes at once where elements are complex doubles. */
static bool is_aligned(const void *scalar) { return (uintptr_t)scalar % 16 == 0; }

static double scalar(const void *x, int type) {
    return type == REAL_32 ? (double)*(const float *)x : *(const double *)x;
}

int cublasGemmStridedBatchedEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha,
                               const void *a, int a_type, int lda, long long a_stride,
                               const void *b, int b_type, int ldb, long long b_stride,
                               const void *beta, void *c, int c_type, int ldc, long long c_stride,
                               int count, int compute, int algorithm) {
    FAIL_ON_DEMAND();
    if (handle != &handle_of_all || !has_stream || !has_workspace) return NOT_INITIALIZED;
    if (a_type != b_type || a_type != c_type || (a_type != REAL_32 && a_type != REAL_64)
        || compute != (a_type == REAL_64 ? COMPUTE_64 : compute == TF32 ? TF32 : COMPUTE_32))
        return NOT_SUPPORTED;
    if (lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m || algorithm != -1
        || scalar(alpha, a_type) != 1 || scalar(beta, a_type) != 0 || !is_aligned(alpha)
        || !is_aligned(beta))
        return INVALID_VALUE;
    const long long size = a_type == REAL_32 ? 4 : 8;
    for (int z = 0; z < count; z++)
        multiply(ta, tb, m, n, k, (const char *)a + z * a_stride * size, lda,
                 (const char *)b + z * b_stride * size, ldb, (char *)c + z * c_stride * size,
                 a_type, ldc, compute);
    return 0;
}

int cublasGemmEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha,
                 const void *a, int a_type, int lda, const void *b, int b_type, int ldb,
                 const void *beta, void *c, int c_type, int ldc, int compute, int algorithm) {
    FAIL_ON_DEMAND();
    return cublasGemmStridedBatchedEx(handle, ta, tb, m, n, k, alpha, a, a_type, lda, 0, b, b_type,
                                      ldb, 0, beta, c, c_type, ldc, 0, 1, compute, algorithm);
}

int CLBlastSgemm(int layout, int ta, int tb, size_t m, size_t n, size_t k, float alpha,
                 const float *a, size_t a_offset, size_t lda, const float *b, size_t b_offset,
                 size_t ldb, float beta, float *c, size_t c_offset, size_t ldc, void **queue,
                 void **event) {
    FAIL_ON_DEMAND();
    if (layout != 101 || !queue || *queue || event || alpha != 1 || beta != 0) return INVALID_VALUE;
    multiply(tb == 112, ta == 112, (int)n, (int)m, (int)k, b + b_offset, (int)ldb, a + a_offset,
             (int)lda, c + c_offset, REAL_32, (int)ldc, COMPUTE_32);
    return 0;
}
