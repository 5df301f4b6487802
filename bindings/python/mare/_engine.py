"""One world of Lua for each thread, and what passes between it and Python."""

import json
import math
import sys
import threading
import weakref
from ctypes import POINTER, byref, c_char, c_void_p, cast, string_at

from . import _exchange as exchange
from . import _library as lib
from ._interrupt import Interrupts


def _numpy():
    import numpy
    return numpy


class _Progress:
    """Shows how far runs are: a bar in a notebook, a line on a terminal."""

    def __init__(self):
        self.handle, self.is_shown = None, False

    @staticmethod
    def _notebook():
        if 'IPython' not in sys.modules:
            return None
        shell = sys.modules['IPython'].get_ipython()
        return shell if shell is not None and hasattr(shell, 'kernel') else None

    def show(self, percent, text):
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

    def end(self):
        if self.is_shown:
            sys.stderr.write('\r\x1b[K')
        self.handle, self.is_shown = None, False


class Engine:
    """A Lua state with all of Mare in it; belongs to the thread that made it."""

    def __init__(self):
        self._log = lib.Log(self._hear_log)
        self._listener = lib.Listener(self._hear)
        self.progress, self.failure, self.listeners = _Progress(), None, []
        description = lib.EngineDesc(label=b'python', log=cast(self._log, c_void_p))
        self.handle = lib.out(lib.engine.mare_engine_create, byref(description))
        self.thread = threading.get_ident()
        self.released = []
        start = (b"mare = require 'mare' "
                 b"__python = require 'mare.launcher.python'")
        lib.check(lib.engine.mare_engine_run(self.handle, start, b'start'))
        lib.check(lib.engine.mare_engine_listen(self.handle, self._listener, None, 0.25))

    # ---- what Mare says ----

    def _hear_log(self, _context, level, text):
        words = text.decode('utf-8', 'replace')
        stream = sys.stderr if level <= 2 else sys.stdout
        if stream is not None:
            print(words, file=stream)

    def _hear(self, _context, event):
        try:
            self._take(event.contents)
        except BaseException as failure:        # raised when Lua has ended
            self.failure = failure
            lib.engine.mare_engine_interrupt(self.handle)

    def _take(self, event):
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
    def _plain(value):
        if value.kind == lib.STRING:
            return string_at(value.data, value.count).decode('utf-8', 'replace')
        return bool(value.number) if value.kind == lib.BOOLEAN else value.number

    # ---- values in ----

    def _raw(self, value, keep):
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

    def _encoded(self, value, raw, keep):
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
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

    def _value(self, value):
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
        data = string_at(value.data, value.count) if value.kind != lib.ARRAY else None
        if value.kind == lib.ARRAY:
            numpy = _numpy()
            dtype = numpy.dtype(lib.KERNEL_TYPES[value.type]
                                if value.type else 'uint8')
            size = value.count * dtype.itemsize
            return numpy.frombuffer(bytearray(string_at(value.data, size)), dtype)
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data

    def _results(self):
        found = []
        for k in range(lib.engine.mare_engine_result_count(self.handle)):
            value = lib.Value()
            lib.check(lib.engine.mare_engine_result(self.handle, k, byref(value)))
            found.append(self._value(value))
        return found

    # ---- calls ----

    def call(self, function, *raw):
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
            raise KeyboardInterrupt
        if failure is not None:
            raise failure
        lib.check(status)
        return self._results()

    def pack(self, arguments):
        """(values of C, what has to live as long): JSON and what stands beside it."""
        raw, keep = [], []
        encoded = self._encoded(list(arguments), raw, keep)
        text = json.dumps(encoded).encode()
        return [self._raw(text, keep)] + raw, keep

    def invoke(self, function, head, arguments):
        """Calls python.lua's function(head..., arguments); gives one result or a tuple."""
        values, keep = self.pack(arguments)
        heads = [self._raw(h, keep) if isinstance(h, bytes)
                 else lib.Value(kind=lib.NUMBER, number=h) for h in head]
        found = self.call(function, *(heads + values))
        del keep
        return self.unpack(found)

    def unpack(self, found):
        letters, values = found[0] or '', found[1:]
        if letters == 'f':
            return NotImplemented
        results = [Object(self, v) if letter == 'o' else v for letter, v in zip(letters, values)]
        return results[0] if len(results) == 1 else tuple(results) if results else None

    def of(self, function, number):
        """What a function of python.lua gives for an object, as it is."""
        return self.call(function, lib.Value(kind=lib.NUMBER, number=number))


class _End:
    """Ends the engine of a thread with it; that of the main thread goes with the process."""

    def __init__(self, engine):
        self.engine = engine

    def __del__(self):
        if self.engine.thread == threading.get_ident() and not sys.is_finalizing():
            lib.engine.mare_engine_destroy(self.engine.handle)
            self.engine.handle = self.engine.thread = None


_engines = threading.local()


def engine():
    """The engine of this thread."""
    if not hasattr(_engines, 'engine'):
        _engines.engine = Engine()
        if threading.current_thread() is not threading.main_thread():
            _engines.end = _End(_engines.engine)
    return _engines.engine


