/* pool.c - the memory of a device, kept for the next buffer when one is released.
 *
 * Blocks come in size classes, four to a doubling. A released block waits in the list of its class
 * together with the streams that may still be using it; order.c makes the next owner's streams wait
 * for those. The block that was released last is taken first, while caches still hold it; the one
 * that waited longest goes back when there are too many, or too many for the limit, since sizes
 * come and go. What a vendor refuses is tried once more after everything idle was given back, on
 * all handles of the device. Large blocks are not kept: to others they are worth more than the time
 * they save. On PoCL, a script makes and releases a buffer of 1 MiB in 2.4 us of processor time,
 * and in 37 us if the memory goes back to the vendor each time.
 *
 * A block is the mare_buffer with its memory: its struct waits and is used again, too. Where memory
 * is split, small blocks are made many at a time, as the parts of a slab: to ask the CUDA driver
 * for one takes 2 us, half as long as a launch. A slab goes back with the last of its blocks.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    GRAIN = 512,                    /* bytes; no class is finer */
    UNKEPT = MR_POOL_CLASSES,       /* the class of blocks that go back to the vendor at once */
    LARGEST_SHARE = 8,              /* a block is kept if it is at most an 8th of the memory */
    IDLE_SHARE = 2,                 /* all idle ones have at most half of it; a limit bounds all */
    SLAB = 1 << 20,                 /* bytes */
    LARGEST_PART = 1 << 16,         /* larger blocks are no parts of slabs */
    MOST_PARTS = 64
};
static const uint64_t unknown_memory = 2ull << 30;

typedef unsigned long long ull; /* for %llu */

/* ---- sizes ---- */

static uint64_t memory_of(const mare_device *device) {
    return device->info.memory ? device->info.memory : unknown_memory;
}

static uint64_t most_idle(const mare_device *device) {
    const uint64_t limit = device->pool.limit;
    return limit ? limit : memory_of(device) / IDLE_SHARE;
}

/* The smallest class for a size, from 1. */
static uint32_t classify(const mare_device *device, uint64_t size) {
    const uint64_t most = memory_of(device) / LARGEST_SHARE;
    if (size > most) return UNKEPT;
    uint64_t grains = (size + GRAIN - 1) / GRAIN;
    unsigned log = 63 - (unsigned)__builtin_clzll(grains);
    unsigned shift = log > 2 ? log - 2 : 0;
    uint64_t steps = (grains + (1ull << shift) - 1) >> shift;  /* 1..7 below the split, then 4..8 */
    return (steps << shift) * GRAIN > most ? UNKEPT : (uint32_t)(4 * shift + steps);
}

/* The bytes of the memory of a buffer. */
static uint64_t bytes_of(uint32_t size_class, uint64_t size) {
    if (size_class == UNKEPT) return size;
    const unsigned shift = size_class < 8 ? 0 : size_class / 4 - 1;
    return (uint64_t)GRAIN * (size_class - 4 * shift) << shift;
}

static uint64_t capacity(const mare_buffer *buffer) {
    return bytes_of(buffer->size_class, buffer->size);
}

static void leave_slab(const mare_device *device, mr_slab *slab) {
    if (atomic_fetch_sub(&slab->parts, 1) != 1) return;
    device->backend->buffer_free(device->native, slab->native);
    free(slab);
}

/* The back end waits for what still uses it. */
static void destroy(mare_buffer *buffer) {
    const mare_device *device = buffer->device;
    if (buffer->slab) leave_slab(device, buffer->slab);
    else device->backend->buffer_free(device->native, buffer->native);
    free(buffer);
}

mr_native mr_pool_whole(const mare_buffer *buffer, uint64_t *offset) {
    while (buffer->parent) buffer = buffer->parent;
    if (!buffer->slab) return buffer->native;
    *offset += buffer->native.u64 - buffer->slab->native.u64;
    return buffer->slab->native;
}

/* ---- idle blocks; the pool is locked ---- */

static void unlink_idle(mr_pool *pool, mare_buffer *block) {
    *(block->newer ? &block->newer->older : &pool->newest[block->size_class]) = block->older;
    *(block->older ? &block->older->newer : &pool->oldest[block->size_class]) = block->newer;
    pool->idle -= capacity(block);
}

