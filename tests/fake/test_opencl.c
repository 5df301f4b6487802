/* test_opencl.c - the OpenCL back end over a fake library: that it works, what it says when a call
 * fails, and what it says when the library, a symbol or a platform is missing.
 */
#include "fake.h"

#include "../../core/internal.h"

#define OK(call) FAKE_EXPECT((call) == MARE_OK, "%s", mare_error_message())

static const char saxpy[] = "__kernel void saxpy(int n, float a, __global const float *x,\n"
                            "                    __global float *y)\n"
                            "{\n"
                            "}\n";
enum { N = 1024 }; /* floats of a buffer */

/* ---- a story that makes every call ---- */

typedef struct story {
    mare_device *device;
    mare_buffer *x, *y, *view;
    mare_host *host;
    mare_stream *stream, *urgent;
    mare_event *start, *stop;
    mare_program *program;
    mare_kernel *kernel;
    mare_launch *launch;
    mare_device *adopted; /* the same context, queue and memory as a host's */
    mare_stream *adopted_stream;
    mare_buffer *adopted_buffer;
    float out[N];
    double ms;
    mare_kernel_info info;
} story;

static mare_status open_story(story *s) {
    MR_TRY(mare_device_open("opencl:0", &s->device));
    /* x is large enough to be touched when it is made. */
    mare_buffer_desc desc = { .size = 1 << 17, .type = MARE_TYPE_FLOAT, .label = "x" };
    MR_TRY(mare_buffer_create(s->device, &desc, &s->x));
    desc.size = N * sizeof(float);
    desc.label = "y";
    MR_TRY(mare_buffer_create(s->device, &desc, &s->y));
    MR_TRY(mare_buffer_view(s->x, 512, 512, &s->view));
    MR_TRY(mare_host_create(s->device, N * sizeof(float), "host", &s->host));
    MR_TRY(mare_stream_create(s->device, NULL, &s->stream));
    MR_TRY(mare_stream_create(s->device, &(mare_stream_desc){ .priority = 1 }, &s->urgent));
    MR_TRY(mare_event_create(s->device, &s->start));
    return mare_event_create(s->device, &s->stop);
}

static mare_status move_data(story *s) {
    const float zero = 0;
    float *in = mare_host_data(s->host);
    for (int i = 0; i < N; i++)
        in[i] = (float)i;
    MR_TRY(mare_buffer_upload(s->x, 0, in, sizeof *in, s->stream));
    MR_TRY(mare_event_record(s->start, s->stream));
    MR_TRY(mare_buffer_upload(s->x, 0, in, N * sizeof *in, s->stream));
    MR_TRY(mare_event_record(s->start, s->stream));
    MR_TRY(mare_buffer_fill(s->y, 0, N * sizeof *in, &zero, sizeof zero, s->stream));
    const mare_region box = { .width = 16,
                              .height = 3,
                              .depth = 2,
                              .dst_offset = 2068,
                              .dst_pitch = 64,
                              .dst_slice = 256,
                              .src_offset = 20,
                              .src_pitch = 32 };
    MR_TRY(mare_buffer_upload_region(s->y, in, &box, s->stream));
    MR_TRY(mare_buffer_copy_region(s->y, s->x, &box, s->stream));
    MR_TRY(mare_buffer_copy(s->y, 0, s->x, 0, 64, s->stream));
    MR_TRY(mare_buffer_download_region(s->y, s->out, &box, s->stream));
    return mare_stream_wait(s->stream);
}

static mare_status load_spirv(story *s) {
    const mare_program_desc desc = { .source = saxpy, .name = "saxpy.spv",
                                     .language = MARE_LANGUAGE_OPENCL };
    char code[4096] = "\3\2\43\7";
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    snprintf(code + 4, sizeof code - 4, "%s", saxpy);
    MR_TRY(mare_program_load(s->device, &desc, code, strlen(code), &program));
    mare_status status = mare_kernel_create(program, "saxpy", &kernel);
    mare_kernel_release(kernel);
    mare_program_release(program);
    return status;
}

