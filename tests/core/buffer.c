/* buffer.c - what buffers, streams, events and pinned memory refuse, on the null back end. */
#include "check.h"
#include "internal.h"

static mare_device *device, *other;
static mare_buffer *buffer, *far_buffer;
static char bytes[256];

/* Each word of each descriptor. */
static void refuses_what_newer_versions_mean(void) {
    for (int k = 0; k < 4; k++) {
        mare_buffer_desc b = { .size = 8, .label = "rho" };
        mare_stream_desc s = { .label = "aside" };
        mare_program_desc p = { .source = "" };
        mare_call_desc c = { .label = "step", .function = (mare_call_function)abort };
        b.reserved[k] = s.reserved[k] = p.reserved[k] = c.reserved[k] = 1;
        CHECK_FAILS(mare_buffer_create(device, &b, &(mare_buffer *){ NULL }), MARE_ERROR_ARGUMENT,
                    "buffer 'rho'", "reserved must be 0", MARE_VERSION);
        CHECK_FAILS(mare_stream_create(device, &s, &(mare_stream *){ NULL }), MARE_ERROR_ARGUMENT,
                    "stream 'aside'", "reserved");
        CHECK_FAILS(mare_program_create(device, &p, &(mare_program *){ NULL }),
                    MARE_ERROR_ARGUMENT, "program 'source'", "reserved");
        CHECK_FAILS(mare_call_create(device, &c, &(mare_call *){ NULL }), MARE_ERROR_ARGUMENT,
                    "call 'step'", "reserved");
    }
    mare_device_info info;
    memset(&info, 0xFF, sizeof info);
    CHECK_OK(mare_device_query(device, &info));
    for (int k = 0; k < 7; k++) CHECK_NUMBER(info.reserved[k], 0);
}

static void refuses_descriptors(void) {
    mare_buffer *bad = NULL;
    mare_host *host = NULL;
    CHECK_FAILS(mare_buffer_create(device, &(mare_buffer_desc){ .label = "rho" }, &bad),
                MARE_ERROR_ARGUMENT, "'rho'", "size is 0");
    CHECK_FAILS(mare_buffer_create(device, &(mare_buffer_desc){ 8, 0, 4, "rho" }, &bad),
                MARE_ERROR_ARGUMENT, "flags is 4");
    CHECK_FAILS(mare_buffer_create(device, &(mare_buffer_desc){ 8, 77, 0, "rho" }, &bad),
                MARE_ERROR_ARGUMENT, "type 77");
    CHECK_FAILS(mare_buffer_create(device, &(mare_buffer_desc){ 6, MARE_TYPE_FLOAT, 0, "rho" },
                                   &bad),
                MARE_ERROR_ARGUMENT, "size 6", "4 bytes");
    CHECK_FAILS(mare_buffer_create(device, &(mare_buffer_desc){ UINT64_MAX, 0, 0, "rho" }, &bad),
                MARE_ERROR_MEMORY, "'rho'", "18446744073709551615", "null:0");
    CHECK_FAILS(mare_buffer_create(device, &(mare_buffer_desc){ 1ULL << 62, 0, 0, "rho" }, &bad),
                MARE_ERROR_MEMORY, "'rho'", "4611686018427387904");
    CHECK_FAILS(mare_buffer_create(NULL, &(mare_buffer_desc){ .size = 1 }, &bad),
                MARE_ERROR_ARGUMENT, "device");
    CHECK_FAILS(mare_host_create(device, 0, "stage", &host), MARE_ERROR_ARGUMENT, "'stage'",
                "size is 0");
    CHECK_FAILS(mare_host_create(device, 1ULL << 62, "stage", &host), MARE_ERROR_MEMORY, "'stage'");
    CHECK_FAILS(mare_host_create(device, UINT64_MAX - 4094, "stage", &host), MARE_ERROR_MEMORY,
                "'stage'", "18446744073709547521");
    CHECK(!bad && !host);
}

