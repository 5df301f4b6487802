/* region.c - arithmetic of boxes of rows: defaults, extents and overlap, safe against overflow. */
#include "internal.h"

static bool mul(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

static bool add(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}

static mare_status fill_side(const char *side, const mare_region *r, uint64_t *pitch,
                             uint64_t *slice) {
    uint64_t least = 0;
    if (*pitch == 0) *pitch = r->width;
    if (*pitch < r->width)
        return mr_fail(MARE_ERROR_ARGUMENT, "%s_pitch %llu is less than the width of %llu bytes",
                       side, (unsigned long long)*pitch, (unsigned long long)r->width);
    if (!mul(*pitch, r->height, &least))
        return mr_fail(MARE_ERROR_ARGUMENT, "%s_pitch %llu times height %llu overflows", side,
                       (unsigned long long)*pitch, (unsigned long long)r->height);
    if (*slice == 0) *slice = least;
    if (*slice < least || *slice % *pitch)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "%s_slice %llu must be a multiple of %s_pitch %llu and at least %llu", side,
                       (unsigned long long)*slice, side, (unsigned long long)*pitch,
                       (unsigned long long)least);
    if (r->depth == 1) *slice = least; /* what is not used must not be able to overflow */
    if (r->depth == 1 && r->height == 1) *pitch = *slice = r->width;
    return MARE_OK;
}

mare_status mr_region_normalise(const mare_region *region, mare_region *out) {
    if (!region) return mr_fail(MARE_ERROR_ARGUMENT, "the region is NULL");
    mare_region r = *region;
    if (r.width == 0) return mr_fail(MARE_ERROR_ARGUMENT, "the region's width is 0");
    if (r.height == 0) r.height = 1;
    if (r.depth == 0) r.depth = 1;
    MR_TRY(fill_side("dst", &r, &r.dst_pitch, &r.dst_slice));
    MR_TRY(fill_side("src", &r, &r.src_pitch, &r.src_slice));
    *out = r;
    return MARE_OK;
}

/* One past the last byte that the box touches; false if that is beyond 64 bits. */
static bool end_of(const mare_region *r, uint64_t offset, uint64_t pitch, uint64_t slice,
                   uint64_t *out) {
    uint64_t rows = 0, slices = 0, end = 0;
    return mul(r->height - 1, pitch, &rows) && mul(r->depth - 1, slice, &slices) &&
           add(offset, rows, &end) && add(end, slices, &end) && add(end, r->width, out);
}

bool mr_region_dst_end(const mare_region *r, uint64_t *end) {
    return end_of(r, r->dst_offset, r->dst_pitch, r->dst_slice, end);
}

bool mr_region_src_end(const mare_region *r, uint64_t *end) {
    return end_of(r, r->src_offset, r->src_pitch, r->src_slice, end);
}

static bool rows_meet(int64_t distance, const mare_region *r) {
    int64_t pitch = (int64_t)r->src_pitch, height = (int64_t)r->height, width = (int64_t)r->width;
    int64_t row = distance / pitch;
    for (int64_t y = row - 1; y <= row + 1; y++) {
        int64_t x = distance - y * pitch;
        if (y > -height && y < height && x > -width && x < width) return true;
    }
    return false;
}

/* Two boxes of equal shape and pitches share a byte exactly if their distance is z * slice + y *
 * pitch + x with |x| < width, |y| < height, |z| < depth; as rows fill less than a slice, only the
 * nearest z and y can do it. With unequal pitches the answer is the careful one: the ranges from
 * first to last byte. */
bool mr_region_overlaps(const mare_region *r) {
    uint64_t dst_end = 0, src_end = 0;
    mr_region_dst_end(r, &dst_end);
    mr_region_src_end(r, &src_end);
    if (r->dst_offset >= src_end || r->src_offset >= dst_end) return false;
    if (r->dst_pitch != r->src_pitch || r->dst_slice != r->src_slice) return true;
    int64_t distance = (int64_t)(r->dst_offset - r->src_offset), slice = (int64_t)r->src_slice;
    int64_t nearest = distance / slice, depth = (int64_t)r->depth;
    for (int64_t z = nearest - 1; z <= nearest + 1; z++)
        if (z > -depth && z < depth && rows_meet(distance - z * slice, r)) return true;
    return false;
}

uint64_t mr_region_volume(const mare_region *r) { return r->width * r->height * r->depth; }

/* Halves a box along its outermost dimension that can be halved; false for a single byte. */
bool mr_region_split(const mare_region *r, mare_region *first, mare_region *second) {
    *first = *second = *r;
    if (r->depth > 1) {
        first->depth = r->depth / 2;
        second->depth -= first->depth;
        second->dst_offset += first->depth * r->dst_slice;
        second->src_offset += first->depth * r->src_slice;
    } else if (r->height > 1) {
        first->height = r->height / 2;
        second->height -= first->height;
        second->dst_offset += first->height * r->dst_pitch;
        second->src_offset += first->height * r->src_pitch;
    } else {
        first->width = r->width / 2;
        second->width -= first->width;
        second->dst_offset += first->width;
        second->src_offset += first->width;
    }
    return first->width > 0;
}
