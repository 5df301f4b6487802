/* cuda_peers.h - the part of the fake libcuda that is about memory of other devices and processes:
 * device 7 reaches the memory of 8. Included by cuda_driver.c, whose state it uses. */

unsigned cuDeviceCanAccessPeer(int *can, int device, int peer) {
    FAIL_ON_DEMAND();
    *can = device == 7 && peer == 8;            /* and not the other way round */
    return is_device(device) && is_device(peer) ? 0 : MR_CUDA_ERROR_INVALID_DEVICE;
}

unsigned cuCtxEnablePeerAccess(struct CUctx_st *peer, unsigned flags) {
    NEED_CONTEXT();
    if (flags || stack[stack_depth - 1] != &primaries[0] || peer != &primaries[1])
        return INVALID_VALUE;
    if (reaches) return MR_CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    reaches = true;
    return 0;
}

unsigned cuMemcpyPeerAsync(unsigned long long dst, struct CUctx_st *dst_context,
                           unsigned long long src, struct CUctx_st *src_context, size_t size,
                           struct CUstream_st *stream) {
    NEED_CONTEXT();
    if (!reaches || dst_context == src_context || !is_primary(dst_context) ||
        !is_primary(src_context))
        return INVALID_CONTEXT;
    return copy_line((void *)(uintptr_t)dst, (void *)(uintptr_t)src, size, stream);
}

unsigned cuMemcpy3DPeerAsync(const struct CUDA_MEMCPY3D_PEER_st *c, struct CUstream_st *stream) {
    NEED_CONTEXT();
    const bool is_plain = c->srcMemoryType == 2 && c->dstMemoryType == 2 && !c->srcHost &&
                          !c->dstHost && !c->srcXInBytes && !c->srcY && !c->srcZ &&
                          !c->dstXInBytes && !c->dstY && !c->dstZ;
    if (!reaches || c->dstContext == c->srcContext) return INVALID_CONTEXT;
    if (!stream || !is_plain || c->srcHeight < c->Height || c->dstHeight < c->Height)
        return INVALID_VALUE;
    return enqueue((struct work){ .kind = COPY,
                                  .dst = (char *)(uintptr_t)c->dstDevice,
                                  .src = (char *)(uintptr_t)c->srcDevice,
                                  .dst_pitch = c->dstPitch,
                                  .dst_slice = c->dstPitch * c->dstHeight,
                                  .src_pitch = c->srcPitch,
                                  .src_slice = c->srcPitch * c->srcHeight,
                                  .width = c->WidthInBytes,
                                  .height = c->Height,
                                  .depth = c->Depth },
                   stream);
}

unsigned cuIpcGetMemHandle(struct CUipcMemHandle_st *handle, unsigned long long address) {
    NEED_CONTEXT();
    memset(handle, 0, sizeof *handle);
    memcpy(handle->reserved, &address, sizeof address);
    return address ? 0 : INVALID_VALUE;
}

/* The fake allows it in the same process. */
unsigned cuIpcOpenMemHandle_v2(unsigned long long *address, struct CUipcMemHandle_st handle,
                               unsigned flags) {
    NEED_CONTEXT();
    if (flags != MR_CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return INVALID_VALUE;
    memcpy(address, handle.reserved, sizeof *address);
    live++;
    return 0;
}

unsigned cuIpcCloseMemHandle(unsigned long long address) {
    if (!address) return INVALID_VALUE;
    need_idle("cuIpcCloseMemHandle");
    live--;
    END_OF_RELEASE();
}
