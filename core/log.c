/* log.c - what core has to say beside errors. Nothing is written anywhere: a function of the
 * program takes each line, or the last ones wait in a ring until it asks for them, and the oldest
 * are dropped when nobody does.
 */
#include "internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 128, WIDTH = 512 };

static struct {
    pthread_mutex_t lock;
    uint64_t taken, written;        /* lines so far; line n lies in slot n % LINES */
    uint64_t dropped;               /* since the program was last told */
    mare_log_function *function;    /* takes lines in the place of the ring */
    void *context;
    uint32_t levels[LINES];
    char text[LINES][WIDTH];
} ring = { .lock = PTHREAD_MUTEX_INITIALIZER };

static atomic_uint threshold;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Of the ring, which is locked. */
static void hand_over(uint32_t level, const char *format, va_list arguments) {
    char text[WIDTH];
    vsnprintf(text, sizeof text, format, arguments);
    ring.function(ring.context, level, text);
}

static void keep(uint32_t level, const char *format, va_list arguments) {
    if (ring.written - ring.taken == LINES) {
        ring.taken++;
        ring.dropped++;
    }
    uint64_t slot = ring.written++ % LINES;
    ring.levels[slot] = level;
    vsnprintf(ring.text[slot], WIDTH, format, arguments);
}

static void append(uint32_t level, const char *format, va_list arguments) {
    pthread_mutex_lock(&ring.lock);
    if (ring.function) hand_over(level, format, arguments);
    else keep(level, format, arguments);
    pthread_mutex_unlock(&ring.lock);
}

static void log_always(uint32_t level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void log_always(uint32_t level, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(level, format, arguments);
    va_end(arguments);
}

static void read_setting(void) {
    static const char *const names[] = { "off", "error", "warn", "info", "debug" };
    const char *wish = getenv("MARE_LOG");
    uint32_t level = MARE_LOG_OFF;
    if (!wish || !*wish) wish = "warn";
    while (level <= MARE_LOG_DEBUG && strcmp(wish, names[level]) != 0) level++;
    atomic_store(&threshold, level <= MARE_LOG_DEBUG ? level : MARE_LOG_WARN);
    if (level > MARE_LOG_DEBUG)
        log_always(MARE_LOG_WARN,
                   "MARE_LOG='%s' is no level (allowed: off, error, warn, info, debug)", wish);
}

void mr_log(uint32_t level, const char *format, ...) {
    pthread_once(&once, read_setting);
    if (level > atomic_load_explicit(&threshold, memory_order_relaxed)) return;
    va_list arguments;
    va_start(arguments, format);
    append(level, format, arguments);
    va_end(arguments);
}

void mare_log_set(uint32_t level) {
    pthread_once(&once, read_setting);
    atomic_store(&threshold, level > MARE_LOG_DEBUG ? MARE_LOG_DEBUG : level);
}

void mare_log_listen(mare_log_function *function, void *context) {
    pthread_mutex_lock(&ring.lock);
    ring.function = function;
    ring.context = context;
    pthread_mutex_unlock(&ring.lock);
}

int mare_log_next(uint32_t *level, char *text, uint64_t size) {
    if (!level || !text || !size) return 0;
    pthread_mutex_lock(&ring.lock);
    bool some = ring.dropped || ring.taken < ring.written;
    uint64_t slot = ring.taken % LINES;
    if (ring.dropped) {
        *level = MARE_LOG_WARN;
        snprintf(text, (size_t)size, "%llu lines of the log were dropped",
                 (unsigned long long)ring.dropped);
        ring.dropped = 0;
    } else if (some) {
        *level = ring.levels[slot];
        snprintf(text, (size_t)size, "%s", ring.text[slot]);
        ring.taken++;
    }
    pthread_mutex_unlock(&ring.lock);
    return some;
}
