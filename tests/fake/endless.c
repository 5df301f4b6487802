/* endless.c - a library for LD_PRELOAD in which H5Fopen() never returns, as libhdf5 does on some
 * damaged files: it computes, or waits if MARE_ENDLESS=idle. It first writes the line "inside".
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int64_t H5Fopen(const char *path, unsigned flags, int64_t access);

int64_t H5Fopen(const char *path, unsigned flags, int64_t access) {
    const char *how = getenv("MARE_ENDLESS");
    (void)path, (void)flags, (void)access;
    if (write(STDERR_FILENO, "inside\n", 7) < 0) return -1;
    for (volatile int is_idle = how && !strcmp(how, "idle");;)
        if (is_idle) pause();
}
