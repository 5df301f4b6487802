"""Arrays shared with other libraries without a copy: DLPack and the CUDA array interface. Each
exchange is one call of C (bindings/engine_capsule.c)."""

from ctypes import POINTER, byref, c_int64, c_uint64, c_void_p, cast
from typing import Any, Optional, Tuple

from . import _library as lib

ON_HOST, ON_CUDA, PINNED = 1, 2, 3

_release, _capsule, _take = (lib.core.mare_buffer_release, lib.python.mare_engine_capsule,
                             lib.python.mare_engine_capsule_take)


def device_of(buffer: int) -> Tuple[int, int]:
    """(type, number) of DLPack's device of a buffer, without handing it out."""
    nothing = lib.TensorDesc(0, 1, (c_int64 * 1)(0), None, 0, 0)
    tensor = lib.out(lib.core.mare_tensor_export, buffer, byref(nothing), None)
    contents = cast(tensor, POINTER(lib.Tensor)).contents
    place = contents.view.device_type, contents.view.device_id
    contents.deleter(tensor)
    return place


class Owner:
    """Keeps a buffer as long as it lives. is_own: whether the reference is given up to it"""

    __slots__ = ('buffer',)

    def __init__(self, buffer: int, is_own: bool = False):
        self.buffer = buffer
        if not is_own:
            lib.core.mare_buffer_retain(buffer)

    def __del__(self, release: Any = _release) -> None:
        release(self.buffer)


class Memory(Owner):
    """The memory of an array: a buffer with the elements in their order."""

    __slots__ = ('shape', 'place', '_numbers', '_pointer', '_form')

    def __init__(self, buffer: int, shape: Tuple[int, ...],
                 place: Optional[Tuple[int, int]] = None):
        """place: given where the reference to the buffer is given up to this"""
        self.buffer, self.shape = buffer, shape
        if not place:
            lib.core.mare_buffer_retain(buffer)
        self.place = place or device_of(buffer)
        self._form: Any = None      # of ctypes: what C is told, once it has been asked for

    def _describe(self) -> Any:
        self._numbers = (c_int64 * max(1, len(self.shape)))(*self.shape)
        self._pointer = c_void_p(self.buffer)
        self._form = byref(lib.TensorDesc(0, len(self.shape), self._numbers, None, 0, 0))
        return self._form

    def capsule(self, stream: Optional[int], max_version: Optional[Tuple[int, int]]) -> Any:
        """What __dlpack__ returns. stream: as DLPack gives it, -1 for no order"""
        form = self._form or self._describe()
        queue = None if stream == -1 or self.place[0] != ON_CUDA else stream or 1
        is_old = max_version is None or max_version[0] < 1
        made = _capsule(self._pointer, form, queue, is_old)
        if made is None:
            raise self._why(queue, is_old)
        return made

    def _why(self, queue: Optional[int], is_old: bool) -> Exception:
        """The error of a capsule that could not be made: the same, step by step."""
        tensor = lib.out(lib.core.mare_tensor_export, self.buffer, self._describe(), queue)
        try:
            if is_old:
                lib.out(lib.core.mare_tensor_to_old, tensor)
        finally:
            cast(tensor, POINTER(lib.Tensor)).contents.deleter(tensor)
        return MemoryError('no memory for a capsule')

    def interface(self) -> Any:
        """The dictionary __cuda_array_interface__."""
        memory, offset, queue = c_uint64(), c_uint64(), c_void_p()
        lib.check(lib.core.mare_buffer_native(self.buffer, byref(memory), byref(offset)))
        stream = lib.core.mare_device_stream(lib.core.mare_buffer_device(self.buffer))
        lib.check(lib.core.mare_stream_native(stream, byref(queue)))
        kind = lib.core.mare_type_code(lib.core.mare_buffer_type(self.buffer)).decode()
        return {'shape': self.shape, 'typestr': kind, 'version': 3,
                'data': (memory.value + offset.value, False), 'stream': queue.value or 1}


class Place:
    """A device that takes arrays. own: a buffer on it, which keeps it"""

    def __init__(self, own: Owner):
        self.own = own
        self.device = c_void_p(lib.core.mare_buffer_device(own.buffer))
        self.place = device_of(own.buffer)
        self.queue = None
        if self.place[0] == ON_CUDA:
            stream = lib.core.mare_device_stream(self.device)
            self.queue = lib.out(lib.core.mare_stream_native, stream) or 1
        self._buffer, self._numbers = c_void_p(), (c_int64 * 33)()
        self._results = byref(self._buffer), byref(self._numbers)

    def take(self, source: Any) -> Memory:
        """The memory of an object that has __dlpack__."""
        queue = self.queue
        if queue and tuple(source.__dlpack_device__()) != self.place:
            queue = None        # which would mean nothing to another device
        try:
            given = source.__dlpack__(stream=queue, max_version=(1, 0))
        except TypeError:
            given = source.__dlpack__(stream=queue)
        status = _take(given, self.device, *self._results)
        if status:
            lib.check(status)
        numbers = self._numbers
        return Memory(self._buffer.value or 0, tuple(numbers[1:1 + numbers[0]]), self.place)
