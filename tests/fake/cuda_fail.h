/* cuda_fail.h - failures on demand, for the fake libcuda and libnvrtc. */
#ifndef MARE_FAKE_CUDA_FAIL_H
#define MARE_FAKE_CUDA_FAIL_H

#include "fake.h"

/* The code with which this call of `entry` shall fail, else 0: MARE_FAKE_FAIL is entry:n:code. */
static inline unsigned fake_failure(const char *entry) {
    static unsigned long calls;
    const char *wish = getenv("MARE_FAKE_FAIL");
    size_t size = strlen(entry);
    if (!wish || strncmp(wish, entry, size) || wish[size] != ':') return 0;
    char *end = NULL;
    unsigned long number = strtoul(wish + size + 1, &end, 10);
    return ++calls == number ? (unsigned)strtoul(end + 1, NULL, 10) : 0;
}

#endif
