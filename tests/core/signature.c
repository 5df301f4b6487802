/* signature.c - parameter lists of kernels, in the three languages and in every spelling seen in
 * the wild. */
#include "check.h"
#include "internal.h"

enum { MARE = MARE_LANGUAGE_MARE, CUDA = MARE_LANGUAGE_CUDA, OPENCL = MARE_LANGUAGE_OPENCL };

static const mare_define defines[] = { { "MARE_REAL", "double" },
                                       { "COUNT", "NUMBER" },
                                       { "NUMBER", "unsigned int" },
                                       { "LOOP", "LOOP" },
                                       { "SIZE", "GROUP" },
                                       { "GROUP", "256" } };

static mare_status parse(uint32_t language, const char *text, const char *name, mr_signature *out) {
    mr_source source = { .text = text,
                         .name = "t",
                         .options = "",
                         .defines = defines,
                         .define_count = sizeof defines / sizeof *defines,
                         .language = language };
    return mr_signature_parse(&source, name, out);
}

/* Compares with a summary such as "int32 n; float* x; const double* y". */
static void expect(uint32_t language, const char *text, const char *summary) {
    mr_signature signature;
    mr_text got = { 0 };
    if (CHECK_OK(parse(language, text, "f", &signature))) {
        for (uint32_t i = 0; i < signature.arg_count; i++) {
            const mare_arg_info *arg = &signature.args[i];
            mr_text_format(&got, "%s%s%s%s %s", i ? "; " : "", arg->is_const ? "const " : "",
                           mare_type_name((mare_type)arg->type), arg->is_buffer ? "*" : "",
                           arg->name);
        }
        CHECK_TEXT(mr_text_cstr(&got), summary);
    } else fprintf(stderr, "    in %s\n", text);
    mr_text_free(&got);
    mr_signature_free(&signature);
}

static void reads_the_dialect(void) {
    expect(MARE, "MR_KERNEL void f(void) {}", "");
    expect(MARE, "MR_KERNEL void f() {}", "");
    expect(MARE,
           "MR_KERNEL void f(const int n, real a, MR_GLOBAL const real *MR_RESTRICT x, MR_GLOBAL "
           "real *y)",
           "int32 n; double a; const double* x; double* y");
    expect(MARE, "MR_KERNEL MR_GROUP_SIZE(8, 8, 1) void f(COUNT n, mr_index i)",
           "uint32 n; int64 i");
    expect(MARE, "MR_FN int f(int x) { return x; }\nMR_KERNEL void f(float y)", "float y");
}

static void reads_every_scalar(void) {
    expect(OPENCL,
           "kernel void f(char a, signed char b, unsigned char c, uchar d, short e, unsigned short "
           "int g, ushort h)",
           "int8 a; int8 b; uint8 c; uint8 d; int16 e; uint16 g; uint16 h");
    expect(OPENCL,
           "kernel void f(int a, unsigned b, uint c, long d, unsigned long e, ulong g, float h, "
           "double i)",
           "int32 a; uint32 b; uint32 c; int64 d; uint64 e; uint64 g; float h; double i");
    expect(CUDA,
           "__global__ void f(long long a, unsigned long long int b, int8_t c, uint16_t d, int64_t "
           "e, size_t g)",
           "int64 a; uint64 b; int8 c; uint16 d; int64 e; uint64 g");
}

static void reads_opencl(void) {
    expect(OPENCL,
           "__kernel __attribute__((reqd_work_group_size(8, 8, 1)))\nvoid f(__global float* "
           "restrict x)",
           "float* x");
    expect(OPENCL,
           "__attribute__((vec_type_hint(float4))) kernel void f(global const volatile int x[], "
           "constant float *c)",
           "const int32* x; const float* c");
    expect(OPENCL,
           "kernel void f(global struct cell *cells, __global void *raw, global float4 *v, global "
           "half *h)",
           "bytes* cells; bytes* raw; bytes* v; half* h");
    expect(OPENCL,
           "kernel void f(const global float *x, global float const *y, global float *const z)",
           "const float* x; const float* y; float* z");
    expect(OPENCL, "kernel void f(int);", "int32 ");
}

