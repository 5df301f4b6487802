/* calls.c - another library's work on a stream: in order with Mare's own, out of plans, in the
 * profile. The vendor's own fill stands for the library. */
#include "devices.h"

#include "backends/cuda_api.h"
#include "backends/opencl.h"

enum { COUNT = 256, BYTES = 4 * COUNT };

/* Fills the second half of a buffer of COUNT integers. */
typedef struct filler {
    mare_buffer *buffer;
    int32_t value, called, finished;
    mare_status status;
    const char *words;
} filler;

static uint32_t language;           /* of the back end: it tells whose fill is meant */
static bool has_queue;

static mare_status fill_natively(void *data, void *queue) {
    filler *f = data;
    uint64_t memory = 0, offset = 0;
    int32_t code = 0;
    f->called++;
    if (f->status != MARE_OK) return f->words ? mare_error_set(f->status, f->words) : f->status;
    CHECK_OK(mare_buffer_native(f->buffer, &memory, &offset));
    offset += BYTES / 2;
    CHECK((queue != NULL) == has_queue);
    if (language == MARE_LANGUAGE_CUDA)
        code = (int32_t)mr_cu.cuMemsetD32Async(memory + offset, (unsigned)f->value, COUNT / 2,
                                               queue);
    else if (language == MARE_LANGUAGE_OPENCL)
        code = mr_cl.clEnqueueFillBuffer(queue, (struct mr_cl_mem *)(uintptr_t)memory, &f->value, 4,
                                         offset, BYTES / 2, 0, NULL, NULL);
    else
        for (int i = 0; i < COUNT / 2; i++)
            memcpy((char *)(uintptr_t)(memory + offset) + 4 * i, &f->value, 4);
    CHECK_NUMBER(code, 0);
    return MARE_OK;
}

static void note_finish(void *data) { ((filler *)data)->finished++; }

static mare_buffer *make(mare_device *device, const char *label) {
    mare_buffer *buffer = NULL;
    CHECK_OK(mare_buffer_create(
        device, &(mare_buffer_desc){ BYTES, MARE_TYPE_INT32, 0, label }, &buffer));
    return buffer;
}

static mare_call *prepare(mare_device *device, filler *f) {
    mare_call *call = NULL;
    const mare_call_desc desc = { .label = "fill half",
                                  .function = fill_natively,
                                  .data = f,
                                  .finish = note_finish,
                                  .buffers = &f->buffer,
                                  .buffer_count = 1,
                                  .bytes = BYTES / 2 };
    CHECK_OK(mare_call_create(device, &desc, &call));
    return call;
}

static int32_t value(mare_buffer *buffer, int i) {
    int32_t out = -1;
    CHECK_OK(mare_buffer_download(buffer, 4 * (uint64_t)i, &out, 4, NULL));
    return out;
}

/* Between a fill and a copy of Mare's, and what events say of it. */
static void keeps_order(mare_device *device, filler *f, mare_call *call) {
    mare_stream *stream = NULL;
    mare_event *done = NULL;
    mare_buffer *copy = make(device, "copy");
    CHECK_OK(mare_stream_create(device, NULL, &stream));
    CHECK_OK(mare_event_create(device, &done));
    for (f->value = 3; f->value < 8; f->value++) {
        CHECK_OK(mare_buffer_fill(f->buffer, 0, BYTES, "\1\0\0", 4, stream));
        CHECK_OK(mare_call_run(call, stream));
        CHECK_OK(mare_event_record(done, stream));
        CHECK_OK(mare_stream_wait_event(mare_device_stream(device), done));
        CHECK_OK(mare_buffer_copy(copy, 0, f->buffer, 0, BYTES, NULL));
        CHECK_NUMBER(value(copy, 0), 1);
        CHECK_NUMBER(value(copy, COUNT - 1), f->value);
    }
    mare_event_release(done);
    mare_stream_release(stream);
    mare_buffer_release(copy);
}

/* The plan alone holds the call in the end. */
static void is_recorded(mare_device *device, filler *f, mare_call *call) {
    mare_stream *stream = mare_device_stream(device);
    mare_plan *plan = NULL, *outer = NULL;
    const int called = f->called;
    f->value = 20;
    CHECK_OK(mare_plan_begin(stream));
    CHECK_OK(mare_buffer_fill(f->buffer, 0, BYTES, "\2\0\0", 4, NULL));
    CHECK_OK(mare_call_run(call, NULL));
    CHECK_OK(mare_buffer_fill(f->buffer, BYTES - 4, 4, "\5\0\0", 4, NULL));
    CHECK_OK(mare_plan_end(stream, "with a call", &plan));
    CHECK_NUMBER(f->called, called);
    CHECK_OK(mare_plan_begin(stream));
    CHECK_OK(mare_plan_run(plan, 2, NULL));
    CHECK_OK(mare_call_run(call, NULL));
    CHECK_OK(mare_plan_end(stream, "outer", &outer));
    mare_call_release(call);
    for (int round = 0; round < 2; round++) {
        CHECK_OK(mare_buffer_fill(f->buffer, 0, BYTES, "\0", 1, NULL));
        CHECK_OK(mare_plan_run(plan, 2, NULL));
        CHECK(value(f->buffer, 0) == 2 && value(f->buffer, COUNT - 2) == 20);
        CHECK_NUMBER(value(f->buffer, COUNT - 1), 5);
        CHECK_OK(mare_plan_run(outer, 1, NULL));
        CHECK(value(f->buffer, 0) == 2 && value(f->buffer, COUNT - 1) == 20);
    }
    CHECK(f->called > called && !f->finished);
    mare_plan_release(plan);
    CHECK(!f->finished);
    mare_plan_release(outer);
    CHECK_NUMBER(f->finished, 1);
}

