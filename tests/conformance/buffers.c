/* buffers.c - transfers, fills, copies, views and boxes against the same thing done on the host,
 * with odd sizes. */
#include "devices.h"

enum { BYTES = 10007 };

static unsigned char host[BYTES], expected[BYTES], got[BYTES];

static void randomise(unsigned char *bytes, uint32_t seed) {
    for (int i = 0; i < BYTES; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (unsigned char)(seed >> 24);
    }
}

static mare_buffer *filled(mare_device *device, const char *label, uint32_t seed,
                           unsigned char *copy) {
    mare_buffer *buffer = NULL;
    randomise(copy, seed);
    CHECK_OK(
        mare_buffer_create(device, &(mare_buffer_desc){ .size = BYTES, .label = label }, &buffer));
    CHECK_OK(mare_buffer_upload(buffer, 0, copy, BYTES, NULL));
    return buffer;
}

static void holds(mare_buffer *buffer, const char *what) {
    memset(got, 0xee, sizeof got);
    CHECK_OK(mare_buffer_download(buffer, 0, got, BYTES, NULL));
    if (!CHECK(!memcmp(got, expected, BYTES))) fprintf(stderr, "    after %s\n", what);
}

static void transfers(mare_device *device) {
    mare_buffer *buffer = filled(device, "a", 1, expected);
    holds(buffer, "upload");
    randomise(host, 2);
    CHECK_OK(mare_buffer_upload(buffer, 1001, host, 313, NULL));
    memcpy(expected + 1001, host, 313);
    holds(buffer, "upload of a part");
    CHECK_OK(mare_buffer_download(buffer, 777, got, 1, NULL));
    CHECK(got[0] == expected[777]);
    mare_buffer_release(buffer);
}

static void fills(mare_device *device) {
    static const unsigned char pattern[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2 };
    mare_buffer *buffer = filled(device, "a", 3, expected);
    for (uint32_t size = 1; size <= 16; size *= 2) {
        uint64_t offset = 104 * size, count = 37;
        CHECK_OK(mare_buffer_fill(buffer, offset, count * size, pattern, size, NULL));
        for (uint64_t i = 0; i < count; i++) memcpy(expected + offset + i * size, pattern, size);
        holds(buffer, "fill");
    }
    CHECK_OK(mare_buffer_fill(buffer, 0, BYTES, pattern + 3, 1, NULL));
    memset(expected, 4, BYTES);
    holds(buffer, "fill of all");
    mare_buffer_release(buffer);
}

static void copies(mare_device *device) {
    mare_buffer *src = filled(device, "src", 4, host), *dst = filled(device, "dst", 5, expected);
    CHECK_OK(mare_buffer_copy(dst, 13, src, 501, 4999, NULL));
    memcpy(expected + 13, host + 501, 4999);
    holds(dst, "copy");
    CHECK_OK(mare_buffer_copy(dst, 7000, dst, 100, 3007, NULL));
    memcpy(expected + 7000, expected + 100, 3007);
    holds(dst, "copy within a buffer");
    mare_buffer_release(src);
    mare_buffer_release(dst);
}

static void views(mare_device *device) {
    mare_buffer *buffer = filled(device, "a", 6, expected), *view = NULL, *inner = NULL;
    CHECK_OK(mare_buffer_view(buffer, 1000, 500, &view));
    CHECK_OK(mare_buffer_view(view, 24, 100, &inner));
    CHECK_OK(mare_buffer_fill(inner, 0, 100, "z", 1, NULL));
    memset(expected + 1024, 'z', 100);
    randomise(host, 7);
    CHECK_OK(mare_buffer_upload(inner, 3, host, 11, NULL));
    memcpy(expected + 1027, host, 11);
    holds(buffer, "fill and upload of a view");
    CHECK_OK(mare_buffer_copy(view, 200, inner, 0, 100, NULL));
    memcpy(expected + 1200, expected + 1024, 100);
    holds(buffer, "copy between views");
    CHECK_OK(mare_buffer_download(view, 24, got, 100, NULL));
    CHECK(!memcmp(got, expected + 1024, 100));
    mare_buffer_release(view);
    mare_buffer_release(buffer);
    mare_buffer_release(inner);
}

static uint64_t or_else(uint64_t value, uint64_t otherwise) { return value ? value : otherwise; }

