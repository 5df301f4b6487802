/* nvrtc.c - the CUDA compiler without a device: what it makes, and where its errors point. Skipped
 * where NVRTC is not installed.
 */
#include "check.h"

static const char sum[] =
    "MR_KERNEL void sum(int n, MR_GLOBAL const real *x, MR_GLOBAL real *y) {\n"
    "    int i = mr_gid_x();\n"
    "    if (i < n) y[i] = FACTOR * x[i] + y[i] / x[i];\n"
    "}\n";

static uint64_t size_of(uint32_t math) {
    const mare_define factor = { "FACTOR", "R(3.0)" };
    const mare_program_desc desc = { .source = sum, .name = "sum.krn", .math = math,
                                     .defines = &factor, .define_count = 1 };
    uint64_t size = 0;
    CHECK_OK(mare_program_check("cuda:sm_90", &desc, &size, NULL, 0));
    return size;
}

/* Exact division takes more instructions than an approximate one. */
static void test_math(void) {
    uint64_t strict = size_of(MARE_MATH_STRICT), fast = size_of(MARE_MATH_FAST);
    CHECK(strict > fast && fast > 0);
    CHECK(size_of(MARE_MATH_RELAXED) > 0);
}

static void test_warnings(void) {
    mare_program_desc desc = { .source = "MR_KERNEL void f(int n) {\n    int unused = n;\n}\n",
                               .name = "f.krn" };
    uint64_t size = 0;
    char log[1000] = "old", room[8] = "old";
    CHECK_OK(mare_program_check("cuda:sm_90", &desc, &size, log, sizeof log));
    CHECK(strstr(log, "f.krn(2): warning") && strstr(log, "\"unused\""));
    CHECK_OK(mare_program_check("cuda:sm_90", &desc, &size, room, sizeof room));
    CHECK(strncmp(log, room, 7) == 0 && strlen(room) == 7);
    desc.source = "MR_KERNEL void f(int n) {}\n";
    CHECK_OK(mare_program_check("cuda:sm_90", &desc, &size, log, sizeof log));
    CHECK(!*log);
}

/* The user's file and line, the line itself, and a caret. */
static void test_errors(void) {
    mare_program_desc desc = { .source = "\nMR_KERNEL void bad(int n) {\n    n = undeclared;\n}\n",
                               .name = "my/bad.krn" };
    uint64_t size = 0;
    CHECK_FAILS(mare_program_check("cuda:sm_90", &desc, &size, NULL, 0), MARE_ERROR_BUILD,
                "my/bad.krn(3): error", "undeclared", "n = undeclared;", "^");
    desc.source = sum;
    CHECK_FAILS(mare_program_check("cuda:sm_5", &desc, &size, NULL, 0), MARE_ERROR_BUILD,
                "my/bad.krn", "--gpu-architecture");
    desc.options = "--no-such-option";
    CHECK_FAILS(mare_program_check("cuda:sm_90", &desc, &size, NULL, 0), MARE_ERROR_BUILD,
                "--no-such-option");
}

/* What the dialect has between groups and beyond float, for the oldest and the newest chips. */
static void test_words(void) {
    static const char *const targets[] = { "cuda:sm_75", "cuda:sm_80", "cuda:sm_90" };
    const mare_program_desc desc = {
        .source = "MR_KERNEL void f(int n, MR_GLOBAL uint *w, MR_GLOBAL mr_half *h,\n"
                  "                 MR_GLOBAL mr_complex_double *z) {\n"
                  "    MR_LOCAL_LARGE(real, a, 50000);\n"
                  "    mr_complex c = mr_complex_mul(mr_complex_of(a[n], R(1.0)),\n"
                  "        mr_complex_sub(mr_complex_of(a[4], a[1]), mr_complex_of(a[2], a[3])));\n"
                  "    mr_wait_for_previous();\n"
                  "    mr_half_store(h, n, mr_half_load(h, n + 1) + (float)c.re);\n"
                  "    mr_fence(); mr_fence_system();\n"
                  "    mr_store_release(w, mr_load_acquire(w) + mr_atomic_add(w, 1));\n"
                  "    mr_store_release_system(w, mr_load_acquire_system(w));\n"
                  "    mr_atomic_max(w, mr_atomic_max_system(w, mr_atomic_exchange(w, 2)));\n"
                  "    mr_atomic_replace_system(w, mr_atomic_replace(w, 1, 2), 3);\n"
                  "    z[n].re = z[n].im;\n"
                  "    mr_start_dependents();\n}\n",
        .name = "words.krn"
    };
    for (int i = 0; i < 3; i++) {
        uint64_t size = 0;
        CHECK_OK(mare_program_check(targets[i], &desc, &size, NULL, 0));
        CHECK(size > 0);
    }
}

/* Plain CUDA C++, with a header of the toolkit as nvcc finds it where that is installed. */
static void test_plain(void) {
    const mare_program_desc desc = {
        .source = "template <class T> __device__ T twice(T x) { return x + x; }\n"
                  "#if __has_include(<cuda_fp16.h>)\n#include <cuda_fp16.h>\n#endif\n"
                  "__global__ void plain(float *x, size_t n) {\n"
                  "    size_t i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                  "    if (i < n) x[i] = twice(x[i]);\n}\n",
        .name = "plain.cu", .language = MARE_LANGUAGE_CUDA,
        .options = " --maxrregcount=32  --extra-device-vectorization",
    };
    uint64_t size = 0;
    CHECK_OK(mare_program_check("cuda:sm_80", &desc, &size, NULL, 0));
    CHECK(size > 0);
}

int main(void) {
    const mare_program_desc desc = { .source = "MR_KERNEL void nothing(int n) { }\n" };
    uint64_t size = 0;
    if (mare_program_check("cuda:sm_90", &desc, &size, NULL, 0) == MARE_ERROR_UNAVAILABLE)
        return check_skip(mare_error_message());
    test_math();
    test_warnings();
    test_errors();
    test_words();
    test_plain();
    return check_result();
}
