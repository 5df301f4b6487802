/* test_cuda.c - the CUDA back end over fake libraries: what it does, and how it fails.
 *
 * One session goes through everything the seam has. It is run with each call of each entry of
 * libcuda and libnvrtc failing: then the message must name that entry, and nothing may be left.
 */
#include "fake.h"
#include "../../core/backends/cuda_api.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

static const char source[] =
    "extern \"C\" __global__ void axpy(int n, float a, const float *x, float *y) { }\n"
    "extern \"C\" __global__ void widths(char c, short s, int i, long long l, float f, double d,\n"
    "                                  double *out) { }\n"
    "/* fake:warn */\n";

/* ---- failures ---- */

/* True when `message` names `entry`, such as cuMemAlloc_v2, without its version. */
static bool is_named(const char *message, const char *entry, size_t size) {
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)size, entry);
    char *version = strstr(name, "_v2");
    if (version) *version = '\0';
    return strstr(message, name) != NULL;
}

/* The outcome of a case that may have been told to fail. */
static int judge(mare_status status) {
    const char *wish = getenv("MARE_FAKE_FAIL");
    FAKE_EXPECT(mare_live_objects() == 0, "%d alive", (int)mare_live_objects());
    if (status == MARE_OK) return wish ? FAKE_NOT_REACHED : 0;
    const char *message = mare_error_message();
    FAKE_EXPECT(wish, "%s", message);
    FAKE_EXPECT(is_named(message, wish, strcspn(wish, ":")), "%s: %s", wish, message);
    return 0;
}

/* ---- the session ---- */

enum { N = 1000, WIDE = 5000 };     /* the fake's strided copies end at a pitch of 4096 */

struct session {
    mare_device *device;
    mare_buffer *x, *y, *view, *wide;
    mare_host *host, *managed;
    mare_buffer *mapped;
    mare_stream *stream;
    mare_device *adopted;
    mare_stream *adopted_stream;
    mare_buffer *adopted_buffer;
    mare_device *peer;
    mare_buffer *far, *opened;
    mare_event *start, *stop;
    mare_program *program;
    mare_kernel *kernel, *widths;
    mare_launch *launch;
    mare_call *call;
    mare_plan *plan;
};

#define STEP(call)                                                                                 \
    do {                                                                                           \
        mare_status status_ = (call);                                                              \
        if (status_ != MARE_OK) return status_;                                                    \
    } while (0)
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (condition) break;                                                                      \
        fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                            \
        _exit(1);                                                                                  \
    } while (0)

static mare_status create_all(struct session *s) {
    const mare_buffer_desc floats = { .size = N * sizeof(float), .type = MARE_TYPE_FLOAT,
                                      .label = "x" };
    const mare_buffer_desc bytes = { .size = 4 * WIDE, .label = "wide" };
    const mare_stream_desc urgent = { .priority = 1, .label = "urgent" };
    STEP(mare_device_open("cuda:0", &s->device));
    STEP(mare_buffer_create(s->device, &floats, &s->x));
    STEP(mare_buffer_create(s->device, &floats, &s->y));
    STEP(mare_buffer_create(s->device, &bytes, &s->wide));
    STEP(mare_buffer_view(s->y, 400, 400, &s->view));
    STEP(mare_host_create(s->device, N * sizeof(float), "host", &s->host));
    STEP(mare_host_create_managed(s->device, N * sizeof(float), "managed", &s->managed));
    STEP(mare_host_buffer(s->managed, MARE_TYPE_FLOAT, &s->mapped));
    STEP(mare_stream_create(s->device, &urgent, &s->stream));
    STEP(mare_event_create(s->device, &s->start));
    return mare_event_create(s->device, &s->stop);
}

/* The same context, stream and memory, as a host would hand them over. */
static mare_status share(struct session *s) {
    const mare_buffer_desc floats = { .size = N * sizeof(float), .type = MARE_TYPE_FLOAT };
    const float value = 4;
    float data[N];
    void *context, *queue;
    uint64_t memory, offset;
    mare_device *none;
    STEP(mare_device_native(s->device, &context));
    STEP(mare_stream_native(s->stream, &queue));
    STEP(mare_buffer_native(s->x, &memory, &offset));
    STEP(mare_device_adopt("cuda:0", context, &s->adopted));
    STEP(mare_stream_adopt(s->adopted, queue, NULL, &s->adopted_stream));
    STEP(mare_buffer_adopt(s->adopted, memory, &floats, &s->adopted_buffer));
    STEP(mare_buffer_fill(s->adopted_buffer, 0, sizeof data, &value, 4, s->adopted_stream));
    STEP(mare_stream_wait(s->adopted_stream));
    STEP(mare_buffer_download(s->x, 0, data, sizeof data, NULL));
    MUST(data[N - 1] == value);
    MUST(mare_device_adopt("cuda:0", data, &none) != MARE_OK && !none);
    return MARE_OK;
}

