/* tensors.c - arrays that go out and come back by DLPack on every device, without a copy and
 * without a leak, and those that are refused. */
#include "devices.h"

#include <pthread.h>
#include <time.h>

static const mare_buffer_desc six_floats = { .size = 24, .type = MARE_TYPE_FLOAT, .label = "six" };
static const int64_t two_by_three[] = { 2, 3 };
static const mare_tensor_desc matrix = { .dimensions = 2, .shape = two_by_three };

static void *let_go_elsewhere(void *tensor) {
    mare_tensor *self = tensor;
    self->deleter(self);
    return NULL;
}

static void check_view(const mare_tensor *tensor) {
    const mare_tensor_view *view = &tensor->view;
    CHECK(tensor->major == 1 && tensor->flags == 0 && view->vector == 1);
    CHECK(view->code == 2 && view->bits == 32 && view->dimensions == 2 && view->data);
    CHECK(view->shape[0] == 2 && view->shape[1] == 3);
    CHECK(view->strides[0] == 3 && view->strides[1] == 1);
}

/* The buffer goes out, outlives its handle, comes back and is let go of on another thread. */
static void goes_and_comes(mare_device *device) {
    mare_buffer *buffer = NULL, *view = NULL, *back = NULL;
    mare_tensor *tensor = NULL, *part = NULL;
    float data[6] = { 1, 2, 3, 4, 5, 6 }, more[2] = { 7, 8 };
    pthread_t thread;
    CHECK_OK(mare_buffer_create(device, &six_floats, &buffer));
    CHECK_OK(mare_buffer_upload(buffer, 0, data, sizeof data, mare_device_stream(device)));
    CHECK_OK(mare_tensor_export(buffer, &matrix, NULL, &tensor));
    check_view(tensor);
    CHECK_OK(mare_buffer_view(buffer, 8, 16, &view));
    CHECK_OK(mare_tensor_export(view, &(mare_tensor_desc){ .dimensions = 1,
             .shape = (int64_t[]){ 2 }, .offset = 4 }, NULL, &part));
    mare_buffer_release(view);
    mare_buffer_release(buffer);
    CHECK_OK(mare_tensor_import(device, part, "part", &back));
    CHECK(mare_buffer_size(back) == 8 && mare_buffer_type(back) == MARE_TYPE_FLOAT);
    CHECK_OK(mare_buffer_upload(back, 0, more, sizeof more, mare_device_stream(device)));
    mare_buffer_release(back);
    CHECK_OK(mare_tensor_import(device, tensor, NULL, &back));
    CHECK_OK(mare_buffer_download(back, 0, data, sizeof data, NULL));
    CHECK(data[0] == 1 && data[2] == 3 && data[3] == 7 && data[4] == 8 && data[5] == 6);
    CHECK_OK(mare_tensor_export(back, &matrix, NULL, &tensor));
    mare_buffer_release(back);
    CHECK(!pthread_create(&thread, NULL, let_go_elsewhere, tensor));
    pthread_join(thread, NULL);
}

static void is_ordered(mare_device *device) {
    mare_buffer *buffer = NULL;
    mare_stream *one = NULL, *two = NULL;
    mare_tensor *tensor = NULL;
    void *queue = NULL;
    float value = 2.5f, data[6] = { 0 };
    if (mare_stream_native(mare_device_stream(device), &queue) != MARE_OK) return;
    CHECK_OK(mare_stream_create(device, NULL, &one));
    CHECK_OK(mare_stream_create(device, NULL, &two));
    CHECK_OK(mare_buffer_create(device, &six_floats, &buffer));
    CHECK_OK(mare_buffer_fill(buffer, 0, 24, &value, 4, one));
    CHECK_OK(mare_stream_native(two, &queue));
    CHECK_OK(mare_tensor_export(buffer, &matrix, queue, &tensor));
    CHECK_OK(mare_buffer_download(buffer, 0, data, sizeof data, two));
    CHECK_OK(mare_stream_wait(two));
    CHECK(data[0] == 2.5f && data[5] == 2.5f);
    tensor->deleter(tensor);
    mare_buffer_release(buffer);
    mare_stream_release(two);
    mare_stream_release(one);
}

enum { FILLS = 16 };

/* Long work on one stream, and others who are told of it by an export alone, or by nothing. Returns
 * whether what they read on a stream of theirs is what that work has left. */
