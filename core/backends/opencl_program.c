/* opencl_program.c - compiles programs and tells about their kernels.
 *
 * What mare.h promises of maths is kept by one pragma and one option: FP_CONTRACT OFF keeps a * b +
 * c apart, and without -cl-fp32-correctly-rounded-divide-sqrt the vendor may divide approximately.
 * NVIDIA's compiler is not asked to flush denormal numbers: it would do so in sums and changes of
 * sign only, for which it then takes instructions of their own instead of parts of a product.
 * A binary travels with its options in front ("options NUL binary"), since the driver finishes
 * compiling when it is loaded. The program that was built is taken as it is: to load its binary
 * costs NVIDIA's driver a third of the compilation again. PoCL compiles a kernel for the shape of
 * its first launch; asked for a binary, it compiles each for any shape too, so it is asked only
 * where somebody keeps that. NVIDIA's tells registers of a binary only.
 * PoCL 3.1 reads clang's header of all functions of OpenCL C before each program, which takes 0.12
 * of the 0.14 s of processor time of a small one, and 15 of the 22 ms of one that it has kept. The
 * prelude declares what the dialect needs, so the header's guard is defined; a text that calls
 * anything else is compiled again with it.
 */
#include "opencl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ---- text and options for the compiler ---- */

static bool has_option(const mr_opencl_entry *entry, uint32_t math) {
    if (math == MARE_MATH_STRICT) return entry->has_rounded_division;
    return math != MARE_MATH_FAST || !entry->ptx_arch;
}

static void add_options(mr_text *out, const mr_opencl_entry *entry, const mr_source *source) {
    static const char *const by_math[] = {
        [MARE_MATH_STRICT] = " -cl-fp32-correctly-rounded-divide-sqrt",
        [MARE_MATH_FAST] = " -cl-denorms-are-zero",
        [MARE_MATH_RELAXED] = " -cl-fast-relaxed-math",
    };
    if (!strstr(source->options, "-cl-std=")) mr_text_format(out, " -cl-std=CL1.2");
    if (has_option(entry, source->math)) mr_text_format(out, "%s", by_math[source->math]);
    if (entry->ptx_arch) mr_text_format(out, " -DMR_PTX_ARCH=%u", entry->ptx_arch);
    if (mr_wants_debug()) mr_text_format(out, " -cl-opt-disable%s", entry->is_nvidia ? "" : " -g");
    if (*source->options) mr_text_format(out, " %s", source->options);
}

/* What stands in front of the text: one line, or nothing. */
static const char *heading(const mr_source *source) {
    return source->math == MARE_MATH_RELAXED ? "" : "#pragma OPENCL FP_CONTRACT OFF\n";
}

static unsigned heading_lines(const mr_source *source) {
    return *heading(source) != '\0';
}

/* ---- the compiler's log ---- */

static void read_log(const mr_opencl_device *device, struct mr_cl_program *program, mr_text *out) {
    size_t size = 0;
    if (mr_cl.clGetProgramBuildInfo(program, device->entry->id, MR_CL_PROGRAM_BUILD_LOG, 0, NULL,
                                    &size) != 0)
        return;
    char *log = size ? calloc(1, size + 1) : NULL;
    if (!log) return;
    if (mr_cl.clGetProgramBuildInfo(program, device->entry->id, MR_CL_PROGRAM_BUILD_LOG, size, log,
                                    NULL) == 0) {
        size_t length = strlen(log);
        while (length && (log[length - 1] == '\n' || log[length - 1] == ' '))
            length--;
        mr_text_append(out, log, length);
    }
    free(log);
}

/* A walk over the lines of flat text, which changes file at its #line directives. */
typedef struct line_cursor {
    const char *text, *rest;
    size_t length;
    char file[256];
    unsigned line, physical;
} line_cursor;

static bool next_line(line_cursor *cursor) {
    unsigned number = 0;
    if (!*cursor->rest) return false;
    cursor->text = cursor->rest;
    cursor->length = strcspn(cursor->text, "\n");
    cursor->rest += cursor->length + (cursor->rest[cursor->length] == '\n');
    cursor->physical++;
    cursor->line++;
    if (*cursor->text == '#' &&
        sscanf(cursor->text, "#line %u \"%255[^\"]\"", &number, cursor->file) >= 1)
        cursor->line = number - 1;
    return true;
}

