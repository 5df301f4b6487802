/* programs.c - compiling and launching: every scalar type, shapes, views, errors in the
 * user's own lines. */
#include "devices.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/mare-programs-XXXXXX";

static mare_launch *launch_of(mare_device *device, const mare_program_desc *desc,
                              const char *name) {
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    mare_launch *launch = NULL;
    if (CHECK_OK(mare_program_create(device, desc, &program)) &&
        CHECK_OK(mare_kernel_create(program, name, &kernel)))
        CHECK_OK(mare_launch_create(kernel, &launch));
    mare_kernel_release(kernel);
    mare_program_release(program);
    return launch;
}

static mare_buffer *doubles(mare_device *device, int count, uint32_t type) {
    mare_buffer *buffer = NULL;
    CHECK_OK(mare_buffer_create(device, &(mare_buffer_desc){ 8 * (uint64_t)count, type, 0, "out" },
                                &buffer));
    CHECK_OK(mare_buffer_fill(buffer, 0, 8 * (uint64_t)count, "\0", 1, NULL));
    return buffer;
}

static const char every_type[] =
    "MR_KERNEL void every(signed char a, unsigned char b, short c, unsigned short d, int e, "
    "unsigned int f, long g,\n"
    "                     unsigned long h, float i, real j, int64_t k, uint32_t l, mr_index m, "
    "MR_GLOBAL real *out)\n"
    "{\n"
    "    out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g / "
    "1000;\n"
    "    out[7] = h / 1000; out[8] = i; out[9] = j; out[10] = k; out[11] = l; out[12] = m;\n"
    "}\n";

static void passes_every_type(mare_device *device, const mare_device_info *info) {
    static const double values[] = { -128,          255,          -32768,         65535,
                                     -2147483648.0, 4294967295.0, -9e15,          9e15,
                                     0.5,           0.1,          -12345678901.0, 4000000000.0,
                                     123456789012.0 };
    enum { COUNT = sizeof values / sizeof *values };
    mare_define define = { "MARE_REAL", "double" };
    if (!info->has_double) {
        printf("%s: no double, scalar types not checked\n", info->name);
        return;
    }
    mare_launch *launch = launch_of(device,
                                    &(mare_program_desc){ .source = every_type,
                                                          .name = "every.krn",
                                                          .defines = &define,
                                                          .define_count = 1 },
                                    "every");
    mare_buffer *out = doubles(device, COUNT, MARE_TYPE_DOUBLE);
    for (uint32_t i = 0; i < COUNT; i++) CHECK_OK(mare_launch_set_real(launch, i, values[i]));
    CHECK_OK(mare_launch_set_buffer(launch, COUNT, out));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ 1, 1, 1 }, NULL));
    CHECK_OK(mare_launch_run(launch, NULL));
    double got[COUNT];
    CHECK_OK(mare_buffer_download(out, 0, got, sizeof got, NULL));
    for (int i = 0; i < COUNT && info->runs_kernels; i++)
        CHECK_NUMBER(got[i], i == 6 || i == 7 ? values[i] / 1000 : values[i]);
    mare_buffer_release(out);
    mare_launch_release(launch);
}

/* Halves, truth values and complex numbers come through a kernel as they were, and its results
 * back. */