static void reads_cuda(void) {
    expect(CUDA,
           "extern \"C\" __global__ void __launch_bounds__(256, 2) f(const float *__restrict__ x, "
           "float* y, int n)",
           "const float* x; float* y; int32 n");
    expect(CUDA,
           "extern \"C\" { __global__ __launch_bounds__(MAX) void f(void* p, const Cell *c) {} }",
           "bytes* p; const bytes* c");
    expect(CUDA, "__global__ void __attribute__((noinline)) f(__grid_constant__ const int n)",
           "int32 n");
}

/* In buffers; `real` is a double by the defines. */
static void reads_types_of_buffers(void) {
    expect(MARE,
           "MR_KERNEL void f(MR_GLOBAL const mr_half *h, MR_GLOBAL mr_bool *b, MR_GLOBAL "
           "mr_complex *z, MR_GLOBAL mr_complex_float *w)",
           "const half* h; bool* b; complex_double* z; complex_float* w");
    expect(CUDA, "__global__ void f(__half *h, bool *b, const cuComplex *z, cuDoubleComplex *w)",
           "half* h; bool* b; const complex_float* z; complex_double* w");
    expect(MARE, "typedef mr_complex field;\nMR_KERNEL void f(MR_GLOBAL field *z)",
           "complex_double* z");
    expect(OPENCL, "typedef float2 mr_complex;\nkernel void f(global mr_complex *z)", "bytes* z");
}

static void is_not_fooled(void) {
    expect(MARE,
           "/* MR_KERNEL void f(int a) */ // MR_KERNEL void f(int b)\nMR_KERNEL void f(int /* , */ "
           "c // ,\n)",
           "int32 c");
    expect(CUDA,
           "const char *s = \"__global__ void f(int a)\";\n#define K __global__ void f(int "
           "b)\n__global__ void f(int c)",
           "int32 c");
    expect(MARE, "MR_KERNEL void ff(int a) {}\nMR_KERNEL void\nf\n(\nint\nb\n)", "int32 b");
    expect(OPENCL, "kernel void f(int a);\nkernel void f(int b) {}", "int32 b");
    expect(OPENCL, "kernel void f(int b) {}\nkernel void f(int a);", "int32 b");
    expect(OPENCL, "kernel void f(int);\nkernel void f(int b);", "int32 ");
}

static void follows_names(void) {
    expect(OPENCL, "typedef float scalar;\nkernel void f(scalar a, global scalar *x)",
           "float a; float* x");
    expect(OPENCL,
           "#define SCALAR unsigned int /* c */\n#  define OTHER SCALAR\nkernel void f(OTHER a)",
           "uint32 a");
    expect(CUDA,
           "typedef unsigned long long int word;\ntypedef word words;\n__global__ void f(words a)",
           "uint64 a");
}

/* COUNT is NUMBER, which is unsigned int, by the defines; real is double. A #define that is taken
 * where the name is undefined alone gives way. */
static void follows_defines_before_the_text(void) {
    expect(OPENCL, "#ifndef COUNT\n#define COUNT float\n#endif\nkernel void f(COUNT n)",
           "uint32 n");
    expect(OPENCL, "#if !defined(COUNT)\n# define COUNT float\n#endif\nkernel void f(COUNT n)",
           "uint32 n");
    expect(OPENCL,
           "#ifdef COUNT\n#if 1\n#else\n#endif\n#else\n#define COUNT float\n#endif\n"
           "kernel void f(COUNT n)",
           "uint32 n");
    expect(MARE, "#undef COUNT\n#define COUNT unsigned\n/* #define real int\n*/\n"
           "MR_KERNEL void f(COUNT n, real a)", "uint32 n; double a");
    expect(MARE, "#undef real\n#define real float\nMR_KERNEL void f(MR_GLOBAL real *x)",
           "bytes* x");
    expect(OPENCL, "#ifndef OTHER\n#define COUNT float\n#endif\nkernel void f(global COUNT *n)",
           "bytes* n");
    expect(OPENCL,
           "#ifndef COUNT\n#else\n#define COUNT float\n#endif\nkernel void f(global COUNT *n)",
           "bytes* n");
    expect(OPENCL,
           "#ifndef COUNT\n#endif\n#define COUNT float\nkernel void f(global COUNT *n)",
           "bytes* n");
    expect(OPENCL,
           "#undef COUNT\n#ifndef COUNT\n#define COUNT float\n#endif\n"
           "kernel void f(global COUNT *n)",
           "bytes* n");
    expect(OPENCL, "#define uint float4\nkernel void f(global uint *n)", "bytes* n");
}