static bool is_read_after(mare_buffer *buffer, mare_buffer *theirs, mare_stream *one,
                          mare_stream *two, float first, bool exports) {
    const uint64_t size = mare_buffer_size(buffer);
    const int64_t shape[] = { (int64_t)(size / sizeof(float)) };
    mare_tensor *tensor = NULL;
    void *queue = NULL;
    float value = first, found = 0;
    CHECK_OK(mare_stream_native(two, &queue));
    for (int j = 0; j < FILLS; j++) {
        value = first + (float)j;
        CHECK_OK(mare_buffer_fill(buffer, 0, size, &value, sizeof value, one));
    }
    if (exports) {
        CHECK_OK(mare_tensor_export(buffer, &(mare_tensor_desc){ .dimensions = 1, .shape = shape },
                                    queue, &tensor));
        tensor->deleter(tensor);
    }
    CHECK_OK(mare_buffer_copy(theirs, 0, buffer, 0, size, two));
    CHECK_OK(mare_buffer_download(theirs, size - sizeof found, &found, sizeof found, two));
    CHECK_OK(mare_stream_wait(two));
    CHECK_OK(mare_stream_wait(one));
    return value - found < 0.5f && found - value < 0.5f;
}

static void does_not_race(mare_device *device, const mare_device_info *info) {
    const bool is_gpu = info->kind == MARE_DEVICE_GPU;
    const int rounds = is_gpu ? 40 : 2;
    const mare_buffer_desc desc = { .size = is_gpu ? 64 << 20 : 1 << 16, .label = "line",
                                    .type = MARE_TYPE_FLOAT };
    mare_buffer *buffer = NULL, *theirs = NULL;
    mare_stream *one = NULL, *two = NULL;
    void *queue = NULL;
    int late = 0;
    if (mare_stream_native(mare_device_stream(device), &queue) != MARE_OK) return;
    CHECK_OK(mare_stream_create(device, NULL, &one));
    CHECK_OK(mare_stream_create(device, NULL, &two));
    CHECK_OK(mare_buffer_create(device, &desc, &buffer));
    CHECK_OK(mare_buffer_create(device, &desc, &theirs));
    for (int k = 0; k < rounds; k++) {
        const float first = (float)(2 * k * FILLS + 1);
        CHECK(is_read_after(buffer, theirs, one, two, first, true));
        late += !is_read_after(buffer, theirs, one, two, first + FILLS, false);
    }
    printf("%s: read after %d of %d exports; without, too early %d times\n", info->name, rounds,
           rounds, late);
    mare_buffer_release(theirs);
    mare_buffer_release(buffer);
    mare_stream_release(two);
    mare_stream_release(one);
}

static void in_pinned_memory(mare_device *device) {
    mare_host *host = NULL;
    mare_tensor *tensor = NULL;
    CHECK_OK(mare_host_create(device, 24, "pinned", &host));
    CHECK_OK(mare_tensor_export_host(host, &(mare_tensor_desc){ .type = MARE_TYPE_INT16,
             .dimensions = 1, .shape = (int64_t[]){ 8 }, .offset = 4, .is_read_only = 1 },
             &tensor));
    CHECK(tensor->view.device_type == 1 && tensor->flags == MARE_TENSOR_READ_ONLY);
    CHECK((char *)tensor->view.data == (char *)mare_host_data(host) + 4);
    mare_host_release(host);
    mare_old_tensor *old = NULL;
    CHECK_FAILS(mare_tensor_to_old(tensor, &old), MARE_ERROR_ARGUMENT, "read");
    tensor->deleter(tensor);
}

static void of_old_form(mare_device *device) {
    mare_buffer *buffer = NULL, *back = NULL;
    mare_tensor *tensor = NULL;
    mare_old_tensor *old = NULL;
    CHECK_OK(mare_buffer_create(device, &six_floats, &buffer));
    CHECK_OK(mare_tensor_export(buffer, &matrix, NULL, &tensor));
    CHECK_OK(mare_tensor_to_old(tensor, &old));
    CHECK(old->view.shape[1] == 3);
    CHECK_OK(mare_tensor_from_old(old, &tensor));
    CHECK_OK(mare_tensor_import(device, tensor, "old", &back));
    mare_buffer_release(back);
    mare_buffer_release(buffer);
}

static void refuse(mare_device *device, mare_tensor *tensor, const char *word) {
    mare_buffer *buffer = NULL;
    CHECK_FAILS(mare_tensor_import(device, tensor, "odd", &buffer),
                tensor->major == 1 ? MARE_ERROR_ARGUMENT : MARE_ERROR_UNAVAILABLE, "odd", word);
    CHECK(!buffer);
}