static void computes_types_of_buffers(mare_device *device, const mare_device_info *info) {
    enum { COUNT = 64 };
    static const char source[] =
        "MR_KERNEL void blend(int n, MR_GLOBAL mr_half *h, MR_GLOBAL mr_bool *b,\n"
        "                   MR_GLOBAL mr_complex *z)\n"
        "{\n"
        "    int i = mr_gid_x();\n"
        "    if (i >= n) return;\n"
        "    float x = mr_half_load(h, i);\n"
        "    mr_half_store(h, i, 3.0f * x);\n"
        "    b[i] = !b[i];\n"
        "    z[i] = mr_complex_mul(z[i], mr_complex_add(z[i], mr_complex_of(R(0.0), R(1.0))));\n"
        "}\n";
    const mare_type types[] = { MARE_TYPE_HALF, MARE_TYPE_BOOL, MARE_TYPE_COMPLEX_FLOAT };
    mare_half halves[COUNT];
    bool truths[COUNT];
    float numbers[COUNT][2];
    void *data[] = { halves, truths, numbers };
    const uint64_t sizes[] = { sizeof halves, sizeof truths, sizeof numbers };
    mare_buffer *buffers[3] = { NULL }, *wrong = doubles(device, COUNT, MARE_TYPE_FLOAT);
    mare_launch *launch =
        launch_of(device, &(mare_program_desc){ .source = source, .name = "blend.krn" }, "blend");
    for (int i = 0; i < COUNT; i++) {
        halves[i] = mare_half_of(i == 0 ? 0x1p-24f : (float)i + 0.125f);
        truths[i] = i % 3 == 0;
        numbers[i][0] = (float)i;
        numbers[i][1] = 2;
    }
    CHECK_OK(mare_launch_set_int(launch, 0, COUNT));
    for (uint32_t i = 0; i < 3; i++) {
        const mare_buffer_desc desc = { .size = sizes[i], .type = types[i], .label = "data" };
        CHECK_OK(mare_buffer_create(device, &desc, &buffers[i]));
        CHECK_OK(mare_buffer_upload(buffers[i], 0, data[i], sizes[i], NULL));
        CHECK_OK(mare_launch_set_buffer(launch, i + 1, buffers[i]));
        CHECK_FAILS(mare_launch_set_buffer(launch, i + 1, wrong), MARE_ERROR_ARGUMENT,
                    mare_type_name(types[i]), "of float");
    }
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ COUNT, 1, 1 }, NULL));
    CHECK_OK(mare_launch_run(launch, NULL));
    for (int i = 0; i < 3; i++)
        CHECK_OK(mare_buffer_download(buffers[i], 0, data[i], sizes[i], NULL));
    for (int i = 0; i < COUNT && info->runs_kernels; i++) {
        const float x = i == 0 ? 0x1p-24f : (float)i + 0.125f;
        CHECK_NUMBER(halves[i].bits, mare_half_of(3 * x).bits);
        CHECK_NUMBER(truths[i], i % 3 != 0);
        CHECK(numbers[i][0] == (float)(i * i - 6) && numbers[i][1] == (float)(5 * i));
    }
    for (int i = 0; i < 3; i++) mare_buffer_release(buffers[i]);
    mare_buffer_release(wrong);
    mare_launch_release(launch);
}

static const char index_source[] =
    "MR_KERNEL void mark(int nx, int ny, int nz, MR_GLOBAL int *out)\n"
    "{\n"
    "    const int x = mr_gid_x(), y = mr_gid_y(), z = mr_gid_z();\n"
    "    if (x >= nx || y >= ny || z >= nz) return;\n"
    "    out[(z * ny + y) * nx + x] += 1 + x + 100 * y + 10000 * z;\n"
    "}\n";

/* Every work-item runs exactly once, whatever the shape. */
static void covers(mare_device *device, const mare_device_info *info, const uint32_t n[3],
                   const uint32_t *group) {
    mare_launch *launch =
        launch_of(device, &(mare_program_desc){ .source = index_source, .name = "mark.krn" },
                  "mark");
    size_t count = (size_t)n[0] * n[1] * n[2];
    mare_buffer *out = doubles(device, (int)count, 0);
    for (uint32_t d = 0; d < 3; d++) CHECK_OK(mare_launch_set_int(launch, d, n[d]));
    CHECK_OK(mare_launch_set_buffer(launch, 3, out));
    CHECK_OK(mare_launch_set_shape(launch, n, group));
    CHECK_OK(mare_launch_run(launch, NULL));
    int32_t *got = calloc(count, sizeof *got);
    CHECK_OK(mare_buffer_download(out, 0, got, count * sizeof *got, NULL));
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        size_t x = i % n[0], y = i / n[0] % n[1], z = i / n[0] / n[1];
        wrong += got[i] != (int32_t)(1 + x + 100 * y + 10000 * z);
    }
    if (info->runs_kernels) CHECK_NUMBER(wrong, 0);
    free(got);
    mare_buffer_release(out);
    mare_launch_release(launch);
}

static void covers_shapes(mare_device *device, const mare_device_info *info) {
    covers(device, info, (uint32_t[3]){ 1000, 1, 1 }, NULL);
    covers(device, info, (uint32_t[3]){ 67, 45, 1 }, NULL);
    covers(device, info, (uint32_t[3]){ 33, 10, 7 }, NULL);
    covers(device, info, (uint32_t[3]){ 1, 1, 1 }, NULL);
    covers(device, info, (uint32_t[3]){ 67, 45, 2 }, (uint32_t[3]){ 16, 4, 1 });
}

