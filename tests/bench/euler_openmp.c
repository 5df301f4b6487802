/* euler_openmp.c - the peer that Mare's Euler step is held against on a CPU: the same scheme (MUSCL-Hancock, MC limiter,
 * HLLC, dimension split in alternating order, periodic, dt from the largest signal rate of every step, float) as plain C
 * with OpenMP, written the way one writes it: rows, row buffers, loops that the compiler vectorises.
 *
 *   gcc -O3 -march=native -fopenmp euler_openmp.c -o euler_openmp -lm && ./euler_openmp [n] [steps]
 *
 * Prints Mcells/s of the best of three runs and the change of mass, which is rounding only. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>

enum { HALO = 2, FIELDS = 4, ROWS = 32 };       /* ROWS: of a strip in the sweep along y */
static const float gas = 1.4f, cfl = 0.45f;

typedef struct { float *rho, *mu, *mv, *e; } fields;            /* conserved */
typedef struct { float rho, un, ut, p; } flow;                  /* along the sweep: normal, transverse */
typedef struct { float rho, mn, mt, e; } flux;
typedef struct { float *rho, *un, *ut, *p; } row;               /* one row of flows */

static int n, stride;

static inline float limited(float a, float b) {                 /* half the MC slope */
    float least = fminf(4.0f * fminf(fabsf(a), fabsf(b)), fabsf(a + b));
    return (copysignf(0.125f, a) + copysignf(0.125f, b)) * least;
}

static inline flow primitive(float rho, float mn, float mt, float e) {
    float r = 1.0f / rho, un = mn * r, ut = mt * r;
    return (flow){ rho, un, ut, (gas - 1.0f) * (e - 0.5f * (mn * un + mt * ut)) };
}

static inline void faces(flow l, flow w, flow r, float k, flow *low, flow *high) {
    float hr = limited(w.rho - l.rho, r.rho - w.rho), hu = limited(w.un - l.un, r.un - w.un);
    float hv = limited(w.ut - l.ut, r.ut - w.ut), hp = limited(w.p - l.p, r.p - w.p);
    float rho = w.rho - k * (w.un * hr + w.rho * hu), un = w.un - k * (w.un * hu + hp / w.rho);
    float ut = w.ut - k * (w.un * hv), p = w.p - k * (w.un * hp + gas * w.p * hu);
    int ok = (rho > fabsf(hr)) & (p > fabsf(hp));
    *low = (flow){ ok ? rho - hr : w.rho, ok ? un - hu : w.un, ok ? ut - hv : w.ut, ok ? p - hp : w.p };
    *high = (flow){ ok ? rho + hr : w.rho, ok ? un + hu : w.un, ok ? ut + hv : w.ut, ok ? p + hp : w.p };
}

static inline flux hllc(flow l, flow r) {
    float cl = sqrtf(gas * l.p / l.rho), cr = sqrtf(gas * r.p / r.rho);
    float sl = fminf(l.un - cl, r.un - cr), sr = fmaxf(l.un + cl, r.un + cr);
    float al = l.rho * (sl - l.un), ar = r.rho * (sr - r.un);
    float contact = (r.p - l.p + al * l.un - ar * r.un) / (al - ar);
    int left = contact >= 0.0f;
    float rho = left ? l.rho : r.rho, un = left ? l.un : r.un, ut = left ? l.ut : r.ut, p = left ? l.p : r.p;
    float s = left ? sl : sr, a = left ? al : ar;
    contact = (left ? sl : -sr) >= 0.0f ? un : contact;
    float inverse = 1.0f / (s - contact), star = p + a * (contact - un);
    float e = p / (gas - 1.0f) + 0.5f * rho * (un * un + ut * ut);
    float e_star = inverse * (e * (s - un) + star * contact - p * un), mass = a * inverse * contact;
    return (flux){ mass, mass * contact + star, mass * ut, contact * (e_star + star) };
}

static inline flow get(row w, int i) { return (flow){ w.rho[i], w.un[i], w.ut[i], w.p[i] }; }
static inline void put(row w, int i, flow f) { w.rho[i] = f.rho; w.un[i] = f.un; w.ut[i] = f.ut; w.p[i] = f.p; }

