/* devices.h - the parts of the program `conformance`, one a file, most of which run a test on every
 * device found, or on MARE_TEST_DEVICE alone.
 *
 * The test function gets an open device and releases what it creates; the count of live handles
 * must then be zero.
 */
#ifndef DEVICES_H
#define DEVICES_H

#include "check.h"
#include "internal.h"

#define PARTS(X)                                                                                   \
    X(blocks) X(buffers) X(caches) X(calls) X(code) X(foreign) X(lifetime) X(lost) X(maths)        \
    X(peers) X(plans) X(pool) X(profile) X(programs) X(streams) X(tensors)
#define DECLARE_PART(name) int part_##name(void);
PARTS(DECLARE_PART)
/* What follows the part's name on the command line, up to NULL. */
extern char *const *part_arguments;

typedef void device_test(mare_device *device, const mare_device_info *info);

/* The table of a device's back end. Tests ask it for properties, never for a name, so that they
 * hold on a back end that they do not know. */
static inline const mr_backend *backend_of(const mare_device_info *info) {
    return mr_registry_find(info->name, strcspn(info->name, ":"));
}

static inline void run_on(const char *name, device_test *test) {
    mare_device *device = NULL;
    mare_device_info info;
    int before = check_failures;
    if (!CHECK_OK(mare_device_open(name, &device))) return;
    CHECK_OK(mare_device_query(device, &info));
    test(device, &info);
    mare_device_release(device);
    CHECK_NUMBER(mare_live_objects(), 0);
    printf("%s (%s): %s\n", info.name, info.model, check_failures == before ? "ok" : "FAILED");
}

static inline void run_on_backend(const mare_backend_info *backend, device_test *test) {
    if (!backend->available) printf("%s skipped: %s\n", backend->name, backend->reason);
    else if (!mr_registry_find(backend->name, strlen(backend->name))->has_compiler) {
        printf("%s skipped: it takes no programs of tests\n", backend->name);
        return;
    }
    for (int i = 0; i < backend->device_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s:%d", backend->name, i);
        run_on(name, test);
    }
}

static inline int run_on_devices(device_test *test) {
    const char *only = getenv("MARE_TEST_DEVICE");
    mare_backend_info backend;
    if (only && *only) run_on(only, test);
    else
        for (int i = 0; i < mare_backend_count(); i++)
            if (CHECK_OK(mare_backend_query(i, &backend))) run_on_backend(&backend, test);
    return check_result();
}

#endif
