/* code.c - programs as code: what a compiler makes of one runs again as a program from code; of
 * what a device has not, it says so; the shape of a launch in the profile; kernels on memory of the
 * host. On CUDA also variables and an instance of a template. */
#include "devices.h"

static const char source[] =
    "MR_KERNEL void mark(MR_GLOBAL int *out, int n) { int i = mr_gid_x(); if (i < n) out[i] = i; }";

enum { COUNT = 10, GROUP = 4 };

/* Runs a kernel of (out, n). */
static void put(mare_program *program, const char *name, mare_buffer *out, uint32_t count) {
    mare_kernel *kernel = NULL;
    mare_launch *launch = NULL;
    if (CHECK_OK(mare_kernel_create(program, name, &kernel)) &&
        CHECK_OK(mare_launch_create(kernel, &launch))) {
        CHECK_OK(mare_launch_set_buffer(launch, 0, out));
        CHECK_OK(mare_launch_set_int(launch, 1, count));
        CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ count, 1, 1 },
                                       (uint32_t[3]){ GROUP, 1, 1 }));
        CHECK_OK(mare_launch_run(launch, NULL));
    }
    mare_launch_release(launch);
    mare_kernel_release(kernel);
}

/* Tells what such a kernel has put into the last element. */
static int run(mare_device *device, mare_program *program, const char *name) {
    mare_buffer *out = NULL;
    const mare_buffer_desc ints = { .size = 4 * COUNT, .type = MARE_TYPE_INT32, .label = "out" };
    int32_t got[COUNT] = { 0 };
    CHECK_OK(mare_buffer_create(device, &ints, &out));
    CHECK_OK(mare_buffer_fill(out, 0, 4 * COUNT, "\0", 1, NULL));
    put(program, name, out, COUNT);
    CHECK_OK(mare_buffer_download(out, 0, got, sizeof got, NULL));
    mare_buffer_release(out);
    return got[COUNT - 1];
}

/* Kernels write into memory of the host, pinned or managed, 1 MB of it. */
static void maps_host(mare_device *device, const mare_device_info *info, mare_program *program,
                      bool is_managed) {
    enum { MANY = 1 << 18 };
    mare_host *host = NULL;
    mare_buffer *out = NULL;
    const mr_backend *backend = backend_of(info);
    if (is_managed && !backend->managed_alloc) {
        CHECK_FAILS(mare_host_create_managed(device, 4, "m", &host), MARE_ERROR_UNAVAILABLE, "'m'",
                    "no managed memory");
        return;
    }
    CHECK_OK((is_managed ? mare_host_create_managed : mare_host_create)(device, 4 * MANY, "h",
                                                                        &host));
    int32_t *words = mare_host_data(host);
    if (!backend->maps_host) {
        CHECK_FAILS(mare_host_buffer(host, MARE_TYPE_INT32, &out), MARE_ERROR_UNAVAILABLE, "'h'",
                    "cannot use memory of the host");
    } else if (CHECK_OK(mare_host_buffer(host, MARE_TYPE_INT32, &out))) {
        words[MANY - 1] = 3;
        put(program, "mark", out, MANY);
        CHECK_OK(mare_device_wait(device));
        CHECK_NUMBER(words[MANY - 1], info->runs_kernels ? MANY - 1 : 3);
        CHECK_OK(mare_buffer_fill(out, 0, 4, "\7\0\0\0", 4, NULL));
        CHECK_OK(mare_device_wait(device));
        CHECK_NUMBER(words[0], 7);
    }
    mare_host_release(host);
    mare_buffer_release(out);
}

/* Of the run in the profile: three groups of four. */
static void tells_shapes(mare_device *device, const mare_device_info *info,
                         mare_program *program) {
    mare_profile_record record;
    mare_profile_shape shape;
    int32_t found = 0, launches = 0;
    CHECK_OK(mare_profile_begin(device));
    CHECK_NUMBER(run(device, program, "mark"), info->runs_kernels ? COUNT - 1 : 0);
    CHECK_OK(mare_profile_end(device));
    while (CHECK_OK(mare_profile_next(device, &record, &found)) && found) {
        CHECK_OK(mare_profile_last_shape(device, &shape));
        CHECK_NUMBER(shape.groups[0], record.is_kernel ? 3 : 0);
        CHECK_NUMBER(shape.group[0], record.is_kernel ? GROUP : 0);
        if (!record.is_kernel) continue;
        CHECK(shape.groups[1] == 1 && shape.group[2] == 1);
        CHECK(shape.resident_groups * GROUP <= shape.most_items);
        CHECK((shape.most_items > 0) == !strncmp(info->name, "cuda", 4));
        launches++;
    }
    CHECK_NUMBER(launches, 1);
}

static void runs_from_code(mare_device *device, const mare_device_info *info,
                           mare_program *program, const char *form) {
    const mare_program_desc desc = { .source = source, .name = "again" };
    mare_program *again = NULL;
    const void *code = NULL;
    uint64_t size = 0;
    if (!CHECK_OK(mare_program_code(program, form, &code, &size))) return;
    CHECK(size > 0 && ((const char *)code)[size] == '\0');
    if (CHECK_OK(mare_program_load(device, &desc, code, size, &again)))
        CHECK_NUMBER(run(device, again, "mark"), info->runs_kernels ? COUNT - 1 : 0);
    mare_program_release(again);
}