static fields at(fields f, int j) {             /* row j of each field */
    size_t offset = (size_t)(j + HALO) * stride + HALO;
    return (fields){ f.rho + offset, f.mu + offset, f.mv + offset, f.e + offset };
}

static row new_row(void) {
    float *p = aligned_alloc(64, FIELDS * sizeof(float) * stride);
    return (row){ p, p + stride, p + 2 * stride, p + 3 * stride };
}

static void load(row w, fields q, int y) {      /* primitives of one row; y swaps the velocities */
    const float *restrict rho = q.rho, *restrict mn = y ? q.mv : q.mu, *restrict mt = y ? q.mu : q.mv, *restrict e = q.e;
    for (int i = 0; i < n + 2 * HALO; i++) put(w, i, primitive(rho[i - HALO], mn[i - HALO], mt[i - HALO], e[i - HALO]));
}

static void update(fields out, fields in, row f, row g, int shift, float k, int y) {
    const float *restrict rho = in.rho, *restrict mn = y ? in.mv : in.mu, *restrict mt = y ? in.mu : in.mv, *restrict e = in.e;
    float *restrict rho1 = out.rho, *restrict mn1 = y ? out.mv : out.mu, *restrict mt1 = y ? out.mu : out.mv, *restrict e1 = out.e;
    for (int i = 0; i < n; i++) {
        rho1[i] = rho[i] + k * (f.rho[i] - g.rho[i + shift]);
        mn1[i] = mn[i] + k * (f.un[i] - g.un[i + shift]);
        mt1[i] = mt[i] + k * (f.ut[i] - g.ut[i + shift]);
        e1[i] = e[i] + k * (f.p[i] - g.p[i + shift]);
    }
}

static float rate(fields q, float inv) {        /* largest signal rate of one row */
    float largest = 0.0f;
    for (int i = 0; i < n; i++) {
        flow w = primitive(q.rho[i], q.mu[i], q.mv[i], q.e[i]);
        float r = (fmaxf(fabsf(w.un), fabsf(w.ut)) + sqrtf(gas * w.p / w.rho)) * inv;
        largest = r > largest ? r : largest;
    }
    return largest;
}

static void put_flux(row f, int i, flux x) { put(f, i, (flow){ x.rho, x.mn, x.mt, x.e }); }

static void sweep_x(fields out, fields in, float k) {
    #pragma omp parallel
    {
        row w = new_row(), low = new_row(), high = new_row(), f = new_row();
        #pragma omp for schedule(static)
        for (int j = 0; j < n; j++) {
            load(w, at(in, j), 0);
            #pragma GCC ivdep
            for (int i = 0; i < n + 2; i++) {
                flow a, b;
                faces(get(w, i), get(w, i + 1), get(w, i + 2), k, &a, &b);
                put(low, i, a);
                put(high, i, b);
            }
            #pragma GCC ivdep
            for (int i = 0; i <= n; i++) put_flux(f, i, hllc(get(high, i), get(low, i + 1)));
            update(at(out, j), at(in, j), f, f, 1, k, 0);
        }
        free(w.rho); free(low.rho); free(high.rho); free(f.rho);
    }
}

static void sweep_y(fields out, fields in, float k) {
    #pragma omp parallel
    {
        row w[3], low = new_row(), high = new_row(), next = new_row(), f = new_row(), g = new_row();
        for (int r = 0; r < 3; r++) w[r] = new_row();
        #pragma omp for schedule(static)
        for (int strip = 0; strip < (n + ROWS - 1) / ROWS; strip++) {
            int first = strip * ROWS, end = first + ROWS < n ? first + ROWS : n;
            load(w[0], at(in, first - 2), 1);
            load(w[1], at(in, first - 1), 1);
            for (int j = first - 1; j <= end; j++) {            /* faces of row j, flux below it, update of row j - 1 */
                load(w[2], at(in, j + 1), 1);
                #pragma GCC ivdep
                for (int i = HALO; i < n + HALO; i++) {
                    flow a, b;
                    faces(get(w[0], i), get(w[1], i), get(w[2], i), k, &a, &b);
                    put(low, i - HALO, a);
                    put(next, i - HALO, b);
                }
                if (j >= first) {
                    #pragma GCC ivdep
                    for (int i = 0; i < n; i++) put_flux(g, i, hllc(get(high, i), get(low, i)));
                }
                if (j > first) update(at(out, j - 1), at(in, j - 1), f, g, 0, k, 1);
                row t = w[0]; w[0] = w[1]; w[1] = w[2]; w[2] = t;
                t = high; high = next; next = t;
                t = f; f = g; g = t;
            }
        }
        for (int r = 0; r < 3; r++) free(w[r].rho);
        free(low.rho); free(high.rho); free(next.rho); free(f.rho); free(g.rho);
    }
}

