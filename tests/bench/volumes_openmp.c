/* volumes_openmp.c - the peer that Mare's cdklm scheme is held against on a CPU: the same balanced
 * finite volumes (minmod 1.3, central-upwind flux, rotation in the reconstruction, wet and dry,
 * periodic, SSP-RK2, dt from the largest signal rate of every step, float) in plain C with OpenMP,
 * written the way one writes it: strips of rows, row buffers, and loops without branches that a
 * compiler can vectorise.
 *
 *   gcc -O3 -march=native -fopenmp volumes_openmp.c -o volumes_openmp -lm
 *   ./volumes_openmp [cells along each side] [steps]
 *
 * Prints Mcells/s of the best of three runs, the change of the volume, which is rounding only, and
 * the largest elevation, which tells whether it computed what Mare does. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HALO = 2, STRIP = 32, ETA = 0, HU, HV, FIELDS };

static const float g = 9.81f, still = 60.0f, coriolis = 1e-3f, size = 200.0f, cfl = 0.45f;
static const float theta = 1.3f, dry = 1e-5f, tiny = 1e-30f, deep = 1e30f;
static int n;                       /* cells along each side */
static size_t stride;               /* elements of a row */
static float *centre, *corner;      /* depth of still water at centres, at south-west corners */

typedef struct fields { float *of[FIELDS]; } fields;
typedef struct flow { float eta, un, ut, h, tilt; } flow;       /* normal and transverse */
typedef struct face { float eta, un, ut, bed; } face;
typedef struct flux { float eta, mn, mt, high; } flux;          /* mn for the low side */
typedef struct row { float *eta, *u, *v, *h; } row;
typedef struct face_row { float *eta, *un, *ut, *bed; } face_row;
typedef struct flux_row { float *eta, *mn, *mt, *high; } flux_row;

static float *array(size_t rows) {
    float *p = aligned_alloc(64, sizeof(float) * stride * rows);
    memset(p, 0, sizeof(float) * stride * rows);
    return p;
}

static size_t at(int i, int j) { return (size_t)(j + HALO) * stride + 16 + (size_t)i; }

static inline float half_slope(float a, float b) {
    float least = fminf(2.0f * theta * fminf(fabsf(a), fabsf(b)), fabsf(a + b));
    return (copysignf(0.125f, a) + copysignf(0.125f, b)) * least;
}

static inline float reconstruct(flow l, flow w, flow r, float low_depth, float high_depth,
                                face *low, face *high) {
    float excess = half_slope(w.eta - l.eta - (l.tilt + w.tilt), r.eta - w.eta - (w.tilt + r.tilt));
    float rise = excess + w.tilt;
    float un = half_slope(w.un - l.un, r.un - w.un), ut = half_slope(w.ut - l.ut, r.ut - w.ut);
    int calm = w.h - fabsf(0.5f * (high_depth - low_depth) + rise) > dry;
    float on = calm ? 1.0f : 0.0f, bed = calm ? deep : w.h - w.eta;
    *low = (face){ w.eta - on * rise, w.un - on * un, w.ut - on * ut, bed };
    *high = (face){ w.eta + on * rise, w.un + on * un, w.ut + on * ut, bed };
    return calm ? excess : -w.tilt;
}

static inline flux between(face a, face b, float depth) {
    depth = fminf(depth, fminf(a.bed, b.bed));
    float ea = fmaxf(a.eta, -depth), eb = fmaxf(b.eta, -depth), ha = ea + depth, hb = eb + depth;
    float c = sqrtf(g * fmaxf(ha, hb)), rise = eb - ea;
    float right = fmaxf(tiny, fmaxf(a.un, b.un) + c), left = fmaxf(tiny, c - fminf(a.un, b.un));
    float inverse = 1.0f / (right + left), d = right * left;
    float qa = right * (ha * a.un), qb = left * (hb * b.un);
    float mass = inverse * (qa + qb - d * rise);
    float mn = inverse * (qa * a.un + qb * b.un - d * (hb * b.un - ha * a.un));
    float jump = inverse * (0.5f * g * (ha + hb) * rise);
    return (flux){ mass, mn + left * jump, mass * (mass > 0.0f ? a.ut : b.ut), mn - right * jump };
}

static inline flow x_flow(row w, int i, float tilt) {
    return (flow){ w.eta[i], w.u[i], w.v[i], w.h[i], tilt * w.v[i] };
}

static inline flow y_flow(row w, int i, float tilt) {
    return (flow){ w.eta[i], w.v[i], w.u[i], w.h[i], -tilt * w.u[i] };
}

static inline face get_face(face_row f, int i) {
    return (face){ f.eta[i], f.un[i], f.ut[i], f.bed[i] };
}

static inline void set_face(face_row f, int i, face a) {
    f.eta[i] = a.eta, f.un[i] = a.un, f.ut[i] = a.ut, f.bed[i] = a.bed;
}