/* The code of the story's program as one of its own, whose registers are told. */
static mare_status load_binary(story *s) {
    const mare_program_desc desc = { .source = saxpy, .name = "saxpy.bin",
                                     .language = MARE_LANGUAGE_OPENCL };
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    const void *code = NULL;
    uint64_t size = 0;
    MR_TRY(mare_program_code(s->program, "binary", &code, &size));
    MR_TRY(mare_program_load(s->device, &desc, code, size, &program));
    mare_status status = mare_kernel_create(program, "saxpy", &kernel);
    if (status == MARE_OK) status = mare_kernel_query(kernel, &s->info);
    mare_kernel_release(kernel);
    mare_program_release(program);
    return status;
}

static mare_status bind(story *s, mare_buffer *x, mare_launch **launch) {
    MR_TRY(mare_launch_create(s->kernel, launch));
    MR_TRY(mare_launch_set_int(*launch, 0, 128));
    MR_TRY(mare_launch_set_real(*launch, 1, 2.0));
    MR_TRY(mare_launch_set_buffer(*launch, 2, x));
    MR_TRY(mare_launch_set_buffer(*launch, 3, s->y));
    return mare_launch_set_shape(*launch, (uint32_t[3]){ 128, 1, 1 }, (uint32_t[3]){ 64, 1, 1 });
}

static mare_status run_kernel(story *s) {
    const mare_program_desc desc = { .source = saxpy,
                                     .name = "saxpy.krn",
                                     .language = MARE_LANGUAGE_OPENCL,
                                     .math = MARE_MATH_FAST };
    MR_TRY(mare_program_create(s->device, &desc, &s->program));
    MR_TRY(mare_kernel_create(s->program, "saxpy", &s->kernel));
    MR_TRY(mare_kernel_query(s->kernel, &s->info));
    MR_TRY(bind(s, s->view, &s->launch));
    MR_TRY(mare_launch_run(s->launch, s->stream));
    return mare_launch_run(s->launch, s->stream);
}

static mare_status finish_story(story *s) {
    int32_t done = 0;
    MR_TRY(mare_event_record(s->stop, s->stream));
    MR_TRY(mare_stream_wait_event(s->urgent, s->stop));
    MR_TRY(mare_stream_flush(s->urgent));
    MR_TRY(mare_event_wait(s->stop));
    MR_TRY(mare_event_query(s->stop, &done));
    MR_TRY(mare_event_elapsed_ms(s->start, s->stop, &s->ms));
    MR_TRY(mare_device_wait(s->device));
    return mare_buffer_download(s->y, 0, s->out, sizeof s->out, NULL);
}

static mare_status share(story *s) {
    void *context, *queue;
    uint64_t memory, offset;
    const mare_buffer_desc desc = { .size = N * sizeof(float) };
    MR_TRY(mare_device_native(s->device, &context));
    MR_TRY(mare_stream_native(s->stream, &queue));
    MR_TRY(mare_buffer_native(s->y, &memory, &offset));
    MR_TRY(mare_device_adopt("opencl:0", context, &s->adopted));
    MR_TRY(mare_stream_adopt(s->adopted, queue, NULL, &s->adopted_stream));
    return mare_buffer_adopt(s->adopted, memory, &desc, &s->adopted_buffer);
}

static void close_story(story *s) {
    mare_buffer_release(s->adopted_buffer);
    mare_stream_release(s->adopted_stream);
    mare_device_release(s->adopted);
    mare_launch_release(s->launch);
    mare_kernel_release(s->kernel);
    mare_program_release(s->program);
    mare_event_release(s->start);
    mare_event_release(s->stop);
    mare_stream_release(s->stream);
    mare_stream_release(s->urgent);
    mare_host_release(s->host);
    mare_buffer_release(s->view);
    mare_buffer_release(s->x);
    mare_buffer_release(s->y);
    mare_device_release(s->device);
}

static mare_status tell_story(story *s) {
    MR_TRY(open_story(s));
    MR_TRY(move_data(s));
    MR_TRY(run_kernel(s));
    MR_TRY(load_spirv(s));
    MR_TRY(load_binary(s));
    MR_TRY(share(s));
    return finish_story(s);
}

