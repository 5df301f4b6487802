/* key.h - by what a program is found: all lines of its text, but for those that say where a line
 * comes from, as no folder is to matter. */
#ifndef MARE_PROGRAMS_KEY_H
#define MARE_PROGRAMS_KEY_H

#include <stdint.h>
#include <string.h>

static inline uint64_t key_of(const char *text) {
    uint64_t key = 14695981039346656037u;       /* FNV-1a */
    while (*text) {
        size_t size = strcspn(text, "\n");
        if (strncmp(text, "#line ", 6) != 0)
            for (size_t k = 0; k <= size && text[k]; k++)
                key = (key ^ (unsigned char)text[k]) * 1099511628211u;
        text += size + (text[size] == '\n');
    }
    return key;
}

#endif
