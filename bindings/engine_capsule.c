/* engine_capsule.c - tensors in capsules of Python, by functions that Python calls as its own: each
 * call of ctypes takes longer than an exchange, and what ends a capsule cannot be Python, which may
 * have an error pending then. Everything of Python is looked up in the process and is in its stable
 * interface, so that nothing is linked with it. All of this is called with Python's lock held. */
#include "engine.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const char now[] = "dltensor_versioned", before[] = "dltensor", hold[] = "mare_array";
static const char now_used[] = "used_dltensor_versioned", before_used[] = "used_dltensor";

/* A function as Python takes it: its PyMethodDef. */
typedef struct method {
    const char *name;
    void *(*call)(void *self, void *const *arguments, intptr_t count);
    int kind;
    const char *text;
} method;

enum { IN_A_ROW = 0x80,         /* METH_FASTCALL: arguments as in `call` above */
       MOST_AXES = 32 };

/* An array in a buffer, in a capsule of the name `hold`. */
typedef struct held {
    mare_buffer *buffer;
    uint32_t dimensions;
    int64_t shape[];
} held;

static struct {
    int (*is_valid)(void *capsule, const char *name);
    void *(*pointer)(void *capsule, const char *name);
    int (*set_name)(void *capsule, const char *name);
    void *(*capsule)(void *pointer, const char *name, void (*end)(void *capsule));
    void *(*function)(const method *, void *self, void *module);
    void *(*tuple)(intptr_t count);
    intptr_t (*count)(void *tuple);
    void *(*item)(void *tuple, intptr_t place);
    int (*set)(void *tuple, intptr_t place, void *taken);
    void *(*number)(long long);
    long long (*read)(void *number);
    void *(*address)(void *);
    void *(*read_address)(void *number);
    void *(*failed)(void);
    void (*drop)(void *object);
    void *(*unlock)(void);
    void (*lock)(void *state);
} python;
static bool is_here;
static pthread_once_t looked_up = PTHREAD_ONCE_INIT;

static void look_up(void) {
    static const struct { void *place; const char *name; } wanted[] = {
        { &python.is_valid, "PyCapsule_IsValid" },      { &python.pointer, "PyCapsule_GetPointer" },
        { &python.set_name, "PyCapsule_SetName" },      { &python.capsule, "PyCapsule_New" },
        { &python.function, "PyCFunction_NewEx" },      { &python.tuple, "PyTuple_New" },
        { &python.count, "PyTuple_Size" },              { &python.item, "PyTuple_GetItem" },
        { &python.set, "PyTuple_SetItem" },             { &python.number, "PyLong_FromLongLong" },
        { &python.read, "PyLong_AsLongLong" },          { &python.address, "PyLong_FromVoidPtr" },
        { &python.read_address, "PyLong_AsVoidPtr" },   { &python.failed, "PyErr_Occurred" },
        { &python.drop, "Py_DecRef" },                  { &python.unlock, "PyEval_SaveThread" },
        { &python.lock, "PyEval_RestoreThread" },
    };
    is_here = true;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(RTLD_DEFAULT, wanted[i].name);
        memcpy(wanted[i].place, &found, sizeof found);  /* a function's address is no pointer */
        is_here = is_here && found;
    }
}

/* ---- arrays that Python holds ---- */

/* Others' memory may be let go of here, and may be waited for. */
static void end_held(void *capsule) {
    held *array = python.pointer(capsule, hold);
    void *state = python.unlock();
    mare_buffer_release(array->buffer);
    python.lock(state);
    free(array);
}

/* Takes over the reference to the buffer, also where it fails. */
static void *new_held(mare_buffer *buffer, const int64_t *shape, uint32_t dimensions) {
    held *array = malloc(sizeof *array + dimensions * sizeof *shape);
    void *capsule = NULL;
    if (array) {
        array->buffer = buffer;
        array->dimensions = dimensions;
        for (uint32_t k = 0; k < dimensions; k++) array->shape[k] = shape[k];
        capsule = python.capsule(array, hold, end_held);
    }
    if (capsule) return capsule;
    mare_buffer_release(buffer);
    free(array);
    return NULL;
}

static void *failure(mare_status status) { return python.number(status); }

/* Of Python itself, or of what was called. */
static void *refuse(mare_status status, const char *message) {
    return python.failed() ? NULL : failure(mare_error_set(status, message));
}

static void *no_memory(void) { return refuse(MARE_ERROR_MEMORY, "capsule: out of host memory"); }
static void *bad_call(void) { return refuse(MARE_ERROR_ARGUMENT, "capsule: no such arguments"); }

/* hold(buffer, shape): an object that keeps the buffer and knows the shape. */
static void *call_hold(void *self, void *const *given, intptr_t count) {
    (void)self;
    int64_t shape[MOST_AXES];
    mare_buffer *buffer = count == 2 ? python.read_address(given[0]) : NULL;
    const intptr_t axes = buffer ? python.count(given[1]) : -1;
    if (axes < 0 || axes > MOST_AXES) return bad_call();
    for (intptr_t k = 0; k < axes; k++) shape[k] = python.read(python.item(given[1], k));
    if (python.failed()) return NULL;
    mare_buffer_retain(buffer);
    void *capsule = new_held(buffer, shape, (uint32_t)axes);
    return capsule ? capsule : no_memory();
}

/* ---- out ---- */