/* Another view of the same buffer is another place, of another size too. */
static void moves_views(mare_device *device, const mare_device_info *info) {
    enum { VIEWS = 3 };
    mare_launch *launch =
        launch_of(device, &(mare_program_desc){ .source = index_source, .name = "mark.krn" },
                  "mark");
    uint64_t step = info->view_alignment > 4 ? info->view_alignment : 4;
    mare_buffer *out = doubles(device, (int)step, 0);
    int32_t *got = calloc(step, 8);
    for (uint32_t d = 0; d < 3; d++) CHECK_OK(mare_launch_set_int(launch, d, 1));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ 1, 1, 1 }, NULL));
    for (uint64_t i = 0; i < VIEWS; i++) {
        mare_buffer *view = NULL;
        CHECK_OK(mare_buffer_view(out, i * step, step, &view));
        CHECK_OK(mare_launch_set_buffer(launch, 3, view));
        mare_buffer_release(view);
        CHECK_OK(mare_launch_run(launch, NULL));
    }
    CHECK_OK(mare_buffer_download(out, 0, got, 8 * step, NULL));
    for (uint64_t i = 0; i < 2 * step && info->runs_kernels; i++)
        CHECK_NUMBER(got[i], i % (step / 4) == 0 && i / (step / 4) < VIEWS);
    free(got);
    mare_buffer_release(out);
    mare_launch_release(launch);
}

/* Element x gains 1 + x in each run that reaches it. Every way to change a launch reaches the next
 * run: its shape, a scalar that is set, and one written through a pointer taken long before. */
static void takes_changes(mare_device *device, const mare_device_info *info) {
    mare_launch *launch =
        launch_of(device, &(mare_program_desc){ .source = index_source, .name = "mark.krn" },
                  "mark");
    mare_buffer *out = doubles(device, 4, 0);
    int32_t got[8] = { 0 }, *nx = mare_launch_scalar(launch, 0);
    CHECK_OK(mare_launch_set_buffer(launch, 3, out));
    for (uint32_t d = 0; d < 3; d++) CHECK_OK(mare_launch_set_int(launch, d, 1));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ 1, 1, 1 }, (uint32_t[3]){ 1, 1, 1 }));
    CHECK_OK(mare_launch_run(launch, NULL));
    *nx = 4;
    CHECK_OK(mare_launch_run(launch, NULL));    /* one work-item */
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ 3, 1, 1 }, (uint32_t[3]){ 1, 1, 1 }));
    CHECK_OK(mare_launch_run(launch, NULL));
    *nx = 2;
    CHECK_OK(mare_launch_run(launch, NULL));
    CHECK_OK(mare_launch_set_int(launch, 0, 3));
    CHECK_OK(mare_launch_run(launch, NULL));
    CHECK_OK(mare_buffer_download(out, 0, got, sizeof got, NULL));
    if (info->runs_kernels)
        CHECK(got[0] == 5 && got[1] == 3 * 2 && got[2] == 2 * 3 && got[3] == 0);
    mare_buffer_release(out);
    mare_launch_release(launch);
}

/* A view given to a kernel starts where it starts; scalars written in place are taken at the next
 * run. */
static void binds_views(mare_device *device, const mare_device_info *info) {
    mare_launch *launch =
        launch_of(device, &(mare_program_desc){ .source = index_source, .name = "mark.krn" },
                  "mark");
    uint64_t alignment = info->view_alignment > 4 ? info->view_alignment : 4;
    mare_buffer *out = doubles(device, (int)alignment, 0), *view = NULL;
    CHECK_OK(mare_buffer_view(out, 4 * alignment, 4 * alignment, &view));
    CHECK_OK(mare_launch_set_buffer(launch, 3, view));
    for (uint32_t d = 0; d < 3; d++) CHECK_OK(mare_launch_set_int(launch, d, 1));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ 2, 1, 1 }, NULL));
    mare_buffer_release(view);
    CHECK_OK(mare_launch_run(launch, NULL));
    *(int32_t *)mare_launch_scalar(launch, 0) = 2;
    CHECK_OK(mare_launch_run(launch, NULL));
    int32_t *got = calloc(alignment, 8);
    CHECK_OK(mare_buffer_download(out, 0, got, 8 * alignment, NULL));
    CHECK_NUMBER(got[alignment - 1], 0);
    if (info->runs_kernels)
        CHECK(got[alignment] == 2 && got[alignment + 1] == 2 && got[alignment + 2] == 0);
    free(got);
    mare_buffer_release(out);
    mare_launch_release(launch);
}

