/* compile.c - a library that has every program: it compiles each when it is asked for, by a
 * compiler of this machine, and leaves its C in the folder MARE_PROGRAMS_FOLDER. It is for finding
 * out which programs scenarios want (make.sh), and for trying the processor's path by hand. */
#include "backends/cpu_programs.h"
#include "key.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (!file) return 0;
    int done = fputs(text, file) >= 0;
    return fclose(file) == 0 && done;
}

/* Compiles FOLDER/KEY.so, unless another process has; notes that it is used. */
static int make(const char *folder, unsigned long long key, const char *text) {
    char path[4096], command[4200];
    snprintf(path, sizeof path, "%s/%016llx.used", folder, key);
    if (!write_file(path, "")) return 0;
    snprintf(path, sizeof path, "%s/%016llx.so", folder, key);
    if (access(path, R_OK) == 0) return 1;
    snprintf(path, sizeof path, "%s/%016llx.%d.txt", folder, key, (int)getpid());
    snprintf(command, sizeof command, "\"$MARE_PROGRAMS_MAKE\" one '%s' %016llx %d >&2", folder,
             key, (int)getpid());
    return write_file(path, text) && system(command) == 0;
}

const mr_cpu_program *mr_programs_find(const char *text) {
    const char *folder = getenv("MARE_PROGRAMS_FOLDER");
    char path[4096], name[64];
    unsigned long long key = key_of(text);
    if (!folder || !make(folder, key, text)) return NULL;
    snprintf(path, sizeof path, "%s/%016llx.so", folder, key);
    snprintf(name, sizeof name, "mr_program_%016llx", key);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    return library ? dlsym(library, name) : NULL;
}
