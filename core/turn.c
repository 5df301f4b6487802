/* turn.c - first launches of a kernel, by several processes of one run.
 *
 * PoCL compiles a kernel for its device when a group size is launched for the first time, and keeps
 * that on disk. Of processes that come there at once each would compile the same, so with
 * MARE_TURNS=1 one launches and waits for the end under the lock of the cache, and then the next
 * one, which finds what the first has compiled.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How long to wait for another process, which may have been stopped, and how often to look. */
enum { WAIT_LIMIT_MS = 60000, POLL_MS = 5 };

bool mr_turn_is_due(const mare_launch *launch) {
    if (launch->has_run || !launch->device->info.keeps_programs) return false;
    const char *wish = getenv("MARE_TURNS");
    return wish && !strcmp(wish, "1");
}

static mare_status make_key(const mare_launch *launch, mr_text *key) {
    const mr_dispatch *l = &launch->dispatch;
    const mr_text *source = &launch->kernel->program->source;
    mr_text_format(key, "turn\n%s\n%u %u %u\n", l->name, l->group[0], l->group[1], l->group[2]);
    mr_text_append(key, mr_text_cstr(source), source->size);
    return key->failed ? mr_fail(MARE_ERROR_MEMORY, "out of host memory") : MARE_OK;
}

static void await_turn(const mr_text *key, int *lock) {
    const struct timespec pause = { .tv_nsec = POLL_MS * 1000000 };
    for (int waited = 0; mr_cache_lock(key->data, key->size, lock) && waited < WAIT_LIMIT_MS;
         waited += POLL_MS)
        nanosleep(&pause, NULL);
}

mare_status mr_turn_run(mare_launch *launch, mr_native stream) {
    const mare_device *device = launch->device;
    mr_text key = { 0 };
    int lock = -1;
    mare_status status = make_key(launch, &key);
    if (status == MARE_OK) {
        await_turn(&key, &lock);
        status = device->backend->launch_run(device->native, stream, &launch->dispatch);
    }
    if (status == MARE_OK) status = device->backend->stream_wait(device->native, stream);
    mr_cache_unlock(lock);
    mr_text_free(&key);
    launch->has_run = status == MARE_OK;
    return status;
}