static void knows_cpus(mare_device *device, const mare_device_info *info) {
    static const char text[] = "#ifdef MR_CPU\n#define IS_CPU MR_CPU\n"
                               "#else\n#define IS_CPU 0\n#endif\n"
                               "MR_KERNEL void f(MR_GLOBAL int *x) { x[0] = 7 + IS_CPU; }\n";
    mare_launch *launch =
        launch_of(device, &(mare_program_desc){ .source = text, .name = "cpu.krn" }, "f");
    mare_buffer *out = doubles(device, 1, 0);
    int32_t got = 0;
    CHECK_OK(mare_launch_set_buffer(launch, 0, out));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ 1, 1, 1 }, NULL));
    CHECK_OK(mare_launch_run(launch, NULL));
    CHECK_OK(mare_buffer_download(out, 0, &got, 4, NULL));
    if (info->runs_kernels) CHECK_NUMBER(got, info->kind == MARE_DEVICE_CPU ? 8 : 7);
    mare_buffer_release(out);
    mare_launch_release(launch);
}

/* ---- the compiler ---- */

/* A function of CUDA C and OpenCL C that is no word of the dialect. */
static void knows_other_functions(mare_device *device) {
    mare_launch_release(launch_of(
        device,
        &(mare_program_desc){ .name = "turn.krn",
                              .source = "MR_KERNEL void turn(MR_GLOBAL real *x)\n"
                                        "{\n"
                                        "    x[mr_gid_x()] = sinpi(x[mr_gid_x()]);\n"
                                        "}\n" },
        "turn"));
}

static void shows_errors(mare_device *device, const mare_device_info *info) {
    mare_program *program = NULL;
    mare_program_desc desc = { .name = "mine.krn",
                               .source = "MR_KERNEL void f(MR_GLOBAL int *x)\n{\n#error\n"
                                         "    x[0] = unknown_name;\n}\n" };
    if (!info->runs_kernels) {
        CHECK_FAILS(mare_program_create(device, &desc, &program), MARE_ERROR_BUILD, "'mine.krn'",
                    "#error");
        return;
    }
    desc.source = "MR_KERNEL void f(MR_GLOBAL int *x)\n{\n\n    x[0] = unknown_name;\n}\n";
    CHECK_FAILS(mare_program_create(device, &desc, &program), MARE_ERROR_BUILD, "mine.krn", "4",
                "unknown_name");
    CHECK(strstr(mare_error_message(), "mine.krn:4") ||
          strstr(mare_error_message(), "mine.krn(4)"));
}

static void put(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0);
    if (file) fclose(file);
}

static void shows_errors_in_includes(mare_device *device, const mare_device_info *info) {
    const char *const paths[] = { folder };
    const mare_define define = { "PART", "\"part.h\"" };
    mare_program *program = NULL;
    if (!info->runs_kernels) return;
    put("part.h", "\n\nMR_FN int part(void) { return missing; }\n");
    mare_program_desc desc = {
        .name = "whole.krn",
        .include_paths = paths,
        .include_path_count = 1,
        .defines = &define,
        .define_count = 1,
        .source = "#include PART\nMR_KERNEL void f(MR_GLOBAL int *x) { x[0] = part(); }\n"
    };
    CHECK_FAILS(mare_program_create(device, &desc, &program), MARE_ERROR_BUILD, "missing");
    CHECK(strstr(mare_error_message(), "part.h:3") || strstr(mare_error_message(), "part.h(3)"));
    put("part.h", "MR_FN int part(void) { return 5; }\n");
    CHECK_OK(mare_program_create(device, &desc, &program));
    mare_program_release(program);
}

/* Names that the prelude has within it, too. */
static void takes_any_define(mare_device *device) {
    static const char *const names[] = { "a", "b", "c", "i", "k", "l", "m", "n", "p", "q", "r", "s",
                                         "from", "to", "most", "size", "chunk", "word", "part" };
    enum { COUNT = sizeof names / sizeof *names };
    mare_define defines[COUNT];
    mare_program *program = NULL;
    for (int i = 0; i < COUNT; i++) defines[i] = (mare_define){ names[i], "3" };
    mare_program_desc desc = {
        .source = "MR_KERNEL void f(MR_GLOBAL real *out) { out[mr_gid_x()] = mr_max(n, r) + a; }",
        .defines = defines,
        .define_count = COUNT
    };
    CHECK_OK(mare_program_create(device, &desc, &program));
    mare_program_release(program);
    defines[1].name = "x";
    CHECK_FAILS(mare_program_create(device, &desc, &program), MARE_ERROR_ARGUMENT,
                "define 'x' would replace a part of mr_gid_x()");
}

/* ---- plain CUDA and OpenCL ---- */

