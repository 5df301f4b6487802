/* reuse.c - the programs of a device that somebody holds, by the key of the cache: who asks for the
 * same again gets the same handle, and nothing is compiled, linked or loaded once more.
 *
 * The list holds no reference: a program leaves it with its last holder, or when it fails. Those
 * that may have variables of their own, which two users must not share, are not in it.
 */
#include "internal.h"

#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static mare_program **bucket_of(const mare_program *program) {
    return &program->device->programs[program->key[0] % MR_PROGRAM_BUCKETS];
}

/* ---- which programs ---- */

static bool has_word(const mare_program *program, const char *word) {
    if (strstr(mr_text_cstr(&program->source), word)) return true;
    for (uint64_t i = 0; i < program->define_count; i++)
        if (strstr(program->defines[i].value, word)) return true;
    return false;
}

/* Those of functions are static. From version 2 on OpenCL C has variables of programs, too, and
 * CUDA such without a word of their own under an option. */
static bool may_have_variables(const mare_program *program) {
    return program->language != MARE_LANGUAGE_MARE || has_word(program, "__device__") ||
           has_word(program, "__constant__") || has_word(program, "__managed__") ||
           has_word(program, "static") || strstr(program->options, "-cl-std=") ||
           strstr(program->options, "-default-device") ||
           strstr(program->options, "-device-as-default-execution-space");
}

static bool is_same(const mare_program *a, const mare_program *b) {
    return a->key[0] == b->key[0] && a->key[1] == b->key[1] && a->source.size == b->source.size &&
           !memcmp(a->source.data, b->source.data, a->source.size);
}

/* ---- the list; under the lock ---- */

static void leave(mare_program *program) {
    if (!program->reuse_link) return;
    *program->reuse_link = program->reuse_next;
    if (program->reuse_next) program->reuse_next->reuse_link = program->reuse_link;
    program->reuse_link = NULL;
}

static void enter(mare_program *program) {
    mare_program **first = bucket_of(program);
    program->reuse_next = *first;
    program->reuse_link = first;
    if (*first) (*first)->reuse_link = &program->reuse_next;
    *first = program;
}

/* ---- what the rest of core calls ---- */

mare_program *mr_reuse_find(mare_program *program) {
    const mr_build *build = program->build;
    if (!build->is_keepable || may_have_variables(program)) return NULL;
    program->key[0] = mr_hash(build->key.data, build->key.size, 0xcbf29ce484222325u);
    program->key[1] = mr_hash(build->key.data, build->key.size, 0x9e3779b97f4a7c15u);
    program->is_reusable = true;
    pthread_mutex_lock(&lock);
    mare_program *found = *bucket_of(program);
    while (found && !(is_same(found, program) && mr_object_retain_living(&found->object)))
        found = found->reuse_next;
    pthread_mutex_unlock(&lock);
    return found;
}

void mr_reuse_enter(mare_program *program) {
    if (!program->is_reusable) return;
    pthread_mutex_lock(&lock);
    enter(program);
    pthread_mutex_unlock(&lock);
}

void mr_reuse_leave(mare_program *program) {
    if (!program->is_reusable) return;
    pthread_mutex_lock(&lock);
    leave(program);
    pthread_mutex_unlock(&lock);
}

bool mr_reuse_abandon(mare_program *program) {
    pthread_mutex_lock(&lock);
    const bool is_abandoned = atomic_load(&program->object.refs) == 1;
    if (is_abandoned) leave(program);
    pthread_mutex_unlock(&lock);
    return is_abandoned;
}