static line_cursor first_line(const mr_source *source) {
    line_cursor cursor = { .rest = source->text };
    snprintf(cursor.file, sizeof cursor.file, "%s", source->name);
    return cursor;
}

/* The text of line `line` of `file`. */
static const char *find_line(const mr_source *source, const char *file, unsigned line,
                             size_t *length) {
    for (line_cursor at = first_line(source); next_line(&at);)
        if (at.line == line && *at.text != '#' && !strcmp(at.file, file)) {
            *length = at.length;
            return at.text;
        }
    return NULL;
}

/* PoCL says "error: file:line:column: words"; everybody else puts the place in front. */
static bool parse_place(const char *text, char kind[16], char file[256], unsigned *line,
                        unsigned *column, int *words) {
    *words = 0;
    return sscanf(text, "%15[a-z]: %255[^:\n]:%u:%u: %n", kind, file, line, column, words) == 4 &&
           *words > 0;
}

static void add_excerpt(mr_text *out, const mr_source *source, const char *file, unsigned line,
                        unsigned column) {
    size_t length = 0;
    const char *text = find_line(source, file, line, &length);
    if (!text || column == 0 || column > length + 1) return;
    mr_text_format(out, "%.*s\n", (int)length, text);
    for (unsigned i = 1; i < column; i++)
        mr_text_append(out, text[i - 1] == '\t' ? "\t" : " ", 1);
    mr_text_append(out, "^\n", 2);
}

/* NVIDIA counts the lines of the whole text and ignores #line: "<kernel>:117:12: error: words". */
static bool add_true_place(mr_text *out, const mr_source *source, const char *log, size_t size) {
    unsigned physical = 0;
    int words = 0;
    if (sscanf(log, "<kernel>:%u:%n", &physical, &words) != 1 || words == 0) return false;
    line_cursor at = first_line(source);
    while (at.physical + heading_lines(source) < physical)
        if (!next_line(&at)) return false;
    mr_text_format(out, "%s:%u:%.*s\n", at.file, at.line, (int)size - words, log + words);
    return true;
}

/* PoCL's place goes to the front, and its line is shown with a caret, as other compilers do. */
static bool add_place_and_line(mr_text *out, const mr_source *source, const char *log,
                               size_t size) {
    char kind[16], file[256];
    unsigned line, column;
    int words;
    if (!parse_place(log, kind, file, &line, &column, &words)) return false;
    mr_text_format(out, "%s:%u:%u: %s: %.*s\n", file, line, column, kind, (int)size - words,
                   log + words);
    add_excerpt(out, source, file, line, column);
    return true;
}

/* NVIDIA's compiler since 550 says this of every kernel, whose text is not to blame. */
static bool is_chatter(const char *log, size_t size) {
    static const char words[] = "is a kernel, so overriding noinline attribute";
    return memmem(log, size, words, sizeof words - 1) != NULL;
}

/* The log with the user's own files and lines. */
static void add_readable(mr_text *out, const mr_source *source, const char *log) {
    bool has_carets = strchr(log, '^');
    while (*log) {
        size_t size = strcspn(log, "\n");
        if (!is_chatter(log, size) && !add_true_place(out, source, log, size) &&
            (has_carets || !add_place_and_line(out, source, log, size)))
            mr_text_format(out, "%.*s\n", (int)size, log);
        log += size + (log[size] == '\n');
    }
}

/* ---- building ---- */

static int32_t build(struct mr_cl_program *program, const mr_opencl_entry *entry,
                     const char *options) {
    MR_OPENCL_HOLD_SIGNALS(mask);
    struct mr_cl_device *id = entry->id;
    return mr_cl.clBuildProgram(program, 1, &id, options, NULL, NULL);
}

/* The clang in PoCL ends what it has to say with "1 error generated." on standard error, unless it
 * shows no carets, which PoCL's log lacks anyway. PoCL looks at options that blanks divide, clang
 * at those that any space does; whoever takes this for one has a macro that nobody uses. */
static int32_t build_quietly(struct mr_cl_program *program, const mr_opencl_entry *entry,
                             const char *options) {
    mr_text all = { 0 };
    mr_text_format(&all, "%s -DMR_NO_CARETS=1\t-fno-caret-diagnostics", options);
    int32_t code = build(program, entry, all.failed ? options : mr_text_cstr(&all));
    mr_text_free(&all);
    return code == MR_CL_INVALID_BUILD_OPTIONS ? build(program, entry, options) : code;
}

