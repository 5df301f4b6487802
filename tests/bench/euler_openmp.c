/* euler_openmp.c - the peer that Mare's Euler step is held against on a CPU: the same scheme
 * (MUSCL-Hancock, MC limiter, HLLC, dimension split in alternating order, periodic, dt from the
 * largest signal rate of every step, float) in plain C with OpenMP, written the way one writes it:
 * rows, row buffers, and loops without branches that a compiler can vectorise.
 *
 *   gcc -O3 -march=native -fopenmp euler_openmp.c -o euler_openmp -lm
 *   ./euler_openmp [cells along each side] [steps] [file for the density after the first run]
 *
 * gcc 12 vectorises most of it only with -ffast-math, so time that too. Prints Mcells/s of the best
 * of three runs and the change of mass, which is rounding only. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HALO = 2, STRIP = 32 };      /* STRIP: rows that one thread sweeps along y at a time */
enum { RHO, MX, MY, ENERGY, FIELDS };

static const float gas = 1.4f, cfl = 0.45f;
static int n;                       /* cells along each side */
static size_t stride;               /* elements of a row */

typedef struct fields { float *of[FIELDS]; } fields;    /* of a state or a row; fluxes likewise */
typedef struct flow { float rho, un, ut, p; } flow;     /* velocities normal and transverse */
typedef struct flux { float rho, mn, mt, e; } flux;
typedef struct row { float *rho, *un, *ut, *p; } row;

static inline float half_slope(float a, float b) {
    float least = fminf(4.0f * fminf(fabsf(a), fabsf(b)), fabsf(a + b));
    return (copysignf(0.125f, a) + copysignf(0.125f, b)) * least;
}

static inline flow primitive(float rho, float mn, float mt, float e) {
    float r = 1.0f / rho, un = mn * r, ut = mt * r;
    return (flow){ rho, un, ut, (gas - 1.0f) * (e - 0.5f * (mn * un + mt * ut)) };
}

static inline void faces(flow l, flow w, flow r, float k, flow *low, flow *high) {
    float h_rho = half_slope(w.rho - l.rho, r.rho - w.rho);
    float h_un = half_slope(w.un - l.un, r.un - w.un);
    float h_ut = half_slope(w.ut - l.ut, r.ut - w.ut);
    float h_p = half_slope(w.p - l.p, r.p - w.p);
    float rho = w.rho - k * (w.un * h_rho + w.rho * h_un);
    float un = w.un - k * (w.un * h_un + h_p / w.rho);
    float ut = w.ut - k * (w.un * h_ut);
    float p = w.p - k * (w.un * h_p + gas * w.p * h_un);
    int ok = (rho > fabsf(h_rho)) & (p > fabsf(h_p));
    low->rho = ok ? rho - h_rho : w.rho, high->rho = ok ? rho + h_rho : w.rho;
    low->un = ok ? un - h_un : w.un, high->un = ok ? un + h_un : w.un;
    low->ut = ok ? ut - h_ut : w.ut, high->ut = ok ? ut + h_ut : w.ut;
    low->p = ok ? p - h_p : w.p, high->p = ok ? p + h_p : w.p;
}

static inline flux hllc(flow l, flow r) {
    float cl = sqrtf(gas * l.p / l.rho), cr = sqrtf(gas * r.p / r.rho);
    float sl = fminf(l.un - cl, r.un - cr), sr = fmaxf(l.un + cl, r.un + cr);
    float al = l.rho * (sl - l.un), ar = r.rho * (sr - r.un);
    float contact = (r.p - l.p + al * l.un - ar * r.un) / (al - ar);
    int left = contact >= 0.0f;
    float rho = left ? l.rho : r.rho, un = left ? l.un : r.un;
    float ut = left ? l.ut : r.ut, p = left ? l.p : r.p;
    float s = left ? sl : sr, a = left ? al : ar;
    contact = (left ? sl : -sr) >= 0.0f ? un : contact;
    float inverse = 1.0f / (s - contact), star = p + a * (contact - un);
    float e = p / (gas - 1.0f) + 0.5f * rho * (un * un + ut * ut);
    float e_star = inverse * (e * (s - un) + star * contact - p * un);
    float mass = a * inverse * contact;
    return (flux){ mass, mass * contact + star, mass * ut, contact * (e_star + star) };
}

