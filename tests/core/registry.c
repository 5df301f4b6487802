/* registry.c - names of back ends and devices, and devices themselves. */
#include "check.h"
#include "internal.h"

static void lists_back_ends(void) {
    static const struct { const char *name; bool runs_kernels; } known[] = {
        { "cuda", true },
        { "opencl", true },
        { "cpu", true },
        { "null", false },
    };
    enum { COUNT = sizeof known / sizeof *known };
    mare_backend_info info;
    CHECK_NUMBER(mare_backend_count(), COUNT);
    for (int i = 0; i < COUNT; i++) {
        CHECK_OK(mare_backend_query(i, &info));
        CHECK_TEXT(info.name, known[i].name);
        const mr_backend *backend = mr_registry_backend(i);
        CHECK(backend->runs_kernels == known[i].runs_kernels);
        CHECK((backend->prelude[0] != '\0') == backend->runs_kernels);
        CHECK((backend->language != 0) == (backend->runs_kernels && backend->has_compiler));
        CHECK(info.available ? info.device_count > 0 : info.reason[0] != '\0');
        CHECK_NUMBER(mare_device_count(known[i].name), info.available ? info.device_count : 0);
    }
    CHECK_FAILS(mare_backend_query(COUNT, &info), MARE_ERROR_ARGUMENT, "back ends");
    CHECK_FAILS(mare_backend_query(0, NULL), MARE_ERROR_ARGUMENT, "out");
    CHECK_NUMBER(mare_device_count("metal"), 0);
    CHECK_NUMBER(mare_device_count(NULL), 0);
}

static void refuses_names(void) {
    mare_device *device = (mare_device *)&device;
    CHECK_FAILS(mare_device_open("metal", &device), MARE_ERROR_UNAVAILABLE, "'metal'",
                "have: cuda, opencl");
    CHECK(device == NULL);
    CHECK_FAILS(mare_device_open("metal:1", &device), MARE_ERROR_UNAVAILABLE, "'metal:1'");
    CHECK_FAILS(mare_device_open("nul", &device), MARE_ERROR_UNAVAILABLE, "'nul'");
    CHECK_FAILS(mare_device_open("null:1", &device), MARE_ERROR_UNAVAILABLE, "'null:1'",
                "null has 1 device");
    CHECK_FAILS(mare_device_open("null:x", &device), MARE_ERROR_ARGUMENT, "'null:x'", "number");
    CHECK_FAILS(mare_device_open("null:", &device), MARE_ERROR_ARGUMENT, "'null:'");
    CHECK_FAILS(mare_device_open("null:-1", &device), MARE_ERROR_ARGUMENT, "'null:-1'");
    CHECK_FAILS(mare_device_open("null:99999999999999999999", &device), MARE_ERROR_ARGUMENT,
                "number");
    CHECK_FAILS(mare_device_open("", &device), MARE_ERROR_ARGUMENT, "auto");
    CHECK_FAILS(mare_device_open(NULL, &device), MARE_ERROR_ARGUMENT, "auto");
    CHECK_FAILS(mare_device_open("null", NULL), MARE_ERROR_ARGUMENT, "out");
}

/* "auto" is a real device or a failure with reasons; an absent back end gives its own reason. */
static void chooses_only_when_asked(void) {
    mare_device *device = NULL;
    mare_device_info info;
    int usable = 0;
    for (int i = 0; i < mare_backend_count(); i++) {
        const mr_backend *backend = mr_registry_backend(i);
        usable += backend->runs_kernels ? mare_device_count(backend->name) : 0;
    }
    if (usable > 0) {
        CHECK_OK(mare_device_open("auto", &device));
        CHECK_OK(mare_device_query(device, &info));
        CHECK(info.runs_kernels);
        mare_device_release(device);
    } else
        CHECK_FAILS(mare_device_open("auto", &device), MARE_ERROR_UNAVAILABLE, "cuda:", "opencl:");
    for (int i = 0; i < mare_backend_count(); i++) {
        mare_backend_info backend;
        CHECK_OK(mare_backend_query(i, &backend));
        if (!backend.available)
            CHECK_FAILS(mare_device_open(backend.name, &device), MARE_ERROR_UNAVAILABLE,
                        backend.name, backend.reason);
    }
}

static void opens_null(void) {
    mare_device *first = NULL, *second = NULL;
    mare_device_info info;
    uint64_t available = 1, total = 1;
    CHECK_OK(mare_device_open("null", &first));
    CHECK_OK(mare_device_open("null:0", &second));
    CHECK(first != second);
    CHECK_OK(mare_device_query(first, &info));
    CHECK_TEXT(info.name, "null:0");
    CHECK_OK(mare_device_memory(first, &available, &total));
    CHECK(available == 0 && total == 0);
    CHECK_OK(mare_device_wait(first));
    mare_device_retain(first);
    mare_device_release(first);
    mare_stream *stream = mare_device_stream(first);
    mare_stream_retain(stream);
    mare_device_release(first);
    CHECK_OK(mare_stream_wait(stream)); /* a retained default stream keeps its device */
    mare_stream_release(stream);
    mare_device_release(second);
    mare_device_release(NULL);
}

static void refuses_null_handles(void) {
    mare_device_info info;
    uint64_t bytes;
    CHECK_FAILS(mare_device_query(NULL, &info), MARE_ERROR_ARGUMENT, "mare_device_query");
    CHECK_FAILS(mare_device_memory(NULL, &bytes, &bytes), MARE_ERROR_ARGUMENT,
                "mare_device_memory");
    CHECK_FAILS(mare_device_wait(NULL), MARE_ERROR_ARGUMENT, "mare_device_wait");
    CHECK(mare_device_stream(NULL) == NULL);
}

int main(void) {
    lists_back_ends();
    refuses_names();
    chooses_only_when_asked();
    opens_null();
    refuses_null_handles();
    return check_result();
}
