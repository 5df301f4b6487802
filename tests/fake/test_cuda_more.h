/* test_cuda_more.h - steps of test_cuda.c's session: code, large local memory, memory of a second
 * device and of another process, plans with branches. Included there, whose words it uses. */

/* ---- code ---- */

static const char templates[] =
    "extern \"C\" __constant__ float table[4];\n"
    "template <typename T, int N = 2> __global__ void scale(int n, T a, const T *x, T *y) { }\n"
    "extern \"C\" __global__ void axpy(int n, float a, const float *x, float *y) { }\n";

static mare_status use_table(mare_program *program) {
    const float in[4] = { 1, 2, 3, 4 };
    float out[4];
    mare_buffer *table = NULL, *none = NULL;
    STEP(mare_program_variable(program, "table", MARE_TYPE_FLOAT, &table));
    mare_status status = mare_buffer_upload(table, 0, in, sizeof in, NULL);
    if (status == MARE_OK) status = mare_buffer_download(table, 0, out, sizeof out, NULL);
    MUST(mare_buffer_size(table) == sizeof in && (status != MARE_OK || out[3] == 4));
    mare_buffer_release(table);
    STEP(status);
    MUST(mare_program_variable(program, "nothing", MARE_TYPE_FLOAT, &none) != MARE_OK && !none);
    return MARE_OK;
}

/* The PTX of a program is one again, with the same kernels and variables. */
static mare_status load_code(struct session *s, mare_program *program) {
    const mare_program_desc desc = { .source = templates, .name = "again.cu",
                                     .language = MARE_LANGUAGE_CUDA };
    const void *ptx = NULL, *again = NULL;
    uint64_t size = 0;
    mare_program *loaded = NULL;
    mare_kernel *kernel = NULL;
    STEP(mare_program_code(program, "ptx", &ptx, &size));
    MUST(!strncmp(ptx, "// PTX", 6) && strlen(ptx) == size);
    STEP(mare_program_code(program, "ptx", &again, &size));
    MUST(again == ptx);
    STEP(mare_program_load(s->device, &desc, ptx, size, &loaded));
    mare_status status = mare_kernel_create(loaded, "axpy", &kernel);
    if (status == MARE_OK) status = use_table(loaded);
    if (status == MARE_OK)
        MUST(mare_program_code(loaded, "ptx", &again, &size) == MARE_ERROR_UNAVAILABLE);
    mare_kernel_release(kernel);
    mare_program_release(loaded);
    return status;
}

static mare_status instantiate(mare_program *program) {
    mare_kernel *kernel = NULL;
    mare_kernel_info info;
    mare_arg_info arg;
    MUST(mare_kernel_create(program, "scale<float>", &kernel) == MARE_ERROR_ARGUMENT);
    MUST(mare_kernel_create(program, "scale<float", &kernel) == MARE_ERROR_ARGUMENT);
    MUST(strstr(mare_error_message(), "'scale<ARGUMENT, ...>' is wanted"));
    MUST(mare_kernel_create(program, "scale", &kernel) == MARE_ERROR_ARGUMENT);
    MUST(strstr(mare_error_message(), "it is a template of 2"));
    MUST(mare_kernel_create(program, "shift<float, 2>", &kernel) == MARE_ERROR_ARGUMENT);
    STEP(mare_kernel_create(program, "scale<float, 2>", &kernel));
    mare_status status = mare_kernel_query(kernel, &info);
    if (status == MARE_OK) status = mare_kernel_arg(kernel, 2, &arg);
    MUST(status || (!strcmp(info.name, "scale<float, 2>") && arg.type == MARE_TYPE_FLOAT));
    mare_kernel_release(kernel);
    return status;
}

static bool is_cut(struct session *s, const void *code, uint64_t size) {
    const mare_program_desc desc = { .source = templates, .name = "t.cu",
                                     .language = MARE_LANGUAGE_CUDA };
    mare_program *none = NULL;
    mare_status status = mare_program_load(s->device, &desc, code, size, &none);
    mare_program_release(none);
    return status == MARE_ERROR_BUILD && strstr(mare_error_message(), "damaged or cut off");
}