static inline void set_flux(flux_row f, int i, flux a) {
    f.eta[i] = a.eta, f.mn[i] = a.mn, f.mt[i] = a.mt, f.high[i] = a.high;
}

/* Row buffers of one thread. */
typedef struct desk {
    row w[STRIP + 2 * HALO];
    face_row west, east, south[2], north[2];
    flux_row x, y[2];
    float *excess_x, *excess_y[2];
} desk;

static float *line(void) { return array(1) + 16; }
static face_row new_faces(void) { return (face_row){ line(), line(), line(), line() }; }
static flux_row new_fluxes(void) { return (flux_row){ line(), line(), line(), line() }; }

static desk *new_desk(void) {
    desk *d = malloc(sizeof *d);
    for (int j = 0; j < STRIP + 2 * HALO; j++) d->w[j] = (row){ line(), line(), line(), line() };
    d->west = new_faces(), d->east = new_faces(), d->x = new_fluxes(), d->excess_x = line();
    for (int k = 0; k < 2; k++) {
        d->south[k] = new_faces(), d->north[k] = new_faces(), d->y[k] = new_fluxes();
        d->excess_y[k] = line();
    }
    return d;
}

static void read_row(fields q, int j, row w) {
    const float *eta = q.of[ETA] + at(0, j), *hu = q.of[HU] + at(0, j), *hv = q.of[HV] + at(0, j);
    const float *depth = centre + at(0, j);
    #pragma omp simd
    for (int i = -HALO; i < n + HALO; i++) {
        float e = fmaxf(eta[i], -depth[i]), h = e + depth[i], inverse = 1.0f / fmaxf(h, tiny);
        w.eta[i] = e, w.h[i] = h, w.u[i] = hu[i] * inverse, w.v[i] = hv[i] * inverse;
    }
}

static void along_x(desk *d, row w, int j, float tilt) {
    const float *a = corner + at(0, j), *b = corner + at(0, j + 1);
    face_row west = d->west, east = d->east;
    flux_row x = d->x;
    float *excess = d->excess_x;
    #pragma omp simd
    for (int i = -1; i <= n; i++) {
        face low, high;
        excess[i] = reconstruct(x_flow(w, i - 1, tilt), x_flow(w, i, tilt),
            x_flow(w, i + 1, tilt), 0.5f * (a[i] + b[i]), 0.5f * (a[i + 1] + b[i + 1]),
            &low, &high);
        set_face(west, i, low);
        set_face(east, i, high);
    }
    #pragma omp simd
    for (int i = 0; i <= n; i++)
        set_flux(x, i, between(get_face(east, i - 1), get_face(west, i), 0.5f * (a[i] + b[i])));
}

/* Faces of row j, k its parity. */
static void faces_y(desk *d, row s, row w, row r, int j, int k, float tilt) {
    const float *a = corner + at(0, j), *b = corner + at(0, j + 1);
    face_row south = d->south[k], north = d->north[k];
    float *excess = d->excess_y[k];
    #pragma omp simd
    for (int i = 0; i < n; i++) {
        face low, high;
        excess[i] = reconstruct(y_flow(s, i, tilt), y_flow(w, i, tilt), y_flow(r, i, tilt),
            0.5f * (a[i] + a[i + 1]), 0.5f * (b[i] + b[i + 1]), &low, &high);
        set_face(south, i, low);
        set_face(north, i, high);
    }
}

/* Through the southern face of row j. */
static void flux_y(desk *d, int j, int k) {
    const float *a = corner + at(0, j);
    face_row north = d->north[1 - k], south = d->south[k];
    flux_row y = d->y[k];
    #pragma omp simd
    for (int i = 0; i < n; i++)
        set_flux(y, i,
            between(get_face(north, i), get_face(south, i), 0.5f * (a[i] + a[i + 1])));
}

static float finish(desk *d, row w, fields src, fields base, fields dst, float keep, int j, int k,
                    float lambda) {
    size_t o = at(0, j);
    flux_row x = d->x, in = d->y[k], out = d->y[1 - k];
    const float *depth = centre + o, *excess_x = d->excess_x, *excess_y = d->excess_y[k];
    const float *eta0 = base.of[ETA] + o, *hu0 = base.of[HU] + o, *hv0 = base.of[HV] + o;
    const float *eta1 = src.of[ETA] + o, *hu1 = src.of[HU] + o, *hv1 = src.of[HV] + o;
    float *eta2 = dst.of[ETA] + o, *hu2 = dst.of[HU] + o, *hv2 = dst.of[HV] + o, fastest = 0.0f;
    #pragma omp simd reduction(max : fastest)
    for (int i = 0; i < n; i++) {
        float push = 2.0f * g * w.h[i];
        float eta = eta1[i] + lambda * (x.eta[i] - x.eta[i + 1] + in.eta[i] - out.eta[i]);
        float hu = hu1[i] + lambda * (x.high[i] - x.mn[i + 1] - push * excess_x[i]
            + in.mt[i] - out.mt[i]);
        float hv = hv1[i] + lambda * (in.high[i] - out.mn[i] - push * excess_y[i]
            + x.mt[i] - x.mt[i + 1]);
        eta += keep * (eta0[i] - eta);
        hu += keep * (hu0[i] - hu);
        hv += keep * (hv0[i] - hv);
        eta = fmaxf(eta, -depth[i]);
        float h = eta + depth[i], kept = h < dry ? 2.0f * h * h / (dry * dry + h * h) : 1.0f;
        float c = sqrtf(g * h), inverse = 1.0f / fmaxf(h, tiny);
        eta2[i] = eta, hu2[i] = hu * kept, hv2[i] = hv * kept;
        fastest = fmaxf(fastest, fmaxf(fabsf(hu), fabsf(hv)) * inverse + c);
    }
    return fastest;
}

