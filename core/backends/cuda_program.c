/* cuda_program.c - the CUDA back end: programs, kernels and launches.
 *
 * A program is a module made from a cubin, a kernel a function of it. An instance of a template has
 * another name there, which stands in front of the cubin, in the cache too. A launch has its
 * pointers to arguments ready: they lie where the launch keeps its values.
 */
#include "cuda_api.h"
#include "nvrtc_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- programs ---- */

/* In front of a cubin with an instance of a template; its size keeps the cubin aligned. */
static const char magic[16] = "mare instance 1";
enum { HEAD_SIZE = 1024 };

struct cuda_program {
    struct CUmod_st *module;
    char lowered[];                 /* name of the instance that it holds; "": none */
};

static mare_status add_head(const mr_text *lowered, mr_blob *binary) {
    if (!lowered->size) return MARE_OK;
    if (lowered->size >= HEAD_SIZE - sizeof magic)
        return mr_fail(MARE_ERROR_ARGUMENT, "the compiler's name of the instance is too long: %s",
                       lowered->data);
    char *data = calloc(1, HEAD_SIZE + binary->size);
    if (!data) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a cubin");
    memcpy(data, magic, sizeof magic);
    memcpy(data + sizeof magic, lowered->data, lowered->size);
    memcpy(data + HEAD_SIZE, binary->data, binary->size);
    free(binary->data);
    *binary = (mr_blob){ data, HEAD_SIZE + binary->size };
    return MARE_OK;
}

mare_status mr_cuda_program_check(const char *arch, const mr_source *source, mr_blob *binary,
                                  mr_blob *log) {
    mr_nvrtc_result result = { 0 };
    mare_status status = mr_nvrtc_compile(arch, source, &result);
    if (status == MARE_OK) status = add_head(&result.lowered, &result.code);
    mr_text_free(&result.lowered);
    *binary = result.code;
    *log = result.log;
    return status;
}

mare_status mr_cuda_program_build(mr_native device, const mr_source *source, mr_blob *binary,
                                  mr_native *loaded, mr_blob *log) {
    (void)loaded;
    const struct mr_cuda_device *target = device.ptr;
    return mr_cuda_program_check(target->arch, source, binary, log);
}

mare_status mr_cuda_program_code(mr_native device, mr_native program, const mr_source *source,
                                 const char *form, mr_blob *out) {
    const struct mr_cuda_device *target = device.ptr;
    mr_nvrtc_result result = { .wants_ptx = !strcmp(form, "ptx") };
    (void)program;
    if (!source)
        return mr_fail(MARE_ERROR_UNAVAILABLE, "it was loaded from code, which the caller has");
    mare_status status = mr_nvrtc_compile(target->arch, source, &result);
    mr_text_free(&result.lowered);
    free(result.log.data);
    *out = result.code;
    return status;
}

mare_status mr_cuda_program_key(mr_native device, uint32_t language, char *out, size_t size) {
    const struct mr_cuda_device *target = device.ptr;
    char compiler[64];
    mr_text headers = { 0 };
    mr_nvrtc_version(compiler, sizeof compiler);
    mr_nvrtc_headers(language, &headers);
    int needed =
        snprintf(out, size, "%s, driver %d, %s%s%s", target->arch, target->driver, compiler,
                 mr_text_cstr(&headers), mr_wants_debug() ? ", debug" : "");
    mr_text_free(&headers);
    if (needed < 0 || (size_t)needed >= size)
        return mr_fail(MARE_ERROR_ARGUMENT, "program key: %zu bytes are too few", size);
    return MARE_OK;
}

static mare_status load_module(const mr_blob *binary, size_t head, struct CUmod_st **out) {
    char log[2048] = "";
    unsigned options[] = { MR_CU_JIT_ERROR_LOG_BUFFER, MR_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log, (void *)(uintptr_t)(sizeof log - 1) };
    const char *image = (const char *)binary->data + head;
    unsigned code = mr_cu.cuModuleLoadDataEx(out, image, 2, options, values);
    mare_status status = mr_cuda_check(code, "cuModuleLoadDataEx(%zu bytes)", binary->size - head);
    return status != MARE_OK && log[0] ? mr_annotate(status, "%s", log) : status;
}

