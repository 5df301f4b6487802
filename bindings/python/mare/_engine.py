"""One world of Lua for each thread, and what passes between it and Python."""

import json
import math
import sys
import threading
from ctypes import byref, c_char, c_void_p, cast, string_at
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from . import _exchange as exchange
from . import _library as lib
from ._interrupt import Interrupts


def _numpy() -> Any:
    import numpy
    return numpy


def _copied(value: lib.Value, dtype: str) -> Any:
    """A new array of NumPy of what is in memory of C."""
    numpy = _numpy()
    kind = numpy.dtype(dtype)
    if not value.count:
        return numpy.empty(0, kind)
    size = value.count * (numpy.dtype(lib.KERNEL_TYPES[value.type]).itemsize if value.type else 1)
    return numpy.frombuffer((c_char * size).from_address(value.data), kind).copy()


class _Progress:
    """Shows how far runs are: a bar in a notebook, a line on a terminal."""

    def __init__(self) -> None:
        self.handle: Any = None
        self.is_shown = False

    @staticmethod
    def _notebook() -> Any:
        if 'IPython' not in sys.modules:
            return None
        shell = sys.modules['IPython'].get_ipython()
        return shell if shell is not None and hasattr(shell, 'kernel') else None

    def show(self, percent: float, text: str) -> None:
        if self._notebook():
            from IPython.display import HTML, display
            bar = HTML('<progress max="100" value="%.1f" style="width:40%%"></progress> '
                       '<code>%s</code>' % (percent, text.replace('<', '&lt;')))
            if self.handle is None:
                self.handle = display(bar, display_id=True)
            else:
                self.handle.update(bar)
        elif sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write('\r%s\x1b[K' % text)
            self.is_shown = True

    def end(self) -> None:
        if self.is_shown:
            sys.stderr.write('\r\x1b[K')
        self.handle, self.is_shown = None, False