/* ---- cases ---- */

static int basics(void) {
    static story s;
    OK(tell_story(&s));
    /* y = 16 values of x, then zeros; plus twice 2 * x[128 + i] */
    for (int i = 0; i < 128; i++)
        FAKE_EXPECT(s.out[i] == (float)((i < 16 ? i : 0) + 4 * (128 + i)), "y[%d] is %g", i,
                    (double)s.out[i]);
    /* row 1 of slice 1 of the box: byte 20 + 32 * (3 + 1) of x at byte 2068 + 256 + 64 of y */
    FAKE_EXPECT(s.out[(2068 + 256 + 64) / 4] == (20 + 32 * 4) / 4, "%g", (double)s.out[597]);
    FAKE_EXPECT(s.ms > 0, "%g ms", s.ms);
    FAKE_EXPECT(!*mare_program_log(s.program), "%s", mare_program_log(s.program));
    const uint32_t most = getenv("MARE_FAKE_GROUP") ? 512 : 128;
    FAKE_EXPECT(s.info.registers == 17 && s.info.warp_size == 32 && s.info.max_group_size == most,
                "%u %u %u", s.info.registers, s.info.warp_size, s.info.max_group_size);
    FAKE_EXPECT(s.info.local_memory == 64 && s.info.private_memory == 16, "kernel memory");
    close_story(&s);
    FAKE_EXPECT(mare_live_objects() == 0, "%d handles left", (int)mare_live_objects());
    return 0;
}

static int device_info(void) {
    mare_device *device;
    mare_device_info info;
    mare_backend_info backend;
    OK(mare_backend_query(1, &backend));
    FAKE_EXPECT(backend.available && backend.device_count == 1, "%s", backend.reason);
    FAKE_EXPECT(!strcmp(backend.version, "OpenCL 1.2 Fake"), "%s", backend.version);
    FAKE_EXPECT(strstr(backend.reason, "Empty platform: clGetDeviceIDs"), "%s", backend.reason);
    OK(mare_device_open("opencl", &device));
    OK(mare_device_query(device, &info));
    FAKE_EXPECT(!strcmp(info.model, "Fake GPU") && !strcmp(info.arch, "OpenCL C 1.2"), "%s, %s",
                info.model, info.arch);
    FAKE_EXPECT(!strcmp(info.uuid, "01020304-0506-0708-090a-0b0c0d0e0f10"), "%s", info.uuid);
    FAKE_EXPECT(info.kind == MARE_DEVICE_GPU && info.warp_size == 32 && info.view_alignment == 128,
                "%u %u %d", info.kind, info.warp_size, (int)info.view_alignment);
    FAKE_EXPECT(info.has_double && info.has_int64_atomics && info.max_group[1] == 128, "features");
    mare_device_release(device);
    return 0;
}

/* Only what has changed is handed over: four arguments, then one. The sixth call must not happen.
 */
static int few_arguments(void) {
    static story s;
    OK(tell_story(&s));
    OK(mare_launch_run(s.launch, NULL));
    OK(mare_launch_set_real(s.launch, 1, 3.0));
    OK(mare_launch_run(s.launch, NULL));
    close_story(&s);
    return 0;
}

/* With the second marker made to fail. The event of a record that was to be expected is that of the
 * last command while it runs, else a marker's, and so it is after a wait. */
static int kept_events(void) {
    mare_device *device = NULL;
    mare_buffer *buffer = NULL;
    mare_event *event = NULL;
    OK(mare_device_open("opencl:0", &device));
    OK(mare_buffer_create(device, &(mare_buffer_desc){ .size = 64 }, &buffer));
    OK(mare_event_create(device, &event));
    OK(mare_buffer_fill(buffer, 0, 64, "", 1, NULL));
    OK(mare_event_record(event, NULL));
    OK(mare_buffer_fill(buffer, 0, 64, "", 1, NULL));
    if (getenv("MARE_FAKE_SLOW")) {
        OK(mare_event_record(event, NULL));
        OK(mare_stream_wait_event(mare_device_stream(device), event));
    }
    FAKE_EXPECT(mare_event_record(event, NULL) == MARE_ERROR_DEVICE, "not by a marker");
    mare_event_release(event);
    mare_buffer_release(buffer);
    mare_device_release(device);
    return 0;
}

