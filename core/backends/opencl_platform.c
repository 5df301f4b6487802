/* opencl_platform.c - lists the devices of all OpenCL platforms.
 *
 * They are numbered in the order in which platforms and devices answer, so that opencl:1 is the
 * second device that clinfo prints. A platform or device that fails is left out and its words are
 * kept for the report; the others count. All this is done once per process: the numbers never
 * change under a running program.
 */
#include "opencl.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 64 };

static pthread_once_t probed = PTHREAD_ONCE_INIT;
static mare_backend_info found;
static mr_opencl_entry entries[MAX_DEVICES];
static int entry_count;

/* ---- one device ---- */

static mare_status get_text(struct mr_cl_device *id, uint32_t parameter, char *out, size_t size) {
    char text[16384] = ""; /* lists of extensions are long */
    MR_CL_TRY(clGetDeviceInfo, (id, parameter, sizeof text - 1, text, NULL), "0x%04x", parameter);
    const char *start = text + strspn(text, " ");
    size_t length = strlen(start);
    while (length && start[length - 1] == ' ')
        length--;
    if (length >= size) length = size - 1;
    memcpy(out, start, length);
    out[length] = '\0';
    return MARE_OK;
}

/* Numbers are 4 or 8 bytes wide; the processors that Mare runs on are little-endian, so that the
 * low half fits both. */
static mare_status get_number(struct mr_cl_device *id, uint32_t parameter, uint64_t *out) {
    uint64_t value = 0;
    MR_CL_TRY(clGetDeviceInfo, (id, parameter, sizeof value, &value, NULL), "0x%04x", parameter);
    *out = value;
    return MARE_OK;
}

static bool has_word(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return true;
    return false;
}

static mare_status read_limits(struct mr_cl_device *id, mare_device_info *info) {
    size_t sizes[16] = { 0 };
    uint64_t units, group, clock, align;
    MR_TRY(get_number(id, MR_CL_DEVICE_MAX_COMPUTE_UNITS, &units));
    MR_TRY(get_number(id, MR_CL_DEVICE_MAX_WORK_GROUP_SIZE, &group));
    MR_TRY(get_number(id, MR_CL_DEVICE_MAX_CLOCK_FREQUENCY, &clock));
    MR_TRY(get_number(id, MR_CL_DEVICE_MEM_BASE_ADDR_ALIGN, &align));
    MR_TRY(get_number(id, MR_CL_DEVICE_GLOBAL_MEM_SIZE, &info->memory));
    MR_TRY(get_number(id, MR_CL_DEVICE_MAX_MEM_ALLOC_SIZE, &info->max_buffer));
    MR_TRY(get_number(id, MR_CL_DEVICE_LOCAL_MEM_SIZE, &info->local_memory));
    MR_CL_TRY(clGetDeviceInfo, (id, MR_CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL),
              "CL_DEVICE_MAX_WORK_ITEM_SIZES");
    info->max_local_memory = info->local_memory;
    info->compute_units = (uint32_t)units;
    info->max_group_size = (uint32_t)group;
    for (int i = 0; i < 3; i++)
        info->max_group[i] = sizes[i] > UINT32_MAX ? UINT32_MAX : (uint32_t)sizes[i];
    info->clock_mhz = (uint32_t)clock;
    info->view_alignment = align >= 8 ? align / 8 : 1; /* the vendor counts bits */
    return MARE_OK;
}

static mare_status read_names(mr_opencl_entry *entry) {
    mare_device_info *info = &entry->info;
    char driver[64], version[128], c_version[128];
    MR_TRY(get_text(entry->id, MR_CL_DEVICE_NAME, info->model, sizeof info->model));
    MR_TRY(get_text(entry->id, MR_CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor));
    MR_TRY(get_text(entry->id, MR_CL_DRIVER_VERSION, driver, sizeof driver));
    MR_TRY(get_text(entry->id, MR_CL_DEVICE_VERSION, version, sizeof version));
    MR_TRY(get_text(entry->id, MR_CL_DEVICE_OPENCL_C_VERSION, c_version, sizeof c_version));
    snprintf(info->driver, sizeof info->driver, "%s, %.60s", driver, version);
    unsigned major = 1, minor = 2;
    sscanf(c_version, "OpenCL C %u.%u", &major, &minor);
    snprintf(info->arch, sizeof info->arch, "OpenCL C %u.%u", major, minor);
    snprintf(entry->key, sizeof entry->key, "%s|%s|%s|%s|%s", info->vendor, info->model, driver,
             version, c_version);
    return MARE_OK;
}

static void read_uuid(mr_opencl_entry *entry) {
    unsigned char b[16];
    if (mr_cl.clGetDeviceInfo(entry->id, MR_CL_DEVICE_UUID_KHR, sizeof b, b, NULL) != 0) return;
    snprintf(entry->info.uuid, sizeof entry->info.uuid,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
             b[15]);
}

