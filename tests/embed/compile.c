/* compile.c - an engine that closes while threads compile what its scripts have begun waits for
 * them, and for no others. Who holds the lock of the cache keeps compilers waiting. */
#include "check.h"
#include "mare_engine.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static char folder[] = "/tmp/mare-embed-compile-XXXXXX";
static int held = -1;

/* All bytes of the lock, so that every program waits. */
static bool lock(short type) {
    struct flock all = { .l_type = type, .l_whence = SEEK_SET };
    return fcntl(held, F_OFD_SETLK, &all) == 0;
}

static void *let_go(void *nothing) {
    usleep(50000);
    CHECK(lock(F_UNLCK));
    return nothing;
}

static void closes_while_it_compiles(void) {
    mare_engine *engine = NULL;
    pthread_t thread;
    CHECK(lock(F_WRLCK));
    CHECK_OK(mare_engine_create(NULL, &engine));
    CHECK_OK(mare_engine_run(engine, "local d = require('mare').device.open 'null'\n"
                                     "for k = 1, 5 do d:prepare { source = '// ' .. k } end",
                             "script"));
    CHECK_NUMBER(mare_program_pending(), 5);
    CHECK(pthread_create(&thread, NULL, let_go, NULL) == 0);
    CHECK_OK(mare_engine_destroy(engine));
    CHECK_NUMBER(mare_program_pending(), 0);
    CHECK_NUMBER(mare_live_objects(), 0);
    pthread_join(thread, NULL);
}

/* The program's own compilers are its own affair. */
static void closes_beside_others(void) {
    mare_engine *engine = NULL;
    mare_device *device = NULL;
    mare_program *program = NULL;
    int32_t done = 0;
    CHECK(lock(F_WRLCK));
    CHECK_OK(mare_device_open("null", &device));
    CHECK_OK(mare_program_begin(device, &(mare_program_desc){ .source = "// other" }, &program));
    CHECK_OK(mare_engine_create(NULL, &engine));
    CHECK_OK(mare_engine_destroy(engine));
    CHECK_NUMBER(mare_program_pending(), 1);
    CHECK(lock(F_UNLCK));
    CHECK_OK(mare_program_wait(program, UINT64_MAX, &done));
    mare_program_release(program);
    mare_device_release(device);
}

int main(void) {
    char path[128];
    CHECK(mkdtemp(folder) != NULL);
    setenv("MARE_CACHE", folder, 1);
    snprintf(path, sizeof path, "%s/.lock", folder);
    held = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(held >= 0);
    closes_while_it_compiles();
    closes_beside_others();
    snprintf(path, sizeof path, "rm -r %s", folder);
    CHECK(system(path) == 0);
    return check_result();
}