static void link_idle(mr_pool *pool, mare_buffer *block) {
    mare_buffer *next = pool->newest[block->size_class];
    block->newer = NULL;
    block->older = next;
    *(next ? &next->newer : &pool->oldest[block->size_class]) = block;
    pool->newest[block->size_class] = block;
    block->number = ++pool->released;
    pool->idle += capacity(block);
}

static mare_buffer *longest_idle(const mr_pool *pool) {
    mare_buffer *found = NULL;
    for (int i = 0; i < MR_POOL_CLASSES; i++) {
        mare_buffer *oldest = pool->oldest[i];
        if (oldest && (!found || oldest->number < found->number)) found = oldest;
    }
    return found;
}

/* Takes out what waited longest until no more than `most` bytes are idle; linked by `older`. */
static mare_buffer *take_excess(mr_pool *pool, uint64_t most) {
    mare_buffer *taken = NULL;
    while (pool->idle > most) {
        mare_buffer *block = longest_idle(pool);
        unlink_idle(pool, block);
        block->older = taken;
        taken = block;
    }
    return taken;
}

static void destroy_all(mare_buffer *block) {
    while (block) {
        mare_buffer *next = block->older;
        destroy(block);
        block = next;
    }
}

static mare_buffer *take_idle(mr_pool *pool, uint32_t size_class) {
    pthread_mutex_lock(&pool->lock);
    mare_buffer *block = pool->newest[size_class];
    if (block) {
        unlink_idle(pool, block);
        pool->in_use += capacity(block);
    }
    pthread_mutex_unlock(&pool->lock);
    return block;
}

static void put_idle(mare_device *device, mare_buffer *block) {
    mr_pool *pool = &device->pool;
    pthread_mutex_lock(&pool->lock);
    pool->in_use -= capacity(block);
    link_idle(pool, block);
    mare_buffer *excess = take_excess(pool, most_idle(device));
    pthread_mutex_unlock(&pool->lock);
    destroy_all(excess);
}

/* ---- new blocks ---- */

static bool fits_limit(const mr_pool *pool, uint64_t size) {
    return !pool->limit || (pool->in_use <= pool->limit && size <= pool->limit - pool->in_use);
}

/* Counts the bytes as in use, if the limit leaves room once as many idle ones have gone. */
static mare_status reserve(mare_device *device, uint64_t size) {
    mr_pool *pool = &device->pool;
    mare_buffer *excess = NULL;
    pthread_mutex_lock(&pool->lock);
    bool fits = fits_limit(pool, size);
    if (fits) pool->in_use += size;
    if (fits && pool->limit) excess = take_excess(pool, pool->limit - pool->in_use);
    pthread_mutex_unlock(&pool->lock);
    destroy_all(excess);
    if (fits) return MARE_OK;
    return mr_fail(MARE_ERROR_MEMORY, "the limit is %llu bytes (MARE_MEMORY_LIMIT)",
                   (ull)pool->limit);
}

static void unreserve(mare_device *device, uint64_t size) {
    pthread_mutex_lock(&device->pool.lock);
    device->pool.in_use -= size;
    pthread_mutex_unlock(&device->pool.lock);
}

/* Makes up to `count` blocks that are parts of a slab, linked by `older`; the others are idle then.
 * Returns how many. */
static uint32_t split(mare_device *device, mr_slab *slab, uint32_t size_class, uint32_t count,
                      mare_buffer **out) {
    uint32_t made = 0;
    for (; made < count; made++) {
        mare_buffer *block = mr_line_alloc(sizeof *block);
        if (!block) break;
        block->device = device;
        block->size_class = size_class;
        block->slab = slab;
        block->native.u64 = slab->native.u64 + made * bytes_of(size_class, 0);
        block->older = *out;
        *out = block;
    }
    return made;
}

static void put_parts(mr_pool *pool, mare_buffer *block) {
    pthread_mutex_lock(&pool->lock);
    while (block) {
        mare_buffer *next = block->older;
        link_idle(pool, block);
        block = next;
    }
    pthread_mutex_unlock(&pool->lock);
}