static mare_status load(mr_native device, const mr_blob *binary, bool has_head, mr_native *out) {
    bool pushed;
    const char *data = binary->data;
    const size_t room = has_head ? HEAD_SIZE - sizeof magic : 1;
    struct cuda_program *program = calloc(1, sizeof *program + room);
    if (!program) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a program");
    if (has_head) memcpy(program->lowered, data + sizeof magic, room - 1);
    mare_status status = mr_cuda_enter(device, &pushed);
    if (status == MARE_OK) {
        status = load_module(binary, has_head ? HEAD_SIZE : 0, &program->module);
        mr_cuda_leave(pushed);
    }
    if (status == MARE_OK) out->ptr = program;
    else free(program);
    return status;
}

mare_status mr_cuda_program_load(mr_native device, const mr_blob *binary, mr_native *out) {
    const bool has_head =
        binary->size > HEAD_SIZE && !memcmp(binary->data, magic, sizeof magic);
    return load(device, binary, has_head, out);
}

/* ---- code of others: the driver is told no size, and reads on where something is cut off ---- */

static uint64_t number_at(const mr_blob *code, uint64_t offset, unsigned bytes) {
    uint64_t number = 0;
    memcpy(&number, (const char *)code->data + offset, bytes);
    return number;
}

static bool lies_within(const mr_blob *code, uint64_t offset, uint64_t size) {
    return offset <= code->size && size <= code->size - offset;
}

/* Entries of a table of an ELF file; those of 64 bytes are sections, of which number 8 has no
 * bytes, those of 56 segments. */
static bool parts_lie_within(const mr_blob *code, uint64_t table, uint64_t entry, uint64_t count) {
    const bool are_sections = entry == 64;
    if (count && !are_sections && entry != 56) return false;
    if (!lies_within(code, table, entry * count)) return false;
    for (uint64_t at = table; count--; at += entry) {
        if (are_sections && number_at(code, at + 4, 4) == 8) continue;
        const uint64_t offset = number_at(code, at + (are_sections ? 24 : 8), 8);
        if (!lies_within(code, offset, number_at(code, at + 32, 8))) return false;
    }
    return true;
}

static bool is_whole(const mr_blob *code) {
    if (code->size >= 4 && !memcmp(code->data, "\177ELF", 4))
        return code->size >= 64 &&
               parts_lie_within(code, number_at(code, 40, 8), number_at(code, 58, 2),
                                number_at(code, 60, 2)) &&
               parts_lie_within(code, number_at(code, 32, 8), number_at(code, 54, 2),
                                number_at(code, 56, 2));
    if (code->size >= 4 && !memcmp(code->data, "\x50\xed\x55\xba", 4))   /* a fat binary */
        return code->size >= 16 &&
               lies_within(code, number_at(code, 6, 2), number_at(code, 8, 8));
    return true;                    /* PTX ends with its NUL */
}

/* The driver takes PTX, cubins and fat binaries, and tells them apart. */
mare_status mr_cuda_program_take(mr_native device, const mr_blob *code, mr_native *out) {
    if (!is_whole(code))
        return mr_fail(MARE_ERROR_BUILD, "the code of %zu bytes is damaged or cut off",
                       code->size);
    return load(device, code, false, out);
}

/* The driver does not promise that the code of a running kernel survives its module. */
void mr_cuda_program_unload(mr_native device, mr_native native) {
    bool pushed;
    struct cuda_program *program = native.ptr;
    if (mr_cuda_enter_idle(device, &pushed)) {
        (void)mr_cu.cuModuleUnload(program->module);
        mr_cuda_leave(pushed);
    }
    free(program);
}

mare_status mr_cuda_program_variable(mr_native device, mr_native native, const char *name,
                                     uint64_t *memory, uint64_t *size) {
    const struct cuda_program *program = native.ptr;
    bool pushed;
    unsigned long long address = 0;
    size_t bytes = 0;
    MR_TRY(mr_cuda_enter(device, &pushed));
    unsigned code = mr_cu.cuModuleGetGlobal_v2(&address, &bytes, program->module, name);
    mr_cuda_leave(pushed);
    mare_status status = mr_cuda_check(code, "cuModuleGetGlobal('%s')", name);
    if (code == MR_CUDA_ERROR_NOT_FOUND)
        return mr_annotate(status, "no such variable in the binary (it must be declared extern "
                                   "\"C\" and used by a kernel)");
    *memory = address;
    *size = bytes;
    return status;
}

/* ---- kernels ---- */

