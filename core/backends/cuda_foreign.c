/* cuda_foreign.c - the CUDA back end: the program's own context, streams and memory, and its calls
 * of other libraries. The context is the primary one, which Mare uses anyway; streams and memory
 * are used and never ended. */
#include "cuda_api.h"

mare_status mr_cuda_device_adopt(int index, void *context, mr_native *out) {
    MR_TRY(mr_cuda_device_open(index, out));
    if (mr_cuda_device_native(*out) == context) return MARE_OK;
    mr_cuda_device_close(*out, false);
    *out = (mr_native){ 0 };
    return mr_fail(MARE_ERROR_ARGUMENT, "the given context is not the primary one of the "
                                        "device, which is the only one that Mare uses");
}

mare_status mr_cuda_stream_adopt(mr_native device, void *queue, mr_native *out) {
    (void)device;
    out->ptr = queue;
    return MARE_OK;
}

void mr_cuda_stream_disown(mr_native device, mr_native stream) { (void)device, (void)stream; }

mare_status mr_cuda_buffer_adopt(mr_native device, uint64_t memory, uint64_t size,
                                 mr_native *out) {
    (void)device, (void)size;
    out->u64 = memory;
    return MARE_OK;
}

void mr_cuda_buffer_disown(mr_native device, mr_native buffer) { (void)device, (void)buffer; }

void *mr_cuda_device_native(mr_native device) {
    return ((const struct mr_cuda_device *)device.ptr)->context;
}

void *mr_cuda_stream_native(mr_native stream) { return stream.ptr; }

uint64_t mr_cuda_buffer_native(mr_native buffer) { return buffer.u64; }

mare_status mr_cuda_call_run(mr_native device, mr_native stream, mare_call_function function,
                             void *data) {
    bool pushed;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = function(data, stream.ptr);
    mr_cuda_leave(pushed);
    return status;
}