static void release_all(struct session *s) {
    mare_buffer_release(s->opened);
    mare_buffer_release(s->far);
    mare_device_release(s->peer);
    mare_buffer_release(s->adopted_buffer);
    mare_buffer_release(s->mapped);
    mare_host_release(s->managed);
    mare_stream_release(s->adopted_stream);
    mare_device_release(s->adopted);
    mare_plan_release(s->plan);
    mare_call_release(s->call);
    mare_launch_release(s->launch);
    mare_kernel_release(s->widths);
    mare_kernel_release(s->kernel);
    mare_program_release(s->program);
    mare_event_release(s->stop);
    mare_event_release(s->start);
    mare_stream_release(s->stream);
    mare_host_release(s->host);
    mare_buffer_release(s->view);
    mare_buffer_release(s->wide);
    mare_buffer_release(s->y);
    mare_buffer_release(s->x);
    mare_device_release(s->device);
}

static mare_status describe(struct session *s) {
    mare_device_info info;
    uint64_t free_bytes = 0, total = 0;
    STEP(mare_device_wait(s->device));
    STEP(mare_device_query(s->device, &info));
    STEP(mare_device_memory(s->device, &free_bytes, &total));
    MUST(!strcmp(info.arch, "sm_90") && !strcmp(info.model, "Fake GPU") && info.warp_size == 32);
    MUST(!info.uuid[0] || !strcmp(info.uuid, "00112233-4455-6677-8899-aabbccddeeff"));
    MUST(info.compute_units == 132 && info.max_group[2] == 64 && info.local_memory == 49152);
    MUST(info.max_local_memory == 232448 && info.has_scopes && info.has_programmatic);
    MUST(free_bytes == 1ull << 41 && total == 1ull << 42 && info.memory == total);
    return MARE_OK;
}

/* Queued and unqueued transfers of lines. */
static mare_status move_lines(struct session *s) {
    float in[N], out[N];
    float *pinned = mare_host_data(s->host);
    for (int i = 0; i < N; i++) in[i] = (float)i;
    STEP(mare_buffer_upload(s->x, 0, in, sizeof in, NULL));
    memset(in, 0, sizeof in);
    STEP(mare_buffer_copy(s->y, 0, s->x, 0, sizeof in, s->stream));
    STEP(mare_buffer_download(s->y, 0, pinned, sizeof in, s->stream));
    STEP(mare_stream_flush(s->stream));
    STEP(mare_stream_wait(s->stream));
    STEP(mare_buffer_download(s->view, 4, out, 8, NULL));
    STEP(mare_buffer_copy(s->mapped, 0, s->y, 0, sizeof in, NULL));
    STEP(mare_device_wait(s->device));
    MUST(((float *)mare_host_data(s->managed))[N - 1] == N - 1);
    MUST(pinned[N - 1] == N - 1 && out[0] == 101 && out[1] == 102);
    return MARE_OK;
}

/* Boxes: one that needs the strided copy in three dimensions, single rows of slices, rows too far
 * apart for it, and one that is a line after all. */
static mare_status move_boxes(struct session *s) {
    static unsigned char in[4 * WIDE], out[4 * WIDE], row[24];  /* outlive a copy still queued */
    const mare_region box = { .width = 3, .height = 2, .depth = 2,
                              .dst_offset = 17, .dst_pitch = 10, .dst_slice = 50,
                              .src_offset = 5, .src_pitch = 7, .src_slice = 21 };
    const mare_region rows = { .width = 3, .depth = 4, .dst_pitch = 3, .dst_slice = 6,
                               .src_offset = 1, .src_pitch = 10, .src_slice = 40 };
    const mare_region far = { .width = 2, .height = 3, .dst_pitch = 2, .src_pitch = WIDE };
    const mare_region back = { .width = 2, .height = 3, .dst_pitch = WIDE };
    const mare_region line = { .width = 10, .height = 4, .depth = 3 };
    for (int i = 0; i < 4 * WIDE; i++) in[i] = (unsigned char)(i * 7 % 251);
    STEP(mare_buffer_upload(s->wide, 0, in, sizeof in, NULL));
    STEP(mare_buffer_upload_region(s->wide, in, &box, NULL));
    STEP(mare_buffer_download(s->wide, 0, out, 200, NULL));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 2; y++)
            MUST(!memcmp(out + 17 + z * 50 + y * 10, in + 5 + z * 21 + y * 7, 3));
    MUST(out[20] == in[20] && out[37] == in[37] && out[16] == in[16]);
    STEP(mare_buffer_download_region(s->wide, row, &rows, NULL));
    for (int z = 1; z < 4; z++) MUST(row[z * 6 + 1] == out[z * 40 + 2]);
    STEP(mare_buffer_download_region(s->wide, row, &far, NULL));
    MUST(row[2] == in[WIDE] && row[5] == in[2 * WIDE + 1]);
    STEP(mare_buffer_upload_region(s->wide, row + 1, &back, NULL));
    STEP(mare_buffer_download(s->wide, 2 * WIDE, out + 200, 3, NULL));
    MUST(!memcmp(out + 200, row + 5, 2) && out[202] == in[2 * WIDE + 2]);
    memcpy(out, row + 1, 2);
    STEP(mare_buffer_copy_region(s->x, s->wide, &line, NULL));
    STEP(mare_buffer_download(s->x, 0, row, 12, NULL));
    MUST(!memcmp(row, out, 12));
    return MARE_OK;
}

