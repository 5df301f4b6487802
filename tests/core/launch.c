/* launch.c - every wrong argument and shape is refused by name, on the null back end, where nothing
 * runs. */
#include "check.h"
#include "internal.h"

#include <math.h>

static const char source[] = "MR_KERNEL void all(signed char i8, unsigned char u8, short i16, "
                             "unsigned short u16, int i32, unsigned u32,\n"
                             "    long i64, unsigned long u64, float f, double d, MR_GLOBAL float "
                             "*x, MR_GLOBAL const void *raw) {}\n"
                             "MR_KERNEL void none(void) {}\n"
                             "typedef struct params { double dt; int n[3]; unsigned char u; "
                             "float a; } params;\n"
                             "MR_KERNEL void block(int first, const params p) {}\n"
                             "MR_KERNEL MR_GROUP_SIZE(16, 4, 2) void fixed(void) {}\n";

enum { I8, U8, I16, U16, I32, U32, I64, U64, F, D, X, RAW };

static mare_device *device;
static mare_program *program;
static mare_kernel *kernel;
static mare_launch *launch;

static void refuses_programs(void) {
    mare_program *bad = NULL;
    mare_program_desc desc = { .name = "p.krn" };
    CHECK_FAILS(mare_program_create(device, &desc, &bad), MARE_ERROR_ARGUMENT, "'p.krn'",
                "source is NULL");
    desc.source = "int a;\n#error wrong here\n";
    CHECK_FAILS(mare_program_create(device, &desc, &bad), MARE_ERROR_BUILD, "'p.krn'",
                "#error wrong here");
    desc.language = 3;
    CHECK_FAILS(mare_program_create(device, &desc, &bad), MARE_ERROR_ARGUMENT, "language 3");
    desc.language = 0;
    desc.math = 7;
    CHECK_FAILS(mare_program_create(device, &desc, &bad), MARE_ERROR_ARGUMENT, "math 7");
    desc.math = 0;
    desc.define_count = 1;
    CHECK_FAILS(mare_program_create(device, &desc, &bad), MARE_ERROR_ARGUMENT, "list is NULL");
    desc.defines = &(mare_define){ "1N", NULL };
    CHECK_FAILS(mare_program_create(device, &desc, &bad), MARE_ERROR_ARGUMENT, "'1N'",
                "identifier");
    desc.defines = &(mare_define){ "N", "1\n#error" };
    CHECK_FAILS(mare_program_create(device, &desc, &bad), MARE_ERROR_ARGUMENT, "'N'", "line break");
    CHECK_FAILS(mare_program_create(device, NULL, &bad), MARE_ERROR_ARGUMENT, "desc");
    CHECK(bad == NULL);
}

static mare_status check_for(const char *target, const mare_program_desc *desc) {
    uint64_t size = 0;
    return mare_program_check(target, desc, &size, NULL, 0);
}

static void refuses_targets(void) {
    mare_program_desc desc = { .source = source, .name = "p.krn" };
    CHECK_FAILS(check_for("metal:x", &desc), MARE_ERROR_UNAVAILABLE, "'metal:x'",
                "have: cuda");
    CHECK_FAILS(check_for("null:x", &desc), MARE_ERROR_UNAVAILABLE, "'null:x'",
                "device");
    desc.language = MARE_LANGUAGE_OPENCL;
    CHECK_FAILS(check_for("cuda:sm_90", &desc), MARE_ERROR_ARGUMENT, "'opencl'",
                "allowed: mare, cuda");
    desc.language = MARE_LANGUAGE_CUDA;
    CHECK_FAILS(check_for("opencl:x", &desc), MARE_ERROR_ARGUMENT, "'cuda'",
                "allowed: mare, opencl");
}

static void tells_kernels(void) {
    mare_kernel *bad = NULL;
    mare_arg_info arg;
    mare_kernel_info info;
    CHECK_FAILS(mare_kernel_create(program, "al", &bad), MARE_ERROR_ARGUMENT, "'launch.krn'",
                "'al'", "all, none, block, fixed");
    CHECK(bad == NULL);
    CHECK_OK(mare_kernel_query(kernel, &info));
    CHECK_TEXT(info.name, "all");
    CHECK_NUMBER(info.arg_count, 12);
    CHECK_OK(mare_kernel_arg(kernel, RAW, &arg));
    CHECK(arg.is_buffer && arg.is_const && arg.type == MARE_TYPE_NONE && !strcmp(arg.name, "raw"));
    CHECK_FAILS(mare_kernel_arg(kernel, 12, &arg), MARE_ERROR_ARGUMENT, "'all'", "argument 12",
                "has 12");
}

