"""Arrays shared with other libraries without a copy: DLPack and the CUDA array interface."""

import ctypes
import weakref
from ctypes import POINTER, byref, c_int64, c_uint64, c_void_p, cast, py_object

from . import _library as lib

_api = ctypes.pythonapi
_api.PyCapsule_New.restype = py_object
_api.PyCapsule_New.argtypes = [c_void_p, ctypes.c_char_p, c_void_p]
_api.PyCapsule_IsValid.argtypes = [py_object, ctypes.c_char_p]
_api.PyCapsule_GetPointer.restype = c_void_p
_api.PyCapsule_GetPointer.argtypes = [py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.argtypes = [py_object, ctypes.c_char_p]

NEW, OLD = b'dltensor_versioned', b'dltensor'
USED = {NEW: b'used_dltensor_versioned', OLD: b'used_dltensor'}
ON_HOST, ON_CUDA, PINNED = 1, 2, 3

# A capsule that nobody takes lets go of its tensor. That is done in C: Python may have an error
# pending then.
_destructor = cast(lib.engine.mare_engine_capsule_end, c_void_p)


def _describe(shape, read_only):
    numbers = (c_int64 * max(1, len(shape)))(*shape)
    return lib.TensorDesc(0, len(shape), numbers, None, 0, 1 if read_only else 0)


def capsule(buffer, shape, stream=None, max_version=None):
    """What __dlpack__ returns of a buffer. stream: as DLPack gives it, -1 for no order."""
    queue = 1 if stream is None else stream
    if queue in (-1, 0) or device_of(buffer)[0] != ON_CUDA:
        queue = None
    tensor = lib.out(lib.core.mare_tensor_export, buffer, byref(_describe(shape, False)), queue)
    name = NEW
    if max_version is None or max_version[0] < 1:
        tensor, name = lib.out(lib.core.mare_tensor_to_old, tensor), OLD
    return _api.PyCapsule_New(tensor, name, _destructor)


def device_of(buffer):
    """(type, number) of DLPack's device of a buffer, without handing it out."""
    tensor = lib.out(lib.core.mare_tensor_export, buffer, byref(_describe((0,), False)), None)
    contents = cast(tensor, POINTER(lib.Tensor)).contents
    place = contents.view.device_type, contents.view.device_id
    contents.deleter(tensor)
    return place


def interface(buffer, shape):
    """The dictionary __cuda_array_interface__ of a buffer."""
    memory, offset, queue = c_uint64(), c_uint64(), c_void_p()
    lib.check(lib.core.mare_buffer_native(buffer, byref(memory), byref(offset)))
    stream = lib.core.mare_device_stream(lib.core.mare_buffer_device(buffer))
    lib.check(lib.core.mare_stream_native(stream, byref(queue)))
    kind = lib.core.mare_type_code(lib.core.mare_buffer_type(buffer)).decode()
    return {'shape': tuple(shape), 'typestr': kind, 'version': 3,
            'data': (memory.value + offset.value, False), 'stream': queue.value or 1}


def _pointer_of(source, queue):
    """The tensor of an object that has __dlpack__."""
    try:
        given = source.__dlpack__(stream=queue, max_version=(1, 0))
    except TypeError:
        given = source.__dlpack__(stream=queue)
    for name in (NEW, OLD):
        if _api.PyCapsule_IsValid(given, name):
            pointer = _api.PyCapsule_GetPointer(given, name)
            return given, name, pointer
    raise lib.Error('MARE_ERROR_ARGUMENT', '__dlpack__ gave no tensor that is still to be taken')


def imported(own, source):
    """(buffer, shape) of an object that has __dlpack__, in its memory. own: a buffer of the device
    that is to use it."""
    device = lib.core.mare_buffer_device(own)
    place = getattr(source, '__dlpack_device__', lambda: (ON_HOST, 0))()
    queue = None
    if place[0] == ON_CUDA and tuple(place) == device_of(own):  # else the queue is of another kind
        queue = lib.out(lib.core.mare_stream_native, lib.core.mare_device_stream(device)) or 1
    given, name, pointer = _pointer_of(source, queue)
    view = cast(pointer, POINTER(lib.Tensor if name == NEW else lib.OldTensor)).contents.view
    shape = tuple(view.shape[k] for k in range(view.dimensions))
    _check_rows(view, shape)
    tensor = pointer if name == NEW else lib.out(lib.core.mare_tensor_from_old, pointer)
    if name == OLD:     # from_old has taken the other structure over
        _api.PyCapsule_SetName(given, USED[OLD])
    try:
        buffer = lib.out(lib.core.mare_tensor_import, device, tensor, b'dlpack')
    except lib.Error:
        if name == OLD:
            cast(tensor, POINTER(lib.Tensor)).contents.deleter(tensor)
        raise
    if name == NEW:
        _api.PyCapsule_SetName(given, USED[NEW])
    return buffer, shape


def _check_rows(view, shape):
    step = 1
    for k in range(len(shape) - 1, -1, -1):
        if view.strides and shape[k] > 1 and view.strides[k] != step:
            raise lib.Error('MARE_ERROR_ARGUMENT',
                            'dlpack: the rows do not lie one after another: copy it first')
        step *= shape[k]


class Owner:
    """Keeps a buffer as long as it lives."""

    def __init__(self, buffer, is_own=False):
        self.buffer = buffer
        if not is_own:
            lib.core.mare_buffer_retain(buffer)
        self._finish = weakref.finalize(self, lib.core.mare_buffer_release, buffer)
        self._finish.atexit = False
