/* cuda_peers.h - the part of the fake libcuda that is about managed memory, and memory of other
 * devices and processes: device 7 reaches that of 8. Included by cuda_driver.c, whose state it
 * uses. */

unsigned cuMemAllocManaged(unsigned long long *address, size_t size, unsigned flags) {
    NEED_CONTEXT();
    return flags == 1 ? cuMemAlloc_v2(address, size) : INVALID_VALUE;
}

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

unsigned cuIpcGetMemHandle(struct CUipcMemHandle_st *handle, unsigned long long address) {
    struct shared_name name = { .address = address, .process = getpid() };
    NEED_CONTEXT();
    if (!address) return INVALID_VALUE;
    if (is_sharing()) name.file = shared_page(address)->file;
    memset(handle, 0, sizeof *handle);
    memcpy(handle->reserved, &name, sizeof name);
    return 0;
}

/* The fake allows it in the same process, too. */
unsigned cuIpcOpenMemHandle_v2(unsigned long long *address, struct CUipcMemHandle_st handle,
                               unsigned flags) {
    struct shared_name name;
    NEED_CONTEXT();
    memcpy(&name, handle.reserved, sizeof name);
    if (flags != MR_CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return INVALID_VALUE;
    *address = is_sharing() ? (uintptr_t)shared_open(&name) : name.address;
    if (!*address) return INVALID_VALUE;
    live++;
    return 0;
}

unsigned cuIpcCloseMemHandle(unsigned long long address) {
    if (!address) return INVALID_VALUE;
    need_idle("cuIpcCloseMemHandle");
    if (is_sharing()) shared_close(address);
    live--;
    END_OF_RELEASE();
}