static mare_status fill(struct session *s, const void *pattern, uint32_t size, uint64_t offset) {
    unsigned char out[144];
    STEP(mare_buffer_fill(s->wide, offset, 112, pattern, size, NULL));
    STEP(mare_buffer_download(s->wide, 0, out, sizeof out, NULL));
    for (uint32_t i = 0; i < 112; i++)
        MUST(out[offset + i] == ((const unsigned char *)pattern)[i % size]);
    return MARE_OK;
}

static mare_status fill_all(struct session *s) {
    const unsigned char pattern[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2 };
    const double zero = 0, one = 1;
    STEP(fill(s, pattern, 1, 3));
    STEP(fill(s, pattern, 2, 2));
    STEP(fill(s, pattern, 4, 8));
    STEP(fill(s, pattern, 8, 8));
    STEP(fill(s, pattern, 16, 16));
    STEP(fill(s, &zero, 8, 0));
    return fill(s, &one, 8, 16);
}

/* Small buffers are parts of one allocation, next to each other, and are used again. */
static mare_status make_small(struct session *s) {
    const mare_buffer_desc desc = { .size = 3000 };
    mare_buffer *list[3] = { NULL };
    uint64_t at[4] = { 0 }, offset = 0, in_use = 0, idle = 0, more = 0;
    mare_status status = MARE_OK;
    for (int i = 0; status == MARE_OK && i < 3; i++) {
        status = mare_buffer_create(s->device, &desc, &list[i]);
        if (status == MARE_OK) status = mare_buffer_native(list[i], &at[i], &offset);
    }
    if (status == MARE_OK) status = mare_device_pool(s->device, &in_use, &idle);
    for (int i = 0; i < 3; i++) mare_buffer_release(list[i]);
    STEP(status);
    MUST(at[2] - at[1] == 3072 && at[0] - at[1] == 63 * 3072 && idle >= 61 * 3072);
    STEP(mare_device_pool(s->device, &in_use, &more));
    MUST(more == idle + 3 * 3072);
    return MARE_OK;
}

/* Memory outlives the work that is queued on it. */
static mare_status release_busy(struct session *s) {
    const mare_buffer_desc desc = { .size = 64 };
    mare_buffer *buffer = NULL;
    mare_host *host = NULL;
    STEP(mare_buffer_create(s->device, &desc, &buffer));
    mare_status status = mare_buffer_fill(buffer, 0, 64, "a", 1, NULL);
    mare_buffer_release(buffer);
    if (status == MARE_OK) status = mare_host_create(s->device, 64, "host", &host);
    if (status == MARE_OK)
        status = mare_buffer_download(s->wide, 0, mare_host_data(host), 64, s->stream);
    mare_host_release(host);
    return status;
}

static mare_status time_events(struct session *s) {
    int32_t done = 1;
    double ms = 0;
    float value = 1;
    STEP(mare_event_record(s->start, NULL));
    STEP(mare_buffer_fill(s->x, 0, N * sizeof(float), &value, 4, NULL));
    STEP(mare_event_record(s->stop, NULL));
    STEP(mare_stream_wait_event(s->stream, s->stop));
    STEP(mare_event_query(s->stop, &done));
    MUST(!done);
    STEP(mare_event_query(s->stop, &done));
    MUST(done);
    STEP(mare_event_wait(s->stop));
    STEP(mare_event_elapsed_ms(s->start, s->stop, &ms));
    MUST(ms > 1.5 && ms < 2.5);
    return MARE_OK;
}

/* Groups that wait for one another; more than there is room for do not run. */
static mare_status run_together(struct session *s) {
    const uint32_t few[3] = { 100, 1, 1 }, many[3] = { 65, 1, 1 }, one[3] = { 1, 1, 1 };
    float out[100];
    STEP(mare_launch_set_together(s->launch, 1));
    STEP(mare_launch_run(s->launch, s->stream));
    STEP(mare_device_wait(s->device));
    STEP(mare_buffer_download(s->view, 0, out, sizeof out, NULL));
    MUST(out[0] == 100 && out[99] == 199 + 2 * 990);
    STEP(mare_launch_set_shape(s->launch, many, one));
    MUST(mare_launch_run(s->launch, s->stream) == MARE_ERROR_DEVICE);
    STEP(mare_launch_set_together(s->launch, 0));
    return mare_launch_set_shape(s->launch, few, NULL);
}

/* Of groups of the library's choice there are as many along y as the driver takes. */
static mare_status check_groups(struct session *s) {
    const uint32_t high[3] = { 4, 1u << 20, 1 }, one[3] = { 1, 1, 1 }, few[3] = { 100, 1, 1 };
    STEP(mare_launch_set_shape(s->launch, high, NULL));
    MUST(mare_launch_set_shape(s->launch, high, one) == MARE_ERROR_ARGUMENT);
    MUST(strstr(mare_error_message(), "1048576 groups along y (allowed on cuda:0: 1 to 65535)"));
    return mare_launch_set_shape(s->launch, few, NULL);
}

