"""The Python array API standard, 2024.12, on Mare's arrays: x.__array_namespace__() is this module.

Each function means what the standard says of it, for the types that its table in README.md tells;
what is missing is missing here by name. Fractions of Python make float32, as GPUs like it.
"""

import math
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy
from numpy import can_cast, finfo, iinfo

from . import _array, _ufuncs
from ._array import Array, from_dlpack, type_of, where

__array_api_version__ = '2024.12'
e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi
bool = numpy.dtype('bool')
int8, int16, int32, int64 = (numpy.dtype('int%d' % n) for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (numpy.dtype('uint%d' % n) for n in (8, 16, 32, 64))
float32, float64 = numpy.dtype('float32'), numpy.dtype('float64')
complex64, complex128 = numpy.dtype('complex64'), numpy.dtype('complex128')

Axes = Union[None, int, Tuple[int, ...]]
Function = Callable[..., Any]

# ---- functions of elements: by the standard's names, those of Lua's mare ----

OF_ONE = dict.fromkeys('''abs acos acosh asin asinh atan atanh ceil conj cos cosh exp expm1 floor
    imag isfinite isinf isnan log log1p log2 log10 logical_not real reciprocal sign sin sinh square
    sqrt tan tanh trunc'''.split(), '')
OF_ONE.update(negative='neg', positive='pos', round='rint')
OF_TWO = dict.fromkeys('''atan2 copysign hypot logical_and logical_or maximum minimum
    nextafter'''.split(), '')
OF_TWO.update(
    add='add', subtract='sub', multiply='mul', divide='div', floor_divide='floordiv',
    remainder='mod', pow='pow', less='lt', less_equal='le', greater='gt', greater_equal='ge',
    equal='eq', not_equal='ne', bitwise_left_shift='shift_left', bitwise_right_shift='shift_right')


def _of_one(name: str) -> Function:
    def f(x: Array, /) -> Any:
        return x._do(name)
    return f


def _of_two(name: str) -> Function:
    def f(x1: Any, x2: Any, /) -> Any:
        return x1._two(name, x2) if isinstance(x1, Array) else x2._two(name, x1, True)
    return f


for _names, _make in ((OF_ONE, _of_one), (OF_TWO, _of_two)):
    for _name, _own in _names.items():
        globals()[_name] = _make(_own or _name)
        globals()[_name].__name__ = globals()[_name].__qualname__ = _name
        globals()[_name].__doc__ = "The standard's %s of each element." % _name


def _keep_whole(name: str) -> Function:
    """Of whole numbers the function is they themselves."""
    def f(x: Array, /) -> Any:
        return x if x.dtype.kind in 'iu' else x._do('rint' if name == 'round' else name)
    f.__name__, f.__doc__ = name, "The standard's %s of each element." % name
    return f


ceil, floor, trunc, round = (_keep_whole(name) for name in ('ceil', 'floor', 'trunc', 'round'))


def imag(x: Array, /) -> Array:
    """The imaginary parts."""
    return x.imag


def bitwise_and(x1: Any, x2: Any, /) -> Any:
    """Bit by bit, or of truth values."""
    return x1 & x2


def bitwise_or(x1: Any, x2: Any, /) -> Any:
    """Bit by bit, or of truth values."""
    return x1 | x2


def bitwise_xor(x1: Any, x2: Any, /) -> Any:
    """Bit by bit, or of truth values."""
    return x1 ^ x2


def bitwise_invert(x: Array, /) -> Any:
    """Bit by bit, or of truth values."""
    return ~x


logical_xor, signbit, logaddexp = (_ufuncs.OWN[_name] for _name in (
    'logical_xor', 'signbit', 'logaddexp'))


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Each element, or the nearer limit."""
    return x.clip(min, max).astype(x.dtype, copy=False)


# ---- new arrays ----

def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None,
            copy: Optional[Any] = None) -> Array:
    """An array of another one or of what NumPy takes."""
    if not isinstance(obj, Array):
        if copy is False:
            raise ValueError('asarray: numbers of the host are copied to a device')
        return _array.array(obj, dtype, device)
    made = obj if device in (None, obj.device) else obj.to(device)
    if dtype is not None and numpy.dtype(dtype) != made.dtype:
        made = made.astype(dtype)
    if copy is False and made is not obj:
        raise ValueError('asarray: another type or device wants a copy')
    return made.copy() if copy and made is obj else made


arange, ones, zeros = _array.arange, _array.ones, _array.zeros
empty = zeros


def full(shape: Any, fill_value: Any, dtype: Any = None, device: Any = None) -> Array:
    """An array of one number: a whole one is int64, a fraction float32, a complex one complex64."""
    one = asarray(fill_value, dtype=dtype, device=device)
    sizes = _array._sizes(shape)
    return one._do('expand', sizes).copy() if sizes else one


def linspace(start: float, stop: float, /, num: int, *, dtype: Any = None, device: Any = None,
             endpoint: Any = True) -> Array:
    """num numbers at equal distances from start to stop, with or without it."""
    made = _array.linspace(start, stop, num if endpoint else num + 1, dtype, device)
    return made if endpoint else made[:num]


def eye(n_rows: int, n_cols: Optional[int] = None, /, *, k: int = 0, dtype: Any = None,
        device: Any = None) -> Array:
    """A matrix with ones on a diagonal."""
    below = _offsets(n_rows, n_rows if n_cols is None else n_cols, device)
    return (below == k).astype(dtype or float32)


def _offsets(rows: int, columns: int, device: Any) -> Array:
    """column - row of each element of a matrix"""
    return arange(columns, device=device)[None, :] - arange(rows, device=device)[:, None]


def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of one number in the shape of another array."""
    return full(x.shape, fill_value, dtype or x.dtype, device or x.device)


def zeros_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros in the shape of another array."""
    return zeros(x.shape, dtype or x.dtype, device or x.device)


empty_like = zeros_like


def ones_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Ones in the shape of another array."""
    return ones(x.shape, dtype or x.dtype, device or x.device)


def _triangle(x: Array, is_in: Array) -> Array:
    return where(is_in, x, zeros_like(x))


def tril(x: Array, /, *, k: int = 0) -> Array:
    """The lower triangles of matrices."""
    return _triangle(x, _offsets(x.shape[-2], x.shape[-1], x.device) <= k)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """The upper triangles of matrices."""
    return _triangle(x, _offsets(x.shape[-2], x.shape[-1], x.device) >= k)


def meshgrid(*arrays: Array, indexing: str = 'xy') -> List[Array]:
    """The coordinates of the points of a grid."""
    rank = len(arrays)
    order = list(range(rank))
    if indexing == 'xy' and rank > 1:
        order[0], order[1] = 1, 0
    spread = [x.reshape([-1 if k == at else 1 for k in range(rank)])
              for at, x in zip(order, arrays)]
    return [x.copy() for x in broadcast_arrays(*spread)]


# ---- types ----

def astype(x: Array, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Array:
    """The array as another type."""
    made = x if device in (None, x.device) else x.to(device)
    return made.astype(dtype, copy)


def _promoted(a: numpy.dtype, b: numpy.dtype) -> numpy.dtype:
    """The type of two arrays together: the higher kind, of one kind the wider."""
    rank = {'b': 0, 'i': 1, 'u': 1, 'f': 2, 'c': 3}
    low, high = sorted((a, b), key=lambda x: rank[x.kind])
    if rank[low.kind] == rank[high.kind] or high.kind == 'c' and low.kind == 'f':
        found = numpy.promote_types(a, b)
        if found.kind == 'f' and a.kind in 'iu':
            raise TypeError('no type holds %s and %s' % (a, b))
        return found
    return high


def result_type(*given: Any) -> numpy.dtype:
    """The type of an expression of arrays, types and numbers."""
    kinds = [numpy.dtype(getattr(x, 'dtype', x)) for x in given
             if not isinstance(x, (int, float, complex))]
    if not kinds:
        raise ValueError('result_type: an array or a type is wanted')
    found = kinds[0]
    for kind in kinds[1:]:
        found = _promoted(found, kind)
    return found


KINDS = {'bool': 'b', 'signed integer': 'i', 'unsigned integer': 'u', 'integral': 'iu',
         'real floating': 'f', 'complex floating': 'c', 'numeric': 'iufc'}


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a type is of a kind."""
    if isinstance(kind, tuple):
        return any_of(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError("isdtype: kind '%s' (allowed: %s)" % (kind, ', '.join(KINDS)))
        return numpy.dtype(dtype).kind in KINDS[kind]
    return numpy.dtype(dtype) == kind


any_of, all_of = any, all       # Python's own, whose names are the standard's


# ---- shapes ----

def broadcast_shapes(*shapes: Tuple[int, ...]) -> Tuple[int, ...]:
    """The shape that arrays of these make together."""
    return numpy.broadcast_shapes(*shapes)


def broadcast_to(x: Array, /, shape: Tuple[int, ...]) -> Array:
    """A view in which axes of one element are repeated."""
    return x._do('expand', list(shape)) if shape else x


def broadcast_arrays(*arrays: Array) -> List[Array]:
    """The arrays in the shape that they make together."""
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return [broadcast_to(x, shape) for x in arrays]


def concat(arrays: Sequence[Array], /, *, axis: Optional[int] = 0) -> Array:
    """Arrays one after another along an axis."""
    kind = result_type(*arrays)
    same = [x.astype(kind, copy=False) for x in arrays]
    if axis is None:
        return _array.concatenate([x.ravel() for x in same])
    return _array.concatenate(same, axis)


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """Arrays of one shape along a new axis."""
    return concat([expand_dims(x, axis=axis) for x in arrays], axis=axis)


def unstack(x: Array, /, *, axis: int = 0) -> Tuple[Array, ...]:
    """The parts of an array along an axis, without it."""
    return tuple(moveaxis(x, axis, 0))


def expand_dims(x: Array, /, *, axis: int = 0) -> Array:
    """A view with one axis more."""
    if not -x.ndim - 1 <= axis <= x.ndim:
        raise IndexError('axis %d, the shape is %s' % (axis, x.shape))
    return x._do('unsqueeze', axis + x.ndim + 1 if axis < 0 else axis)


def squeeze(x: Array, /, axis: Axes) -> Array:
    """A view without axes of one element."""
    for k in sorted(_list(x, axis), reverse=True):
        x = x.squeeze(k)
    return x


def _list(x: Array, axis: Axes) -> List[int]:
    """Axes from 0; all, if none is given."""
    given = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    if any_of(not -x.ndim <= k < x.ndim for k in given):
        raise IndexError('axis %s, the shape is %s' % (axis, x.shape))
    return [k % x.ndim for k in given]


def flip(x: Array, /, *, axis: Axes = None) -> Array:
    """A view with the elements along axes in reverse order."""
    axes = _list(x, axis)
    return x._do('flip', *axes) if axes else x


def permute_dims(x: Array, /, axes: Tuple[int, ...]) -> Array:
    """A view with the axes in another order."""
    return x.transpose(*axes) if axes else x


def moveaxis(x: Array, source: Any, destination: Any, /) -> Array:
    """A view with some axes in other places."""
    sources, places = _list(x, source), _list(x, destination)
    order = [k for k in range(x.ndim) if k not in sources]
    for place, k in sorted(zip(places, sources)):
        order.insert(place, k)
    return permute_dims(x, tuple(order))


def matrix_transpose(x: Array, /) -> Array:
    """A view with the last two axes exchanged."""
    if x.ndim < 2:
        raise ValueError('a matrix is wanted, the shape is %s' % (x.shape,))
    return moveaxis(x, -1, -2)


def reshape(x: Array, /, shape: Tuple[int, ...], *, copy: Optional[Any] = None) -> Array:
    """The elements in their order in another shape."""
    return (x.copy() if copy else x)._do('reshape', list(shape))


def repeat(x: Array, repeats: Any, /, *, axis: Optional[int] = None) -> Array:
    """Each element so many times."""
    if axis is None:
        x, axis = x.ravel(), 0
    times = numpy.asarray(repeats)
    numbers = numpy.repeat(numpy.arange(x.shape[axis], dtype='int32'), times)
    return take(x, _array.array(numbers, device=x), axis=axis)


def roll(x: Array, /, shift: Any, *, axis: Axes = None) -> Array:
    """The elements moved along axes, the last ones to the beginning."""
    if axis is None:
        return roll(x.ravel(), shift, axis=0).reshape(x.shape)
    axes = _list(x, axis)
    for k, by in zip(axes, [shift] * len(axes) if isinstance(shift, int) else shift):
        by = by % x.shape[k] if x.shape[k] else 0
        parts = [x[(slice(None),) * k + (part,)] for part in (slice(-by, None), slice(0, -by))]
        x = concat(parts, axis=k) if by else x
    return x


def tile(x: Array, repetitions: Tuple[int, ...], /) -> Array:
    """The array so many times along each axis."""
    times = (1,) * (x.ndim - len(repetitions)) + tuple(repetitions)
    x = x.reshape((1,) * (len(times) - x.ndim) + x.shape)
    for k, n in enumerate(times):
        x = concat([x] * n, axis=k) if n else x[(slice(None),) * k + (slice(0, 0),)]
    return x


# ---- elements by their numbers ----

def take(x: Array, indices: Array, /, *, axis: Optional[int] = None) -> Array:
    """The elements of these numbers along an axis."""
    if axis is None and x.ndim != 1:
        raise ValueError('take: axis is wanted, the shape is %s' % (x.shape,))
    return x._do('take', indices, {'axis': axis or 0})


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """The elements of these numbers of each row along an axis."""
    axis = _list(x, axis)[0]
    shape = broadcast_shapes(*(y.shape[:axis] + (1,) + y.shape[axis + 1:] for y in (x, indices)))
    shape = shape[:axis] + (indices.shape[axis],) + shape[axis + 1:]
    size, number, weight = x.shape[axis], zeros((), int64, x.device), 1
    inside = where(indices < 0, indices + size, indices)
    for k in reversed(range(x.ndim)):
        along = arange(x.shape[k], device=x.device).reshape((-1,) + (1,) * (x.ndim - 1 - k))
        number = number + (inside if k == axis else along) * weight
        weight *= x.shape[k]
    return take(x.ravel(), broadcast_to(number, shape), axis=0)


def nonzero(x: Array, /) -> Tuple[Array, ...]:
    """The places of what is not 0, an array for each axis."""
    if x.ndim == 0:
        raise ValueError('nonzero: an array without axes has no places')
    number, found = x._do('flatnonzero'), []
    for n in reversed(x.shape):
        found.append(number % n if n else number)
        number = number // n if n else number
    return tuple(reversed(found))


def count_nonzero(x: Array, /, *, axis: Axes = None, keepdims: Any = False) -> Array:
    """How many elements are not 0."""
    return (x != 0).sum(axis, keepdims=keepdims)


def searchsorted(x1: Array, x2: Any, /, *, side: str = 'left',
                 sorter: Optional[Array] = None) -> Array:
    """Before how many elements of sorted ones each value belongs."""
    line = x1 if sorter is None else take(x1, sorter, axis=0)
    return line._do('searchsorted', x2, {'right': side == 'right'})


def argmax(x: Array, /, *, axis: Optional[int] = None, keepdims: Any = False) -> Array:
    """The number of the first greatest element."""
    return _place(x, 'argmax', axis, keepdims)


def argmin(x: Array, /, *, axis: Optional[int] = None, keepdims: Any = False) -> Array:
    """The number of the first least element."""
    return _place(x, 'argmin', axis, keepdims)


def _place(x: Array, name: str, axis: Optional[int], keepdims: Any) -> Array:
    found = x._reduce(name, axis, axis is not None and keepdims, None)
    return found.reshape((1,) * x.ndim) if keepdims and axis is None else found


def sort(x: Array, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Array:
    """The elements of each row in order."""
    return x._do('sort', {'axis': axis, 'descending': descending})


def argsort(x: Array, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Array:
    """The numbers of the elements of each row in order."""
    return x._do('argsort', {'axis': axis, 'descending': descending})


def unique_all(x: Array, /) -> Tuple[Array, Array, Array, Array]:
    """The different elements, where each is first, the number of each element's, how many are."""
    values, counts, inverse = x._do('unique', {'counts': True, 'inverse': True})
    line = x.ravel()
    order = argsort(line)
    first = take(order, searchsorted(take(line, order), values), axis=0) if x.size else counts
    return values, first, inverse.reshape(x.shape), counts


def unique_counts(x: Array, /) -> Tuple[Array, Array]:
    """The different elements, and how often each occurs."""
    values, counts = x._do('unique', {'counts': True})
    return values, counts


def unique_inverse(x: Array, /) -> Tuple[Array, Array]:
    """The different elements, and the number of each element's among them."""
    values, inverse = x._do('unique', {'inverse': True})
    return values, inverse.reshape(x.shape)


def unique_values(x: Array, /) -> Array:
    """The different elements."""
    found = x._do('unique')
    return found[0] if isinstance(found, tuple) else found


# ---- of all elements, or along axes ----

def _reduction(name: str) -> Function:
    def f(x: Array, /, *, axis: Axes = None, keepdims: Any = False, **more: Any) -> Array:
        return getattr(x, name)(axis=axis, keepdims=keepdims, **more)
    f.__name__, f.__doc__ = name, "The standard's %s." % name
    return f


all, any, max, mean, min, prod, sum = (
    _reduction(name) for name in ('all', 'any', 'max', 'mean', 'min', 'prod', 'sum'))


def var(x: Array, /, *, axis: Axes = None, correction: float = 0, keepdims: Any = False) -> Array:
    """The variance."""
    return x.var(axis, ddof=correction, keepdims=keepdims)


def std(x: Array, /, *, axis: Axes = None, correction: float = 0, keepdims: Any = False) -> Array:
    """The standard deviation."""
    return x.std(axis, ddof=correction, keepdims=keepdims)


def _cumulative(x: Array, name: str, first: int, axis: Optional[int], dtype: Any,
                include_initial: Any) -> Array:
    if axis is None and x.ndim != 1:
        raise ValueError('axis is wanted, the shape is %s' % (x.shape,))
    axis = axis or 0
    made = x._do(name, dict(axis=axis, **({'type': type_of(dtype)} if dtype else {})))
    if not include_initial:
        return made
    shape = list(made.shape)
    shape[axis] = 1
    return concat([full(shape, first, made.dtype, made.device), made], axis=axis)


def cumulative_sum(x: Array, /, *, axis: Optional[int] = None, dtype: Any = None,
                   include_initial: Any = False) -> Array:
    """The running sums."""
    return _cumulative(x, 'cumsum', 0, axis, dtype, include_initial)


def cumulative_prod(x: Array, /, *, axis: Optional[int] = None, dtype: Any = None,
                    include_initial: Any = False) -> Array:
    """The running products."""
    return _cumulative(x, 'cumprod', 1, axis, dtype, include_initial)


def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Optional[Array] = None,
         append: Optional[Array] = None) -> Array:
    """The differences of neighbours along an axis, n times."""
    if n < 0:
        raise ValueError('diff: n = %d, a number from 0 is wanted' % n)
    axis = _list(x, axis)[0]
    parts = [y for y in (prepend, x, append) if y is not None]
    x = concat(parts, axis=axis) if len(parts) > 1 else x
    before = (slice(None),) * axis
    for _ in range(n):
        x = x[before + (slice(1, None),)] - x[before + (slice(0, -1),)]
    return x


# ---- products ----

def matmul(x1: Array, x2: Array, /) -> Array:
    """The product of matrices."""
    return x1 @ x2


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The sums of products along an axis."""
    kind = result_type(x1, x2)
    return (x1.astype(kind, copy=False)._do('conj') * x2).sum(axis=axis).astype(kind, copy=False)


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """The sums of products along several axes of both."""
    if isinstance(axes, int):
        axes = list(range(x1.ndim - axes, x1.ndim)), list(range(axes))
    one, two = _list(x1, tuple(axes[0])), _list(x2, tuple(axes[1]))
    rest = [[k for k in range(x.ndim) if k not in own] for x, own in ((x1, one), (x2, two))]
    shape = [x.shape[k] for x, own in zip((x1, x2), rest) for k in own]
    depth = math.prod(x1.shape[k] for k in one)
    a = permute_dims(x1, tuple(rest[0] + one)).reshape((-1, depth) if x1.size else (0, depth))
    b = permute_dims(x2, tuple(two + rest[1])).reshape((depth, -1) if x2.size else (depth, 0))
    return (a @ b).reshape(tuple(shape))


# ---- what there is ----

class _Info:
    """What __array_namespace_info__ gives."""

    def capabilities(self) -> Dict[str, Any]:
        """What is optional in the standard."""
        return {'boolean indexing': True, 'data-dependent shapes': True, 'max dimensions': 32}

    def default_device(self) -> str:
        """The device of arrays that are given none."""
        return zeros(0).device

    def devices(self) -> List[str]:
        """The names of all devices."""
        import mare
        return mare.lua('''local names = {}
            for _, d in ipairs(mare.device.list()) do names[#names + 1] = d.name end
            return table.concat(names, ' ')''').split()

    def default_dtypes(self, *, device: Any = None) -> Dict[str, Any]:
        """The types of arrays that are given none."""
        return {'real floating': float32, 'complex floating': complex64, 'integral': int32,
                'indexing': int32}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> Dict[str, Any]:
        """The types of a kind, or all, by name."""
        names = [name for name in _array.ALL if name != 'float16']
        return {name: numpy.dtype(name) for name in names
                if kind is None or isdtype(numpy.dtype(name), kind)}


def __array_namespace_info__() -> _Info:
    """Devices and types."""
    return _Info()


from . import array_api_fft as fft, array_api_linalg as linalg      # noqa: E402

__all__ = [name for name in dict(globals()) if not name.startswith('_') and name not in (
    'Any', 'Array', 'Axes', 'Callable', 'Dict', 'Function', 'KINDS', 'List', 'OF_ONE', 'OF_TWO',
    'Optional', 'Sequence', 'Tuple', 'Union', 'all_of', 'any_of', 'math', 'numpy', 'type_of')]
