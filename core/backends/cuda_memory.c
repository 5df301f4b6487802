/* cuda_memory.c - the CUDA back end: device and pinned memory, transfers, fill.
 *
 * A region is reduced to as few dimensions as it has, because the driver's 1-D copies have the
 * least overhead and no limits; what remains goes as one strided copy.
 */
#include "cuda_api.h"

#include <string.h>

/* ---- memory ---- */

mare_status mr_cuda_buffer_alloc(mr_native device, uint64_t size, mr_native *out) {
    bool pushed;
    unsigned long long address = 0;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = mr_cuda_check(mr_cu.cuMemAlloc_v2(&address, size),
                                       "cuMemAlloc(%llu bytes)", (unsigned long long)size);
    mr_cuda_leave(pushed);
    if (status == MARE_OK) out->u64 = address;
    return status;
}

/* The manual says that cuMemFree "may" wait for queued work, so this waits first. */
void mr_cuda_buffer_free(mr_native device, mr_native buffer) {
    bool pushed;
    if (!mr_cuda_enter_idle(device, &pushed)) return;
    mr_cuda_wait_for_peers();
    (void)mr_cu.cuMemFree_v2(buffer.u64);
    mr_cuda_leave(pushed);
}

mare_status mr_cuda_host_alloc(mr_native device, uint64_t size, mr_native *out, void **data) {
    bool pushed;
    void *memory = NULL;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status =
        mr_cuda_check(mr_cu.cuMemHostAlloc(&memory, size, MR_CU_MEMHOSTALLOC_PORTABLE),
                      "cuMemHostAlloc(%llu bytes)", (unsigned long long)size);
    mr_cuda_leave(pushed);
    if (status == MARE_OK) out->ptr = *data = memory;
    return status;
}

void mr_cuda_host_free(mr_native device, mr_native host) {
    bool pushed;
    if (!mr_cuda_enter_idle(device, &pushed)) return;
    (void)mr_cu.cuMemFreeHost(host.ptr);
    mr_cuda_leave(pushed);
}

mare_status mr_cuda_managed_alloc(mr_native device, uint64_t size, mr_native *out, void **data) {
    bool pushed;
    unsigned long long address = 0;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status =
        mr_cuda_check(mr_cu.cuMemAllocManaged(&address, size, MR_CU_MEM_ATTACH_GLOBAL),
                      "cuMemAllocManaged(%llu bytes)", (unsigned long long)size);
    mr_cuda_leave(pushed);
    if (status != MARE_OK) return status;
    out->u64 = address;
    *data = (void *)(uintptr_t)address;
    return MARE_OK;
}

/* ---- regions ---- */

/* The two ends of a copy: `host` NULL means that this end is the device address. */
struct place { void *host; unsigned long long address; uint64_t pitch, slice; };
struct box { uint64_t width, height, depth; struct place dst, src; };

static struct box make_box(const mare_region *r) {
    return (struct box){ .width = r->width, .height = r->height, .depth = r->depth,
                         .dst = { .pitch = r->dst_pitch, .slice = r->dst_slice },
                         .src = { .pitch = r->src_pitch, .slice = r->src_slice } };
}

/* Slices of one row, or that follow each other like rows, become rows; rows without gaps one. */
static void flatten(struct box *box) {
    bool follow = box->dst.slice == box->dst.pitch * box->height
        && box->src.slice == box->src.pitch * box->height;
    if (box->height == 1) {
        box->dst.pitch = box->dst.slice;
        box->src.pitch = box->src.slice;
    }
    if (box->height == 1 || follow) {
        box->height *= box->depth;
        box->depth = 1;
    }
    bool gapless = box->dst.pitch == box->width && box->src.pitch == box->width;
    if (box->depth == 1 && (box->height == 1 || gapless)) {
        box->width *= box->height;
        box->height = 1;
    }
}

static bool is_line(const struct box *box) { return box->height == 1 && box->depth == 1; }

static unsigned queue_line(const struct box *box, uint64_t dst_offset, uint64_t src_offset,
                           struct CUstream_st *stream) {
    unsigned long long dst = box->dst.address + dst_offset, src = box->src.address + src_offset;
    const size_t size = box->width;
    if (box->dst.host)
        return mr_cu.cuMemcpyDtoHAsync_v2((char *)box->dst.host + dst_offset, src, size, stream);
    if (box->src.host)
        return mr_cu.cuMemcpyHtoDAsync_v2(dst, (char *)box->src.host + src_offset, size, stream);
    return mr_cu.cuMemcpyDtoDAsync_v2(dst, src, size, stream);
}

static mare_status check_line(unsigned code, const struct box *box) {
    if (code == MR_CUDA_SUCCESS) return MARE_OK;
    return mr_cuda_check(code, "cuMemcpy%sAsync(%llu bytes)",
                         box->dst.host   ? "DtoH"
                         : box->src.host ? "HtoD"
                                         : "DtoD",
                         (unsigned long long)box->width);
}

