/* kernel.c - an entry point of a program and what it takes. */
#include "parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void destroy(mare_kernel *kernel) {
    if (!kernel) return;
    mare_device *device = kernel->program->device;
    if (kernel->native.u64) device->backend->kernel_release(device->native, kernel->native);
    mr_signature_free(&kernel->signature);
    mare_program_release(kernel->program);
    mr_object_delete(&kernel->object);
}

static mare_status check_local(const mare_kernel *kernel, uint64_t bytes) {
    const mare_device_info *info = &kernel->program->device->info;
    if (bytes <= info->max_local_memory) return MARE_OK;
    return mr_fail(MARE_ERROR_UNAVAILABLE,
                   "kernel '%s': a group needs %llu bytes of local memory, %s has %llu",
                   kernel->signature.name, (unsigned long long)bytes, info->name,
                   (unsigned long long)info->max_local_memory);
}

/* Adds a define to those of a program, which its compiler does not get any more. */
static mare_status add_define(void *context, const char *name, size_t name_size, const char *value,
                              size_t value_size) {
    mare_program *program = context;
    const uint64_t count = program->define_count;
    mare_define *defines = realloc(program->defines, (size_t)(count + 1) * sizeof *defines);
    if (!defines) return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    program->defines = defines;
    defines[count] = (mare_define){ strndup(name, name_size), strndup(value, value_size) };
    program->define_count = count + 1;
    if (defines[count].name && defines[count].value) return MARE_OK;
    return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
}

static mare_status parse(mare_program *program, const char *name, mr_signature *out) {
    const bool is_instance = program->language == MARE_LANGUAGE_CUDA && strchr(name, '<');
    char base[128];
    mr_source source = { .text = mr_text_cstr(&program->source), .language = program->language };
    if (is_instance) MR_TRY(mr_instance_read(&source, name, base, add_define, program));
    else if (program->language == MARE_LANGUAGE_CUDA) MR_TRY(mr_instance_missing(&source, name));
    source = (mr_source){ .text = mr_text_cstr(&program->source),
                          .name = program->object.label,
                          .options = "",
                          .defines = program->defines,
                          .define_count = program->define_count,
                          .language = program->language };
    MR_TRY(mr_signature_parse(&source, is_instance ? base : name, out));
    snprintf(out->name, sizeof out->name, "%s", name);
    return MARE_OK;
}

static mare_status ignore(void *context, const char *name, size_t name_size, const char *value,
                          size_t value_size) {
    (void)context, (void)name, (void)name_size, (void)value, (void)value_size;
    return MARE_OK;
}

/* An instance of a template is compiled by itself: the kernel then keeps that program. */
static mare_status find_instance(mare_kernel *kernel, const char *name) {
    mare_program *own = kernel->program, *instance = NULL;
    if (own->language != MARE_LANGUAGE_CUDA || !strchr(name, '<')) return MARE_OK;
    const mr_source source = { .text = mr_text_cstr(&own->source), .language = own->language };
    char base[128];
    if (strlen(name) >= sizeof base)
        return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': the name must have 1 to 127 bytes", name);
    MR_TRY(mr_instance_read(&source, name, base, ignore, NULL));
    MR_TRY(mr_program_instance(own, name, &instance));
    kernel->program = instance;
    mare_program_release(own);
    return MARE_OK;
}

static mare_status load(mare_kernel *kernel, const char *name) {
    MR_TRY(mr_device_alive(kernel->program->device));
    MR_TRY(find_instance(kernel, name));
    mare_program *program = kernel->program;
    mare_device *device = program->device;
    MR_TRY(parse(program, name, &kernel->signature));
    kernel->info.local_memory = kernel->signature.local_bytes;
    MR_TRY(check_local(kernel, kernel->info.local_memory));
    MR_TRY(device->backend->kernel_get(device->native, program->native, name, &kernel->native));
    const uint32_t count = kernel->info.arg_count = kernel->signature.arg_count;
    MR_TRY(device->backend->kernel_info(device->native, kernel->native, &kernel->info));
    MR_TRY(check_local(kernel, kernel->info.local_memory));
    memcpy(kernel->info.name, kernel->signature.name, sizeof kernel->info.name);
    if (kernel->info.arg_count == count) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT,
                   "kernel '%s': its source shows %u parameters and the compiler found %u; "
                   "no macro may stand for a parameter",
                   name, count, kernel->info.arg_count);
}

mare_status mare_kernel_create(mare_program *program, const char *name, mare_kernel **out) {
    if (out) *out = NULL;
    if (!program || !name || !out)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_kernel_create: program, name and out are required");
    MR_TRY(mr_program_finish(program));
    mare_kernel *kernel = mr_object_new(sizeof *kernel, "kernel", name);
    if (!kernel) return MARE_ERROR_MEMORY;
    kernel->program = program;
    mare_program_retain(program);
    mare_status status = load(kernel, name);
    if (status != MARE_OK) {
        if (strncmp(mare_error_message(), "program '", 9)) /* that of an instance says so itself */
            mr_annotate(status, "program '%s'", program->object.label);
        destroy(kernel);
        return status;
    }
    *out = kernel;
    return MARE_OK;
}

void mare_kernel_retain(mare_kernel *kernel) {
    if (kernel) mr_object_retain(&kernel->object);
}

void mare_kernel_release(mare_kernel *kernel) {
    if (kernel && mr_object_unref(&kernel->object)) destroy(kernel);
}

mare_status mare_kernel_query(mare_kernel *kernel, mare_kernel_info *out) {
    if (!kernel || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_kernel_query: kernel and out are required");
    *out = kernel->info;
    return MARE_OK;
}

mare_status mare_kernel_arg(mare_kernel *kernel, uint32_t index, mare_arg_info *out) {
    if (!kernel || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_kernel_arg: kernel and out are required");
    if (index >= kernel->signature.arg_count)
        return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': argument %u, it has %u counted from 0",
                       kernel->object.label, index, kernel->signature.arg_count);
    *out = kernel->signature.args[index];
    return MARE_OK;
}

mare_status mare_kernel_field(mare_kernel *kernel, uint32_t index, uint32_t field,
                              mare_field_info *out) {
    mare_arg_info arg;
    if (!out) return mr_fail(MARE_ERROR_ARGUMENT, "mare_kernel_field: out is required");
    MR_TRY(mare_kernel_arg(kernel, index, &arg));
    if (field >= arg.field_count)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "kernel '%s', argument %u '%s': field %u, it has %u counted from 0",
                       kernel->object.label, index, arg.name, field, arg.field_count);
    *out = kernel->signature.fields[mr_signature_first_field(&kernel->signature, index) + field];
    return MARE_OK;
}
