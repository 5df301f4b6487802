/* opencl_view.c - the OpenCL back end: memory objects, and views of them as sub-buffers.
 *
 * NVIDIA's driver (580.159) ends the process in clReleaseMemObject when a sub-buffer that a kernel
 * has used is released before a later one of the same buffer that overlaps it. Views that share no
 * byte may go in any order, and those of one region as well. So launches share a view of one
 * region, one that nobody needs waits until the later ones that overlap it are gone, and a buffer
 * that is freed until its views are.
 */
#include "opencl.h"

#include <inttypes.h>
#include <stdlib.h>

struct mr_opencl_view {
    struct mr_cl_mem *mem;
    uint64_t offset, size;
    uint32_t users;
    mr_opencl_view *older; /* of the same buffer */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the views of all buffers */

mare_status mr_opencl_buffer_wrap(struct mr_cl_mem *mem, uint64_t size, mr_opencl_buffer **out) {
    static atomic_ullong serials;
    mr_opencl_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a buffer");
    buffer->mem = mem;
    buffer->size = size;
    buffer->serial = atomic_fetch_add(&serials, 1) + 1;
    *out = buffer;
    return MARE_OK;
}

/* ---- views, behind the lock ---- */

static bool has_later(const mr_opencl_buffer *buffer, const mr_opencl_view *view) {
    for (const mr_opencl_view *later = buffer->newest; later != view; later = later->older)
        if (later->offset < view->offset + view->size && view->offset < later->offset + later->size)
            return true;
    return false;
}

static void settle(mr_opencl_buffer *buffer) {
    for (mr_opencl_view **at = &buffer->newest; *at;) {
        mr_opencl_view *view = *at;
        if (view->users || has_later(buffer, view)) {
            at = &view->older;
            continue;
        }
        *at = view->older;
        mr_cl.clReleaseMemObject(view->mem);
        free(view);
    }
    if (buffer->newest || !buffer->is_freed) return;
    if (buffer->mem) mr_cl.clReleaseMemObject(buffer->mem); /* lives on until queued work is done */
    free(buffer);
}

static mr_opencl_view *find(const mr_opencl_buffer *buffer, const mr_span *span) {
    mr_opencl_view *view = buffer->newest;
    while (view && (view->offset != span->offset || view->size != span->size)) view = view->older;
    return view;
}

static mare_status make(mr_opencl_buffer *buffer, const mr_span *span, uint32_t index,
                        mr_opencl_view **out) {
    const size_t region[2] = { span->offset, span->size }; /* a cl_buffer_region */
    int32_t code = 0;
    mr_opencl_view *view = malloc(sizeof *view);
    if (!view) return mr_fail(MARE_ERROR_MEMORY, "out of host memory for a view");
    *view = (mr_opencl_view){ .offset = span->offset, .size = span->size, .older = buffer->newest };
    view->mem = mr_cl.clCreateSubBuffer(buffer->mem, 0, MR_CL_BUFFER_CREATE_TYPE_REGION, region,
                                        &code);
    if (view->mem) {
        *out = buffer->newest = view;
        return MARE_OK;
    }
    free(view);
    return mr_opencl_fail(code, "clCreateSubBuffer", "argument %u, %" PRIu64 " bytes at %" PRIu64,
                          index, span->size, span->offset);
}

/* ---- what others see ---- */

mare_status mr_opencl_view_take(const mr_span *span, uint32_t index, mr_opencl_view **out) {
    mr_opencl_buffer *buffer = span->buffer.ptr;
    mare_status status = MARE_OK;
    pthread_mutex_lock(&lock);
    *out = find(buffer, span);
    if (!*out) status = make(buffer, span, index, out);
    if (status == MARE_OK) (*out)->users++;
    pthread_mutex_unlock(&lock);
    return status;
}

struct mr_cl_mem *mr_opencl_view_mem(const mr_opencl_view *view) { return view->mem; }

void mr_opencl_view_drop(mr_opencl_buffer *buffer, mr_opencl_view *view) {
    pthread_mutex_lock(&lock);
    if (--view->users == 0) settle(buffer);
    pthread_mutex_unlock(&lock);
}

void mr_opencl_buffer_drop(mr_opencl_buffer *buffer) {
    pthread_mutex_lock(&lock);
    buffer->is_freed = true;
    settle(buffer);
    pthread_mutex_unlock(&lock);
}
