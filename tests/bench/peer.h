/* peer.h - what the benchmarks compare Mare with: the same work in C on the vendor's API, in the
 * same process and so on the same clocks. One library for each vendor; LuaJIT reads the marked
 * part.
 *
 * Times are seconds of the host for all of `count`; negative: a vendor's call failed.
 */
#ifndef MARE_BENCH_PEER_H
#define MARE_BENCH_PEER_H

#pragma GCC visibility push(default)
/* cdef:begin */
const char *peer_open(int device);              /* NULL, or what failed */
double peer_launch(int arguments, int count);   /* queueing only; 2 or 16 arguments */
double peer_same(const void *launch, int count);    /* the objects of Mare's launch instead */
double peer_plan(int kernels, int count);       /* a graph, or a list of launches, and the wait */
/* Mare's launch, then one float of its first argument into pinned memory. */
double peer_download(const void *launch, int count);
double peer_copy(int count);                    /* 4 KiB from pinned memory, queued, and the wait */
double peer_alloc(unsigned long bytes, int count);  /* memory taken and given back */
double peer_compile(const char *source);        /* to a loaded binary, which is kept */
double peer_load(int count);                    /* that binary again, from a file */
double peer_context(int count);                 /* making the context current and undoing it */
void peer_close(void);
/* cdef:end */
#pragma GCC visibility pop

#include <time.h>

static inline double peer_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
