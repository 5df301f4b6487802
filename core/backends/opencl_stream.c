/* opencl_stream.c - streams and events.
 *
 * A stream is an in-order queue with profiling. A record takes the vendor's event of the queue's
 * last command while that has still to run, else that of a marker, whose time is the moment of the
 * record. With NVIDIA's driver queues that wait for markers of each other hardly overlap
 * (copies and kernels on three queues: 1.4 times as fast as on one, 2.45 times when they wait for
 * commands).
 *
 * There the host takes 9 to 10 us to queue a transfer with profiling, 3 to 4 without (580, H200).
 * So a stream that the host has waited for several times without a record turns to a queue without
 * it, and back at the next record.
 */
#include "opencl.h"

#include <stdlib.h>

/* ---- streams ---- */

static mare_status make_queue(const mr_opencl_device *device, int priority,
                              struct mr_cl_queue **out) {
    struct mr_cl_device *id = device->entry->id;
    int32_t code = 0;
    if (priority == 0 || !device->entry->has_priorities) {
        *out = mr_cl.clCreateCommandQueue(device->context, id, MR_CL_QUEUE_PROFILING_ENABLE, &code);
        return *out ? MARE_OK : mr_opencl_fail(code, "clCreateCommandQueue", "with profiling");
    }
    const uint64_t level =
        priority > 0 ? MR_CL_QUEUE_PRIORITY_HIGH_KHR : MR_CL_QUEUE_PRIORITY_LOW_KHR;
    const uint64_t properties[] = { MR_CL_QUEUE_PROPERTIES, MR_CL_QUEUE_PROFILING_ENABLE,
                                    MR_CL_QUEUE_PRIORITY_KHR, level, 0 };
    *out = mr_cl.clCreateCommandQueueWithProperties(device->context, id, properties, &code);
    if (*out) return MARE_OK;
    return mr_opencl_fail(code, "clCreateCommandQueueWithProperties", "priority %d", priority);
}

mare_status mr_opencl_stream_wrap(mr_opencl_device *device, struct mr_cl_queue *queue,
                                  mr_native *out) {
    mr_opencl_stream *stream = mr_line_alloc(sizeof *stream);
    if (!stream) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a stream");
    pthread_mutex_init(&stream->lock, NULL);
    pthread_rwlock_init(&stream->turn, NULL);
    stream->queue = stream->timed = queue;
    stream->span = UINT64_MAX / 2; /* no record is expected */
    pthread_mutex_lock(&device->lock);
    stream->next = device->streams;
    device->streams = stream;
    pthread_mutex_unlock(&device->lock);
    out->ptr = stream;
    return MARE_OK;
}

/* Only streams of usual priority do, so that one call makes either queue. */
static bool may_turn(const mr_opencl_device *device, int priority) {
    return device->entry->is_nvidia && priority == 0;
}

mare_status mr_opencl_stream_create(mr_native native, int priority, mr_native *out) {
    struct mr_cl_queue *queue = NULL;
    MR_TRY(make_queue(native.ptr, priority, &queue));
    mare_status status = mr_opencl_stream_wrap(native.ptr, queue, out);
    if (status != MARE_OK) mr_cl.clReleaseCommandQueue(queue);
    else ((mr_opencl_stream *)out->ptr)->may_turn = may_turn(native.ptr, priority);
    return status;
}

static int32_t state_of(struct mr_cl_event *event, int32_t *state) {
    *state = MR_CL_COMPLETE;
    return mr_cl.clGetEventInfo(event, MR_CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *state, state,
                                NULL);
}

static void free_stream(mr_opencl_stream *stream) {
    if (stream->last) mr_cl.clReleaseEvent(stream->last);
    pthread_mutex_destroy(&stream->lock);
    pthread_rwlock_destroy(&stream->turn);
    free(stream);
}

/* Its last event becomes that of a marker behind all its work; false if this has ended. */
static bool mark_end(mr_opencl_stream *stream) {
    int32_t state = MR_CL_COMPLETE;
    struct mr_cl_event *marker = NULL;
    if (mr_cl.clEnqueueMarkerWithWaitList(stream->queue, 0, NULL, &marker) != 0) return false;
    if (stream->last) mr_cl.clReleaseEvent(stream->last);
    stream->last = marker;
    return mr_cl.clFlush(stream->queue) == 0 && state_of(marker, &state) == 0 &&
           state > MR_CL_COMPLETE;
}

