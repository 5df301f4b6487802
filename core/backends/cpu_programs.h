/* cpu_programs.h - what a library of compiled programs (bindings/programs) shows to cpu.c. */
#ifndef MARE_CPU_PROGRAMS_H
#define MARE_CPU_PROGRAMS_H

#include <stdint.h>

/* Calls a kernel for one work-item: argument i begins at word words[i] of `values`. */
typedef void mr_cpu_item(const uint64_t *values, const uint32_t *words);

typedef struct mr_cpu_kernel {
    const char *name;               /* NULL behind the last one of a program */
    mr_cpu_item *item;
    int32_t waits;                  /* it has barriers */
    int32_t is_fast;                /* numbers that are not normal count as 0 */
} mr_cpu_kernel;

typedef struct mr_cpu_shape { uint32_t groups[3], group[3]; } mr_cpu_shape;

/* Runs groups first .. end - 1 of a launch, x fastest, on the calling thread; 0 if there is no
 * memory for their barriers. */
typedef int mr_cpu_run(const mr_cpu_kernel *kernel, const uint64_t *values, const uint32_t *words,
                       const mr_cpu_shape *shape, uint64_t first, uint64_t end);

typedef struct mr_cpu_program {
    uint64_t key;                   /* of its text: bindings/programs/key.h */
    const mr_cpu_kernel *kernels;
    mr_cpu_run *run;
} mr_cpu_program;

/* mr_programs_find: the program of a text with its prelude, which is zero-terminated; NULL if it is
 * not in the library. */
typedef const mr_cpu_program *mr_programs_find_function(const char *text);
const mr_cpu_program *mr_programs_find(const char *text) __attribute__((visibility("default")));

/* bindings/programs/run.c */
mr_cpu_run mr_programs_run;

#endif
