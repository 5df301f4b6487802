/* caches.c - programs are compiled once where they are kept, and run where nobody keeps them. */
#include "devices.h"

#include <unistd.h>

static char folder[] = "/tmp/mare-caches-XXXXXX";

/* kept: 1 where Mare keeps the programs, 0 where the vendor does */
static void caches(mare_device *device, int kept) {
    char source[256];
    static int serial;
    mare_program *first = NULL, *second = NULL, *other = NULL;
    mare_define defines[] = { { "N", "1" } };
    snprintf(source, sizeof source,
             "MR_KERNEL void f(MR_GLOBAL int *x) { x[0] = N + %d; } // %ld\n", serial++,
             (long)getpid());
    mare_program_desc desc = {
        .source = source, .name = "c.krn", .defines = defines, .define_count = 1
    };
    CHECK_OK(mare_program_create(device, &desc, &first));
    CHECK_OK(mare_program_create(device, &desc, &second));
    CHECK(second == first);
    CHECK_NUMBER(mare_program_cached(first), 0);
    mare_program_release(first);
    mare_program_release(second);
    CHECK_OK(mare_program_create(device, &desc, &second));
    defines[0].value = "2";
    CHECK_OK(mare_program_create(device, &desc, &other));
    CHECK_NUMBER(mare_program_cached(second), kept);
    CHECK_NUMBER(mare_program_cached(other), 0);
    mare_program_release(second);
    mare_program_release(other);
    desc.math = MARE_MATH_FAST;
    CHECK_OK(mare_program_create(device, &desc, &other));
    CHECK_NUMBER(mare_program_cached(other), 0);
    mare_program_release(other);
}

/* Without the cache a vendor's program may be taken as it was built, without a binary. */
static void uncached(mare_device *device) {
    setenv("MARE_CACHE", "off", 1);
    for (int i = 0; i < 2; i++) {
        mare_program *program = NULL;
        mare_kernel *kernel = NULL;
        mare_program_desc desc = { .source = "MR_KERNEL void f(MR_GLOBAL int *x) { x[0] = 5; }",
                                   .name = "uncached.krn" };
        CHECK_OK(mare_program_create(device, &desc, &program));
        CHECK_NUMBER(mare_program_cached(program), 0);
        CHECK_OK(mare_kernel_create(program, "f", &kernel));
        mare_kernel_release(kernel);
        mare_program_release(program);
    }
    setenv("MARE_CACHE", folder, 1);
}

static void test(mare_device *device, const mare_device_info *info) {
    uint64_t before = 0, after = 0;
    CHECK_OK(mare_cache_count(&before));
    caches(device, !info->keeps_programs);
    CHECK_OK(mare_cache_count(&after));
    CHECK(info->keeps_programs ? after == before : after > before);
    uncached(device);
}

int part_caches(void) {
    CHECK(mkdtemp(folder) != NULL);
    setenv("MARE_CACHE", folder, 1);
    int result = run_on_devices(test);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    return result;
}
