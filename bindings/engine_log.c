/* engine_log.c - the log of an engine: pieces of text become lines, which a function of C takes
 * at once or which wait in a ring until C asks. The oldest go first when nobody does. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = sizeof((engine_log *)0)->lines / sizeof(struct engine_line) };

void engine_log_open(mare_engine *engine) { pthread_mutex_init(&engine->queue.lock, NULL); }

void engine_log_close(mare_engine *engine) {
    engine_log *queue = &engine->queue;
    for (size_t i = 0; i < LINES; i++) free(queue->lines[i].text);
    for (size_t i = 0; i <= MARE_LOG_DEBUG; i++) free(queue->partial[i]);
    pthread_mutex_destroy(&queue->lock);
}

/* Takes `text` over. */
static void wait_in_queue(engine_log *queue, uint32_t level, char *text) {
    pthread_mutex_lock(&queue->lock);
    if (queue->written - queue->taken == LINES) queue->taken++;
    struct engine_line *line = &queue->lines[queue->written++ % LINES];
    free(line->text);
    *line = (struct engine_line){ level, text };
    pthread_mutex_unlock(&queue->lock);
}

static void put_line(mare_engine *engine, uint32_t level, const char *text, size_t size) {
    char *line = strndup(text, size);
    if (!line) return;
    if (!engine->log) {
        wait_in_queue(&engine->queue, level, line);
        return;
    }
    engine->log(engine->log_context, level, line);
    free(line);
}

/* Adds to the unfinished line; what does not fit in memory is lost. */
static void put_partial(engine_log *queue, uint32_t level, const char *text, size_t size) {
    char *before = queue->partial[level];
    size_t length = before ? strlen(before) : 0;
    char *grown = realloc(before, length + size + 1);
    if (!grown) return;
    memcpy(grown + length, text, size);
    grown[length + size] = '\0';
    queue->partial[level] = grown;
}

static void put_end(mare_engine *engine, uint32_t level) {
    char *line = engine->queue.partial[level];
    engine->queue.partial[level] = NULL;
    put_line(engine, level, line ? line : "", line ? strlen(line) : 0);
    free(line);
}

static void put_text(mare_engine *engine, uint32_t level, const char *text, size_t size) {
    const char *end;
    while ((end = memchr(text, '\n', size))) {
        put_partial(&engine->queue, level, text, (size_t)(end - text));
        put_end(engine, level);
        size -= (size_t)(end + 1 - text);
        text = end + 1;
    }
    if (size) put_partial(&engine->queue, level, text, size);
}

void engine_log_flush(mare_engine *engine) {
    for (uint32_t level = 0; level <= MARE_LOG_DEBUG; level++)
        if (engine->queue.partial[level]) put_end(engine, level);
}

int engine_home_write(lua_State *L) {
    static const char *const names[] = { "print", "warn", NULL };
    uint32_t level = luaL_checkoption(L, 1, NULL, names) ? MARE_LOG_WARN : MARE_LOG_INFO;
    size_t size;
    const char *text = luaL_checklstring(L, 2, &size);
    put_text(engine_of(L), level, text, size);
    return 0;
}

int engine_home_log(lua_State *L) {
    static const char *const names[] = { "off", "error", "warn", "info", "debug", NULL };
    uint32_t level = (uint32_t)luaL_checkoption(L, 1, "info", names);
    size_t size;
    const char *text = luaL_checklstring(L, 2, &size);
    put_line(engine_of(L), level, text, size);
    return 0;
}

int mare_engine_log_next(mare_engine *engine, uint32_t *level, char *text, uint64_t size) {
    if (!engine || !level || !text || !size) return 0;
    engine_log *queue = &engine->queue;
    pthread_mutex_lock(&queue->lock);
    int some = queue->taken < queue->written;
    if (some) {
        const struct engine_line *line = &queue->lines[queue->taken++ % LINES];
        *level = line->level;
        snprintf(text, (size_t)size, "%s", line->text);
    }
    pthread_mutex_unlock(&queue->lock);
    return some;
}
