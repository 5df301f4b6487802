/* test_cuda_headers.c - compares Mare's declarations of the CUDA Driver API and NVRTC with the
 * vendor's headers.
 *
 * The comparison happens while this file compiles; running it only says whether there was anything
 * to compare with (77: skipped). Struct tags are renamed while Mare's are read, so that both exist.
 */
#include <stddef.h>
#include <stdio.h>

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
/* Older entries, which the driver still has, are declared too. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <nvrtc.h>
#endif

#if defined(CUDA_VERSION) && CUDA_VERSION >= 12000

#define CUDA_MEMCPY3D_st mr_memcpy3d
#define CUuuid_st mr_uuid
#define CUDA_KERNEL_NODE_PARAMS_v2_st mr_kernel_node
#define CUipcMemHandle_st mr_ipc_handle
#define CUlaunchAttribute_st mr_launch_attribute
#define CUlaunchConfig_st mr_launch_config
#include "../../core/backends/cuda_api.h"
#undef CUDA_MEMCPY3D_st
#undef CUuuid_st
#undef CUDA_KERNEL_NODE_PARAMS_v2_st
#undef CUipcMemHandle_st
#undef CUlaunchAttribute_st
#undef CUlaunchConfig_st
#include "../../core/backends/nvrtc_api.h"

#define SAME(what, a, ...) _Static_assert(__builtin_types_compatible_p(a, __VA_ARGS__), what)

#define MR_CUDA_CALL(required, symbol, arguments)                                                  \
    SAME(#symbol, __typeof__(symbol), unsigned arguments);
#define MR_CUDA_CONSTANT(name, value) _Static_assert((unsigned)name == (value), #name);
#include "../../core/backends/cuda_syms.def"

#define MR_NVRTC_CALL(result, symbol, arguments)                                                   \
    SAME(#symbol, __typeof__(symbol), result arguments);
#define MR_NVRTC_CONSTANT(name, value) _Static_assert((unsigned)name == (value), #name);
#include "../../core/backends/nvrtc_syms.def"

#define FIELD(name)                                                                                \
    _Static_assert(offsetof(struct mr_memcpy3d, name) == offsetof(CUDA_MEMCPY3D, name), #name);    \
    SAME(#name, __typeof__(((CUDA_MEMCPY3D *)0)->name),                                            \
         __typeof__(((struct mr_memcpy3d *)0)->name));

FIELD(srcXInBytes) FIELD(srcY) FIELD(srcZ) FIELD(srcLOD) FIELD(srcMemoryType) FIELD(srcHost)
FIELD(srcDevice) FIELD(srcArray) FIELD(reserved0) FIELD(srcPitch) FIELD(srcHeight)
FIELD(dstXInBytes) FIELD(dstY) FIELD(dstZ) FIELD(dstLOD) FIELD(dstMemoryType) FIELD(dstHost)
FIELD(dstDevice) FIELD(dstArray) FIELD(reserved1) FIELD(dstPitch) FIELD(dstHeight)
FIELD(WidthInBytes) FIELD(Height) FIELD(Depth)
_Static_assert(sizeof(struct mr_memcpy3d) == sizeof(CUDA_MEMCPY3D), "CUDA_MEMCPY3D");

#define NODE_FIELD(name)                                                                           \
    _Static_assert(offsetof(struct mr_kernel_node, name)                                           \
                   == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, name), #name);                          \
    SAME(#name, __typeof__(((CUDA_KERNEL_NODE_PARAMS_v2 *)0)->name),                               \
         __typeof__(((struct mr_kernel_node *)0)->name));

NODE_FIELD(func) NODE_FIELD(gridDimX) NODE_FIELD(gridDimY) NODE_FIELD(gridDimZ)
NODE_FIELD(blockDimX) NODE_FIELD(blockDimY) NODE_FIELD(blockDimZ) NODE_FIELD(sharedMemBytes)
NODE_FIELD(kernelParams) NODE_FIELD(extra) NODE_FIELD(kern) NODE_FIELD(ctx)
_Static_assert(sizeof(struct mr_kernel_node) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2),
               "CUDA_KERNEL_NODE_PARAMS_v2");

_Static_assert(sizeof(struct mr_ipc_handle) == sizeof(CUipcMemHandle), "CUipcMemHandle");

#define CONFIG_FIELD(name)                                                                         \
    _Static_assert(offsetof(struct mr_launch_config, name) == offsetof(CUlaunchConfig, name),      \
                   #name);

CONFIG_FIELD(gridDimX) CONFIG_FIELD(gridDimY) CONFIG_FIELD(gridDimZ) CONFIG_FIELD(blockDimX)
CONFIG_FIELD(blockDimY) CONFIG_FIELD(blockDimZ) CONFIG_FIELD(sharedMemBytes) CONFIG_FIELD(hStream)
CONFIG_FIELD(attrs) CONFIG_FIELD(numAttrs)
_Static_assert(sizeof(struct mr_launch_config) == sizeof(CUlaunchConfig), "CUlaunchConfig");
_Static_assert(sizeof(struct mr_launch_attribute) == sizeof(CUlaunchAttribute), "its size");
_Static_assert(offsetof(struct mr_launch_attribute, value) == offsetof(CUlaunchAttribute, value),
               "CUlaunchAttribute");
_Static_assert(sizeof(((CUlaunchAttribute *)0)->value.cooperative) == sizeof(int) &&
                   sizeof(((CUlaunchAttribute *)0)->value.programmaticStreamSerializationAllowed) ==
                       sizeof(int),
               "CUlaunchAttributeValue");
_Static_assert(sizeof(struct mr_uuid) == sizeof(CUuuid), "CUuuid");
SAME("CUdevice", CUdevice, int);
SAME("CUdeviceptr", CUdeviceptr, unsigned long long);

int main(void) {
    printf("same as the headers of CUDA %d.%d\n", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
    return 0;
}

#else

int main(void) {
    printf("skipped: no cuda.h and nvrtc.h of CUDA 12 or later\n");
    return 77;
}

#endif