/* Work-items in lockstep. A CPU runs them one after the other, whatever multiple it prefers. */
static uint32_t warp_size(const mr_opencl_entry *entry) {
    uint64_t size = 1;
    if (entry->info.kind == MARE_DEVICE_CPU) return 1;
    uint32_t parameter = entry->is_nvidia ? MR_CL_DEVICE_WARP_SIZE_NV
                                          : MR_CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE;
    if (get_number(entry->id, parameter, &size) != MARE_OK || size == 0) return 1;
    return (uint32_t)size;
}

/* Whose PTX kernels may hold: 900 for sm_90, as __CUDA_ARCH__; 0 for none. */
static mare_status read_ptx_arch(mr_opencl_entry *entry) {
    uint64_t major, minor;
    if (!entry->is_nvidia) return MARE_OK;
    MR_TRY(get_number(entry->id, MR_CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, &major));
    MR_TRY(get_number(entry->id, MR_CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, &minor));
    entry->ptx_arch = (uint32_t)(100 * major + 10 * minor);
    return MARE_OK;
}

static mare_status read_features(mr_opencl_entry *entry) {
    char extensions[16384];
    uint64_t type = 0, single = 0, twice = 0;
    MR_TRY(get_number(entry->id, MR_CL_DEVICE_TYPE, &type));
    MR_TRY(get_number(entry->id, MR_CL_DEVICE_SINGLE_FP_CONFIG, &single));
    MR_TRY(get_text(entry->id, MR_CL_DEVICE_EXTENSIONS, extensions, sizeof extensions));
    if (get_number(entry->id, MR_CL_DEVICE_DOUBLE_FP_CONFIG, &twice) != MARE_OK) twice = 0;
    mare_device_info *info = &entry->info;
    info->kind = type & MR_CL_DEVICE_TYPE_GPU   ? MARE_DEVICE_GPU
                 : type & MR_CL_DEVICE_TYPE_CPU ? MARE_DEVICE_CPU
                                                : MARE_DEVICE_OTHER;
    info->has_double = twice != 0 || has_word(extensions, "cl_khr_fp64");
    info->has_int64_atomics = has_word(extensions, "cl_khr_int64_base_atomics");
    entry->is_nvidia = has_word(extensions, "cl_nv_device_attribute_query");
    entry->has_verbose = has_word(extensions, "cl_nv_compiler_options");
    entry->has_priorities =
        has_word(extensions, "cl_khr_priority_hints") && mr_cl.clCreateCommandQueueWithProperties;
    entry->has_rounded_division = (single & MR_CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    if (has_word(extensions, "cl_khr_device_uuid")) read_uuid(entry);
    info->warp_size = warp_size(entry);
    MR_TRY(read_ptx_arch(entry));
    if (entry->ptx_arch && info->local_memory > MR_PTX_LOCAL_BYTES) {
        info->local_memory -= MR_PTX_LOCAL_BYTES;
        info->max_local_memory = info->local_memory;
    }
    info->has_scopes = entry->ptx_arch >= 700 || info->kind == MARE_DEVICE_CPU;
    return MARE_OK;
}

static mare_status read_device(mr_opencl_entry *entry) {
    MR_TRY(read_names(entry));
    MR_TRY(read_limits(entry->id, &entry->info));
    return read_features(entry);
}

/* ---- all platforms ---- */

static const char pocl[] = "Portable Computing Language";

static void note(char *text, size_t size, const char *what, const char *words) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s%s%s", used ? "; " : "", what,
             *what && *words ? ": " : "", words);
}

/* PoCL keeps what it compiles for each size of groups, unless told not to. */
static bool keeps_programs(bool is_pocl) {
    const char *wish = getenv("POCL_KERNEL_CACHE");
    return is_pocl && !(wish && !strcmp(wish, "0"));
}

/* Where PoCL has its folders; NULL: in none that is known. */
static const char *pocl_base(char *out, size_t size) {
    const char *own = getenv("POCL_CACHE_DIR"), *caches = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (own && *own) snprintf(out, size, "%s", own);
    else if (caches && *caches) snprintf(out, size, "%s", caches);
    else if (home && *home) snprintf(out, size, "%s/.cache", home);
    else return NULL;
    return out;
}

mare_status mr_opencl_check_room(void) {
    const uint64_t least = 1 << 20;     /* bytes; programs of Mare have taken up to 650 KiB */
    char path[PATH_MAX];
    struct statvfs disk;
    const char *folder = pocl_base(path, sizeof path);
    if (!folder || statvfs(folder, &disk) || disk.f_blocks == 0) return MARE_OK;
    uint64_t left = (uint64_t)(geteuid() ? disk.f_bavail : disk.f_bfree) * disk.f_frsize;
    if (left >= least) return MARE_OK;
    return mr_fail(MARE_ERROR_IO,
                   "%s, where PoCL compiles, has %" PRIu64 " KiB left of the 1 MiB that a program "
                   "may need: free some, or name another folder in POCL_CACHE_DIR",
                   folder, left >> 10);
}