/* Lets go of a tensor that nobody has taken. */
static void end_tensor(void *capsule) {
    if (python.is_valid(capsule, now)) {
        mare_tensor *tensor = python.pointer(capsule, now);
        tensor->deleter(tensor);
    } else if (python.is_valid(capsule, before)) {
        mare_old_tensor *tensor = python.pointer(capsule, before);
        tensor->deleter(tensor);
    }
}

static void *give_new(mare_tensor *tensor) {
    void *capsule = python.capsule(tensor, now, end_tensor);
    if (!capsule) tensor->deleter(tensor);
    return capsule;
}

static void *give_old(mare_tensor *tensor) {
    mare_old_tensor *old = NULL;
    const mare_status status = mare_tensor_to_old(tensor, &old);
    if (status != MARE_OK) {
        tensor->deleter(tensor);
        return failure(status);
    }
    void *capsule = python.capsule(old, before, end_tensor);
    if (!capsule) old->deleter(old);
    return capsule;
}

/* give(held, queue, is_old): a capsule with its tensor; queue: an address, 0 for no order. */
static void *call_give(void *self, void *const *given, intptr_t count) {
    (void)self;
    held *array = count == 3 ? python.pointer(given[0], hold) : NULL;
    if (!array) return bad_call();
    void *queue = python.read_address(given[1]);
    const bool is_old = python.read(given[2]) != 0;
    if ((!queue || is_old) && python.failed()) return NULL;
    const mare_tensor_desc desc = { .dimensions = array->dimensions, .shape = array->shape };
    mare_tensor *tensor = NULL;
    const mare_status status = mare_tensor_export(array->buffer, &desc, queue, &tensor);
    if (status != MARE_OK) return failure(status);
    return is_old ? give_old(tensor) : give_new(tensor);
}

/* ---- in ---- */

/* Rows that lie one after another, the last axis the fastest. */
static bool is_dense(const mare_tensor_view *view) {
    int64_t step = 1;
    for (int32_t k = view->strides ? view->dimensions : 0; k-- > 0;) {
        if (view->shape[k] > 1 && view->strides[k] != step) return false;
        step *= view->shape[k];
    }
    return true;
}

static mare_status take(mare_tensor *tensor, mare_device *device, mare_buffer **out) {
    const mare_tensor_view *view = &tensor->view;
    if (view->dimensions < 0 || view->dimensions > MOST_AXES || !is_dense(view))
        return mare_error_set(MARE_ERROR_ARGUMENT, "dlpack: the rows do not lie one after another, "
                                                   "or over 32 axes: copy it first");
    return mare_tensor_import(device, tensor, "dlpack", out);
}

/* The tensor of a capsule becomes a buffer, and the capsule is marked as taken. */
static mare_status take_capsule(void *capsule, mare_device *device, mare_buffer **out,
                                mare_tensor **tensor) {
    const bool is_old = python.is_valid(capsule, before);
    if (is_old) {
        mare_status status = mare_tensor_from_old(python.pointer(capsule, before), tensor);
        if (status != MARE_OK) return status;
        python.set_name(capsule, before_used);      /* from_old has taken it over */
    } else if (python.is_valid(capsule, now)) {
        *tensor = python.pointer(capsule, now);
    } else {
        return mare_error_set(MARE_ERROR_ARGUMENT, "dlpack: no capsule with a tensor that is still "
                                                   "to be taken");
    }
    const mare_status status = take(*tensor, device, out);
    if (status == MARE_OK && !is_old) python.set_name(capsule, now_used);
    if (status != MARE_OK && is_old) (*tensor)->deleter(*tensor);
    return status;
}

static void *tuple_of(const int64_t *shape, int32_t dimensions) {
    void *tuple = python.tuple(dimensions);
    for (int32_t k = 0; tuple && k < dimensions; k++) python.set(tuple, k, python.number(shape[k]));
    return tuple;
}

/* take(capsule, device): held, buffer, shape: see hold, with the device's address. */
static void *call_take(void *self, void *const *given, intptr_t count) {
    (void)self;
    mare_device *device = count == 2 ? python.read_address(given[1]) : NULL;
    mare_buffer *buffer = NULL;
    mare_tensor *tensor = NULL;
    if (!device) return bad_call();
    const mare_status status = take_capsule(given[0], device, &buffer, &tensor);
    if (status != MARE_OK) return failure(status);
    const mare_tensor_view *view = &tensor->view;
    void *shape = tuple_of(view->shape, view->dimensions);
    void *kept = new_held(buffer, view->shape, (uint32_t)view->dimensions);
    void *results = shape && kept ? python.tuple(3) : NULL;
    if (!results) {
        if (shape) python.drop(shape);
        if (kept) python.drop(kept);
        return no_memory();
    }
    python.set(results, 0, kept);
    python.set(results, 1, python.address(buffer));
    python.set(results, 2, shape);
    return results;
}

void *mare_engine_python(void) {
    static const method methods[] = {
        { "hold", call_hold, IN_A_ROW, NULL },
        { "give", call_give, IN_A_ROW, NULL },
        { "take", call_take, IN_A_ROW, NULL },
    };
    enum { COUNT = sizeof methods / sizeof *methods };
    pthread_once(&looked_up, look_up);
    void *tuple = is_here ? python.tuple(COUNT) : NULL;
    for (int k = 0; tuple && k < COUNT; k++)
        python.set(tuple, k, python.function(&methods[k], NULL, NULL));
    return tuple;
}