static void forget_ended(mr_opencl_device *device) {
    mr_opencl_stream **link = &device->gone;
    while (*link) {
        mr_opencl_stream *stream = *link;
        int32_t state;
        if (state_of(stream->last, &state) == 0 && state > MR_CL_COMPLETE) link = &stream->next;
        else {
            *link = stream->next;
            free_stream(stream);
        }
    }
}

/* The queued work completes, and device_wait still waits for it. */
void mr_opencl_stream_destroy(mr_native native, mr_native stream_native) {
    mr_opencl_device *device = native.ptr;
    mr_opencl_stream *stream = stream_native.ptr;
    if (!stream) return;
    struct mr_cl_queue *timed = stream->timed, *untimed = stream->untimed;
    pthread_mutex_lock(&device->lock);
    mr_opencl_stream **link = &device->streams;
    while (*link && *link != stream)
        link = &(*link)->next;
    if (*link) *link = stream->next;
    forget_ended(device);
    bool runs = mark_end(stream);
    if (runs) {
        stream->next = device->gone;
        device->gone = stream;
    }
    pthread_mutex_unlock(&device->lock);
    if (!runs) free_stream(stream);
    mr_cl.clReleaseCommandQueue(timed);
    if (untimed) mr_cl.clReleaseCommandQueue(untimed);
}

int32_t mr_opencl_forget_gone(mr_opencl_device *device, bool wait) {
    int32_t code = 0;
    while (device->gone && code == 0) {
        mr_opencl_stream *stream = device->gone;
        device->gone = stream->next;
        if (wait) code = mr_cl.clWaitForEvents(1, &stream->last);
        free_stream(stream);
    }
    return code;
}

/* ---- turns from queue to queue ---- */

/* Without an order between the two: there is nothing left to do. */
static void turn_to_untimed(const mr_opencl_device *device, mr_opencl_stream *stream) {
    enum { CALM = 4 };
    if (!stream->may_turn || atomic_fetch_add(&stream->calm, 1) < CALM) return;
    pthread_rwlock_wrlock(&stream->turn);
    if (!stream->untimed) {
        int32_t code = 0;
        stream->untimed =
            mr_cl.clCreateCommandQueue(device->context, device->entry->id, 0, &code);
    }
    if (stream->untimed && mr_opencl_is_idle(stream)) stream->queue = stream->untimed;
    pthread_rwlock_unlock(&stream->turn);
}

/* The other queue waits for what is left to do. The event kept last has no time. */
static int32_t turn_to_timed(mr_opencl_stream *stream) {
    struct mr_cl_event *end = NULL;
    int32_t code = 0;
    if (!mr_opencl_is_idle(stream)) {
        code = mr_cl.clEnqueueMarkerWithWaitList(stream->queue, 0, NULL, &end);
        if (code == 0) code = mr_cl.clFlush(stream->queue);
        if (code == 0) code = mr_cl.clEnqueueBarrierWithWaitList(stream->timed, 1, &end, NULL);
        if (end) mr_cl.clReleaseEvent(end);
    }
    if (code != 0) return code;
    if (stream->last) mr_cl.clReleaseEvent(stream->last);
    stream->last = NULL;
    stream->queue = stream->timed;
    return 0;
}

int32_t mr_opencl_stream_use_times(mr_opencl_stream *stream) {
    int32_t code = 0;
    if (!stream->may_turn) return 0;
    atomic_store(&stream->calm, 0);
    pthread_rwlock_wrlock(&stream->turn);
    pthread_mutex_lock(&stream->lock);
    if (stream->queue != stream->timed) code = turn_to_timed(stream);
    pthread_mutex_unlock(&stream->lock);
    pthread_rwlock_unlock(&stream->turn);
    return code;
}

/* Again where another thread has turned the stream meanwhile. */
int32_t mr_opencl_stream_finish(mr_opencl_stream *stream) {
    struct mr_cl_queue *queue;
    int32_t code;
    do {
        queue = stream->queue;
        code = mr_cl.clFinish(queue);
    } while (code == 0 && queue != stream->queue);
    return code;
}