static void copy_box(unsigned char *dst, const unsigned char *src, const mare_region *r) {
    uint64_t height = or_else(r->height, 1), depth = or_else(r->depth, 1);
    uint64_t dst_pitch = or_else(r->dst_pitch, r->width),
             src_pitch = or_else(r->src_pitch, r->width);
    for (uint64_t z = 0; z < depth; z++)
        for (uint64_t y = 0; y < height; y++)
            memcpy(dst + r->dst_offset + z * or_else(r->dst_slice, dst_pitch * height) +
                       y * dst_pitch,
                   src + r->src_offset + z * or_else(r->src_slice, src_pitch * height) +
                       y * src_pitch,
                   r->width);
}

static const mare_region boxes[] = {
    { .width = 1 },
    { .width = 333, .dst_offset = 7, .src_offset = 1 },
    { .width = 5, .height = 9, .dst_offset = 3, .dst_pitch = 40, .src_offset = 11, .src_pitch = 8 },
    { .width = 16, .height = 10, .dst_offset = 64, .dst_pitch = 64 },
    { .width = 64, .height = 10, .src_pitch = 64, .dst_pitch = 64 },
    { .width = 2, .height = 97, .dst_pitch = 100, .src_offset = 98, .src_pitch = 100 },
    { .width = 7,
      .height = 5,
      .depth = 3,
      .dst_offset = 1,
      .dst_pitch = 11,
      .dst_slice = 77,
      .src_offset = 2 },
    { .width = 7, .height = 5, .depth = 3, .src_pitch = 9, .src_slice = 63, .dst_offset = 5 },
    { .width = 7,
      .height = 1,
      .depth = 3,
      .src_pitch = 9,
      .src_slice = 63,
      .dst_pitch = 8,
      .dst_slice = 80 },
    { .width = 128,
      .height = 1,
      .depth = 4,
      .src_pitch = 128,
      .src_slice = 1024,
      .dst_slice = 256 },
};
enum { BOX_COUNT = sizeof boxes / sizeof *boxes };

static void moves_boxes(mare_device *device) {
    mare_buffer *buffer = filled(device, "box", 8, expected),
                *other = filled(device, "other", 9, host);
    for (int i = 0; i < BOX_COUNT; i++) {
        char what[32];
        snprintf(what, sizeof what, "box %d", i);
        CHECK_OK(mare_buffer_upload_region(buffer, host, &boxes[i], NULL));
        copy_box(expected, host, &boxes[i]);
        holds(buffer, what);
        CHECK_OK(mare_buffer_upload(buffer, 0, host, BYTES, NULL));
        CHECK_OK(mare_buffer_fill(buffer, 0, BYTES, "q", 1, NULL));
        memset(expected, 'q', BYTES);
        CHECK_OK(mare_buffer_copy_region(buffer, other, &boxes[i], NULL));
        copy_box(expected, host, &boxes[i]);
        holds(buffer, what);
        memset(got, 'w', BYTES);
        memset(expected, 'w', BYTES);
        CHECK_OK(mare_buffer_download_region(other, got, &boxes[i], NULL));
        copy_box(expected, host, &boxes[i]);
        CHECK(!memcmp(got, expected, BYTES));
        CHECK_OK(mare_buffer_upload(buffer, 0, expected, BYTES, NULL));
    }
    mare_buffer_release(buffer);
    mare_buffer_release(other);
}

/* Columns of one field onto its other side: the boxes interleave and do not overlap. */
static void moves_within_a_buffer(mare_device *device) {
    mare_buffer *buffer = filled(device, "field", 10, expected);
    mare_region halo = {
        .width = 8, .height = 90, .dst_pitch = 100, .src_offset = 92, .src_pitch = 100
    };
    CHECK_OK(mare_buffer_copy_region(buffer, buffer, &halo, NULL));
    copy_box(expected, expected, &halo);
    holds(buffer, "copy of columns within a buffer");
    mare_region apart = {
        .width = 8, .height = 9, .dst_pitch = 24, .src_offset = 5001, .src_pitch = 16
    };
    CHECK_OK(mare_buffer_copy_region(buffer, buffer, &apart, NULL));
    copy_box(expected, expected, &apart);
    holds(buffer, "copy between unequal pitches within a buffer");
    mare_buffer_release(buffer);
}

