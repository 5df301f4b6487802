/* find.c - the library of programs that were compiled with Mare: programs.c lists them. */
#include "backends/cpu_programs.h"
#include "key.h"

#include <stddef.h>

extern const mr_cpu_program *const mr_programs[];   /* NULL behind the last one */

const mr_cpu_program *mr_programs_find(const char *text) {
    uint64_t key = key_of(text);
    for (size_t k = 0; mr_programs[k]; k++)
        if (mr_programs[k]->key == key) return mr_programs[k];
    return NULL;
}