static const char plain_cuda[] =
    "extern \"C\" __global__ void __launch_bounds__(256) twice(const float *__restrict__ x, float "
    "*y, int n)\n"
    "{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = 2 * x[i];\n}\n";
static const char plain_opencl[] =
    "typedef float number;\n"
    "__kernel __attribute__((vec_type_hint(float))) void twice(__global const number *restrict x, "
    "__global number *y, int n)\n"
    "{\n    int i = get_global_id(0);\n    if (i < n) y[i] = 2 * x[i];\n}\n";

static void runs_plain_language(mare_device *device, const mare_device_info *info,
                                uint32_t language) {
    enum { COUNT = 1001 };
    float values[COUNT];
    mare_buffer *x = NULL, *y = NULL;
    mare_launch *launch =
        launch_of(device,
                  &(mare_program_desc){ .name = "twice",
                                        .language = language,
                                        .source = language == MARE_LANGUAGE_CUDA ? plain_cuda
                                                                                 : plain_opencl },
                  "twice");
    for (int i = 0; i < COUNT; i++) values[i] = (float)i;
    mare_buffer_desc desc = { sizeof values, MARE_TYPE_FLOAT, 0, "x" };
    CHECK_OK(mare_buffer_create(device, &desc, &x));
    CHECK_OK(mare_buffer_create(device, &desc, &y));
    CHECK_OK(mare_buffer_upload(x, 0, values, sizeof values, NULL));
    CHECK_OK(mare_launch_set_buffer(launch, 0, x));
    CHECK_OK(mare_launch_set_buffer(launch, 1, y));
    CHECK_OK(mare_launch_set_int(launch, 2, COUNT));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ COUNT, 1, 1 }, NULL));
    CHECK_OK(mare_launch_run(launch, NULL));
    if (info->runs_kernels) {
        CHECK_OK(mare_buffer_download(y, 0, values, sizeof values, NULL));
        CHECK(values[1] == 2 && values[COUNT - 1] == 2 * (COUNT - 1));
    }
    mare_launch_release(launch);
    mare_buffer_release(x);
    mare_buffer_release(y);
}

static void runs_plain(mare_device *device, const mare_device_info *info) {
    static const char *const quoted[] = { "'mare'", "'cuda'", "'opencl'" };
    const mr_backend *own = backend_of(info);
    mare_program *program = NULL;
    for (uint32_t language = MARE_LANGUAGE_CUDA; language <= MARE_LANGUAGE_OPENCL; language++) {
        const mare_program_desc desc = { .source = "", .language = language };
        if (!own->runs_kernels || language == own->language)
            runs_plain_language(device, info, language);
        else
            CHECK_FAILS(mare_program_create(device, &desc, &program), MARE_ERROR_ARGUMENT,
                        quoted[language], own->name);
    }
}

static void describes_kernels(mare_device *device, const mare_device_info *info) {
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    mare_kernel_info about;
    CHECK_OK(mare_program_create(device,
                                 &(mare_program_desc){ .source = index_source, .name = "i.krn" },
                                 &program));
    CHECK_OK(mare_kernel_create(program, "mark", &kernel));
    CHECK_OK(mare_kernel_query(kernel, &about));
    CHECK_TEXT(about.name, "mark");
    CHECK_NUMBER(about.arg_count, 4);
    CHECK(about.max_group_size > 0 && about.max_group_size <= info->max_group_size);
    mare_kernel_release(kernel);
    mare_program_release(program);
}

/* The group of the source is what runs where none is asked for, and no other does. */
static void keeps_fixed_groups(mare_device *device, const mare_device_info *info) {
    static const char source[] =
        "#define ROWS 2\n"
        "MR_KERNEL MR_GROUP_SIZE(2 * GROUP, ROWS, 1) void f(MR_GLOBAL int *out)\n"
        "{ out[0] = mr_group_size_x(); out[1] = mr_group_size_y(); }\n";
    mare_define define = { "GROUP", "2" };
    mare_buffer *out = doubles(device, 1, MARE_TYPE_INT32);
    int32_t got[2] = { 0 };
    mare_launch *launch = launch_of(
        device,
        &(mare_program_desc){ .source = source, .defines = &define, .define_count = 1 }, "f");
    CHECK_OK(mare_launch_set_buffer(launch, 0, out));
    CHECK_FAILS(mare_launch_set_shape(launch, (uint32_t[3]){ 9, 9, 1 }, (uint32_t[3]){ 8, 1, 1 }),
                MARE_ERROR_ARGUMENT, "'f'", "8 x 1 x 1", "fixes 4 x 2 x 1");
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ 9, 9, 1 }, NULL));
    CHECK_OK(mare_launch_run(launch, NULL));
    CHECK_OK(mare_buffer_download(out, 0, got, sizeof got, NULL));
    CHECK(!info->runs_kernels || (got[0] == 4 && got[1] == 2));
    mare_launch_release(launch);
    mare_buffer_release(out);
}