static void refuses_ranges(void) {
    mare_buffer *bad = NULL;
    CHECK_OK(mare_buffer_upload(buffer, 100, bytes, 0, NULL));
    CHECK_FAILS(mare_buffer_upload(buffer, 40, bytes, 61, NULL), MARE_ERROR_ARGUMENT, "'rho'",
                "upload of 61 bytes", "offset 40", "has 100 bytes");
    CHECK_FAILS(mare_buffer_upload(buffer, 101, bytes, 0, NULL), MARE_ERROR_ARGUMENT, "offset 101");
    CHECK_FAILS(mare_buffer_download(buffer, UINT64_MAX, bytes, 2, NULL), MARE_ERROR_ARGUMENT,
                "download");
    CHECK_FAILS(mare_buffer_view(buffer, 60, 41, &bad), MARE_ERROR_ARGUMENT,
                "view of 41 bytes at offset 60");
    CHECK_FAILS(mare_buffer_view(buffer, 60, 0, &bad), MARE_ERROR_ARGUMENT, "view of 0 bytes");
    CHECK_FAILS(mare_buffer_copy(buffer, 0, buffer, 99, 2, NULL), MARE_ERROR_ARGUMENT,
                "copy from it");
    CHECK_FAILS(mare_buffer_copy(buffer, 0, buffer, 9, 10, NULL), MARE_ERROR_ARGUMENT, "overlaps",
                "from 9 to 0");
    CHECK_OK(mare_buffer_copy(buffer, 0, buffer, 10, 10, NULL));
    CHECK_FAILS(mare_buffer_upload(buffer, 0, NULL, 4, NULL), MARE_ERROR_ARGUMENT, "src");
    CHECK_FAILS(mare_buffer_download(NULL, 0, bytes, 4, NULL), MARE_ERROR_ARGUMENT, "buffer");
}

static void refuses_boxes(void) {
    mare_region box = { .width = 4, .height = 10, .dst_pitch = 10, .src_pitch = 10 };
    CHECK_OK(mare_buffer_upload_region(buffer, bytes, &box, NULL));
    box.dst_offset = 6;
    CHECK_OK(mare_buffer_upload_region(buffer, bytes, &box, NULL));
    box.dst_offset = 7;
    CHECK_FAILS(mare_buffer_upload_region(buffer, bytes, &box, NULL), MARE_ERROR_ARGUMENT, "'rho'",
                "4 bytes x 10 rows x 1 slices at offset 7", "100 bytes");
    box.dst_offset = UINT64_MAX - 8;
    CHECK_FAILS(mare_buffer_upload_region(buffer, bytes, &box, NULL), MARE_ERROR_ARGUMENT,
                "overflow");
    box.dst_offset = 0;
    box.src_offset = UINT64_MAX - 8;
    CHECK_FAILS(mare_buffer_upload_region(buffer, bytes, &box, NULL), MARE_ERROR_ARGUMENT,
                "host memory overflows");
    CHECK_FAILS(mare_buffer_download_region(buffer, bytes, &box, NULL), MARE_ERROR_ARGUMENT,
                "download");
    box.src_offset = 4;
    CHECK_OK(mare_buffer_copy_region(buffer, buffer, &box, NULL));
    box.src_offset = 3;
    CHECK_FAILS(mare_buffer_copy_region(buffer, buffer, &box, NULL), MARE_ERROR_ARGUMENT,
                "overlaps");
    box.src_pitch = 3;
    CHECK_FAILS(mare_buffer_copy_region(buffer, buffer, &box, NULL), MARE_ERROR_ARGUMENT, "'rho'",
                "src_pitch 3");
}

static void refuses_fills(void) {
    mare_buffer *view = NULL;
    CHECK_FAILS(mare_buffer_fill(buffer, 0, 9, bytes, 3, NULL), MARE_ERROR_ARGUMENT, "3 bytes",
                "1, 2, 4, 8");
    CHECK_FAILS(mare_buffer_fill(buffer, 2, 8, bytes, 4, NULL), MARE_ERROR_ARGUMENT, "byte 2",
                "4 bytes");
    CHECK_FAILS(mare_buffer_fill(buffer, 0, 6, bytes, 4, NULL), MARE_ERROR_ARGUMENT,
                "fill of 6 bytes");
    CHECK_FAILS(mare_buffer_fill(buffer, 96, 8, bytes, 8, NULL), MARE_ERROR_ARGUMENT, "offset 96");
    CHECK_OK(mare_buffer_view(buffer, 2, 8, &view));
    CHECK_FAILS(mare_buffer_fill(view, 0, 8, bytes, 4, NULL), MARE_ERROR_ARGUMENT, "byte 2");
    mare_buffer_release(view);
}

static void refuses_foreign_streams(void) {
    mare_stream *stream = NULL, *bad = NULL;
    CHECK_OK(mare_stream_create(other, &(mare_stream_desc){ .label = "far" }, &stream));
    CHECK_FAILS(mare_buffer_upload(buffer, 0, bytes, 4, stream), MARE_ERROR_ARGUMENT, "'rho'",
                "stream 'far'");
    CHECK_FAILS(mare_buffer_fill(buffer, 0, 4, bytes, 4, stream), MARE_ERROR_ARGUMENT,
                "stream 'far'");
    CHECK_OK(mare_buffer_copy(buffer, 0, far_buffer, 0, 4, stream));
    CHECK_FAILS(mare_stream_create(device, &(mare_stream_desc){ 2, "s" }, &bad),
                MARE_ERROR_ARGUMENT, "'s'", "priority 2", "-1, 0, 1");
    mare_stream_release(stream);
}

