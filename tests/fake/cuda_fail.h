/* cuda_fail.h - failures on demand, for the fake libcuda and libnvrtc. */
#ifndef MARE_FAKE_CUDA_FAIL_H
#define MARE_FAKE_CUDA_FAIL_H

#include "fake.h"

#include <stdbool.h>

/* The code with which this call of `entry` shall fail, else 0: MARE_FAKE_FAIL is entry:n:code, or
 * entry:n+:code for the n-th call and all later ones. */
static inline unsigned fake_failure(const char *entry) {
    static unsigned long calls;
    const char *wish = getenv("MARE_FAKE_FAIL");
    size_t size = strlen(entry);
    if (!wish || strncmp(wish, entry, size) || wish[size] != ':') return 0;
    char *end = NULL;
    unsigned long number = strtoul(wish + size + 1, &end, 10);
    bool later = *end == '+';
    if (++calls != number && !(later && calls > number)) return 0;
    return (unsigned)strtoul(end + 1 + later, NULL, 10);
}

#endif