static inline flow get(row w, int i) { return (flow){ w.rho[i], w.un[i], w.ut[i], w.p[i] }; }

static inline void put(row w, int i, flow f) {
    w.rho[i] = f.rho;
    w.un[i] = f.un;
    w.ut[i] = f.ut;
    w.p[i] = f.p;
}

static row new_row(void) {
    float *p = aligned_alloc(64, FIELDS * sizeof(float) * stride);
    return (row){ p, p + stride, p + 2 * stride, p + 3 * stride };
}

static fields row_of(fields q, int j) {
    for (int f = 0; f < FIELDS; f++) q.of[f] += (size_t)(j + HALO) * stride + HALO;
    return q;
}

/* Primitive variables of a row from cell -2 on; `normal` is MX or MY. */
static void load(row w, fields q, int normal) {
    const float *restrict rho = q.of[RHO] - HALO, *restrict e = q.of[ENERGY] - HALO;
    const float *restrict mn = q.of[normal] - HALO, *restrict mt = q.of[MX + MY - normal] - HALO;
    for (int i = 0; i < n + 2 * HALO; i++) put(w, i, primitive(rho[i], mn[i], mt[i], e[i]));
}

/* out = in + k (low - high), where the high fluxes begin `shift` faces on. */
static void update(fields out, fields in, row low, row high, int shift, float k, int normal) {
    float *from[] = { low.rho, low.un, low.ut, low.p };
    float *to[] = { high.rho, high.un, high.ut, high.p };
    int order[] = { RHO, normal, MX + MY - normal, ENERGY };
    for (int f = 0; f < FIELDS; f++) {
        const float *restrict old = in.of[order[f]], *restrict a = from[f], *b = to[f] + shift;
        float *restrict new = out.of[order[f]];
        for (int i = 0; i < n; i++) new[i] = old[i] + k * (a[i] - b[i]);
    }
}

static void row_faces(row w0, row w1, row w2, row low, row high, float k, int count) {
    #pragma GCC ivdep
    for (int i = 0; i < count; i++) {
        flow a, b;
        faces(get(w0, i), get(w1, i), get(w2, i), k, &a, &b);
        put(low, i, a);
        put(high, i, b);
    }
}

static void row_flux(row left, row right, row f, int count) {
    #pragma GCC ivdep
    for (int i = 0; i < count; i++) {
        flux x = hllc(get(left, i), get(right, i));
        put(f, i, (flow){ x.rho, x.mn, x.mt, x.e });
    }
}

static row from_cell(row w, int i) { return (row){ w.rho + i, w.un + i, w.ut + i, w.p + i }; }

static void sweep_x(fields out, fields in, float k) {
    #pragma omp parallel
    {
        row w = new_row(), low = new_row(), high = new_row(), f = new_row();
        #pragma omp for schedule(static)
        for (int j = 0; j < n; j++) {
            load(w, row_of(in, j), MX);
            row_faces(w, from_cell(w, 1), from_cell(w, 2), low, high, k, n + 2);
            row_flux(high, from_cell(low, 1), f, n + 1);
            update(row_of(out, j), row_of(in, j), f, f, 1, k, MX);
        }
        free(w.rho), free(low.rho), free(high.rho), free(f.rho);
    }
}

/* Rows first .. end - 1: row j + 1 comes in, faces of row j, flux below it, row j - 1 leaves. */
static void sweep_strip(fields out, fields in, float k, int first, int end, row *b) {
    row w0 = b[0], w1 = b[1], w2 = b[2], low = b[3], high = b[4], next = b[5], f = b[6], g = b[7];
    load(w0, row_of(in, first - 2), MY);
    load(w1, row_of(in, first - 1), MY);
    for (int j = first - 1; j <= end; j++) {
        load(w2, row_of(in, j + 1), MY);
        row_faces(from_cell(w0, HALO), from_cell(w1, HALO), from_cell(w2, HALO), low, next, k,
            n);
        if (j >= first) row_flux(high, low, g, n);
        if (j > first) update(row_of(out, j - 1), row_of(in, j - 1), f, g, 0, k, MY);
        row t = w0;
        w0 = w1, w1 = w2, w2 = t;
        t = high, high = next, next = t;
        t = f, f = g, g = t;
    }
}

