/* code.c - programs as code: what a compiler has made of one, programs from code of others, the
 * variables of a program. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- the code of a program ---- */

/* The descriptor that the program could have been created with. */
static mare_program_desc desc_of(const mare_program *program) {
    return (mare_program_desc){ .source = mr_text_cstr(&program->source),
                                .name = program->object.label,
                                .language = program->language,
                                .math = program->math,
                                .defines = program->defines,
                                .define_count = program->define_count,
                                .options = program->options };
}

static mare_status make_code(const mare_program *program, const char *form, mr_blob *out) {
    const mare_device *device = program->device;
    if (!program->options)
        return device->backend->program_code(device->native, program->native, NULL, form, out);
    const mare_program_desc desc = desc_of(program);
    mr_text text = { 0 };
    mr_program_compose(device, &desc, &program->source, &text);
    const mr_source source = { .text = mr_text_cstr(&text),
                               .name = desc.name,
                               .options = desc.options,
                               .language = desc.language,
                               .math = desc.math,
                               .instance = program->instance };
    mare_status status = text.failed ? mr_fail(MARE_ERROR_MEMORY, "out of host memory")
                                     : device->backend->program_code(
                                           device->native, program->native, &source, form, out);
    mr_text_free(&text);
    return status;
}

mare_status mare_program_code(mare_program *program, const char *form, const void **data,
                              uint64_t *size) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const char *const forms[MR_CODE_FORMS] = { "binary", "cubin", "ptx" };
    int i = 0;
    if (!program || !form || !data || !size)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_program_code: program, form, data and size are required");
    while (i < MR_CODE_FORMS && strcmp(form, forms[i]) != 0) i++;
    if (i == MR_CODE_FORMS)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "program '%s': no form '%s' of its code (allowed: binary, cubin, ptx)",
                       program->object.label, form);
    mare_device *device = program->device;
    if (!device->backend->program_code)
        return mr_fail(MARE_ERROR_UNAVAILABLE, "program '%s': %s shows no code",
                       program->object.label, device->info.name);
    MR_TRY(mr_program_finish(program));
    mare_status status = mr_device_alive(device);
    pthread_mutex_lock(&lock);
    if (status == MARE_OK && !program->codes[i].data)
        status = make_code(program, form, &program->codes[i]);
    *data = program->codes[i].data;
    *size = program->codes[i].size;
    pthread_mutex_unlock(&lock);
    if (status == MARE_OK) return MARE_OK;
    return mr_device_note(device, mr_annotate(status, "program '%s'", program->object.label));
}

/* ---- programs from code ---- */

static mare_status take(mare_program *program, const mare_program_desc *desc, const void *code,
                        uint64_t size) {
    mare_device *device = program->device;
    bool complete = false;
    MR_TRY(mr_device_alive(device));
    MR_TRY(mr_program_keep_defines(program, desc));
    MR_TRY(mr_source_flatten(desc, &program->source, &complete));
    char *ended = malloc((size_t)size + 1);
    if (!ended)
        return mr_fail(MARE_ERROR_MEMORY, "code of %llu bytes: out of host memory",
                       (unsigned long long)size);
    memcpy(ended, code, (size_t)size);
    ended[size] = '\0';
    const mr_blob blob = { ended, (size_t)size };
    mare_status status = device->backend->program_take(device->native, &blob, &program->native);
    free(ended);
    return status;
}

mare_status mare_program_load(mare_device *device, const mare_program_desc *desc, const void *code,
                              uint64_t size, mare_program **out) {
    if (out) *out = NULL;
    if (!device || !desc || !code || !out)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_program_load: device, desc, code and out are required");
    const char *name = desc->name ? desc->name : "code";
    if (!size) return mr_fail(MARE_ERROR_ARGUMENT, "program '%s': code of 0 bytes", name);
    MR_TRY(mr_program_check_desc(device, desc, name));
    if (desc->options && *desc->options)
        return mr_fail(MARE_ERROR_ARGUMENT, "program '%s': options '%s', but nothing is compiled",
                       name, desc->options);
    if (!device->backend->program_take)
        return mr_fail(MARE_ERROR_UNAVAILABLE, "program '%s': %s takes no code of others", name,
                       device->info.name);
    mare_program *program = mr_program_new(device, desc, name);
    if (!program) return MARE_ERROR_MEMORY;
    mare_status status = take(program, desc, code, size);
    if (status == MARE_OK) {
        *out = program;
        return MARE_OK;
    }
    mr_program_destroy(program);
    return mr_device_note(device, mr_annotate(status, "program '%s'", name));
}

/* ---- variables ---- */

static mare_status adopt_variable(mare_program *program, const char *name, uint32_t type,
                                  mare_buffer **out) {
    mare_device *device = program->device;
    uint64_t memory = 0, size = 0;
    MR_TRY(device->backend->program_variable(device->native, program->native, name, &memory,
                                             &size));
    const mare_buffer_desc desc = { .size = size, .type = type, .label = name };
    MR_TRY(mare_buffer_adopt(device, memory, &desc, out));
    (*out)->program = program;
    mare_program_retain(program);
    return MARE_OK;
}

mare_status mare_program_variable(mare_program *program, const char *name, uint32_t type,
                                  mare_buffer **out) {
    if (out) *out = NULL;
    if (!program || !name || !out)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_program_variable: program, name and out are required");
    mare_device *device = program->device;
    if (!device->backend->program_variable)
        return mr_fail(MARE_ERROR_UNAVAILABLE,
                       "program '%s': %s gives no variables of programs: hand it a buffer",
                       program->object.label, device->info.name);
    MR_TRY(mr_program_finish(program));
    mare_status status = mr_device_alive(device);
    if (status == MARE_OK) status = adopt_variable(program, name, type, out);
    if (status == MARE_OK) return MARE_OK;
    return mr_device_note(device, mr_annotate(status, "program '%s'", program->object.label));
}

/* ---- instances of templates ---- */

mare_status mr_program_instance(mare_program *program, const char *expression,
                                mare_program **out) {
    if (!program->options)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "kernel '%s': a program from code has the instances that it has: name one "
                       "as the compiler does",
                       expression);
    const mare_program_desc desc = desc_of(program);
    return mr_program_create_instance(program->device, &desc, expression, out);
}
