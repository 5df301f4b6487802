/* cpu.c - the processor without a driver: kernels that were compiled with Mare.
 *
 * There is no compiler in it. A library beside libmare, programs/NAME.so, has the programs of the
 * shipped scenarios, made of the same texts; a program is found by its text, and one that is not
 * there is refused. "auto" comes here last. A launch has ended when it returns.
 */
#include "cpu.h"

#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1024, LOCAL = 256 << 10 };

static mr_programs_find_function *find;
static mare_backend_info found;
static pthread_once_t probed = PTHREAD_ONCE_INIT;

/* ---- the library ---- */

/* The one for the newest instructions that this processor has. */
static const char *variant(void) {
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "x86-64-v3";
    return "x86-64";
#elif defined __aarch64__
    return "aarch64";
#else
    return "generic";
#endif
}

static mare_status load(const char *path) {
    const mr_symbol symbols[] = { { "mr_programs_find", (void **)(void *)&find, true } };
    return mr_dl_load((const char *const[]){ path, NULL }, symbols, 1, found.library,
                      sizeof found.library);
}

/* MARE_PROGRAMS, or a file beside libmare, or in the folder mare there. */
static mare_status find_library(char *path, size_t size) {
    static const char *const places[] = { "", "/mare" };
    char own[PATH_MAX];
    const char *wish = getenv("MARE_PROGRAMS");
    snprintf(path, size, "%s", wish ? wish : "");
    if (*path) return MARE_OK;
    mr_dl_path((void *)(uintptr_t)&mare_device_open, own, sizeof own);
    const char *folder = dirname(own);
    for (int k = 0; k < 2; k++) {
        snprintf(path, size, "%s%s/programs/%s.so", folder, places[k], variant());
        if (access(path, R_OK) == 0) return MARE_OK;
    }
    return mr_fail(MARE_ERROR_UNAVAILABLE,
                   "there is no programs/%s.so beside libmare; bundles and packages have one",
                   variant());
}

static void probe_once(void) {
    char path[PATH_MAX + 64];
    mare_status status = find_library(path, sizeof path);
    if (status == MARE_OK) status = load(path);
    snprintf(found.version, sizeof found.version, "Mare " MARE_VERSION);
    found.available = status == MARE_OK;
    found.device_count = found.available ? 1 : 0;
    if (status != MARE_OK)
        snprintf(found.reason, sizeof found.reason, "%.400s", mare_error_message());
    mr_clear_error();
}

static mare_status probe(mare_backend_info *out) {
    pthread_once(&probed, probe_once);
    *out = found;
    return MARE_OK;
}

/* ---- the device ---- */

static unsigned processors(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}

