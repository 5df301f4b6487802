/* maths.c - what mare.h promises of arithmetic, bit for bit, on every device that runs kernels.
 *
 * STRICT and FAST never fuse a * b + c: with c = -round(a * b) the answer is exactly 0, while a
 * fused one is the rounding error of the product. STRICT divides, takes roots and keeps denormals
 * as IEEE 754 says; FAST may be off by 3 units in the last place, OpenCL's own bound for roots, and
 * so may reciprocals, inverse roots, roots of ratios and cube roots in both.
 */
#include "devices.h"

#include <math.h>

enum { N = 4096, INPUTS = 4, OUTPUTS = 15 };

static const char source[] =
    "MR_FN real product(real a, real b) { return a * b; }\n"
    "MR_KERNEL void maths(MR_GLOBAL const real *in, MR_GLOBAL real *out, int n, real tiny)\n"
    "{\n"
    "    int i = mr_gid_x();\n"
    "    if (i < n) {\n"
    "        real a = in[4 * i], b = in[4 * i + 1], c = in[4 * i + 2];\n"
    "        MR_GLOBAL real *to = out + 15 * i;\n"
    "        to[0] = a * b + c;\n"
    "        to[1] = c - a * b;\n"
    "        to[2] = product(a, b) + c;\n"
    "        to[3] = a * b - c * b;\n"
    "        to[4] = mr_fma(a, b, c);\n"
    "        to[5] = a / b;\n"
    "        to[6] = mr_sqrt(mr_abs(a));\n"
    "        to[7] = a * tiny;\n"
    "        to[8] = mr_cbrt(a);\n"
    "        to[9] = mr_cbrt(in[4 * i + 3]);\n"
    "        to[10] = MR_ROOT * mr_ratio_root(mr_abs(a), mr_abs(b));\n"
    "        to[11] = mr_agreed(c, a, b);\n"
    "        to[12] = mr_least(mr_copysign(a, c), mr_copysign(b, c), c);\n"
    "        to[13] = mr_rcp(a);\n"
    "        to[14] = mr_rsqrt(mr_abs(a));\n"
    "    }\n"
    "}\n";

static const char *const names[OUTPUTS] = {
    "a * b + c", "c - a * b", "product(a, b) + c", "a * b - c * b", "fma(a, b, c)", "a / b",
    "sqrt(abs(a))", "a * tiny", "cbrt(a)", "cbrt(anything)", "ratio_root(abs(a), abs(b))",
    "agreed(c, a, b)", "least(copysign(a, c), copysign(b, c), c)", "rcp(a)",
    "rsqrt(abs(a))"
};

/* Uniform in (0.5, 2), both signs; every second c cancels the product. */
static double random_number(void) {
    static uint64_t state = 42;
    state = state * 6364136223846793005u + 1442695040888963407u;
    double magnitude = 0.5 + 1.5 * (double)(state >> 11) * 0x1p-53;
    return state & 1024 ? -magnitude : magnitude;
}

/* Input and the host's answers, whose compiler may not fuse either. Cube roots are of a NaN, too,
 * and of all magnitudes: 2^-span, which is 0, to 2^span, which is infinite. */
#define REFERENCE(type, suffix, span)                                                              \
    static void reference_##type(type *in, type *out, type tiny) {                                 \
        for (int i = 0; i < N; i++) {                                                              \
            type a = (type)random_number(), b = (type)random_number(), ab = a * b;                 \
            type c = i % 2 ? -ab : (type)random_number(), cb = c * b, *to = out + OUTPUTS * i;     \
            type any = i ? ldexp##suffix(a, i % (2 * span) - span) : NAN;                          \
            in[4 * i] = a, in[4 * i + 1] = b, in[4 * i + 2] = c, in[4 * i + 3] = any;              \
            to[0] = to[2] = ab + c, to[1] = c - ab, to[3] = ab - cb;                               \
            to[4] = fma##suffix(a, b, c), to[5] = a / b, to[6] = sqrt##suffix(fabs##suffix(a));    \
            to[7] = a * tiny, to[8] = cbrt##suffix(a), to[9] = cbrt##suffix(any);                  \
            to[10] = (type)sqrt(fabs((double)a / (double)b));                                      \
            to[11] = (a < 0) == (b < 0) ? c : 0;                                                   \
            to[12] = (type)copysign(fmin(fmin(fabs(a), fabs(b)), fabs(c)), c);                     \
            to[13] = 1 / a, to[14] = (type)(1 / sqrt(fabs((double)a)));                            \
        }                                                                                          \
    }
REFERENCE(float, f, 160)
REFERENCE(double, , 1090)

typedef struct trial {
    const mare_device_info *info;
    uint32_t type, math;
    size_t size;        /* of a number, bytes */
    int wrong[OUTPUTS]; /* numbers that are not as promised */
} trial;