/* Rows that lie further apart than the strided copy can do. */
static mare_status copy_lines(const struct box *box, struct CUstream_st *stream) {
    for (uint64_t z = 0; z < box->depth; z++)
        for (uint64_t y = 0; y < box->height; y++)
            MR_TRY(check_line(queue_line(box, z * box->dst.slice + y * box->dst.pitch,
                                         z * box->src.slice + y * box->src.pitch, stream),
                              box));
    return MARE_OK;
}

/* Offsets are in the addresses already. srcHeight and dstHeight are rows from slice to slice. */
static mare_status copy_strided(const struct box *box, struct CUstream_st *stream) {
    const struct place *dst = &box->dst, *src = &box->src;
    struct CUDA_MEMCPY3D_st copy = {
        .srcMemoryType = src->host ? MR_CU_MEMORYTYPE_HOST : MR_CU_MEMORYTYPE_DEVICE,
        .srcHost = src->host,
        .srcDevice = src->address,
        .srcPitch = src->pitch,
        .srcHeight = box->depth > 1 ? src->slice / src->pitch : box->height,
        .dstMemoryType = dst->host ? MR_CU_MEMORYTYPE_HOST : MR_CU_MEMORYTYPE_DEVICE,
        .dstHost = dst->host,
        .dstDevice = dst->address,
        .dstPitch = dst->pitch,
        .dstHeight = box->depth > 1 ? dst->slice / dst->pitch : box->height,
        .WidthInBytes = box->width,
        .Height = box->height,
        .Depth = box->depth,
    };
    return mr_cuda_check(mr_cu.cuMemcpy3DAsync_v2(&copy, stream),
                         "cuMemcpy3DAsync(%llu bytes x %llu x %llu, pitch %llu to %llu)",
                         (unsigned long long)box->width, (unsigned long long)box->height,
                         (unsigned long long)box->depth, (unsigned long long)src->pitch,
                         (unsigned long long)dst->pitch);
}

static mare_status queue_copy(mr_native device, mr_native stream, const struct box *box) {
    const struct mr_cuda_device *limits = device.ptr;
    if (is_line(box)) return check_line(queue_line(box, 0, 0, stream.ptr), box);
    if (box->dst.pitch > limits->max_pitch || box->src.pitch > limits->max_pitch)
        return copy_lines(box, stream.ptr);
    return copy_strided(box, stream.ptr);
}

/* `code` is that of a line which was tried, or of a wrong context if nothing was. */
static mare_status finish(mr_native device, mr_native stream, const struct box *box, unsigned code,
                          int blocking) {
    bool pushed = false;
    mare_status status = MARE_OK;
    if (mr_cuda_is_elsewhere(code)) {
        MR_TRY(mr_cuda_enter(device, &pushed));
        status = queue_copy(device, stream, box);
    } else {
        status = check_line(code, box);
    }
    if (status == MARE_OK && blocking)
        status = mr_cuda_check(mr_cu.cuStreamSynchronize(stream.ptr), "cuStreamSynchronize");
    mr_cuda_leave(pushed);
    return status;
}

/* A line goes without asking for the context first, as a launch does. */
static mare_status transfer(mr_native device, mr_native stream, struct box *box, int blocking) {
    unsigned code = MR_CUDA_ERROR_INVALID_CONTEXT;
    flatten(box);
    if (is_line(box)) code = queue_line(box, 0, 0, stream.ptr);
    return finish(device, stream, box, code, blocking);
}

mare_status mr_cuda_write(mr_native device, mr_native stream, mr_native dst, const void *src,
                          const mare_region *r, int blocking) {
    struct box box = make_box(r);
    box.dst.address = dst.u64 + r->dst_offset;
    box.src.host = (char *)(uintptr_t)src + r->src_offset;
    return transfer(device, stream, &box, blocking);
}

/* ---- small results ---- */

/* A program that waits for a number wants it at once. To memory that is not pinned the driver
 * copies by way of its own, which takes longer than the kernel. */
enum { LANDING_SIZE = 16384 };

static void make_landing(struct mr_cuda_device *device) {
    if (!device->landing &&
        mr_cu.cuMemHostAlloc(&device->landing, LANDING_SIZE, MR_CU_MEMHOSTALLOC_PORTABLE))
        device->landing = NULL;
}

void mr_cuda_landing_free(const struct mr_cuda_device *device) {
    const mr_native native = { .ptr = (void *)(uintptr_t)device };
    const mr_native landing = { .ptr = device->landing };
    if (device->landing) mr_cuda_host_free(native, landing);
}