/* NVIDIA's streams turn to a queue without times where the host waits for them again and again, and
 * back where a time is wanted, behind what is queued: by a barrier, which here may fail. */
static int turned_streams(void) {
    mare_device *device = NULL;
    mare_buffer *buffer = NULL;
    mare_event *start = NULL, *stop = NULL;
    double ms = -1;
    OK(mare_device_open("opencl:0", &device));
    OK(mare_buffer_create(device, &(mare_buffer_desc){ .size = 64 }, &buffer));
    OK(mare_event_create(device, &start));
    OK(mare_event_create(device, &stop));
    for (int i = 0; i < 6; i++) {
        OK(mare_buffer_fill(buffer, 0, 64, "", 1, NULL));
        OK(mare_stream_wait(mare_device_stream(device)));
    }
    OK(mare_buffer_fill(buffer, 0, 64, "", 1, NULL));
    mare_status status = mare_event_record(start, NULL);
    if (getenv("MARE_FAKE_FAIL")) {
        FAKE_EXPECT(status == MARE_ERROR_DEVICE, "it did not turn: %s", mare_error_message());
    } else {
        OK(status);
        OK(mare_buffer_fill(buffer, 0, 64, "", 1, NULL));
        OK(mare_event_record(stop, NULL));
        OK(mare_event_elapsed_ms(start, stop, &ms));
        FAKE_EXPECT(ms > 0, "%g ms", ms);
    }
    mare_event_release(start);
    mare_event_release(stop);
    mare_buffer_release(buffer);
    mare_device_release(device);
    return 0;
}

/* Memory whose last user has ended its work is used again without a barrier, which would fail. */
static int idle_memory(void) {
    mare_device *device = NULL;
    mare_stream *first = NULL, *second = NULL;
    mare_buffer *buffer = NULL;
    const mare_buffer_desc desc = { .size = 64, .label = "x" };
    OK(mare_device_open("opencl:0", &device));
    OK(mare_stream_create(device, NULL, &first));
    OK(mare_stream_create(device, NULL, &second));
    OK(mare_buffer_create(device, &desc, &buffer));
    OK(mare_buffer_fill(buffer, 0, 64, "", 1, first));
    OK(mare_stream_wait(first));
    mare_buffer_release(buffer);
    OK(mare_buffer_create(device, &desc, &buffer));
    OK(mare_buffer_fill(buffer, 0, 64, "", 1, second));
    mare_buffer_release(buffer);
    mare_stream_release(first);
    mare_stream_release(second);
    mare_device_release(device);
    return 0;
}

static mare_status open_and_fill(void) {
    mare_device *device = NULL;
    mare_buffer *buffer = NULL;
    MR_TRY(mare_device_open("opencl:0", &device));
    mare_status status =
        mare_buffer_create(device, &(mare_buffer_desc){ .size = 64, .label = "x" }, &buffer);
    if (status == MARE_OK) status = mare_buffer_fill(buffer, 0, 64, "", 1, NULL);
    mare_buffer_release(buffer);
    mare_device_release(device);
    return status;
}

/* One context serves all openings, and another one those after a loss. */
static int openings(void) {
    OK(open_and_fill());
    FAKE_EXPECT(open_and_fill() == MARE_ERROR_LOST, "%s", mare_error_message());
    OK(open_and_fill());
    OK(open_and_fill());
    return 0;
}

