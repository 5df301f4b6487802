/* launch.c - a kernel with its arguments and shape: every value is checked when it is set, by
 * argument.c and here, so that running needs only to look that nothing is missing.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

static void destroy(mare_launch *launch) {
    if (!launch) return;
    mr_dispatch *d = &launch->dispatch;
    const mare_device *device = launch->device;
    if (d->native.u64) device->backend->launch_destroy(device->native, d->native);
    for (uint32_t i = 0; launch->buffers && i < d->arg_count; i++)
        mare_buffer_release(launch->buffers[i]);
    free(d->values);
    free(d->words);
    free(d->spans);
    free(launch->buffers);
    free(launch->is_set);
    mare_kernel_release(launch->kernel);
    mr_object_delete(&launch->object);
}

/* The words begin where the arguments do, one after another. */
static mare_status make_room(mare_launch *launch) {
    mr_dispatch *d = &launch->dispatch;
    const mr_signature *signature = &launch->kernel->signature;
    const size_t count = d->arg_count ? d->arg_count : 1;
    launch->missing = signature->field_count;
    d->words = calloc(count, sizeof *d->words);
    for (uint32_t i = 0; d->words && i < d->arg_count; i++) {
        d->words[i] = d->word_count;
        d->word_count += d->args[i].is_buffer ? 1 : (uint32_t)(d->args[i].size + 7) / 8;
        launch->missing += !d->args[i].field_count;
    }
    d->values = calloc(d->word_count + 1, sizeof *d->values);
    d->spans = calloc(count, sizeof *d->spans);
    launch->buffers = calloc(count, sizeof *launch->buffers);
    launch->is_set = calloc(count + signature->field_count, sizeof *launch->is_set);
    if (d->words && d->values && d->spans && launch->buffers && launch->is_set) return MARE_OK;
    return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
}

static mare_status prepare(mare_launch *launch) {
    const mare_kernel *kernel = launch->kernel;
    mr_dispatch *d = &launch->dispatch;
    d->name = kernel->signature.name;
    d->kernel = kernel->native;
    d->local_bytes = (uint32_t)kernel->signature.local_bytes;
    d->args = kernel->signature.args;
    d->arg_count = kernel->signature.arg_count;
    MR_TRY(make_room(launch));
    launch->op = (mr_op){ .kind = MR_OP_LAUNCH, .launch = launch };
    MR_TRY(mr_device_alive(launch->device));
    return launch->device->backend->launch_create(launch->device->native, d, &d->native);
}