class Engine:
    """A Lua state with all of Mare in it; belongs to the thread that made it."""

    array_class: Any = None         # of what is a mare.array in Lua: _array.py says

    def __init__(self) -> None:
        self._log = lib.Log(self._hear_log)
        self._listener = lib.Listener(self._hear)
        self.progress = _Progress()
        self.failure: Optional[BaseException] = None
        self.listeners: List[Callable[[str, Dict[str, Any]], None]] = []
        description = lib.EngineDesc(label=b'python', log=cast(self._log, c_void_p))
        self.handle = lib.out(lib.engine.mare_engine_create, byref(description))
        self.thread = threading.get_ident()
        self.released: List[int] = []
        self.places: Dict[Optional[str], exchange.Place] = {}
        self.module: Optional[Object] = None        # Lua's table mare, once it is asked for
        start = (b"mare = require 'mare' "
                 b"__python = require 'mare.launcher.python'")
        lib.check(lib.engine.mare_engine_run(self.handle, start, b'start'))
        lib.check(lib.engine.mare_engine_listen(self.handle, self._listener, None, 0.25))

    # ---- what Mare says ----

    def _hear_log(self, _context: Any, level: int, text: bytes) -> None:
        words = text.decode('utf-8', 'replace')
        stream = sys.stderr if level <= 2 else sys.stdout
        if stream is not None:
            print(words, file=stream)

    def _hear(self, _context: Any, event: Any) -> None:
        try:
            self._take(event.contents)
        except BaseException as failure:        # raised when Lua has ended
            self.failure = failure
            lib.engine.mare_engine_interrupt(self.handle)

    def _take(self, event: lib.Event) -> None:
        kind = event.kind.decode()
        fields = {}
        for k in range(event.field_count):
            field = event.fields[k]
            fields[field.name.decode()] = self._plain(field.value)
        if kind == 'progress' and 'percent' in fields and not fields.get('quiet'):
            self.progress.show(fields['percent'], (event.message or b'').decode())
        elif kind in ('end', 'failure'):
            self.progress.end()
        for listener in self.listeners:
            listener(kind, fields)

    @staticmethod
    def _plain(value: lib.Value) -> Any:
        if value.kind == lib.STRING:
            return string_at(value.data, value.count).decode('utf-8', 'replace')
        return bool(value.number) if value.kind == lib.BOOLEAN else value.number

    # ---- values in ----

    def _raw(self, value: Any, keep: List[Any]) -> lib.Value:
        """A value that JSON cannot hold."""
        if isinstance(value, float):
            return lib.Value(kind=lib.NUMBER, number=value)
        if isinstance(value, bytes):
            text = (c_char * max(1, len(value))).from_buffer_copy(value or b'\0')
            keep.append(text)
            return lib.Value(kind=lib.STRING, data=cast(text, c_void_p), count=len(value))
        if isinstance(value, exchange.Owner):
            return lib.Value(kind=lib.BUFFER, buffer=value.buffer)
        numpy = _numpy()
        array = numpy.asarray(value)
        if array.dtype.name == 'object':
            raise TypeError('%s cannot go to Lua' % type(value).__name__)
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder('='))
        array = numpy.ascontiguousarray(array)
        if not array.flags.writeable:   # what a text of Lua writes would reach it
            array = array.copy()
        if array.dtype.name not in lib.TYPE_NAMES:
            raise TypeError('an array of %s cannot go to Lua (allowed: %s)'
                            % (array.dtype, ', '.join(lib.TYPE_NAMES)))
        keep.append(array)
        return lib.Value(kind=lib.ARRAY, type=lib.KERNEL_TYPES.index(array.dtype.name),
                         data=array.ctypes.data, count=array.size)

    def _encoded(self, value: Any, raw: List[lib.Value], keep: List[Any]) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int):
            if float(value) != value:
                raise OverflowError('%d is no number of Lua, which has 53 bits: numpy.int64([...]) '
                                    'is an array of it' % value)
            value = float(value)
        if isinstance(value, float) and math.isfinite(value):
            return value
        if isinstance(value, Object):
            if value.engine is not self:
                raise TypeError('this object belongs to another thread')
            return {'o': value.number}
        if isinstance(value, dict):
            return {'k': [self._encoded(k, raw, keep) for k in value],
                    'v': [self._encoded(v, raw, keep) for v in value.values()]}
        if isinstance(value, (list, tuple)):
            return {'t': [self._encoded(v, raw, keep) for v in value], 'n': len(value)}
        if type(value).__module__ == 'numpy' and getattr(value, 'shape', None) == ():
            return self._encoded(value.item(), raw, keep)
        raw.append(self._raw(value, keep))
        return {'r': len(raw)}

    # ---- values out ----

    def _value(self, value: lib.Value) -> Any:
        if value.kind == lib.NIL:
            return None
        if value.kind == lib.BOOLEAN:
            return bool(value.number)
        if value.kind == lib.NUMBER:
            number = value.number
            whole = math.isfinite(number) and number == int(number) and abs(number) < 2**53
            is_negative_zero = number == 0 and math.copysign(1, number) < 0
            return int(number) if whole and not is_negative_zero else number
        if value.kind == lib.BUFFER:
            return Buffer(value.buffer)
        if value.kind == lib.ARRAY:
            return _copied(value, lib.KERNEL_TYPES[value.type] if value.type else 'uint8')
        data = string_at(value.data, value.count)
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data

    def _results(self) -> List[Any]:
        found = []
        for k in range(lib.engine.mare_engine_result_count(self.handle)):
            value = lib.Value()
            lib.check(lib.engine.mare_engine_result(self.handle, k, byref(value)))
            found.append(self._value(value))
        return found

    # ---- calls ----

    def call(self, function: str, *raw: lib.Value) -> List[Any]:
        """Calls a function of python.lua with values of C."""
        if threading.get_ident() != self.thread:
            raise RuntimeError('an object of Mare belongs to the thread that made it')
        while self.released and function != 'release':
            self.call('release', lib.Value(kind=lib.NUMBER, number=self.released.pop()))
        values = (lib.Value * max(1, len(raw)))(*raw)
        with Interrupts(lambda: lib.engine.mare_engine_interrupt(self.handle)) as seen:
            status = lib.engine.mare_engine_call(self.handle, ('__python.' + function).encode(),
                                                 values, len(raw))
        failure, self.failure = self.failure, None
        if seen.came:
            # Takes an interrupt that came after the end of the call, lest it end the next one.
            lib.engine.mare_engine_run(self.handle, b'', b'')
            raise KeyboardInterrupt
        if failure is not None:
            raise failure
        lib.check(status, self._traceback)
        return self._results()

    def _traceback(self) -> Optional[str]:
        text = lib.engine.mare_engine_traceback(self.handle)
        return text.decode('utf-8', 'replace') if text else None

    def pack(self, arguments: Sequence[Any]) -> Tuple[List[lib.Value], List[Any]]:
        """(values of C, what has to live as long): JSON and what stands beside it."""
        raw: List[lib.Value] = []
        keep: List[Any] = []
        encoded = self._encoded(list(arguments), raw, keep)
        text = json.dumps(encoded).encode()
        return [self._raw(text, keep)] + raw, keep

    def invoke(self, function: str, head: Sequence[Any], arguments: Sequence[Any]) -> Any:
        """Calls python.lua's function(head..., arguments); gives one result or a tuple."""
        values, keep = self.pack(arguments)
        heads = [self._raw(h, keep) if isinstance(h, bytes)
                 else lib.Value(kind=lib.NUMBER, number=h) for h in head]
        found = self.call(function, *(heads + values))
        del keep
        return self.unpack(found)

    def unpack(self, found: List[Any]) -> Any:
        letters, values = found[0] or '', found[1:]
        if letters == 'f':
            return NotImplemented
        kinds = {'o': Object, 'a': self.array_class}
        results = [kinds[letter](self, v) if letter in kinds else v
                   for letter, v in zip(letters, values)]
        return results[0] if len(results) == 1 else tuple(results) if results else None

    def of(self, function: str, number: int) -> List[Any]:
        """What a function of python.lua gives for an object, as it is."""
        return self.call(function, lib.Value(kind=lib.NUMBER, number=number))

    # ---- memory of arrays ----

    def read(self, function: str, number: int, dtype: Any) -> Any:
        """The numbers that a function of python.lua gives as bytes, as an array of NumPy."""
        return self.of(function, number)[0].view(dtype)

    def adopt(self, buffer: int, shape: Sequence[int]) -> int:
        """The number of a new array of Lua's in the memory of a buffer."""
        numbers = [lib.Value(kind=lib.NUMBER, number=n) for n in shape]
        return self.call('adopt', lib.Value(kind=lib.BUFFER, buffer=buffer), *numbers)[0]

    def place(self, name: Optional[str]) -> exchange.Place:
        """The device of a name, or the one that is used where none is named."""
        if name not in self.places:
            own = self.invoke('place', [], [name])
            self.places[name] = exchange.Place(own._owner, name)
        return self.places[name]


