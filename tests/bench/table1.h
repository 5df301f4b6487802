/* table1.h - a zoom in plain C, beside which `mare bench table1` sets Mare's. Each library of
 * peer.h has one; LuaJIT reads the marked part.
 *
 * Frames are computed on one stream and come down on another into pinned memory, two at a time.
 * What stands between host:begin and host:end are the lines of code that the table counts: not how
 * the device and its first stream come about, nor what is released at the end.
 * Both sides take times on the device between two markers each, at the ends of what is before them,
 * and those of the host around the same: setting the arguments that change and the launch, with
 * what they are set to at hand; and queueing the copy.
 */
#ifndef MARE_BENCH_TABLE1_H
#define MARE_BENCH_TABLE1_H

#pragma GCC visibility push(default)
/* cdef:begin */
struct table1 {
    const char *source;                 /* kernel `escape` of kernels/mandelbrot/escape.krn */
    int size, limit, frames;            /* points along a side, iterations, frames */
    float centre_x, centre_y;
    const float *views;                 /* left, top and step of each frame */
    unsigned *last;                     /* out: escape times of the last frame */
    double compile, wall;               /* out: seconds; wall: launching first to last in memory */
    double *launch, *download;          /* out, of each frame: seconds of the host to queue them */
    double *kernel, *copy;              /* out, of each frame: seconds on the device */
};
const char *table1_run(int device, struct table1 *t);      /* NULL, or what failed */
/* cdef:end */
#pragma GCC visibility pop

#define SLOTS 2
#define GROUP_X 8
#define GROUP_Y 16

#endif