/* `what` is the program's name or says that it is a binary. */
/* A compiler writes files; PoCL's does not say that it was not allowed to. */
static mare_status blame_limit(mare_status status, const char *log) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || strstr(log, "error"))
        return status;
    return mr_fail(status,
                   "%s; files are limited to %llu KiB (ulimit -f), where those of a compiler may "
                   "not fit",
                   mare_error_message(), (unsigned long long)limit.rlim_cur >> 10);
}

static mare_status fail_build(int32_t code, const char *what, const char *options,
                              const char *log) {
    mare_status status = mr_opencl_fail(code, "clBuildProgram", "%s,%s", what, options);
    status = blame_limit(status, log);
    return *log ? mr_fail(status, "%s\n%s", mare_error_message(), log) : status;
}

static mare_status compile(const mr_opencl_device *device, const mr_source *source,
                           const char *options, struct mr_cl_program **out, mr_text *log) {
    mr_text raw = { 0 };
    mare_status status = MARE_OK;
    struct mr_cl_program *program = NULL;
    int32_t code = 0;
    const char *texts[] = { heading(source), source->text };
    if (device->entry->is_pocl) MR_TRY(mr_opencl_check_room());
    program = mr_cl.clCreateProgramWithSource(device->context, 2, texts, NULL, &code);
    if (!program) {
        status = mr_opencl_fail(code, "clCreateProgramWithSource", "%s", source->name);
        goto done;
    }
    code = device->entry->is_pocl ? build_quietly(program, device->entry, options)
                                  : build(program, device->entry, options);
    read_log(device, program, &raw);
    add_readable(log, source, mr_text_cstr(&raw));
    if (code != 0) status = fail_build(code, source->name, options, mr_text_cstr(log));
done:
    if (status != MARE_OK && program)
        mr_cl.clReleaseProgram(program);
    else
        *out = program;
    mr_text_free(&raw);
    return status;
}

static mare_status get_binary(struct mr_cl_program *program, const mr_text *options, mr_blob *out) {
    size_t size = 0;
    MR_CL_TRY(clGetProgramInfo, (program, MR_CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL),
              "CL_PROGRAM_BINARY_SIZES");
    if (size == 0)
        return mr_fail(MARE_ERROR_DEVICE, "clGetProgramInfo(CL_PROGRAM_BINARY_SIZES): no binary");
    size_t head = options->size + 1;
    unsigned char *data = malloc(head + size);
    if (!data)
        return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a binary of %zu bytes", size);
    memcpy(data, mr_text_cstr(options), head);
    unsigned char *binary = data + head;
    int32_t code =
        mr_cl.clGetProgramInfo(program, MR_CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL);
    if (code != 0) {
        free(data);
        return mr_opencl_fail(code, "clGetProgramInfo", "CL_PROGRAM_BINARIES, %zu bytes", size);
    }
    *out = (mr_blob){ data, head + size };
    return MARE_OK;
}

static mare_status wrap(struct mr_cl_program *program, mr_native *out) {
    mr_opencl_program *wrapped = calloc(1, sizeof *wrapped);
    if (!wrapped) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a program");
    wrapped->program = program;
    out->ptr = wrapped;
    return MARE_OK;
}

static mare_status get_linked(struct mr_cl_program *program, const mr_text *options,
                              mr_blob *binary) {
    MR_OPENCL_HOLD_SIGNALS(mask); /* PoCL links here */
    return get_binary(program, options, binary);
}

/* Gives the program that was built, and the binary to whom keeps it. */
static mare_status take(struct mr_cl_program *program, const mr_source *source,
                        const mr_text *options, mr_blob *binary, mr_native *loaded) {
    if (source->is_kept) MR_TRY(get_linked(program, options, binary));
    return wrap(program, loaded);
}

