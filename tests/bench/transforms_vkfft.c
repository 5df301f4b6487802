/* transforms_vkfft.c - what transforms.lua measures, by VkFFT on the first GPU of CUDA.
 *     cc -O1 -IVKFFT/vkFFT -ICUDA/include tests/bench/transforms_vkfft.c -o transforms_vkfft
 *         -LCUDA/lib64 -lcudart -lnvrtc -lcuda -lm
 *     ./transforms_vkfft [LOG2]
 * VKFFT: the sources of VkFFT, which pyvkfft brings along in src/VkFFT. Writes one line of JSON for
 * each transform, with the names and the rates of transforms.lua. */
#define VKFFT_BACKEND 1
#include "vkFFT.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 7 };

typedef struct transform {
    char name[64];
    int rank;
    uint64_t size[2], batch;
    bool is_double, is_real;
} transform;

static void *in, *out;

static VkFFTResult prepare(VkFFTApplication *app, const transform *t, uint64_t *bytes,
                           CUdevice *device) {
    VkFFTConfiguration c = VKFFT_ZERO_INIT;
    c.FFTdim = (uint64_t)t->rank;
    for (int k = 0; k < t->rank; k++) c.size[k] = t->size[k];
    c.numberBatches = t->batch;
    c.device = device;
    c.doublePrecision = t->is_double;
    c.isInputFormatted = c.inverseReturnToInputBuffer = 1;
    c.inputBuffer = &in, c.inputBufferSize = bytes;
    c.buffer = &out, c.bufferSize = bytes;
    if (t->is_real) {
        c.performR2C = 1;
        c.inputBufferStride[0] = t->size[0];
        c.bufferStride[0] = t->size[0] / 2 + 1;
    }
    return initializeVkFFT(app, c);
}

static float seconds_of(VkFFTApplication *app, int calls) {
    VkFFTLaunchParams p = VKFFT_ZERO_INIT;
    cudaEvent_t start, stop;
    float ms = 0;
    p.inputBuffer = &in, p.buffer = &out;
    cudaEventCreate(&start), cudaEventCreate(&stop);
    cudaEventRecord(start, 0);
    for (int k = 0; k < calls; k++) VkFFTAppend(app, -1, &p);
    cudaEventRecord(stop, 0);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&ms, start, stop);
    cudaEventDestroy(start), cudaEventDestroy(stop);
    return ms / 1000 / (float)calls;
}

static int compare(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void report(const transform *t) {
    uint64_t points = t->batch, bytes, device_bytes;
    VkFFTApplication app = VKFFT_ZERO_INIT;
    CUdevice device = 0;
    float times[BATCHES];
    for (int k = 0; k < t->rank; k++) points *= t->size[k];
    bytes = device_bytes = points * (t->is_double ? 16 : 8);
    VkFFTResult result = prepare(&app, t, &device_bytes, &device);
    printf("{\"benchmark\":\"transforms\",\"peer\":\"vkfft\",\"transform\":\"%s\",", t->name);
    if (result != VKFFT_SUCCESS) {
        printf("\"problem\":\"%s\"}\n", getVkFFTErrorString(result));
        return;
    }
    const float first = (seconds_of(&app, 3), seconds_of(&app, 3));
    const int calls = 1 + (int)(0.15f / BATCHES / first);
    for (int k = 0; k < BATCHES; k++) times[k] = seconds_of(&app, calls);
    qsort(times, BATCHES, sizeof *times, compare);
    printf("\"points\":%llu,\"seconds\":%.4g,\"fastest\":%.4g,\"slowest\":%.4g,\"rate\":%.4g}\n",
           (unsigned long long)points, times[BATCHES / 2], times[0], times[BATCHES - 1],
           (t->is_real ? 1 : 2) * (double)bytes / times[BATCHES / 2]);
    fflush(stdout);
    deleteVkFFT(&app);
}

static void rows(const char *type, const char *name, uint64_t points, const uint64_t *lengths) {
    for (; *lengths; lengths++) {
        transform t = { .rank = 1, .size = { *lengths }, .batch = points / *lengths };
        t.is_double = !strcmp(type, "complex_double"), t.is_real = !strcmp(name, "rfft");
        snprintf(t.name, sizeof t.name, "%s %s of %llu", type, name,
                 (unsigned long long)*lengths);
        if (t.batch) report(&t);
    }
}

static void squares(uint64_t points) {
    for (uint64_t n = 512; n <= 8192 && n * n <= points; n *= 2) {
        transform t = { .rank = 2, .size = { n, n }, .batch = points / n / n };
        snprintf(t.name, sizeof t.name, "2-D, %llu x %llu", (unsigned long long)n,
                 (unsigned long long)n);
        report(&t);
    }
}

int main(int argc, char **argv) {
    const uint64_t points = 1ull << (argc > 1 ? atoi(argv[1]) : 26);
    const uint64_t all[] = { 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536,
                             1 << 20, 1 << 24, 1000, 1536, 2187, 1009, 10007, 0 };
    const uint64_t some[] = { 256, 1024, 4096, 0 };
    const size_t bytes = 16 * points + (1 << 24);
    cuInit(0);
    if (cudaMalloc(&in, bytes) || cudaMalloc(&out, bytes) || cudaMemset(in, 0, bytes)) {
        fprintf(stderr, "no GPU with %zu bytes\n", 2 * bytes);
        return 3;
    }
    rows("complex_float", "fft", points, all);
    rows("float", "rfft", points, some);
    rows("complex_double", "fft", points, some);
    squares(points);
    return 0;
}
