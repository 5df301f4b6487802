/* cuda_peer.c - the CUDA back end: memory of other devices and of other processes.
 *
 * Access is given to a context, one way. A context that was given any is waited for wherever memory
 * is given back, since its kernels may use it.
 */
#include "cuda_api.h"

#include <string.h>

/* ---- other devices ---- */

mare_status mr_cuda_peer_can_reach(mr_native device, mr_native peer, int *can) {
    const struct mr_cuda_device *one = device.ptr, *other = peer.ptr;
    int answer = 1;
    if (one->context != other->context)
        MR_TRY(mr_cuda_check(mr_cu.cuDeviceCanAccessPeer(&answer, one->id, other->id),
                             "cuDeviceCanAccessPeer"));
    *can = answer;
    return MARE_OK;
}

mare_status mr_cuda_peer_reach(mr_native device, mr_native peer) {
    const struct mr_cuda_device *one = device.ptr, *other = peer.ptr;
    bool pushed;
    if (one->context == other->context) return MARE_OK;
    MR_TRY(mr_cuda_enter(device, &pushed));
    unsigned code = mr_cu.cuCtxEnablePeerAccess(other->context, 0);
    mr_cuda_leave(pushed);
    if (code != MR_CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        MR_TRY(mr_cuda_check(code, "cuCtxEnablePeerAccess"));
    mr_cuda_context_reaches(one);
    return MARE_OK;
}

static mare_status copy_box(const struct CUDA_MEMCPY3D_PEER_st *copy, struct CUstream_st *stream) {
    return mr_cuda_check(mr_cu.cuMemcpy3DPeerAsync(copy, stream),
                         "cuMemcpy3DPeerAsync(%llu bytes x %llu x %llu)",
                         (unsigned long long)copy->WidthInBytes, (unsigned long long)copy->Height,
                         (unsigned long long)copy->Depth);
}

static mare_status queue_copy(struct CUctx_st *dst_context, unsigned long long dst,
                              struct CUctx_st *src_context, unsigned long long src,
                              const mare_region *r, struct CUstream_st *stream) {
    if (r->height == 1 && r->depth == 1)
        return mr_cuda_check(mr_cu.cuMemcpyPeerAsync(dst, dst_context, src, src_context, r->width,
                                                     stream),
                             "cuMemcpyPeerAsync(%llu bytes)", (unsigned long long)r->width);
    const struct CUDA_MEMCPY3D_PEER_st copy = {
        .srcMemoryType = MR_CU_MEMORYTYPE_DEVICE,
        .srcDevice = src,
        .srcContext = src_context,
        .srcPitch = r->src_pitch,
        .srcHeight = r->depth > 1 ? r->src_slice / r->src_pitch : r->height,
        .dstMemoryType = MR_CU_MEMORYTYPE_DEVICE,
        .dstDevice = dst,
        .dstContext = dst_context,
        .dstPitch = r->dst_pitch,
        .dstHeight = r->depth > 1 ? r->dst_slice / r->dst_pitch : r->height,
        .WidthInBytes = r->width,
        .Height = r->height,
        .Depth = r->depth,
    };
    return copy_box(&copy, stream);
}

mare_status mr_cuda_peer_copy(mr_native device, mr_native stream, mr_native dst_device,
                              mr_native dst, mr_native src_device, mr_native src,
                              const mare_region *r) {
    const struct mr_cuda_device *to = dst_device.ptr, *from = src_device.ptr;
    bool pushed;
    if (to->context == from->context) return mr_cuda_copy(device, stream, dst, src, r);
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = queue_copy(to->context, dst.u64 + r->dst_offset, from->context,
                                    src.u64 + r->src_offset, r, stream.ptr);
    mr_cuda_leave(pushed);
    return status;
}

/* ---- other processes ---- */

mare_status mr_cuda_share_make(mr_native device, mr_native buffer, unsigned char name[64]) {
    struct CUipcMemHandle_st handle;
    bool pushed;
    MR_TRY(mr_cuda_enter(device, &pushed));
    mare_status status = mr_cuda_check(mr_cu.cuIpcGetMemHandle(&handle, buffer.u64),
                                       "cuIpcGetMemHandle");
    mr_cuda_leave(pushed);
    if (status == MARE_OK) memcpy(name, &handle, sizeof handle);
    return status;
}

mare_status mr_cuda_share_open(mr_native device, const unsigned char name[64], mr_native *out) {
    struct CUipcMemHandle_st handle;
    unsigned long long address = 0;
    bool pushed;
    memcpy(&handle, name, sizeof handle);
    MR_TRY(mr_cuda_enter(device, &pushed));
    unsigned code = mr_cu.cuIpcOpenMemHandle_v2(&address, handle,
                                                MR_CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    mare_status status = mr_cuda_check(code, "cuIpcOpenMemHandle");
    mr_cuda_leave(pushed);
    if (status == MARE_OK) out->u64 = address;
    return status;
}

void mr_cuda_share_close(mr_native device, mr_native buffer) {
    bool pushed;
    if (!mr_cuda_enter_idle(device, &pushed)) return;
    mr_cuda_wait_for_peers();
    (void)mr_cu.cuIpcCloseMemHandle(buffer.u64);
    mr_cuda_leave(pushed);
}
