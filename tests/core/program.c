/* program.c - what makes two programs the same for the cache, on the null back end, whose binary is
 * the text that a compiler would get.
 */
#include "check.h"
#include "internal.h"

#include <unistd.h>

static char folder[] = "/tmp/mare-program-XXXXXX";
static mare_device *device;

/* Creates the program and tells whether it came from the cache. */
static bool is_cached(const mare_program_desc *desc) {
    mare_program *program = NULL;
    CHECK_OK(mare_program_create(device, desc, &program));
    bool cached = mare_program_cached(program);
    CHECK_TEXT(mare_program_log(program), "");
    mare_program_release(program);
    return cached;
}

static bool is_kept(const mare_program_desc *desc) {
    CHECK(!is_cached(desc));
    return is_cached(desc);
}

static void keeps_programs_apart(void) {
    mare_define defines[] = { { "N", "4" }, { "M", NULL } };
    mare_program_desc desc = { .source = "int a;", .name = "a.krn" };
    CHECK(is_kept(&desc));
    desc.source = "int b;";
    CHECK(is_kept(&desc));
    desc.name = "b.krn";
    CHECK(is_kept(&desc));
    desc.defines = defines;
    desc.define_count = 2;
    CHECK(is_kept(&desc));
    defines[1].value = "1";                     /* as NULL means */
    CHECK(is_cached(&desc));
    defines[1].value = "2";
    CHECK(is_kept(&desc));
    desc.math = MARE_MATH_RELAXED;
    CHECK(is_kept(&desc));
    desc.options = "-O1";
    CHECK(is_kept(&desc));
    desc.language = MARE_LANGUAGE_CUDA;
    CHECK(is_kept(&desc));
}

/* What the compiler reads for itself may change behind Mare's back. */
static void does_not_keep_what_it_cannot_know(void) {
    mare_program_desc desc = { .source = "#include \"absent.h\"\n", .name = "a.krn" };
    CHECK(!is_kept(&desc));
    desc.source = "int c;";
    desc.options = "-I/somewhere";
    CHECK(!is_kept(&desc));
    desc.options = "--include-path=/somewhere";
    CHECK(!is_kept(&desc));
    desc.options = "-isystem /somewhere";
    CHECK(!is_kept(&desc));
    desc.options = "-idirafter/somewhere";
    CHECK(!is_kept(&desc));
    desc.source = "#include <math.h>\n";
    desc.options = NULL;
    CHECK(!is_kept(&desc));
    desc.language = MARE_LANGUAGE_OPENCL;
    CHECK(!is_kept(&desc));
    desc.language = MARE_LANGUAGE_CUDA;         /* of the toolkit, which is in the key */
    CHECK(is_kept(&desc));
}

/* They would give types to arguments that the check of a launch does not see. */
static void refuses_defines_in_options(void) {
    static const char *const options[] = { "-DT=double",       "-O1  -D T=double",
                                           "-g \"-DT=int\"",   "-UT",
                                           "--define-macro=T", "--undefine-macro T" };
    mare_program *program = NULL;
    mare_program_desc desc = { .source = "int a;", .name = "a.krn" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        desc.options = options[i];
        CHECK_FAILS(mare_program_create(device, &desc, &program), MARE_ERROR_ARGUMENT, "'a.krn'",
                    "in options: give it in defines");
    }
    static const char *const prelude[] = { "--maxrregcount=64 --define-macro=MR_REGISTERS=64",
                                           "-cl-nv-maxrregcount=64 -D MR_REGISTERS=64" };
    for (int i = 0; i < 2; i++) {
        desc.options = prelude[i];
        CHECK(is_kept(&desc));
    }
}

static void notices_changed_includes(void) {
    char path[64];
    const char *const paths[] = { folder };
    mare_program_desc desc = { .source = "#include \"part.h\"\n", .name = "a.krn",
                               .include_paths = paths, .include_path_count = 1 };
    snprintf(path, sizeof path, "%s/part.h", folder);
    for (int i = 0; i < 3; i++) {
        FILE *file = fopen(path, "w");
        CHECK(file != NULL && fprintf(file, "int part_%d;\n", i) > 0);
        if (file) fclose(file);
        CHECK(is_kept(&desc));
    }
}

/* The failure is told in the words of the text, and nothing is kept of it. */
static void does_not_keep_failures(void) {
    mare_program *program = NULL;
    mare_program_desc desc = { .source = "#error stop", .name = "a.krn" };
    uint64_t before = 0, after = 0;
    CHECK_OK(mare_cache_count(&before));
    CHECK_FAILS(mare_program_create(device, &desc, &program), MARE_ERROR_BUILD, "'a.krn'", "stop");
    CHECK_OK(mare_cache_count(&after));
    CHECK(program == NULL && before == after && before > 10);
}

int main(void) {
    CHECK(mkdtemp(folder) != NULL);
    setenv("MARE_CACHE", folder, 1);
    CHECK_OK(mare_device_open("null", &device));
    keeps_programs_apart();
    does_not_keep_what_it_cannot_know();
    refuses_defines_in_options();
    notices_changed_includes();
    does_not_keep_failures();
    mare_device_release(device);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    return check_result();
}
