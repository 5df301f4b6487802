/* object.c - reference counts and the count of live handles, which every test brings back to zero.
 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>

static atomic_ullong live_objects;

void *mr_object_new(size_t size, const char *label) {
    mr_object *object = calloc(1, size);
    if (!object) {
        mr_fail(MARE_ERROR_MEMORY, "'%s': out of host memory for a handle", label ? label : "");
        return NULL;
    }
    atomic_init(&object->refs, 1);
    snprintf(object->label, sizeof object->label, "%s", label ? label : "");
    atomic_fetch_add(&live_objects, 1);
    return object;
}

void mr_object_retain(mr_object *object) { atomic_fetch_add(&object->refs, 1); }

bool mr_object_unref(mr_object *object) { return atomic_fetch_sub(&object->refs, 1) == 1; }

void mr_object_delete(mr_object *object) {
    if (!object) return;
    atomic_fetch_sub(&live_objects, 1);
    free(object);
}

uint64_t mare_live_objects(void) { return atomic_load(&live_objects); }
