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
    mr_tensor_close(device);
    mr_pool_close(device);
    mr_profile_close(device);
    if (device->stream) {
        mr_plan_abandon(device->stream);
        if (device->stream->native.u64) mr_stream_close(device->stream);
        mr_object_delete(&device->stream->object);
    }
    mr_order_close(device);
    if (device->native.u64)
        device->backend->device_close(device->native, atomic_load(&device->is_lost));
    mr_text_free(&device->fault);
    pthread_mutex_destroy(&device->pool.lock);
    mr_object_delete(&device->object);
}

static mare_status add_default_stream(mare_device *device) {
    device->stream = mr_object_new_on_line(sizeof *device->stream, "stream", "default");
    if (!device->stream) return MARE_ERROR_MEMORY;
    device->stream->is_default = true;
    return mr_stream_open(device, device->stream, 0, NULL);
}

static mare_status open_native(mare_device *device, int index, void *context) {
    const mr_backend *backend = device->backend;
    if (!context) return backend->device_open(index, &device->native);
    if (backend->device_adopt) return backend->device_adopt(index, context, &device->native);
    return mr_fail(MARE_ERROR_UNAVAILABLE, "%s has no contexts to adopt", backend->name);
}

static mare_status open_device(const mr_backend *backend, int index, void *context,
                               mare_device **out) {
    char name[32];
    snprintf(name, sizeof name, "%s:%d", backend->name, index);
    mare_device *device = mr_object_new_on_line(sizeof *device, "device", name);
    if (!device) return MARE_ERROR_MEMORY;
    static atomic_ullong serials;
    device->backend = backend;
    device->serial = atomic_fetch_add(&serials, 1) + 1;
    pthread_mutex_init(&device->pool.lock, NULL);
    mare_status status = backend->device_info(index, &device->info);
    memcpy(device->info.name, name, sizeof name);
    device->info.runs_kernels = backend->runs_kernels;
    device->info.has_compiler = backend->has_compiler;
    if (status == MARE_OK) status = mr_pool_open(device);
    if (status == MARE_OK) status = open_native(device, index, context);
    if (status == MARE_OK) status = add_default_stream(device);
    if (status != MARE_OK) {
        mr_device_note(device, status);
        destroy(device);
        return mr_annotate(status, "device '%s'", name);
    }
    mr_log(MARE_LOG_INFO, "opened %s: %s, %s", name, device->info.model, device->info.driver);
    *out = device;
    return MARE_OK;
}

mare_status mare_device_open(const char *name, mare_device **out) {
    if (!out) return mr_fail(MARE_ERROR_ARGUMENT, "mare_device_open: out is NULL");
    return mr_device_open(name, NULL, out);
}

mare_status mr_device_open(const char *name, void *context, mare_device **out) {
    *out = NULL;
    const mr_backend *backend = NULL;
    int index = 0;
    MR_TRY(mr_registry_resolve(name, &backend, &index));
    return open_device(backend, index, context, out);
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
    MR_ON_DEVICE(device, device_memory(device->native, free, total), "device '%s'",
                 device->info.name);
    mr_pool_limit(device, free, total);
    return MARE_OK;
}

mare_status mare_device_wait(mare_device *device) {
    if (!device) return mr_fail(MARE_ERROR_ARGUMENT, "mare_device_wait: device is NULL");
    MR_ON_DEVICE(device, device_wait(device->native), "device '%s': wait", device->info.name);
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

/* ---- faults ---- */

mare_status mr_device_alive(const mare_device *device) {
    if (!atomic_load_explicit(&device->is_lost, memory_order_acquire)) return MARE_OK;
    return mr_fail(MARE_ERROR_LOST, "device '%s' was lost: %s", device->info.name,
                   mr_text_cstr(&device->fault));
}

static void lose(mare_device *device, const char *fault) {
    mr_text_format(&device->fault, "%s", fault);
    atomic_store_explicit(&device->is_lost, true, memory_order_release);
}

void mr_device_leave(mare_device *device) {
    if (!device->backend->runs_kernels) return;
    if (!atomic_load(&device->is_lost)) lose(device, mr_fork_reason);
    device->backend = &mr_backend_gone;
}

mare_status mr_device_note(mare_device *device, mare_status status) {
    if (status != MARE_ERROR_LOST) return status;
    pthread_mutex_lock(&device->pool.lock);
    if (!atomic_load(&device->is_lost)) {
        lose(device, mare_error_message());
        mr_log(MARE_LOG_ERROR, "device '%s' is lost: %s", device->info.name,
               mr_text_cstr(&device->fault));
    }
    pthread_mutex_unlock(&device->pool.lock);
    return status;
}