static void checks_integers(void) {
    static const struct {
        uint32_t index;
        int64_t least, most;
        const char *type;
    } limits[] = {
        { I8, INT8_MIN, INT8_MAX, "int8" },     { U8, 0, UINT8_MAX, "uint8" },
        { I16, INT16_MIN, INT16_MAX, "int16" }, { U16, 0, UINT16_MAX, "uint16" },
        { I32, INT32_MIN, INT32_MAX, "int32" }, { U32, 0, UINT32_MAX, "uint32" },
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        CHECK_OK(mare_launch_set_int(launch, limits[i].index, limits[i].least));
        CHECK_OK(mare_launch_set_int(launch, limits[i].index, limits[i].most));
        CHECK_OK(mare_launch_set_real(launch, limits[i].index, (double)limits[i].most));
        CHECK_FAILS(mare_launch_set_int(launch, limits[i].index, limits[i].least - 1),
                    MARE_ERROR_ARGUMENT, "kernel 'all'", limits[i].type, "outside");
        CHECK_FAILS(mare_launch_set_int(launch, limits[i].index, limits[i].most + 1),
                    MARE_ERROR_ARGUMENT, limits[i].type, "outside");
        CHECK_FAILS(mare_launch_set_real(launch, limits[i].index, (double)limits[i].most + 1),
                    MARE_ERROR_ARGUMENT, limits[i].type);
        CHECK_FAILS(mare_launch_set_real(launch, limits[i].index, 0.5), MARE_ERROR_ARGUMENT, "0.5",
                    "not whole");
    }
    CHECK_OK(mare_launch_set_int(launch, I64, INT64_MIN));
    CHECK_OK(mare_launch_set_int(launch, U64, INT64_MAX));
    CHECK_FAILS(mare_launch_set_int(launch, U64, -1), MARE_ERROR_ARGUMENT, "argument 7 'u64'",
                "uint64", "-1 outside 0");
    CHECK_FAILS(mare_launch_set_int(launch, I32, 1LL << 40), MARE_ERROR_ARGUMENT,
                "argument 4 'i32'", "expects int32", "1099511627776", "-2147483648 .. 2147483647");
}

static void checks_large_reals(void) {
    CHECK_OK(mare_launch_set_real(launch, U64, 0x1p63));
    CHECK_NUMBER(*(uint64_t *)mare_launch_scalar(launch, U64), 1ULL << 63);
    CHECK_OK(mare_launch_set_real(launch, I64, -0x1p63));
    CHECK_FAILS(mare_launch_set_real(launch, U64, 0x1p64), MARE_ERROR_ARGUMENT, "out of its range");
    CHECK_FAILS(mare_launch_set_real(launch, I64, 0x1p63), MARE_ERROR_ARGUMENT, "out of its range");
    CHECK_FAILS(mare_launch_set_real(launch, I64, (double)NAN), MARE_ERROR_ARGUMENT, "nan");
    CHECK_FAILS(mare_launch_set_real(launch, I64, (double)INFINITY), MARE_ERROR_ARGUMENT, "inf");
}

static void checks_reals(void) {
    CHECK_OK(mare_launch_set_int(launch, F, 1 << 24));
    CHECK_OK(mare_launch_set_int(launch, F, INT64_MIN));
    CHECK_NUMBER(*(float *)mare_launch_scalar(launch, F), -0x1p63);
    CHECK_FAILS(mare_launch_set_int(launch, F, (1 << 24) + 1), MARE_ERROR_ARGUMENT,
                "argument 8 'f'", "expects float", "16777217");
    CHECK_FAILS(mare_launch_set_int(launch, D, (1LL << 53) + 1), MARE_ERROR_ARGUMENT,
                "expects double");
    CHECK_OK(mare_launch_set_real(launch, F, 0.1));
    CHECK_NUMBER(*(float *)mare_launch_scalar(launch, F), 0.1f);
    CHECK_OK(mare_launch_set_real(launch, F, (double)INFINITY));
    CHECK_OK(mare_launch_set_real(launch, F, (double)NAN));
    CHECK_FAILS(mare_launch_set_real(launch, F, 1e39), MARE_ERROR_ARGUMENT, "float",
                "9.9999999999999994e+38");
    CHECK_OK(mare_launch_set_real(launch, D, 1e39));
}