static void refuses_unrecorded_events(void) {
    mare_event *event = NULL, *far_event = NULL;
    mare_stream *far_stream = mare_device_stream(other);
    double ms = 0;
    int32_t done = 0;
    CHECK_OK(mare_event_create(device, &event));
    CHECK_OK(mare_event_create(other, &far_event));
    CHECK_FAILS(mare_event_wait(event), MARE_ERROR_ARGUMENT, "never recorded");
    CHECK_FAILS(mare_event_query(event, &done), MARE_ERROR_ARGUMENT, "never recorded");
    CHECK_FAILS(mare_stream_wait_event(far_stream, event), MARE_ERROR_ARGUMENT, "never recorded");
    CHECK_FAILS(mare_event_record(event, far_stream), MARE_ERROR_ARGUMENT,
                "stream 'default' to another");
    CHECK_OK(mare_event_record(event, NULL));
    CHECK_OK(mare_event_record(far_event, NULL));
    CHECK_FAILS(mare_event_elapsed_ms(event, far_event, &ms), MARE_ERROR_ARGUMENT,
                "belong to devices");
    CHECK_OK(mare_stream_wait_event(far_stream, event)); /* across devices the host waits */
    mare_event_release(event);
    mare_event_release(far_event);
}

static void shows_itself(void) {
    mare_buffer *view = NULL;
    CHECK_OK(mare_buffer_view(buffer, 10, 20, &view));
    CHECK_NUMBER(mare_buffer_size(view), 20);
    CHECK_TEXT(mare_buffer_label(view), "rho");
    CHECK(mare_buffer_device(view) == device);
    CHECK_NUMBER(mare_buffer_size(NULL), 0);
    mare_buffer_release(view);
}

/* A view of a view outlives the user's handles of both and of the device. */
static void outlives_parents(void) {
    mare_device *own = NULL;
    mare_buffer *root = NULL, *middle = NULL, *leaf = NULL;
    char byte = 0;
    CHECK_OK(mare_device_open("null", &own));
    CHECK_OK(mare_buffer_create(own, &(mare_buffer_desc){ .size = 100 }, &root));
    CHECK_OK(mare_buffer_upload(root, 35, "x", 1, NULL));
    CHECK_OK(mare_buffer_view(root, 10, 50, &middle));
    CHECK_OK(mare_buffer_view(middle, 20, 10, &leaf));
    mare_device_release(own);
    mare_buffer_release(root);
    mare_buffer_release(middle);
    CHECK_OK(mare_buffer_download(leaf, 5, &byte, 1, NULL));
    CHECK(byte == 'x');
    mare_buffer_release(leaf);
}

static void tells_of_lost_devices(void) {
    mare_device *gone = NULL;
    mare_buffer *there = NULL;
    CHECK_OK(mare_device_open("null", &gone));
    CHECK_OK(mare_buffer_create(gone, &(mare_buffer_desc){ .size = 9, .label = "there" }, &there));
    mr_device_note(gone, mr_fail(MARE_ERROR_LOST, "it fell"));
    CHECK_FAILS(mare_buffer_copy(buffer, 0, there, 0, 9, NULL), MARE_ERROR_LOST,
                "'rho': copy from 'there'", "it fell");
    CHECK_FAILS(mare_buffer_copy(there, 0, buffer, 0, 9, NULL), MARE_ERROR_LOST,
                "'there': copy from 'rho'", "it fell");
    CHECK_OK(mare_buffer_copy(buffer, 0, far_buffer, 0, 9, NULL));
    mare_buffer_release(there);
    mare_device_release(gone);
}

int main(void) {
    CHECK_OK(mare_device_open("null", &device));
    CHECK_OK(mare_device_open("null", &other));
    CHECK_OK(
        mare_buffer_create(device, &(mare_buffer_desc){ .size = 100, .label = "rho" }, &buffer));
    CHECK_OK(
        mare_buffer_create(other, &(mare_buffer_desc){ .size = 100, .label = "far" }, &far_buffer));
    refuses_descriptors();
    refuses_what_newer_versions_mean();
    refuses_ranges();
    refuses_boxes();
    refuses_fills();
    refuses_foreign_streams();
    refuses_unrecorded_events();
    shows_itself();
    outlives_parents();
    tells_of_lost_devices();
    mare_buffer_release(buffer);
    mare_buffer_release(far_buffer);
    mare_device_release(device);
    mare_device_release(other);
    return check_result();
}
