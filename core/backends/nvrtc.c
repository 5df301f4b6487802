/* nvrtc.c - the CUDA back end's compiler: CUDA C++ text to a cubin for one architecture.
 *
 * NVRTC is found apart from the driver: in $CUDA_HOME or $CUDA_PATH, where the dynamic linker
 * looks, or where NVIDIA's packages put it. Without it devices work, and only a build fails. To
 * load it takes 10 ms, and 100 when the disk is cold, so its version, which is part of the key of
 * every program, is kept in the cache as long as the file stays as it is.
 */
#include "nvrtc_api.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
#define MR_NVRTC_CALL(result, symbol, arguments) result(*symbol) arguments;
#include "nvrtc_syms.def"
} nvrtc;

static struct {
    pthread_once_t once;
    mare_status status;
    char reason[1024];
    int major, minor;
} state = { .once = PTHREAD_ONCE_INIT };

/* ---- errors ---- */

/* The one place where an NVRTC code becomes a status and a message. */
static mare_status check(unsigned code, const char *call) {
    if (code == MR_NVRTC_SUCCESS) return MARE_OK;
    bool memory = code == MR_NVRTC_ERROR_OUT_OF_MEMORY;
    bool build = code == MR_NVRTC_ERROR_COMPILATION || code == MR_NVRTC_ERROR_INVALID_OPTION;
    mare_status status = memory ? MARE_ERROR_MEMORY : build ? MARE_ERROR_BUILD : MARE_ERROR_DEVICE;
    return mr_fail(status, "%s: %s (%u)", call, nvrtc.nvrtcGetErrorString(code), code);
}

/* ---- the library ---- */

