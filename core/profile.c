/* profile.c - what ran when: two events around every piece of work on a device.
 *
 * Events are few and reused: when all are taken, the oldest piece is waited for. Vendors tell a
 * distance between events as a float, so each start is measured from the start before it and the
 * distances are added up in double. An NVTX range is put around the queueing of each piece where a
 * library for them is found, so that Mare's names appear in NVIDIA's own tools.
 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pieces whose times are not known yet. */
enum { PENDING = 1024 };

struct name {
    char text[128];                 /* of a kernel, else what the operation is */
    const mare_kernel *kernel;      /* only compared; NULL: no kernel */
    uint32_t registers, resident;
    mare_profile_shape shape;       /* all but the number of groups */
};

struct piece {
    uint32_t name, stream;          /* indices of names, serial number of the stream */
    uint32_t groups[3];
    double start_ms, stop_ms;
    uint64_t bytes;
};

struct source { const mare_stream *stream; char label[64]; };

struct mr_profile {
    pthread_mutex_t lock;           /* of all that follows */
    mr_native origin;               /* the event at which time begins */
    mr_native start[PENDING], stop[PENDING];    /* of piece i in slot i % PENDING */
    struct piece *pieces;
    size_t count, capacity;         /* recorded */
    size_t timed, taken;            /* so many have their times; so many were handed out */
    struct name *names;
    size_t name_count;
    struct source *sources;         /* the streams, by serial number */
    size_t source_count;
};

/* ---- NVTX ---- */

static struct {
    pthread_once_t once;
    int (*nvtxRangePushA)(const char *message);
    int (*nvtxRangePop)(void);
} nvtx = { .once = PTHREAD_ONCE_INIT };

/* Without the library the pointers stay NULL. */
static void load_nvtx(void) {
    static const char *const libraries[] = { "libnvToolsExt.so.1", "libnvtx3interop.so.1", NULL };
    static const mr_symbol symbols[] = {
        { "nvtxRangePushA", (void **)&nvtx.nvtxRangePushA, true },
        { "nvtxRangePop", (void **)&nvtx.nvtxRangePop, true },
    };
    if (mr_dl_load(libraries, symbols, 2, NULL, 0) != MARE_OK) mr_clear_error();
}

/* ---- life ---- */

static void destroy(mare_device *device, struct mr_profile *profile) {
    const mr_backend *backend = device->backend;
    for (int i = 0; i < PENDING; i++) {
        if (profile->start[i].u64) backend->event_destroy(device->native, profile->start[i]);
        if (profile->stop[i].u64) backend->event_destroy(device->native, profile->stop[i]);
    }
    if (profile->origin.u64) backend->event_destroy(device->native, profile->origin);
    pthread_mutex_destroy(&profile->lock);
    free(profile->pieces);
    free(profile->names);
    free(profile->sources);
    free(profile);
}

void mr_profile_close(mare_device *device) {
    if (device->profile) destroy(device, device->profile);
    device->profile = NULL;
}

/* The profile of the device, which the first thread makes. It is kept with its events until the
 * device goes, since another thread may still use it. NULL: out of memory. */
static struct mr_profile *find_profile(mare_device *device) {
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&making);
    struct mr_profile *profile = device->profile;
    if (!profile && (profile = calloc(1, sizeof *profile))) {
        pthread_mutex_init(&profile->lock, NULL);
        device->profile = profile;
    }
    pthread_mutex_unlock(&making);
    return profile;
}

/* The host waits for it, lest work on another stream begins before it. */
static mare_status mark_origin(mare_device *device, struct mr_profile *profile) {
    const mr_backend *backend = device->backend;
    if (!profile->origin.u64) MR_TRY(backend->event_create(device->native, &profile->origin));
    MR_TRY(backend->event_record(device->native, profile->origin, device->stream->native));
    return backend->event_wait(device->native, profile->origin);
}

static mare_status begin(mare_device *device, struct mr_profile *profile) {
    if (mr_profile_is_on(device))
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_profile_begin: device %s is profiled already",
                       device->info.name);
    MR_TRY(mr_device_alive(device));
    MR_TRY_WITH(mark_origin(device, profile), "device '%s': profile", device->info.name);
    profile->count = profile->timed = profile->taken = 0;
    profile->name_count = profile->source_count = 0;
    atomic_store(&device->is_profiled, true);
    return MARE_OK;
}

mare_status mare_profile_begin(mare_device *device) {
    if (!device) return mr_fail(MARE_ERROR_ARGUMENT, "mare_profile_begin: device is NULL");
    pthread_once(&nvtx.once, load_nvtx);
    struct mr_profile *profile = find_profile(device);
    if (!profile) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a profile");
    pthread_mutex_lock(&profile->lock);
    mare_status status = begin(device, profile);
    pthread_mutex_unlock(&profile->lock);
    return status;
}

/* ---- names and streams, once each ---- */

