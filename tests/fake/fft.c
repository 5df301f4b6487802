/* fft.c - a fake libcufft over host memory: it computes what it is asked for by the definition, one
 * number after the other. It refuses a transform without a stream or without a work area of the
 * caller's, which a plan of Mare could not hold.
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

enum { INVALID_PLAN = 1, INVALID_VALUE = 4, SETUP_FAILED = 7 };
enum { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, D2Z = 0x6a, Z2D = 0x6c, Z2Z = 0x69 };
enum { PLANS = 64, AXES = 3 };

typedef struct side {
    long long sizes[AXES], stride, apart;
} side;

typedef struct plan {
    long long sizes[AXES], count;
    side from, to;
    int rank, type, is_own, has_stream, has_work;
} plan;

static plan plans[PLANS];
static int made;

API int cufftCreate(int *handle);
API int cufftSetAutoAllocation(int handle, int is_automatic);
API int cufftMakePlanMany64(int handle, int rank, const long long *n, const long long *inembed,
                            long long istride, long long idist, const long long *onembed,
                            long long ostride, long long odist, int type, long long batch,
                            size_t *work);
API int cufftSetStream(int handle, void *stream);
API int cufftSetWorkArea(int handle, void *memory);
API int cufftExecC2C(int handle, const void *from, void *to, int direction);
API int cufftExecZ2Z(int handle, const void *from, void *to, int direction);
API int cufftExecR2C(int handle, const void *from, void *to);
API int cufftExecD2Z(int handle, const void *from, void *to);
API int cufftExecC2R(int handle, const void *from, void *to);
API int cufftExecZ2D(int handle, const void *from, void *to);
API int cufftGetProperty(int kind, int *value);

static plan *plan_of(int handle) {
    return handle > 0 && handle <= made ? &plans[handle - 1] : NULL;
}

int cufftCreate(int *handle) {
    FAIL_ON_DEMAND();
    if (made == PLANS) return SETUP_FAILED;
    *handle = ++made;
    return 0;
}

int cufftSetAutoAllocation(int handle, int is_automatic) {
    plan *p = plan_of(handle);
    if (!p) return INVALID_PLAN;
    p->is_own = !is_automatic;
    return 0;
}

int cufftMakePlanMany64(int handle, int rank, const long long *n, const long long *inembed,
                        long long istride, long long idist, const long long *onembed,
                        long long ostride, long long odist, int type, long long batch,
                        size_t *work) {
    FAIL_ON_DEMAND();
    plan *p = plan_of(handle);
    if (!p || !p->is_own) return INVALID_PLAN;
    if (rank < 1 || rank > AXES || batch < 1) return INVALID_VALUE;
    p->rank = rank, p->type = type, p->count = batch;
    p->from.stride = istride, p->from.apart = idist;
    p->to.stride = ostride, p->to.apart = odist;
    for (int k = 0; k < rank; k++) {
        p->sizes[k] = n[k];
        p->from.sizes[k] = inembed[k];
        p->to.sizes[k] = onembed[k];
    }
    *work = 64;
    return 0;
}

int cufftSetStream(int handle, void *stream) {
    FAIL_ON_DEMAND();
    plan *p = plan_of(handle);
    if (!p) return INVALID_PLAN;
    p->has_stream = stream == NULL;             /* the only queue of a null device */
    return 0;
}

int cufftSetWorkArea(int handle, void *memory) {
    plan *p = plan_of(handle);
    if (!p) return INVALID_PLAN;
    p->has_work = memory != NULL;
    return 0;
}

int cufftGetProperty(int kind, int *value) {
    *value = 70 + kind;
    return 0;
}

static double number(const void *x, int is_double, long long at) {
    return is_double ? ((const double *)x)[at] : (double)((const float *)x)[at];
}

static void put(void *x, int is_double, long long at, double value) {
    if (is_double)
        ((double *)x)[at] = value;
    else
        ((float *)x)[at] = (float)value;
}

/* Where the point with these places is. */
static long long place(const plan *p, const side *s, const long long *at) {
    long long index = 0;
    for (int k = 0; k < p->rank; k++) index = index * s->sizes[k] + at[k];
    return index * s->stride;
}