/* With the options that it takes, and without `more` if it does not compile with them. */
static mare_status compile_either(const mr_opencl_device *device, const mr_source *source,
                                  const char *more, mr_text *options,
                                  struct mr_cl_program **out, mr_text *log) {
    mr_text_free(options);
    mr_text_free(log);
    add_options(options, device->entry, source);
    if (more) mr_text_format(options, "%s", more);
    if (options->failed)
        return mr_fail(MARE_ERROR_MEMORY, "out of host memory for compiler options");
    mare_status status = compile(device, source, mr_text_cstr(options), out, log);
    if (status != MARE_ERROR_BUILD || !more) return status;
    mr_clear_error();
    mr_log(MARE_LOG_DEBUG, "program '%s': needs all functions of OpenCL C", source->name);
    return compile_either(device, source, NULL, options, out, log);
}

mare_status mr_opencl_program_build(mr_native native, const mr_source *source, mr_blob *binary,
                                    mr_native *loaded, mr_blob *log) {
    mr_opencl_device *device = native.ptr;
    mr_text options = { 0 }, words = { 0 };
    struct mr_cl_program *program = NULL;
    const bool is_bare =
        device->entry->has_clang_header && source->language == MARE_LANGUAGE_MARE;
    const char *bare = is_bare ? " -D_OPENCL_H_ -DMR_BARE" : NULL;
    mare_status status = compile_either(device, source, bare, &options, &program, &words);
    if (status == MARE_OK) {
        status = take(program, source, &options, binary, loaded);
        if (status != MARE_OK) mr_cl.clReleaseProgram(program);
    }
    if (words.data && !words.failed) {
        *log = (mr_blob){ words.data, words.size };
        words.data = NULL;
    }
    mr_text_free(&words);
    mr_text_free(&options);
    return status;
}

/* ---- loading ---- */

static mare_status build_binary(const mr_opencl_device *device, const mr_blob *blob,
                                mr_opencl_program *program) {
    const char *options = blob->data;
    const char *end = memchr(options, '\0', blob->size);
    if (!end) return mr_fail(MARE_ERROR_BUILD, "the binary of %zu bytes is cut short", blob->size);
    size_t head = (size_t)(end - options) + 1;
    struct mr_cl_device *id = device->entry->id;
    const unsigned char *binary = (const unsigned char *)blob->data + head;
    size_t size = blob->size - head;
    int32_t code = 0, accepted = 0;
    program->program =
        mr_cl.clCreateProgramWithBinary(device->context, 1, &id, &size, &binary, &accepted, &code);
    if (!program->program)
        return mr_opencl_fail(code, "clCreateProgramWithBinary", "%zu bytes for %s", size,
                              device->entry->info.model);
    mr_text all = { 0 };
    mr_text_format(&all, "%s%s", options, device->entry->has_verbose ? " -cl-nv-verbose" : "");
    code = build(program->program, device->entry, mr_text_cstr(&all));
    read_log(device, program->program, &program->log);
    mare_status status = MARE_OK;
    if (code != 0)
        status = fail_build(code, "a binary", mr_text_cstr(&all), mr_text_cstr(&program->log));
    mr_text_free(&all);
    return status;
}

void mr_opencl_program_unload(mr_native device, mr_native native) {
    (void)device;
    mr_opencl_program *program = native.ptr;
    if (!program) return;
    if (program->program) mr_cl.clReleaseProgram(program->program);
    mr_text_free(&program->log);
    free(program);
}

mare_status mr_opencl_program_load(mr_native native, const mr_blob *binary, mr_native *out) {
    mr_opencl_program *program = calloc(1, sizeof *program);
    if (!program) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a program");
    mare_status status = build_binary(native.ptr, binary, program);
    if (status != MARE_OK)
        mr_opencl_program_unload(native, (mr_native){ .ptr = program });
    else
        out->ptr = program;
    return status;
}

/* ---- code of programs, and programs of others ---- */

/* PoCL ends the process where its binary is cut off or damaged. What it gives travels with this in
 * front, and no other binary is handed to it. */
typedef struct seal {
    char magic[8];
    uint64_t size, checksum;        /* of what follows */
} seal;

static const char seal_magic[8] = { 'm', 'a', 'r', 'e', 'p', 'o', 'c', 'l' };