static bool is_of(const struct name *name, const mr_op *op) {
    const mare_launch *launch = op->launch;
    if (name->kernel != (launch ? launch->kernel : NULL)) return false;
    if (launch && memcmp(name->shape.group, launch->dispatch.group, sizeof name->shape.group))
        return false;
    return strcmp(name->text, mr_op_name(op)) == 0;
}

/* How groups of a launch fill the device; what the vendor does not tell stays 0. */
static mare_status find_shape(const mare_launch *launch, mare_profile_shape *out) {
    const mare_device *device = launch->device;
    const mr_dispatch *dispatch = &launch->dispatch;
    const mr_backend *backend = device->backend;
    const uint32_t *group = dispatch->group;
    *out = (mare_profile_shape){ .local_memory = launch->kernel->info.local_memory,
                                 .private_memory = launch->kernel->info.private_memory };
    memcpy(out->group, group, sizeof out->group);
    if (!backend->kernel_fill) return MARE_OK;
    return backend->kernel_fill(device->native, dispatch->kernel, group[0] * group[1] * group[2],
                                dispatch->local_bytes, &out->resident_groups, &out->most_items);
}

/* A kernel has a name for each size of its groups. */
static mare_status find_name(struct mr_profile *profile, const mr_op *op, uint32_t *out) {
    const mare_kernel *kernel = op->launch ? op->launch->kernel : NULL;
    const char *text = mr_op_name(op);
    size_t i = 0;
    while (i < profile->name_count && !is_of(&profile->names[i], op)) i++;
    *out = (uint32_t)i;
    if (i < profile->name_count) return MARE_OK;
    mare_profile_shape shape = { 0 };
    if (kernel) MR_TRY(find_shape(op->launch, &shape));
    struct name *names = realloc(profile->names, (i + 1) * sizeof *names);
    if (!names) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a profile");
    profile->names = names;
    profile->name_count++;
    names[i] = (struct name){ .kernel = kernel };
    snprintf(names[i].text, sizeof names[i].text, "%s", text);
    if (!kernel) return MARE_OK;
    names[i].registers = kernel->info.registers;
    names[i].resident = kernel->info.groups_per_unit * kernel->info.max_group_size;
    names[i].shape = shape;
    return MARE_OK;
}

static mare_status find_source(struct mr_profile *profile, const mare_stream *stream,
                               uint32_t *out) {
    size_t i = 0;
    while (i < profile->source_count && (profile->sources[i].stream != stream ||
                                         strcmp(profile->sources[i].label, stream->object.label)))
        i++;
    *out = (uint32_t)i;
    if (i < profile->source_count) return MARE_OK;
    struct source *sources = realloc(profile->sources, (i + 1) * sizeof *sources);
    if (!sources) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a profile");
    profile->sources = sources;
    profile->source_count++;
    sources[i].stream = stream;
    memcpy(sources[i].label, stream->object.label, sizeof sources[i].label);
    return MARE_OK;
}

/* ---- times ---- */

/* Waits for the oldest piece without times. */
static mare_status time_piece(mare_device *device, struct mr_profile *profile) {
    const mr_backend *backend = device->backend;
    const size_t i = profile->timed, slot = i % PENDING;
    const mr_native before = i ? profile->start[(i - 1) % PENDING] : profile->origin;
    struct piece *piece = &profile->pieces[i];
    double since = 0, length = 0;
    MR_TRY(backend->event_wait(device->native, profile->stop[slot]));
    MR_TRY(backend->event_elapsed_ms(device->native, before, profile->start[slot], &since));
    MR_TRY(backend->event_elapsed_ms(device->native, profile->start[slot], profile->stop[slot],
                                     &length));
    piece->start_ms = since + (i ? piece[-1].start_ms : 0);
    piece->stop_ms = piece->start_ms + length;
    profile->timed++;
    return MARE_OK;
}

/* The slot of the piece before the oldest must not be reused: from its start the start of the
 * oldest is measured. */
static mare_status free_slot(mare_device *device, struct mr_profile *profile, size_t *out) {
    const mr_backend *backend = device->backend;
    while (profile->count - profile->timed >= PENDING - 1) MR_TRY(time_piece(device, profile));
    const size_t slot = profile->count % PENDING;
    mr_native *events[] = { &profile->start[slot], &profile->stop[slot] };
    for (int i = 0; i < 2; i++)
        if (!events[i]->u64) MR_TRY(backend->event_create(device->native, events[i]));
    *out = slot;
    return MARE_OK;
}

static struct piece *add_piece(struct mr_profile *profile) {
    if (profile->count == profile->capacity) {
        size_t capacity = profile->capacity ? 2 * profile->capacity : 1024;
        struct piece *pieces = realloc(profile->pieces, capacity * sizeof *pieces);
        if (!pieces) return NULL;
        profile->pieces = pieces;
        profile->capacity = capacity;
    }
    return &profile->pieces[profile->count];
}

/* ---- running ---- */

