/* gone.c - what stands in the child of a fork for the back end of a device of its parent, all of
 * whose calls have failed by then: its objects are released without a word to the driver, whose
 * threads are not there and which would wait for them for ever. */
#include "backend.h"

#include <stddef.h>

static void close_device(mr_native device, bool is_lost) { (void)device, (void)is_lost; }

static void release(mr_native device, mr_native object) { (void)device, (void)object; }

static mare_status wait_for(mr_native device, mr_native object) {
    release(device, object);
    return MARE_OK;
}

static mare_status order(mr_native device, mr_native object, mr_native other) {
    (void)other;
    return wait_for(device, object);
}

static mare_status answer(mr_native device, mr_native event, int *done) {
    *done = 1;
    return wait_for(device, event);
}

static mare_status create_event(mr_native device, mr_native *out) {
    *out = device;
    return MARE_OK;
}

const mr_backend mr_backend_gone = {
    .name = "gone",
    .prelude = "",
    .device_close = close_device,
    .buffer_free = release,
    .host_free = release,
    .stream_destroy = release,
    .stream_wait = wait_for,
    .stream_flush = wait_for,
    .stream_wait_event = order,
    .event_create = create_event,
    .event_destroy = release,
    .event_record = order,
    .event_wait = wait_for,
    .event_query = answer,
    .program_unload = release,
    .kernel_release = release,
    .launch_destroy = release,
    .plan_destroy = release,
    .stream_disown = release,
    .buffer_disown = release,
    .share_close = release,
};