class Object:
    """Something of Lua's: a table, a function, a simulation, an array on a device.

    Its fields and methods are those that it has in Lua (help(x) tells); `x[1]` counts as Lua does.
    Keyword arguments become a table: sim.run(t_end=1) is sim:run { t_end = 1 }.
    """

    def __init__(self, engine, number):
        self.__dict__.update(engine=engine, number=number)
        weakref.finalize(self, engine.released.append, number).atexit = False

    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        return self._get(name)

    def _get(self, key):
        found = self.engine.invoke('get', [self.number], [key])
        return Method(self, key) if found is NotImplemented else found

    def __setattr__(self, name, value):
        self.engine.invoke('set', [self.number], [name, value])

    def __getitem__(self, key):
        return self._get(key)

    def __setitem__(self, key, value):
        self.engine.invoke('set', [self.number], [key, value])

    def __call__(self, *arguments, **options):
        return _call(self, '', arguments, options)

    def __len__(self):
        return self.engine.of('length', self.number)[0]

    def __bool__(self):
        return True

    def __iter__(self):
        """The elements 1, 2, ... of a table, as ipairs gives them."""
        return (self._get(k) for k in range(1, len(self) + 1))

    def __dir__(self):
        return self.engine.of('names', self.number)[0].split('\n')

    def __repr__(self):
        return self.engine.of('text', self.number)[0]

    def _repr_png_(self):
        picture = self.engine.of('picture', self.number)[0]
        return picture if isinstance(picture, bytes) and picture else None

    def _repr_html_(self):
        return self.engine.of('html', self.number)[0] or None

    def __array__(self, dtype=None, copy=None):
        """The numbers on the host, in their shape; always a copy."""
        if copy is False:
            raise ValueError('the numbers are on a device: a copy is needed')
        data, *shape = self.engine.of('array', self.number)
        array = data.reshape([int(n) for n in shape])
        return array if dtype is None else array.astype(dtype)

    def numpy(self):
        """The numbers as an array of NumPy."""
        return self.__array__()

    def _pairs(self):
        """The keys and values of a table, as many at a time as Lua gives at once."""
        fields, past, flat = {}, 0, True
        while flat:
            flat = self.engine.invoke('pairs', [self.number, past], []) or ()
            fields.update(zip(flat[::2], flat[1::2]))
            past += len(flat) // 2
        return fields

    def to_python(self):
        """A table as a dictionary, or as a list where its keys are 1, 2, ..."""
        fields = self._pairs()
        for key, value in fields.items():
            if isinstance(value, Object):
                fields[key] = value.to_python()
        if fields and set(fields) == set(range(1, len(fields) + 1)):
            return [fields[k] for k in range(1, len(fields) + 1)]
        return fields

    # ---- DLPack: arrays of mare.array, in their own memory ----

    def _memory(self):
        buffer, *shape = self.engine.of('buffer', self.number)
        return buffer, tuple(int(n) for n in shape)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        buffer, shape = self._memory()
        if copy:
            raise BufferError('Mare makes no copy here: x.numpy() does')
        if dl_device is not None and tuple(dl_device) != exchange.device_of(buffer.handle):
            raise BufferError('the array is on device %s' % (exchange.device_of(buffer.handle),))
        return exchange.capsule(buffer.handle, shape, stream, max_version)

    def __dlpack_device__(self):
        return exchange.device_of(self._memory()[0].handle)

    @property
    def __cuda_array_interface__(self):
        buffer, shape = self._memory()
        if exchange.device_of(buffer.handle)[0] != exchange.ON_CUDA:
            raise AttributeError('__cuda_array_interface__')
        return exchange.interface(buffer.handle, shape)


class Method:
    """A function of a Lua object."""

    def __init__(self, owner, name):
        self.owner, self.name = owner, name

    def __call__(self, *arguments, **options):
        return _call(self.owner, self.name, arguments, options)

    def __repr__(self):
        return 'function %s of %s' % (self.name, repr(self.owner).split('\n')[0])


def _call(owner, name, arguments, options):
    if options:
        arguments = arguments + (options,)
    return owner.engine.invoke('call', [owner.number, str(name).encode()], arguments)


class Buffer:
    """Bytes on a device, of one type."""

    def __init__(self, handle, is_own=False):
        self._owner = exchange.Owner(handle, is_own)
        self.handle = handle

    def __len__(self):
        return lib.core.mare_buffer_size(self.handle)

    def numpy(self):
        """Its numbers as an array of NumPy."""
        numpy = _numpy()
        kind = lib.core.mare_type_code(lib.core.mare_buffer_type(self.handle)).decode()
        array = numpy.empty(len(self) // numpy.dtype(kind).itemsize, kind)
        lib.check(lib.core.mare_buffer_download(self.handle, 0, array.ctypes.data, len(self), None))
        return array

    def __repr__(self):
        return "buffer '%s' of %d bytes" % (lib.core.mare_buffer_label(self.handle).decode(),
                                           len(self))