/* A cubin with one section at its end, and the head of a fat binary, which the driver would read
 * beyond their end. */
static mare_status refuse_cut(struct session *s) {
    unsigned char elf[160] = "\177ELF\2";
    elf[40] = elf[58] = 64;
    elf[60] = 1;
    elf[64 + 24] = 128;
    elf[64 + 32] = 32;
    MUST(is_cut(s, elf, 4) && is_cut(s, elf, 63) && is_cut(s, elf, 64) && is_cut(s, elf, 159));
    elf[64 + 32]++;
    MUST(is_cut(s, elf, sizeof elf));
    elf[64 + 4] = 8;                /* has no bytes */
    MUST(!is_cut(s, elf, sizeof elf));
    elf[56] = 1;                    /* a segment of no size that is known */
    MUST(is_cut(s, elf, sizeof elf));
    MUST(is_cut(s, "\x50\xed\x55\xba\1\0\x10\0\1\0\0\0\0\0\0", 16));
    return MARE_OK;
}

static mare_status use_code(struct session *s) {
    const mare_program_desc desc = { .source = templates, .name = "t.cu",
                                     .language = MARE_LANGUAGE_CUDA };
    mare_program *program = NULL;
    STEP(mare_program_create(s->device, &desc, &program));
    mare_status status = use_table(program);
    if (status == MARE_OK) status = load_code(s, program);
    if (status == MARE_OK) status = instantiate(program);
    if (status == MARE_OK) status = refuse_cut(s);
    mare_program_release(program);
    return status;
}

static mare_status profile_shape(struct session *s) {
    mare_profile_record record;
    mare_profile_shape shape;
    int32_t found = 0;
    STEP(mare_profile_begin(s->device));
    mare_status status = mare_launch_run(s->launch, NULL), ended = mare_profile_end(s->device);
    STEP(status);
    STEP(ended);
    STEP(mare_profile_next(s->device, &record, &found));
    STEP(mare_profile_last_shape(s->device, &shape));
    MUST(found && shape.groups[0] == 1 && shape.group[0] && shape.most_items == 2048);
    MUST(shape.resident_groups == 2048 / shape.group[0] && shape.local_memory == 256);
    return MARE_OK;
}

/* ---- large local memory ---- */

/* A kernel in the dialect with more local memory than a group has by itself, as a programmatic
 * launch, and out of a plan in another shape. */
static mare_status run_large(struct session *s, mare_kernel *kernel, mare_launch *launch) {
    mare_kernel_info info;
    mare_plan *plan = NULL;
    float out[10];
    STEP(mare_kernel_query(kernel, &info));
    MUST(info.local_memory == 160000 + 256);
    STEP(mare_buffer_fill(s->y, 0, sizeof out, "\0", 1, s->stream));
    STEP(mare_buffer_fill(s->x, 0, sizeof out, "\0\0\200\77", 4, s->stream));
    STEP(mare_launch_set_int(launch, 0, 10));
    STEP(mare_launch_set_real(launch, 1, 2));
    STEP(mare_launch_set_buffer(launch, 2, s->x));
    STEP(mare_launch_set_buffer(launch, 3, s->y));
    STEP(mare_launch_set_shape(launch, (uint32_t[3]){ 10, 1, 1 }, NULL));
    STEP(mare_launch_run(launch, s->stream));
    STEP(mare_launch_set_programmatic(launch, 1));
    STEP(mare_launch_run(launch, s->stream));
    STEP(mare_launch_set_together(launch, 1));
    STEP(mare_plan_begin(s->stream));
    STEP(mare_launch_run(launch, s->stream));
    STEP(mare_plan_end(s->stream, "large", &plan));
    mare_status status = mare_plan_run(plan, 1, s->stream);
    if (status == MARE_OK)
        status = mare_launch_set_shape(launch, (uint32_t[3]){ 20, 1, 1 }, (uint32_t[3]){ 4, 1, 1 });
    if (status == MARE_OK) status = mare_plan_run(plan, 1, s->stream);
    mare_plan_release(plan);
    STEP(status);
    STEP(mare_stream_wait(s->stream));
    STEP(mare_buffer_download(s->y, 0, out, sizeof out, NULL));
    MUST(out[0] == 8 && out[9] == 8);
    return MARE_OK;
}