static void refuses(mare_device *device) {
    mare_buffer *buffer = NULL;
    mare_tensor *tensor = NULL;
    CHECK_OK(mare_buffer_create(device, &six_floats, &buffer));
    const struct {
        mare_tensor_desc desc;
        const char *word;
    } wrong[] = {
        { { .dimensions = 1, .shape = (int64_t[]){ 7 } }, "28 bytes" },
        { { .dimensions = 1, .shape = (int64_t[]){ 6 }, .offset = 4 }, "offset 4" },
        { { .dimensions = 1, .shape = (int64_t[]){ -1 } }, "six" },
        { { .dimensions = 1, .shape = (int64_t[]){ 2 }, .strides = (int64_t[]){ -1 } }, "strides" },
        { { .dimensions = 2, .shape = (int64_t[]){ INT64_MAX, INT64_MAX } }, "six" },
        { { .dimensions = 33, .shape = two_by_three }, "33 dimensions" },
        { { .dimensions = 1 }, "shape" },
        { { .type = 99 }, "type 99" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_FAILS(mare_tensor_export(buffer, &wrong[i].desc, NULL, &tensor), MARE_ERROR_ARGUMENT,
                    wrong[i].word);
        CHECK(!tensor);
    }
    CHECK_OK(mare_tensor_export(buffer, &matrix, NULL, &tensor));
    mare_tensor odd = *tensor;
    odd.major = 2;
    refuse(device, &odd, "2.0");
    odd = *tensor;
    odd.flags = MARE_TENSOR_READ_ONLY;
    refuse(device, &odd, "read");
    odd = *tensor;
    odd.view.device_type = 7;
    refuse(device, &odd, "device 7");
    odd = *tensor;
    odd.view.bits = 7;
    refuse(device, &odd, "7 bits");
    odd = *tensor;
    odd.view.strides = (int64_t[]){ 3, -1 };
    refuse(device, &odd, "negative");
    odd = *tensor;
    odd.view.offset += 2;
    refuse(device, &odd, "begins 2 bytes behind");
    odd = *tensor;
    odd.view.shape = (int64_t[]){ 0, 3 };
    refuse(device, &odd, "no elements");
    tensor->deleter(tensor);
    mare_buffer_release(buffer);
    CHECK_FAILS(mare_tensor_export(NULL, NULL, NULL, NULL), MARE_ERROR_ARGUMENT, "required");
    CHECK_FAILS(mare_tensor_export_host(NULL, NULL, NULL), MARE_ERROR_ARGUMENT, "required");
    CHECK_FAILS(mare_tensor_import(NULL, NULL, NULL, NULL), MARE_ERROR_ARGUMENT, "required");
    CHECK_FAILS(mare_tensor_to_old(NULL, NULL), MARE_ERROR_ARGUMENT, "required");
    CHECK_FAILS(mare_tensor_from_old(NULL, NULL), MARE_ERROR_ARGUMENT, "required");
}

/* There and back many times: what is allocated is freed, and what that costs. */
static void exchanges_often(mare_device *device, const mare_device_info *info) {
    enum { TIMES = 1000000 };
    mare_buffer *buffer = NULL, *back = NULL;
    mare_tensor *tensor = NULL;
    struct timespec begin, end;
    uint64_t in_use = 0, idle = 0, after = 0;
    CHECK_OK(mare_buffer_create(device, &six_floats, &buffer));
    CHECK_OK(mare_device_pool(device, &in_use, &idle));
    const uint64_t objects = mare_live_objects();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (int i = 0; i < TIMES; i++) {
        if (mare_tensor_export(buffer, &matrix, NULL, &tensor) != MARE_OK) break;
        if (mare_tensor_import(device, tensor, NULL, &back) != MARE_OK) break;
        mare_buffer_release(back);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    CHECK_NUMBER(mare_live_objects(), objects);
    CHECK_OK(mare_device_pool(device, &after, &idle));
    CHECK_NUMBER(after, in_use);
    const double seconds = (double)(end.tv_sec - begin.tv_sec) +
                           1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("%s: out and in again %.2f us\n", info->name, 1e6 * seconds / TIMES);
    mare_buffer_release(buffer);
}

static void shares(mare_device *device, const mare_device_info *info) {
    goes_and_comes(device);
    is_ordered(device);
    does_not_race(device, info);
    in_pinned_memory(device);
    of_old_form(device);
    refuses(device);
    exchanges_often(device, info);
}

int part_tensors(void) {
    CHECK_TEXT(mare_type_code(MARE_TYPE_FLOAT), "<f4");
    CHECK_TEXT(mare_type_code(MARE_TYPE_COMPLEX_DOUBLE), "<c16");
    CHECK_TEXT(mare_type_code((mare_type)99), "");
    return run_on_devices(shares);
}