static void wrap(float *f) {                    /* periodic ghost cells */
    for (int j = 0; j < n; j++)
        for (int h = 0; h < HALO; h++) {
            float *p = f + (size_t)(j + HALO) * stride + HALO;
            p[-1 - h] = p[n - 1 - h];
            p[n + h] = p[h];
        }
    for (int h = 0; h < HALO; h++) {
        memcpy(f + (size_t)(HALO - 1 - h) * stride, f + (size_t)(HALO + n - 1 - h) * stride, sizeof(float) * stride);
        memcpy(f + (size_t)(HALO + n + h) * stride, f + (size_t)(HALO + h) * stride, sizeof(float) * stride);
    }
}

static void wrap_all(fields q) { wrap(q.rho); wrap(q.mu); wrap(q.mv); wrap(q.e); }

static float largest_rate(fields q) {
    float largest = 0.0f;
    #pragma omp parallel for reduction(max : largest) schedule(static)
    for (int j = 0; j < n; j++) largest = fmaxf(largest, rate(at(q, j), (float)n));
    return largest;
}

static void advance(fields a, fields b, int step) {
    float k = cfl / largest_rate(a) * (float)n;
    if (step % 2) sweep_y(b, a, k); else sweep_x(b, a, k);
    wrap_all(b);
    if (step % 2) sweep_x(a, b, k); else sweep_y(a, b, k);
    wrap_all(a);
}

static fields new_fields(void) {
    size_t size = (size_t)stride * (n + 2 * HALO);
    float *p = aligned_alloc(64, (FIELDS * size * sizeof(float) + 63) / 64 * 64);
    memset(p, 0, FIELDS * size * sizeof(float));
    return (fields){ p, p + size, p + 2 * size, p + 3 * size };
}

static void shear_layer(fields q) {             /* smooth Kelvin-Helmholtz start */
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            double x = (i + 0.5) / n, y = (j + 0.5) / n, s = 0.5 * (tanh((y - 0.25) / 0.025) - tanh((y - 0.75) / 0.025));
            double rho = 1 + s, u = 0.5 - s, v = 0.01 * sin(4 * M_PI * x);
            fields c = at(q, j);
            c.rho[i] = (float)rho; c.mu[i] = (float)(rho * u); c.mv[i] = (float)(rho * v);
            c.e[i] = (float)(2.5 / 0.4 + 0.5 * rho * (u * u + v * v));
        }
    wrap_all(q);
}

static double total_mass(fields q) {
    double sum = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) sum += at(q, j).rho[i];
    return sum;
}

int main(int argc, char **argv) {
    n = argc > 1 ? atoi(argv[1]) : 2048;
    int steps = argc > 2 ? atoi(argv[2]) : 10;
    stride = (n + 2 * HALO + 15) / 16 * 16;
    fields a = new_fields(), b = new_fields();
    shear_layer(a);
    double best = 1e30, mass = total_mass(a);
    for (int run = 0; run < 3; run++) {
        double start = omp_get_wtime();
        for (int s = 0; s < steps; s++) advance(a, b, s);
        best = fmin(best, omp_get_wtime() - start);
    }
    printf("%.1f Mcells/s, %d threads, %d x %d, mass changed by %.1e\n", 1e-6 * n * n * steps / best,
        omp_get_max_threads(), n, n, total_mass(a) / mass - 1);
    return 0;
}
