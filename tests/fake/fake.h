/* fake.h - runs test cases in child processes, each with an environment of its own.
 *
 * A fake driver library is found through LD_LIBRARY_PATH, which counts when a process starts, and
 * a back end probes its library once per process; so every case is the test's own executable
 * started again with the name of the case. A case returns its exit status: 0 is as expected,
 * FAKE_UNSEEN that it saw no failure; the fake makes either FAKE_NOT_REACHED when the call that was
 * to fail was never made. Anything else is a failure.
 *
 * The fakes obey MARE_FAKE_FAIL=entry:n:code (the n-th call of entry, from 1, returns code; with
 * n+ the later ones too) and exit with FAKE_LEAK when the process ends with objects of theirs
 * alive.
 */
#ifndef MARE_FAKE_H
#define MARE_FAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FAKE_NOT_REACHED = 78, FAKE_LEAK = 79, FAKE_UNSEEN = 80 };

typedef struct fake_case {
    const char *name;
    int (*run)(void);
} fake_case;

#define FAKE_EXPECT(condition, ...)                                                                \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

/* The folder of this executable; the fakes lie beside it. */
static inline const char *fake_folder(void) {
    static char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size > 0) path[size] = '\0';
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    return path;
}

/* How many calls of an entry are made to fail, one in a process: each, but under the address
 * sanitizer, where a process is dear, only the first, unless MARE_TESTS=long. */
static inline int fake_most_calls(void) {
#ifdef __SANITIZE_ADDRESS__
    const char *tests = getenv("MARE_TESTS");
    if (!tests || strcmp(tests, "long")) return 1;
#endif
    return 1000;
}

/* Runs case `name` with the libraries of `folder` (beside this executable; NULL for none) and the
 * settings "NAME=value" up to a NULL. Returns the exit status; 128 + number for a signal. */
static inline int fake_start(const char *name, const char *folder, const char *const *settings) {
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", fake_folder(), folder ? folder : "nothing-here");
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return 127;
    if (child == 0) {
        setenv("LD_LIBRARY_PATH", path, 1);
        setenv("MARE_CACHE", "off", 1);
        for (; settings && *settings; settings++)
            putenv((char *)(size_t)*settings);
        execl("/proc/self/exe", "fake", name, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child) return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs the case named on the command line; -1 if there is none. */
static inline int fake_dispatch(int count, char **arguments, const fake_case *cases, size_t size) {
    for (size_t i = 0; count > 1 && i < size; i++)
        if (!strcmp(arguments[1], cases[i].name)) return cases[i].run();
    return -1;
}

#endif