#define REFUSED(language, text, ...)                                                               \
    do {                                                                                           \
        mr_signature signature_;                                                                   \
        CHECK_FAILS(parse(language, text, "f", &signature_), MARE_ERROR_ARGUMENT, __VA_ARGS__);    \
        mr_signature_free(&signature_);                                                            \
    } while (0)

static void refuses(void) {
    REFUSED(OPENCL, "kernel void f(int n, struct cell c)", "kernel 'f'", "argument 1",
            "'struct cell c'", "not known", "a struct that the source declares");
    REFUSED(OPENCL, "kernel void f(half h)", "argument 0", "half", "pass a float");
    REFUSED(OPENCL, "kernel void f(bool b)", "bool", "pass an int");
    REFUSED(MARE, "MR_KERNEL void f(mr_half h)", "mr_half", "pass a float");
    REFUSED(MARE, "MR_KERNEL void f(mr_complex z)", "mr_complex z", "two parts");
    REFUSED(MARE, "MR_KERNEL void f(MR_GLOBAL bool *b)", "use mr_bool");
    REFUSED(OPENCL, "kernel void f(float4 v)", "'float4 v'", "not known", "allowed");
    REFUSED(OPENCL, "kernel void f(long double v)", "'long double v'");
    REFUSED(OPENCL, "kernel void f(LOOP v)", "'LOOP v'", "not known");
    REFUSED(OPENCL, "kernel void f(local float *x)", "local memory");
    REFUSED(CUDA, "__global__ void f(float **x)", "pointer to a pointer");
    REFUSED(CUDA, "__global__ void f(const float &x)", "only plain");
    REFUSED(CUDA, "__global__ void f(vec<float> x)", "'vec<float> x'", "only plain");
    REFUSED(MARE, "MR_KERNEL void f(size_t n)", "'size_t n'", "mr_index");
    REFUSED(MARE, "MR_KERNEL void f(real *x)", "'real *x'", "MR_GLOBAL");
    REFUSED(MARE, "MR_KERNEL void f(MR_CONSTANT real *x)", "MR_GLOBAL");
    REFUSED(MARE, "MR_KERNEL void f(ARGUMENTS(x))", "argument 0", "ARGUMENTS(x)");
    REFUSED(MARE, "MR_KERNEL void f(int n", "does not end");
    REFUSED(MARE, "MR_KERNEL void f(int n, )", "argument 1");
    REFUSED(MARE,
            "#if A\ntypedef float s;\n#else\ntypedef double s;\n#endif\nMR_KERNEL void f(s a)",
            "more than one");
    REFUSED(MARE, "#if A\nMR_KERNEL void f(int a)\n#else\nMR_KERNEL void f(float a)\n#endif",
            "different parameters");
}

/* Which branch the compiler takes is not known: a name would reach the wrong parameter. */
static void refuses_other_names(void) {
    REFUSED(MARE,
            "#ifdef OLD\nMR_KERNEL void f(float b, float a) {}\n#else\n"
            "MR_KERNEL void f(float a, float b) {}\n#endif",
            "kernel 'f'", "other names");
    REFUSED(OPENCL,
            "#if 0\nkernel void f(global int *dst, global int *src) {}\n#endif\n"
            "kernel void f(global int *src, global int *dst) {}",
            "other names");
    REFUSED(OPENCL, "kernel void f(int a);\nkernel void f(int b);", "other names");
    REFUSED(OPENCL, "kernel void f(global int *a) {}\nkernel void f(global const int *a) {}",
            "different parameters");
    expect(OPENCL, "#if A\nkernel void f(int a) { a; }\n#else\nkernel void f(int a) {}\n#endif",
           "int32 a");
}

static void refuses_other_types(void) {
    REFUSED(MARE, "#undef real\n#define real float\nMR_KERNEL void f(int n, real a, real b)",
            "argument 1 'real a'", "more than one meaning");
    REFUSED(OPENCL, "#define COUNT float\nkernel void f(COUNT n)", "more than one meaning");
}

static void refuses_what_may_hide(void) {
    REFUSED(MARE, "MR_KERNEL void f(MR_GLOBAL float *x EXTRA)", "argument 0", "only plain");
    REFUSED(MARE, "MR_KERNEL void f(int n, MR_GLOBAL float x[] EXTRA, int m)", "argument 1");
    REFUSED(MARE, "MR_KERNEL void f(int n EXTRA)", "'int n EXTRA'");
    REFUSED(MARE, "MR_KERNEL void f(int n\n#if A\n, int a\n#endif\n)", "kernel 'f'", "#");
    REFUSED(MARE, "MR_KERNEL void f(\n#define N 1\nint n)", "kernel 'f'", "#");
    expect(MARE, "MR_KERNEL void f(int n);\n#define N 1\nMR_KERNEL void f(int n)", "int32 n");
}

