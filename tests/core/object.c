/* object.c - the report of live handles. */
#include "check.h"

enum { MOST = 8 };
static mare_object_info objects[MOST];

static void list(uint64_t expected) {
    uint64_t count = 0;
    CHECK_OK(mare_object_list(objects, MOST, &count));
    CHECK_NUMBER(count, expected);
    CHECK_NUMBER(mare_live_objects(), expected);
}

static void expect(uint64_t index, const char *kind, const char *label, uint64_t bytes,
                   uint32_t refs) {
    const mare_object_info *info = &objects[index];
    CHECK_TEXT(info->kind, kind);
    CHECK_TEXT(info->label, label);
    CHECK_NUMBER(info->bytes, bytes);
    CHECK_NUMBER(info->refs, refs);
}

/* Of too many the oldest, and how many there are. */
static void lists_some(void) {
    uint64_t count = 0;
    objects[1].label[0] = '?';
    CHECK_OK(mare_object_list(objects, 1, &count));
    CHECK(count == 5 && objects[1].label[0] == '?');
    CHECK_TEXT(objects[0].kind, "device");
    CHECK_OK(mare_object_list(NULL, 0, &count));
    CHECK_NUMBER(count, 5);
    CHECK_FAILS(mare_object_list(NULL, 1, &count), MARE_ERROR_ARGUMENT, "out and count");
    CHECK_FAILS(mare_object_list(objects, 1, NULL), MARE_ERROR_ARGUMENT, "out and count");
}

/* A failed call leaves NULL and not what was there, whatever was wrong with it. */
#define EMPTIES(type, call)                                                                        \
    do {                                                                                           \
        type *out = junk;                                                                          \
        CHECK(call == MARE_ERROR_ARGUMENT);                                                        \
        if (!CHECK(out == NULL)) fprintf(stderr, "    after %s\n", #call);                         \
    } while (0)

static void empties_results(void) {
    void *junk = &check_failures;
    const mare_buffer_desc desc = { .size = 4 };
    const mare_program_desc text = { .source = "" };
    EMPTIES(mare_buffer, mare_buffer_create(NULL, &desc, &out));
    EMPTIES(mare_buffer, mare_buffer_view(NULL, 0, 4, &out));
    EMPTIES(mare_host, mare_host_create(NULL, 4, NULL, &out));
    EMPTIES(mare_stream, mare_stream_create(NULL, NULL, &out));
    EMPTIES(mare_event, mare_event_create(NULL, &out));
    EMPTIES(mare_program, mare_program_create(NULL, &text, &out));
    EMPTIES(mare_kernel, mare_kernel_create(NULL, "f", &out));
    EMPTIES(mare_launch, mare_launch_create(NULL, &out));
    EMPTIES(mare_device, mare_device_open(NULL, &out));
    EMPTIES(mare_plan, mare_plan_end(NULL, NULL, &out));
    CHECK_FAILS(mare_buffer_create(NULL, &desc, NULL), MARE_ERROR_ARGUMENT, "out are required");
}

int main(void) {
    empties_results();
    mare_device *device = NULL;
    mare_buffer *rho = NULL, *view = NULL;
    mare_host *stage = NULL;
    list(0);
    CHECK_OK(mare_device_open("null", &device));
    CHECK_OK(mare_buffer_create(device, &(mare_buffer_desc){ .size = 100, .label = "rho" }, &rho));
    CHECK_OK(mare_host_create(device, 50, "stage", &stage));
    CHECK_OK(mare_buffer_view(rho, 0, 10, &view));
    list(5);
    expect(0, "device", "null:0", 0, 3);
    expect(1, "stream", "default", 0, 1);
    expect(2, "buffer", "rho", 100, 2);
    expect(3, "host memory", "stage", 50, 1);
    expect(4, "view", "rho", 0, 1);
    lists_some();
    mare_host_release(stage);
    mare_buffer_release(view);
    list(3);
    expect(2, "buffer", "rho", 100, 1);
    mare_buffer_release(rho);
    mare_device_release(device);
    return check_result();
}
