/* streams.c - order within a stream, order between streams through events, and times that make
 * sense. */
#include "devices.h"

enum { COUNT = 1 << 20, ROUNDS = 20 };

static uint32_t *values;

static mare_buffer *make(mare_device *device, const char *label) {
    mare_buffer *buffer = NULL;
    CHECK_OK(mare_buffer_create(device,
                                &(mare_buffer_desc){ 4 * COUNT, MARE_TYPE_UINT32, 0, label },
                                &buffer));
    return buffer;
}

static bool all_are(uint32_t value) {
    for (int i = 0; i < COUNT; i++)
        if (values[i] != value) return false;
    return true;
}

/* Fill, copy and download follow each other without a wait in between. */
static void keeps_order(mare_device *device, mare_stream *stream) {
    mare_buffer *a = make(device, "a"), *b = make(device, "b");
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        CHECK_OK(mare_buffer_fill(a, 0, 4 * COUNT, &round, 4, stream));
        CHECK_OK(mare_buffer_copy(b, 0, a, 0, 4 * COUNT, stream));
        CHECK_OK(mare_buffer_fill(a, 0, 4 * COUNT, "\377\377\377\377", 4, stream));
    }
    CHECK_OK(mare_buffer_download(b, 0, values, 4 * COUNT, stream));
    CHECK_OK(mare_stream_flush(stream));
    CHECK_OK(mare_stream_wait(stream));
    CHECK(all_are(ROUNDS));
    mare_buffer_release(a);
    mare_buffer_release(b);
}

/* One stream produces, the other consumes; each waits for the other's event before it goes on. */
static void orders_streams(mare_device *device, mare_stream *producer, mare_stream *consumer) {
    mare_buffer *a = make(device, "a"), *b = make(device, "b");
    mare_event *produced = NULL, *consumed = NULL;
    CHECK_OK(mare_event_create(device, &produced));
    CHECK_OK(mare_event_create(device, &consumed));
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        CHECK_OK(mare_buffer_fill(a, 0, 4 * COUNT, &round, 4, producer));
        CHECK_OK(mare_event_record(produced, producer));
        CHECK_OK(mare_stream_wait_event(consumer, produced));
        CHECK_OK(mare_buffer_copy(b, 0, a, 0, 4 * COUNT, consumer));
        CHECK_OK(mare_event_record(consumed, consumer));
        CHECK_OK(mare_stream_wait_event(producer, consumed));
        CHECK_OK(mare_event_wait(consumed));
        CHECK_OK(mare_buffer_download(b, 0, values, 4 * COUNT, consumer));
        CHECK_OK(mare_stream_wait(consumer));
        CHECK(all_are(round));
    }
    mare_event_release(produced);
    mare_event_release(consumed);
    mare_buffer_release(a);
    mare_buffer_release(b);
}

static void takes_times(mare_device *device, mare_stream *stream) {
    mare_buffer *a = make(device, "a"), *b = make(device, "b");
    mare_event *start = NULL, *stop = NULL;
    double forward = 0, backward = 0;
    int32_t done = 0;
    CHECK_OK(mare_event_create(device, &start));
    CHECK_OK(mare_event_create(device, &stop));
    CHECK_OK(mare_buffer_fill(a, 0, 4 * COUNT, "\0", 1, stream));
    CHECK_OK(mare_event_record(start, stream));
    for (int i = 0; i < ROUNDS; i++) CHECK_OK(mare_buffer_copy(b, 0, a, 0, 4 * COUNT, stream));
    CHECK_OK(mare_event_record(stop, stream));
    CHECK_OK(mare_event_elapsed_ms(start, stop, &forward));
    CHECK_OK(mare_event_elapsed_ms(stop, start, &backward));
    CHECK_OK(mare_event_query(stop, &done));
    CHECK(done == 1);
    CHECK(forward > 0 && forward < 10000); /* 20 copies of 4 MiB */
    CHECK(backward <= 0);
    mare_event_release(start);
    mare_event_release(stop);
    mare_buffer_release(a);
    mare_buffer_release(b);
}

/* Handles may go while the work on them is queued. */
static void outlives_handles(mare_device *device) {
    mare_stream *stream = NULL;
    mare_buffer *a = make(device, "a"), *b = make(device, "b");
    uint32_t value = 77;
    CHECK_OK(mare_stream_create(device, &(mare_stream_desc){ -1, "short" }, &stream));
    CHECK_OK(mare_buffer_fill(a, 0, 4 * COUNT, &value, 4, stream));
    CHECK_OK(mare_buffer_copy(b, 0, a, 0, 4 * COUNT, stream));
    mare_buffer_release(a);
    mare_stream_release(stream);
    CHECK_OK(mare_device_wait(device));
    CHECK_OK(mare_buffer_download(b, 0, values, 4 * COUNT, NULL));
    CHECK(all_are(77));
    mare_buffer_release(b);
}

static void test(mare_device *device, const mare_device_info *info) {
    mare_stream *low = NULL, *high = NULL;
    (void)info;
    values = calloc(COUNT, 4);
    CHECK(values != NULL);
    CHECK_OK(mare_stream_create(device, NULL, &low));
    CHECK_OK(mare_stream_create(device, &(mare_stream_desc){ 1, "high" }, &high));
    keeps_order(device, mare_device_stream(device));
    keeps_order(device, low);
    orders_streams(device, low, high);
    orders_streams(device, mare_device_stream(device), high);
    takes_times(device, low);
    outlives_handles(device);
    mare_stream_release(low);
    mare_stream_release(high);
    free(values);
}

int part_streams(void) { return run_on_devices(test); }