static void add_devices(struct mr_cl_platform *platform, const char *name) {
    struct mr_cl_device *ids[MAX_DEVICES];
    uint32_t count = 0;
    const bool is_pocl = !strcmp(name, pocl);
    int32_t code = mr_cl.clGetDeviceIDs(platform, MR_CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &count);
    if (code != 0) {
        mr_opencl_fail(code, "clGetDeviceIDs", "all types");
        note(found.reason, sizeof found.reason, name, mare_error_message());
        if (is_pocl)
            note(found.reason, sizeof found.reason, "PoCL",
                 "needs a folder that it can write to: HOME, XDG_CACHE_HOME or POCL_CACHE_DIR");
        return;
    }
    for (uint32_t i = 0; i < count && i < MAX_DEVICES && entry_count < MAX_DEVICES; i++) {
        mr_opencl_entry *entry = &entries[entry_count];
        *entry = (mr_opencl_entry){ .id = ids[i], .is_pocl = is_pocl };
        entry->info.keeps_programs = keeps_programs(is_pocl);
        if (read_device(entry) == MARE_OK) {
            entry->has_clang_header = is_pocl && entry->info.kind == MARE_DEVICE_CPU;
            entry_count++;
        } else {
            note(found.reason, sizeof found.reason, name, mare_error_message());
        }
    }
}

static mare_status list_platforms(void) {
    struct mr_cl_platform *platforms[MAX_PLATFORMS];
    uint32_t count = 0;
    MR_CL_TRY(clGetPlatformIDs, (MAX_PLATFORMS, platforms, &count), "all");
    for (uint32_t i = 0; i < count && i < MAX_PLATFORMS; i++) {
        char name[128] = "platform", version[512] = "";
        int before = entry_count;
        mr_cl.clGetPlatformInfo(platforms[i], MR_CL_PLATFORM_NAME, sizeof name, name, NULL);
        mr_cl.clGetPlatformInfo(platforms[i], MR_CL_PLATFORM_VERSION, sizeof version, version,
                                NULL);
        add_devices(platforms[i], name);
        if (entry_count > before) note(found.version, sizeof found.version, "", version);
    }
    return MARE_OK;
}

/* PoCL ends the process where it cannot read what processors there are. */
static mare_status refuse_abort(void) {
    if (access("/sys/devices/system/cpu", F_OK) == 0 || getenv("HWLOC_SYNTHETIC") ||
        access("/etc/OpenCL/vendors/pocl.icd", F_OK) != 0)
        return MARE_OK;
    return mr_fail(MARE_ERROR_UNAVAILABLE,
                   "/sys is not mounted, where PoCL would look for processors and abort: mount it, "
                   "or set HWLOC_SYNTHETIC='numa:1(memory=4294967296) pu:%ld'",
                   sysconf(_SC_NPROCESSORS_ONLN));
}

/* A driver needs the loader, which is a package of its own. */
static const char *advice(mare_status loaded) {
    if (loaded != MARE_OK)
        return "install the ICD loader, ocl-icd-libopencl1, and a driver: pocl-opencl-icd for "
               "OpenCL on the CPU, or the GPU vendor's";
    return "install pocl-opencl-icd for OpenCL on the CPU, or the GPU vendor's OpenCL; where "
           "NVIDIA's driver came without its ICD file, set "
           "OCL_ICD_FILENAMES=libnvidia-opencl.so.1";
}

static void find_devices(void) {
    MR_OPENCL_HOLD_SIGNALS(mask);
    mare_status loaded = mr_opencl_load(found.library, sizeof found.library);
    mare_status status = loaded == MARE_OK ? list_platforms() : loaded;
    if (status != MARE_OK) note(found.reason, sizeof found.reason, mare_error_message(), "");
    found.device_count = entry_count;
    found.available = entry_count > 0;
    if (!found.available) note(found.reason, sizeof found.reason, advice(loaded), "");
}

static void probe_once(void) {
    if (refuse_abort() == MARE_OK) find_devices();
    else note(found.reason, sizeof found.reason, mare_error_message(), "");
    mr_clear_error();
}

mare_status mr_opencl_probe(mare_backend_info *out) {
    pthread_once(&probed, probe_once);
    *out = found;
    return MARE_OK;
}

mr_opencl_entry *mr_opencl_device_entry(int index) {
    pthread_once(&probed, probe_once);
    return index >= 0 && index < entry_count ? &entries[index] : NULL;
}