static void checks_typed_scalars(void) {
    float value = 2.5f;
    CHECK_OK(mare_launch_set_scalar(launch, F, MARE_TYPE_FLOAT, &value));
    CHECK_NUMBER(*(float *)mare_launch_scalar(launch, F), 2.5);
    CHECK_FAILS(mare_launch_set_scalar(launch, D, MARE_TYPE_FLOAT, &value), MARE_ERROR_ARGUMENT,
                "expects double", "a float");
    CHECK_FAILS(mare_launch_set_scalar(launch, F, MARE_TYPE_FLOAT, NULL), MARE_ERROR_ARGUMENT,
                "NULL");
    CHECK(mare_launch_scalar(launch, X) == NULL);
    CHECK(strstr(mare_error_message(), "a buffer of float") != NULL);
    CHECK(mare_launch_scalar(launch, 12) == NULL);
}

static void checks_buffers(void) {
    mare_device *other = NULL;
    mare_buffer *floats = NULL, *doubles = NULL, *untyped = NULL, *foreign = NULL, *view = NULL;
    CHECK_OK(mare_device_open("null", &other));
    CHECK_OK(
        mare_buffer_create(device, &(mare_buffer_desc){ 64, MARE_TYPE_FLOAT, 0, "rho" }, &floats));
    CHECK_OK(mare_buffer_create(device, &(mare_buffer_desc){ 64, MARE_TYPE_DOUBLE, 0, "sum" },
                                &doubles));
    CHECK_OK(mare_buffer_create(device, &(mare_buffer_desc){ 64, 0, 0, "raw" }, &untyped));
    CHECK_OK(
        mare_buffer_create(other, &(mare_buffer_desc){ 64, MARE_TYPE_FLOAT, 0, "far" }, &foreign));
    CHECK_OK(mare_buffer_view(floats, 2, 8, &view));
    CHECK_OK(mare_launch_set_buffer(launch, X, floats));
    CHECK_OK(mare_launch_set_buffer(launch, X, untyped));
    CHECK_OK(mare_launch_set_buffer(launch, RAW, doubles));
    CHECK_FAILS(mare_launch_set_buffer(launch, X, doubles), MARE_ERROR_ARGUMENT, "argument 10 'x'",
                "expects a buffer of float", "'sum' of double");
    CHECK_FAILS(mare_launch_set_buffer(launch, X, foreign), MARE_ERROR_ARGUMENT,
                "'far' of another device", "null:0");
    CHECK_FAILS(mare_launch_set_buffer(launch, X, view), MARE_ERROR_ARGUMENT, "'rho'", "byte 2",
                "multiples of 4");
    CHECK_FAILS(mare_launch_set_buffer(launch, F, floats), MARE_ERROR_ARGUMENT, "expects float",
                "the buffer 'rho'");
    CHECK_FAILS(mare_launch_set_buffer(launch, X, NULL), MARE_ERROR_ARGUMENT, "'x'", "NULL");
    CHECK_FAILS(mare_launch_set_int(launch, X, 1), MARE_ERROR_ARGUMENT, "expects a buffer of float",
                "the integer 1");
    CHECK_FAILS(mare_launch_set_real(launch, RAW, 1.5), MARE_ERROR_ARGUMENT,
                "expects a buffer, got the number 1.5");
    CHECK_FAILS(mare_launch_set_buffer(launch, 12, floats), MARE_ERROR_ARGUMENT,
                "argument 12, it has 12");
    mare_stream *stream = mare_device_stream(other);
    CHECK_FAILS(mare_launch_run(launch, stream), MARE_ERROR_ARGUMENT, "kernel 'all'",
                "stream 'default'");
    mare_buffer_release(view);
    mare_buffer_release(foreign);
    mare_buffer_release(untyped);
    mare_buffer_release(doubles);
    mare_buffer_release(floats);
    mare_device_release(other);
}

