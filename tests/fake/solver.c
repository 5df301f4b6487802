/* solver.c - a fake libcusolver over host memory: the LAPACK of OpenBLAS computes what it is asked
 * for. It refuses what the library refuses, and a routine without a stream.
 */
#include "cuda_fail.h"

#include <stddef.h>

#define API __attribute__((visibility("default")))
#define FAIL_ON_DEMAND()                                                                           \
    do {                                                                                           \
        unsigned code_ = fake_failure(__func__);                                                   \
        if (code_) return (int)code_;                                                              \
    } while (0)

enum { NOT_INITIALIZED = 1, INVALID_VALUE = 3 };

API int cusolverDnCreate(void **handle);
API int cusolverDnSetStream(void *handle, void *stream);
API int cusolverGetProperty(int kind, int *value);

static int handle_of_all, has_stream;

int cusolverDnCreate(void **handle) {
    FAIL_ON_DEMAND();
    *handle = &handle_of_all;
    return 0;
}

int cusolverDnSetStream(void *handle, void *stream) {
    FAIL_ON_DEMAND();
    has_stream = stream == NULL;                /* the only queue of a null device */
    return handle == &handle_of_all ? 0 : NOT_INITIALIZED;
}

int cusolverGetProperty(int kind, int *value) {
    *value = 80 + kind;
    return 0;
}

/* A function of LAPACK: all arguments are pointers, MOST of them at most, and it does not see those
 * behind its own. */
enum { MOST = 14 };
typedef void routine(const void *, const void *, const void *, const void *, const void *,
                     const void *, const void *, const void *, const void *, const void *,
                     const void *, const void *, const void *, const void *);

static int run(const void *handle, routine *call, const void *const a[MOST]) {
    if (handle != &handle_of_all || !has_stream) return NOT_INITIALIZED;
    call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13]);
    return 0;
}

static int tell(const void *handle, int size, int *out) {
    if (handle != &handle_of_all) return NOT_INITIALIZED;
    *out = size;
    return 0;
}

/* LETTER: of cuSOLVER; letter: of LAPACK */
#define OF_ALL(LETTER, letter)                                                                     \
    extern routine letter##getrf_, letter##getrs_, letter##potrf_;                                 \
    API int cusolverDn##LETTER##getrf_bufferSize(void *handle, int m, int n, void *a, int lda,     \
                                                 int *size);                                       \
    int cusolverDn##LETTER##getrf_bufferSize(void *handle, int m, int n, void *a, int lda,         \
                                             int *size) {                                          \
        return a && lda >= m && n > 0 ? tell(handle, 16, size) : INVALID_VALUE;                    \
    }                                                                                              \
    API int cusolverDn##LETTER##getrf(void *handle, int m, int n, void *a, int lda, void *work,    \
                                      int *pivots, int *info);                                     \
    int cusolverDn##LETTER##getrf(void *handle, int m, int n, void *a, int lda, void *work,        \
                                  int *pivots, int *info) {                                        \
        FAIL_ON_DEMAND();                                                                          \
        const void *list[MOST] = { &m, &n, a, &lda, pivots, info };                                \
        return work ? run(handle, letter##getrf_, list) : INVALID_VALUE;                           \
    }                                                                                              \
    API int cusolverDn##LETTER##getrs(void *handle, int t, int n, int columns, const void *a,      \
                                      int lda, const int *pivots, void *b, int ldb, int *info);    \
    int cusolverDn##LETTER##getrs(void *handle, int t, int n, int columns, const void *a, int lda, \
                                  const int *pivots, void *b, int ldb, int *info) {                \
        const void *list[MOST] = { t == 1 ? "T" : "N", &n, &columns, a, &lda, pivots, b, &ldb,     \
                                   info };                                                         \
        return run(handle, letter##getrs_, list);                                                  \
    }                                                                                              \
    API int cusolverDn##LETTER##potrf_bufferSize(void *handle, int uplo, int n, void *a, int lda,  \
                                                 int *size);                                       \
    int cusolverDn##LETTER##potrf_bufferSize(void *handle, int uplo, int n, void *a, int lda,      \
                                             int *size) {                                          \
        return a && lda >= n && uplo < 2 ? tell(handle, 16, size) : INVALID_VALUE;                 \
    }                                                                                              \
    API int cusolverDn##LETTER##potrf(void *handle, int uplo, int n, void *a, int lda, void *work, \
                                      int size, int *info);                                        \
    int cusolverDn##LETTER##potrf(void *handle, int uplo, int n, void *a, int lda, void *work,     \
                                  int size, int *info) {                                           \
        const void *list[MOST] = { uplo == 1 ? "U" : "L", &n, a, &lda, info };                     \
        return work && size == 16 ? run(handle, letter##potrf_, list) : INVALID_VALUE;             \
    }

#define OF_REALS(LETTER, letter)                                                                   \
    extern routine letter##syev_, letter##gesvd_;                                                  \
    API int cusolverDn##LETTER##syevd_bufferSize(void *handle, int job, int uplo, int n, void *a,  \
                                                 int lda, void *w, int *size);                     \
    int cusolverDn##LETTER##syevd_bufferSize(void *handle, int job, int uplo, int n, void *a,      \
                                             int lda, void *w, int *size) {                        \
        return job == 1 && uplo < 2 && a && w && lda >= n ? tell(handle, 64 + 34 * n, size)        \
                                                          : INVALID_VALUE;                         \
    }                                                                                              \
    API int cusolverDn##LETTER##syevd(void *handle, int job, int uplo, int n, void *a, int lda,    \
                                      void *w, void *work, int size, int *info);                   \
    int cusolverDn##LETTER##syevd(void *handle, int job, int uplo, int n, void *a, int lda,        \
                                  void *w, void *work, int size, int *info) {                      \
        const void *list[MOST] = { job == 1 ? "V" : "N", uplo == 1 ? "U" : "L", &n, a, &lda, w,    \
                                   work, &size, info };                                            \
        return run(handle, letter##syev_, list);                                                   \
    }                                                                                              \
    API int cusolverDn##LETTER##gesvd_bufferSize(void *handle, int m, int n, int *size);           \
    int cusolverDn##LETTER##gesvd_bufferSize(void *handle, int m, int n, int *size) {              \
        return m >= n ? tell(handle, 64 + 8 * m, size) : INVALID_VALUE;                            \
    }                                                                                              \
    API int cusolverDn##LETTER##gesvd(void *handle, signed char u_job, signed char v_job, int m,   \
                                      int n, void *a, int lda, void *s, void *u, int ldu,          \
                                      void *vt, int ldvt, void *work, int size, void *more,        \
                                      int *info);                                                  \
    int cusolverDn##LETTER##gesvd(void *handle, signed char u_job, signed char v_job, int m,       \
                                  int n, void *a, int lda, void *s, void *u, int ldu, void *vt,    \
                                  int ldvt, void *work, int size, void *more, int *info) {         \
        const char jobs[] = { (char)u_job, (char)v_job };                                          \
        const void *list[MOST] = { jobs, jobs + 1, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work,   \
                                   &size, info };                                                  \
        return m >= n && !more ? run(handle, letter##gesvd_, list) : INVALID_VALUE;                \
    }

OF_ALL(S, s)
OF_ALL(D, d)
OF_ALL(C, c)
OF_ALL(Z, z)
OF_REALS(S, s)
OF_REALS(D, d)
