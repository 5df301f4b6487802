"""Arrays on devices, as a user of NumPy knows them: operators, slices, reductions. Each operation
is one of Lua's mare.array; nothing is computed before it is read, shared or shown."""

from operator import index
from typing import (TYPE_CHECKING, Any, Callable, Iterator, List, Optional, Sequence, Tuple,
                    Union)

from . import _exchange as exchange
from . import _indexing as indexing
from ._engine import Engine, Object, engine
from ._library import ArgumentError, Error

if TYPE_CHECKING:
    import numpy

Axis = Union[None, int, Sequence[int]]
DTYPES = {'float': 'float32', 'double': 'float64', 'half': 'float16', 'complex_float': 'complex64',
          'complex_double': 'complex128'}      # NumPy's names of Mare's types that have others
TYPES = {name: own for own, name in DTYPES.items()}
ALL = ('bool', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'float16',
       'float32', 'float64', 'complex64', 'complex128')
# NumPy's functions of elements by name, where Lua's mare has them by another one
FUNCTIONS = {'add': 'add', 'subtract': 'sub', 'multiply': 'mul', 'divide': 'div',
             'true_divide': 'div', 'floor_divide': 'floordiv', 'remainder': 'mod', 'mod': 'mod',
             'power': 'pow', 'float_power': 'pow', 'negative': 'neg', 'positive': 'pos',
             'less': 'lt', 'less_equal': 'le', 'greater': 'gt', 'greater_equal': 'ge',
             'equal': 'eq', 'not_equal': 'ne', 'absolute': 'abs', 'fabs': 'abs',
             'arcsin': 'asin', 'arccos': 'acos', 'arctan': 'atan', 'arcsinh': 'asinh',
             'arccosh': 'acosh', 'arctanh': 'atanh', 'arctan2': 'atan2', 'conjugate': 'conj',
             'left_shift': 'shift_left', 'right_shift': 'shift_right', 'matmul': 'matmul',
             'square': 'square', 'reciprocal': 'reciprocal'}
SAME = frozenset('''sqrt cbrt sin cos tan sinh cosh tanh exp exp2 expm1 log log2 log10 log1p floor
    ceil trunc rint sign isnan isinf isfinite minimum maximum hypot copysign
    nextafter'''.split())


def type_of(dtype: Any) -> str:
    """Mare's name of a type of NumPy, or of its own."""
    if dtype is None or isinstance(dtype, str) and dtype in DTYPES:
        return dtype or 'float'
    import numpy
    name = numpy.dtype(dtype).name
    if name not in ALL:
        raise TypeError('arrays of %s do not go to a device (allowed: %s)'
                        % (name, ', '.join(ALL)))
    return TYPES.get(name, name)


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) or (
        type(value).__module__ == 'numpy' and getattr(value, 'shape', None) == ()
        and value.dtype.kind in 'biuf')


def _is_large(value: Any) -> bool:
    """Whether a whole number is one that a double, which Lua's numbers are, may not hold."""
    return hasattr(value, '__index__') and not isinstance(value, Array) and (
        abs(value.__index__()) > 2 ** 53)


Operator = Callable[['Array', Any], 'Array']


def _left(name: str) -> Operator:
    """The operator with the array on its left; _right: on its right; _writes: that writes there."""
    return lambda self, value: self._two(name, value)


def _right(name: str) -> Operator:
    return lambda self, value: self._two(name, value, True)


def _writes(name: str) -> Operator:
    return lambda self, value: self._write(name, value)


