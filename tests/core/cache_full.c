/* cache_full.c - the cache on a file system without room: programs are compiled and only not kept,
 * what was there before still serves, and room helps at once; PoCL is not asked to compile there.
 * The file system is a tmpfs of some pages, mounted where only this process sees it; where that is
 * not allowed the test is skipped.
 */
#include "backends/opencl.h"
#include "check.h"
#include "internal.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

enum { ROOM = 32 << 10, LARGE = 64 << 10 };

static const char *refused; /* the call that is not allowed here */

/* In a name space of its own. */
static bool mount_small(const char *folder) {
    char options[32];
    snprintf(options, sizeof options, "size=%d", ROOM);
    if (unshare(CLONE_NEWNS) != 0) refused = "unshare";
    else if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        refused = "mount --make-private";
    else if (mount("tmpfs", folder, "tmpfs", 0, options) != 0)
        refused = "mount -t tmpfs";
    return !refused;
}

static bool is_kept(const char *key) {
    mr_blob blob = { 0 };
    bool found = mr_cache_load(key, strlen(key), &blob);
    free(blob.data);
    return found;
}

static void store(const char *key, size_t size) {
    static char binary[LARGE];
    mr_cache_store(key, strlen(key), "large.krn", "a device", &(mr_blob){ binary, size });
}

static void expect_no_room(void) {
    uint32_t level = MARE_LOG_OFF;
    char line[512] = "";
    CHECK(mare_log_next(&level, line, sizeof line));
    CHECK(level == MARE_LOG_WARN && strstr(line, "is not kept") && strstr(line, strerror(ENOSPC)));
}

/* Fills what is left, so that no page is free. */
static void fill_up(const char *folder) {
    char path[128], page[4096] = "";
    snprintf(path, sizeof path, "%s/filler", folder);
    FILE *file = fopen(path, "w");
    if (!CHECK(file != NULL)) return;
    setvbuf(file, NULL, _IONBF, 0);
    while (fwrite(page, 1, sizeof page, file) == sizeof page) continue;
    CHECK(errno == ENOSPC);
    fclose(file);
}

/* A program that cannot be kept works all the same. */
static void builds(mare_device *device, bool cached) {
    const mare_program_desc desc = { .source = "MR_KERNEL void f(int n) { }", .name = "f.krn" };
    mare_program *program = NULL;
    CHECK_OK(mare_program_create(device, &desc, &program));
    CHECK(mare_program_cached(program) == cached);
    mare_program_release(program);
}

static void test(const char *folder) {
    char filler[128];
    mare_device *device = NULL;
    CHECK_OK(mare_device_open("null", &device));
    store("small", 10);
    store("large", LARGE);
    expect_no_room();
    CHECK(is_kept("small") && !is_kept("large"));
    fill_up(folder);
    builds(device, false);
    expect_no_room();
    builds(device, false);
    expect_no_room();
    CHECK(is_kept("small"));
    setenv("POCL_CACHE_DIR", folder, 1);
    CHECK(mr_opencl_check_room() == MARE_ERROR_IO);
    CHECK(strstr(mare_error_message(), folder) && strstr(mare_error_message(), " 0 KiB left"));
    snprintf(filler, sizeof filler, "%s/filler", folder);
    CHECK(unlink(filler) == 0);
    builds(device, false);
    builds(device, true);
    CHECK_OK(mare_cache_clear(NULL));
    mare_device_release(device);
}

int main(void) {
    char folder[] = "/tmp/mare-full-XXXXXX", reason[128];
    CHECK(mkdtemp(folder) != NULL);
    setenv("MARE_CACHE", folder, 1);
    if (mount_small(folder)) {
        test(folder);
        CHECK(umount(folder) == 0);
    } else snprintf(reason, sizeof reason, "%s: %s", refused, strerror(errno));
    CHECK(rmdir(folder) == 0);
    return refused ? check_skip(reason) : check_result();
}