mare_status mare_launch_create(mare_kernel *kernel, mare_launch **out) {
    if (out) *out = NULL;
    if (!kernel || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_launch_create: kernel and out are required");
    mare_launch *launch = mr_object_new_on_line(sizeof *launch, "launch", kernel->object.label);
    if (!launch) return MARE_ERROR_MEMORY;
    launch->kernel = kernel;
    launch->device = kernel->program->device;
    mare_kernel_retain(kernel);
    mare_status status = prepare(launch);
    if (status != MARE_OK) {
        mr_annotate(status, "launch of kernel '%s'", kernel->object.label);
        destroy(launch);
        return status;
    }
    *out = launch;
    return MARE_OK;
}

void mare_launch_retain(mare_launch *launch) {
    if (launch) mr_object_retain(&launch->object);
}

void mare_launch_release(mare_launch *launch) {
    if (launch && mr_object_unref(&launch->object)) destroy(launch);
}

/* ---- shape ---- */

static uint32_t limit_of(const mare_launch *launch) {
    uint32_t device = launch->device->info.max_group_size;
    uint32_t kernel = launch->kernel->info.max_group_size;
    return kernel && kernel < device ? kernel : device;
}

/* A CPU runs a group as a loop along x, the longer the better. Its compiler makes a kernel anew for
 * each size of group (PoCL), so that there are three. */
static uint32_t group_on_cpu(uint32_t global) {
    return global > 128 ? 256 : global > 4 ? 32 : 4;
}

static uint64_t groups_along(int d, const uint32_t global[3], const uint32_t group[3]) {
    return ((uint64_t)global[d] + group[d] - 1) / group[d];
}

/* Higher groups where there would be more along y or z than there can be; whole ones, of 256
 * work-items, become narrower by as much. */
static void make_higher(const mare_launch *launch, const uint32_t global[3], uint32_t group[3]) {
    const uint32_t most = launch->device->backend->most_groups;
    const uint32_t *allowed = launch->device->info.max_group;
    for (int d = 1; most && d < 3; d++)
        while (groups_along(d, global, group) > most && group[d] <= allowed[d] / 2) {
            const bool is_whole = 2 * group[0] * group[1] * group[2] > limit_of(launch) ||
                                  group[0] * group[1] * group[2] >= 256;
            if (is_whole && group[0] == 1) return;
            if (is_whole) group[0] /= 2;
            group[d] *= 2;
        }
}

/* Rows of 32 suit lockstep hardware and its memory. */
static void choose_group(const mare_launch *launch, const uint32_t global[3], uint32_t group[3]) {
    static const uint32_t choices[3][3] = { { 256, 1, 1 }, { 32, 8, 1 }, { 32, 4, 2 } };
    const mare_device_info *info = &launch->device->info;
    const uint32_t *fixed = launch->kernel->signature.group;
    if (fixed[0]) {
        memcpy(group, fixed, sizeof choices[0]);
        return;
    }
    int dimensions = global[2] > 1 ? 3 : global[1] > 1 ? 2 : 1;
    bool is_cpu = info->kind == MARE_DEVICE_CPU;
    memcpy(group, choices[is_cpu ? 0 : dimensions - 1], sizeof choices[0]);
    if (is_cpu) group[0] = group_on_cpu(global[0]);
    for (int d = 0; d < 3; d++)
        while (group[d] > info->max_group[d] ||
               (!is_cpu && group[d] > 1 && group[d] / 2 >= global[d]))
            group[d] /= 2;
    for (int d = 2; d >= 0; d--)
        while (group[0] * group[1] * group[2] > limit_of(launch) && group[d] > 1) group[d] /= 2;
    make_higher(launch, global, group);
}

/* This is checked on every back end, though some vendors take any group. The dialect's indices are
 * ints. */
static mare_status check_source(const mare_launch *launch, const uint32_t global[3],
                                const uint32_t group[3]) {
    const mr_signature *signature = &launch->kernel->signature;
    const uint32_t *fixed = signature->group;
    if (fixed[0] && memcmp(fixed, group, sizeof signature->group) != 0)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "kernel '%s': a group of %u x %u x %u, its source fixes %u x %u x %u",
                       signature->name, group[0], group[1], group[2], fixed[0], fixed[1], fixed[2]);
    if (launch->kernel->program->language != MARE_LANGUAGE_MARE) return MARE_OK;
    for (int d = 0; d < 3; d++) {
        uint64_t items = groups_along(d, global, group) * group[d];
        if (items > INT32_MAX)
            return mr_fail(MARE_ERROR_ARGUMENT,
                           "kernel '%s': %llu work-items along %c in groups of %u, its indices "
                           "are ints (at most %d)",
                           signature->name, (unsigned long long)items, "xyz"[d], group[d],
                           INT32_MAX);
    }
    return MARE_OK;
}

static mare_status check_groups(const mare_launch *launch, const uint32_t global[3],
                                const uint32_t group[3]) {
    const uint32_t most = launch->device->backend->most_groups;
    for (int d = 1; most && d < 3; d++)
        if (global[d] > most && groups_along(d, global, group) > most)
            return mr_fail(MARE_ERROR_ARGUMENT,
                           "kernel '%s': %llu groups along %c (allowed on %s: 1 to %u)",
                           launch->dispatch.name,
                           (unsigned long long)groups_along(d, global, group), "xyz"[d],
                           launch->device->info.name, most);
    return MARE_OK;
}

static mare_status check_shape(const mare_launch *launch, const uint32_t global[3],
                               const uint32_t group[3]) {
    const mare_device_info *info = &launch->device->info;
    const char *name = launch->dispatch.name;
    for (int d = 0; d < 3; d++) {
        if (!global[d])
            return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': global size along %c is 0", name,
                           "xyz"[d]);
        if (!group[d] || group[d] > info->max_group[d])
            return mr_fail(MARE_ERROR_ARGUMENT,
                           "kernel '%s': group size %u along %c (allowed on %s: 1 to %u)", name,
                           group[d], "xyz"[d], info->name, info->max_group[d]);
    }
    uint64_t plane = (uint64_t)group[0] * group[1];
    if (plane <= limit_of(launch) && plane * group[2] <= limit_of(launch)) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT,
                   "kernel '%s': a group of %u x %u x %u work-items, %s allows %u for it", name,
                   group[0], group[1], group[2], info->name, limit_of(launch));
}