/* Makes blocks of a class, of which one is returned. The bytes of that one are counted. */
static mare_status allocate_parts(mare_device *device, uint32_t size_class, mare_buffer **out) {
    const uint64_t bytes = bytes_of(size_class, 0), most = SLAB / bytes;
    const uint32_t count = most < MOST_PARTS ? (uint32_t)most : MOST_PARTS;
    mr_slab *slab = calloc(1, sizeof *slab);
    mare_buffer *blocks = NULL;
    uint32_t made = 0;
    if (!slab) return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    mare_status status =
        device->backend->buffer_alloc(device->native, count * bytes, &slab->native);
    if (status == MARE_OK) made = split(device, slab, size_class, count, &blocks);
    if (status == MARE_OK && !made) {
        device->backend->buffer_free(device->native, slab->native);
        status = mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    }
    if (status != MARE_OK) {
        free(slab);
        return status;
    }
    atomic_store(&slab->parts, made);
    *out = blocks;
    put_parts(&device->pool, blocks->older);
    return MARE_OK;
}

/* A limit is for what is asked for. */
static bool is_split(const mare_device *device, uint32_t size_class) {
    return device->backend->splits_memory && size_class != UNKEPT && !device->pool.limit &&
           bytes_of(size_class, 0) <= LARGEST_PART;
}

static mare_status allocate(mare_device *device, uint64_t size, uint32_t size_class,
                            mare_buffer **out) {
    if (is_split(device, size_class)) {
        MR_TRY(reserve(device, bytes_of(size_class, size)));
        mare_status status = allocate_parts(device, size_class, out);
        if (status != MARE_OK) unreserve(device, bytes_of(size_class, size));
        return status;
    }
    const uint64_t bytes = bytes_of(size_class, size);
    mare_buffer *buffer = mr_line_alloc(sizeof *buffer);
    if (!buffer) return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    mare_status status = reserve(device, bytes);
    if (status == MARE_OK) {
        status = device->backend->buffer_alloc(device->native, bytes, &buffer->native);
        if (status != MARE_OK) unreserve(device, bytes);
    }
    if (status != MARE_OK) {
        free(buffer);
        return status;
    }
    buffer->device = device;
    buffer->size_class = size_class;
    *out = buffer;
    return MARE_OK;
}

/* ---- the handles of one device ---- */

/* Its lock comes before those of the pools. It is held while memory is given back, so that no
 * handle goes meanwhile. */
static struct {
    pthread_mutex_t lock;
    mare_device *first;
} opened = { .lock = PTHREAD_MUTEX_INITIALIZER };

typedef struct holding { uint64_t in_use, idle, freed; } holding;

static bool is_same_device(const mare_device *a, const mare_device *b) {
    return a->backend == b->backend && !strcmp(a->info.name, b->info.name);
}

static holding held_by(mare_device *device) {
    pthread_mutex_lock(&device->pool.lock);
    holding held = { device->pool.in_use, device->pool.idle, 0 };
    pthread_mutex_unlock(&device->pool.lock);
    return held;
}

/* What they hold all together; `trim`: after all that is idle was given back. */
static holding held_by_all(const mare_device *device, bool trim) {
    holding sum = { 0 };
    pthread_mutex_lock(&opened.lock);
    for (mare_device *each = opened.first; each; each = each->next_opened) {
        if (!is_same_device(each, device)) continue;
        if (trim) sum.freed += mr_pool_trim(each);
        const holding held = held_by(each);
        sum.in_use += held.in_use;
        sum.idle += held.idle;
    }
    pthread_mutex_unlock(&opened.lock);
    return sum;
}

/* ---- buffers ---- */

/* Whether the handle's own limit refuses it; to give back what is idle would not help. */
static bool is_limited(mare_device *device, uint64_t size) {
    pthread_mutex_lock(&device->pool.lock);
    bool fits = fits_limit(&device->pool, size);
    pthread_mutex_unlock(&device->pool.lock);
    return !fits;
}

static mare_status find_block(mare_device *device, uint64_t size, mare_buffer **out) {
    uint32_t size_class = classify(device, size);
    if (size_class != UNKEPT && (*out = take_idle(&device->pool, size_class))) return MARE_OK;
    mare_status status = allocate(device, size, size_class, out);
    if (status != MARE_ERROR_MEMORY || is_limited(device, size)) return status;
    const holding all = held_by_all(device, true);
    if (!all.freed && bytes_of(size_class, size) == size) return status;
    mr_log(MARE_LOG_INFO, "%s: %s; gave back %llu idle bytes", device->info.name,
           mare_error_message(), (ull)all.freed);
    return allocate(device, size, UNKEPT, out);
}

/* Puts in front of the message who holds memory: the handle if it has a limit, else all. */
static mare_status tell_held(mare_device *device, uint64_t size, mare_status status) {
    const holding held = is_limited(device, size) ? held_by(device) : held_by_all(device, false);
    return mr_annotate(status, "buffers hold %llu bytes, %llu are idle", (ull)held.in_use,
                       (ull)held.idle);
}