static mare_status try_large(struct session *s, mare_program *program) {
    mare_kernel *kernel = NULL;
    mare_launch *launch = NULL;
    STEP(mare_kernel_create(program, "axpy", &kernel));
    mare_status status = mare_launch_create(kernel, &launch);
    if (status == MARE_OK) status = run_large(s, kernel, launch);
    mare_launch_release(launch);
    mare_kernel_release(kernel);
    return status;
}

static mare_status use_local(struct session *s) {
    static const char large[] =
        "MR_KERNEL void axpy(int n, float a, MR_GLOBAL const float *x, MR_GLOBAL float *y) {\n"
        "    MR_LOCAL_LARGE(float, big, COUNT);\n}\n";
    mare_define count = { "COUNT", "40000" };
    const mare_program_desc desc = { .source = large, .name = "large.krn", .defines = &count,
                                     .define_count = 1 };
    mare_kernel *kernel = NULL;
    mare_program *program = NULL;
    STEP(mare_program_create(s->device, &desc, &program));
    mare_status status = try_large(s, program);
    mare_program_release(program);
    STEP(status);
    count.value = "60000";
    STEP(mare_program_create(s->device, &desc, &program));
    MUST(mare_kernel_create(program, "axpy", &kernel) == MARE_ERROR_UNAVAILABLE && !kernel);
    MUST(strstr(mare_error_message(), "240000 bytes of local memory, cuda:0 has 232448"));
    mare_program_release(program);
    return MARE_OK;
}

/* y += 2 x over the whole of both, by a parameter block. */
static mare_status run_block(struct session *s, mare_launch *launch) {
    const struct { int n; float a; } block = { N, 2 };
    const float one = 1, zero = 0;
    float last = 0;
    STEP(mare_buffer_fill(s->x, 0, N * sizeof one, &one, sizeof one, NULL));
    STEP(mare_buffer_fill(s->y, 0, N * sizeof one, &zero, sizeof zero, NULL));
    STEP(mare_launch_set_block(launch, 0, &block, sizeof block));
    STEP(mare_launch_set_buffer(launch, 1, s->x));
    STEP(mare_launch_set_buffer(launch, 2, s->y));
    STEP(mare_launch_set_shape(launch, (uint32_t[3]){ N, 1, 1 }, NULL));
    STEP(mare_launch_run(launch, NULL));
    STEP(mare_launch_set_field_real(launch, 0, 1, 0, 0.5));
    STEP(mare_launch_run(launch, NULL));
    STEP(mare_buffer_download(s->y, (N - 1) * sizeof last, &last, sizeof last, NULL));
    MUST(last == 2.5f);
    return MARE_OK;
}

static mare_status try_block(struct session *s, const char *fields) {
    char text[256];
    snprintf(text, sizeof text,
             "typedef struct params { %s } params;\nMR_KERNEL void block(params p, "
             "MR_GLOBAL const float *x, MR_GLOBAL float *y) { }\n", fields);
    const mare_program_desc desc = { .source = text, .name = "block.krn" };
    mare_program *program = NULL;
    mare_kernel *kernel = NULL;
    mare_launch *launch = NULL;
    STEP(mare_program_create(s->device, &desc, &program));
    mare_status status = mare_kernel_create(program, "block", &kernel);
    if (status == MARE_OK) status = mare_launch_create(kernel, &launch);
    if (status == MARE_OK) status = run_block(s, launch);
    mare_launch_release(launch);
    mare_kernel_release(kernel);
    mare_program_release(program);
    return status;
}