static mare_status run_axpy(struct session *s) {
    float in[N], out[100];
    for (int i = 0; i < N; i++) in[i] = (float)i;
    STEP(mare_buffer_upload(s->x, 0, in, sizeof in, NULL));
    STEP(mare_buffer_upload(s->y, 0, in, sizeof in, NULL));
    STEP(mare_launch_create(s->kernel, &s->launch));
    STEP(mare_launch_set_int(s->launch, 0, 100));
    STEP(mare_launch_set_real(s->launch, 1, 10));
    STEP(mare_launch_set_buffer(s->launch, 2, s->x));
    STEP(mare_launch_set_buffer(s->launch, 3, s->view));
    STEP(mare_launch_set_shape(s->launch, (uint32_t[3]){ 100, 1, 1 }, NULL));
    STEP(mare_launch_run(s->launch, s->stream));
    STEP(mare_device_wait(s->device));
    STEP(mare_buffer_download(s->view, 0, out, sizeof out, NULL));
    MUST(out[0] == 100 && out[99] == 199 + 990);
    STEP(run_together(s));
    STEP(check_groups(s));
    return mare_launch_run(s->launch, NULL);        /* left to run while all is released */
}

/* Every width of scalar arrives as it was given. */
static mare_status run_widths(struct session *s, mare_launch *launch) {
    double out[6];
    STEP(mare_launch_set_int(launch, 0, 'c'));
    STEP(mare_launch_set_int(launch, 1, -300));
    STEP(mare_launch_set_int(launch, 2, -70000));
    STEP(mare_launch_set_int(launch, 3, 1ll << 40));
    STEP(mare_launch_set_real(launch, 4, 0.5));
    STEP(mare_launch_set_real(launch, 5, 0.1));
    STEP(mare_launch_set_buffer(launch, 6, s->wide));
    STEP(mare_launch_set_shape(launch, (uint32_t[3]){ 1, 1, 1 }, (uint32_t[3]){ 1, 1, 1 }));
    STEP(mare_launch_run(launch, NULL));
    STEP(mare_buffer_download(s->wide, 0, out, sizeof out, NULL));
    MUST(out[0] == 'c' && out[1] == -300 && out[2] == -70000 && out[3] == 1099511627776.0);
    MUST(out[4] == 0.5 && out[5] == 0.1);
    return MARE_OK;
}

/* Another library's fill of the first words of the buffer y, by the driver itself. */
static mare_status fill_natively(void *data, void *queue) {
    const struct session *s = data;
    uint64_t memory = 0, offset = 0;
    STEP(mare_buffer_native(s->y, &memory, &offset));
    unsigned code = mr_cu.cuMemsetD32Async(memory, 7, 10, queue);
    return code ? mare_error_set(MARE_ERROR_DEVICE, "cuMemsetD32Async") : MARE_OK;
}

static mare_status run_call(struct session *s) {
    const mare_call_desc desc = { .label = "library", .function = fill_natively, .data = s,
                                  .buffers = &s->y, .buffer_count = 1 };
    int out[11];
    STEP(mare_call_create(s->device, &desc, &s->call));
    STEP(mare_buffer_fill(s->y, 0, sizeof out, "\0", 1, s->stream));
    STEP(mare_call_run(s->call, s->stream));
    STEP(mare_stream_wait(s->stream));
    STEP(mare_buffer_download(s->y, 0, out, sizeof out, NULL));
    MUST(out[0] == 7 && out[9] == 7 && out[10] == 0);
    return MARE_OK;
}

#include "test_cuda_more.h"

/* A plan with everything in it, replayed as recorded, with other arguments and in another shape. */
static mare_status record_plan(struct session *s, float *pinned) {
    STEP(mare_plan_begin(s->stream));
    STEP(mare_stream_wait_event(s->stream, s->start));
    STEP(mare_event_record(s->start, s->stream));
    STEP(mare_buffer_upload(s->x, 0, pinned, 400, s->stream));
    STEP(mare_buffer_fill(s->y, 0, 800, "\0", 1, s->stream));
    STEP(mare_launch_run(s->launch, s->stream));
    STEP(mare_call_run(s->call, s->stream));
    STEP(mare_launch_run(s->launch, s->stream));
    STEP(mare_buffer_copy(s->x, 0, s->view, 0, 400, s->stream));
    STEP(mare_buffer_download(s->x, 0, pinned + 100, 400, s->stream));
    STEP(mare_event_record(s->stop, s->stream));
    return mare_plan_end(s->stream, "everything", &s->plan);
}

static mare_status run_plan(struct session *s) {
    float *pinned = mare_host_data(s->host);
    double ms = 0;
    for (int i = 0; i < 200; i++) pinned[i] = (float)i;
    STEP(mare_event_record(s->start, NULL));
    STEP(record_plan(s, pinned));
    STEP(mare_plan_run(s->plan, 1, s->stream));
    STEP(mare_stream_wait(s->stream));
    MUST(pinned[100] == 0 && pinned[199] == 2 * 990);
    STEP(mare_event_elapsed_ms(s->start, s->stop, &ms));
    MUST(ms > 7.5 && ms < 8.5);
    STEP(mare_launch_set_real(s->launch, 1, 3));
    STEP(mare_launch_set_shape(s->launch, (uint32_t[3]){ 50, 2, 1 }, (uint32_t[3]){ 5, 2, 1 }));
    STEP(mare_plan_run(s->plan, 2, NULL));
    STEP(mare_stream_wait(mare_device_stream(s->device)));
    MUST(pinned[199] == 6 * 99);
    STEP(mare_launch_set_buffer(s->launch, 2, s->view));
    STEP(mare_launch_set_buffer(s->launch, 3, s->y));
    STEP(mare_plan_run(s->plan, 1, NULL));
    STEP(mare_stream_wait(mare_device_stream(s->device)));
    MUST(pinned[199] == 0);
    STEP(mare_launch_set_buffer(s->launch, 2, s->x));
    return mare_plan_run(s->plan, 1, NULL);         /* left to run while all is released */
}

