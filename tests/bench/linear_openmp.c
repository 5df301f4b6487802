/* linear_openmp.c - the peer that Mare's linear ocean scheme is held against on a CPU: the same
 * forward-backward step on a C-grid (rotation over corners that does no work, walls, float) in
 * plain C with OpenMP, written the way one writes it: three loops over the grid, in place, with
 * what depends on the bed alone computed beforehand.
 *
 *   gcc -O3 -march=native -fopenmp linear_openmp.c -o linear_openmp -lm
 *   ./linear_openmp [cells along each side] [steps]
 *
 * Prints Mcells/s of the best of three runs, the change of the volume, which is rounding only, and
 * the largest elevation, which tells whether it computed what Mare does. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float g = 9.81f, depth = 60.0f, coriolis = 1e-3f, size = 200.0f, cfl = 0.8f;
static int n;                       /* cells along each side */
static size_t stride;               /* elements of a row; one ghost cell on each side */
static float dt;

static float *eta, *hu, *hv;        /* unknowns; hu and hv at the west and south face */
static float *depth_x, *depth_y;    /* at these faces, 0 where closed */
static float *weight;               /* dt f / (4 depth) at south-west corners */

static float *field(void) {
    float *p = aligned_alloc(64, sizeof(float) * stride * (size_t)(n + 2));
    #pragma omp parallel for schedule(static)
    for (int j = 0; j < n + 2; j++) memset(p + (size_t)j * stride, 0, sizeof(float) * stride);
    return p;
}

static size_t at(int i, int j) { return (size_t)(j + 1) * stride + (size_t)(i + 1); }

static void setup(void) {
    stride = ((size_t)n + 2 + 15) / 16 * 16;
    dt = cfl / sqrtf(g * depth * 2.0f / (size * size) + 0.25f * coriolis * coriolis);
    eta = field(), hu = field(), hv = field();
    depth_x = field(), depth_y = field(), weight = field();
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            float x = ((float)i + 0.5f) / (float)n - 0.5f, y = ((float)j + 0.5f) / (float)n - 0.5f;
            eta[at(i, j)] = expf(-100.0f * (x * x + y * y));
            depth_x[at(i, j)] = i > 0 ? depth : 0.0f;
            depth_y[at(i, j)] = j > 0 ? depth : 0.0f;
            weight[at(i, j)] = 0.25f * dt * coriolis / depth;
        }
    }
}

static void step_hu(void) {
    float slope = dt * g / size;
    #pragma omp parallel for schedule(static)
    for (int j = 0; j < n; j++) {
        float *restrict u = hu + at(0, j);
        const float *restrict e = eta + at(0, j), *restrict v = hv + at(0, j);
        const float *restrict v2 = v + stride, *restrict w = weight + at(0, j);
        const float *restrict w2 = w + stride, *restrict h = depth_x + at(0, j);
        for (int i = 0; i < n; i++) {
            float turn = w[i] * (v[i - 1] + v[i]) + w2[i] * (v2[i - 1] + v2[i]);
            u[i] += h[i] * (turn + slope * (e[i - 1] - e[i]));
        }
    }
}

static void step_hv(void) {
    float slope = dt * g / size;
    #pragma omp parallel for schedule(static)
    for (int j = 0; j < n; j++) {
        float *restrict v = hv + at(0, j);
        const float *restrict e = eta + at(0, j), *restrict e2 = e - stride;
        const float *restrict u = hu + at(0, j), *restrict u2 = u - stride;
        const float *restrict w = weight + at(0, j), *restrict h = depth_y + at(0, j);
        for (int i = 0; i < n; i++) {
            float turn = w[i] * (u2[i] + u[i]) + w[i + 1] * (u2[i + 1] + u[i + 1]);
            v[i] += h[i] * (slope * (e2[i] - e[i]) - turn);
        }
    }
}

static void step_eta(void) {
    float k = dt / size;
    #pragma omp parallel for schedule(static)
    for (int j = 0; j < n; j++) {
        float *restrict e = eta + at(0, j);
        const float *restrict u = hu + at(0, j), *restrict v = hv + at(0, j);
        const float *restrict v2 = v + stride;
        for (int i = 0; i < n; i++) e[i] -= k * (u[i + 1] - u[i]) + k * (v2[i] - v[i]);
    }
}

static double volume(float *largest) {
    double sum = 0.0;
    *largest = 0.0f;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            sum += eta[at(i, j)];
            *largest = fmaxf(*largest, fabsf(eta[at(i, j)]));
        }
    }
    return sum;
}

int main(int argc, char **argv) {
    n = argc > 1 ? atoi(argv[1]) : 1024;
    int steps = argc > 2 ? atoi(argv[2]) : 20;
    float largest;
    setup();
    double before = volume(&largest), best = 0.0;
    for (int run = 0; run < 3; run++) {
        double start = omp_get_wtime();
        for (int k = 0; k < steps; k++) step_hu(), step_hv(), step_eta();
        best = fmax(best, (double)n * n * steps / (omp_get_wtime() - start));
    }
    double change = volume(&largest) / before - 1.0;
    printf("%.1f Mcells/s with %d threads, %d x %d cells, volume changed by %.1e, largest %.6f\n",
        best / 1e6, omp_get_max_threads(), n, n, change, (double)largest);
    return 0;
}