/* NVIDIA's driver crashes on a cubin that is cut off. */
static void refuses_cut(mare_device *device, mare_program *program) {
    const mare_program_desc desc = { .source = source, .name = "again" };
    mare_program *none = NULL;
    const void *code = NULL;
    uint64_t size = 0;
    if (!CHECK_OK(mare_program_code(program, "cubin", &code, &size))) return;
    for (uint64_t left = size - 1; left > 4; left /= 2)
        CHECK_FAILS(mare_program_load(device, &desc, code, left, &none), MARE_ERROR_BUILD,
                    "'again'", "cut off");
}

/* PoCL, which keeps programs, crashes on all such code. */
static void refuses_damaged(mare_device *device, mare_program *program) {
    const mare_program_desc desc = { .source = source, .name = "again" };
    mare_program *none = NULL;
    const void *code = NULL;
    uint64_t size = 0;
    if (!CHECK_OK(mare_program_code(program, "binary", &code, &size))) return;
    char *copy = malloc(size);
    if (!CHECK(copy)) return;
    memcpy(copy, code, size);
    for (uint64_t left = size - 1; left > 8; left /= 2)
        CHECK_FAILS(mare_program_load(device, &desc, copy, left, &none), MARE_ERROR_BUILD,
                    "'again'", "cut off");
    copy[size / 2] ^= 1;
    CHECK_FAILS(mare_program_load(device, &desc, copy, size, &none), MARE_ERROR_BUILD, "'again'",
                "damaged");
    CHECK_FAILS(mare_program_load(device, &desc, copy + 24, size - 24, &none), MARE_ERROR_BUILD,
                "'again'", "no code that a program of Mare on PoCL gave");
    free(copy);
}

static void refuses(mare_device *device, const mare_device_info *info, mare_program *program) {
    mare_program_desc desc = { .source = source, .name = "again" };
    mare_program *none = NULL;
    mare_buffer *variable = NULL;
    const void *code = NULL;
    uint64_t size = 0;
    CHECK_FAILS(mare_program_code(program, "ll", &code, &size), MARE_ERROR_ARGUMENT, "'i.krn'",
                "'ll' of its code (allowed: binary, cubin, ptx)");
    CHECK_FAILS(mare_program_load(device, &desc, source, 0, &none), MARE_ERROR_ARGUMENT,
                "'again'", "code of 0 bytes");
    desc.options = "-O1";
    CHECK_FAILS(mare_program_load(device, &desc, source, 9, &none), MARE_ERROR_ARGUMENT,
                "'again'", "nothing is compiled");
    desc.options = NULL;
    if (!info->runs_kernels) return;
    mare_status status = mare_program_load(device, &desc, "nonsense", 8, &none);
    CHECK(status != MARE_OK && !none && strstr(mare_error_message(), "'again'"));
    status = mare_program_load(device, &desc, "\3\2\43\7nonsense", 12, &none);
    CHECK(status != MARE_OK && !none && strstr(mare_error_message(), "'again'"));
    if (!strncmp(info->name, "cuda", 4)) return;
    CHECK_FAILS(mare_program_variable(program, "x", MARE_TYPE_FLOAT, &variable),
                MARE_ERROR_UNAVAILABLE, "'i.krn'", "hand it a buffer");
    CHECK_FAILS(mare_program_code(program, "cubin", &code, &size), MARE_ERROR_UNAVAILABLE,
                "'i.krn'", "cubin");
}

static void has_templates_and_variables(mare_device *device) {
    static const char text[] =
        "extern \"C\" { __constant__ int table[2]; }\n"
        "template <typename T, int N> __global__ void put(T *out, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) out[i] = i * N;\n"
        "}\n"
        "extern \"C\" __global__ void look(int *out, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) out[i] = table[i % 2];\n"
        "}\n";
    const mare_program_desc desc = { .source = text, .name = "t.cu",
                                     .language = MARE_LANGUAGE_CUDA };
    const int32_t values[2] = { 5, 7 };
    mare_program *program = NULL;
    mare_buffer *table = NULL;
    if (!CHECK_OK(mare_program_create(device, &desc, &program))) return;
    CHECK_NUMBER(run(device, program, "put<int, 3>"), 3 * (COUNT - 1));
    if (CHECK_OK(mare_program_variable(program, "table", MARE_TYPE_INT32, &table)))
        CHECK_OK(mare_buffer_upload(table, 0, values, sizeof values, NULL));
    CHECK_NUMBER(run(device, program, "look"), 7);
    mare_buffer_release(table);
    mare_program_release(program);
}

static void test(mare_device *device, const mare_device_info *info) {
    const mare_program_desc desc = { .source = source, .name = "i.krn" };
    const bool is_cuda = !strncmp(info->name, "cuda", 4);
    mare_program *program = NULL;
    if (!CHECK_OK(mare_program_create(device, &desc, &program))) return;
    tells_shapes(device, info, program);
    runs_from_code(device, info, program, "binary");
    if (is_cuda) runs_from_code(device, info, program, "ptx");
    if (is_cuda) refuses_cut(device, program);
    if (is_cuda) has_templates_and_variables(device);
    maps_host(device, info, program, false);
    maps_host(device, info, program, true);
    refuses(device, info, program);
    if (info->keeps_programs) refuses_damaged(device, program);
    mare_program_release(program);
}

int part_code(void) { return run_on_devices(test); }