static void checks_shapes(void) {
    const uint32_t line[3] = { 1000, 1, 1 };
    CHECK_OK(mare_launch_set_shape(launch, line, NULL));
    CHECK_OK(mare_launch_set_shape(launch, line, (uint32_t[3]){ 1024, 1, 1 }));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ 1, 1, INT32_MAX - 63 }, NULL));
    CHECK_FAILS(mare_launch_set_shape(launch, (uint32_t[3]){ INT32_MAX, 1, 1 },
                                      (uint32_t[3]){ 256, 1, 1 }),
                MARE_ERROR_ARGUMENT, "'all'", "2147483648 work-items along x", "ints");
    CHECK_FAILS(mare_launch_set_shape(launch, (uint32_t[3]){ 1, UINT32_MAX, 1 }, NULL),
                MARE_ERROR_ARGUMENT, "4294967296 work-items along y");
    CHECK_FAILS(mare_launch_set_shape(launch, (uint32_t[3]){ 8, 0, 1 }, NULL), MARE_ERROR_ARGUMENT,
                "'all'", "along y is 0");
    CHECK_FAILS(mare_launch_set_shape(launch, line, (uint32_t[3]){ 8, 0, 1 }), MARE_ERROR_ARGUMENT,
                "group size 0 along y");
    CHECK_FAILS(mare_launch_set_shape(launch, line, (uint32_t[3]){ 1025, 1, 1 }),
                MARE_ERROR_ARGUMENT, "group size 1025 along x", "1 to 1024");
    CHECK_FAILS(mare_launch_set_shape(launch, line, (uint32_t[3]){ 64, 32, 1 }),
                MARE_ERROR_ARGUMENT, "64 x 32 x 1", "allows 1024");
    CHECK_FAILS(mare_launch_set_shape(launch, NULL, NULL), MARE_ERROR_ARGUMENT, "global");
}

static void keeps_fixed_groups(void) {
    const uint32_t global[3] = { 100, 1, 1 };
    mare_kernel *fixed = NULL;
    mare_launch *own = NULL;
    CHECK_OK(mare_kernel_create(program, "fixed", &fixed));
    CHECK_OK(mare_launch_create(fixed, &own));
    CHECK_OK(mare_launch_set_shape(own, global, NULL));
    const mr_dispatch *shape = &own->dispatch;
    CHECK(shape->group[0] == 16 && shape->group[1] == 4 && shape->group[2] == 2);
    CHECK(shape->groups[0] == 7 && shape->groups[1] == 1 && shape->groups[2] == 1);
    CHECK_OK(mare_launch_set_shape(own, global, (uint32_t[3]){ 16, 4, 2 }));
    CHECK_FAILS(mare_launch_set_shape(own, global, (uint32_t[3]){ 128, 1, 1 }),
                MARE_ERROR_ARGUMENT, "'fixed'", "128 x 1 x 1", "fixes 16 x 4 x 2");
    mare_launch_release(own);
    mare_kernel_release(fixed);
}

static void chooses(uint32_t kind, uint32_t most, const uint32_t global[3],
                    const uint32_t group[3]) {
    mare_device_info before = device->info;
    device->info.kind = kind;
    device->info.max_group_size = most;
    CHECK_OK(mare_launch_set_shape(launch, global, NULL));
    const uint32_t *chosen = launch->dispatch.group;
    if (!CHECK(!memcmp(chosen, group, sizeof launch->dispatch.group)))
        fprintf(stderr, "    %u x %u x %u gave groups of %u x %u x %u\n", global[0], global[1],
                global[2], chosen[0], chosen[1], chosen[2]);
    for (int d = 0; d < 3; d++)
        CHECK(launch->dispatch.groups[d] == (global[d] + group[d] - 1) / group[d]);
    device->info = before;
}

