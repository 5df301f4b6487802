/* device.c - opening, querying and closing devices.
 *
 * The default stream lives inside its device: retaining or releasing it counts on the device
 * instead.
 */
#include "internal.h"

#include <stdio.h>
#include <string.h>

static void destroy(mare_device *device) {
    if (!device) return;
    if (device->stream) {
        if (device->stream->native.u64)
            device->backend->stream_destroy(device->native, device->stream->native);
        mr_object_delete(&device->stream->object);
    }
    if (device->native.u64) device->backend->device_close(device->native);
    mr_object_delete(&device->object);
}

static mare_status add_default_stream(mare_device *device) {
    device->stream = mr_object_new(sizeof *device->stream, "stream", "default");
    if (!device->stream) return MARE_ERROR_MEMORY;
    device->stream->device = device;
    device->stream->is_default = true;
    return device->backend->stream_create(device->native, 0, &device->stream->native);
}

static mare_status open_device(const mr_backend *backend, int index, mare_device **out) {
    char name[32];
    snprintf(name, sizeof name, "%s:%d", backend->name, index);
    mare_device *device = mr_object_new(sizeof *device, "device", name);
    if (!device) return MARE_ERROR_MEMORY;
    device->backend = backend;
    mare_status status = backend->device_info(index, &device->info);
    memcpy(device->info.name, name, sizeof name);
    if (status == MARE_OK) status = backend->device_open(index, &device->native);
    if (status == MARE_OK) status = add_default_stream(device);
    if (status != MARE_OK) {
        destroy(device);
        return mr_annotate(status, "device '%s'", name);
    }
    *out = device;
    return MARE_OK;
}

mare_status mare_device_open(const char *name, mare_device **out) {
    if (!out) return mr_fail(MARE_ERROR_ARGUMENT, "mare_device_open: out is NULL");
    *out = NULL;
    const mr_backend *backend = NULL;
    int index = 0;
    MR_TRY(mr_registry_resolve(name, &backend, &index));
    return open_device(backend, index, out);
}

void mare_device_retain(mare_device *device) {
    if (device) mr_object_retain(&device->object);
}

void mare_device_release(mare_device *device) {
    if (device && mr_object_unref(&device->object)) destroy(device);
}

mare_status mare_device_query(mare_device *device, mare_device_info *out) {
    if (!device || !out)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_device_query: device and out are required");
    *out = device->info;
    return MARE_OK;
}

mare_status mare_device_memory(mare_device *device, uint64_t *free, uint64_t *total) {
    if (!device || !free || !total)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_device_memory: device, free and total are required");
    *free = *total = 0;
    MR_TRY_WITH(device->backend->device_memory(device->native, free, total), "device '%s'",
                device->info.name);
    return MARE_OK;
}

mare_status mare_device_wait(mare_device *device) {
    if (!device) return mr_fail(MARE_ERROR_ARGUMENT, "mare_device_wait: device is NULL");
    MR_TRY_WITH(device->backend->device_wait(device->native), "device '%s': wait",
                device->info.name);
    return MARE_OK;
}

mare_stream *mare_device_stream(mare_device *device) { return device ? device->stream : NULL; }

mare_status mr_device_pick_stream(mare_device *device, mare_stream *stream, const char *what,
                                  const char *label, mare_stream **out) {
    if (stream && stream->device != device)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "%s '%s' belongs to device %s, stream '%s' to another (%s)", what, label,
                       device->info.name, stream->object.label, stream->device->info.name);
    *out = stream ? stream : device->stream;
    return MARE_OK;
}
