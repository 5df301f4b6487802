/* pool.c - sizes, limits and bookkeeping of pooled memory, on the null device. */
#include "check.h"
#include "resident.h"

static mare_device *device;

static mare_buffer *make(uint64_t size) {
    mare_buffer *buffer = NULL;
    const mare_buffer_desc desc = { .size = size, .label = "x" };
    CHECK_OK(mare_buffer_create(device, &desc, &buffer));
    return buffer;
}

static void expect(uint64_t in_use, uint64_t idle) {
    uint64_t used = 0, kept = 0;
    CHECK_OK(mare_device_pool(device, &used, &kept));
    CHECK_NUMBER(used, in_use);
    CHECK_NUMBER(kept, idle);
}

/* Blocks are whole 512 bytes, and at most a quarter larger than asked for. */
static void rounds_sizes(void) {
    static const uint64_t sizes[][2] = {
        { 1, 512 },        { 512, 512 },      { 513, 1024 },     { 3 * 512, 1536 },
        { 2049, 2560 },    { 4096, 4096 },    { 4097, 5120 },    { 7 * 1024, 7168 },
        { 100000, 114688 }, { 1 << 20, 1 << 20 }, { (1 << 20) + 1, 5 << 18 },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        mare_buffer *buffer = make(sizes[i][0]);
        CHECK_NUMBER(mare_buffer_size(buffer), sizes[i][0]);
        expect(sizes[i][1], 0);
        mare_buffer_release(buffer);
        expect(0, sizes[i][1]);
        CHECK_OK(mare_device_trim(device));
    }
    for (uint64_t size = 1; size < 1 << 20; size += 997) {
        uint64_t used = 0, idle = 0;
        mare_buffer *buffer = make(size);
        CHECK_OK(mare_device_pool(device, &used, &idle));
        CHECK(used >= size && used % 512 == 0 && (used <= size + size / 4 || used < size + 512));
        mare_buffer_release(buffer);
        CHECK_OK(mare_device_trim(device));
    }
}

static void reuses(void) {
    mare_buffer *a = make(4000), *b = make(4000);
    expect(8192, 0);
    mare_buffer_release(a);
    a = make(4096);
    expect(8192, 0);
    mare_buffer_release(a);
    a = make(5000);
    expect(4096 + 5120, 4096);
    mare_buffer_release(a);
    mare_buffer_release(b);
    expect(0, 2 * 4096 + 5120);
    CHECK_OK(mare_device_trim(device));
    expect(0, 0);
}

/* A buffer is kept with its memory; of its last life it keeps nothing else. */
static void begins_anew(void) {
    const uint64_t live = mare_live_objects();
    mare_buffer *a = NULL, *b = make(3000);
    uint64_t count = 0;
    mare_object_info objects[8] = { 0 };
    const mare_object_info *info = &objects[live + 1];
    const mare_buffer_desc desc = { .size = 2800, .type = MARE_TYPE_FLOAT, .label = "first" };
    CHECK_OK(mare_buffer_create(device, &desc, &a));
    mare_buffer_retain(a);
    mare_buffer_release(a);
    mare_buffer_release(a);
    CHECK_NUMBER(mare_live_objects(), live + 1);
    a = make(2700);
    CHECK_NUMBER(mare_live_objects(), live + 2);
    CHECK_OK(mare_object_list(objects, 8, &count));
    CHECK(count == live + 2 && info->bytes == 2700 && info->refs == 1);
    CHECK_TEXT(info->label, "x");
    CHECK(mare_buffer_size(a) == 2700 && mare_buffer_type(a) == MARE_TYPE_NONE);
    mare_buffer_release(b);
    mare_buffer_release(a);
    CHECK_NUMBER(mare_live_objects(), live);
    CHECK_OK(mare_device_trim(device));
}

static void fills(uint64_t size, int count) {
    mare_buffer *buffers[16];
    for (int i = 0; i < count; i++) buffers[i] = make(size);
    for (int i = 0; i < count; i++) mare_buffer_release(buffers[i]);
}

/* Sizes that nobody wants any more make room for those that are used now. */
static void forgets_the_oldest(void) {
    const uint64_t most = 1ull << 30, old = 128 << 20, now = 80 << 20;
    fills(old, 8);
    expect(0, most);
    fills(now, 2);
    expect(0, 6 * old + 2 * now);
    mare_buffer *a = make(now), *b = make(now), *c = make(old);
    expect(2 * now + old, 5 * old);
    mare_buffer_release(a);
    mare_buffer_release(b);
    mare_buffer_release(c);
    CHECK_OK(mare_device_trim(device));
    expect(0, 0);
}

