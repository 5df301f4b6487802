/* foreign.c - what the host has already: its context, queue and memory as Mare's, and the reverse.
 * On every device a second handle stands for the host; on OpenCL a context made here does, too. */
#include "devices.h"

#include "backends/opencl.h"

static const mare_buffer_desc four_floats = { .size = 16, .type = MARE_TYPE_FLOAT,
                                              .label = "mine" };

/* A handle on the host's context fills the host's memory on the host's queue. */
static void work_in(const char *name, void *context, void *queue, uint64_t memory) {
    mare_device *device = NULL;
    mare_stream *stream = NULL;
    mare_buffer *buffer = NULL, *large = NULL;
    void *native = NULL;
    uint64_t same = 0, offset = 1;
    float value = 2.5f, data[4] = { 0 };
    if (!CHECK_OK(mare_device_adopt(name, context, &device))) return;
    CHECK_OK(mare_device_native(device, &native));
    CHECK(native == context);
    CHECK_OK(mare_stream_adopt(device, queue, "host's", &stream));
    CHECK_OK(mare_stream_native(stream, &native));
    CHECK(native == queue);
    CHECK_OK(mare_buffer_adopt(device, memory, &four_floats, &buffer));
    CHECK_OK(mare_buffer_native(buffer, &same, &offset));
    CHECK(same == memory && offset == 0);
    CHECK_OK(mare_buffer_fill(buffer, 0, 16, &value, 4, stream));
    CHECK_OK(mare_buffer_download(buffer, 0, data, sizeof data, stream));
    CHECK_OK(mare_stream_wait(stream));
    CHECK_NUMBER(data[3], 2.5);
    if (!strncmp(name, "opencl", 6))
        CHECK_FAILS(mare_buffer_adopt(device, memory,
                    &(mare_buffer_desc){ .size = 1 << 20, .label = "large" }, &large),
                    MARE_ERROR_ARGUMENT, "large", "bytes");
    CHECK(!large);
    mare_buffer_release(buffer);
    mare_stream_release(stream);
    mare_device_release(device);
}

static void shares(mare_device *device, const mare_device_info *info) {
    void *context = NULL, *queue = NULL;
    uint64_t memory = 0, offset = 0;
    mare_buffer *buffer = NULL, *view = NULL;
    float data[4] = { 0 };
    if (!backend_of(info)->device_adopt) {
        CHECK_FAILS(mare_device_native(device, &context), MARE_ERROR_UNAVAILABLE, info->name);
        CHECK_FAILS(mare_device_adopt(info->name, data, &device), MARE_ERROR_UNAVAILABLE,
                    info->name);
        return;
    }
    CHECK_OK(mare_buffer_create(device, &four_floats, &buffer));
    CHECK_OK(mare_buffer_view(buffer, 8, 8, &view));
    CHECK_OK(mare_device_native(device, &context));
    CHECK_OK(mare_stream_native(mare_device_stream(device), &queue));
    CHECK_OK(mare_buffer_native(buffer, &memory, &offset));
    CHECK(context && queue && memory && offset == 0);
    CHECK_OK(mare_buffer_native(view, &memory, &offset));
    CHECK_NUMBER(offset, 8);
    work_in(info->name, context, queue, memory);
    CHECK_OK(mare_buffer_download(buffer, 0, data, sizeof data, NULL));
    CHECK_NUMBER(data[0], 2.5);
    if (!strncmp(info->name, "cuda", 4)) {
        mare_device *none = device;
        CHECK_FAILS(mare_device_adopt(info->name, data, &none), MARE_ERROR_ARGUMENT, "primary");
        CHECK(!none);
    }
    mare_buffer_release(view);
    mare_buffer_release(buffer);
}

/* A context, a queue and memory that Mare knows nothing of. */
static void shares_opencl(const char *name, int index) {
    struct mr_cl_device *id = mr_opencl_device_entry(index)->id;
    int32_t code = 0;
    struct mr_cl_context *context = mr_cl.clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    struct mr_cl_queue *queue = mr_cl.clCreateCommandQueue(context, id, 0, &code);
    struct mr_cl_queue *loose = mr_cl.clCreateCommandQueue(
        context, id, MR_CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    struct mr_cl_mem *mem = mr_cl.clCreateBuffer(context, 1, 64, NULL, &code);
    work_in(name, context, queue, (uintptr_t)mem);
    float data[4] = { 0 };
    mr_cl.clEnqueueReadBuffer(queue, mem, 1, 0, sizeof data, data, 0, NULL, NULL);
    CHECK_NUMBER(data[1], 2.5);
    mare_device *own = NULL;
    mare_stream *stream = NULL;
    mare_buffer *buffer = NULL;
    CHECK_OK(mare_device_open(name, &own));
    CHECK_FAILS(mare_stream_adopt(own, queue, "far", &stream), MARE_ERROR_ARGUMENT, "far",
                "another context");
    CHECK_FAILS(mare_buffer_adopt(own, (uintptr_t)mem, &four_floats, &buffer),
                MARE_ERROR_ARGUMENT, "mine", "another context");
    mare_device_release(own);
    CHECK_OK(mare_device_adopt(name, context, &own));
    if (loose)
        CHECK_FAILS(mare_stream_adopt(own, loose, NULL, &stream), MARE_ERROR_ARGUMENT, "order");
    mare_device_release(own);
    if (loose) mr_cl.clReleaseCommandQueue(loose);
    mr_cl.clReleaseMemObject(mem);
    mr_cl.clReleaseCommandQueue(queue);
    mr_cl.clReleaseContext(context);
    CHECK(!stream && !buffer);
    CHECK_NUMBER(mare_live_objects(), 0);
}

static void refuses(void) {
    CHECK_FAILS(mare_device_adopt("opencl", NULL, NULL), MARE_ERROR_ARGUMENT, "required");
    CHECK_FAILS(mare_stream_adopt(NULL, NULL, NULL, NULL), MARE_ERROR_ARGUMENT, "required");
    CHECK_FAILS(mare_buffer_adopt(NULL, 0, NULL, NULL), MARE_ERROR_ARGUMENT, "required");
    CHECK_FAILS(mare_buffer_native(NULL, NULL, NULL), MARE_ERROR_ARGUMENT, "required");
}

int part_foreign(void) {
    refuses();
    int status = run_on_devices(shares);
    for (int i = 0; i < mare_device_count("opencl"); i++) {
        char name[32];
        snprintf(name, sizeof name, "opencl:%d", i);
        shares_opencl(name, i);
    }
    return status ? status : check_result();
}