static void sweep_y(fields out, fields in, float k) {
    #pragma omp parallel
    {
        row buffers[8];
        for (int r = 0; r < 8; r++) buffers[r] = new_row();
        #pragma omp for schedule(static)
        for (int first = 0; first < n; first += STRIP)
            sweep_strip(out, in, k, first, first + STRIP < n ? first + STRIP : n, buffers);
        for (int r = 0; r < 8; r++) free(buffers[r].rho);
    }
}

static void wrap(fields q) {            /* periodic ghost cells */
    for (int f = 0; f < FIELDS; f++) {
        for (int j = 0; j < n; j++) {
            float *p = row_of(q, j).of[f];
            p[-2] = p[n - 2], p[-1] = p[n - 1], p[n] = p[0], p[n + 1] = p[1];
        }
        size_t two_rows = HALO * stride * sizeof(float);
        memcpy(q.of[f], q.of[f] + n * stride, two_rows);
        memcpy(q.of[f] + (n + HALO) * stride, q.of[f] + HALO * stride, two_rows);
    }
}

static float row_rate(fields q) {
    float largest = 0.0f;
    for (int i = 0; i < n; i++) {
        flow w = primitive(q.of[RHO][i], q.of[MX][i], q.of[MY][i], q.of[ENERGY][i]);
        float rate = fmaxf(fabsf(w.un), fabsf(w.ut)) + sqrtf(gas * w.p / w.rho);
        largest = rate > largest ? rate : largest;
    }
    return largest;
}

static float largest_rate(fields q) {
    float largest = 0.0f;
    #pragma omp parallel for reduction(max : largest) schedule(static)
    for (int j = 0; j < n; j++) largest = fmaxf(largest, row_rate(row_of(q, j)));
    return largest;
}

static void advance(fields a, fields b, int step) {
    float k = cfl / largest_rate(a);    /* dt / dx: both sides are n cells long */
    (step % 2 ? sweep_y : sweep_x)(b, a, k);
    wrap(b);
    (step % 2 ? sweep_x : sweep_y)(a, b, k);
    wrap(a);
}

static fields new_fields(void) {
    size_t size = stride * (size_t)(n + 2 * HALO);
    float *p = aligned_alloc(64, FIELDS * size * sizeof(float));
    memset(p, 0, FIELDS * size * sizeof(float));
    return (fields){ { p, p + size, p + 2 * size, p + 3 * size } };
}

static void shear_layer(fields q) {     /* smooth Kelvin-Helmholtz start */
    for (int j = 0; j < n; j++) {
        double y = (j + 0.5) / n, s = 0.5 * (tanh((y - 0.25) / 0.025) - tanh((y - 0.75) / 0.025));
        for (int i = 0; i < n; i++) {
            double rho = 1 + s, u = 0.5 - s, v = 0.01 * sin(4 * M_PI * (i + 0.5) / n);
            fields c = row_of(q, j);
            c.of[RHO][i] = (float)rho;
            c.of[MX][i] = (float)(rho * u);
            c.of[MY][i] = (float)(rho * v);
            c.of[ENERGY][i] = (float)(2.5 / 0.4 + 0.5 * rho * (u * u + v * v));
        }
    }
    wrap(q);
}

static double total_mass(fields q) {
    double sum = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) sum += row_of(q, j).of[RHO][i];
    return sum;
}

static int write_density(fields q, const char *path) {
    FILE *file = fopen(path, "wb");
    if (!file) return 1;
    for (int j = 0; j < n; j++) fwrite(row_of(q, j).of[RHO], sizeof(float), (size_t)n, file);
    return fclose(file);
}

int main(int argc, char **argv) {
    n = argc > 1 ? atoi(argv[1]) : 2048;
    int steps = argc > 2 ? atoi(argv[2]) : 10;
    stride = ((size_t)n + 2 * HALO + 15) / 16 * 16;
    fields a = new_fields(), b = new_fields();
    shear_layer(a);
    double best = 1e30, mass = total_mass(a);
    for (int run = 0; run < 3; run++) {
        double start = omp_get_wtime();
        for (int s = 0; s < steps; s++) advance(a, b, s);
        best = fmin(best, omp_get_wtime() - start);
        if (run == 0 && argc > 3 && write_density(a, argv[3])) return 1;
    }
    printf("%.1f Mcells/s, %d threads, %d x %d, mass changed by %.1e\n",
        1e-6 * n * n * steps / best, omp_get_max_threads(), n, n, total_mass(a) / mass - 1);
    return 0;
}