static mare_status seal_code(mr_blob *code) {
    seal head = { .size = code->size, .checksum = mr_hash(code->data, code->size, 0) };
    char *sealed = malloc(sizeof head + code->size + 1);
    if (sealed) {
        memcpy(head.magic, seal_magic, sizeof head.magic);
        memcpy(sealed, &head, sizeof head);
        memcpy(sealed + sizeof head, code->data, code->size + 1);   /* with its NUL */
    }
    free(code->data);
    *code = (mr_blob){ sealed, sealed ? sizeof head + code->size : 0 };
    return sealed ? MARE_OK : mr_fail(MARE_ERROR_MEMORY, "out of host memory for a binary");
}

static mare_status open_seal(const mr_blob *code, mr_blob *out) {
    seal head = { 0 };
    memcpy(&head, code->data, code->size < sizeof head ? code->size : sizeof head);
    if (memcmp(head.magic, seal_magic, sizeof head.magic) != 0)
        return mr_fail(MARE_ERROR_BUILD,
                       "these %zu bytes are no code that a program of Mare on PoCL gave, and PoCL "
                       "may crash on others: compile the source",
                       code->size);
    if (code->size < sizeof head || head.size != code->size - sizeof head)
        return mr_fail(MARE_ERROR_BUILD, "the code is cut off: %zu bytes are left of %llu",
                       code->size, (unsigned long long)(sizeof head + head.size));
    *out = (mr_blob){ (char *)code->data + sizeof head, (size_t)head.size };
    if (mr_hash(out->data, out->size, 0) == head.checksum) return MARE_OK;
    return mr_fail(MARE_ERROR_BUILD, "the code of %zu bytes is damaged: its checksum is wrong",
                   code->size);
}

mare_status mr_opencl_program_code(mr_native native, mr_native program_native,
                                   const mr_source *source, const char *form, mr_blob *out) {
    const mr_opencl_device *device = native.ptr;
    const mr_opencl_program *program = program_native.ptr;
    const mr_text none = { 0 };
    (void)source;
    if (strcmp(form, "binary") != 0 && !(device->entry->is_nvidia && !strcmp(form, "ptx")))
        return mr_fail(MARE_ERROR_UNAVAILABLE, "%s has no %s of it (allowed: binary%s)",
                       device->entry->info.model, form, device->entry->is_nvidia ? ", ptx" : "");
    MR_TRY(get_linked(program->program, &none, out));
    out->size--;                    /* the empty options in front, with their NUL */
    memmove(out->data, (char *)out->data + 1, out->size);
    ((char *)out->data)[out->size] = '\0';
    return device->entry->is_pocl ? seal_code(out) : MARE_OK;
}

static bool is_spirv(const mr_blob *code) {
    return code->size > 4 && !memcmp(code->data, "\3\2\43\7", 4);
}

static mare_status take_spirv(const mr_opencl_device *device, const mr_blob *code,
                              mr_opencl_program *program) {
    struct mr_cl_device *id = device->entry->id;
    int32_t error = 0;
    if (!mr_cl.clCreateProgramWithIL)
        return mr_fail(MARE_ERROR_UNAVAILABLE, "the OpenCL here has no clCreateProgramWithIL");
    program->program =
        mr_cl.clCreateProgramWithIL(device->context, code->data, code->size, &error);
    if (!program->program) {
        mare_status status = mr_opencl_fail(error, "clCreateProgramWithIL", "%zu bytes",
                                            code->size);
        return mr_annotate(status, "%s takes no SPIR-V, or not this", device->entry->info.model);
    }
    error = mr_cl.clBuildProgram(program->program, 1, &id, "", NULL, NULL);
    read_log(device, program->program, &program->log);
    if (error == 0) return MARE_OK;
    return fail_build(error, "SPIR-V", "", mr_text_cstr(&program->log));
}

/* A binary of the driver's own is loaded as one of the cache, which has options in front. */
static mare_status take_binary(mr_native native, const mr_blob *code, mr_native *out) {
    const mr_opencl_device *device = native.ptr;
    mr_blob own = *code;
    if (device->entry->is_pocl) MR_TRY(open_seal(code, &own));
    char *headed = malloc(own.size + 1);
    if (!headed) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a binary");
    headed[0] = '\0';
    memcpy(headed + 1, own.data, own.size);
    mare_status status = mr_opencl_program_load(native, &(mr_blob){ headed, own.size + 1 }, out);
    free(headed);
    return status;
}

