/* engine_capsule.c - tensors in capsules of Python: what the Python package does by one call of C,
 * since each call of ctypes takes longer than an exchange, and what it cannot do in Python, which
 * may have an error pending when a capsule ends. Python's functions are looked up in the process,
 * so that nothing is linked with it. All of this is called with Python's lock held. */
#include "engine.h"

#include <dlfcn.h>
#include <string.h>

static const char now[] = "dltensor_versioned", before[] = "dltensor";
static const char now_used[] = "used_dltensor_versioned", before_used[] = "used_dltensor";

static struct {
    int (*is_valid)(void *capsule, const char *name);
    void *(*pointer)(void *capsule, const char *name);
    int (*set_name)(void *capsule, const char *name);
    void *(*make)(void *pointer, const char *name, void (*end)(void *capsule));
    void *(*value)(const char *format, ...);
} python;
static pthread_once_t looked_up = PTHREAD_ONCE_INIT;

/* The address of a function is no pointer of C's, but has its bytes. */
static void find(void *place, const char *name) {
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(place, &found, sizeof found);
}

static void look_up(void) {
    find(&python.is_valid, "PyCapsule_IsValid");
    find(&python.pointer, "PyCapsule_GetPointer");
    find(&python.set_name, "PyCapsule_SetName");
    find(&python.make, "PyCapsule_New");
    find(&python.value, "Py_BuildValue");
}

static mare_status need_python(void) {
    pthread_once(&looked_up, look_up);
    if (python.is_valid && python.pointer && python.set_name && python.make && python.value)
        return MARE_OK;
    return mare_error_set(MARE_ERROR_UNAVAILABLE, "capsule: there is no Python in this process");
}

void mare_engine_capsule_end(void *capsule) {
    if (need_python() != MARE_OK) return;
    if (python.is_valid(capsule, now)) {
        mare_tensor *tensor = python.pointer(capsule, now);
        tensor->deleter(tensor);
    } else if (python.is_valid(capsule, before)) {
        mare_old_tensor *tensor = python.pointer(capsule, before);
        tensor->deleter(tensor);
    }
}

static void *capsule_of(mare_buffer *buffer, const mare_tensor_desc *desc, void *queue) {
    mare_tensor *tensor = NULL;
    if (mare_tensor_export(buffer, desc, queue, &tensor) != MARE_OK) return NULL;
    void *capsule = python.make(tensor, now, mare_engine_capsule_end);
    if (!capsule) tensor->deleter(tensor);
    return capsule;
}

static void *old_capsule_of(mare_buffer *buffer, const mare_tensor_desc *desc, void *queue) {
    mare_tensor *tensor = NULL;
    mare_old_tensor *old = NULL;
    if (mare_tensor_export(buffer, desc, queue, &tensor) != MARE_OK) return NULL;
    if (mare_tensor_to_old(tensor, &old) != MARE_OK) {
        tensor->deleter(tensor);
        return NULL;
    }
    void *capsule = python.make(old, before, mare_engine_capsule_end);
    if (!capsule) old->deleter(old);
    return capsule;
}

/* ctypes of some Pythons faults where a function that returns an object returns NULL. */
void *mare_engine_capsule(mare_buffer *buffer, const mare_tensor_desc *desc, void *queue,
                          int is_old) {
    if (need_python() != MARE_OK) return NULL;
    void *capsule = is_old ? old_capsule_of(buffer, desc, queue) : capsule_of(buffer, desc, queue);
    return capsule ? capsule : python.value("");
}

/* Rows that lie one after another, the last axis the fastest. */
static bool is_dense(const mare_tensor_view *view) {
    int64_t step = 1;
    for (int32_t k = view->strides ? view->dimensions : 0; k-- > 0;) {
        if (view->shape[k] > 1 && view->strides[k] != step) return false;
        step *= view->shape[k];
    }
    return true;
}

static mare_status take(mare_tensor *tensor, mare_device *device, mare_buffer **out,
                        int64_t *shape) {
    const mare_tensor_view view = tensor->view;
    if (view.dimensions < 0 || view.dimensions > 32 || !is_dense(&view))
        return mare_error_set(MARE_ERROR_ARGUMENT, "dlpack: the rows do not lie one after another, "
                                                   "or over 32 axes: copy it first");
    for (int32_t k = 0; k < view.dimensions; k++) shape[k + 1] = view.shape[k];
    shape[0] = view.dimensions;
    return mare_tensor_import(device, tensor, "dlpack", out);
}

static mare_status take_old(void *capsule, mare_device *device, mare_buffer **out,
                            int64_t *shape) {
    mare_tensor *tensor = NULL;
    mare_status status = mare_tensor_from_old(python.pointer(capsule, before), &tensor);
    if (status != MARE_OK) return status;
    python.set_name(capsule, before_used);      /* from_old has taken it over */
    status = take(tensor, device, out, shape);
    if (status != MARE_OK) tensor->deleter(tensor);
    return status;
}

mare_status mare_engine_capsule_take(void *capsule, mare_device *device, mare_buffer **out,
                                     int64_t shape[33]) {
    mare_status status = need_python();
    if (status != MARE_OK) return status;
    if (python.is_valid(capsule, before)) return take_old(capsule, device, out, shape);
    if (!python.is_valid(capsule, now))
        return mare_error_set(MARE_ERROR_ARGUMENT, "dlpack: no capsule with a tensor that is still "
                                                   "to be taken");
    status = take(python.pointer(capsule, now), device, out, shape);
    if (status == MARE_OK) python.set_name(capsule, now_used);
    return status;
}