static float strip(desk *d, fields src, fields base, fields dst, float keep, int first, float dt) {
    int end = first + STRIP < n ? first + STRIP : n;
    float tilt = coriolis * size / (2.0f * g), fastest = 0.0f;
    row *w = d->w + HALO;
    for (int j = -HALO; j < end - first + HALO; j++) read_row(src, first + j, w[j]);
    for (int j = -1; j <= end - first; j++) {       /* completes row j - 1 */
        int k = j & 1;
        faces_y(d, w[j - 1], w[j], w[j + 1], first + j, k, tilt);
        if (j >= 0) flux_y(d, first + j, k);
        if (j < 1) continue;
        along_x(d, w[j - 1], first + j - 1, tilt);
        fastest = fmaxf(fastest, finish(d, w[j - 1], src, base, dst, keep, first + j - 1, 1 - k,
            dt / size));
    }
    return fastest;
}

static void wrap(fields q) {
    for (int f = 0; f < FIELDS; f++) {
        float *a = q.of[f];
        #pragma omp parallel for schedule(static)
        for (int j = 0; j < n; j++) {
            for (int k = 1; k <= HALO; k++) {
                a[at(-k, j)] = a[at(n - k, j)];
                a[at(n + k - 1, j)] = a[at(k - 1, j)];
            }
        }
        for (int k = 1; k <= HALO; k++) {
            memcpy(a + at(-HALO, -k), a + at(-HALO, n - k), sizeof(float) * (size_t)(n + 4));
            memcpy(a + at(-HALO, n + k - 1), a + at(-HALO, k - 1), sizeof(float) * (size_t)(n + 4));
        }
    }
}

static float stage(desk **desks, fields src, fields base, fields dst, float keep, float dt) {
    float fastest = 0.0f;
    wrap(src);
    #pragma omp parallel for schedule(static) reduction(max : fastest)
    for (int first = 0; first < n; first += STRIP)
        fastest = fmaxf(fastest,
            strip(desks[omp_get_thread_num()], src, base, dst, keep, first, dt));
    return fastest;
}

static fields new_fields(void) {
    fields q;
    for (int f = 0; f < FIELDS; f++) q.of[f] = array((size_t)n + 2 * HALO);
    return q;
}

static double total(fields q) {
    double sum = 0.0;
    for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) sum += q.of[ETA][at(i, j)];
    return sum;
}

int main(int argc, char **argv) {
    n = argc > 1 ? atoi(argv[1]) : 1024;
    int steps = argc > 2 ? atoi(argv[2]) : 16, threads = omp_get_max_threads();
    stride = ((size_t)n + 32 + 15) / 16 * 16;
    centre = array((size_t)n + 2 * HALO + 1), corner = array((size_t)n + 2 * HALO + 1);
    for (size_t k = 0; k < stride * ((size_t)n + 2 * HALO + 1); k++) centre[k] = corner[k] = still;
    fields now = new_fields(), other = new_fields();
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            float x = ((float)i + 0.5f) / (float)n - 0.5f, y = ((float)j + 0.5f) / (float)n - 0.5f;
            now.of[ETA][at(i, j)] = expf(-10.0f * (x * x + y * y));
        }
    }
    desk **desks = malloc(sizeof *desks * (size_t)threads);
    for (int k = 0; k < threads; k++) desks[k] = new_desk();
    double before = total(now), best = 1e30;
    float fastest = sqrtf(g * (still + 1.0f)), highest = 0.0f;
    for (int run = 0; run < 3; run++) {
        double start = omp_get_wtime();
        for (int k = 0; k < steps; k++) {
            float dt = cfl * size / (2.0f * fastest);
            stage(desks, now, now, other, 0.0f, dt);
            fastest = stage(desks, other, now, now, 0.5f, dt);
        }
        best = fmin(best, omp_get_wtime() - start);
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) highest = fmaxf(highest, now.of[ETA][at(i, j)]);
    printf("%.1f Mcells/s, volume changed by %.1e, highest %.6f m\n",
        1e-6 * (double)n * n * steps / best, total(now) / before - 1.0, (double)highest);
    return 0;
}