/* What the text cannot tell the compiler does; nothing compiles for the null device. */
static void counts_parameters(mare_device *device, const mare_device_info *info) {
    static const char source[] = "#define PAIR a, MR_GLOBAL int *b\n"
                                 "MR_KERNEL void f(MR_GLOBAL int *PAIR) { a[0] = b[0]; }\n";
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    CHECK_OK(mare_program_create(device, &(mare_program_desc){ .source = source }, &program));
    if (info->runs_kernels)
        CHECK_FAILS(mare_kernel_create(program, "f", &kernel), MARE_ERROR_ARGUMENT, "kernel 'f'",
                    "shows 1 parameters", "found 2");
    mare_program_release(program);
}

/* As many groups as there are compute units, each of which goes on when all are there, queued and
 * out of a plan. Without the promise no device is asked to. */
static void meets(mare_device *device, mare_launch *launch, uint32_t units) {
    int32_t met = 0;
    mare_plan *plan = NULL;
    mare_buffer *arrived = doubles(device, 1, MARE_TYPE_UINT32);
    CHECK_OK(mare_launch_set_buffer(launch, 0, arrived));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ units, 1, 1 }, (uint32_t[3]){ 1, 1, 1 }));
    CHECK_OK(mare_buffer_fill(arrived, 0, sizeof met, "\0", 1, NULL));
    CHECK_OK(mare_launch_run(launch, NULL));
    CHECK_OK(mare_plan_begin(mare_device_stream(device)));
    CHECK_OK(mare_launch_run(launch, NULL));
    CHECK_OK(mare_plan_end(mare_device_stream(device), "meeting", &plan));
    CHECK_OK(mare_plan_run(plan, 2, NULL));
    CHECK_OK(mare_buffer_download(arrived, 0, &met, sizeof met, NULL));
    CHECK_NUMBER(met, 3 * units);
    mare_plan_release(plan);
    mare_buffer_release(arrived);
}

static void runs_together(mare_device *device, const mare_device_info *info) {
    static const char source[] =
        "MR_KERNEL void meet(MR_GLOBAL uint *arrived) {\n"
        "#ifdef MR_SCOPES\n"
        "    uint n = (uint)mr_groups_x(), seen = mr_atomic_add(arrived, 1);\n"
        "    uint all = seen - seen % n + n;\n"
        "    while (seen < all) seen = mr_load_acquire(arrived);\n"
        "#endif\n"
        "}\n";
    mare_launch *launch = launch_of(device, &(mare_program_desc){ .source = source }, "meet");
    if (backend_of(info)->runs_together) {
        CHECK_OK(mare_launch_set_together(launch, 1));
        meets(device, launch, info->compute_units);
    } else {
        CHECK_FAILS(mare_launch_set_together(launch, 1), MARE_ERROR_UNAVAILABLE, "'meet'",
                    info->name, "at the same time");
        CHECK_OK(mare_launch_set_together(launch, 0));
    }
    mare_launch_release(launch);
}