/* ---- parameter blocks ---- */

/* Compares the fields of all blocks with "16: int32 n @0; double dt[3] @8", where 16 is the size of
 * the first argument. */
static void expect_block(uint32_t language, const char *text, const char *summary) {
    mr_signature signature;
    mr_text got = { 0 };
    if (!CHECK_OK(parse(language, text, "f", &signature))) {
        fprintf(stderr, "    in %s\n", text);
        return;
    }
    mr_text_format(&got, "%llu:", (unsigned long long)signature.args[0].size);
    for (uint32_t k = 0; k < signature.field_count; k++) {
        const mare_field_info *field = &signature.fields[k];
        mr_text_format(&got, "%s %s %s", k ? ";" : "", mare_type_name((mare_type)field->type),
                       field->name);
        if (field->count > 1) mr_text_format(&got, "[%u]", field->count);
        mr_text_format(&got, " @%llu", (unsigned long long)field->offset);
    }
    CHECK_TEXT(mr_text_cstr(&got), summary);
    mr_text_free(&got);
    mr_signature_free(&signature);
}

/* `real` is a double by the defines, GROUP 256. */
static void reads_blocks(void) {
    expect_block(MARE, "typedef struct params { int n; real dt; } params;\n"
                 "MR_KERNEL void f(const params p, MR_GLOBAL real *x)",
                 "16: int32 n @0; double dt @8");
    expect_block(MARE, "struct params { real dt; int nx, ny; char c; };\n"
                 "MR_KERNEL void f(struct params p)",
                 "24: double dt @0; int32 nx @8; int32 ny @12; int8 c @16");
    expect_block(CUDA, "struct params { const float a[2 * 3], b; short s; unsigned long long l; };"
                 "\n__global__ void f(params p)",
                 "40: float a[6] @0; float b @24; int16 s @28; uint64 l @32");
    expect_block(OPENCL, "struct tag { float x; };\ntypedef struct tag params;\n"
                 "kernel void f(const params p)", "4: float x @0");
    expect_block(OPENCL, "typedef struct { char c; int2 n; float4 v; double2 z; } p;\n"
                 "kernel void f(p q)",
                 "48: int8 c @0; int32 n[2] @8; float v[4] @16; double z[2] @32");
    expect_block(MARE, "#define N 3\ntypedef unsigned word;\n"
                 "typedef struct p { /* ; */ word w[N]; mr_index i[GROUP / 128]; } p;\n"
                 "MR_KERNEL void f(p a);\nMR_KERNEL void f(p b) { struct cell *c; }",
                 "32: uint32 w[3] @0; int64 i[2] @16");
    expect_block(MARE, "typedef struct a { int n; } a; typedef struct b { float x; int m; } b;\n"
                 "MR_KERNEL void f(a p, int k, b q)",
                 "4: int32 n @0; float x @0; int32 m @4");
    expect_block(MARE, "#if A\ntypedef struct p { int n; } p;\n#else\n"
                 "typedef struct p { int n; } p;\n#endif\nMR_KERNEL void f(p a)", "4: int32 n @0");
}

#define REFUSED_BLOCK(fields, ...)                                                                 \
    REFUSED(MARE, "typedef struct p { " fields " } p;\nMR_KERNEL void f(p a)", "kernel 'f'",       \
            "argument 0 'a'", "struct 'p'", __VA_ARGS__)

