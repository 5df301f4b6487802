/* null.c - a device without a device, and the skeleton to copy for a new back end.
 *
 * Memory and transfers are those of host.c. Launches are accepted and not executed: nothing here
 * can run a kernel. A program is its own text; one that contains "#error" does not build,
 * so that failure paths can be tested on any machine.
 */
#include "host.h"

#include <stdlib.h>
#include <string.h>

static mare_status probe(mare_backend_info *out) {
    out->available = 1;
    out->device_count = 1;
    strcpy(out->version, "Mare " MARE_VERSION);
    return MARE_OK;
}

static mare_status device_info(int index, mare_device_info *out) {
    (void)index;
    *out = (mare_device_info){ .model = "host memory, runs no kernel",
                               .vendor = "Mare",
                               .driver = "Mare " MARE_VERSION,
                               .arch = "null",
                               .kind = MARE_DEVICE_OTHER,
                               .compute_units = 1,
                               .warp_size = 1,
                               .max_group_size = 1024,
                               .max_group = { 1024, 1024, 64 },
                               .max_buffer = INT64_MAX,
                               .local_memory = 48 << 10,
                               .max_local_memory = 48 << 10,
                               .view_alignment = 1,
                               .has_double = 1,
                               .has_int64_atomics = 1 };
    return MARE_OK;
}

static mare_status device_open(int index, mr_native *out) {
    (void)index;
    *out = mr_host_nothing;
    return MARE_OK;
}

static mare_status device_memory(mr_native device, uint64_t *available, uint64_t *total) {
    (void)device;
    *available = *total = 0;
    return MARE_OK;
}

static mare_status program_build(mr_native device, const mr_source *source, mr_blob *binary,
                                 mr_native *loaded, mr_blob *log) {
    (void)device, (void)loaded, (void)log;
    const char *error = strstr(source->text, "#error");
    if (error) return mr_fail(MARE_ERROR_BUILD, "%.*s", (int)strcspn(error, "\n"), error);
    size_t size = strlen(source->text);
    void *text = malloc(size + 1);
    if (!text)
        return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a program of %zu bytes", size);
    memcpy(text, source->text, size + 1);
    *binary = (mr_blob){ text, size };
    return MARE_OK;
}

static mare_status program_load(mr_native device, const mr_blob *binary, mr_native *out) {
    (void)device, (void)binary;
    *out = mr_host_nothing;
    return MARE_OK;
}

/* A program that came as code is not kept: its text alone is its code. */
static mare_status program_code(mr_native device, mr_native program, const mr_source *source,
                                const char *form, mr_blob *out) {
    (void)program;
    if (!source || strcmp(form, "binary") != 0)
        return mr_fail(MARE_ERROR_UNAVAILABLE, "null has no %s of it", form);
    return program_build(device, source, out, NULL, NULL);
}

static void program_unload(mr_native device, mr_native program) { (void)device, (void)program; }

static mare_status program_key(mr_native device, uint32_t language, char *out, size_t size) {
    (void)device, (void)language;
    if (size) out[0] = '\0';
    return MARE_OK;
}

static mare_status kernel_get(mr_native device, mr_native program, const char *name,
                              mr_native *out) {
    (void)device, (void)program, (void)name;
    *out = mr_host_nothing;
    return MARE_OK;
}

static void kernel_release(mr_native device, mr_native kernel) { (void)device, (void)kernel; }

static mare_status kernel_info(mr_native device, mr_native kernel, mare_kernel_info *out) {
    (void)device, (void)kernel;
    out->max_group_size = 1024;
    out->warp_size = 1;
    return MARE_OK;
}

static mare_status launch_create(mr_native device, const mr_dispatch *launch, mr_native *out) {
    (void)device, (void)launch;
    *out = mr_host_nothing;
    return MARE_OK;
}

static void launch_destroy(mr_native device, mr_native launch) { (void)device, (void)launch; }

static mare_status launch_run(mr_native device, mr_native stream, const mr_dispatch *launch) {
    (void)device, (void)stream, (void)launch;
    return MARE_OK;
}

const mr_backend mr_backend_null = {
    .name = "null",
    .prelude = "",
    .has_compiler = true,
    .orders_devices = true,
    .probe = probe,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = mr_host_device_close,
    .device_memory = device_memory,
    MR_HOST_ENTRIES,
    .program_build = program_build,
    .program_load = program_load,
    .program_code = program_code,
    .program_take = program_load,
    .program_unload = program_unload,
    .program_key = program_key,
    .kernel_get = kernel_get,
    .kernel_release = kernel_release,
    .kernel_info = kernel_info,
    .launch_create = launch_create,
    .launch_destroy = launch_destroy,
    .launch_run = launch_run,
};
