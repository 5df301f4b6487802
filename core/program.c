/* program.c - programs, from the user's text to what the compiler gets: checks, include resolution,
 * prelude, defines. build.c goes on from there.
 *
 * The defines are put in front of the text as #define lines, so that no compiler's command line has
 * to quote them: behind the prelude, but for those that it heeds.
 */
#include "internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const mr_language_names[] = { "mare", "cuda", "opencl" };
enum { LANGUAGE_COUNT = sizeof mr_language_names / sizeof *mr_language_names };

/* ---- checks ---- */

static bool is_identifier(const char *name) {
    if (!name || !(isalpha((unsigned char)*name) || *name == '_')) return false;
    while (isalnum((unsigned char)*name) || *name == '_') name++;
    return *name == '\0';
}

static mare_status check_define(const mare_define *define, uint32_t language, const char *name) {
    if (!is_identifier(define->name))
        return mr_fail(MARE_ERROR_ARGUMENT, "program '%s': define '%s' is no identifier", name,
                       define->name ? define->name : "NULL");
    if (language == MARE_LANGUAGE_MARE && define->name[1] == 0 && strchr("xyz", define->name[0]))
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "program '%s': define '%s' would replace a part of mr_gid_%s()", name,
                       define->name, define->name);
    if (define->value && strpbrk(define->value, "\r\n"))
        return mr_fail(MARE_ERROR_ARGUMENT, "program '%s': define '%s' holds a line break", name,
                       define->name);
    return MARE_OK;
}

static bool is_prelude_name(const char *at) {
    at += strspn(at, "= \t\r\n\"'");
    return strncmp(at, "MR_", 3) == 0;
}

/* Types of arguments are read from the text and the defines, and would miss one in the options. The
 * prelude's own names, as MR_REGISTERS beside a bound of registers, are no types. */
static mare_status check_options(const char *options, const char *name) {
    static const char *const words[] = { "-D", "-U", "--define-macro", "--undefine-macro" };
    static const char blanks[] = " \t\r\n\"'";
    if (!options) return MARE_OK;
    for (options += strspn(options, blanks); *options; options += strspn(options, blanks)) {
        size_t size = strcspn(options, blanks);
        for (int i = 0; i < 4; i++)
            if (!strncmp(options, words[i], strlen(words[i])) &&
                !is_prelude_name(options + strlen(words[i])))
                return mr_fail(MARE_ERROR_ARGUMENT,
                               "program '%s': '%.*s' in options: give it in defines", name,
                               (int)size, options);
        options += size;
    }
    return MARE_OK;
}

static mare_status check_desc(const mare_program_desc *desc, const char *name) {
    MR_TRY(mr_check_reserved(desc->reserved, "program", name));
    if (!desc->source) return mr_fail(MARE_ERROR_ARGUMENT, "program '%s': source is NULL", name);
    if (desc->language >= LANGUAGE_COUNT)
        return mr_fail(MARE_ERROR_ARGUMENT, "program '%s': language %u is no mare_language", name,
                       desc->language);
    if (desc->math > MARE_MATH_RELAXED)
        return mr_fail(MARE_ERROR_ARGUMENT, "program '%s': math %u is no mare_math", name,
                       desc->math);
    if ((desc->define_count && !desc->defines) ||
        (desc->include_path_count && !desc->include_paths))
        return mr_fail(MARE_ERROR_ARGUMENT, "program '%s': a list is NULL and its count is not 0",
                       name);
    for (uint64_t i = 0; i < desc->include_path_count; i++)
        if (!desc->include_paths[i])
            return mr_fail(MARE_ERROR_ARGUMENT, "program '%s': include path %llu is NULL", name,
                           (unsigned long long)i);
    for (uint64_t i = 0; i < desc->define_count; i++)
        MR_TRY(check_define(&desc->defines[i], desc->language, name));
    return check_options(desc->options, name);
}

static mare_status check_language(const mr_backend *backend, uint32_t language, const char *name) {
    if (language == MARE_LANGUAGE_MARE || language == backend->language) return MARE_OK;
    if (!backend->runs_kernels) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT,
                   "program '%s': language '%s' does not run on %s devices (allowed: mare, %s)",
                   name, mr_language_names[language], backend->name,
                   mr_language_names[backend->language]);
}

mare_status mr_program_check_desc(const mare_device *device, const mare_program_desc *desc,
                                  const char *name) {
    MR_TRY(check_desc(desc, name));
    return check_language(device->backend, desc->language, name);
}

/* ---- text ---- */

/* The prelude heeds these; the names within it are not for others, such as n, to replace. */
static bool is_for_prelude(const mare_define *define) {
    return strncmp(define->name, "MARE_", 5) == 0 || strncmp(define->name, "MR_", 3) == 0;
}

static void add_defines(const mare_program_desc *desc, bool for_prelude, mr_text *out) {
    for (uint64_t i = 0; i < desc->define_count; i++)
        if (is_for_prelude(&desc->defines[i]) == for_prelude)
            mr_text_format(out, "#define %s %s\n", desc->defines[i].name,
                           desc->defines[i].value ? desc->defines[i].value : "1");
}

