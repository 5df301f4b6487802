/* test_opencl_headers.c - compares Mare's declarations of OpenCL with the real <CL/cl.h>.
 *
 * The comparison happens while this file compiles; running it only says whether there was anything
 * to compare with (77: skipped). Mare's struct tags are renamed to the vendor's, so that the types
 * of all entry points must be the same to the last pointer.
 */
#include <stdio.h>

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#define mr_cl_platform _cl_platform_id
#define mr_cl_device _cl_device_id
#define mr_cl_context _cl_context
#define mr_cl_queue _cl_command_queue
#define mr_cl_mem _cl_mem
#define mr_cl_event _cl_event
#define mr_cl_program _cl_program
#define mr_cl_kernel _cl_kernel

#define SAME(name, ...)                                                                            \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), __VA_ARGS__), #name);
#define MR_CL_REQUIRED(result, name, arguments) SAME(name, result arguments)
#define MR_CL_OPTIONAL(result, name, arguments) SAME(name, result arguments)
#define MR_CL_CONSTANT(name, value) _Static_assert((name) == (value), #name);
#define MR_CL_ERROR(name, value, status, meaning) _Static_assert((name) == (value), #name);
#include "../../core/backends/opencl_syms.def"

/* A view is described by two numbers in a row. */
_Static_assert(sizeof(cl_buffer_region) == sizeof(size_t[2]), "cl_buffer_region");
_Static_assert(offsetof(cl_buffer_region, size) == sizeof(size_t), "cl_buffer_region");

int main(void) {
    printf("same as the OpenCL headers of version %d\n", CL_TARGET_OPENCL_VERSION);
    return 0;
}

#else

int main(void) {
    printf("skipped: no CL/cl.h\n");
    return 77;
}

#endif