static mare_status run_kernels(struct session *s) {
    const mare_program_desc desc = { .source = source, .name = "k.cu",
                                     .language = MARE_LANGUAGE_CUDA };
    mare_kernel_info info;
    mare_launch *launch = NULL;
    STEP(mare_program_create(s->device, &desc, &s->program));
    MUST(strstr(mare_program_log(s->program), "warning: so you said"));
    STEP(mare_kernel_create(s->program, "axpy", &s->kernel));
    STEP(mare_kernel_create(s->program, "widths", &s->widths));
    STEP(mare_kernel_query(s->kernel, &info));
    MUST(info.max_group_size == 512 && info.registers == 40 && info.private_memory == 8);
    MUST(info.local_memory == 256 && info.groups_per_unit == 4 && info.warp_size == 32);
    STEP(mare_launch_create(s->widths, &launch));
    mare_status status = run_widths(s, launch);
    mare_launch_release(launch);
    return status == MARE_OK ? run_axpy(s) : status;
}

static mare_status run_session(struct session *s) {
    STEP(create_all(s));
    STEP(describe(s));
    STEP(move_lines(s));
    STEP(move_boxes(s));
    STEP(fill_all(s));
    STEP(make_small(s));
    STEP(release_busy(s));
    STEP(time_events(s));
    STEP(run_kernels(s));
    STEP(run_call(s));
    STEP(use_code(s));
    STEP(profile_shape(s));
    STEP(use_local(s));
    STEP(use_block(s));
    STEP(run_plan(s));
    STEP(reach_peer(s));
    STEP(run_branches(s));
    return share(s);
}

static int session(void) {
    struct session s = { 0 };
    mare_status status = run_session(&s);
    release_all(&s);
    return judge(status);
}

/* Launches and plans that devices wait with are made ready first (lua/mare/array/clocks.lua): what
 * waits for memory only then might be told to wait for work that waits for it. */
static mare_status use_ready(struct session *s) {
    const mare_buffer_desc floats = { .size = N * sizeof(float), .type = MARE_TYPE_FLOAT };
    mare_buffer *used = NULL, *far = NULL;
    mare_plan *plan = NULL;
    STEP(mare_buffer_create(s->peer, &floats, &used));
    STEP(mare_buffer_fill(used, 0, 4, "\0", 1, mare_device_stream(s->peer)));
    mare_buffer_release(used);
    STEP(mare_buffer_create(s->peer, &floats, &far));
    STEP(mare_launch_set_buffer(s->launch, 2, far));
    setenv("MARE_FAKE_FAIL", "cuStreamWaitEvent:1+:2", 1);
    MUST(mare_launch_run(s->launch, s->stream) == MARE_ERROR_MEMORY);
    unsetenv("MARE_FAKE_FAIL");
    STEP(mare_plan_begin(s->stream));
    STEP(mare_launch_run(s->launch, s->stream));
    STEP(mare_plan_end(s->stream, "ready", &plan));
    STEP(mare_plan_run(plan, 0, s->stream));
    setenv("MARE_FAKE_FAIL", "cuStreamWaitEvent:1+:2", 1);
    MUST(mare_launch_run(s->launch, s->stream) == MARE_OK);
    MUST(mare_plan_run(plan, 2, s->stream) == MARE_OK);
    unsetenv("MARE_FAKE_FAIL");
    mare_plan_release(plan);
    mare_buffer_release(far);
    return MARE_OK;
}

static int ready(void) {
    struct session s = { 0 };
    mare_status status = run_session(&s);
    if (status == MARE_OK) status = use_ready(&s);
    release_all(&s);
    return judge(status);
}

/* Twice, on a thread where the context stays current. */
static int claimed(void) {
    mare_status status = MARE_OK;
    mare_thread_claim(0);
    mare_thread_claim(1);
    for (int i = 0; i < 2 && status == MARE_OK; i++) {
        struct session s = { 0 };
        status = run_session(&s);
        release_all(&s);
    }
    mare_thread_claim(0);
    return judge(status);
}

/* The second device has the context of the first. */
static int kept(void) { return claimed() != FAKE_NOT_REACHED; }

/* ---- other cases ---- */

/* Status and message of trying to use what MARE_FAKE_FAIL has made fail. */
static int expect_failure(mare_status status, mare_status expected, const char *words) {
    const char *message = mare_error_message();
    FAKE_EXPECT(status == expected, "%s: %s", mare_status_name(status), message);
    FAKE_EXPECT(strstr(message, words), "%s", message);
    return 0;
}