static mare_status find_function(struct CUmod_st *module, const char *name,
                                 struct CUfunc_st **out) {
    unsigned code = mr_cu.cuModuleGetFunction(out, module, name);
    mare_status status = mr_cuda_check(code, "cuModuleGetFunction('%s')", name);
    if (code == MR_CUDA_ERROR_NOT_FOUND)
        return mr_annotate(status, "no such kernel in the binary (plain CUDA kernels are declared "
                                   "extern \"C\" __global__)");
    return status;
}

mare_status mr_cuda_kernel_get(mr_native device, mr_native program, const char *name,
                               mr_native *out) {
    bool pushed;
    struct CUfunc_st *function = NULL;
    const struct cuda_program *own = program.ptr;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status =
        find_function(own->module, *own->lowered ? own->lowered : name, &function);
    mr_cuda_leave(pushed);
    if (status == MARE_OK) out->ptr = function;
    return status;
}

/* A function lives as long as its module. */
void mr_cuda_kernel_release(mr_native device, mr_native kernel) {
    (void)device;
    (void)kernel;
}

static mare_status attribute(struct CUfunc_st *function, unsigned which, const char *name,
                             int *out) {
    return mr_cuda_check(mr_cu.cuFuncGetAttribute(out, which, function), "cuFuncGetAttribute(%s)",
                         name);
}
#define ATTRIBUTE(function, name, out)                                                             \
    MR_TRY(attribute(function, MR_CU_FUNC_ATTRIBUTE_##name, #name, out))

/* The index that the driver refuses is the count; older ones cannot be asked. */
static void count_parameters(struct CUfunc_st *function, uint32_t *count) {
    size_t index = 0, offset, size;
    unsigned code = MR_CUDA_SUCCESS;
    if (!mr_cu.cuFuncGetParamInfo) return;
    while ((code = mr_cu.cuFuncGetParamInfo(function, index, &offset, &size)) == MR_CUDA_SUCCESS)
        index++;
    if (code == MR_CUDA_ERROR_INVALID_VALUE) *count = (uint32_t)index;
}

/* Local memory beyond the static has to be asked for. */
static mare_status make_room(struct CUfunc_st *function, uint64_t bytes) {
    if (!bytes) return MARE_OK;
    unsigned code = mr_cu.cuFuncSetAttribute(
        function, MR_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes);
    return mr_cuda_check(code, "cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES, %llu bytes)",
                         (unsigned long long)bytes);
}

static mare_status read_function(struct CUfunc_st *function, mare_kernel_info *out) {
    const uint64_t large = out->local_memory;
    int threads = 0, registers = 0, shared = 0, local = 0, blocks = 0;
    ATTRIBUTE(function, MAX_THREADS_PER_BLOCK, &threads);
    ATTRIBUTE(function, NUM_REGS, &registers);
    ATTRIBUTE(function, SHARED_SIZE_BYTES, &shared);
    ATTRIBUTE(function, LOCAL_SIZE_BYTES, &local);
    MR_TRY(make_room(function, large));
    MR_TRY(mr_cuda_check(
        mr_cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, large),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor(%d threads)", threads));
    count_parameters(function, &out->arg_count);
    out->max_group_size = (uint32_t)threads;
    out->registers = (uint32_t)registers;
    out->local_memory = (uint64_t)shared + large;
    out->private_memory = (uint64_t)local;
    out->groups_per_unit = (uint32_t)blocks;
    return MARE_OK;
}

mare_status mr_cuda_kernel_info(mr_native device, mr_native kernel, mare_kernel_info *out) {
    const struct mr_cuda_device *owner = device.ptr;
    bool pushed;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = read_function(kernel.ptr, out);
    mr_cuda_leave(pushed);
    if (status == MARE_OK) out->warp_size = (uint32_t)owner->warp_size;
    return status;
}

mare_status mr_cuda_kernel_fill(mr_native device, mr_native kernel, uint32_t items,
                                uint64_t local_bytes, uint32_t *groups, uint32_t *most_items) {
    const struct mr_cuda_device *owner = device.ptr;
    bool pushed;
    int count = 0;
    MR_TRY(mr_cuda_enter(device, &pushed));
    unsigned code = mr_cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernel.ptr,
                                                                      (int)items, local_bytes);
    mr_cuda_leave(pushed);
    MR_TRY(mr_cuda_check(code, "cuOccupancyMaxActiveBlocksPerMultiprocessor(%u threads)", items));
    *groups = (uint32_t)count;
    *most_items = (uint32_t)owner->unit_items;
    return MARE_OK;
}

/* ---- launches ---- */

/* The compiler's size of a parameter block is the source's, or the text was read wrongly; older
 * drivers cannot be asked. */
static mare_status check_block(const mr_dispatch *launch, uint32_t index) {
    const mare_arg_info *arg = &launch->args[index];
    size_t offset, size = 0;
    if (!arg->field_count || !mr_cu.cuFuncGetParamInfo) return MARE_OK;
    unsigned code = mr_cu.cuFuncGetParamInfo(launch->kernel.ptr, index, &offset, &size);
    if (code != MR_CUDA_SUCCESS || size == arg->size) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT,
                   "argument %u '%s': a struct of %llu bytes by its source, of %zu to the compiler",
                   index, arg->name, (unsigned long long)arg->size, size);
}

static mare_status check_blocks(mr_native device, const mr_dispatch *launch) {
    bool pushed;
    mare_status status = MARE_OK;
    MR_TRY(mr_cuda_enter(device, &pushed));
    for (uint32_t i = 0; status == MARE_OK && i < launch->arg_count; i++)
        status = check_block(launch, i);
    mr_cuda_leave(pushed);
    return status;
}

mare_status mr_cuda_launch_create(mr_native device, const mr_dispatch *launch, mr_native *out) {
    const uint32_t count = launch->arg_count;
    MR_TRY(check_blocks(device, launch));
    struct mr_cuda_launch *made = malloc(sizeof *made + count * sizeof *made->values);
    if (!made) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a launch");
    made->function = launch->kernel.ptr;
    for (uint32_t i = 0; i < count; i++)
        made->values[i] = launch->values[launch->words[i]].bytes;
    out->ptr = made;
    return MARE_OK;
}

void mr_cuda_launch_destroy(mr_native device, mr_native launch) {
    (void)device;
    free(launch.ptr);
}

MR_RARE static unsigned queue_programmatic(const mr_dispatch *launch, struct CUstream_st *stream) {
    struct mr_cuda_launch *native = launch->native.ptr;
    struct CUlaunchAttribute_st attributes[] = {
        { .id = MR_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value = 1 },
        { .id = MR_CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = 1 },
    };
    const struct CUlaunchConfig_st config = {
        .gridDimX = launch->groups[0], .gridDimY = launch->groups[1], .gridDimZ = launch->groups[2],
        .blockDimX = launch->group[0], .blockDimY = launch->group[1], .blockDimZ = launch->group[2],
        .sharedMemBytes = launch->local_bytes,
        .hStream = stream,
        .attrs = attributes,
        .numAttrs = launch->is_together ? 2 : 1,
    };
    return mr_cu.cuLaunchKernelEx(&config, native->function, native->values, NULL);
}

/* The driver copies the values before it returns; it knows their sizes from the kernel. */
static inline unsigned queue(const mr_dispatch *launch, struct CUstream_st *stream) {
    struct mr_cuda_launch *native = launch->native.ptr;
    const uint32_t *groups = launch->groups, *group = launch->group;
    if (launch->is_programmatic) return queue_programmatic(launch, stream);
    if (launch->is_together)
        return mr_cu.cuLaunchCooperativeKernel(native->function, groups[0], groups[1], groups[2],
                                               group[0], group[1], group[2], launch->local_bytes,
                                               stream, native->values);
    return mr_cu.cuLaunchKernel(native->function, groups[0], groups[1], groups[2], group[0],
                                group[1], group[2], launch->local_bytes, stream, native->values,
                                NULL);
}

MR_RARE static mare_status run_again(mr_native device, mr_native stream, const mr_dispatch *launch,
                                     unsigned code) {
    if (mr_cuda_is_elsewhere(code)) {
        bool pushed;
        MR_TRY(mr_cuda_enter(device, &pushed));
        code = queue(launch, stream.ptr);
        mr_cuda_leave(pushed);
    }
    return mr_cuda_check(code, launch->is_programmatic ? "cuLaunchKernelEx"
                               : launch->is_together   ? "cuLaunchCooperativeKernel"
                                                       : "cuLaunchKernel");
}

/* Nearly always the right context is current, and if not, the driver refuses a kernel and a stream
 * of another one without harm. To ask first would take 60 ns, a hundredth of the launch. */
MR_HOT mare_status mr_cuda_launch_run(mr_native device, mr_native stream,
                                      const mr_dispatch *launch) {
    unsigned code = queue(launch, stream.ptr);
    return code == MR_CUDA_SUCCESS ? MARE_OK : run_again(device, stream, launch, code);
}