mare_status mr_opencl_stream_wait(mr_native native, mr_native stream_native) {
    mr_opencl_stream *stream = stream_native.ptr;
    const uint64_t queued = atomic_load(&stream->queued);
    int32_t code = mr_opencl_stream_finish(stream);
    if (code != 0) return mr_opencl_fail(code, "clFinish", "one stream");
    mr_opencl_note_end(stream, queued);
    turn_to_untimed(native.ptr, stream);
    return MARE_OK;
}

mare_status mr_opencl_stream_flush(mr_native native, mr_native stream) {
    (void)native;
    MR_CL_TRY(clFlush, (((mr_opencl_stream *)stream.ptr)->queue), "one stream");
    return MARE_OK;
}

/* ---- commands ---- */

void mr_opencl_keep(const mr_opencl_command *command) {
    mr_opencl_stream *stream = command->stream;
    pthread_mutex_lock(&stream->lock);
    struct mr_cl_event *before = stream->last;
    stream->last = command->event;
    stream->last_number = command->number;
    pthread_mutex_unlock(&stream->lock);
    if (before) mr_cl.clReleaseEvent(before);
}

/* The last command's event, if it was kept and the command has still to end, or NULL: also where
 * several threads queue at once, whose commands' numbers then do not fit. */
static int32_t take_last(mr_opencl_stream *stream, struct mr_cl_event **out) {
    int32_t code = 0, state = MR_CL_COMPLETE;
    pthread_mutex_lock(&stream->lock);
    if (stream->last && stream->last_number == atomic_load(&stream->queued))
        code = state_of(stream->last, &state);
    if (code == 0 && state > MR_CL_COMPLETE) {
        code = mr_cl.clRetainEvent(stream->last);
        if (code == 0) *out = stream->last;
    }
    pthread_mutex_unlock(&stream->lock);
    return code;
}

/* A marker that tells it would run behind what another queue does by then: on NVIDIA's devices that
 * of a copying queue runs behind the copy of another one. */
bool mr_opencl_stream_has_ended(mr_native native, mr_native stream_native) {
    (void)native;
    mr_opencl_stream *stream = stream_native.ptr;
    if (atomic_load(&stream->is_lent)) return false;
    if (mr_opencl_is_idle(stream)) return true;
    int32_t code = MR_CL_INVALID_EVENT, state = MR_CL_COMPLETE;
    pthread_mutex_lock(&stream->lock);
    if (stream->last && stream->last_number == atomic_load(&stream->queued))
        code = state_of(stream->last, &state);
    pthread_mutex_unlock(&stream->lock);
    return code == 0 && state == MR_CL_COMPLETE;
}

/* ---- events: what the last record gave, exchanged under a lock since any thread may look at it
 * ---- */

typedef struct event_slot {
    pthread_mutex_t lock;
    struct mr_cl_event *event;
} event_slot;

mare_status mr_opencl_event_create(mr_native native, mr_native *out) {
    (void)native;
    event_slot *slot = calloc(1, sizeof *slot);
    if (!slot) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for an event");
    pthread_mutex_init(&slot->lock, NULL);
    out->ptr = slot;
    return MARE_OK;
}

void mr_opencl_event_destroy(mr_native native, mr_native event) {
    (void)native;
    event_slot *slot = event.ptr;
    if (!slot) return;
    if (slot->event) mr_cl.clReleaseEvent(slot->event);
    pthread_mutex_destroy(&slot->lock);
    free(slot);
}

static void note_record(mr_opencl_stream *stream) {
    const uint64_t queued = atomic_load(&stream->queued);
    const uint64_t span = queued - atomic_exchange(&stream->recorded, queued);
    if (span) atomic_store(&stream->span, span);
}

/* Again where another thread has turned the stream away meanwhile, as it does after some waits. */
static int32_t begin_timed(mr_native native, mr_opencl_command *command) {
    mr_opencl_stream *stream = native.ptr;
    struct mr_cl_queue *queue;
    int32_t code;
    do {
        mr_opencl_let_go(command);
        command->stream = NULL;
        code = mr_opencl_stream_use_times(stream);
        queue = mr_opencl_begin(native, command);
    } while (code == 0 && queue != stream->timed);
    return code;
}