/* What is idle on one handle is room for another: 8 of the 16 MiB are, and all 16 are wanted. */
static int shared_memory(void) {
    enum { SIZE = 2 << 20, HALF = 4, ALL = 8 };
    mare_device *first = NULL, *second = NULL;
    mare_buffer *buffers[ALL + 1] = { NULL };
    const mare_buffer_desc desc = { .size = SIZE, .label = "x" };
    uint64_t in_use = 0, idle = 0;
    OK(mare_device_open("opencl:0", &first));
    OK(mare_device_open("opencl:0", &second));
    for (int i = 0; i < HALF; i++)
        OK(mare_buffer_create(first, &desc, &buffers[i]));
    for (int i = 0; i < HALF; i++)
        mare_buffer_release(buffers[i]);
    OK(mare_device_pool(first, &in_use, &idle));
    FAKE_EXPECT(in_use == 0 && idle == HALF * SIZE, "%d idle", (int)idle);
    OK(mare_buffer_create(first, &desc, &buffers[0]));
    for (int i = 1; i < ALL; i++)
        OK(mare_buffer_create(second, &desc, &buffers[i]));
    FAKE_EXPECT(mare_buffer_create(second, &desc, &buffers[ALL]) == MARE_ERROR_MEMORY, "18 MiB");
    FAKE_EXPECT(strstr(mare_error_message(), "buffers hold 16777216 bytes, 0 are idle"), "%s",
                mare_error_message());
    for (int i = 0; i < ALL; i++)
        mare_buffer_release(buffers[i]);
    mare_device_release(first);
    mare_device_release(second);
    return 0;
}

/* A view of another size at the same place is another sub-buffer. */
static int resized_views(void) {
    static story s;
    OK(tell_story(&s));
    mare_buffer_release(s.view);
    OK(mare_buffer_view(s.x, 512, 256, &s.view));
    OK(mare_launch_set_buffer(s.launch, 2, s.view));
    FAKE_EXPECT(mare_launch_run(s.launch, NULL) != MARE_OK, "128 floats read from 64");
    mare_buffer_release(s.view);
    OK(mare_buffer_view(s.x, 512, 512, &s.view));
    OK(mare_launch_set_buffer(s.launch, 2, s.view));
    OK(mare_launch_run(s.launch, NULL));
    close_story(&s);
    return 0;
}

/* A launch that is given another buffer and released before it has run on that. */
static int replaced_view(void) {
    static story s;
    OK(tell_story(&s));
    OK(mare_launch_set_buffer(s.launch, 2, s.y));
    mare_buffer_release(s.view);
    mare_buffer_release(s.x);
    OK(mare_device_trim(s.device));
    s.view = s.x = NULL;
    close_story(&s);
    return 0;
}

/* Two launches run on views that overlap, of which the first goes first; what is freed meanwhile
 * is freed behind them. */
static int overlapping_views(void) {
    static story s;
    mare_buffer *other = NULL;
    mare_launch *launch = NULL;
    OK(tell_story(&s));
    OK(mare_buffer_view(s.x, 640, 512, &other));
    OK(bind(&s, other, &launch));
    OK(mare_launch_run(launch, s.stream));
    for (int k = 0; k < 3; k++) { /* the first finds its view again, which has waited */
        OK(mare_launch_set_buffer(s.launch, 2, s.y));
        OK(mare_launch_run(s.launch, s.stream));
        OK(mare_launch_set_buffer(s.launch, 2, s.view));
        OK(mare_launch_run(s.launch, s.stream));
    }
    OK(mare_stream_wait(s.stream));
    mare_buffer_release(other);
    close_story(&s);
    mare_launch_release(launch);
    return 0;
}

/* Whatever is queued while a profile is on has an NVTX range of its name; nothing else has. */
static int ranges(void) {
    static story s;
    static const char *const names[] = { "libnvToolsExt.so.1", NULL };
    const char *(*found)(void) = NULL;
    const mr_symbol symbol = { "fake_nvtx_ranges", (void **)&found, true };
    OK(open_story(&s));
    OK(mare_buffer_upload(s.x, 0, s.out, sizeof s.out, s.stream));
    OK(mare_profile_begin(s.device));
    OK(run_kernel(&s));
    OK(mare_buffer_copy(s.y, 0, s.x, 0, 64, s.stream));
    OK(mare_profile_end(s.device));
    OK(mare_launch_run(s.launch, s.stream));
    OK(mr_dl_load(names, &symbol, 1, NULL, 0));
    FAKE_EXPECT(!strcmp(found(), "<saxpy><saxpy><copy>"), "%s", found());
    close_story(&s);
    return 0;
}