/* The places of point number i, of the sizes of the transform. */
static void places(const plan *p, long long i, long long *at) {
    for (int k = p->rank - 1; k >= 0; k--) {
        at[k] = i % p->sizes[k];
        i /= p->sizes[k];
    }
}

/* A complex number of what is transformed. Of one that becomes real, those past the middle are the
 * conjugates of others. */
static void load(const plan *p, const void *x, int is_double, long long first, long long i,
                 double *re, double *im) {
    long long at[AXES] = { 0 }, last = p->rank - 1;
    places(p, i, at);
    int is_back = (p->type == C2R || p->type == Z2D) && at[last] > p->sizes[last] / 2;
    if (is_back)
        for (int k = 0; k < p->rank; k++) at[k] = (p->sizes[k] - at[k]) % p->sizes[k];
    long long index = first + place(p, &p->from, at);
    if (p->type == R2C || p->type == D2Z) {
        *re = number(x, is_double, index);
        *im = 0;
        return;
    }
    *re = number(x, is_double, 2 * index);
    *im = number(x, is_double, 2 * index + 1) * (is_back ? -1 : 1);
}

/* Number i of a transform whose points begin at `first`. */
static void sum(const plan *p, const void *x, int is_double, long long first, long long i,
                int direction, long long points, double *re, double *im) {
    long long to[AXES], from[AXES];
    places(p, i, to);
    *re = *im = 0;
    for (long long j = 0; j < points; j++) {
        double turns = 0, a = 0, b = 0;
        places(p, j, from);
        for (int k = 0; k < p->rank; k++)
            turns += (double)(to[k] * from[k] % p->sizes[k]) / (double)p->sizes[k];
        double angle = direction * 6.283185307179586 * turns;
        load(p, x, is_double, first, j, &a, &b);
        *re += a * cos(angle) - b * sin(angle);
        *im += a * sin(angle) + b * cos(angle);
    }
}

static int run(int handle, int type, const void *x, void *y, int direction) {
    plan *p = plan_of(handle);
    if (!p || p->type != type || !p->has_stream || !p->has_work) return INVALID_PLAN;
    int is_double = type == Z2Z || type == D2Z || type == Z2D;
    long long points = 1, at[AXES], last = p->rank - 1;
    for (int k = 0; k < p->rank; k++) points *= p->sizes[k];
    double *result = malloc(2 * (size_t)points * sizeof *result);
    if (!result) return SETUP_FAILED;
    for (long long b = 0; b < p->count; b++) {
        for (long long i = 0; i < points; i++)
            sum(p, x, is_double, b * p->from.apart, i, direction, points, &result[2 * i],
                &result[2 * i + 1]);
        for (long long i = 0; i < points; i++) {
            places(p, i, at);
            if ((type == R2C || type == D2Z) && at[last] > p->sizes[last] / 2) continue;
            long long index = b * p->to.apart + place(p, &p->to, at);
            if (type == C2R || type == Z2D) {
                put(y, is_double, index, result[2 * i]);
            } else {
                put(y, is_double, 2 * index, result[2 * i]);
                put(y, is_double, 2 * index + 1, result[2 * i + 1]);
            }
        }
    }
    free(result);
    return 0;
}

int cufftExecC2C(int handle, const void *from, void *to, int direction) {
    FAIL_ON_DEMAND();
    return run(handle, C2C, from, to, direction);
}

int cufftExecZ2Z(int handle, const void *from, void *to, int direction) {
    return run(handle, Z2Z, from, to, direction);
}

int cufftExecR2C(int handle, const void *from, void *to) { return run(handle, R2C, from, to, -1); }
int cufftExecD2Z(int handle, const void *from, void *to) { return run(handle, D2Z, from, to, -1); }
int cufftExecC2R(int handle, const void *from, void *to) { return run(handle, C2R, from, to, 1); }
int cufftExecZ2D(int handle, const void *from, void *to) { return run(handle, Z2D, from, to, 1); }
