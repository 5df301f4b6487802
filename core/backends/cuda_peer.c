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

/* Addresses are unique among devices, so that a copy of one's own reaches the other's memory: the
 * calls for peers do the same, but cannot be captured into a graph. */
mare_status mr_cuda_peer_copy(mr_native device, mr_native stream, mr_native dst_device,
                              mr_native dst, mr_native src_device, mr_native src,
                              const mare_region *r) {
    (void)dst_device, (void)src_device;
    return mr_cuda_copy(device, stream, dst, src, r);
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