/* A transfer that the host waits for is queued like any other, so that the wait is not timed. */
static mare_status run_timed(const mr_op *op, mare_stream *stream, size_t slot) {
    mare_device *device = stream->device;
    const struct mr_profile *profile = device->profile;
    const mr_backend *backend = device->backend;
    mr_op queued = *op;
    queued.blocking = false;
    MR_TRY(backend->event_record(device->native, profile->start[slot], stream->native));
    MR_TRY(mr_op_run(&queued, stream->native));
    MR_TRY(backend->event_record(device->native, profile->stop[slot], stream->native));
    return op->blocking ? backend->stream_wait(device->native, stream->native) : MARE_OK;
}

static mare_status run_locked(const mr_op *op, mare_stream *stream) {
    struct mr_profile *profile = stream->device->profile;
    size_t slot = 0;
    struct piece piece = { 0 };
    MR_TRY(find_name(profile, op, &piece.name));
    MR_TRY(find_source(profile, stream, &piece.stream));
    MR_TRY(free_slot(stream->device, profile, &slot));
    struct piece *place = add_piece(profile);
    if (!place) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a profile");
    MR_TRY(run_timed(op, stream, slot));
    piece.bytes = mr_op_bytes(op);
    if (op->launch) memcpy(piece.groups, op->launch->dispatch.groups, sizeof piece.groups);
    *place = piece;
    profile->count++;
    return MARE_OK;
}

mare_status mr_profile_run(const mr_op *op, mare_stream *stream) {
    const char *name = mr_op_name(op);
    if (!name) return mr_op_run(op, stream->native);
    struct mr_profile *profile = stream->device->profile;
    pthread_mutex_lock(&profile->lock);
    if (nvtx.nvtxRangePushA) nvtx.nvtxRangePushA(name);
    mare_status status = mr_profile_is_on(stream->device)   /* until it was our turn */
                             ? run_locked(op, stream)
                             : mr_op_run(op, stream->native);
    if (nvtx.nvtxRangePop) nvtx.nvtxRangePop();
    pthread_mutex_unlock(&profile->lock);
    return status;
}

/* ---- results ---- */

static mare_status end(mare_device *device, struct mr_profile *profile) {
    mare_status alive = mr_device_alive(device), status = alive;
    atomic_store(&device->is_profiled, false);
    while (status == MARE_OK && profile->timed < profile->count)
        status = time_piece(device, profile);
    profile->count = profile->timed;
    if (status == alive) return status;
    return mr_device_note(device, mr_annotate(status, "device '%s': profile", device->info.name));
}

mare_status mare_profile_end(mare_device *device) {
    if (!device) return mr_fail(MARE_ERROR_ARGUMENT, "mare_profile_end: device is NULL");
    struct mr_profile *profile = device->profile;
    if (profile) pthread_mutex_lock(&profile->lock);
    mare_status status =
        mr_profile_is_on(device)
            ? end(device, profile)
            : mr_fail(MARE_ERROR_ARGUMENT, "mare_profile_end: device %s is not profiled",
                      device->info.name);
    if (profile) pthread_mutex_unlock(&profile->lock);
    return status;
}

static void describe(const struct mr_profile *profile, const struct piece *piece,
                     mare_profile_record *out) {
    const struct name *name = &profile->names[piece->name];
    *out = (mare_profile_record){ .is_kernel = name->kernel != NULL,
                                  .stream_index = piece->stream,
                                  .registers = name->registers,
                                  .resident = name->resident,
                                  .start_ms = piece->start_ms,
                                  .stop_ms = piece->stop_ms,
                                  .bytes = piece->bytes };
    memcpy(out->name, name->text, sizeof out->name);
    memcpy(out->stream, profile->sources[piece->stream].label, sizeof out->stream);
}

mare_status mare_profile_next(mare_device *device, mare_profile_record *out, int32_t *found) {
    if (!device || !out || !found)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_profile_next: device, out and found are required");
    struct mr_profile *profile = device->profile;
    *found = false;
    if (!profile) return MARE_OK;
    pthread_mutex_lock(&profile->lock);
    *found = !mr_profile_is_on(device) && profile->taken < profile->count;
    if (*found) describe(profile, &profile->pieces[profile->taken++], out);
    pthread_mutex_unlock(&profile->lock);
    return MARE_OK;
}

mare_status mare_profile_last_shape(mare_device *device, mare_profile_shape *out) {
    if (!device || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_profile_last_shape: device and out are required");
    struct mr_profile *profile = device->profile;
    *out = (mare_profile_shape){ 0 };
    if (!profile) return MARE_OK;
    pthread_mutex_lock(&profile->lock);
    if (!mr_profile_is_on(device) && profile->taken) {
        const struct piece *piece = &profile->pieces[profile->taken - 1];
        *out = profile->names[piece->name].shape;
        memcpy(out->groups, piece->groups, sizeof out->groups);
    }
    pthread_mutex_unlock(&profile->lock);
    return MARE_OK;
}
