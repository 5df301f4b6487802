/* peer.c - memory of other devices and of other processes. */
#include "internal.h"

#include <string.h>

/* ---- other devices ---- */

static mare_status check_both(const char *call, const mare_device *device,
                              const mare_device *peer) {
    if (device && peer) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT, "%s: device and peer are required", call);
}

bool mr_device_reaches(const mare_device *device, const mare_device *other) {
    if (device == other) return true;
    for (int i = 0; i < MR_PEERS; i++)
        if (atomic_load(&device->peers[i]) == other->serial) return true;
    return false;
}

static mare_status ask(mare_device *device, mare_device *peer, int *can) {
    *can = device == peer;
    if (*can || device->backend != peer->backend || !device->backend->peer_can_reach)
        return MARE_OK;
    MR_TRY(mr_device_alive(peer));
    MR_ON_DEVICE(device, peer_can_reach(device->native, peer->native, can), "device '%s': reach %s",
                 device->info.name, peer->info.name);
    return MARE_OK;
}

mare_status mare_device_can_reach(mare_device *device, mare_device *peer, int32_t *can) {
    MR_TRY(check_both("mare_device_can_reach", device, peer));
    if (!can) return mr_fail(MARE_ERROR_ARGUMENT, "mare_device_can_reach: can is NULL");
    int answer = 0;
    MR_TRY(ask(device, peer, &answer));
    *can = answer != 0;
    return MARE_OK;
}

/* A place that is free, taken by whichever thread is first. */
static mare_status note_peer(mare_device *device, const mare_device *peer) {
    for (int i = 0; i < MR_PEERS; i++) {
        unsigned long long none = 0;
        if (atomic_compare_exchange_strong(&device->peers[i], &none, peer->serial)) return MARE_OK;
    }
    return mr_fail(MARE_ERROR_ARGUMENT, "device '%s': it reaches %d peers already, %s would be one "
                   "more", device->info.name, MR_PEERS, peer->info.name);
}

mare_status mare_device_reach(mare_device *device, mare_device *peer) {
    int can = 0;
    MR_TRY(check_both("mare_device_reach", device, peer));
    if (mr_device_reaches(device, peer)) return MARE_OK;
    MR_TRY(ask(device, peer, &can));
    if (!can)
        return mr_fail(MARE_ERROR_UNAVAILABLE,
                       "device '%s' (%s) cannot reach the memory of '%s' (%s): they are no peers",
                       device->info.name, device->info.model, peer->info.name, peer->info.model);
    MR_ON_DEVICE(device, peer_reach(device->native, peer->native), "device '%s': reach %s",
                 device->info.name, peer->info.name);
    return note_peer(device, peer);
}

/* ---- other processes ---- */

/* What the bytes of a mare_share hold. */
typedef struct share {
    char mark[8];
    unsigned char name[64];
    uint64_t offset, size;
    uint32_t type;
} share;

static const char share_mark[8] = "mare-5";

static mare_status need_sharing(const mare_device *device) {
    if (device->info.has_sharing && device->backend->share_make) return MARE_OK;
    return mr_fail(MARE_ERROR_UNAVAILABLE, "%s (%s) does not share memory between processes",
                   device->info.name, device->info.model);
}

mare_status mare_buffer_share(mare_buffer *buffer, mare_share *out) {
    if (!buffer || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_buffer_share: buffer and out are required");
    mare_device *device = buffer->device;
    share made = { .offset = buffer->offset, .size = buffer->size, .type = buffer->type };
    MR_TRY_WITH(need_sharing(device), "buffer '%s'", buffer->object.label);
    const mr_native native = mr_pool_whole(buffer, &made.offset);
    MR_ON_DEVICE(device, share_make(device->native, native, made.name),
                 "buffer '%s': sharing", buffer->object.label);
    memcpy(made.mark, share_mark, sizeof made.mark);
    mr_order_give_up(buffer);
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, &made, sizeof made);
    return MARE_OK;
}

static mare_status read_share(const mare_share *from, const char *label, share *out) {
    memcpy(out, from->bytes, sizeof *out);
    const size_t element = mare_type_size((mare_type)out->type);
    if (!memcmp(out->mark, share_mark, sizeof share_mark) && out->size && element &&
        out->size % element == 0)
        return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT, "buffer '%s': the bytes are not those of a mare_share",
                   label);
}

mare_status mare_buffer_open(mare_device *device, const mare_share *from, const char *label,
                             mare_buffer **out) {
    if (out) *out = NULL;
    if (!device || !from || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_buffer_open: device, share and out are required");
    share read;
    if (!label) label = "buffer of another process";
    MR_TRY_WITH(need_sharing(device), "buffer '%s'", label);
    MR_TRY(read_share(from, label, &read));
    mare_buffer *buffer = mr_object_new_on_line(sizeof *buffer, "buffer", label);
    if (!buffer) return MARE_ERROR_MEMORY;
    buffer->device = device;
    buffer->offset = read.offset;
    buffer->size = read.size;
    buffer->type = read.type;
    buffer->is_opened = true;
    mare_status status = mr_device_alive(device);
    if (status == MARE_OK)
        status = device->backend->share_open(device->native, read.name, &buffer->native);
    if (status != MARE_OK) {
        mr_object_delete(&buffer->object);
        return mr_device_note(device, mr_annotate(status, "buffer '%s'", label));
    }
    mare_device_retain(device);
    *out = buffer;
    return MARE_OK;
}