static int refusals(void) {
    static story s;
    mare_buffer *buffer = NULL;
    mare_program *program = NULL;
    mare_program_desc desc = { .source = "int a;\nint syntax_error;\n", .name = "bad.krn" };
    OK(tell_story(&s));
    FAKE_EXPECT(mare_buffer_create(s.device, &(mare_buffer_desc){ .size = 1 << 23, .label = "big" },
                                   &buffer) == MARE_ERROR_MEMORY,
                "8 MiB");
    FAKE_EXPECT(strstr(mare_error_message(), "'big'") && strstr(mare_error_message(), "4194304"),
                "%s", mare_error_message());
    FAKE_EXPECT(mare_program_create(s.device, &desc, &program) == MARE_ERROR_BUILD, "%s",
                mare_error_message());
    FAKE_EXPECT(strstr(mare_error_message(),
                       "bad.krn:2:5: error: what is this?\nint syntax_error;\n    ^\n"),
                "%s", mare_error_message());
    desc.source = "int a;\n\nint nvidia_error;\n";
    FAKE_EXPECT(mare_program_create(s.device, &desc, &program) == MARE_ERROR_BUILD, "%s",
                mare_error_message());
    FAKE_EXPECT(strstr(mare_error_message(), "\nbad.krn:3:5: error: what is this?\n    ^\n"), "%s",
                mare_error_message());
    mare_buffer_release(s.view);
    OK(mare_buffer_view(s.x, 256 + 4, 512, &s.view));
    FAKE_EXPECT(mare_launch_set_buffer(s.launch, 2, s.view) == MARE_ERROR_ARGUMENT, "misaligned");
    FAKE_EXPECT(strstr(mare_error_message(), "260") && strstr(mare_error_message(), "128"), "%s",
                mare_error_message());
    close_story(&s);
    return 0;
}

/* Calls whose failure costs something but not the work: descriptions, logs, releases. */
static bool is_tolerated(const char *entry) {
    return !strcmp(entry, "clGetPlatformInfo") || !strcmp(entry, "clGetDeviceInfo") ||
           !strcmp(entry, "clGetDeviceIDs") || !strcmp(entry, "clGetProgramBuildInfo") ||
           !strncmp(entry, "clRelease", 9);
}

static bool is_probing(const char *entry) {
    return !strncmp(entry, "clGetPlatform", 13) || !strncmp(entry, "clGetDevice", 11);
}

/* The call that MARE_FAKE_FAIL names fails: the failure names it, and nothing is left behind. */
static int one_failure(void) {
    static story s;
    char entry[64] = "";
    int number = 0, code = 0;
    sscanf(getenv("MARE_FAKE_FAIL"), "%63[^:]:%d:%d", entry, &number, &code);
    mare_status status = tell_story(&s), wanted = MARE_ERROR_DEVICE;
    if (getenv("WANTED"))
        wanted = (mare_status)atoi(getenv("WANTED"));
    else if (is_probing(entry))
        wanted = MARE_ERROR_UNAVAILABLE;
    char message[4096];
    snprintf(message, sizeof message, "%s", mare_error_message());
    setenv("MARE_FAKE_LATE", "1", 1);
    close_story(&s);
    FAKE_EXPECT(mare_live_objects() == 0, "%s %d: %d handles left", entry, number,
                (int)mare_live_objects());
    if (status == MARE_OK) return is_tolerated(entry) ? 0 : FAKE_UNSEEN;
    FAKE_EXPECT(strstr(message, entry), "%s: %s", entry, message);
    FAKE_EXPECT(status == wanted, "%s: %s: %s", entry, mare_status_name(status), message);
    return 0;
}