class _End:
    """Ends the engine of a thread with it; that of the main thread goes with the process."""

    def __init__(self, engine: Engine):
        self.engine = engine

    def __del__(self) -> None:
        if self.engine.thread == threading.get_ident() and not sys.is_finalizing():
            lib.engine.mare_engine_destroy(self.engine.handle)
            self.engine.handle, self.engine.thread = None, -1


_engines = threading.local()


def engine() -> Engine:
    """The engine of this thread."""
    try:
        return _engines.engine
    except AttributeError:
        _engines.engine = Engine()
    if threading.current_thread() is not threading.main_thread():
        _engines.end = _End(_engines.engine)
    return _engines.engine


class Object:
    """Something of Lua's: a table, a function, a simulation, an array on a device.

    Its fields and methods are those that it has in Lua (help(x) tells); `x[1]` counts as Lua does.
    Keyword arguments become a table: sim.run(t_end=1) is sim:run { t_end = 1 }.
    """

    def __init__(self, engine: Engine, number: int):
        self.__dict__.update(engine=engine, _number=number)

    @property
    def number(self) -> int:
        """That of the object in Lua."""
        return self.__dict__['_number']

    def __del__(self) -> None:
        number = self.__dict__.get('_number')
        if number is not None:
            self.engine.released.append(number)

    def __reduce__(self) -> Any:
        raise TypeError('an object of Lua can be neither copied nor pickled')

    def __getattr__(self, name: str) -> Any:
        if name.startswith('_'):
            raise AttributeError(name)
        try:
            return self._get(name)
        except lib.ArgumentError as error:
            raise lib.NoAttribute(error.status, str(error), error.traceback) from None

    def _get(self, key: Any) -> Any:
        found = self.engine.invoke('get', [self.number], [key])
        return Method(self, key) if found is NotImplemented else found

    def __setattr__(self, name: str, value: Any) -> None:
        self.engine.invoke('set', [self.number], [name, value])

    def __getitem__(self, key: Any) -> Any:
        return self._get(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.engine.invoke('set', [self.number], [key, value])

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return _call(self, '', arguments, options)

    def __len__(self) -> int:
        return self.engine.of('length', self.number)[0]

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        """The elements 1, 2, ... of a table, as ipairs gives them."""
        return (self._get(k) for k in range(1, len(self) + 1))

    def __dir__(self) -> List[str]:
        return self.engine.of('names', self.number)[0].split('\n')

    def __repr__(self) -> str:
        return self.engine.of('text', self.number)[0]

    def _repr_png_(self) -> Optional[bytes]:
        picture = self.engine.of('picture', self.number)[0]
        return picture if isinstance(picture, bytes) and picture else None

    def _repr_html_(self) -> Optional[str]:
        return self.engine.of('html', self.number)[0] or None

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        """The numbers on the host, in their shape; always a copy."""
        if copy is False:
            raise ValueError('the numbers are on a device: a copy is needed')
        data, *shape = self.engine.of('field', self.number)
        array = data.reshape([int(n) for n in shape])
        return array if dtype is None else array.astype(dtype, copy=False)

    def numpy(self) -> Any:
        """The numbers as an array of NumPy."""
        return self.__array__()

    def _pairs(self) -> Dict[Any, Any]:
        """The keys and values of a table, as many at a time as Lua gives at once."""
        fields: Dict[Any, Any] = {}
        past = 0
        flat: Sequence[Any] = (None,)
        while flat:
            flat = self.engine.invoke('pairs', [self.number, past], []) or ()
            fields.update(zip(flat[::2], flat[1::2]))
            past += len(flat) // 2
        return fields

    def to_python(self) -> Any:
        """A table as a dictionary, or as a list where its keys are 1, 2, ..."""
        fields = self._pairs()
        for key, value in fields.items():
            if isinstance(value, Object):
                fields[key] = value.to_python()
        if fields and set(fields) == set(range(1, len(fields) + 1)):
            return [fields[k] for k in range(1, len(fields) + 1)]
        return fields


class Method:
    """A function of a Lua object."""

    def __init__(self, owner: Object, name: Any):
        self.owner, self.name = owner, name

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return _call(self.owner, self.name, arguments, options)

    def __repr__(self) -> str:
        return 'function %s of %s' % (self.name, repr(self.owner).split('\n')[0])


def _call(owner: Object, name: Any, arguments: Tuple[Any, ...], options: Dict[str, Any]) -> Any:
    if options:
        arguments = arguments + (options,)
    return owner.engine.invoke('call', [owner.number, str(name).encode()], arguments)


class Buffer:
    """Bytes on a device, of one type."""

    def __init__(self, handle: int, is_own: bool = False):
        self._owner = exchange.Owner(handle, is_own)
        self.handle = handle

    def __len__(self) -> int:
        return lib.core.mare_buffer_size(self.handle)

    def numpy(self) -> Any:
        """Its numbers as an array of NumPy."""
        numpy = _numpy()
        kind = lib.core.mare_type_code(lib.core.mare_buffer_type(self.handle)).decode()
        array = numpy.empty(len(self) // numpy.dtype(kind).itemsize, kind)
        lib.check(lib.core.mare_buffer_download(self.handle, 0, array.ctypes.data, len(self), None))
        return array

    def __repr__(self) -> str:
        label = lib.core.mare_buffer_label(self.handle).decode()
        return "buffer '%s' of %d bytes" % (label, len(self))
