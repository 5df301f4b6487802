/* cpu.h - what the files of the processor's back end share. */
#ifndef MARE_CPU_H
#define MARE_CPU_H

#include "cpu_programs.h"
#include "host.h"

/* cpu_threads.c: threads that share the groups of a launch; NULL if there is no memory. */
typedef struct mr_cpu_team mr_cpu_team;
mr_cpu_team *mr_cpu_team_open(unsigned count);
void mr_cpu_team_close(mr_cpu_team *team);
/* Returns when all groups have been run; false if one could not be. Launches of several threads of
 * the program come one after the other. */
bool mr_cpu_team_run(mr_cpu_team *team, const mr_cpu_program *program, const mr_cpu_kernel *kernel,
                     const mr_dispatch *launch);

#endif