mare_status mare_launch_set_shape(mare_launch *launch, const uint32_t global[3],
                                  const uint32_t group[3]) {
    if (!launch || !global)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_launch_set_shape: launch and global are required");
    uint32_t chosen[3];
    if (group) memcpy(chosen, group, sizeof chosen);
    else choose_group(launch, global, chosen);
    MR_TRY(check_shape(launch, global, chosen));
    MR_TRY(check_groups(launch, global, chosen));
    MR_TRY(check_source(launch, global, chosen));
    for (int d = 0; d < 3; d++) {
        launch->dispatch.group[d] = chosen[d];
        launch->dispatch.groups[d] = global[d] / chosen[d] + (global[d] % chosen[d] != 0);
    }
    launch->dispatch.revision++;
    return MARE_OK;
}

/* ---- running ---- */

/* "2 'n'", or of a block "3 'p.dt'" for each field. */
static void list_missing(const mare_launch *launch, uint32_t index, mr_text *text) {
    const mr_signature *signature = &launch->kernel->signature;
    const mare_arg_info *arg = &signature->args[index];
    const uint32_t first = mr_signature_first_field(signature, index);
    if (!arg->field_count && !launch->is_set[index])
        mr_text_format(text, "%s%u '%s'", text->size ? ", " : "", index, arg->name);
    for (uint32_t k = first; k < first + arg->field_count; k++)
        if (!launch->is_set[signature->arg_count + k])
            mr_text_format(text, "%s%u '%s.%s'", text->size ? ", " : "", index, arg->name,
                           signature->fields[k].name);
}

static mare_status refuse_incomplete(const mare_launch *launch) {
    const mr_dispatch *d = &launch->dispatch;
    if (!launch->missing)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "kernel '%s': its shape is not set: 'global', the work-items along x, y, z",
                       d->name);
    mr_text missing = { 0 };
    for (uint32_t i = 0; i < d->arg_count; i++) list_missing(launch, i, &missing);
    mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': arguments not set: %s", d->name,
            mr_text_cstr(&missing));
    mr_text_free(&missing);
    return MARE_ERROR_ARGUMENT;
}

mare_status mare_launch_set_bytes(mare_launch *launch, uint64_t bytes) {
    if (!launch) return mr_fail(MARE_ERROR_ARGUMENT, "mare_launch_set_bytes: launch is NULL");
    launch->bytes = bytes;
    return MARE_OK;
}

mare_status mare_launch_set_together(mare_launch *launch, int32_t together) {
    if (!launch) return mr_fail(MARE_ERROR_ARGUMENT, "mare_launch_set_together: launch is NULL");
    const mare_device *device = launch->device;
    if (together && !device->backend->runs_together)
        return mr_fail(MARE_ERROR_UNAVAILABLE,
                       "kernel '%s': %s does not promise to run all groups at the same time",
                       launch->dispatch.name, device->info.name);
    launch->dispatch.is_together = together != 0;
    return MARE_OK;
}

mare_status mare_launch_set_programmatic(mare_launch *launch, int32_t programmatic) {
    if (!launch)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_launch_set_programmatic: launch is NULL");
    const mare_device_info *info = &launch->device->info;
    if (programmatic && !info->has_programmatic)
        return mr_fail(MARE_ERROR_UNAVAILABLE,
                       "kernel '%s': %s (%s) has no programmatic dependent launches",
                       launch->dispatch.name, info->name, info->arch);
    launch->dispatch.is_programmatic = programmatic != 0;
    return MARE_OK;
}

/* Whether the launch can go straight to the back end: it is complete, it has run on this stream, so
 * that its device is the stream's, and its buffers have not changed since. */
static bool is_plain(const mare_launch *launch, const mare_stream *stream) {
    return launch->ordered == stream->serial && mr_stream_is_plain(stream);
}

MR_RARE static mare_status run_otherwise(mare_launch *launch, mare_stream *stream) {
    const char *label = launch->object.label;
    MR_TRY(mr_device_pick_stream(launch->device, stream, "kernel", label, &stream));
    if (launch->missing || !launch->dispatch.group[0]) return refuse_incomplete(launch);
    return mr_op_submit(&launch->op, stream);
}

MR_HOT mare_status mare_launch_run(mare_launch *launch, mare_stream *stream) {
    if (!launch) return mr_fail(MARE_ERROR_ARGUMENT, "mare_launch_run: launch is NULL");
    const mare_device *device = launch->device;
    const mare_stream *used = stream ? stream : device->stream;
    if (!is_plain(launch, used)) return run_otherwise(launch, stream);
    mare_status status = device->backend->launch_run(device->native, used->native,
                                                     &launch->dispatch);
    return status == MARE_OK ? MARE_OK : mr_op_fail(&launch->op, status);
}