/* False: nothing was copied, since another thread reads or there is no such memory. */
static bool read_landing(mr_native native, mr_native stream, const struct box *box,
                         mare_status *status) {
    struct mr_cuda_device *device = native.ptr;
    struct box landing = *box;
    if (pthread_mutex_trylock(&device->landing_lock)) return false;
    make_landing(device);
    landing.dst.host = device->landing;
    if (device->landing) *status = transfer(native, stream, &landing, 1);
    if (device->landing && *status == MARE_OK) memcpy(box->dst.host, device->landing, box->width);
    pthread_mutex_unlock(&device->landing_lock);
    return landing.dst.host != NULL;
}

mare_status mr_cuda_read(mr_native device, mr_native stream, void *dst, mr_native src,
                         const mare_region *r, int blocking) {
    struct box box = make_box(r);
    mare_status status = MARE_OK;
    box.dst.host = (char *)dst + r->dst_offset;
    box.src.address = src.u64 + r->src_offset;
    flatten(&box);
    if (blocking && is_line(&box) && box.width <= LANDING_SIZE &&
        read_landing(device, stream, &box, &status))
        return status;
    return transfer(device, stream, &box, blocking);
}

MR_RARE static mare_status finish_row(mr_native device, mr_native stream, void *dst,
                                      unsigned long long src, uint64_t size, unsigned code) {
    struct box box = { .width = size, .height = 1, .depth = 1 };
    box.dst.host = dst;
    box.src.address = src;
    return finish(device, stream, &box, code, 0);
}

MR_HOT mare_status mr_cuda_read_row(mr_native device, mr_native stream, void *dst, mr_native src,
                                    uint64_t offset, uint64_t size) {
    unsigned code = mr_cu.cuMemcpyDtoHAsync_v2(dst, src.u64 + offset, size, stream.ptr);
    return code == MR_CUDA_SUCCESS
               ? MARE_OK
               : finish_row(device, stream, dst, src.u64 + offset, size, code);
}

mare_status mr_cuda_copy(mr_native device, mr_native stream, mr_native dst, mr_native src,
                         const mare_region *r) {
    struct box box = make_box(r);
    box.dst.address = dst.u64 + r->dst_offset;
    box.src.address = src.u64 + r->src_offset;
    return transfer(device, stream, &box, 0);
}

/* ---- fill ---- */

/* A pattern that repeats itself is a shorter pattern: 8 zero bytes are one. */
static uint32_t shorten(const unsigned char *pattern, uint32_t size) {
    while (size > 1 && !memcmp(pattern, pattern + size / 2, size / 2)) size /= 2;
    return size;
}

static mare_status set_words(unsigned long long dst, const unsigned char *pattern, uint64_t count,
                             struct CUstream_st *stream) {
    uint32_t word;
    memcpy(&word, pattern, sizeof word);
    return mr_cuda_check(mr_cu.cuMemsetD32Async(dst, word, count, stream),
                         "cuMemsetD32Async(%llu words)", (unsigned long long)count);
}

/* 8 or 16 bytes, for which there is no memset: the first pattern, then all that is filled so far
 * once more behind itself. */
static mare_status fill_doubling(unsigned long long dst, uint64_t size,
                                 const unsigned char *pattern, uint32_t pattern_size,
                                 struct CUstream_st *stream) {
    for (uint32_t i = 0; i < pattern_size; i += 4)
        MR_TRY(set_words(dst + i, pattern + i, 1, stream));
    for (uint64_t done = pattern_size, more; done < size; done += more) {
        more = done < size - done ? done : size - done;
        MR_TRY(mr_cuda_check(mr_cu.cuMemcpyDtoDAsync_v2(dst + done, dst, more, stream),
                             "cuMemcpyDtoDAsync(%llu bytes)", (unsigned long long)more));
    }
    return MARE_OK;
}

static mare_status queue_fill(unsigned long long dst, uint64_t size, const unsigned char *pattern,
                              uint32_t pattern_size, struct CUstream_st *stream) {
    uint16_t half;
    pattern_size = shorten(pattern, pattern_size);
    switch (pattern_size) {
    case 1:
        return mr_cuda_check(mr_cu.cuMemsetD8Async(dst, pattern[0], size, stream),
                             "cuMemsetD8Async(%llu bytes)", (unsigned long long)size);
    case 2:
        memcpy(&half, pattern, sizeof half);
        return mr_cuda_check(mr_cu.cuMemsetD16Async(dst, half, size / 2, stream),
                             "cuMemsetD16Async(%llu bytes)", (unsigned long long)size);
    case 4: return set_words(dst, pattern, size / 4, stream);
    default: return fill_doubling(dst, size, pattern, pattern_size, stream);
    }
}

mare_status mr_cuda_fill(mr_native device, mr_native stream, mr_native dst, uint64_t offset,
                         uint64_t size, const void *pattern, uint32_t pattern_size) {
    bool pushed;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = queue_fill(dst.u64 + offset, size, pattern, pattern_size, stream.ptr);
    mr_cuda_leave(pushed);
    return status;
}
