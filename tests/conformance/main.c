/* main.c - `conformance PART` runs a part; without one it lists them. */
#include "devices.h"

char *const *part_arguments;

#define ENTRY(name) { #name, part_##name },
static const struct {
    const char *name;
    int (*run)(void);
} parts[] = { PARTS(ENTRY) };

int main(int count, char **arguments) {
    const char *wanted = count > 1 ? arguments[1] : NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!wanted) puts(parts[i].name);
        else if (strcmp(wanted, parts[i].name) == 0) {
            part_arguments = arguments + 2;
            return parts[i].run();
        }
    }
    if (wanted) fprintf(stderr, "conformance: no part '%s'\n", wanted);
    return wanted ? 2 : 0;
}