class Array(Object):
    """Numbers of one type in a box on a device: mare.array(data), mare.zeros((3, 4)).

    Operators, slices, reductions and the names of NumPy mean what they mean there, and NumPy's
    functions of elements, as numpy.sin(a), compute on the device. All of Lua's are there, too:
    a.cumsum(axis=0), a.sort(), help(a) tells. numpy.asarray(a) and a.numpy() are a copy on the
    host, numpy.from_dlpack(a) shares memory. What is computed of an array that shares its memory is
    computed at once, all else when it is read.
    """

    __hash__ = None  # type: ignore[assignment]

    _shape: Any = None      # like the following, until it is asked for
    _memory: Any = None
    _kind: Any = None
    _place: Any = None

    def __init__(self, engine: Engine, number: Optional[int],
                 memory: Optional[exchange.Memory] = None):
        fields = self.__dict__
        fields['engine'], fields['_number'] = engine, number
        if memory:
            fields['_memory'], fields['_shape'] = memory, memory.shape

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError('%s of an array cannot be set: a[...] = values writes' % name)

    @property
    def number(self) -> int:
        """That of the object in Lua, which arrays of others have from their first use there."""
        fields = self.__dict__
        if fields['_number'] is None:
            fields['_number'] = self.engine.adopt(fields['_memory'].buffer, fields['_shape'])
        return fields['_number']

    # ---- what it is ----

    def _look(self) -> None:
        kind, place, *shape = self.engine.of('about', self.number)
        self.__dict__.update(_kind=kind, _place=place, _shape=tuple(shape))

    @property
    def shape(self) -> Tuple[int, ...]:
        """Elements along each axis."""
        if self._shape is None:
            self._look()
        return self._shape

    @property
    def dtype(self) -> 'numpy.dtype':
        """NumPy's type of the elements."""
        import numpy
        return numpy.dtype(DTYPES.get(self.type, self.type))

    @property
    def type(self) -> str:
        """Mare's name of the type of the elements: float, double, complex_float, ..."""
        if self._kind is None:
            self._look()
        return self._kind

    @property
    def device(self) -> str:
        """The name of its device, such as 'cuda:0'."""
        if self._place is None:
            self._look()
        return self._place

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        count = 1
        for n in self.shape:
            count *= n
        return count

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def T(self) -> 'Array':
        """The same memory with its axes in the other order."""
        return self._do('transpose')

    @property
    def mT(self) -> 'Array':
        """Views of the matrices with their two axes exchanged."""
        return self.__array_namespace__().matrix_transpose(self)

    @property
    def real(self) -> 'Array':
        """The real parts."""
        return self._do('real') if self.type.startswith('complex') else self

    @property
    def imag(self) -> 'Array':
        """The imaginary parts."""
        if self.type.startswith('complex'):
            return self._do('imag')
        return zeros(self.shape, self.dtype, self.device)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError('an array without axes has no length')
        return self.shape[0]

    def __iter__(self) -> Iterator['Array']:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return super().__repr__()

    # ---- on the host ----

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> 'numpy.ndarray':
        """The numbers on the host, in their shape; always a copy."""
        if copy is False:
            raise ValueError('the numbers are on a device: numpy.from_dlpack shares the memory '
                             'of null devices, all else is a copy')
        array = self.engine.read('array', self.number, self.dtype).reshape(self.shape)
        return array if dtype is None else array.astype(dtype, copy=False)

    def item(self) -> Any:
        """The only element, as a number of Python."""
        if self.size != 1:
            raise ValueError('%s: an array of one element is wanted' % (self.shape,))
        return self.__array__().item()

    def tolist(self) -> Any:
        """The elements as lists of Python."""
        return self.__array__().tolist()

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.ndim or not self.type.startswith(('int', 'uint')):
            raise TypeError('only a whole number without axes is an index')
        return int(self.item())

    # ---- operators ----

    def _do(self, name: str, *arguments: Any) -> Any:
        return self.engine.invoke('operate', [name.encode()], (self,) + arguments)

    def _other(self, value: Any) -> Any:
        """An operand, for Lua; NotImplemented where it is none."""
        if isinstance(value, Array):
            return value
        if _is_number(value):
            if _is_large(value):
                is_exact = self.type in ('int64', 'uint64')
                return array(value, self.type, self) if is_exact else float(value)
            return value
        if isinstance(value, (list, tuple)) or type(value).__module__ == 'numpy':
            return array(value, device=self)
        if isinstance(value, complex):
            return array(value, 'complex64' if self.itemsize <= 8 else 'complex128', self)
        return NotImplemented

    def _two(self, name: str, value: Any, is_right: bool = False) -> Any:
        other = self._other(value)
        if other is NotImplemented:
            return other
        if not is_right:
            return self._do(name, other)
        return self.engine.invoke('operate', [name.encode()], (other, self))

    def _write(self, name: str, value: Any) -> Any:
        result = self._two(name, value)
        return result if result is NotImplemented else self._do('assign', result)

    def __neg__(self) -> 'Array':
        return self._do('neg')

    def __pos__(self) -> 'Array':
        return self

    def __abs__(self) -> 'Array':
        return self._do('abs')

    def __invert__(self) -> 'Array':
        return self._do('logical_not' if self.type == 'bool' else 'invert')

    def _logic(self, value: Any, name: str) -> Any:
        """&, | and ^: of truth values, else of bits."""
        if self.type != 'bool':
            return self._two('bit_' + name, value)
        if _is_number(value) and type(value).__name__.startswith('bool'):
            value = array(value, 'bool', self)
        return self._two('ne' if name == 'xor' else 'logical_' + name, value)

    def __and__(self, value: Any) -> 'Array':
        return self._logic(value, 'and')

    def __or__(self, value: Any) -> 'Array':
        return self._logic(value, 'or')

    def __xor__(self, value: Any) -> 'Array':
        return self._logic(value, 'xor')

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __iand__(self, value: Any) -> 'Array':
        return self._do('assign', self & value)

    def __ior__(self, value: Any) -> 'Array':
        return self._do('assign', self | value)

    def __ixor__(self, value: Any) -> 'Array':
        return self._do('assign', self ^ value)

    __add__, __radd__, __iadd__ = _left('add'), _right('add'), _writes('add')
    __sub__, __rsub__, __isub__ = _left('sub'), _right('sub'), _writes('sub')
    __mul__, __rmul__, __imul__ = _left('mul'), _right('mul'), _writes('mul')
    __truediv__, __rtruediv__, __itruediv__ = _left('div'), _right('div'), _writes('div')
    __floordiv__, __rfloordiv__ = _left('floordiv'), _right('floordiv')
    __ifloordiv__ = _writes('floordiv')
    __mod__, __rmod__, __imod__ = _left('mod'), _right('mod'), _writes('mod')
    __pow__, __rpow__, __ipow__ = _left('pow'), _right('pow'), _writes('pow')
    __lshift__, __rlshift__ = _left('shift_left'), _right('shift_left')
    __ilshift__ = _writes('shift_left')
    __rshift__, __rrshift__ = _left('shift_right'), _right('shift_right')
    __irshift__ = _writes('shift_right')
    __matmul__, __rmatmul__ = _left('matmul'), _right('matmul')
    __lt__, __le__, __gt__, __ge__ = _left('lt'), _left('le'), _left('gt'), _left('ge')
    __eq__ = _left('eq')            # type: ignore[assignment]
    __ne__ = _left('ne')            # type: ignore[assignment]

    def __divmod__(self, value: Any) -> Tuple['Array', 'Array']:
        return self // value, self % value

    # ---- what NumPy and others ask ----

    def __array_namespace__(self, *, api_version: Optional[str] = None) -> Any:
        """The functions of the Python array API standard: mare.array_api."""
        from . import array_api
        if api_version and str(api_version) > array_api.__array_api_version__:
            raise ValueError('version %s of the array API standard: %s is the latest here'
                             % (api_version, array_api.__array_api_version__))
        return array_api

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from ._ufuncs import OWN
        name = ufunc.__name__ if ufunc.__name__ in SAME else FUNCTIONS.get(ufunc.__name__)
        own = OWN.get(ufunc.__name__)
        if method != '__call__' or not (name or own) or options:
            return NotImplemented       # which NumPy makes a TypeError
        values = [self._other(value) for value in inputs]
        if any(value is NotImplemented for value in values):
            return NotImplemented
        if own:
            return own(*values)
        return self.engine.invoke('operate', [str(name).encode()], values)

    # ---- elements ----

    def __getitem__(self, key: Any) -> 'Array':
        mask = indexing.mask_of(key, self)
        if mask is not None and mask.shape == self.shape:
            return self._do('chosen', mask)
        return indexing.found_at(indexing.places_of(key, self), self)

    def __setitem__(self, key: Any, value: Any) -> None:
        value = self._other(value)
        mask = indexing.mask_of(key, self)
        if mask is not None and mask.shape == self.shape:
            is_array = isinstance(value, Array) and value.ndim > 0
            self._do('set_chosen' if is_array else 'set_where', mask, value)
            return
        found = indexing.places_of(key, self)
        if not found.chosen and not found.added:
            self._do('set', found.places, value)
            return
        numbers = arange(self.size, device=self.device).reshape(self.shape)
        self._do('put', indexing.found_at(found, numbers), value)

    # ---- shapes and types ----

    def astype(self, dtype: Any, copy: bool = True) -> 'Array':
        """The array as another type; itself if it has that type and copy is false."""
        kind = type_of(dtype)
        return self if kind == self.type and not copy else self._do('to', kind)

    def to_device(self, device: str, /, *, stream: None = None) -> 'Array':
        """The array on another device."""
        return self if device == self.device else self._do('to_device', device)

    def to(self, device: str) -> 'Array':
        """The array on another device, or as another type by Mare's name of it."""
        is_type = device in TYPES.values() or device in ALL and device not in TYPES
        return self._do('to', device) if is_type else self.to_device(device)

    def reshape(self, *shape: Any) -> 'Array':
        """The elements in their order in another shape, of which one size may be -1."""
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return self._do('reshape', [int(n) for n in sizes])

    def ravel(self) -> 'Array':
        """The elements in their order along one axis."""
        return self._do('flatten')

    flatten = ravel

    def transpose(self, *axes: Any) -> 'Array':
        """The same memory with its axes in this order, or in the other one."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return self._do('transpose', *order) if order else self.T

    def squeeze(self, axis: Optional[int] = None) -> 'Array':
        """Without axes of one element."""
        return self._do('squeeze', axis)

    def copy(self) -> 'Array':
        """The same numbers in memory of their own."""
        return self._do('copy')

    def __copy__(self) -> 'Array':
        return self.copy()

    def __deepcopy__(self, memo: Any) -> 'Array':
        return self.copy()

    def __reduce__(self) -> Any:
        return _restored, (self.numpy(), self.device)

    def fill(self, value: float) -> None:
        """Writes a number into all elements."""
        self._do('assign', self._other(value))

    def clip(self, least: Any = None, most: Any = None) -> 'Array':
        """Each element, or the nearer limit."""
        limits = [None if value is None else self._other(value) for value in (least, most)]
        return self._do('limited', *limits)

    # ---- reductions ----

    def _reduce(self, name: str, axis: Axis, keepdims: bool, out: Any, **more: Any) -> 'Array':
        if out is not None:
            raise TypeError('%s: there is no `out`: a[...] = values writes' % name)
        options = {key: value for key, value in more.items() if value is not None}
        if axis is not None:
            options['axis'] = axis if isinstance(axis, int) else list(axis)
        if keepdims:
            options['keep'] = True
        return self._do(name, options)

    def sum(self, axis: Axis = None, dtype: Any = None, out: None = None,
            keepdims: bool = False) -> 'Array':
        """The sum of all elements, or along axes."""
        return self._reduce('sum', axis, keepdims, out, type=dtype and type_of(dtype))

    def prod(self, axis: Axis = None, dtype: Any = None, out: None = None,
             keepdims: bool = False) -> 'Array':
        """The product of all elements, or along axes."""
        return self._reduce('prod', axis, keepdims, out, type=dtype and type_of(dtype))

    def mean(self, axis: Axis = None, dtype: Any = None, out: None = None,
             keepdims: bool = False) -> 'Array':
        """The mean of all elements, or along axes."""
        return self._reduce('mean', axis, keepdims, out, type=dtype and type_of(dtype))

    def var(self, axis: Axis = None, dtype: None = None, out: None = None, ddof: float = 0,
            keepdims: bool = False) -> 'Array':
        """The variance of all elements, or along axes."""
        return self._reduce('var', axis, keepdims, out, ddof=ddof)

    def std(self, axis: Axis = None, dtype: None = None, out: None = None, ddof: float = 0,
            keepdims: bool = False) -> 'Array':
        """The standard deviation of all elements, or along axes."""
        return self.var(axis, dtype, out, ddof, keepdims)._do('sqrt')

    def min(self, axis: Axis = None, out: None = None, keepdims: bool = False) -> 'Array':
        """The least element, or the least along axes; NaN if one is NaN."""
        return self._reduce('min', axis, keepdims, out)

    def max(self, axis: Axis = None, out: None = None, keepdims: bool = False) -> 'Array':
        """The greatest element, or the greatest along axes; NaN if one is NaN."""
        return self._reduce('max', axis, keepdims, out)

    def argmin(self, axis: Optional[int] = None, out: None = None,
               keepdims: bool = False) -> 'Array':
        """The number of the first least element."""
        return self._reduce('argmin', axis, keepdims, out)

    def argmax(self, axis: Optional[int] = None, out: None = None,
               keepdims: bool = False) -> 'Array':
        """The number of the first greatest element."""
        return self._reduce('argmax', axis, keepdims, out)

    def any(self, axis: Axis = None, out: None = None, keepdims: bool = False) -> 'Array':
        """Whether some element is not 0."""
        return self._reduce('any', axis, keepdims, out)

    def all(self, axis: Axis = None, out: None = None, keepdims: bool = False) -> 'Array':
        """Whether no element is 0."""
        return self._reduce('all', axis, keepdims, out)

    def dot(self, other: Any) -> 'Array':
        """The product of matrices, or of two rows of numbers their sum of products."""
        return self @ other

    # ---- shared memory ----

    def _share(self) -> 'exchange.Memory':
        buffer, *shape = self.engine.of('buffer', self.number)
        memory = exchange.memory_of(buffer.handle, tuple(shape))
        self.__dict__.update(_memory=memory, _shape=tuple(shape))
        return memory

    def __dlpack__(self, *, stream: Optional[int] = None,
                   max_version: Optional[Tuple[int, int]] = None,
                   dl_device: Optional[Tuple[int, int]] = None,
                   copy: Optional[bool] = None) -> Any:
        memory = self._memory or self._share()
        if copy:
            raise BufferError('Mare makes no copy here: x.copy() and x.numpy() do')
        if dl_device is not None and dl_device != memory.place:
            raise BufferError('the array is on device %s' % (memory.place,))
        return memory.capsule(stream, max_version)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (self._memory or self._share()).place

    @property
    def __cuda_array_interface__(self) -> Any:
        memory = self._memory or self._share()
        if memory.place[0] != exchange.ON_CUDA:
            raise AttributeError('__cuda_array_interface__')
        return memory.interface()


def _restored(numbers: Any, device: str) -> Array:
    """A pickled array on its device, or where it is not there on that of new arrays."""
    try:
        return array(numbers, device=device)
    except Error:
        return array(numbers)


# ---- new arrays ----

def array(data: Any, dtype: Any = None, device: Union[None, str, Array] = None) -> Array:
    """An array on a device, or where another array is, of numbers of NumPy or of what NumPy makes
    of lists; a copy. Lists of fractions become float32, as GPUs like it."""
    import numpy
    values = numpy.asarray(data)
    if dtype is None and not hasattr(data, 'dtype'):
        dtype = {'float64': 'float32', 'complex128': 'complex64'}.get(values.dtype.name)
    kind = type_of(dtype if dtype is not None else values.dtype)
    values = numpy.asarray(values, DTYPES.get(kind, kind), order='C')
    here = engine()
    raw = values.reshape(-1).view('uint8')
    return here.invoke('upload', [kind.encode()],
                       (raw if raw.size else None, [int(n) for n in values.shape], device))


def _options(dtype: Any, device: Optional[str], default: Optional[str] = 'float') -> Any:
    options = {'type': type_of(dtype) if dtype is not None else default, 'device': device}
    return {key: value for key, value in options.items() if value is not None}


def _sizes(shape: Any) -> List[int]:
    return [index(n) for n in ([shape] if hasattr(shape, '__index__') else shape)]


def _made(name: str, *arguments: Any) -> Array:
    return engine().invoke('operate', [name.encode()], arguments)


def zeros(shape: Any, dtype: Any = None, device: Optional[str] = None) -> Array:
    """An array of zeros, of float32 if no type is given."""
    return _made('zeros', _sizes(shape), _options(dtype, device))


def ones(shape: Any, dtype: Any = None, device: Optional[str] = None) -> Array:
    """An array of ones, of float32 if no type is given."""
    return _made('ones', _sizes(shape), _options(dtype, device))


def full(shape: Any, value: float, dtype: Any = None, device: Optional[str] = None) -> Array:
    """An array of one number, of float32 if no type is given."""
    if _is_large(value):
        made = zeros(shape, dtype, device)
        made.fill(value)
        return made
    return _made('full', _sizes(shape), value, _options(dtype, device, None))


def _large_range(first: Any, last: Any, step: Any, dtype: Any) -> 'numpy.ndarray':
    """Whole numbers beyond 2^53, computed by those of 64 bits."""
    import numpy
    numbers = range(int(first), int(last), int(step))
    count = max(0, -((numbers.start - numbers.stop) // numbers.step))
    ends = [numbers[0], numbers[-1]] if count else [0]
    kind = 'uint64' if max(ends) >= 2 ** 63 and min(ends) >= 0 else 'int64'
    made = kind if dtype is None else type_of(dtype)
    limits = numpy.iinfo(made if 'int' in made else kind)
    for value in ends:
        if not limits.min <= value <= limits.max:
            raise OverflowError('arange: %d is no number of %s' % (value, limits.dtype))
    if count > 2 ** 40:
        raise MemoryError('arange: %d numbers are %d bytes' % (count, 8 * count))
    offsets = numpy.arange(count, dtype='uint64') * numpy.uint64(numbers.step % 2 ** 64)
    return (offsets + numpy.uint64(numbers.start % 2 ** 64)).view(kind)


def arange(start: float, stop: Optional[float] = None, step: float = 1, dtype: Any = None,
           device: Optional[str] = None) -> Array:
    """start, start + step, ... up to but not with stop; one number is the stop. Whole numbers are
    int32, others float32."""
    first, last = (0, start) if stop is None else (start, stop)
    if (_is_large(first) or _is_large(last)) and all(
            hasattr(value, '__index__') for value in (first, last, step)):
        return array(_large_range(first, last, step, dtype), dtype, device)
    return _made('arange', first, last, step, _options(dtype, device, None))


def linspace(start: float, stop: float, num: int = 50, dtype: Any = None,
             device: Optional[str] = None) -> Array:
    """num numbers at equal distances from start to stop, both included."""
    return _made('linspace', start, stop, num, _options(dtype, device))


def eye(rows: int, columns: Optional[int] = None, dtype: Any = None,
        device: Optional[str] = None) -> Array:
    """A matrix with ones on its diagonal."""
    return _made('eye', rows, columns or rows, _options(dtype, device))


def where(condition: Any, yes: Any, no: Any) -> Array:
    """The elements of `yes` where the condition holds, otherwise those of `no`."""
    beside = no if isinstance(no, Array) else yes if isinstance(yes, Array) else None
    condition = condition if isinstance(condition, Array) else array(condition, device=beside)
    beside = condition if beside is None else beside
    return _made('where', condition, beside._other(yes), beside._other(no))


def concatenate(arrays: Sequence[Array], axis: int = 0) -> Array:
    """Arrays one after another along an axis, in new memory."""
    first = arrays[0]
    axis += first.ndim if axis < 0 else 0
    sizes = list(first.shape)
    sizes[axis] = sum(each.shape[axis] for each in arrays)
    found, at = zeros(sizes, first.type if first.type in DTYPES else first.dtype, first.device), 0
    for each in arrays:
        key = (slice(None),) * axis + (slice(at, at + each.shape[axis]),)
        found[key] = each
        at += each.shape[axis]
    return found


def stack(arrays: Sequence[Array], axis: int = 0) -> Array:
    """Arrays of one shape along a new axis, in new memory."""
    rank = arrays[0].ndim + 1
    axis += rank if axis < 0 else 0
    key = (slice(None),) * axis + (None,)
    return concatenate([each[key] for each in arrays], axis)


def from_dlpack(source: Any, device: Optional[str] = None) -> Array:
    """An array in the memory of another library's, which has __dlpack__, on its device: memory of
    the host is that of 'null'."""
    here = engine()
    if device is None:
        device = exchange.name_of(source.__dlpack_device__())
    place = here.places.get(device) or here.place(device)
    try:
        return Array(here, None, place.take(source))
    except ArgumentError:
        if getattr(source, 'size', None) != 0:
            raise
    return zeros(source.shape, source.dtype, device)        # memory of none


__all__ = ['Array', 'arange', 'array', 'concatenate', 'eye', 'from_dlpack', 'full', 'linspace',
           'ones', 'stack', 'where', 'zeros']

Engine.array_class = Array