static int lost(void) {
    struct session s = { 0 };
    mare_status status = run_session(&s);
    int result = expect_failure(status, MARE_ERROR_LOST,
                                "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    release_all(&s);
    mare_device *again = NULL;
    const char *wish = getenv("MARE_FAKE_FAIL");
    status = mare_device_open("cuda:0", &again);
    if (strchr(wish, '+'))
        return result || expect_failure(status, MARE_ERROR_LOST,
                                        "device 'cuda:0': it was lost before, and the driver gives "
                                        "this process no working context again (a new process gets "
                                        "one): cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS")
            || mare_live_objects();
    mare_device_release(again);
    s = (struct session){ 0 };
    if (status == MARE_OK) status = run_session(&s);
    release_all(&s);
    return result || expect_failure(status, MARE_OK, "");
}

static int out_of_memory(void) {
    mare_device *device = NULL;
    mare_buffer *buffer = NULL;
    const mare_buffer_desc huge = { .size = 1ull << 41, .label = "huge" };
    FAKE_EXPECT(mare_device_open("cuda", &device) == MARE_OK, "%s", mare_error_message());
    mare_status status = mare_buffer_create(device, &huge, &buffer);
    int result = expect_failure(status, MARE_ERROR_MEMORY,
                                "cuMemAlloc(2199023255552 bytes): CUDA_ERROR_OUT_OF_MEMORY (2): "
                                "out of memory");
    mare_device_release(device);
    return result || strstr(mare_error_message(), "huge") == NULL || buffer;
}

/* The outcome of building `text` and asking for its kernel axpy. */
static int build(const mare_program_desc *desc, mare_status expected, const char *words) {
    mare_device *device = NULL;
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    FAKE_EXPECT(mare_device_open("cuda:0", &device) == MARE_OK, "%s", mare_error_message());
    mare_status status = mare_program_create(device, desc, &program);
    if (status == MARE_OK) status = mare_kernel_create(program, "axpy", &kernel);
    int result = expect_failure(status, expected, words);
    mare_kernel_release(kernel);
    mare_program_release(program);
    mare_device_release(device);
    return result || mare_live_objects();
}

#define KERNEL "__global__ void axpy(int n, float a, const float *x, float *y) { }\n"
#define COMMON "// expect(--std=c++17) expect(--gpu-architecture=sm_90)\n"

static int builds(void) {
    const mare_define defines[] = { { "A", NULL }, { "B", "2 + 2" } };
    const mare_program_desc cases[] = {
        { .source = COMMON "// expect(--fmad=false) expect(--ftz=false) expect(--prec-div=true)\n"
                           "// expect(--prec-sqrt=true)\n" KERNEL },
        { .math = MARE_MATH_FAST, .options = " -x  -y=1\t",
          .source = COMMON "// expect(--fmad=false) expect(--ftz=true) expect(--prec-div=false)\n"
                           "// expect(--prec-sqrt=false) expect(-x) expect(-y=1)\n" KERNEL },
        { .math = MARE_MATH_RELAXED, .source = COMMON "// expect(--use_fast_math)\n" KERNEL,
          .defines = defines, .define_count = 2 },
    };
    for (int i = 0; i < 3; i++) {
        mare_program_desc desc = cases[i];
        desc.language = MARE_LANGUAGE_CUDA;
        if (build(&desc, MARE_OK, "")) return 1;
    }
    mare_program_desc dialect = { .source = "// expect(--minimal)\nMR_KERNEL void axpy("
                                            "int n, float a, MR_GLOBAL const float *x, "
                                            "MR_GLOBAL float *y) { }" };
    if (build(&dialect, MARE_OK, "")) return 1;
    const mare_define brief = { "MR_BRIEF", "1" };
    dialect.source = "// expect(--Ofast-compile=min)\nMR_KERNEL void axpy(int n, float a, "
                     "MR_GLOBAL const float *x, MR_GLOBAL float *y) { }";
    if (build(&dialect, MARE_ERROR_BUILD, "not given: --Ofast-compile=min")) return 1;
    dialect.defines = &brief;
    dialect.define_count = 1;
    if (build(&dialect, MARE_OK, "")) return 1;
    mare_program_desc whole = { .source = "// expect(--minimal)\n" KERNEL, .language = 1 };
    if (build(&whole, MARE_ERROR_BUILD, "not given: --minimal")) return 1;
    mare_program_desc hides = { .source = "__global__ void axpy(int n) { }", .language = 1 };
    if (build(&hides, MARE_ERROR_ARGUMENT, "shows 1 parameters and the compiler found 4")) return 1;
    mare_program_desc bad = { .source = "#error\n" KERNEL, .name = "bad.cu", .language = 1 };
    if (build(&bad, MARE_ERROR_BUILD, "bad.cu(1): error: so you said")) return 1;
    bad.source = KERNEL "// mangled\n";
    if (build(&bad, MARE_ERROR_BUILD, "extern \"C\"")) return 1;
    bad.source = KERNEL "// virtual target\n";
    if (build(&bad, MARE_ERROR_BUILD, "no binary")) return 1;
    bad.source = KERNEL;
    bad.options = "bogus";
    return build(&bad, MARE_ERROR_BUILD, "unrecognized option bogus");
}

/* What the back end says of itself. */
static int describe_backend(int available, const char *reason, const char *version) {
    mare_backend_info info;
    FAKE_EXPECT(mare_backend_query(0, &info) == MARE_OK, "%s", mare_error_message());
    FAKE_EXPECT(!strcmp(info.name, "cuda"), "%s", info.name);
    FAKE_EXPECT(info.available == available, "%s", info.reason);
    FAKE_EXPECT(info.device_count == 2 * available, "%d", info.device_count);
    FAKE_EXPECT(strstr(info.reason, reason), "%s", info.reason);
    FAKE_EXPECT(strstr(info.version, version), "%s", info.version);
    if (available) return 0;
    mare_device *device = NULL;
    FAKE_EXPECT(mare_device_open("cuda:0", &device) == MARE_ERROR_UNAVAILABLE, "opened");
    FAKE_EXPECT(strstr(mare_error_message(), reason), "%s", mare_error_message());
    return device != NULL;
}

static int whole(void) {
    return describe_backend(1, "", "CUDA 13.0") || describe_backend(1, "", "NVRTC 13.0");
}
static int no_library(void) { return describe_backend(0, "libcuda.so.1", ""); }
static int no_device(void) { return describe_backend(0, "cuInit: CUDA_ERROR_NO_DEVICE (100)", ""); }
static int empty(void) { return describe_backend(0, "reports no device", ""); }
static int no_symbol(void) { return describe_backend(0, "lacks cuEventElapsedTime", ""); }

static int no_compiler(void) {
    const mare_program_desc desc = { .source = KERNEL, .language = MARE_LANGUAGE_CUDA };
    return describe_backend(1, "", "no NVRTC")
        || build(&desc, MARE_ERROR_UNAVAILABLE, "lacks nvrtcVersion");
}

static bool maps_compiler(void) {
    char line[4096];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !found && fgets(line, sizeof line, maps)) found = strstr(line, "libnvrtc");
    if (maps) fclose(maps);
    return found;
}