typedef union numbers {
    float f[OUTPUTS * N];
    double d[OUTPUTS * N];
} numbers;

static double number(const trial *t, const numbers *data, int index) {
    return t->type == MARE_TYPE_FLOAT ? (double)data->f[index] : data->d[index];
}

static bool is_right(const trial *t, int output, double value, double expected) {
    if (value == expected) return true;
    if (output < 8 && (t->math == MARE_MATH_STRICT || output < 5)) return false;
    if (output == 7) return value == 0;
    if (isnan(expected)) return isnan(value);
    bool is_float = t->type == MARE_TYPE_FLOAT;
    double least = is_float ? 0x1p-126 : 0x1p-1022; /* below, numbers are denormal: 0 if FAST */
    if (t->math == MARE_MATH_FAST && fabs(expected) < cbrt(least) && fabs(value) < least)
        return true;
    double ulp = is_float ? 0x1p-23 : 0x1p-52;
    return fabs(value - expected) <= 3 * ulp * fabs(expected);
}

static void run(mare_device *device, const trial *t, const void *in, void *out) {
    const mare_define real = { "MARE_REAL", mare_type_name((mare_type)t->type) };
    const mare_program_desc program_desc = {
        .source = source, .name = "maths.krn", .math = t->math, .defines = &real, .define_count = 1
    };
    mare_buffer_desc desc = { .size = INPUTS * N * t->size, .type = t->type, .label = "in" };
    mare_buffer *from = NULL, *to = NULL;
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    mare_launch *launch = NULL;
    bool good = CHECK_OK(mare_buffer_create(device, &desc, &from));
    desc.size = OUTPUTS * N * t->size;
    good = good && CHECK_OK(mare_buffer_create(device, &desc, &to)) &&
           CHECK_OK(mare_program_create(device, &program_desc, &program)) &&
           CHECK_OK(mare_kernel_create(program, "maths", &kernel)) &&
           CHECK_OK(mare_launch_create(kernel, &launch)) &&
           CHECK_OK(mare_launch_set_buffer(launch, 0, from)) &&
           CHECK_OK(mare_launch_set_buffer(launch, 1, to)) &&
           CHECK_OK(mare_launch_set_int(launch, 2, N)) &&
           CHECK_OK(mare_launch_set_real(launch, 3,
                                         t->type == MARE_TYPE_FLOAT ? 0x1p-130 : 0x1p-1030)) &&
           CHECK_OK(mare_launch_set_shape(launch, (uint32_t[3]){ N, 1, 1 },
                                          (uint32_t[3]){ 64, 1, 1 })) &&
           CHECK_OK(mare_buffer_upload(from, 0, in, INPUTS * N * t->size, NULL)) &&
           CHECK_OK(mare_launch_run(launch, NULL)) &&
           CHECK_OK(mare_buffer_download(to, 0, out, OUTPUTS * N * t->size, NULL));
    (void)good;
    mare_launch_release(launch);
    mare_kernel_release(kernel);
    mare_program_release(program);
    mare_buffer_release(to);
    mare_buffer_release(from);
}

static void try_maths(mare_device *device, trial *t) {
    static numbers in, expected, out;
    if (t->type == MARE_TYPE_FLOAT)
        reference_float(in.f, expected.f, 0x1p-130f);
    else
        reference_double(in.d, expected.d, 0x1p-1030);
    memset(&out, 0xff, sizeof out); /* NaN */
    run(device, t, &in, &out);
    for (int i = 0; i < OUTPUTS * N; i++)
        t->wrong[i % OUTPUTS] +=
            !is_right(t, i % OUTPUTS, number(t, &out, i), number(t, &expected, i));
    for (int i = 0; i < OUTPUTS; i++) {
        if (t->wrong[i] == 0) continue;
        check_failures++;
        fprintf(stderr, "%s (%s), %s, %s: %s is not as promised in %d of %d cases\n", t->info->name,
                t->info->model, t->math == MARE_MATH_STRICT ? "strict" : "fast",
                mare_type_name((mare_type)t->type), names[i], t->wrong[i], N);
    }
}

static void test(mare_device *device, const mare_device_info *info) {
    if (!info->runs_kernels) return;
    for (uint32_t math = MARE_MATH_STRICT; math <= MARE_MATH_FAST; math++) {
        try_maths(device,
                  &(trial){ .info = info, .type = MARE_TYPE_FLOAT, .math = math, .size = 4 });
        if (info->has_double)
            try_maths(device,
                      &(trial){ .info = info, .type = MARE_TYPE_DOUBLE, .math = math, .size = 8 });
    }
}

int part_maths(void) {
    return run_on_devices(test);
}