/* The last group of all to count itself finds what the others have written before. */
static void shares_words(mare_device *device, const mare_device_info *info) {
    enum { GROUPS = 64 };
    static const char source[] =
        "#ifndef MR_SCOPES\n#error no words of scopes\n#endif\n"
        "MR_KERNEL void count(MR_GLOBAL uint *words, MR_GLOBAL uint *values)\n"
        "{\n"
        "    uint i = (uint)mr_group_x(), n = (uint)mr_groups_x(), sum = 0;\n"
        "    values[i] = i + 1;\n"
        "    mr_fence();\n"
        "    uint before = mr_atomic_add(words, 1);\n"
        "    mr_atomic_max(words + 1, i);\n"
        "    mr_atomic_max_system(words + 2, i);\n"
        "    if (mr_atomic_replace(words + 3, 0, i + 1) == 0)\n"
        "        mr_atomic_exchange_system(words + 4, 7);\n"
        "    if (before != n - 1) return;\n"
        "    mr_fence_system();\n"
        "    for (uint k = 0; k < n; k++) sum += mr_load_acquire(values + k);\n"
        "    mr_store_release_system(words + 5, sum + mr_load_acquire_system(words + 4));\n"
        "    mr_store_release(words + 6, mr_atomic_add_system(words + 6, 3) + 5);\n"
        "}\n";
    uint32_t got[8] = { 0 };
    if (!info->runs_kernels || !info->has_scopes) return;
    mare_buffer *words = doubles(device, 4, MARE_TYPE_UINT32);
    mare_buffer *values = doubles(device, GROUPS, MARE_TYPE_UINT32);
    mare_launch *launch =
        launch_of(device, &(mare_program_desc){ .source = source, .name = "count.krn" }, "count");
    CHECK_OK(mare_launch_set_buffer(launch, 0, words));
    CHECK_OK(mare_launch_set_buffer(launch, 1, values));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ GROUPS, 1, 1 },
                                   (uint32_t[3]){ 1, 1, 1 }));
    CHECK_OK(mare_launch_run(launch, NULL));
    CHECK_OK(mare_buffer_download(words, 0, got, sizeof got, NULL));
    CHECK(got[0] == GROUPS && got[1] == GROUPS - 1 && got[2] == GROUPS - 1);
    CHECK(got[3] >= 1 && got[3] <= GROUPS && got[4] == 7);
    CHECK_NUMBER(got[5], GROUPS * (GROUPS + 1) / 2 + 7);
    CHECK_NUMBER(got[6], 5);
    mare_launch_release(launch);
    mare_buffer_release(values);
    mare_buffer_release(words);
}

/* All the local memory that a group can have, and a word more. */
static void has_large_arrays(mare_device *device, const mare_device_info *info) {
    static const char source[] =
        "MR_KERNEL void turn(MR_GLOBAL int *out)\n"
        "{\n"
        "    MR_LOCAL_LARGE(int, a, COUNT);\n"
        "    int l = mr_lid_x(), n = mr_group_size_x();\n"
        "    for (int i = l; i < COUNT; i += n) a[i] = i;\n"
        "    MR_BARRIER();\n"
        "    out[l] = a[COUNT - 1 - l];\n"
        "}\n";
    char count[32];
    int32_t got[64] = { 0 };
    mare_define define = { "COUNT", count };
    mare_program_desc desc = { .source = source, .name = "turn.krn", .defines = &define,
                               .define_count = 1 };
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    const uint64_t words = info->max_local_memory / 4 < 100000 ? info->max_local_memory / 4
                                                               : 100000;
    CHECK(info->max_local_memory >= info->local_memory);
    snprintf(count, sizeof count, "%llu", (unsigned long long)words);
    mare_buffer *out = doubles(device, 32, MARE_TYPE_INT32);
    mare_launch *launch = launch_of(device, &desc, "turn");
    CHECK_OK(mare_launch_set_buffer(launch, 0, out));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ 64, 1, 1 }, (uint32_t[3]){ 64, 1, 1 }));
    CHECK_OK(mare_launch_run(launch, NULL));
    CHECK_OK(mare_buffer_download(out, 0, got, sizeof got, NULL));
    CHECK(!info->runs_kernels || (got[0] == (int)words - 1 && got[63] == (int)words - 64));
    mare_launch_release(launch);
    mare_buffer_release(out);
    if (info->max_local_memory > 1 << 30) return;
    snprintf(count, sizeof count, "%llu", (unsigned long long)info->max_local_memory / 4 + 1);
    if (mare_program_create(device, &desc, &program) != MARE_OK) return; /* the compiler knew */
    CHECK_FAILS(mare_kernel_create(program, "turn", &kernel), MARE_ERROR_UNAVAILABLE, "'turn'",
                "local memory", info->name);
    mare_program_release(program);
}

