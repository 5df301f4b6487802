/* order.c - who waits for whom when memory changes hands.
 *
 * A device numbers its streams, and a buffer keeps a bit for each stream that has used it. The next
 * owner of its memory inherits the bits: when a stream first touches the new buffer, it waits for
 * the other streams of the inheritance. The event is recorded only then, so it may cover more than
 * it must, never less; a program with one stream never records any. A slot outlives its stream: its
 * event then marks the stream's end, and a new stream in the slot begins by waiting for it. Memory
 * that was released before that one began waits for the end of the last, not for what it does.
 */
#include "internal.h"

/* The last bit is for all streams beyond the slots and those of other devices: what they used goes
 * back to the vendor, which waits for everything. */
enum { UNTRACKED = MR_STREAM_SLOTS };

bool mr_order_covers(uint64_t streams) { return !(streams >> UNTRACKED); }

/* ---- slots ---- */

mare_status mr_order_mark(mare_device *device, mr_native *out) {
    const mr_backend *backend = device->backend;
    return (backend->mark_create ? backend->mark_create : backend->event_create)(device->native,
                                                                                 out);
}

static mare_status need_event(mare_device *device, mr_slot *slot) {
    return slot->event.u64 ? MARE_OK : mr_order_mark(device, &slot->event);
}

mare_status mr_order_add(mare_stream *stream) {
    mare_device *device = stream->device;
    mare_status status = MARE_OK;
    pthread_mutex_lock(&device->pool.lock);
    stream->slot = 0;
    while (stream->slot < UNTRACKED && device->slots[stream->slot].stream) stream->slot++;
    if (stream->slot < UNTRACKED) {
        mr_slot *slot = &device->slots[stream->slot];
        const mr_native native = stream->native;
        if (slot->ended)
            status = device->backend->stream_wait_event(device->native, native, slot->event);
        if (status == MARE_OK) {
            slot->stream = stream;
            slot->since = device->pool.released;
        }
    }
    pthread_mutex_unlock(&device->pool.lock);
    return status;
}

/* Marks the end of the stream's work by an event; where that fails the host waits for it. */
void mr_order_remove(mare_stream *stream) {
    mare_device *device = stream->device;
    const mr_backend *backend = device->backend;
    if (stream->slot == UNTRACKED) return;
    mr_slot *slot = &device->slots[stream->slot];
    pthread_mutex_lock(&device->pool.lock);
    slot->ended = need_event(device, slot) == MARE_OK &&
                  backend->event_record(device->native, slot->event, stream->native) == MARE_OK;
    if (!slot->ended) (void)backend->stream_wait(device->native, stream->native);
    slot->stream = NULL;
    pthread_mutex_unlock(&device->pool.lock);
}

/* Of the streams that have ended the last of each slot waited for those before it. PoCL compiles a
 * kernel when it is to run: a process that ends meanwhile crashes in its compiler. */
void mr_order_close(mare_device *device) {
    const mr_backend *backend = device->backend;
    for (int i = 0; i < MR_STREAM_SLOTS; i++) {
        const mr_slot *slot = &device->slots[i];
        if (slot->ended && device->info.keeps_programs)
            (void)backend->event_wait(device->native, slot->event);
        if (slot->event.u64) backend->event_destroy(device->native, slot->event);
    }
}

/* ---- use ---- */

/* Whether the slot's event has come: no queue has to wait for it. */
static bool has_come(const mare_device *device, const mr_slot *slot) {
    int done = 0;
    if (device->backend->event_query(device->native, slot->event, &done) == MARE_OK) return done;
    mr_clear_error();
    return false;
}

/* `queue`, which is on device `there`, waits for what the stream of the slot has queued so far, or
 * for the end of the last one if that was released as this `number`. */
static mare_status wait_for_slot(mare_device *device, mr_slot *slot, uint64_t number,
                                 const mare_device *there, mr_native queue) {
    const mr_backend *backend = device->backend;
    const bool is_running = slot->stream && number > slot->since;
    if (!is_running && (!slot->ended || has_come(device, slot))) return MARE_OK;
    if (is_running) {
        if (backend->stream_has_ended &&
            backend->stream_has_ended(device->native, slot->stream->native))
            return MARE_OK;
        MR_TRY(need_event(device, slot));
        MR_TRY(backend->event_record(device->native, slot->event, slot->stream->native));
    }
    return backend->stream_wait_event(there->native, queue, slot->event);
}

mare_status mr_order_wait(mare_device *device, uint64_t streams, uint64_t number,
                          const mare_device *there, mr_native queue) {
    mare_status status = MARE_OK;
    pthread_mutex_lock(&device->pool.lock);
    for (uint64_t left = streams; left && status == MARE_OK; left &= left - 1)
        status = wait_for_slot(device, &device->slots[__builtin_ctzll(left)], number, there,
                               queue);
    pthread_mutex_unlock(&device->pool.lock);
    return status;
}

mare_status mr_order_use(mare_buffer *buffer, const mare_stream *stream) {
    if (mr_order_is_known(buffer, stream)) return MARE_OK;
    while (buffer->parent) buffer = buffer->parent;
    const bool is_ours = stream->device == buffer->device;
    const uint64_t bit = 1ull << (is_ours ? stream->slot : UNTRACKED);
    if (buffer->pending & ~bit)
        MR_TRY_WITH(mr_order_wait(buffer->device, buffer->pending & ~bit, buffer->number,
                                  stream->device, stream->native),
                    "buffer '%s': waiting for the former use of its memory", buffer->object.label);
    atomic_fetch_or(&buffer->streams, bit);
    return MARE_OK;
}

void mr_order_give_up(mare_buffer *buffer) {
    while (buffer->parent) buffer = buffer->parent;
    atomic_fetch_or(&buffer->streams, 1ull << UNTRACKED);
}
