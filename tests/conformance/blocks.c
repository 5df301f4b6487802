/* blocks.c - parameter blocks: what a program sets is what a kernel gets, field by field, and its
 * struct is as large as the program's. */
#include "devices.h"

/* The host's struct of the same fields as the kernel's. */
typedef struct block {
    signed char c;
    double d;
    float f[3];
    unsigned short s;
    int64_t l;
    unsigned char u;
    int n;
} block;

static const char block_source[] =
    "typedef struct block {\n"
    "    signed char c;\n"
    "    double d;\n"
    "    float f[3];\n"
    "    unsigned short s;\n"
    "    mr_index l;\n"
    "    unsigned char u;\n"
    "    int n;\n"
    "} block;\n"
    "MR_FN double sum(const block b) { return b.f[0] + b.f[1] + b.f[2]; }\n"
    "MR_KERNEL void fields(int before, const block b, MR_GLOBAL double *out, const block last)\n"
    "{\n"
    "    out[0] = before; out[1] = b.c; out[2] = b.d; out[3] = b.f[2]; out[4] = b.s;\n"
    "    out[5] = b.l; out[6] = b.u; out[7] = b.n; out[8] = sum(last); out[9] = last.n;\n"
    "    out[10] = sizeof(block); out[11] = b.f[1];\n"
    "}\n";

static mare_launch *make_launch(mare_device *device) {
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    mare_launch *launch = NULL;
    CHECK_OK(mare_program_create(
        device, &(mare_program_desc){ .source = block_source, .name = "block.krn" }, &program));
    CHECK_OK(mare_kernel_create(program, "fields", &kernel));
    CHECK_OK(mare_launch_create(kernel, &launch));
    mare_kernel_release(kernel);
    mare_program_release(program);
    return launch;
}

static void expect_fields(mare_launch *launch, mare_buffer *out, const block *b,
                          const block *last) {
    double got[12];
    const double wanted[12] = { 42, b->c, b->d, (double)b->f[2], b->s, (double)b->l, b->u, b->n,
                                (double)last->f[0] + (double)last->f[1] + (double)last->f[2],
                                last->n, sizeof(block), (double)b->f[1] };
    CHECK_OK(mare_launch_run(launch, NULL));
    CHECK_OK(mare_buffer_download(out, 0, got, sizeof got, NULL));
    for (int i = 0; i < 12; i++) CHECK_NUMBER(got[i], wanted[i]);
}

/* Fields arrive as they were set, one by one and at once, in place, and in plans; and the device's
 * struct is as large as the host's. */
static void test(mare_device *device, const mare_device_info *info) {
    block b = { -100, 0.1, { 1, 2, 3.5f }, 65535, -12345678901, 200, -7 };
    block last = { .f = { 1, 2, 3 }, .n = 9 };
    mare_plan *plan = NULL;
    if (!info->has_double || !info->runs_kernels) return;
    mare_launch *launch = make_launch(device);
    mare_buffer *out = NULL;
    CHECK_OK(mare_buffer_create(
        device, &(mare_buffer_desc){ 12 * sizeof(double), MARE_TYPE_DOUBLE, 0, "out" }, &out));
    CHECK_OK(mare_launch_set_int(launch, 0, 42));
    CHECK_OK(mare_launch_set_block(launch, 1, &b, sizeof b));
    CHECK_OK(mare_launch_set_buffer(launch, 2, out));
    CHECK_OK(mare_launch_set_block(launch, 3, &last, sizeof last));
    CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ 1, 1, 1 }, NULL));
    expect_fields(launch, out, &b, &last);
    CHECK_OK(mare_launch_set_field_real(launch, 1, 1, 0, b.d = -2.25));
    CHECK_OK(mare_launch_set_field_real(launch, 3, 2, 1, (double)(last.f[1] = 16)));
    CHECK_OK(mare_launch_set_field_int(launch, 1, 4, 0, b.l = 1LL << 40));
    expect_fields(launch, out, &b, &last);
    int *n = mare_launch_field(launch, 1, 6);
    *n = b.n = 77;
    expect_fields(launch, out, &b, &last);
    *n = b.n = 78;
    CHECK_OK(mare_plan_begin(mare_device_stream(device)));
    CHECK_OK(mare_launch_run(launch, NULL));
    CHECK_OK(mare_plan_end(mare_device_stream(device), "blocks", &plan));
    for (int i = 0; i < 3; i++) {
        double got = 0;
        *n = b.n = i;
        CHECK_OK(mare_plan_run(plan, 1, NULL));
        CHECK_OK(mare_buffer_download(out, 7 * sizeof got, &got, sizeof got, NULL));
        CHECK_NUMBER(got, i);
    }
    mare_plan_release(plan);
    mare_buffer_release(out);
    mare_launch_release(launch);
}

int part_blocks(void) { return run_on_devices(test); }