/* What the compiler gets: the prelude with its defines, the others, the user's text. */
static void compose(const mr_backend *backend, const mare_program_desc *desc, bool is_cpu,
                    const mr_text *flat, mr_text *out) {
    add_defines(desc, true, out);
    if (desc->language == MARE_LANGUAGE_MARE) {
        if (is_cpu) mr_text_format(out, "#define MR_CPU 1\n");
        if (desc->math == MARE_MATH_FAST) mr_text_format(out, "#define MR_FAST 1\n");
        mr_text_format(out, "#line 1 \"mare/prelude\"\n%s\n#line 1 \"mare/defines\"\n",
                       backend->prelude);
    }
    add_defines(desc, false, out);
    mr_text_append(out, mr_text_cstr(flat), flat->size);
}

void mr_program_compose(const mare_device *device, const mare_program_desc *desc,
                        const mr_text *flat, mr_text *out) {
    compose(device->backend, desc, device->info.kind == MARE_DEVICE_CPU, flat, out);
}

static mr_source source_of(const mare_program_desc *desc, const mr_text *text) {
    return (mr_source){ .text = mr_text_cstr(text),
                        .name = desc->name ? desc->name : "source",
                        .options = desc->options ? desc->options : "",
                        .language = desc->language,
                        .math = desc->math };
}

mare_status mr_program_keep_defines(mare_program *program, const mare_program_desc *desc) {
    if (!desc->define_count) return MARE_OK;
    program->defines = calloc(desc->define_count, sizeof *program->defines);
    if (!program->defines) return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    program->define_count = desc->define_count;
    for (uint64_t i = 0; i < desc->define_count; i++) {
        const char *value = desc->defines[i].value ? desc->defines[i].value : "1";
        program->defines[i] = (mare_define){ strdup(desc->defines[i].name), strdup(value) };
        if (!program->defines[i].name || !program->defines[i].value)
            return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    }
    return MARE_OK;
}

/* What the options make the compiler read is not in the key. */
static bool reads_files(const char *options) {
    static const char *const words[] = { "-I",       "include",  "-isystem", "-idirafter",
                                         "-iquote",  "-imacros", "sysroot",  "options-file",
                                         "-optf",    "@" };
    for (size_t i = 0; options && i < sizeof words / sizeof *words; i++)
        if (strstr(options, words[i])) return true;
    return false;
}

static mare_status new_build(mare_program *program, const mare_program_desc *desc, bool complete) {
    mr_build *build = calloc(1, sizeof *build);
    program->build = build;
    if (!build) return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    build->is_keepable = complete && !reads_files(desc->options);
    build->name = strdup(desc->name ? desc->name : "source");
    build->options = strdup(desc->options ? desc->options : "");
    build->language = desc->language;
    build->math = desc->math;
    program->options = strdup(build->options ? build->options : "");
    if (program->instance) build->instance = strdup(program->instance);
    if (!build->name || !build->options || !program->options ||
        (program->instance && !build->instance))
        return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    return MARE_OK;
}

/* Everything up to the compiler: what the descriptor points to is not needed any more. */
static mare_status read_desc(mare_program *program, const mare_program_desc *desc) {
    bool complete = false;
    MR_TRY(mr_device_alive(program->device));
    MR_TRY(mr_program_keep_defines(program, desc));
    MR_TRY(mr_source_flatten(desc, &program->source, &complete));
    MR_TRY(new_build(program, desc, complete));
    mr_program_compose(program->device, desc, &program->source, &program->build->text);
    return mr_build_key(program);
}

void mr_program_destroy(mare_program *program) {
    if (!program) return;
    mare_device *device = program->device;
    mr_reuse_leave(program);
    if (program->native.u64) device->backend->program_unload(device->native, program->native);
    for (uint64_t i = 0; i < program->define_count; i++) {
        free((char *)(uintptr_t)program->defines[i].name);
        free((char *)(uintptr_t)program->defines[i].value);
    }
    free(program->defines);
    free(program->options);
    free(program->instance);
    for (int i = 0; i < MR_CODE_FORMS; i++) free(program->codes[i].data);
    mr_build_free(program);
    mr_text_free(&program->failure);
    mr_text_free(&program->log);
    mr_text_free(&program->source);
    mare_device_release(device);
    mr_object_delete(&program->object);
}

mare_program *mr_program_new(mare_device *device, const mare_program_desc *desc,
                             const char *name) {
    mare_program *program = mr_object_new(sizeof *program, "program", name);
    if (!program) return NULL;
    program->device = device;
    program->language = desc->language;
    program->math = desc->math;
    mare_device_retain(device);
    return program;
}

/* One that the device has, or that came from the cache, or (*is_new) is still to be compiled.
 * instance: of a template, which it is to hold; NULL: none */