/* The compiler's version is known without loading it, until its file changes. */
static int compiler_unread(void) {
    const bool read = getenv("READ") != NULL;
    if (whole()) return 1;
    FAKE_EXPECT(maps_compiler() == read, "libnvrtc is %sloaded", read ? "not " : "");
    const mare_program_desc desc = { .source = KERNEL, .language = MARE_LANGUAGE_CUDA };
    if (build(&desc, MARE_OK, "")) return 1;
    FAKE_EXPECT(maps_compiler() == read, "libnvrtc is %sloaded", read ? "not " : "");
    return 0;
}

static bool is_cached(mare_device *device, const mare_program_desc *desc) {
    mare_program *program = NULL;
    bool cached = mare_program_create(device, desc, &program) == MARE_OK &&
                  mare_program_cached(program) != 0;
    mare_program_release(program);
    return cached;
}

/* A header put into the toolkit makes programs of CUDA C++ new, and no others. */
static int headers(void) {
    char home[] = "/tmp/mare-toolkit-XXXXXX", path[64], command[64];
    const mare_program_desc plain = { .source = "#include <a.h>\n" KERNEL, .language = 1 };
    const mare_program_desc mare = { .source = "MR_KERNEL void axpy(int n) { }\n" };
    mare_device *device = NULL;
    FAKE_EXPECT(mkdtemp(home), "%s", home);
    snprintf(path, sizeof path, "%s/include", home);
    FAKE_EXPECT(mkdir(path, 0700) == 0, "%s", path);
    setenv("CUDA_HOME", home, 1);
    setenv("MARE_CACHE", home, 1);
    FAKE_EXPECT(mare_device_open("cuda:0", &device) == MARE_OK, "%s", mare_error_message());
    bool before = is_cached(device, &plain) || is_cached(device, &mare);
    FAKE_EXPECT(!before && is_cached(device, &plain) && is_cached(device, &mare), "not kept");
    snprintf(path, sizeof path, "%s/include/a.h", home);
    FAKE_EXPECT(mkdir(path, 0700) == 0, "%s", path);
    FAKE_EXPECT(!is_cached(device, &plain) && is_cached(device, &mare), "stale");
    mare_device_release(device);
    snprintf(command, sizeof command, "rm -r %s", home);
    return system(command) || mare_live_objects();
}

static const fake_case cases[] = {
    { "session", session }, { "ready", ready }, { "claimed", claimed }, { "kept", kept },
    { "lost", lost }, { "out_of_memory", out_of_memory },
    { "builds", builds }, { "headers", headers }, { "whole", whole }, { "no_library", no_library },
    { "no_device", no_device }, { "empty", empty }, { "no_symbol", no_symbol },
    { "no_compiler", no_compiler }, { "compiler_unread", compiler_unread },
};

/* ---- the parent ---- */

static int failures;

static void run(const char *name, const char *folder, const char *setting) {
    const char *settings[] = { "CUDA_HOME=", "CUDA_PATH=", setting, NULL };
    int status = fake_start(name, folder, settings);
    if (status) fprintf(stderr, "case %s (%s): status %d\n", name, setting ? setting : "", status);
    failures += status != 0;
}

static bool is_among(const char *entry, const char *const *list) {
    for (; *list; list++)
        if (!strcmp(*list, entry)) return true;
    return false;
}

