"""Arrays shared with other libraries without a copy: DLPack and the CUDA array interface. Each
exchange is one call of a function that C made for Python (bindings/engine_capsule.c)."""

from ctypes import POINTER, byref, c_int64, c_uint64, c_void_p, cast
from typing import Any, Optional, Tuple

from . import _library as lib

ON_HOST, ON_CUDA, PINNED, MANAGED = 1, 2, 3, 13


def name_of(place: Tuple[int, int]) -> Optional[str]:
    """The name of a device of DLPack's, None if Mare has none for it."""
    if place[0] in (ON_HOST, PINNED):
        return 'null'
    return 'cuda:%d' % place[1] if place[0] in (ON_CUDA, MANAGED) else None

# What fails in them gives a number, the status.
_hold, _give, _take = lib.python.mare_engine_python()


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

    def __init__(self, buffer: int, is_own: bool = False):
        self.buffer = buffer
        if not is_own:
            lib.core.mare_buffer_retain(buffer)

    def __del__(self, release: Any = lib.core.mare_buffer_release) -> None:
        release(self.buffer)


class Memory:
    """The memory of an array: a buffer with the elements in their order, which C keeps."""

    __slots__ = ('kept', 'buffer', 'shape', 'place')

    def __init__(self, kept: Any, buffer: int, shape: Tuple[int, ...], place: Tuple[int, int]):
        self.kept, self.buffer, self.shape, self.place = kept, buffer, shape, place

    def capsule(self, stream: Optional[int], max_version: Optional[Tuple[int, int]]) -> Any:
        """What __dlpack__ returns. stream: as DLPack gives it, -1 for no order"""
        queue = 0 if self.place[0] != ON_CUDA or stream == -1 else stream or 1
        made = _give(self.kept, queue, max_version is None or max_version[0] < 1)
        if type(made) is int:
            lib.check(made)
        return made

    def interface(self) -> Any:
        """The dictionary __cuda_array_interface__."""
        memory, offset, queue = c_uint64(), c_uint64(), c_void_p()
        lib.check(lib.core.mare_buffer_native(self.buffer, byref(memory), byref(offset)))
        stream = lib.core.mare_device_stream(lib.core.mare_buffer_device(self.buffer))
        lib.check(lib.core.mare_stream_native(stream, byref(queue)))
        kind = lib.core.mare_type_code(lib.core.mare_buffer_type(self.buffer)).decode()
        return {'shape': self.shape, 'typestr': kind, 'version': 3,
                'data': (memory.value + offset.value, False), 'stream': queue.value or 1}


def memory_of(buffer: int, shape: Tuple[int, ...]) -> Memory:
    """That of an array of Mare's own."""
    kept = _hold(buffer, shape)
    if type(kept) is int:
        lib.check(kept)
    return Memory(kept, buffer, shape, device_of(buffer))


class Place:
    """A device that takes arrays. own: a buffer on it, which keeps it; name: of the device"""

    def __init__(self, own: Owner, name: Optional[str]):
        self.own, self.name = own, name
        self.device = lib.core.mare_buffer_device(own.buffer)
        self.place = device_of(own.buffer)
        self.queue = None
        if self.place[0] == ON_CUDA:
            stream = lib.core.mare_device_stream(self.device)
            self.queue = lib.out(lib.core.mare_stream_native, stream) or 1

    def take(self, source: Any) -> Memory:
        """The memory of an object that has __dlpack__."""
        queue = self.queue
        if queue and tuple(source.__dlpack_device__()) != self.place:
            queue = None        # which would mean nothing to another device
        try:
            given = source.__dlpack__(stream=queue, max_version=(1, 0))
        except TypeError:
            given = source.__dlpack__(stream=queue)
        taken = _take(given, self.device)
        if type(taken) is int:
            self._refuse(source, taken)
        kept, buffer, shape = taken
        return Memory(kept, buffer, shape, self.place)

    def _refuse(self, source: Any, status: int) -> None:
        place: Any = getattr(source, '__dlpack_device__', tuple)()
        if self.place[0] != ON_HOST and place[:1] == (ON_HOST,):
            raise lib.ArgumentError(
                'MARE_ERROR_ARGUMENT', "from_dlpack: the array is in the memory of the host, which "
                "'null' shares; mare.array(x, device=%r) copies it" % self.name)
        lib.check(status)
