/* engine_capsule.c - the end of a capsule of Python that holds a tensor: what the Python package
 * cannot do in Python, which may have an error pending then. Python's functions are looked up in
 * the process, so that nothing is linked with it. */
#include "engine.h"

#include <dlfcn.h>

typedef int is_valid_function(void *capsule, const char *name);
typedef void *pointer_function(void *capsule, const char *name);

void mare_engine_capsule_end(void *capsule) {
    is_valid_function *is_valid = (is_valid_function *)dlsym(RTLD_DEFAULT, "PyCapsule_IsValid");
    pointer_function *pointer = (pointer_function *)dlsym(RTLD_DEFAULT, "PyCapsule_GetPointer");
    if (!is_valid || !pointer) return;
    if (is_valid(capsule, "dltensor_versioned")) {
        mare_tensor *tensor = pointer(capsule, "dltensor_versioned");
        tensor->deleter(tensor);
    } else if (is_valid(capsule, "dltensor")) {
        mare_old_tensor *tensor = pointer(capsule, "dltensor");
        tensor->deleter(tensor);
    }
}