mare_status mr_opencl_program_take(mr_native native, const mr_blob *code, mr_native *out) {
    if (!is_spirv(code)) return take_binary(native, code, out);
    mr_opencl_program *program = calloc(1, sizeof *program);
    if (!program) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a program");
    mare_status status = take_spirv(native.ptr, code, program);
    if (status == MARE_OK) out->ptr = program;
    else mr_opencl_program_unload(native, (mr_native){ .ptr = program });
    return status;
}

mare_status mr_opencl_program_key(mr_native native, uint32_t language, char *out, size_t size) {
    (void)language;
    const mr_opencl_device *device = native.ptr;
    snprintf(out, size, "%s%s", device->entry->key, mr_wants_debug() ? ", debug" : "");
    return MARE_OK;
}

/* ---- kernels ---- */

void mr_opencl_kernel_release(mr_native device, mr_native native) {
    (void)device;
    mr_opencl_kernel *kernel = native.ptr;
    if (!kernel) return;
    if (kernel->kernel) mr_cl.clReleaseKernel(kernel->kernel);
    free(kernel);
}

mare_status mr_opencl_kernel_get(mr_native device, mr_native program, const char *name,
                                 mr_native *out) {
    (void)device;
    mr_opencl_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a kernel");
    int32_t code = 0;
    kernel->program = program.ptr;
    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    kernel->kernel = mr_cl.clCreateKernel(kernel->program->program, name, &code);
    if (!kernel->kernel) {
        free(kernel);
        return mr_opencl_fail(code, "clCreateKernel", "%s", name);
    }
    out->ptr = kernel;
    return MARE_OK;
}

/* NVIDIA's assembler says "entry function 'NAME' ... Used N registers". */
static uint32_t find_registers(const mr_opencl_kernel *kernel) {
    char quoted[144];
    unsigned registers = 0;
    snprintf(quoted, sizeof quoted, "'%s'", kernel->name);
    const char *at = strstr(mr_text_cstr(&kernel->program->log), quoted);
    if (at) at = strstr(at, "Used ");
    return at && sscanf(at, "Used %u registers", &registers) == 1 ? registers : 0;
}

static mare_status get_group_info(const mr_opencl_device *device, const mr_opencl_kernel *kernel,
                                  uint32_t name, size_t size, void *out) {
    MR_CL_TRY(clGetKernelWorkGroupInfo, (kernel->kernel, device->entry->id, name, size, out, NULL),
              "%s", kernel->name);
    return MARE_OK;
}

/* A group that the source fixes runs, however large: NVIDIA's OpenCL (driver 580, H200) tells 256
 * of a kernel of 32 registers with reqd_work_group_size(512, 1, 1). */
static mare_status get_max_group_size(const mr_opencl_device *device,
                                      const mr_opencl_kernel *kernel, uint32_t *out) {
    size_t most = 0, fixed[3] = { 0 };
    MR_TRY(get_group_info(device, kernel, MR_CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most));
    MR_TRY(
        get_group_info(device, kernel, MR_CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof fixed, fixed));
    size_t items = fixed[0] * fixed[1] * fixed[2];
    *out = (uint32_t)(items > most ? items : most);
    return MARE_OK;
}

mare_status mr_opencl_kernel_info(mr_native native, mr_native kernel_native,
                                  mare_kernel_info *out) {
    const mr_opencl_device *device = native.ptr;
    const mr_opencl_kernel *kernel = kernel_native.ptr;
    size_t multiple = 1;
    uint64_t local = 0, private = 0;
    uint32_t count = 0;
    MR_CL_TRY(clGetKernelInfo, (kernel->kernel, MR_CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL),
              "%s", kernel->name);
    MR_TRY(get_max_group_size(device, kernel, &out->max_group_size));
    MR_TRY(get_group_info(device, kernel, MR_CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local));
    MR_TRY(get_group_info(device, kernel, MR_CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private, &private));
    MR_TRY(get_group_info(device, kernel, MR_CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                          sizeof multiple, &multiple));
    out->arg_count = count;
    const uint64_t extra = device->entry->ptx_arch ? MR_PTX_LOCAL_BYTES : 0;
    out->local_memory = local > extra ? local - extra : 0;
    out->private_memory = private;
    out->warp_size = device->entry->info.kind == MARE_DEVICE_CPU ? 1 : (uint32_t)multiple;
    out->registers = find_registers(kernel);
    out->groups_per_unit = 0;
    return MARE_OK;
}