static mare_status new_program(mare_device *device, const mare_program_desc *desc,
                               const char *instance, const char *call, mare_program **out,
                               bool *is_new) {
    if (!device || !desc || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "%s: device, desc and out are required", call);
    const char *name = desc->name ? desc->name : "source";
    MR_TRY(mr_program_check_desc(device, desc, name));
    mare_program *program = mr_program_new(device, desc, name);
    if (!program) return MARE_ERROR_MEMORY;
    mare_status status = MARE_OK;
    if (instance && !(program->instance = strdup(instance)))
        status = mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    if (status == MARE_OK) status = read_desc(program, desc);
    if (status != MARE_OK) {
        mr_device_note(device, mr_annotate(status, "program '%s'", name));
        mr_program_destroy(program);
        return status;
    }
    *out = mr_reuse_find(program);
    if (*out) mr_program_destroy(program);
    else mr_build_find(*out = program);
    *is_new = *out == program && program->build;
    return MARE_OK;
}

static mare_status create(mare_device *device, const mare_program_desc *desc,
                          const char *instance, mare_program **out) {
    if (out) *out = NULL;
    mare_program *program = NULL;
    bool is_new = false;
    MR_TRY(new_program(device, desc, instance, "mare_program_create", &program, &is_new));
    mare_status status = is_new ? mr_build_run(program) : mr_program_finish(program);
    if (status == MARE_OK && is_new) mr_reuse_enter(program);
    if (status == MARE_OK) *out = program;
    else mare_program_release(program);
    return status;
}

mare_status mare_program_create(mare_device *device, const mare_program_desc *desc,
                                mare_program **out) {
    return create(device, desc, NULL, out);
}

mare_status mr_program_create_instance(mare_device *device, const mare_program_desc *desc,
                                       const char *expression, mare_program **out) {
    return create(device, desc, expression, out);
}

mare_status mare_program_begin(mare_device *device, const mare_program_desc *desc,
                               mare_program **out) {
    if (out) *out = NULL;
    bool is_new = false;
    MR_TRY(new_program(device, desc, NULL, "mare_program_begin", out, &is_new));
    if (is_new) mr_compile_begin(*out);
    return MARE_OK;
}

mare_status mare_program_wait(mare_program *program, uint64_t timeout_ms, int32_t *done) {
    if (!program || !done)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_program_wait: program and done are required");
    *done = mr_compile_wait(program, timeout_ms);
    if (!*done || program->status == MARE_OK) return MARE_OK;
    return mr_fail(program->status, "%s", mr_text_cstr(&program->failure));
}

mare_status mr_program_finish(mare_program *program) {
    int32_t done = 0;
    return mare_program_wait(program, UINT64_MAX, &done);
}

void mare_program_retain(mare_program *program) {
    if (program) mr_object_retain(&program->object);
}

void mare_program_release(mare_program *program) {
    if (program && mr_object_unref(&program->object)) mr_program_destroy(program);
}

/* What is read of a program that is being compiled is read when it has ended. */
static bool has_ended(const mare_program *program) {
    return program && mr_compile_wait((mare_program *)(uintptr_t)program, UINT64_MAX);
}

const char *mare_program_log(const mare_program *program) {
    return has_ended(program) ? mr_text_cstr(&program->log) : "";
}

int mare_program_cached(const mare_program *program) {
    return has_ended(program) && program->cached;
}

/* ---- compiling without a device ---- */

static mare_status check_on(const mr_backend *backend, const char *arch,
                            const mare_program_desc *desc, mr_blob *binary, mr_blob *log) {
    mr_text flat = { 0 }, text = { 0 };
    bool complete = false;
    mare_status status = mr_source_flatten(desc, &flat, &complete);
    if (status != MARE_OK) goto done;
    compose(backend, desc, false, &flat, &text);
    mr_source source = source_of(desc, &text);
    status = text.failed ? mr_fail(MARE_ERROR_MEMORY, "out of host memory")
                         : backend->program_check(arch, &source, binary, log);
done:
    mr_text_free(&flat);
    mr_text_free(&text);
    return status;
}

mare_status mare_program_check(const char *target, const mare_program_desc *desc, uint64_t *size,
                               char *log, uint64_t log_size) {
    if (!target || !desc || !size)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_program_check: target, desc and size are required");
    *size = 0;
    if (log && log_size) log[0] = '\0';
    const char *name = desc->name ? desc->name : "source";
    const char *colon = strchr(target, ':');
    const mr_backend *backend =
        mr_registry_find(target, colon ? (size_t)(colon - target) : strlen(target));
    if (!backend) return mr_registry_unknown("target", target);
    MR_TRY(check_desc(desc, name));
    MR_TRY(check_language(backend, desc->language, name));
    if (!backend->program_check)
        return mr_fail(MARE_ERROR_UNAVAILABLE,
                       "target '%s': %s compiles only for a device that is there", target,
                       backend->name);
    if (!colon || !colon[1])
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "target '%s': an architecture is needed, such as cuda:sm_90", target);
    mr_blob binary = { 0 }, said = { 0 };
    mare_status status = check_on(backend, colon + 1, desc, &binary, &said);
    *size = binary.size;
    if (log && log_size && said.size) mr_text_cut(log, (size_t)log_size, said.data);
    free(binary.data);
    free(said.data);
    MR_TRY_WITH(status, "program '%s'", name);
    return MARE_OK;
}