mare_status mr_pool_take(mare_device *device, uint64_t size, mare_buffer **out) {
    MR_TRY(mr_device_alive(device));
    mare_status status = find_block(device, size, out);
    if (status == MARE_ERROR_MEMORY) return tell_held(device, size, status);
    if (status == MARE_OK) (*out)->size = size;
    return status;
}

void mr_pool_give(mare_buffer *buffer) {
    mare_device *device = buffer->device;
    const uint64_t streams = atomic_load_explicit(&buffer->streams, memory_order_relaxed);
    if (streams) buffer->pending = streams;
    atomic_store_explicit(&buffer->streams, 0, memory_order_relaxed);
    bool kept = buffer->size_class != UNKEPT && mr_order_covers(buffer->pending) &&
                !atomic_load(&device->is_lost) && !atomic_load(&buffer->is_lent);
    if (kept) put_idle(device, buffer);
    else {
        unreserve(device, capacity(buffer));
        destroy(buffer);
    }
}

uint64_t mr_pool_trim(mare_device *device) {
    mr_pool *pool = &device->pool;
    pthread_mutex_lock(&pool->lock);
    uint64_t freed = pool->idle;
    mare_buffer *all = take_excess(pool, 0);
    pthread_mutex_unlock(&pool->lock);
    destroy_all(all);
    return freed;
}

/* ---- life ---- */

static void add_opened(mare_device *device) {
    pthread_mutex_lock(&opened.lock);
    device->next_opened = opened.first;
    opened.first = device;
    pthread_mutex_unlock(&opened.lock);
}

mare_status mr_pool_open(mare_device *device) {
    const char *wish = getenv("MARE_MEMORY_LIMIT");
    mr_pool *pool = &device->pool;
    mare_device_info *info = &device->info;
    add_opened(device);
    if (!wish || !*wish) return MARE_OK;
    if (!mr_parse_bytes(wish, &pool->limit) || !pool->limit)
        return mr_fail(MARE_ERROR_ARGUMENT, "MARE_MEMORY_LIMIT='%s' is no size (such as 1G)", wish);
    if (!info->memory || info->memory > pool->limit) info->memory = pool->limit;
    if (info->max_buffer > pool->limit) info->max_buffer = pool->limit;
    return MARE_OK;
}

static _Thread_local bool is_held;  /* the lock, by the thread that forks */

/* No fork waits for the lock: who has it may wait for a driver that forks to link a kernel. */
void mr_pool_begin_fork(void) { is_held = pthread_mutex_trylock(&opened.lock) == 0; }

/* A child that came while another thread had the lock has no list of handles. */
void mr_pool_end_fork(bool is_child) {
    if (is_child && !is_held) {
        pthread_mutex_init(&opened.lock, NULL);
        opened.first = NULL;
        return;
    }
    for (mare_device *each = opened.first; each && is_child; each = each->next_opened)
        mr_device_leave(each);
    if (is_held) pthread_mutex_unlock(&opened.lock);
}

/* The device may be one whose opening failed before it had a pool. */
void mr_pool_close(mare_device *device) {
    pthread_mutex_lock(&opened.lock);
    mare_device **link = &opened.first;
    while (*link && *link != device) link = &(*link)->next_opened;
    if (*link) *link = device->next_opened;
    pthread_mutex_unlock(&opened.lock);
    mr_pool_trim(device);
}

void mr_pool_limit(mare_device *device, uint64_t *free, uint64_t *total) {
    const uint64_t limit = device->pool.limit;
    if (!limit) return;
    const holding held = held_by(device);
    const uint64_t left = limit - held.in_use - held.idle;
    if (!*total || *free > left) *free = left;
    if (!*total || *total > limit) *total = limit;
}

mare_status mare_device_pool(mare_device *device, uint64_t *in_use, uint64_t *idle) {
    if (!device || !in_use || !idle)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_device_pool: device, in_use and idle are required");
    const holding held = held_by(device);
    *in_use = held.in_use;
    *idle = held.idle;
    return MARE_OK;
}

mare_status mare_device_trim(mare_device *device) {
    if (!device) return mr_fail(MARE_ERROR_ARGUMENT, "mare_device_trim: device is NULL");
    mr_pool_trim(device);
    return MARE_OK;
}