static void chooses_groups(void) {
    const uint32_t line[3] = { 1000, 1, 1 }, plane[3] = { 100, 100, 1 }, box[3] = { 50, 50, 50 };
    const uint32_t small[3] = { 3, 20, 1 };
    chooses(MARE_DEVICE_GPU, 1024, line, (uint32_t[3]){ 256, 1, 1 });
    chooses(MARE_DEVICE_GPU, 1024, plane, (uint32_t[3]){ 32, 8, 1 });
    chooses(MARE_DEVICE_GPU, 1024, box, (uint32_t[3]){ 32, 4, 2 });
    chooses(MARE_DEVICE_GPU, 1024, small, (uint32_t[3]){ 4, 8, 1 });
    chooses(MARE_DEVICE_GPU, 64, line, (uint32_t[3]){ 64, 1, 1 });
    chooses(MARE_DEVICE_GPU, 64, plane, (uint32_t[3]){ 32, 2, 1 });
    chooses(MARE_DEVICE_GPU, 16, box, (uint32_t[3]){ 16, 1, 1 });
    chooses(MARE_DEVICE_CPU, 4096, line, (uint32_t[3]){ 256, 1, 1 });
    chooses(MARE_DEVICE_CPU, 4096, plane, (uint32_t[3]){ 32, 1, 1 });
    chooses(MARE_DEVICE_CPU, 4096, box, (uint32_t[3]){ 32, 1, 1 });
    chooses(MARE_DEVICE_CPU, 4096, small, (uint32_t[3]){ 4, 1, 1 });
    chooses(MARE_DEVICE_CPU, 1, line, (uint32_t[3]){ 1, 1, 1 });
}

static void names_what_is_missing(void) {
    mare_launch *bare = NULL;
    CHECK_OK(mare_launch_create(kernel, &bare));
    for (uint32_t i = I8; i <= D; i++)
        if (i != I16 && i != F) CHECK_OK(mare_launch_set_int(bare, i, 1));
    CHECK_FAILS(mare_launch_run(bare, NULL), MARE_ERROR_ARGUMENT,
                "not set: 2 'i16', 8 'f', 10 'x', 11 'raw'");
    mare_launch_release(bare);
    mare_kernel *empty = NULL;
    CHECK_OK(mare_kernel_create(program, "none", &empty));
    CHECK_OK(mare_launch_create(empty, &bare));
    CHECK_FAILS(mare_launch_run(bare, NULL), MARE_ERROR_ARGUMENT, "'none'", "shape is not set",
                "'global'");
    CHECK_OK(mare_launch_set_shape(bare, (uint32_t[3]){ 1, 1, 1 }, NULL));
    CHECK_OK(mare_launch_run(bare, NULL));
    CHECK_FAILS(mare_launch_set_int(bare, 0, 1), MARE_ERROR_ARGUMENT, "'none'",
                "argument 0, it has 0");
    mare_launch_release(bare);
    mare_kernel_release(empty);
}

/* The struct of the source above. */
typedef struct params { double dt; int n[3]; unsigned char u; float a; } params;
enum { DT, N, U, A };

static void refuses_fields(mare_launch *own) {
    mare_field_info field;
    CHECK_FAILS(mare_launch_set_field_int(own, 1, N, 0, 1LL << 31), MARE_ERROR_ARGUMENT,
                "kernel 'block'", "argument 1 'p.n[0]'", "expects int32", "2147483648 outside");
    CHECK_FAILS(mare_launch_set_field_real(own, 1, U, 0, 256), MARE_ERROR_ARGUMENT, "'p.u'",
                "expects uint8", "256 outside 0 .. 255");
    CHECK_FAILS(mare_launch_set_field_real(own, 1, N, 2, 0.5), MARE_ERROR_ARGUMENT, "'p.n[2]'",
                "not whole");
    CHECK_FAILS(mare_launch_set_field_real(own, 1, A, 0, 1e39), MARE_ERROR_ARGUMENT, "'p.a'",
                "out of its range");
    CHECK_FAILS(mare_launch_set_field_int(own, 1, N, 3, 1), MARE_ERROR_ARGUMENT, "'p.n'",
                "element 3, it has 3");
    CHECK_FAILS(mare_launch_set_field_int(own, 1, 4, 0, 1), MARE_ERROR_ARGUMENT, "'p'",
                "field 4, it has 4");
    CHECK_FAILS(mare_launch_set_field_int(own, 0, 0, 0, 1), MARE_ERROR_ARGUMENT, "'first'",
                "field 0, it has 0");
    CHECK_FAILS(mare_launch_set_int(own, 1, 1), MARE_ERROR_ARGUMENT, "'p'",
                "a block of 32 bytes, got the integer 1");
    CHECK_FAILS(mare_launch_set_block(own, 1, &field, 24), MARE_ERROR_ARGUMENT, "'p'",
                "a block of 32 bytes, got a block of 24 bytes");
    CHECK_FAILS(mare_launch_set_block(own, 1, NULL, 32), MARE_ERROR_ARGUMENT, "'p'", "NULL");
    CHECK_FAILS(mare_launch_set_block(own, 0, &field, 4), MARE_ERROR_ARGUMENT, "expects int32");
    CHECK(!mare_launch_scalar(own, 1) && !mare_launch_field(own, 1, 4) &&
          !mare_launch_field(own, 0, 0));
    mare_kernel *block = own->kernel;
    CHECK_FAILS(mare_kernel_field(block, 1, 4, &field), MARE_ERROR_ARGUMENT, "'p'", "it has 4");
    CHECK_FAILS(mare_kernel_field(block, 2, 0, &field), MARE_ERROR_ARGUMENT, "argument 2");
}

