"""The C library behind the package: its declarations, by ctypes."""

import ctypes
import glob
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_double, c_int, c_int32,
                    c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p, py_object)
from typing import Any, List, Optional

API = 7, 2       # MARE_API_VERSION, MARE_ENGINE_API_VERSION of what is declared here
NIL, BOOLEAN, NUMBER, STRING, ARRAY, BUFFER, OTHER, LIST, TABLE = range(9)
KERNEL_TYPES = ('bytes', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64',
                'float32', 'float64', 'float16', 'bool', 'complex64', 'complex128')
# Those that arrays may have that go to Lua: NumPy's names, and Mare's
TYPE_NAMES = {name: {'float32': 'float', 'float64': 'double'}.get(name, name)
              for name in KERNEL_TYPES[1:11]}


class Value(Structure):
    _fields_ = [('kind', c_uint32), ('type', c_uint32), ('number', c_double), ('data', c_void_p),
                ('count', c_uint64), ('buffer', c_void_p)]


class Field(Structure):
    _fields_ = [('name', c_char_p), ('value', Value)]


class Event(Structure):
    _fields_ = [('kind', c_char_p), ('message', c_char_p), ('fields', POINTER(Field)),
                ('field_count', c_uint64)]


class View(Structure):
    _fields_ = [('data', c_void_p), ('device_type', c_int32), ('device_id', c_int32),
                ('dimensions', c_int32), ('code', c_uint8), ('bits', c_uint8),
                ('vector', c_uint16), ('shape', POINTER(c_int64)), ('strides', POINTER(c_int64)),
                ('offset', c_uint64)]


class Tensor(Structure):
    _fields_ = [('major', c_uint32), ('minor', c_uint32), ('owner', c_void_p),
                ('deleter', CFUNCTYPE(None, c_void_p)), ('flags', c_uint64), ('view', View)]


class OldTensor(Structure):
    _fields_ = [('view', View), ('owner', c_void_p), ('deleter', CFUNCTYPE(None, c_void_p))]


class TensorDesc(Structure):
    _fields_ = [('type', c_uint32), ('dimensions', c_uint32), ('shape', POINTER(c_int64)),
                ('strides', POINTER(c_int64)), ('offset', c_uint64), ('is_read_only', c_int32),
                ('reserved', c_uint64 * 4)]


class EngineDesc(Structure):
    _fields_ = [('label', c_char_p), ('root', c_char_p), ('path', c_char_p), ('memory', c_uint64),
                ('flags', c_uint32), ('log', c_void_p), ('log_context', c_void_p),
                ('reserved', c_uint64 * 8)]


Listener = CFUNCTYPE(None, c_void_p, POINTER(Event))
Log = CFUNCTYPE(None, c_void_p, c_uint32, c_char_p)

_HERE = os.path.dirname(os.path.abspath(__file__))


def _load() -> List[Any]:
    """The library of devices, and the engine, which has a LuaJIT of its own."""
    folder = os.environ.get('MARE_LIBRARY_FOLDER') or os.path.join(_HERE, 'lib')
    found = []
    for name in ('libmare', 'libmare_engine'):
        paths = sorted(glob.glob(os.path.join(folder, name + '.so.[0-9]*')), key=len)
        if not paths:
            raise ImportError('no %s in %s' % (name, folder))
        found.append(ctypes.CDLL(paths[0]))
    versions = found[0].mare_api_version(), found[1].mare_engine_api_version()
    if versions != API:
        raise ImportError('the libraries in %s have the API %s, this package is for %s'
                          % (folder, versions, API))
    # Functions that make objects of Python are called with its lock held.
    return found + [ctypes.PyDLL(paths[0])]


core, engine, python = _load()


def _declare(library: Any, name: str, result: Any, *arguments: Any) -> None:
    function = getattr(library, name)
    function.restype, function.argtypes = result, list(arguments)


