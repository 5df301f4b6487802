/* together.c - many processes on one cache: one compilation for all, whatever is killed meanwhile.
 *
 * Only children touch a device: a driver does not survive a fork.
 */
#include "check.h"
#include "internal.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 64, FEW = 8, PROGRAMS = 3, KILLS = 100, KEYS = 8, BINARY = 100000 };
enum { BAD = 100, NO_DEVICE = 101 }; /* exit statuses beside counts of compilations */

static const char kernel[] = "MR_KERNEL void k(MR_GLOBAL int *x) { x[mr_gid_x()] = N; }\n";

/* ---- starting at once ---- */

/* Of what the vendor keeps itself Mare keeps nothing. */
static bool is_kept_by_mare(mare_device *device) {
    mare_device_info info;
    return CHECK_OK(mare_device_query(device, &info)) && !info.keeps_programs;
}

/* Returns 1 for a compilation whose result Mare keeps, 0 for a hit, BAD. */
static int build(mare_device *device, int number) {
    char value[16];
    snprintf(value, sizeof value, "%d", number);
    const mare_define define = { "N", value };
    mare_program *program = NULL;
    const mare_program_desc desc = {
        .source = kernel, .name = "k.krn", .defines = &define, .define_count = 1
    };
    if (!CHECK_OK(mare_program_create(device, &desc, &program))) return BAD;
    int compiled = !mare_program_cached(program) && is_kept_by_mare(device);
    mare_program_release(program);
    return compiled;
}

static int build_all(const char *name) {
    mare_device *device = NULL;
    uint32_t level = 0;
    char line[512];
    int compiled = 0;
    if (!mare_device_count(name)) return NO_DEVICE;
    if (!CHECK_OK(mare_device_open(name, &device))) return BAD;
    for (int i = 0; i < PROGRAMS && compiled < BAD; i++) compiled += build(device, i);
    mare_device_release(device);
    while (mare_log_next(&level, line, sizeof line)) CHECK_TEXT(line, "no warning");
    return check_failures ? BAD : compiled;
}

static int wait_for(pid_t child) {
    int status = 0;
    if (waitpid(child, &status, 0) != child) return BAD;
    return WIFEXITED(status) ? WEXITSTATUS(status) : BAD;
}

/* Returns how many programs were compiled by `count` processes for Mare's cache. */
static int build_at_once(const char *name, int count) {
    pid_t children[PROCESSES];
    int gate[2], compiled = 0;
    CHECK(pipe(gate) == 0);
    for (int i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] != 0) continue;
        char nothing;
        close(gate[1]);
        if (read(gate[0], &nothing, 1) != 0) _exit(BAD); /* until the parent opens the gate */
        _exit(build_all(name));
    }
    close(gate[1]);
    close(gate[0]);
    for (int i = 0; i < count; i++) {
        int status = wait_for(children[i]);
        CHECK(status <= PROGRAMS);
        compiled += status;
    }
    return compiled;
}

static void compiles_once(const char *name) {
    CHECK_NUMBER(build_at_once(name, PROCESSES), PROGRAMS);
    CHECK_OK(mare_cache_clear(NULL));
}

/* PoCL's own cache has a file for each program that it has translated. */
static int count_in_pocl(const char *folder) {
    char command[128];
    int count = -1;
    snprintf(command, sizeof command, "find %s -name program.bc | wc -l", folder);
    FILE *answer = popen(command, "r");
    if (answer && fscanf(answer, "%d", &count) != 1) count = -1;
    if (answer) pclose(answer);
    return count;
}

/* With PoCL's cache: one for each program, and none in Mare's. Without: Mare's has them. */
static void compiles_for_pocl(const char *folder) {
    char own[64];
    uint64_t kept = 1;
    snprintf(own, sizeof own, "%s/pocl", folder);
    setenv("POCL_CACHE_DIR", own, 1);
    CHECK_NUMBER(build_at_once("opencl", FEW), 0);
    CHECK_NUMBER(count_in_pocl(own), PROGRAMS);
    CHECK_OK(mare_cache_count(&kept));
    CHECK_NUMBER(kept, 0);
    setenv("POCL_KERNEL_CACHE", "0", 1);        /* which PoCL 3.1 stands in one process only */
    CHECK_NUMBER(build_at_once("opencl", 1), PROGRAMS);
}

/* As exit status: 0 for devices whose programs Mare keeps, 1 for PoCL. */
static int ask_opencl(void) {
    mare_device *device = NULL;
    if (!mare_device_count("opencl") || !CHECK_OK(mare_device_open("opencl", &device)))
        return NO_DEVICE;
    return !is_kept_by_mare(device);
}

/* ---- killed at any moment ---- */

static void fill(char *binary, int number) {
    for (int i = 0; i < BINARY; i++) binary[i] = (char)(i * 7 + number);
}

/* What a process does that needs every key. False: it met a wrong binary or a lock of the dead. */
static bool needs_all(void) {
    static char wanted[BINARY];
    for (int number = 0; number < KEYS; number++) {
        mr_blob blob = { 0 };
        bool right = true;
        int lock = -1;
        fill(wanted, number);
        const char *key = (const char *)&number;
        if (!CHECK(!mr_cache_lock(key, sizeof number, &lock) && lock >= 0)) return false;
        if (mr_cache_load(key, sizeof number, &blob))
            right = blob.size == BINARY && !memcmp(blob.data, wanted, BINARY);
        else
            mr_cache_store(key, sizeof number, "k.krn", "device", &(mr_blob){ wanted, BINARY });
        free(blob.data);
        mr_cache_unlock(lock);
        if (!CHECK(right)) return false;
    }
    return true;
}

/* Of the files that are no entries: the lock, and what the killed were writing. */
static int leftovers(const char *folder, bool make_old) {
    const struct timespec old[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
    int count = 0;
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        if (strncmp(entry->d_name, ".mare-", 6) != 0) continue;
        count++;
        if (make_old) CHECK(utimensat(dirfd(listing), entry->d_name, old, 0) == 0);
    }
    if (listing) closedir(listing);
    return count;
}

static void survives_kills(const char *folder) {
    int unfinished = 0;
    for (int i = 0; i < KILLS; i++) {
        pid_t child = fork();
        if (child == 0) {
            while (mare_cache_clear(NULL) == MARE_OK && needs_all()) continue;
            _exit(BAD);
        }
        usleep((useconds_t)(i * 7919 % 20000));
        CHECK(kill(child, SIGKILL) == 0);
        waitpid(child, NULL, 0);
        unfinished += leftovers(folder, true);
        child = fork();
        if (child == 0) _exit(needs_all() ? 0 : BAD);
        CHECK_NUMBER(wait_for(child), 0);
    }
    printf("%d processes killed, %d of them while writing\n", KILLS, unfinished);
    mr_cache_store("last", 4, "k.krn", "a device", &(mr_blob){ (char[]){ 1 }, 1 });
    CHECK_NUMBER(leftovers(folder, false), 0);
    CHECK_OK(mare_cache_clear(NULL));
}

int main(void) {
    char base[] = "/tmp/mare-together-XXXXXX";
    CHECK(mkdtemp(base) != NULL);
    setenv("MARE_CACHE", base, 1);
    unsetenv("MARE_CACHE_SIZE");
    survives_kills(base);
    compiles_once("null");
    pid_t child = fork();
    if (child == 0) _exit(ask_opencl());
    int answer = wait_for(child);
    if (answer == 0) compiles_once("opencl");
    else if (answer == 1) compiles_for_pocl(base);
    else printf("opencl skipped: no device\n");
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", base);
    CHECK(system(command) == 0);
    return check_result();
}