/* The driver tells 8 bytes. */
static mare_status use_block(struct session *s) {
    STEP(try_block(s, "int n; float a;"));
    if (!mr_cu.cuFuncGetParamInfo) return MARE_OK;
    mare_status status = try_block(s, "int n; float a; float b;");
    if (status != MARE_ERROR_ARGUMENT) return status;
    MUST(strstr(mare_error_message(), "argument 0 'p': a struct of 12 bytes by its source, of 8 to "
                                      "the compiler"));
    return MARE_OK;
}

/* To a second device and back, which the first reaches; and as another process would open it. */
static mare_status reach_peer(struct session *s) {
    const mare_buffer_desc bytes = { .size = 4 * WIDE, .label = "far" };
    const mare_region box = { .width = 4, .height = 3, .depth = 2, .dst_pitch = 8,
                              .dst_slice = 32, .src_offset = 4, .src_pitch = 4, .src_slice = 16 };
    unsigned char out[64];
    mare_share share;
    int32_t can = 0;
    STEP(mare_device_open("cuda:1", &s->peer));
    STEP(mare_buffer_create(s->peer, &bytes, &s->far));
    STEP(mare_device_can_reach(s->device, s->peer, &can));
    MUST(can);
    STEP(mare_device_reach(s->device, s->peer));
    STEP(mare_buffer_fill(s->wide, 0, 64, "\1\2\3\4", 4, s->stream));
    STEP(mare_buffer_copy(s->far, 4, s->wide, 0, 64, s->stream));
    STEP(mare_buffer_fill(s->wide, 0, 64, "\0", 1, s->stream));
    STEP(mare_buffer_copy_region(s->wide, s->far, &box, s->stream));
    STEP(mare_stream_wait(s->stream));
    STEP(mare_buffer_download(s->wide, 0, out, sizeof out, NULL));
    MUST(out[0] == 1 && !out[4] && out[8] == 1 && !out[24] && out[51] == 4 && !out[52]);
    STEP(mare_buffer_share(s->far, &share));
    STEP(mare_buffer_open(s->device, &share, "opened", &s->opened));
    STEP(mare_buffer_download(s->opened, 4, out, 4, NULL));
    MUST(mare_buffer_size(s->opened) == 4 * WIDE && out[3] == 4);
    return MARE_OK;
}

/* The second device copies beside the first one's fill and hands over by an event. */
static mare_status record_branches(struct session *s, mare_event *copied, mare_plan **plan) {
    mare_stream *far = mare_device_stream(s->peer);
    STEP(mare_plan_begin(s->stream));
    STEP(mare_plan_join(s->stream, far));
    STEP(mare_buffer_fill(s->x, 0, 64, "\6", 1, s->stream));
    STEP(mare_buffer_fill(s->far, 0, 64, "\5", 1, far));
    STEP(mare_event_record(copied, far));
    STEP(mare_stream_wait_event(s->stream, copied));
    STEP(mare_buffer_copy(s->x, 0, s->far, 0, 32, s->stream));
    return mare_plan_end(s->stream, "branches", plan);
}

static mare_status run_branches(struct session *s) {
    unsigned char out[64];
    mare_event *copied = NULL;
    mare_plan *plan = NULL;
    STEP(mare_event_create(s->peer, &copied));
    mare_status status = record_branches(s, copied, &plan);
    if (status == MARE_OK) status = mare_plan_run(plan, 2, s->stream);
    if (status == MARE_OK) status = mare_stream_wait(s->stream);
    mare_plan_release(plan);
    mare_event_release(copied);
    STEP(status);
    STEP(mare_buffer_download(s->x, 0, out, sizeof out, NULL));
    MUST(out[0] == 5 && out[31] == 5 && out[32] == 6);
    return MARE_OK;
}