static void moves_between_devices(mare_device *device, const mare_device_info *info) {
    mare_device *second = NULL, *null = NULL;
    CHECK_OK(mare_device_open(info->name, &second));
    CHECK_OK(mare_device_open("null", &null));
    mare_buffer *here = filled(device, "here", 11, host),
                *there = filled(second, "there", 12, expected);
    CHECK_OK(mare_buffer_copy(there, 17, here, 1, 5000, NULL));
    memcpy(expected + 17, host + 1, 5000);
    CHECK_OK(mare_buffer_copy_region(there, here, &boxes[6], mare_device_stream(device)));
    copy_box(expected, host, &boxes[6]);
    holds(there, "copy between handles");
    mare_buffer *far_away = filled(null, "far", 13, host);
    CHECK_OK(mare_buffer_copy(far_away, 0, there, 0, BYTES, NULL));
    holds(far_away, "copy to the null device");
    mare_buffer_release(here);
    mare_buffer_release(there);
    mare_buffer_release(far_away);
    mare_device_release(second);
    mare_device_release(null);
}

/* Larger than what is held on the host at once. */
static void moves_much_between_devices(mare_device *device) {
    enum { SIDE = 9000 };
    mare_device *null = NULL;
    mare_buffer *here = NULL, *there = NULL;
    unsigned char *bytes = calloc(SIDE, SIDE);
    CHECK(bytes != NULL);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
        bytes[i] = (unsigned char)((i * 2654435761u) >> 13);
    CHECK_OK(mare_device_open("null", &null));
    CHECK_OK(mare_buffer_create(device, &(mare_buffer_desc){ .size = SIDE * SIDE }, &here));
    CHECK_OK(mare_buffer_create(null, &(mare_buffer_desc){ .size = SIDE * SIDE }, &there));
    CHECK_OK(mare_buffer_upload(here, 0, bytes, SIDE * SIDE, NULL));
    mare_region box = {
        .width = SIDE - 1, .height = SIDE - 1, .dst_pitch = SIDE, .src_pitch = SIDE, .src_offset = 1
    };
    CHECK_OK(mare_buffer_fill(there, 0, SIDE * SIDE, "", 1, NULL));
    CHECK_OK(mare_buffer_copy_region(there, here, &box, NULL));
    unsigned char *back = calloc(SIDE, SIDE);
    CHECK_OK(mare_buffer_download(there, 0, back, SIDE * SIDE, NULL));
    bool equal = true;
    for (size_t y = 0; y + 1 < SIDE; y++)
        equal = equal && !memcmp(back + y * SIDE, bytes + y * SIDE + 1, SIDE - 1);
    CHECK(equal && back[SIDE - 1] == 0);
    free(bytes);
    free(back);
    mare_buffer_release(here);
    mare_buffer_release(there);
    mare_device_release(null);
}

static void pins_memory(mare_device *device) {
    mare_host *pinned = NULL;
    mare_stream *stream = NULL;
    mare_buffer *buffer = filled(device, "a", 14, expected);
    CHECK_OK(mare_stream_create(device, NULL, &stream));
    CHECK_OK(mare_host_create(device, BYTES, "stage", &pinned));
    CHECK_NUMBER(mare_host_size(pinned), BYTES);
    CHECK_NUMBER((uintptr_t)mare_host_data(pinned) % 4096, 0);
    unsigned char *bytes = mare_host_data(pinned);
    randomise(bytes, 15);
    memcpy(expected, bytes, BYTES);
    CHECK_OK(mare_buffer_upload(buffer, 0, bytes, BYTES, stream));
    CHECK_OK(mare_stream_wait(stream));
    memset(bytes, 0, BYTES);
    CHECK_OK(mare_buffer_download(buffer, 0, bytes, BYTES, stream));
    CHECK_OK(mare_stream_wait(stream));
    CHECK(!memcmp(bytes, expected, BYTES));
    mare_buffer_release(buffer);
    mare_stream_release(stream);
    mare_host_release(pinned);
}

static void refuses_too_much(mare_device *device, const mare_device_info *info) {
    mare_buffer *buffer = NULL;
    uint64_t size = info->max_buffer < UINT64_MAX ? info->max_buffer + 1 : UINT64_MAX;
    CHECK_FAILS(mare_buffer_create(device, &(mare_buffer_desc){ .size = size, .label = "huge" },
                                   &buffer),
                MARE_ERROR_MEMORY, "'huge'");
    CHECK(buffer == NULL);
}

static void test(mare_device *device, const mare_device_info *info) {
    transfers(device);
    fills(device);
    copies(device);
    views(device);
    moves_boxes(device);
    moves_within_a_buffer(device);
    moves_between_devices(device, info);
    moves_much_between_devices(device);
    pins_memory(device);
    refuses_too_much(device, info);
}

int part_buffers(void) { return run_on_devices(test); }