_status, _out = c_int32, POINTER(c_void_p)
_declare(core, 'mare_error_message', c_char_p)
_declare(core, 'mare_status_name', c_char_p, c_int32)
_declare(core, 'mare_live_objects', c_uint64)
_declare(core, 'mare_buffer_retain', None, c_void_p)
_declare(core, 'mare_buffer_release', None, c_void_p)
_declare(core, 'mare_buffer_size', c_uint64, c_void_p)
_declare(core, 'mare_buffer_type', c_uint32, c_void_p)
_declare(core, 'mare_buffer_label', c_char_p, c_void_p)
_declare(core, 'mare_buffer_device', c_void_p, c_void_p)
_declare(core, 'mare_buffer_native', _status, c_void_p, POINTER(c_uint64), POINTER(c_uint64))
_declare(core, 'mare_buffer_upload', _status, c_void_p, c_uint64, c_void_p, c_uint64, c_void_p)
_declare(core, 'mare_buffer_download', _status, c_void_p, c_uint64, c_void_p, c_uint64, c_void_p)
_declare(core, 'mare_device_open', _status, c_char_p, _out)
_declare(core, 'mare_device_release', None, c_void_p)
_declare(core, 'mare_device_stream', c_void_p, c_void_p)
_declare(core, 'mare_stream_native', _status, c_void_p, _out)
_declare(core, 'mare_type_code', c_char_p, c_uint32)
_declare(core, 'mare_tensor_export', _status, c_void_p, POINTER(TensorDesc), c_void_p, _out)
_declare(core, 'mare_tensor_import', _status, c_void_p, c_void_p, c_char_p, _out)
_declare(core, 'mare_tensor_to_old', _status, c_void_p, _out)
_declare(core, 'mare_tensor_from_old', _status, c_void_p, _out)
_declare(python, 'mare_engine_python', py_object)
_declare(engine, 'mare_engine_create', _status, POINTER(EngineDesc), _out)
_declare(engine, 'mare_engine_destroy', _status, c_void_p)
_declare(engine, 'mare_engine_run', _status, c_void_p, c_char_p, c_char_p)
_declare(engine, 'mare_engine_call', _status, c_void_p, c_char_p, POINTER(Value), c_uint64)
_declare(engine, 'mare_engine_result_count', c_uint64, c_void_p)
_declare(engine, 'mare_engine_result', _status, c_void_p, c_uint64, POINTER(Value))
_declare(engine, 'mare_engine_interrupt', None, c_void_p)
_declare(engine, 'mare_engine_traceback', c_char_p, c_void_p)
_declare(engine, 'mare_engine_listen', _status, c_void_p, Listener, c_void_p, c_double)


class Error(Exception):
    """What Mare or a script refuses. status: its name, such as MARE_ERROR_ARGUMENT; traceback:
    where in Lua, if it was there. A bad argument is also a ValueError, want of memory a
    MemoryError."""

    def __init__(self, status: str, message: str, traceback: Optional[str] = None):
        super().__init__(message)
        self.status, self.traceback = status, traceback

    def __reduce__(self) -> Any:
        return type(self), (self.status, str(self), self.traceback)


class ArgumentError(Error, ValueError):
    """An argument that is none."""


class NoAttribute(ArgumentError, AttributeError):
    """A name that an object or the module does not have."""


class NoElement(ArgumentError, IndexError):
    """The number of an element that an array does not have."""


class OutOfMemory(Error, MemoryError):
    """A device, the host or a script has no more memory."""


_KINDS = {'MARE_ERROR_ARGUMENT': ArgumentError, 'MARE_ERROR_MEMORY': OutOfMemory}


def check(status: int, traceback: Any = lambda: None) -> None:
    """Raises the error of a call that failed, the last one on this thread."""
    if status:
        name = core.mare_status_name(status).decode()
        message = core.mare_error_message().decode('utf-8', 'replace')
        if message.startswith("engine 'python': "):     # which says nothing here
            message = message[len("engine 'python': "):]
        raise _KINDS.get(name, Error)(name, message, traceback())


def out(function: Any, *arguments: Any) -> Any:
    """Calls a function whose last argument is the place of a handle; returns the handle."""
    place = c_void_p()
    check(function(*arguments, byref(place)))
    return place.value
