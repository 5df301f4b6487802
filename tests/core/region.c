/* region.c - the arithmetic of boxes, against a byte-by-byte count. */
#include "check.h"
#include "internal.h"

enum { BYTES = 4096 };

static void fills_in_defaults(void) {
    mare_region r;
    CHECK_OK(mr_region_normalise(&(mare_region){ .width = 10, .height = 3, .dst_pitch = 16 }, &r));
    CHECK(r.depth == 1 && r.dst_pitch == 16 && r.dst_slice == 48 && r.src_pitch == 10 &&
          r.src_slice == 30);
    CHECK_OK(mr_region_normalise(&(mare_region){ .width = 10, .dst_pitch = UINT64_MAX }, &r));
    CHECK(r.height == 1 && r.dst_pitch == 10 && r.dst_slice == 10);
}

static void refuses_nonsense(void) {
    mare_region r;
    CHECK_FAILS(mr_region_normalise(NULL, &r), MARE_ERROR_ARGUMENT, "NULL");
    CHECK_FAILS(mr_region_normalise(&(mare_region){ .height = 3 }, &r), MARE_ERROR_ARGUMENT,
                "width is 0");
    CHECK_FAILS(mr_region_normalise(&(mare_region){ .width = 10, .src_pitch = 9 }, &r),
                MARE_ERROR_ARGUMENT, "src_pitch 9", "width of 10");
    CHECK_FAILS(mr_region_normalise(
                    &(mare_region){ .width = 8, .height = 2, .depth = 2, .dst_slice = 20 }, &r),
                MARE_ERROR_ARGUMENT, "dst_slice 20", "multiple of dst_pitch 8");
    CHECK_FAILS(mr_region_normalise(
                    &(mare_region){ .width = 8, .height = 3, .depth = 2, .dst_slice = 16 }, &r),
                MARE_ERROR_ARGUMENT, "dst_slice 16", "at least 24");
    CHECK_FAILS(mr_region_normalise(
                    &(mare_region){ .width = 8, .height = 1ULL << 62, .dst_pitch = 16 }, &r),
                MARE_ERROR_ARGUMENT, "dst_pitch 16", "overflows");
}

static void ends_exactly(void) {
    mare_region r;
    uint64_t end = 0;
    CHECK_OK(mr_region_normalise(&(mare_region){ .width = 3,
                                                 .height = 4,
                                                 .depth = 2,
                                                 .dst_offset = 100,
                                                 .dst_pitch = 10,
                                                 .dst_slice = 50,
                                                 .src_offset = UINT64_MAX - 4 },
                                 &r));
    CHECK(mr_region_dst_end(&r, &end) && end == 100 + 50 + 3 * 10 + 3);
    CHECK(!mr_region_src_end(&r, &end));
    CHECK_NUMBER(mr_region_volume(&r), 24);
}

static void mark(unsigned char *bytes, const mare_region *r, bool dst) {
    memset(bytes, 0, BYTES);
    for (uint64_t z = 0; z < r->depth; z++)
        for (uint64_t y = 0; y < r->height; y++)
            memset(bytes + (dst ? r->dst_offset + z * r->dst_slice + y * r->dst_pitch
                                : r->src_offset + z * r->src_slice + y * r->src_pitch),
                   1, r->width);
}

static bool really_overlaps(const mare_region *r) {
    static unsigned char dst[BYTES], src[BYTES];
    mark(dst, r, true);
    mark(src, r, false);
    for (int i = 0; i < BYTES; i++)
        if (dst[i] && src[i]) return true;
    return false;
}

static uint64_t pick(uint64_t most) {
    static uint64_t state = 12345;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % (most + 1);
}

/* Random boxes of equal pitches: the answer is exact. */
static void finds_overlaps(void) {
    int together = 0, apart = 0;
    for (int i = 0; i < 20000 && !check_failures; i++) {
        mare_region r = { .width = 1 + pick(11), .height = 1 + pick(5), .depth = 1 + pick(3) };
        r.dst_pitch = r.src_pitch = r.width + pick(8);
        r.dst_slice = r.src_slice = r.dst_pitch * (r.height + pick(2));
        r.dst_offset = pick(1000);
        r.src_offset = pick(1000);
        CHECK_OK(mr_region_normalise(&r, &r));
        bool expected = really_overlaps(&r);
        CHECK(mr_region_overlaps(&r) == expected);
        if (expected) together++;
        else apart++;
    }
    CHECK(together > 1000 && apart > 1000);
}

static void compares_ranges_of_unequal_pitches(void) {
    mare_region r = { .width = 4, .height = 3, .dst_pitch = 16, .src_pitch = 32, .src_offset = 4 };
    CHECK_OK(mr_region_normalise(&r, &r));
    CHECK(mr_region_overlaps(&r));
    r.src_offset = 36;
    CHECK(!mr_region_overlaps(&r));
}

/* Halving until single bytes visits every byte once. */
static void visit(const mare_region *r, unsigned char *seen) {
    mare_region first, second;
    CHECK(r->dst_offset - r->src_offset == 7);
    if (mr_region_volume(r) == 1) {
        seen[r->src_offset]++;
        return;
    }
    CHECK(mr_region_split(r, &first, &second));
    visit(&first, seen);
    visit(&second, seen);
}

static void splits(void) {
    static unsigned char seen[BYTES], expected[BYTES];
    mare_region r = { .width = 5,
                      .height = 3,
                      .depth = 3,
                      .dst_offset = 7,
                      .dst_pitch = 8,
                      .src_pitch = 8,
                      .dst_slice = 32,
                      .src_slice = 32 };
    CHECK_OK(mr_region_normalise(&r, &r));
    mark(expected, &r, false);
    visit(&r, seen);
    CHECK(!memcmp(seen, expected, BYTES));
}

int main(void) {
    fills_in_defaults();
    refuses_nonsense();
    ends_exactly();
    finds_overlaps();
    compares_ranges_of_unequal_pitches();
    splits();
    return check_result();
}