static int unavailable(void) {
    mare_device *device = NULL;
    const char *part = getenv("PART");
    FAKE_EXPECT(mare_device_open("opencl:0", &device) == MARE_ERROR_UNAVAILABLE, "%s",
                mare_error_message());
    FAKE_EXPECT(strstr(mare_error_message(), part), "%s", mare_error_message());
    FAKE_EXPECT(strstr(mare_error_message(), "pocl-opencl-icd"), "no advice: %s",
                mare_error_message());
    return 0;
}

/* ---- the parent ---- */

static int failures;

static void expect(int status, int wanted, const char *what) {
    if (status == wanted) return;
    printf("FAILED %s: exit status %d, expected %d\n", what, status, wanted);
    failures++;
}

/* Every call of every entry fails once; a context goes only after a loss (see openings). */
static int fail_all(void) {
    static const char *const entries[] = {
#define MR_CL_REQUIRED(result, name, arguments) #name,
#define MR_CL_OPTIONAL(result, name, arguments) #name,
#include "../../core/backends/opencl_syms.def"
    };
    int runs = 0;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (!strcmp(entries[i], "clReleaseContext")) continue;
        for (int number = 1; number <= fake_most_calls(); number++, runs++) {
            char wish[128];
            snprintf(wish, sizeof wish, "MARE_FAKE_FAIL=%s:%d:-30", entries[i], number);
            int status =
                fake_start("one_failure", "fake_opencl", (const char *const[]){ wish, NULL });
            if (status == FAKE_NOT_REACHED && number > 1) break;
            expect(status, 0, wish);
            if (status != 0) break;
        }
    }
    return runs;
}

static void statuses(void) {
    static const struct {
        const char *wish;
        mare_status status;
    } cases[] = {
        { "clCreateBuffer:1:-4", MARE_ERROR_MEMORY },
        { "clEnqueueFillBuffer:1:-4", MARE_ERROR_MEMORY }, /* the first touch */
        { "clFinish:1:-5", MARE_ERROR_MEMORY },            /* likewise */
        { "clCreateContext:1:-6", MARE_ERROR_MEMORY },
        { "clCreateContext:1:-2", MARE_ERROR_UNAVAILABLE },
        { "clEnqueueNDRangeKernel:1:-5", MARE_ERROR_MEMORY },
        { "clEnqueueNDRangeKernel:1:-54", MARE_ERROR_ARGUMENT },
        { "clEnqueueNDRangeKernel:1:-36", MARE_ERROR_LOST },
        { "clWaitForEvents:1:-14", MARE_ERROR_LOST },
        { "clWaitForEvents:1:-5", MARE_ERROR_LOST }, /* NVIDIA after a fault */
        { "clEnqueueReadBuffer:1:-5", MARE_ERROR_LOST },
        { "clEnqueueReadBuffer:1:-9999", MARE_ERROR_LOST },
        { "clBuildProgram:1:-11", MARE_ERROR_BUILD },
        { "clBuildProgram:1:-43", MARE_ERROR_BUILD },
        { "clBuildProgram:1:-9999", MARE_ERROR_BUILD }, /* NVIDIA of PTX that is too new */
        { "clCreateProgramWithBinary:1:-42", MARE_ERROR_BUILD },
        { "clEnqueueCopyBuffer:1:-123", MARE_ERROR_DEVICE }, /* a code nobody knows */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wish[128], wanted[32];
        snprintf(wish, sizeof wish, "MARE_FAKE_FAIL=%s", cases[i].wish);
        snprintf(wanted, sizeof wanted, "WANTED=%d", cases[i].status);
        expect(
            fake_start("one_failure", "fake_opencl", (const char *const[]){ wish, wanted, NULL }),
            0, wish);
    }
}

