/* object.c - reference counts, and the list of live handles, which every test brings back to
 * nothing. */
#include "internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    mr_object *oldest, *newest;
    uint64_t count;
} live = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void link_newest(mr_object *object) {
    pthread_mutex_lock(&live.lock);
    object->before = live.newest;
    object->after = NULL;
    if (live.newest) live.newest->after = object;
    else live.oldest = object;
    live.newest = object;
    live.count++;
    pthread_mutex_unlock(&live.lock);
}

void mr_object_end(mr_object *object) {
    pthread_mutex_lock(&live.lock);
    if (object->before) object->before->after = object->after;
    else live.oldest = object->after;
    if (object->after) object->after->before = object->before;
    else live.newest = object->before;
    live.count--;
    pthread_mutex_unlock(&live.lock);
}

void *mr_line_alloc(size_t size) {
    const size_t lines = (size + MR_LINE_BYTES - 1) / MR_LINE_BYTES;
    void *memory = aligned_alloc(MR_LINE_BYTES, lines * MR_LINE_BYTES);
    return memory ? memset(memory, 0, size) : NULL;
}

void mr_object_begin(mr_object *object, const char *kind, const char *label) {
    atomic_init(&object->refs, 1);
    object->kind = kind;
    mr_text_cut(object->label, sizeof object->label, label);
    link_newest(object);
}

static void *begin(mr_object *object, const char *kind, const char *label) {
    if (!label) label = "";
    if (object) mr_object_begin(object, kind, label);
    else mr_fail(MARE_ERROR_MEMORY, "%s '%s': out of host memory for a handle", kind, label);
    return object;
}

void *mr_object_new(size_t size, const char *kind, const char *label) {
    return begin(calloc(1, size), kind, label);
}

void *mr_object_new_on_line(size_t size, const char *kind, const char *label) {
    return begin(mr_line_alloc(size), kind, label);
}

void mr_object_retain(mr_object *object) { atomic_fetch_add(&object->refs, 1); }

bool mr_object_retain_living(mr_object *object) {
    int refs = atomic_load(&object->refs);
    while (refs && !atomic_compare_exchange_weak(&object->refs, &refs, refs + 1)) {}
    return refs != 0;
}

bool mr_object_unref(mr_object *object) { return atomic_fetch_sub(&object->refs, 1) == 1; }

void mr_object_delete(mr_object *object) {
    if (!object) return;
    mr_object_end(object);
    free(object);
}

uint64_t mare_live_objects(void) {
    pthread_mutex_lock(&live.lock);
    uint64_t count = live.count;
    pthread_mutex_unlock(&live.lock);
    return count;
}

static void describe(const mr_object *object, mare_object_info *out) {
    *out = (mare_object_info){ .bytes = object->bytes,
                               .refs = (uint32_t)atomic_load(&object->refs) };
    mr_text_cut(out->kind, sizeof out->kind, object->kind);
    memcpy(out->label, object->label, sizeof out->label);
}

mare_status mare_object_list(mare_object_info *out, uint64_t capacity, uint64_t *count) {
    if (!count || (!out && capacity))
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_object_list: out and count are required");
    pthread_mutex_lock(&live.lock);
    const mr_object *object = live.oldest;
    for (uint64_t i = 0; object && i < capacity; i++, object = object->after)
        describe(object, &out[i]);
    *count = live.count;
    pthread_mutex_unlock(&live.lock);
    return MARE_OK;
}
