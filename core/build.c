/* build.c - from the complete text of a program to a loaded binary: the cache, and the compiler.
 *
 * A vendor that keeps what it compiles, as PoCL does, is asked for no binary: PoCL would compile
 * each kernel for groups of any size, beside the size that it is launched with.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long this process waits for another one that compiles the same, and how often it looks. */
enum { WAIT_LIMIT_MS = 60000, POLL_MS = 5 };

static const char *const maths[] = { "strict", "fast", "relaxed" };

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

mare_status mr_build_key(mare_program *program) {
    mare_device *device = program->device;
    mr_build *build = program->build;
    char native[4096] = "";
    mr_text *key = &build->key;
    if (build->text.failed) return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    MR_TRY(device->backend->program_key(device->native, build->language, native, sizeof native));
    mr_text_format(key, "mare %s\n%s\n%s\n%s %s\n%s\n", MARE_VERSION, device->backend->name, native,
                   mr_language_names[build->language], maths[build->math], build->options);
    if (build->instance) mr_text_format(key, "instance %s\n", build->instance);
    mr_text_append(key, mr_text_cstr(&build->text), build->text.size);
    return key->failed ? mr_fail(MARE_ERROR_MEMORY, "out of host memory") : MARE_OK;
}

/* Returns whether processes share this program by a cache; its lock lets one compile for all. */
static bool is_shared(const mr_build *build) {
    return build->is_keepable && *mare_cache_path();
}

static bool is_kept(const mare_program *program) {
    return is_shared(program->build) && !program->device->info.keeps_programs;
}

static void tell(const mare_program *program, double began) {
    mr_log(MARE_LOG_DEBUG, "program '%s' on %s: %s in %.1f ms", program->build->name,
           program->device->info.name, program->cached ? "loaded" : "compiled", now_ms() - began);
}

/* False, with nothing loaded, on a miss; a binary that the driver refuses is a miss too. */
static bool load_cached(mare_program *program) {
    mr_blob binary = { 0 };
    mare_device *device = program->device;
    const mr_text *key = &program->build->key;
    if (!is_kept(program)) return false;
    program->cached = mr_cache_load(key->data, key->size, &binary);
    if (program->cached &&
        device->backend->program_load(device->native, &binary, &program->native) != MARE_OK) {
        program->cached = false;
        mr_clear_error();
    }
    free(binary.data);
    return program->cached;
}

/* Waits while another process compiles the same. False: the caller compiles, under *lock if there
 * can be one. The limit is for an owner of the lock that was stopped. */
static bool await_cached(mare_program *program, int *lock) {
    const struct timespec pause = { .tv_nsec = POLL_MS * 1000000 };
    const mr_text *key = &program->build->key;
    for (int waited = 0;; waited += POLL_MS) {
        bool busy = mr_cache_lock(key->data, key->size, lock);
        if (load_cached(program)) return true;
        if (busy && waited < WAIT_LIMIT_MS) {
            nanosleep(&pause, NULL);
            continue;
        }
        /* The vendor keeps the program now, and those who wait can load it at the same time. */
        if (waited && !is_kept(program)) {
            mr_cache_unlock(*lock);
            *lock = -1;
        }
        return false;
    }
}

static mare_status compile(mare_program *program, mr_blob *binary) {
    mare_device *device = program->device;
    const mr_build *build = program->build;
    const mr_source source = { .text = mr_text_cstr(&build->text),
                               .name = build->name,
                               .options = build->options,
                               .language = build->language,
                               .math = build->math,
                               .instance = build->instance,
                               .is_kept = is_kept(program) };
    mr_blob log = { 0 };
    mare_status status = device->backend->program_build(device->native, &source, binary,
                                                        &program->native, &log);
    if (log.data) mr_text_append(&program->log, log.data, strnlen(log.data, log.size));
    free(log.data);
    MR_TRY(status);
    if (program->native.u64) return MARE_OK;
    return device->backend->program_load(device->native, binary, &program->native);
}

static mare_status run(mare_program *program) {
    mr_build *build = program->build;
    mr_blob binary = { 0 };
    int lock = -1;
    double began = now_ms();
    mare_status status = MARE_OK;
    if (is_shared(build) && await_cached(program, &lock)) goto done;
    status = compile(program, &binary);
    if (status == MARE_OK && is_kept(program))
        mr_cache_store(build->key.data, build->key.size, build->name, program->device->info.model,
                       &binary);
done:
    if (status == MARE_OK) tell(program, began);
    mr_cache_unlock(lock);
    free(binary.data);
    return status;
}

mare_status mr_build_run(mare_program *program) {
    mare_status status = run(program);
    if (status != MARE_OK)
        mr_device_note(program->device, mr_annotate(status, "program '%s'", program->build->name));
    mr_build_free(program);
    return status;
}

void mr_build_find(mare_program *program) {
    double began = now_ms();
    if (!load_cached(program)) return;
    tell(program, began);
    mr_build_free(program);
    mr_reuse_enter(program);
}

void mr_build_free(mare_program *program) {
    mr_build *build = program->build;
    if (!build) return;
    mr_text_free(&build->text);
    mr_text_free(&build->key);
    free(build->name);
    free(build->options);
    free(build->instance);
    free(build);
    program->build = NULL;
}