static const char *const sonames[] = { "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                                       "libnvrtc.so.11.2" };
enum { SONAME_COUNT = sizeof sonames / sizeof *sonames, ROOT_COUNT = 3, PATH_SIZE = 1024 };

/* Where a CUDA toolkit may be, in the order of trust; entries may be NULL. */
static void list_roots(const char *roots[ROOT_COUNT]) {
    roots[0] = getenv("CUDA_HOME");
    roots[1] = getenv("CUDA_PATH");
    roots[2] = "/usr/local/cuda";
}

/* True when root/path exists; `out` then holds it. */
static bool find_below(const char *root, const char *path, char out[PATH_SIZE]) {
    if (!root || !*root) return false;
    int size = snprintf(out, PATH_SIZE, "%s/%s", root, path);
    return size < PATH_SIZE && access(out, R_OK) == 0;
}

/* What the loader is asked for, one after the other. */
struct search {
    char found[ROOT_COUNT * SONAME_COUNT][PATH_SIZE];
    const char *names[ROOT_COUNT * SONAME_COUNT + SONAME_COUNT + 1];
};

static void list_names(struct search *out) {
    const char *roots[ROOT_COUNT];
    size_t count = 0, used = 0;
    list_roots(roots);
    for (int root = 0; root < ROOT_COUNT; root++) {
        bool system = root == ROOT_COUNT - 1;
        for (int i = 0; system && i < SONAME_COUNT; i++) out->names[count++] = sonames[i];
        for (int i = 0; i < SONAME_COUNT; i++) {
            char path[64];
            snprintf(path, sizeof path, "lib64/%s", sonames[i]);
            if (!find_below(roots[root], path, out->found[used])) continue;
            out->names[count++] = out->found[used++];
        }
    }
    out->names[count] = NULL;
}

static mare_status load_library(void) {
    static const mr_symbol symbols[] = {
#define MR_NVRTC_CALL(result, symbol, arguments) { #symbol, (void **)&nvrtc.symbol, true },
#include "nvrtc_syms.def"
    };
    struct search search;
    list_names(&search);
    return mr_dl_load(search.names, symbols, sizeof symbols / sizeof *symbols, NULL, 0);
}

static void load_once(void) {
    state.status = load_library();
    if (state.status == MARE_OK)
        state.status = check(nvrtc.nvrtcVersion(&state.major, &state.minor), "nvrtcVersion");
    if (state.status != MARE_OK)
        snprintf(state.reason, sizeof state.reason,
                 "%.800s; NVRTC compiles CUDA programs: install the CUDA toolkit or set CUDA_HOME",
                 mare_error_message());
}

static mare_status load(void) {
    pthread_once(&state.once, load_once);
    if (state.status != MARE_OK) return mr_fail(state.status, "%s", state.reason);
    return MARE_OK;
}

/* ---- its version ---- */

/* Changes with the file. */
static void add_stamp(mr_text *out, const char *path) {
    struct stat file;
    if (stat(path, &file) != 0) return;
    mr_text_format(out, "%lld bytes of %lld.%09ld", (long long)file.st_size,
                   (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

/* Everything by which the loader finds the file: while this is the same, so is the path. */
static void describe_search(mr_text *out) {
    const char *folders = getenv("LD_LIBRARY_PATH");
    struct search search;
    list_names(&search);
    mr_text_format(out, "where is NVRTC\n%s\n", folders ? folders : "");
    add_stamp(out, "/etc/ld.so.cache");
    for (const char **name = search.names; *name; name++) mr_text_format(out, "\n%s", *name);
}

/* Kept is "NVRTC 13.0\nPATH\nSTAMP". */
static bool recall(const mr_text *search, char *out, size_t size) {
    mr_blob kept = { 0 };
    mr_text text = { 0 }, stamp = { 0 };
    if (!mr_cache_load(search->data, search->size, &kept)) return false;
    mr_text_append(&text, kept.data, kept.size);
    char *path = text.data ? strchr(text.data, '\n') : NULL;
    char *end = path ? strchr(path + 1, '\n') : NULL;
    if (end) {
        *path = *end = '\0';
        add_stamp(&stamp, path + 1);
    }
    bool same = stamp.size && !strcmp(mr_text_cstr(&stamp), end + 1);
    if (same) snprintf(out, size, "%s", text.data);
    mr_text_free(&stamp);
    mr_text_free(&text);
    free(kept.data);
    return same;
}

static void keep(const mr_text *search, const char *version) {
    char path[PATH_SIZE];
    mr_text text = { 0 };
    mr_dl_path(*(void **)&nvrtc.nvrtcVersion, path, sizeof path);
    mr_text_format(&text, "%s\n%s\n", version, path);
    add_stamp(&text, path);
    if (!text.failed)
        mr_cache_store(search->data, search->size, "NVRTC", "its version",
                       &(mr_blob){ text.data, text.size });
    mr_text_free(&text);
}

static char version[64];

static void find_version(void) {
    mr_text search = { 0 };
    describe_search(&search);
    bool known = !search.failed && recall(&search, version, sizeof version);
    if (!known) {
        pthread_once(&state.once, load_once);
        bool good = state.status == MARE_OK;
        if (good) snprintf(version, sizeof version, "NVRTC %d.%d", state.major, state.minor);
        else snprintf(version, sizeof version, "no NVRTC");
        if (good && !search.failed) keep(&search, version);
    }
    mr_text_free(&search);
}

void mr_nvrtc_version(char *out, size_t size) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_version);
    snprintf(out, size, "%s", version);
}

/* ---- options ---- */

/* Options lie one after another, each with its NUL, until their number is known. */
struct options { mr_text text; int count; };

static void add(struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct options *options, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    mr_text_vformat(&options->text, format, arguments);
    va_end(arguments);
    mr_text_append(&options->text, "", 1);
    options->count++;
}

static void add_math(struct options *options, uint32_t math) {
    if (math == MARE_MATH_RELAXED) {
        add(options, "--use_fast_math");
        return;
    }
    bool strict = math == MARE_MATH_STRICT;
    add(options, "--fmad=false");
    add(options, "--ftz=%s", strict ? "false" : "true");
    add(options, "--prec-div=%s", strict ? "true" : "false");
    add(options, "--prec-sqrt=%s", strict ? "true" : "false");
}

/* The user's own options, split at blanks. */
static void add_words(struct options *options, const char *words) {
    while (*(words += strspn(words, " \t\n"))) {
        size_t size = strcspn(words, " \t\n");
        add(options, "%.*s", (int)size, words);
        words += size;
    }
}

/* nvcc finds the toolkit's headers, such as cuda_fp16.h, by itself. */
static void add_toolkit_headers(struct options *options) {
    const char *roots[ROOT_COUNT];
    char path[PATH_SIZE];
    list_roots(roots);
    for (int i = 0; i < ROOT_COUNT; i++)
        if (find_below(roots[i], "include", path)) add(options, "--include-path=%s", path);
}

/* NVRTC searches no other folder. That of another toolkit, or with a file put in its place, has
 * another stamp; a file that is written over has not. */
void mr_nvrtc_headers(uint32_t language, mr_text *out) {
    const char *roots[ROOT_COUNT];
    char path[PATH_SIZE];
    list_roots(roots);
    for (int i = 0; language == MARE_LANGUAGE_CUDA && i < ROOT_COUNT; i++) {
        if (!find_below(roots[i], "include", path)) continue;
        mr_text_format(out, "\n%s ", path);
        add_stamp(out, path);
    }
}

/* Whether NVRTC may leave out textures and the types of the runtime library, which the dialect does
 * not know: to declare them takes a seventh of a small program's time. The binary is the same. */
static bool may_leave_out(const mr_source *source) {
    bool knows = state.major > 12 || (state.major == 12 && state.minor >= 4);
    return knows && source->language != MARE_LANGUAGE_CUDA;
}

/* Whether the prelude was told to leave words out: its defines come first. */
static bool is_brief(const mr_source *source) {
    const char *define = strstr(source->text, "#define MR_BRIEF ");
    const char *prelude = strstr(source->text, "#line ");
    return define && prelude && define < prelude;
}

/* A small kernel takes three quarters of the time without some optimizations. Which NVRTC first
 * knew of them is not documented; 13.0 does. For a debugger nothing is optimized. */
static void add_effort(struct options *options, const mr_source *source) {
    if (mr_wants_debug()) add(options, "--device-debug");
    else if (!is_brief(source)) add(options, "--generate-line-info");
    else if (state.major >= 13) add(options, "--Ofast-compile=min");
}

static void add_all(struct options *options, const char *arch, const mr_source *source) {
    add(options, "--gpu-architecture=%s", arch);
    add(options, "--std=c++17");
    add_effort(options, source);
    if (may_leave_out(source)) add(options, "--minimal");
    add_math(options, source->math);
    for (uint64_t i = 0; i < source->define_count; i++) {
        const char *value = source->defines[i].value;
        add(options, "--define-macro=%s=%s", source->defines[i].name, value ? value : "1");
    }
    if (source->language == MARE_LANGUAGE_CUDA) add_toolkit_headers(options);
    add_words(options, source->options);
}

static const char **list_options(const struct options *options) {
    if (options->text.failed) return NULL;
    const char **list = calloc((size_t)options->count, sizeof *list);
    const char *at = options->text.data;
    for (int i = 0; list && i < options->count; i++, at += strlen(at) + 1) list[i] = at;
    return list;
}

/* ---- compiling ---- */

/* A program without text from the compiler leaves `out` empty. */
static mare_status fetch_log(struct _nvrtcProgram *program, mr_blob *out) {
    size_t size = 0;
    MR_TRY(check(nvrtc.nvrtcGetProgramLogSize(program, &size), "nvrtcGetProgramLogSize"));
    if (size < 2) return MARE_OK;
    char *text = calloc(size + 1, 1);
    if (!text) return mr_fail(MARE_ERROR_MEMORY, "compiler log: out of host memory");
    mare_status status = check(nvrtc.nvrtcGetProgramLog(program, text), "nvrtcGetProgramLog");
    if (status != MARE_OK) {
        free(text);
        return status;
    }
    *out = (mr_blob){ text, strlen(text) };
    return MARE_OK;
}

static mare_status fetch(struct _nvrtcProgram *program, bool ptx, mr_blob *out) {
    size_t size = 0;
    unsigned code = ptx ? nvrtc.nvrtcGetPTXSize(program, &size)
                        : nvrtc.nvrtcGetCUBINSize(program, &size);
    MR_TRY(check(code, ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize"));
    if (!size) return mr_fail(MARE_ERROR_BUILD, "NVRTC made no binary: the target must be an sm_");
    char *data = malloc(size + 1);
    if (!data)
        return mr_fail(MARE_ERROR_MEMORY, "code of %zu bytes: out of host memory", size);
    code = ptx ? nvrtc.nvrtcGetPTX(program, data) : nvrtc.nvrtcGetCUBIN(program, data);
    mare_status status = check(code, ptx ? "nvrtcGetPTX" : "nvrtcGetCUBIN");
    if (status != MARE_OK) {
        free(data);
        return status;
    }
    data[size] = '\0';
    *out = (mr_blob){ data, ptx ? strlen(data) : size };
    return MARE_OK;
}

static mare_status fetch_lowered(struct _nvrtcProgram *program, const char *instance,
                                 mr_text *out) {
    const char *lowered = NULL;
    if (!instance) return MARE_OK;
    MR_TRY(check(nvrtc.nvrtcGetLoweredName(program, instance, &lowered), "nvrtcGetLoweredName"));
    mr_text_format(out, "%s", lowered);
    return MARE_OK;
}

static mare_status compile(struct _nvrtcProgram *program, const char *const *options, int count,
                           const char *instance, mr_nvrtc_result *out) {
    if (instance)
        MR_TRY(check(nvrtc.nvrtcAddNameExpression(program, instance), "nvrtcAddNameExpression"));
    unsigned code = nvrtc.nvrtcCompileProgram(program, count, options);
    MR_TRY(fetch_log(program, &out->log));
    mare_status status = check(code, "nvrtcCompileProgram");
    if (status == MARE_ERROR_BUILD && out->log.size)
        return mr_fail(MARE_ERROR_BUILD, "NVRTC %d.%d says:\n%s", state.major, state.minor,
                       (const char *)out->log.data);
    MR_TRY(status);
    MR_TRY(fetch_lowered(program, instance, &out->lowered));
    return fetch(program, out->wants_ptx, &out->code);
}

static mare_status compile_text(const mr_source *source, const char *const *options, int count,
                                mr_nvrtc_result *out) {
    struct _nvrtcProgram *program = NULL;
    MR_TRY(check(nvrtc.nvrtcCreateProgram(&program, source->text, source->name, 0, NULL, NULL),
                 "nvrtcCreateProgram"));
    mare_status status = compile(program, options, count, source->instance, out);
    (void)nvrtc.nvrtcDestroyProgram(&program);
    return status;
}

mare_status mr_nvrtc_compile(const char *arch, const mr_source *source, mr_nvrtc_result *out) {
    MR_TRY(load());
    mare_status status = MARE_OK;
    struct options options = { 0 };
    add_all(&options, arch, source);
    const char **list = list_options(&options);
    if (list) status = compile_text(source, list, options.count, out);
    else status = mr_fail(MARE_ERROR_MEMORY, "compiler options: out of host memory");
    free(list);
    mr_text_free(&options.text);
    return status;
}