static void refuses_blocks(void) {
    REFUSED_BLOCK("MR_GLOBAL real *x;", "only scalars", "no pointers");
    REFUSED_BLOCK("real a[2][2];", "field 'a'", "only scalars");
    REFUSED_BLOCK("int a[n];", "field 'a'", "length of the array");
    REFUSED_BLOCK("int a : 3;", "field 'a'", "only scalars");
    REFUSED_BLOCK("struct q b;", "field 'b'", "a struct within a struct");
    REFUSED_BLOCK("FIELDS(DO)", "no macros");
    REFUSED_BLOCK("cell c;", "field 'c'", "not known", "allowed");
    REFUSED_BLOCK("float3 v;", "field 'v'", "not known");
    REFUSED_BLOCK("double4 v;", "field 'v'", "not known");
    REFUSED_BLOCK("int2 v[2];", "field 'v'", "array of vectors");
    REFUSED_BLOCK("size_t n;", "field 'n'", "mr_index");
    REFUSED_BLOCK("mr_bool b;", "field 'b'", "pass an int");
    REFUSED_BLOCK("mr_complex z;", "field 'z'", "two parts");
    REFUSED_BLOCK("int n;\n#ifdef A\nint m;\n#endif\n", "#");
    REFUSED_BLOCK("", "no fields");
    REFUSED_BLOCK("double a[513];", "field 'a'", "4096 bytes");
    REFUSED_BLOCK("int a, *b;", "field");
    REFUSED(MARE, "typedef struct p { int n; } p, q;\nMR_KERNEL void f(p a)", "several names");
    REFUSED(OPENCL, "struct p { int n; } __attribute__((packed));\nkernel void f(struct p a)",
            "attributes");
    REFUSED(MARE, "#if A\ntypedef struct p { int n; } p;\n#else\ntypedef struct p { int m; } p;\n"
            "#endif\nMR_KERNEL void f(p a)", "two ways");
    REFUSED(MARE, "typedef struct p { int n; } p; typedef struct q { int m; } q;\n"
            "#if A\nMR_KERNEL void f(p a) {}\n#else\nMR_KERNEL void f(q a) {}\n#endif",
            "different parameters");
    REFUSED(OPENCL, "struct p { int n; };\nkernel void f(p a)", "not known");
}

/* "64 x 1 x 1", or "0 x 0 x 0" where it is not fixed. */
static void expect_group(uint32_t language, const char *text, const char *expected) {
    mr_signature signature;
    char got[64] = "";
    if (!CHECK_OK(parse(language, text, "f", &signature))) return;
    snprintf(got, sizeof got, "%u x %u x %u", signature.group[0], signature.group[1],
             signature.group[2]);
    CHECK_TEXT(got, expected);
    mr_signature_free(&signature);
}

static void reads_groups(void) {
    expect_group(MARE, "MR_KERNEL void f(int n)", "0 x 0 x 0");
    expect_group(MARE, "MR_KERNEL MR_GROUP_SIZE(0x40, 2u, 1) void f(int n)", "64 x 2 x 1");
    expect_group(MARE, "MR_KERNEL void MR_GROUP_SIZE(GROUP, SIZE, 1) f(int n)", "256 x 256 x 1");
    expect_group(MARE, "MR_KERNEL MR_GROUP_SIZE(8, 8, 1) void g(int n)\nMR_KERNEL void f(int n)",
                 "0 x 0 x 0");
    expect_group(MARE, "MR_KERNEL MR_GROUP_SIZE(2 * 8, (4 + 12) / 2 - 1, 1) void f(int n)",
                 "16 x 7 x 1");
    expect_group(MARE,
                 "#define G (W / 4)\n#define W 256 /* c */\n#define W 0x100\n"
                 "MR_KERNEL MR_GROUP_SIZE(G, 1, 1) void f(int n)",
                 "64 x 1 x 1");
    expect_group(MARE,
                 "#define L 64\n#define ULL 2\nMR_KERNEL MR_GROUP_SIZE(L, ULL, 1) void f(int n)",
                 "64 x 2 x 1");
    expect_group(OPENCL, "kernel __attribute__((reqd_work_group_size(LOOP, 8, 1))) void f(int n)",
                 "0 x 0 x 0");
    expect_group(OPENCL,
                 "kernel __attribute__((vec_type_hint(int), reqd_work_group_size(4, GROUP, 2)))\n"
                 "void f(int n)",
                 "4 x 256 x 2");
    expect_group(CUDA, "__global__ void __launch_bounds__(256) f(int n)", "0 x 0 x 0");
    expect_group(MARE,
                 "MR_KERNEL void f(int n);\nMR_KERNEL MR_GROUP_SIZE(8, 8, 1) void f(int n) {}",
                 "8 x 8 x 1");
    REFUSED(MARE, "MR_KERNEL MR_GROUP_SIZE(LOOP, 8, 1) void f(int n)",
            "its group 'MR_GROUP_SIZE(LOOP, 8, 1)' cannot be read");
    REFUSED(MARE, "MR_KERNEL MR_GROUP_SIZE(8, 8) void f(int n)", "cannot be read");
    REFUSED(MARE, "MR_KERNEL MR_GROUP_SIZE(8, 0, 1) void f(int n)", "cannot be read");
    REFUSED(MARE, "#define A B\n#define B A\nMR_KERNEL MR_GROUP_SIZE(A, 1, 1) void f(int n)",
            "cannot be read");
    REFUSED(MARE,
            "#if X\n#define G 8\n#else\n#define G 4\n#endif\n"
            "MR_KERNEL MR_GROUP_SIZE(G, 1, 1) void f(int n)",
            "cannot be read");
    REFUSED(MARE,
            "MR_KERNEL MR_GROUP_SIZE(8, 8, 1) void f(int n)\n"
            "MR_KERNEL MR_GROUP_SIZE(8, 4, 1) void f(int n)",
            "8 x 8 x 1 and to 8 x 4 x 1");
}