/* Each launch adds what the one before has left, which is there behind the wait. */
static void runs_programmatic(mare_device *device, const mare_device_info *info) {
    static const char source[] =
        "MR_KERNEL void pass(int k, MR_GLOBAL int *x)\n"
        "{\n"
        "    int i = mr_gid_x();\n"
        "    mr_start_dependents();\n"
        "    mr_wait_for_previous();\n"
        "    x[i] = 2 * x[i] % 1000 + k;\n"
        "}\n";
    enum { COUNT = 64, ROUNDS = 50 };
    int32_t got[COUNT] = { 0 };
    mare_plan *plan = NULL;
    mare_stream *stream = mare_device_stream(device);
    mare_buffer *x = doubles(device, COUNT / 2, MARE_TYPE_INT32);
    mare_launch *launch =
        launch_of(device, &(mare_program_desc){ .source = source, .name = "pass.krn" }, "pass");
    CHECK_OK(mare_launch_set_int(launch, 0, 1));
    CHECK_OK(mare_launch_set_buffer(launch, 1, x));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ COUNT, 1, 1 }, (uint32_t[3]){ 1, 1, 1 }));
    CHECK_OK(mare_launch_set_programmatic(launch, 0));
    if (info->has_programmatic) CHECK_OK(mare_launch_set_programmatic(launch, 1));
    else
        CHECK_FAILS(mare_launch_set_programmatic(launch, 1), MARE_ERROR_UNAVAILABLE, "'pass'",
                    info->name, "programmatic");
    CHECK_OK(mare_buffer_fill(x, 0, sizeof got, "\0", 1, NULL));
    CHECK_OK(mare_plan_begin(stream));
    for (int i = 0; i < ROUNDS; i++) CHECK_OK(mare_launch_run(launch, NULL));
    CHECK_OK(mare_plan_end(stream, "chain", &plan));
    for (int i = 0; i < ROUNDS; i++) CHECK_OK(mare_launch_run(launch, NULL));
    CHECK_OK(mare_plan_run(plan, 2, NULL));
    CHECK_OK(mare_buffer_download(x, 0, got, sizeof got, NULL));
    int expected = 0;
    for (int i = 0; i < 3 * ROUNDS; i++) expected = 2 * expected % 1000 + 1;
    CHECK(!info->runs_kernels || (got[0] == expected && got[COUNT - 1] == expected));
    mare_plan_release(plan);
    mare_launch_release(launch);
    mare_buffer_release(x);
}

static void ignore(int number) {
    (void)number;
}

/* The process's handlers: `ignore` for those that come from outside, its own for faults. */
static struct sigaction handlers[NSIG];

static void set_handlers(void) {
    static const int outside[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2 };
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) signal(outside[i], ignore);
    for (int s = 1; s < NSIG; s++) sigaction(s, NULL, &handlers[s]);
}

/* Drivers and what compiled so far have left them, but for that with which PoCL lets kernels divide
 * by zero. */
static void leaves_signals_alone(void) {
    struct sigaction now;
    for (int s = 1; s < NSIG; s++)
        if (s != SIGFPE && sigaction(s, NULL, &now) == 0 &&
            !CHECK(now.sa_handler == handlers[s].sa_handler))
            fprintf(stderr, "    signal %d\n", s);
}

static bool gets_interrupts(const char *task) {
    char path[300], line[256];
    unsigned long long blocked = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
    FILE *file = fopen(path, "r");
    if (!CHECK(file != NULL)) return false;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "SigBlk: %llx", &blocked) == 1) break;
    fclose(file);
    return !(blocked >> (SIGINT - 1) & 1);
}

/* PoCL's threads start its linker, which Ctrl-C would end, and PoCL then the process. Those of
 * other drivers, which may be here too, start nothing. */
static void keeps_interrupts_to_itself(const mare_device_info *info) {
    if (!info->runs_kernels || info->kind != MARE_DEVICE_CPU) return;
    int without = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!CHECK(tasks != NULL)) return;
    for (struct dirent *task; (task = readdir(tasks));)
        if (task->d_name[0] != '.' && !gets_interrupts(task->d_name)) without++;
    closedir(tasks);
    CHECK(without > 0);
    char self[16];
    snprintf(self, sizeof self, "%ld", (long)getpid());
    CHECK(gets_interrupts(self));
}

static void test(mare_device *device, const mare_device_info *info) {
    leaves_signals_alone();
    keeps_interrupts_to_itself(info);
    keeps_fixed_groups(device, info);
    runs_together(device, info);
    shares_words(device, info);
    has_large_arrays(device, info);
    runs_programmatic(device, info);
    counts_parameters(device, info);
    passes_every_type(device, info);
    computes_types_of_buffers(device, info);
    covers_shapes(device, info);
    moves_views(device, info);
    takes_changes(device, info);
    binds_views(device, info);
    knows_cpus(device, info);
    knows_other_functions(device);
    shows_errors(device, info);
    shows_errors_in_includes(device, info);
    takes_any_define(device);
    runs_plain(device, info);
    describes_kernels(device, info);
    leaves_signals_alone();
}

int part_programs(void) {
    set_handlers();
    CHECK(mkdtemp(folder) != NULL);
    setenv("MARE_CACHE", folder, 1);
    int result = run_on_devices(test);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    return result;
}
