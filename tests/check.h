/* check.h - asserts for tests in C: silent unless something fails, then file, line and what was
 * there instead.
 *
 * A test ends with `return check_result();`. Exit status 77 is a skip (check_skip prints the
 * reason).
 */
#ifndef CHECK_H
#define CHECK_H

#include "mare.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures;

#define CHECK(condition) check_that(condition, __FILE__, __LINE__, #condition)
/* The call succeeds. */
#define CHECK_OK(call) check_ok(call, __FILE__, __LINE__, #call)
/* The call fails with `status` and its message holds each of the given texts. */
#define CHECK_FAILS(call, status, ...)                                                             \
    check_fails(call, status, (const char *const[]){ __VA_ARGS__, NULL }, __FILE__, __LINE__, #call)
#define CHECK_TEXT(text, expected) check_text(text, expected, __FILE__, __LINE__)
#define CHECK_NUMBER(value, expected)                                                              \
    check_number((double)(value), (double)(expected), __FILE__, __LINE__, #value)

static inline bool check_that(bool good, const char *file, int line, const char *what) {
    if (good) return true;
    check_failures++;
    fprintf(stderr, "%s:%d: %s is false\n", file, line, what);
    return false;
}

static inline bool check_ok(mare_status status, const char *file, int line, const char *what) {
    if (status == MARE_OK) return true;
    check_failures++;
    fprintf(stderr, "%s:%d: %s\n    %s: %s\n", file, line, what, mare_status_name(status),
            mare_error_message());
    return false;
}

static inline void check_fails(mare_status status, mare_status expected, const char *const *texts,
                               const char *file, int line, const char *what) {
    if (status != expected) {
        check_failures++;
        fprintf(stderr, "%s:%d: %s\n    gave %s, expected %s\n", file, line, what,
                mare_status_name(status), mare_status_name(expected));
        return;
    }
    for (; *texts; texts++) {
        if (strstr(mare_error_message(), *texts)) continue;
        check_failures++;
        fprintf(stderr, "%s:%d: %s\n    the message lacks \"%s\": %s\n", file, line, what, *texts,
                mare_error_message());
    }
}

static inline void check_text(const char *text, const char *expected, const char *file, int line) {
    if (!strcmp(text, expected)) return;
    check_failures++;
    fprintf(stderr, "%s:%d: got\n[%s]\nexpected\n[%s]\n", file, line, text, expected);
}

static inline void check_number(double value, double expected, const char *file, int line,
                                const char *what) {
    if (value == expected) return;
    check_failures++;
    fprintf(stderr, "%s:%d: %s is %.17g, expected %.17g\n", file, line, what, value, expected);
}

static inline int check_result(void) {
    CHECK_NUMBER(mare_live_objects(), 0);
    if (check_failures) fprintf(stderr, "%d checks failed\n", check_failures);
    return check_failures ? 1 : 0;
}

static inline int check_skip(const char *reason) {
    printf("skipped: %s\n", reason);
    return 77;
}

#endif