static uint64_t memory(int name) {
    long pages = sysconf(name), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

static mare_status device_info(int index, mare_device_info *out) {
    (void)index;
    *out = (mare_device_info){ .model = "processor, with the programs that came with Mare",
                               .vendor = "Mare",
                               .driver = "Mare " MARE_VERSION,
                               .kind = MARE_DEVICE_CPU,
                               .compute_units = processors(),
                               .warp_size = 1,
                               .max_group_size = MOST,
                               .max_group = { MOST, MOST, MOST },
                               .memory = memory(_SC_PHYS_PAGES),
                               .max_buffer = memory(_SC_PHYS_PAGES),
                               .local_memory = LOCAL,
                               .max_local_memory = LOCAL,
                               .view_alignment = 1,
                               .has_double = 1,
                               .has_int64_atomics = 1,
                               .has_scopes = 1,
                               .keeps_programs = 1 };
    snprintf(out->arch, sizeof out->arch, "%s", variant());
    return MARE_OK;
}

static mare_status device_open(int index, mr_native *out) {
    (void)index;
    out->ptr = mr_cpu_team_open(processors());
    return out->ptr ? MARE_OK : mr_fail(MARE_ERROR_MEMORY, "out of host memory for threads");
}

static void device_close(mr_native device, bool is_lost) {
    (void)is_lost;
    mr_cpu_team_close(device.ptr);
}

static mare_status device_memory(mr_native device, uint64_t *available, uint64_t *total) {
    (void)device;
    *available = memory(_SC_AVPHYS_PAGES);
    *total = memory(_SC_PHYS_PAGES);
    return MARE_OK;
}

/* ---- programs ---- */

static mare_status program_build(mr_native device, const mr_source *source, mr_blob *binary,
                                 mr_native *loaded, mr_blob *log) {
    (void)device, (void)log;
    const mr_cpu_program *program = find(source->text);
    if (!program)
        return mr_fail(MARE_ERROR_UNAVAILABLE,
                       "%s is not among the programs that were compiled with Mare for processors "
                       "without a driver, which are those of the shipped scenarios: a driver has "
                       "the compiler for it, such as that of pocl-opencl-icd", source->name);
    if (loaded) {
        loaded->ptr = (void *)(uintptr_t)program;
        return MARE_OK;
    }
    void *copy = malloc(sizeof program);
    if (!copy) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a program");
    memcpy(copy, &program, sizeof program);
    *binary = (mr_blob){ copy, sizeof program };
    return MARE_OK;
}

/* A binary of this process. */
static mare_status program_load(mr_native device, const mr_blob *binary, mr_native *out) {
    (void)device;
    if (binary->size != sizeof out->ptr) return mr_fail(MARE_ERROR_BUILD, "no binary of this kind");
    memcpy(&out->ptr, binary->data, sizeof out->ptr);
    return MARE_OK;
}

static void program_unload(mr_native device, mr_native program) { (void)device, (void)program; }

static mare_status program_key(mr_native device, uint32_t language, char *out, size_t size) {
    (void)device, (void)language;
    snprintf(out, size, "%s", variant());
    return MARE_OK;
}

typedef struct cpu_kernel {
    const mr_cpu_program *program;
    const mr_cpu_kernel *kernel;
} cpu_kernel;

static mare_status kernel_get(mr_native device, mr_native native, const char *name,
                              mr_native *out) {
    (void)device;
    const mr_cpu_program *program = native.ptr;
    for (const mr_cpu_kernel *k = program->kernels; k->name; k++) {
        if (strcmp(k->name, name) != 0) continue;
        cpu_kernel *kernel = malloc(sizeof *kernel);
        if (!kernel) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a kernel");
        *kernel = (cpu_kernel){ program, k };
        out->ptr = kernel;
        return MARE_OK;
    }
    return mr_fail(MARE_ERROR_ARGUMENT, "the program has no kernel '%s'", name);
}

static void kernel_release(mr_native device, mr_native kernel) {
    (void)device;
    free(kernel.ptr);
}

static mare_status kernel_info(mr_native device, mr_native kernel, mare_kernel_info *out) {
    (void)device, (void)kernel;
    out->max_group_size = MOST;
    out->warp_size = 1;
    return MARE_OK;
}

/* ---- launches ---- */

static mare_status launch_create(mr_native device, const mr_dispatch *launch, mr_native *out) {
    (void)device, (void)launch;
    *out = mr_host_nothing;
    return MARE_OK;
}

static void launch_destroy(mr_native device, mr_native launch) { (void)device, (void)launch; }

static mare_status launch_run(mr_native device, mr_native stream, const mr_dispatch *launch) {
    (void)stream;
    const cpu_kernel *kernel = launch->kernel.ptr;
    if (mr_cpu_team_run(device.ptr, kernel->program, kernel->kernel, launch)) return MARE_OK;
    return mr_fail(MARE_ERROR_MEMORY, "kernel '%s': no memory for the stacks of a group",
                   launch->name);
}

const mr_backend mr_backend_cpu = {
    .name = "cpu",
    .prelude = mr_prelude_cpu,
    .language = MARE_LANGUAGE_MARE,
    .runs_kernels = true,
    .orders_devices = true,
    .probe = probe,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .device_memory = device_memory,
    MR_HOST_ENTRIES,
    .program_build = program_build,
    .program_load = program_load,
    .program_unload = program_unload,
    .program_key = program_key,
    .kernel_get = kernel_get,
    .kernel_release = kernel_release,
    .kernel_info = kernel_info,
    .launch_create = launch_create,
    .launch_destroy = launch_destroy,
    .launch_run = launch_run,
};