static void lists_kernels(void) {
    mr_signature signature;
    const char *text = "MR_KERNEL void one(int a) {}\nMR_KERNEL void two(void) {}";
    CHECK_FAILS(parse(MARE, text, "f", &signature), MARE_ERROR_ARGUMENT, "kernel 'f'",
                "kernels there: one, two");
    CHECK_FAILS(parse(MARE, "int x;", "f", &signature), MARE_ERROR_ARGUMENT, "kernels there: none");
    CHECK_FAILS(parse(MARE, text, "", &signature), MARE_ERROR_ARGUMENT, "1 to 127 bytes");
}

static void expect_large(const char *text, uint64_t bytes) {
    mr_signature signature;
    if (CHECK_OK(parse(MARE, text, "f", &signature))) CHECK_NUMBER(signature.local_bytes, bytes);
    mr_signature_free(&signature);
}

static void reads_large_arrays(void) {
    expect_large("MR_KERNEL void f(int n) { MR_LOCAL_LARGE(float, a, 4 * GROUP); }", 4096);
    expect_large("typedef mr_complex z;\n#define N 10\nMR_KERNEL void g(int n) { MR_LOCAL_LARGE("
                 "real, a, 7); }\nMR_KERNEL void f(int n) { { } MR_LOCAL_LARGE(z, a, N + 1); }",
                 176);
    expect_large("MR_KERNEL void f(int n);\nMR_KERNEL void f(int n) {\n"
                 "MR_LOCAL_LARGE(unsigned char, a, 3); }\nMR_KERNEL void f(int n);", 3);
    expect_large("MR_KERNEL void f(int n) { /* MR_LOCAL_LARGE(real, a, 7) */ }", 0);
    REFUSED(MARE, "MR_KERNEL void f(int n) { MR_LOCAL_LARGE(float, a, n); }", "cannot be read");
    REFUSED(MARE, "MR_KERNEL void f(int n) { MR_LOCAL_LARGE(cell, a, 4); }", "cannot be read");
    REFUSED(MARE, "MR_KERNEL void f(int n) { MR_LOCAL_LARGE(float, a, GROUP * 2097152); }",
            "2^31 - 1 bytes");
    REFUSED(MARE, "MR_KERNEL void f(int n) { MR_LOCAL_LARGE(real, a, 4); MR_LOCAL_LARGE(real, b, "
            "4); }", "more than one");
    REFUSED(MARE, "#define A MR_LOCAL_LARGE(real, a, 4)\nMR_KERNEL void f(int n) { A; }",
            "a line with #");
    REFUSED(MARE, "MR_FN void g(void) { MR_LOCAL_LARGE(real, a, 4); }\n"
            "MR_KERNEL void f(int n) { g(); }", "outside of a kernel");
    REFUSED(MARE,
            "#if X\nMR_KERNEL void f(int n) { MR_LOCAL_LARGE(real, a, 4); }\n#else\n"
            "MR_KERNEL void f(int n) { MR_LOCAL_LARGE(real, a, 5); }\n#endif",
            "other large local arrays");
}

int main(void) {
    reads_the_dialect();
    reads_every_scalar();
    reads_opencl();
    reads_cuda();
    reads_types_of_buffers();
    reads_large_arrays();
    reads_blocks();
    refuses_blocks();
    is_not_fooled();
    follows_names();
    follows_defines_before_the_text();
    refuses();
    refuses_other_names();
    refuses_other_types();
    refuses_what_may_hide();
    reads_groups();
    lists_kernels();
    return check_result();
}