static void is_timed(mare_device *device, mare_call *call) {
    mare_profile_record record = { 0 };
    mare_plan *plan = NULL;
    int32_t found = 0;
    CHECK_OK(mare_plan_begin(mare_device_stream(device)));
    CHECK_OK(mare_call_run(call, NULL));
    CHECK_OK(mare_plan_end(mare_device_stream(device), NULL, &plan));
    CHECK_OK(mare_profile_begin(device));
    CHECK_OK(mare_call_run(call, NULL));
    CHECK_OK(mare_plan_run(plan, 1, NULL));
    CHECK_OK(mare_profile_end(device));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(mare_profile_next(device, &record, &found));
        CHECK(found && !record.is_kernel && record.stop_ms >= record.start_ms);
        CHECK_TEXT(record.name, "fill half");
        CHECK_TEXT(record.stream, "default");
        CHECK_NUMBER(record.bytes, BYTES / 2);
    }
    CHECK_OK(mare_profile_next(device, &record, &found));
    CHECK(!found);
    mare_plan_release(plan);
}

static void fails(mare_device *device, filler *f, mare_call *call) {
    mare_plan *plan = NULL;
    f->status = MARE_ERROR_MEMORY;
    f->words = "no room for a workspace";
    CHECK_FAILS(mare_call_run(call, NULL), MARE_ERROR_MEMORY, "call 'fill half'",
                "no room for a workspace");
    CHECK_OK(mare_plan_begin(mare_device_stream(device)));
    CHECK_OK(mare_call_run(call, NULL));
    CHECK_OK(mare_plan_end(mare_device_stream(device), "mine", &plan));
    CHECK_FAILS(mare_plan_run(plan, 1, NULL), MARE_ERROR_MEMORY, "plan 'mine'",
                "call 'fill half'");
    f->words = NULL;
    CHECK_FAILS(mare_call_run(call, NULL), MARE_ERROR_MEMORY, "call 'fill half'");
    CHECK(!strstr(mare_error_message(), "workspace"));
    f->status = MARE_OK;
    CHECK_OK(mare_plan_run(plan, 1, NULL));
    mare_plan_release(plan);
}

static void refuses(mare_device *device, mare_call *call) {
    mare_device *other = NULL;
    mare_buffer *far = NULL;
    mare_call *none = call;
    mare_call_desc desc = { .label = "mine", .function = fill_natively, .buffer_count = 1 };
    CHECK_FAILS(mare_call_create(device, &desc, &none), MARE_ERROR_ARGUMENT, "'mine'", "NULL");
    desc.buffers = &far;
    CHECK_FAILS(mare_call_create(device, &desc, &none), MARE_ERROR_ARGUMENT, "'mine'",
                "buffer 0 is NULL");
    CHECK_OK(mare_device_open("null", &other));
    far = make(other, "far");
    CHECK_FAILS(mare_call_create(device, &desc, &none), MARE_ERROR_ARGUMENT, "'far'", "null:0");
    CHECK_FAILS(mare_call_run(call, mare_device_stream(other)), MARE_ERROR_ARGUMENT,
                "call 'fill half'", "another");
    desc.function = NULL;
    CHECK_FAILS(mare_call_create(device, &desc, &none), MARE_ERROR_ARGUMENT, "function");
    CHECK_FAILS(mare_call_run(NULL, NULL), MARE_ERROR_ARGUMENT, "call is NULL");
    CHECK(!none);
    mare_buffer_release(far);
    mare_device_release(other);
}

static void test(mare_device *device, const mare_device_info *info) {
    filler f = { .buffer = make(device, "x") };
    language = backend_of(info)->language;
    has_queue = backend_of(info)->stream_native != NULL;
    mare_call *call = prepare(device, &f);
    mare_buffer_release(f.buffer);  /* the call holds it */
    keeps_order(device, &f, call);
    is_timed(device, call);
    fails(device, &f, call);
    refuses(device, call);
    mare_buffer_retain(f.buffer);
    is_recorded(device, &f, call);
    mare_buffer_release(f.buffer);
}

int part_calls(void) { return run_on_devices(test); }