/* Failures that are no failure of the call which Mare makes: releases report nothing, and names of
 * errors are asked for only after one. */
static const char *const tolerated[] = {
    "cuGetErrorName", "cuGetErrorString", "nvrtcGetErrorString", "cuDeviceGetUuid_v2",
    "cuDevicePrimaryCtxRelease_v2", "cuCtxPopCurrent_v2", "cuMemFree_v2", "cuMemFreeHost",
    "cuIpcCloseMemHandle",
    "cuStreamDestroy_v2", "cuEventDestroy_v2", "cuModuleUnload", "cuGraphExecDestroy",
    "cuGraphDestroy", "nvrtcDestroyProgram", NULL
};
/* Without a context nothing can be released natively. */
static const char *const contexts[] = { "cuCtxGetCurrent", "cuCtxPushCurrent_v2",
                                        "cuCtxSetCurrent", NULL };

/* Fails the first, second... call of an entry until two in a row made no difference: then there are
 * no more. A single one is the clock rate, which may be unknown. */
static void fail_each_call(const char *entry) {
    if (!strcmp(entry, "cuFuncGetParamInfo")) return; /* whose failure is an answer */
    bool silent = is_among(entry, tolerated), leaks = is_among(entry, contexts);
    const char *sanitizer =
        leaks ? "ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0" : NULL;
    const char *story = strcmp(entry, "cuCtxSetCurrent") ? "session" : "claimed";
    for (int call = 1, misses = 0; misses < 2 && call <= fake_most_calls(); call++) {
        char setting[128];
        snprintf(setting, sizeof setting, "MARE_FAKE_FAIL=%s:%d:1", entry, call);
        const char *settings[] = { "CUDA_HOME=", "CUDA_PATH=", setting, sanitizer, NULL };
        int status = fake_start(story, "fake_cuda", settings);
        misses = status == FAKE_NOT_REACHED ? misses + 1 : 0;
        if (misses && (silent || call > 1)) continue;
        if ((status == 0 && !silent) || (status == FAKE_LEAK && leaks)) continue;
        fprintf(stderr, "%s: status %d\n", setting, status);
        failures++;
        return;
    }
}

/* One process after the other over one cache, and the file touched in between. */
static void remember_the_compiler(void) {
    char folder[] = "/tmp/mare-nvrtc-XXXXXX", cache[64], file[8192];
    if (!mkdtemp(folder)) failures++;
    snprintf(cache, sizeof cache, "MARE_CACHE=%s", folder);
    snprintf(file, sizeof file, "%s/fake_cuda/libnvrtc.so", fake_folder());
    for (int process = 0; process < 4; process++) {
        const char *read = process % 2 == 0 ? "READ=1" : NULL;
        const char *settings[] = { "CUDA_HOME=", "CUDA_PATH=", cache, read, NULL };
        if (process == 2 && utimensat(AT_FDCWD, file, NULL, 0) != 0) failures++;
        int status = fake_start("compiler_unread", "fake_cuda", settings);
        if (status) fprintf(stderr, "compiler_unread, process %d: status %d\n", process, status);
        failures += status != 0;
    }
    setenv("MARE_CACHE", folder, 1);
    if (mare_cache_clear(NULL) != MARE_OK) failures++;
    snprintf(file, sizeof file, "%s/.lock", folder);
    (void)unlink(file);
    if (rmdir(folder) != 0) failures++;
}

int main(int count, char **arguments) {
    int status = fake_dispatch(count, arguments, cases, sizeof cases / sizeof *cases);
    if (status >= 0) return status;
    run("whole", "fake_cuda", NULL);
    run("session", "fake_cuda", NULL);
    run("session", "fake_cuda", "FAKE_CUDA_CONTEXT=foreign");
    run("session", "fake_cuda", "FAKE_CUDA_CONTEXT=same");
    run("ready", "fake_cuda", NULL);
    run("claimed", "fake_cuda", NULL);
    run("kept", "fake_cuda", "MARE_FAKE_FAIL=cuDevicePrimaryCtxRetain:3:100");
    run("session", "fake_cuda_without_optional", NULL);
    run("no_library", "fake_cuda_broken", NULL);
    run("no_symbol", "fake_cuda_without_required", NULL);
    run("no_compiler", "fake_cuda_without_nvrtc", NULL);
    run("no_device", "fake_cuda", "MARE_FAKE_FAIL=cuInit:1:100");
    run("empty", "fake_cuda", "FAKE_CUDA_EMPTY=1");
    run("lost", "fake_cuda", "MARE_FAKE_FAIL=cuStreamSynchronize:3:700");
    run("lost", "fake_cuda", "MARE_FAKE_FAIL=cuStreamSynchronize:3+:700");
    run("out_of_memory", "fake_cuda", NULL);
    run("builds", "fake_cuda", NULL);
    run("headers", "fake_cuda", NULL);
    remember_the_compiler();
#define MR_CUDA_CALL(required, symbol, call) fail_each_call(#symbol);
#include "../../core/backends/cuda_syms.def"
#define MR_NVRTC_CALL(result, symbol, call) fail_each_call(#symbol);
#include "../../core/backends/nvrtc_syms.def"
    return failures != 0;
}