static void missing_parts(void) {
    static const struct {
        const char *folder, *setting, *part;
    } cases[] = {
        { "fake_opencl_broken", NULL, "PART=cannot load libOpenCL.so.1" },
        { "fake_opencl_old", NULL, "PART=libOpenCL.so.1 lacks clEnqueueFillBuffer" },
        { "fake_opencl", "MARE_FAKE_PLATFORMS=0", "PART=CL_PLATFORM_NOT_FOUND_KHR (-1001)" },
        { "fake_opencl", "MARE_FAKE_FAIL=clGetDeviceIDs:2:-33",
          "PART=Fake platform: clGetDeviceIDs" },
        { "fake_opencl", "MARE_FAKE_FAIL=clGetDeviceInfo:1:-33",
          "PART=Fake platform: clGetDeviceInfo" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const settings[] = { cases[i].part, cases[i].setting, NULL };
        expect(fake_start("unavailable", cases[i].folder, settings), 0, cases[i].part);
    }
}

int main(int count, char **arguments) {
    static const fake_case cases[] = {
        { "basics", basics },
        { "device_info", device_info },
        { "few_arguments", few_arguments },
        { "kept_events", kept_events },
        { "idle_memory", idle_memory },
        { "openings", openings },
        { "ranges", ranges },
        { "resized_views", resized_views },
        { "replaced_view", replaced_view },
        { "overlapping_views", overlapping_views },
        { "shared_memory", shared_memory },
        { "refusals", refusals },
        { "one_failure", one_failure },
        { "turned_streams", turned_streams },
        { "unavailable", unavailable },
    };
    int status = fake_dispatch(count, arguments, cases, sizeof cases / sizeof *cases);
    if (status >= 0) return status;
    setenv("HWLOC_SYNTHETIC", "pu:1", 0);       /* as for PoCL, which these are not, without /sys */
    expect(fake_start("basics", "fake_opencl", NULL), 0, "basics");
    const char *const slow[] = { "MARE_FAKE_SLOW=1", NULL };
    expect(fake_start("basics", "fake_opencl", slow), 0, "basics, slow");
    const char *const grouped[] = { "MARE_FAKE_GROUP=1", NULL };
    expect(fake_start("basics", "fake_opencl", grouped), 0, "basics, fixed group");
    expect(fake_start("device_info", "fake_opencl", NULL), 0, "device_info");
    expect(fake_start("ranges", "fake_opencl", NULL), 0, "ranges");
    expect(fake_start("resized_views", "fake_opencl", NULL), 0, "resized_views");
    expect(fake_start("replaced_view", "fake_opencl", NULL), 0, "replaced_view");
    expect(fake_start("overlapping_views", "fake_opencl", NULL), 0, "overlapping_views");
    expect(fake_start("shared_memory", "fake_opencl", NULL), 0, "shared_memory");
    expect(fake_start("refusals", "fake_opencl", NULL), 0, "refusals");
    const char *const sixth[] = { "MARE_FAKE_FAIL=clSetKernelArg:6:-30", NULL };
    expect(fake_start("few_arguments", "fake_opencl", sixth), FAKE_NOT_REACHED, "few_arguments");
    const char *const second[] = { "MARE_FAKE_FAIL=clEnqueueMarkerWithWaitList:2:-30",
                                   "MARE_FAKE_SLOW=1", NULL };
    expect(fake_start("kept_events", "fake_opencl", second), 0, "kept events, running");
    const char *const ended[] = { second[0], NULL };
    expect(fake_start("kept_events", "fake_opencl", ended), 0, "kept events, ended");
    const char *const barrier[] = { "MARE_FAKE_FAIL=clEnqueueBarrierWithWaitList:1:-30", NULL };
    expect(fake_start("idle_memory", "fake_opencl", barrier), FAKE_NOT_REACHED, "idle memory");
    expect(fake_start("turned_streams", "fake_opencl", NULL), 0, "turned streams");
    expect(fake_start("turned_streams", "fake_opencl", barrier), 0, "turned streams, a barrier");
    const char *const lost[] = { "MARE_FAKE_FAIL=clEnqueueFillBuffer:2:-36", "MARE_FAKE_CONTEXTS=2",
                                 NULL };
    expect(fake_start("openings", "fake_opencl", lost), 0, "openings");
    missing_parts();
    statuses();
    int runs = fail_all();
    printf("opencl over the fake library: %d calls made to fail, %d failures\n", runs, failures);
    return failures != 0;
}