static void takes_blocks(void) {
    mare_kernel *block = NULL;
    mare_launch *own = NULL;
    mare_arg_info arg;
    mare_field_info field;
    CHECK_OK(mare_kernel_create(program, "block", &block));
    CHECK_OK(mare_launch_create(block, &own));
    mare_kernel_release(block);
    CHECK_OK(mare_kernel_arg(block, 1, &arg));
    CHECK(arg.field_count == 4 && arg.size == sizeof(params) && !arg.type && !arg.is_buffer);
    CHECK_OK(mare_kernel_field(block, 1, U, &field));
    CHECK(field.offset == offsetof(params, u) && field.type == MARE_TYPE_UINT8 && field.count == 1);
    CHECK_OK(mare_launch_set_shape(own, (uint32_t[3]){ 1, 1, 1 }, NULL));
    CHECK_FAILS(mare_launch_run(own, NULL), MARE_ERROR_ARGUMENT,
                "not set: 0 'first', 1 'p.dt', 1 'p.n', 1 'p.u', 1 'p.a'");
    CHECK_OK(mare_launch_set_int(own, 0, 1));
    CHECK_OK(mare_launch_set_field_real(own, 1, DT, 0, 0.5));
    CHECK_OK(mare_launch_set_field_int(own, 1, N, 2, -7));
    CHECK_OK(mare_launch_set_field_int(own, 1, U, 0, 255));
    CHECK_FAILS(mare_launch_run(own, NULL), MARE_ERROR_ARGUMENT, "not set: 1 'p.a'");
    *(float *)mare_launch_field(own, 1, A) = 1.5f;
    CHECK_OK(mare_launch_run(own, NULL));
    const params *now = (const params *)own->dispatch.values[own->dispatch.words[1]].bytes;
    CHECK(now->dt == 0.5 && now->n[0] == 0 && now->n[2] == -7 && now->u == 255 && now->a == 1.5f);
    CHECK_OK(mare_launch_set_block(own, 1, &(params){ .dt = 2, .n = { 1, 2, 3 } }, sizeof(params)));
    CHECK(now->dt == 2 && now->n[1] == 2 && now->a == 0);
    refuses_fields(own);
    mare_launch_release(own);
}

/* Children keep their parents: everything else is released first. */
static void runs_last_of_all(void) {
    mare_program_release(program);
    mare_kernel_release(kernel);
    mare_device_release(device);
    CHECK_OK(mare_launch_run(launch, NULL));
    mare_launch_release(launch);
}

int main(void) {
    CHECK_OK(mare_device_open("null", &device));
    CHECK_OK(mare_program_create(device,
                                 &(mare_program_desc){ .source = source, .name = "launch.krn" },
                                 &program));
    CHECK_OK(mare_kernel_create(program, "all", &kernel));
    CHECK_OK(mare_launch_create(kernel, &launch));
    refuses_programs();
    refuses_targets();
    tells_kernels();
    checks_integers();
    checks_large_reals();
    checks_reals();
    checks_typed_scalars();
    checks_buffers();
    checks_shapes();
    keeps_fixed_groups();
    chooses_groups();
    names_what_is_missing();
    takes_blocks();
    runs_last_of_all();
    return check_result();
}
