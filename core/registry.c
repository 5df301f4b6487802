/* registry.c - the back ends there are, what a device's name means, and what a fork leaves of it.
 *
 * A device asked for by name is that device or an error; only "auto" chooses, and never the null
 * back end.
 */
#include "internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const mr_backend *const backends[] = { &mr_backend_cuda, &mr_backend_opencl,
                                              &mr_backend_cpu, &mr_backend_null };
enum { BACKEND_COUNT = sizeof backends / sizeof *backends };

const mr_backend *mr_registry_backend(int index) {
    return index >= 0 && index < BACKEND_COUNT ? backends[index] : NULL;
}

int mare_backend_count(void) { return BACKEND_COUNT; }

/* A driver that does not fit into the address space looks like one that is not there. */
static void blame_limit(mare_backend_info *info) {
    struct rlimit limit;
    char reason[sizeof info->reason];
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return;
    memcpy(reason, info->reason, sizeof reason);
    snprintf(info->reason, sizeof info->reason,
             "address space is limited to %llu MiB (ulimit -v), where its driver may not fit; %.*s",
             (unsigned long long)limit.rlim_cur >> 20, (int)sizeof reason - 100, reason);
}

/* ---- forks ----
 * A driver's threads are not there in the child of a fork, where its calls wait for them for ever,
 * from the time on that it was asked for its devices. */

static atomic_bool is_asked, is_forked; /* in this process; in one that it is a fork of */
static pthread_once_t watched = PTHREAD_ONCE_INIT;

static void begin_child(void) {
    if (atomic_load(&is_asked)) atomic_store(&is_forked, true);
    mr_pool_end_fork(true);
}

static void end_fork(void) { mr_pool_end_fork(false); }

static void watch_forks(void) {
    (void)pthread_atfork(mr_pool_begin_fork, end_fork, begin_child);
}

/* A back end that runs kernels is asked, or has gone. */
static void heed_forks(mare_backend_info *info) {
    atomic_store(&is_asked, true);
    pthread_once(&watched, watch_forks);
    if (!atomic_load(&is_forked) || !info->available) return;
    info->available = info->device_count = 0;
    snprintf(info->reason, sizeof info->reason, "%s", mr_fork_reason);
}

const char mr_fork_reason[] =
    "this process was forked from one that had asked drivers for their devices, and lacks their "
    "threads: fork sooner, or start it anew (in Python: 'spawn' of multiprocessing)";

static mare_status probe(const mr_backend *backend, mare_backend_info *out) {
    memset(out, 0, sizeof *out);
    MR_TRY_WITH(backend->probe(out), "back end '%s'", backend->name);
    memcpy(out->name, backend->name, strlen(backend->name) + 1);
    if (backend->runs_kernels) heed_forks(out);
    if (!out->available && !atomic_load(&is_forked)) blame_limit(out);
    return MARE_OK;
}

mare_status mare_backend_query(int index, mare_backend_info *out) {
    const mr_backend *backend = mr_registry_backend(index);
    if (!out) return mr_fail(MARE_ERROR_ARGUMENT, "mare_backend_query: out is NULL");
    if (!backend)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_backend_query: index %d, there are %d back ends",
                       index, BACKEND_COUNT);
    return probe(backend, out);
}

const mr_backend *mr_registry_find(const char *name, size_t size) {
    for (int i = 0; i < BACKEND_COUNT; i++)
        if (strlen(backends[i]->name) == size && !memcmp(backends[i]->name, name, size))
            return backends[i];
    return NULL;
}

mare_status mr_registry_unknown(const char *what, const char *name) {
    mr_text have = { 0 };
    for (int i = 0; i < BACKEND_COUNT; i++)
        mr_text_format(&have, "%s%s", i ? ", " : "", backends[i]->name);
    mare_status status = mr_fail(MARE_ERROR_UNAVAILABLE, "%s '%s': no such back end (have: %s)",
                                 what, name, mr_text_cstr(&have));
    mr_text_free(&have);
    return status;
}

int mare_device_count(const char *name) {
    const mr_backend *backend = name ? mr_registry_find(name, strlen(name)) : NULL;
    mare_backend_info info;
    return backend && probe(backend, &info) == MARE_OK && info.available ? info.device_count : 0;
}

/* The first GPU of a back end, else its first device. */
static int preferred_device(const mr_backend *backend, int count) {
    mare_device_info info;
    for (int i = 0; i < count; i++)
        if (backend->device_info(i, &info) == MARE_OK && info.kind == MARE_DEVICE_GPU) return i;
    return 0;
}

static mare_status resolve_auto(const mr_backend **backend, int *index) {
    mr_text reasons = { 0 };
    mare_backend_info info;
    mare_status status = MARE_OK;
    for (int i = 0; i < BACKEND_COUNT; i++) {
        if (!backends[i]->runs_kernels) continue;
        status = probe(backends[i], &info);
        if (status != MARE_OK) goto done;
        if (info.available && info.device_count > 0) {
            *backend = backends[i];
            *index = preferred_device(backends[i], info.device_count);
            goto done;
        }
        if (!strcmp(info.reason, mr_fork_reason)) {
            status = mr_fail(MARE_ERROR_UNAVAILABLE, "device 'auto': %s", mr_fork_reason);
            goto done;
        }
        mr_text_format(&reasons, "%s%s: %s", reasons.size ? "; " : "", info.name, info.reason);
    }
    status = mr_fail(MARE_ERROR_UNAVAILABLE, "device 'auto': none found (%s)",
                     mr_text_cstr(&reasons));
done:
    mr_text_free(&reasons);
    return status;
}

/* The number after the colon; -1 if it is none. */
static int parse_index(const char *colon) {
    if (!colon) return 0;
    char *end = NULL;
    if (colon[1] < '0' || colon[1] > '9') return -1;
    unsigned long value = strtoul(colon + 1, &end, 10);
    return *end || value > 65535 ? -1 : (int)value;
}

mare_status mr_registry_resolve(const char *name, const mr_backend **backend, int *index) {
    if (!name || !*name)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "device '': a name is needed, such as auto, cuda:0 or opencl:1");
    if (!strcmp(name, "auto")) return resolve_auto(backend, index);
    const char *colon = strchr(name, ':');
    *backend = mr_registry_find(name, colon ? (size_t)(colon - name) : strlen(name));
    if (!*backend) return mr_registry_unknown("device", name);
    *index = parse_index(colon);
    if (*index < 0)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "device '%s': what follows the colon must be a number from 0", name);
    mare_backend_info info;
    MR_TRY_WITH(probe(*backend, &info), "device '%s'", name);
    if (!info.available)
        return mr_fail(MARE_ERROR_UNAVAILABLE, "device '%s': %s", name, info.reason);
    if (*index >= info.device_count)
        return mr_fail(MARE_ERROR_UNAVAILABLE, "device '%s': %s has %d device%s, counted from 0",
                       name, (*backend)->name, info.device_count,
                       info.device_count == 1 ? "" : "s");
    return MARE_OK;
}

void mare_thread_claim(int32_t claimed) {
    for (int i = 0; i < BACKEND_COUNT; i++)
        if (backends[i]->thread_claim) backends[i]->thread_claim(claimed != 0);
}