/* A large block goes back at once, and idle ones together stay below half of the memory. */
static void keeps_little(void) {
    const uint64_t large = 257ull << 20, most = 1ull << 30;
    mare_buffer_release(make(large));
    expect(0, 0);
    fills(128 << 20, 9);
    expect(0, most);
    CHECK_OK(mare_device_trim(device));
}

static void obeys_a_limit(void) {
    uint64_t available = 0, total = 0;
    mare_device_info info;
    mare_buffer *refused = NULL;
    CHECK_OK(mare_device_query(device, &info));
    CHECK_NUMBER(info.memory, 1 << 20);
    mare_buffer *half = make(1 << 19), *quarter = make(1 << 17);
    CHECK_OK(mare_device_memory(device, &available, &total));
    CHECK(available == (1 << 20) - (1 << 19) - (1 << 17) && total == 1 << 20);
    CHECK_FAILS(mare_buffer_create(device, &(mare_buffer_desc){ .size = 1 << 19, .label = "rho" },
                                   &refused),
                MARE_ERROR_MEMORY, "'rho' of 524288 bytes on null:0", "buffers hold 655360 bytes",
                "limit is 1048576 bytes");
    CHECK_FAILS(mare_buffer_create(device, &(mare_buffer_desc){ .size = 2 << 20, .label = "rho" },
                                   &refused),
                MARE_ERROR_MEMORY, "'rho': 2097152 bytes, null:0 allows at most 1048576",
                "MARE_MEMORY_LIMIT");
    mare_buffer_release(quarter);
    expect(1 << 19, 1 << 17);
    quarter = make(1 << 19);            /* fits once the idle memory is given back */
    expect(1 << 20, 0);
    mare_buffer_release(quarter);
    quarter = make((1 << 19) - 100);
    mare_buffer_release(quarter);
    mare_buffer_release(half);
    expect(0, 0);
}

/* All of a limit is Mare's; what is new takes the place of as much that was idle. */
static void uses_a_limit(void) {
    const uint64_t size = 1 << 16;
    fills(size, 16);
    expect(0, 16 * size);
    mare_buffer *other = make(3 * size / 2);
    expect(3 * size / 2, 14 * size);
    mare_buffer_release(other);
    CHECK_OK(mare_device_trim(device));
}

static void refuses(void) {
    uint64_t bytes = 0;
    CHECK_FAILS(mare_device_pool(NULL, &bytes, &bytes), MARE_ERROR_ARGUMENT, "mare_device_pool");
    CHECK_FAILS(mare_device_pool(device, NULL, &bytes), MARE_ERROR_ARGUMENT, "mare_device_pool");
    CHECK_FAILS(mare_device_trim(NULL), MARE_ERROR_ARGUMENT, "mare_device_trim");
}

static void refuses_limits(void) {
    static const char *const bad[] = { "lots", "0", "-1", "1GB" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("MARE_MEMORY_LIMIT", bad[i], 1);
        CHECK_FAILS(mare_device_open("null", &device), MARE_ERROR_ARGUMENT, bad[i],
                    "MARE_MEMORY_LIMIT", "1G");
    }
}

/* ---- opening and closing ---- */

static void open_and_close(int times) {
    for (int i = 0; i < times; i++) {
        CHECK_OK(mare_device_open("null", &device));
        mare_buffer_release(make(100000));
        mare_device_release(device);
    }
}

int main(void) {
    unsetenv("MARE_MEMORY_LIMIT");
    CHECK_OK(mare_device_open("null", &device));
    rounds_sizes();
    reuses();
    begins_anew();
    keeps_little();
    forgets_the_oldest();
    refuses();
    mare_device_release(device);
    refuses_limits();
    setenv("MARE_MEMORY_LIMIT", "1M", 1);
    CHECK_OK(mare_device_open("null", &device));
    obeys_a_limit();
    uses_a_limit();
    mare_device_release(device);
    open_and_close(100);
    long before = resident_bytes();
    open_and_close(1000);
    CHECK(resident_bytes() - before < 1 << 18);
    return check_result();
}