/* The queue is flushed at once, since another queue or thread may wait for the event. */
mare_status mr_opencl_event_record(mr_native native, mr_native event, mr_native stream_native) {
    (void)native;
    event_slot *slot = event.ptr;
    mr_opencl_stream *stream = stream_native.ptr;
    struct mr_cl_event *now = NULL;
    MR_OPENCL_COMMAND(command);
    int32_t code = begin_timed(stream_native, &command);
    if (code != 0)
        return mr_opencl_fail(code, "clEnqueueBarrierWithWaitList", "a stream that turns");
    code = take_last(stream, &now);
    if (code != 0)
        return mr_opencl_fail(code, "clGetEventInfo, clRetainEvent", "a stream's last command");
    if (!now)
        MR_CL_TRY(clEnqueueMarkerWithWaitList, (stream->queue, 0, NULL, &now), "one stream");
    note_record(stream);
    pthread_mutex_lock(&slot->lock);
    struct mr_cl_event *before = slot->event;
    slot->event = now;
    pthread_mutex_unlock(&slot->lock);
    if (before) mr_cl.clReleaseEvent(before);
    MR_CL_TRY(clFlush, (stream->queue), "after a record");
    return MARE_OK;
}

/* The caller releases what it gets. */
static mare_status take_event(mr_native native, struct mr_cl_event **out) {
    event_slot *slot = native.ptr;
    pthread_mutex_lock(&slot->lock);
    struct mr_cl_event *event = slot->event;
    int32_t code = event ? mr_cl.clRetainEvent(event) : MR_CL_INVALID_EVENT;
    pthread_mutex_unlock(&slot->lock);
    if (code != 0) return mr_opencl_fail(code, "clRetainEvent", "the event of a record");
    *out = event;
    return MARE_OK;
}

mare_status mr_opencl_stream_wait_event(mr_native native, mr_native stream_native, mr_native slot) {
    (void)native;
    mr_opencl_stream *stream = stream_native.ptr;
    struct mr_cl_event *event = NULL;
    MR_TRY(take_event(slot, &event));
    MR_OPENCL_COMMAND(command); /* without an event */
    int32_t code = mr_cl.clEnqueueBarrierWithWaitList(mr_opencl_begin(stream_native, &command), 1,
                                                      &event, NULL);
    atomic_fetch_add(&stream->queued, 1);
    mr_cl.clReleaseEvent(event);
    return code == 0 ? MARE_OK : mr_opencl_fail(code, "clEnqueueBarrierWithWaitList", "one event");
}

mare_status mr_opencl_event_wait(mr_native native, mr_native slot) {
    (void)native;
    struct mr_cl_event *event = NULL;
    MR_TRY(take_event(slot, &event));
    int32_t code = mr_cl.clWaitForEvents(1, &event);
    mr_cl.clReleaseEvent(event);
    return code == 0 ? MARE_OK : mr_opencl_fail(code, "clWaitForEvents", "one event");
}

mare_status mr_opencl_event_query(mr_native native, mr_native slot, int *done) {
    (void)native;
    struct mr_cl_event *event = NULL;
    int32_t state = MR_CL_COMPLETE;
    MR_TRY(take_event(slot, &event));
    int32_t code = state_of(event, &state);
    mr_cl.clReleaseEvent(event);
    if (code == 0 && state < 0) code = state; /* the work failed */
    if (code != 0)
        return mr_opencl_fail(code, "clGetEventInfo", "CL_EVENT_COMMAND_EXECUTION_STATUS");
    *done = state == MR_CL_COMPLETE;
    return MARE_OK;
}

/* Nanoseconds at which the work before the record was done. */
static mare_status completion_time(mr_native slot, uint64_t *out) {
    struct mr_cl_event *event = NULL;
    MR_TRY(take_event(slot, &event));
    int32_t code =
        mr_cl.clGetEventProfilingInfo(event, MR_CL_PROFILING_COMMAND_END, sizeof *out, out, NULL);
    mr_cl.clReleaseEvent(event);
    if (code == 0) return MARE_OK;
    return mr_opencl_fail(code, "clGetEventProfilingInfo", "CL_PROFILING_COMMAND_END");
}

mare_status mr_opencl_event_elapsed_ms(mr_native native, mr_native start, mr_native stop,
                                       double *out) {
    uint64_t from = 0, to = 0;
    MR_TRY(mr_opencl_event_wait(native, start));
    MR_TRY(mr_opencl_event_wait(native, stop));
    MR_TRY(completion_time(start, &from));
    MR_TRY(completion_time(stop, &to));
    *out = to >= from ? (double)(to - from) * 1e-6 : -(double)(from - to) * 1e-6;
    return MARE_OK;
}
