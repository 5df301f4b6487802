/* resident.h - that memory does not grow: resident bytes of this process. Sanitizers keep freed
 * memory back, so under them it is always 0; they find what leaks by themselves. */
#ifndef RESIDENT_H
#define RESIDENT_H

#include <stdio.h>
#include <unistd.h>

/* Clang's; gcc defines the two names itself, and 14 has __has_feature as well. */
#if defined __has_feature && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__
#elif __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__
#endif
#endif

static inline long resident_bytes(void) {
    long resident = 0;
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %ld", &resident) != 1) resident = -1;
    if (file) fclose(file);
#endif
    return resident * sysconf(_SC_PAGESIZE);
}

#endif
