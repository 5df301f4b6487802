/* opencl_launch.c - launches.
 *
 * In OpenCL the arguments are a state of the kernel object. So each launch has a kernel object of
 * its own and sets only those arguments that have changed since its last run; whether any has, it
 * sees from the revision, which counts the settings of a launch.
 * A view is a sub-buffer, which is kept until another takes its place. Buffers are told apart by
 * serial numbers, since a new one may lie at the place of one that is gone.
 */
#include "opencl.h"

#include <stdlib.h>
#include <string.h>

/* The buffer that the kernel object holds for one argument. */
typedef struct shadow {
    uint64_t serial, offset, size;
    mr_opencl_buffer *buffer;
    mr_opencl_view *view; /* NULL for all of the buffer */
} shadow;

typedef struct launch_state {
    MR_LINE struct mr_cl_kernel *kernel;
    uint64_t revision; /* of the launch when all this was set; UINT64_MAX before the first run */
    size_t global[3], local[3];
    uint32_t count, word_count;
    bool *is_set;     /* by argument, as shadows */
    shadow *shadows;
    mr_value *values; /* that the kernel object holds, by word */
} launch_state;

static void forget(shadow *last) {
    if (last->view) mr_opencl_view_drop(last->buffer, last->view);
    *last = (shadow){ 0 };
}

void mr_opencl_launch_destroy(mr_native device, mr_native native) {
    (void)device;
    launch_state *state = native.ptr;
    if (!state) return;
    if (state->kernel) mr_cl.clReleaseKernel(state->kernel);
    for (uint32_t i = 0; state->shadows && i < state->count; i++) forget(&state->shadows[i]);
    free(state->shadows);
    free(state->values);
    free(state->is_set);
    free(state);
}

static mare_status prepare(launch_state *state, const mr_opencl_kernel *kernel) {
    const size_t count = state->count ? state->count : 1;
    int32_t code = 0;
    state->is_set = calloc(count, sizeof *state->is_set);
    state->values = calloc(state->word_count + 1, sizeof *state->values);
    state->shadows = calloc(count, sizeof *state->shadows);
    if (!state->is_set || !state->values || !state->shadows)
        return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a launch");
    state->kernel = mr_cl.clCreateKernel(kernel->program->program, kernel->name, &code);
    return state->kernel ? MARE_OK : mr_opencl_fail(code, "clCreateKernel", "%s", kernel->name);
}

mare_status mr_opencl_launch_create(mr_native device, const mr_dispatch *launch, mr_native *out) {
    launch_state *state = mr_line_alloc(sizeof *state);
    if (!state) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a launch");
    state->count = launch->arg_count;
    state->word_count = launch->word_count;
    state->revision = UINT64_MAX;
    mare_status status = prepare(state, launch->kernel.ptr);
    if (status == MARE_OK) out->ptr = state;
    else mr_opencl_launch_destroy(device, (mr_native){ .ptr = state });
    return status;
}

/* ---- arguments ---- */

static bool is_held(const shadow *last, const mr_span *span) {
    const mr_opencl_buffer *buffer = span->buffer.ptr;
    return last->serial == buffer->serial && last->offset == span->offset &&
           last->size == span->size;
}

static mare_status set_buffer(launch_state *state, uint32_t index, const mr_span *span) {
    shadow *last = &state->shadows[index];
    mr_opencl_buffer *buffer = span->buffer.ptr;
    if (is_held(last, span)) return MARE_OK;
    const bool is_part = span->size && (span->offset || span->size != buffer->size);
    shadow next = { buffer->serial, span->offset, span->size, buffer, NULL };
    if (is_part) MR_TRY(mr_opencl_view_take(span, index, &next.view));
    struct mr_cl_mem *mem = next.view ? mr_opencl_view_mem(next.view) : buffer->mem;
    int32_t code = mr_cl.clSetKernelArg(state->kernel, index, sizeof mem, &mem);
    if (code == 0) *last = next;
    else forget(&next);
    return code == 0 ? MARE_OK
                     : mr_opencl_fail(code, "clSetKernelArg", "argument %u, a buffer", index);
}

/* A scalar or a parameter block. */
static mare_status set_value(launch_state *state, uint32_t index, const mr_dispatch *launch) {
    const uint32_t word = launch->words[index];
    const size_t size = launch->args[index].size;
    const unsigned char *bytes = launch->values[word].bytes;
    if (state->is_set[index] && !memcmp(state->values[word].bytes, bytes, size)) return MARE_OK;
    MR_CL_TRY(clSetKernelArg, (state->kernel, index, size, bytes), "argument %u, %zu bytes", index,
              size);
    state->is_set[index] = true;
    return MARE_OK;
}

static mare_status set_argument(launch_state *state, uint32_t index, const mr_dispatch *launch) {
    const mare_arg_info *arg = &launch->args[index];
    const uint32_t word = launch->words[index];
    MR_TRY(arg->is_buffer ? set_buffer(state, index, &launch->spans[index])
                          : set_value(state, index, launch));
    memcpy(&state->values[word], &launch->values[word],
           arg->is_buffer ? sizeof(mr_value) : arg->size);
    return MARE_OK;
}

static mare_status set_arguments(launch_state *state, const mr_dispatch *launch) {
    for (uint32_t i = 0; i < state->count; i++)
        if (launch->args[i].is_buffer && !is_held(&state->shadows[i], &launch->spans[i]))
            forget(&state->shadows[i]);
    for (uint32_t i = 0; i < state->count; i++) MR_TRY(set_argument(state, i, launch));
    return MARE_OK;
}

static mare_status update(launch_state *state, const mr_dispatch *launch) {
    MR_TRY(set_arguments(state, launch));
    for (int i = 0; i < 3; i++) {
        state->local[i] = launch->group[i];
        state->global[i] = (size_t)launch->groups[i] * launch->group[i];
    }
    state->revision = launch->revision;
    return MARE_OK;
}

static bool is_current(const launch_state *state, const mr_dispatch *launch) {
    uint64_t changed = state->revision ^ launch->revision;
    for (uint32_t i = 0; launch->is_open && i < state->word_count; i++)
        changed |= state->values[i].u ^ launch->values[i].u;
    return !changed;
}

mare_status mr_opencl_launch_run(mr_native device, mr_native stream, const mr_dispatch *launch) {
    (void)device;
    launch_state *state = launch->native.ptr;
    if (!is_current(state, launch)) MR_TRY(update(state, launch));
    MR_OPENCL_COMMAND(command);
    struct mr_cl_queue *queue = mr_opencl_begin(stream, &command);
    MR_CL_TRY(clEnqueueNDRangeKernel,
              (queue, state->kernel, 3, NULL, state->global, state->local, 0, NULL, command.wanted),
              "%ux%ux%u groups of %ux%ux%u", launch->groups[0], launch->groups[1],
              launch->groups[2], launch->group[0], launch->group[1], launch->group[2]);
    return mr_opencl_end(&command);
}
