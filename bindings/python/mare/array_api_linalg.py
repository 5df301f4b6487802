"""Linear algebra by the names of the array API standard. Of a stack of matrices each is solved or
decomposed by itself, one after the other."""

import math
from typing import Any, Callable, NamedTuple, Sequence, Union

from . import _array
from ._array import Array


class Eigh(NamedTuple):
    """Of eigh."""
    eigenvalues: Array
    eigenvectors: Array


class Slogdet(NamedTuple):
    """Of slogdet."""
    sign: Array
    logabsdet: Array


class Qr(NamedTuple):
    """Of qr."""
    Q: Array
    R: Array


class Svd(NamedTuple):
    """Of svd."""
    U: Array
    S: Array
    Vh: Array


def _api() -> Any:
    from . import array_api
    return array_api


def _each(f: Callable[..., Any], x: Array, *more: Array) -> Any:
    """What f gives for each matrix of a stack, or of several with the same axes, as stacks."""
    if x.ndim < 3:
        return f(x, *more)
    axes = x.shape[:-2]
    count = math.prod(axes)
    lines = [y.reshape((count,) + y.shape[-2:]) for y in (x,) + more]
    found = [f(*(line[k] for line in lines)) for k in range(count)]
    if not count:               # as of matrices that have an inverse
        found = [f(*(_array.eye(y.shape[-2], y.shape[-1], y.dtype, y.device)
                     for y in (x,) + more))]

    def joined(parts: Sequence[Array]) -> Array:
        if not count:
            return _array.zeros(axes + parts[0].shape, parts[0].dtype, parts[0].device)
        return _api().stack(parts).reshape(axes + parts[0].shape)
    if isinstance(found[0], tuple):
        return type(found[0])(*(joined(parts) for parts in zip(*found)))
    return joined(found)


def matmul(x1: Array, x2: Array, /) -> Array:
    """The product of matrices."""
    return x1 @ x2


def matrix_transpose(x: Array, /) -> Array:
    """A view with the last two axes exchanged."""
    return _api().matrix_transpose(x)


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """The sums of products along several axes of both."""
    return _api().tensordot(x1, x2, axes=axes)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The sums of products along an axis."""
    return _api().vecdot(x1, x2, axis=axis)


def outer(x1: Array, x2: Array, /) -> Array:
    """The products of all pairs."""
    return x1[:, None] * x2[None, :]


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three numbers."""
    api = _api()
    a, b = (api.unstack(x, axis=axis) for x in api.broadcast_arrays(x1, x2))
    return api.stack([a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]
                      for k in range(3)], axis=axis)


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """The elements on a diagonal of matrices."""
    rows, columns = x.shape[-2:]
    size = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    first = max(offset, 0) - min(offset, 0) * columns
    numbers = _array.arange(size, device=x.device) * (columns + 1) + first
    return x.reshape(x.shape[:-2] + (rows * columns,))._do('take', numbers, {'axis': x.ndim - 2})


def trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sum of a diagonal."""
    return diagonal(x, offset=offset).sum(axis=-1, dtype=dtype)


def solve(x1: Array, x2: Array, /) -> Array:
    """x with x1 @ x = x2."""
    if x2.ndim == 1 and x1.ndim == 2:
        return x1._do('solve', x2)
    if x2.ndim == 1:
        return solve(x1, x2[:, None])[..., 0]
    api = _api()
    axes = api.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    return _each(lambda a, b: a._do('solve', b), *(
        api.broadcast_to(x, axes + x.shape[-2:]) for x in (x1, x2)))


def inv(x: Array, /) -> Array:
    """The inverse of a matrix."""
    return _each(lambda a: a._do('inv'), x)


def det(x: Array, /) -> Array:
    """The determinant of a matrix."""
    return _each(lambda a: _array.array(a._do('det'), a.dtype, a.device), x)


def slogdet(x: Array, /) -> Slogdet:
    """The sign of the determinant, and the logarithm of its size."""
    scale = abs(x).max(axis=-1)
    scale = _api().where(scale > 0, scale, scale * 0 + 1)
    value = det(x / scale[..., None])
    return Slogdet(value._do('sign'), abs(value)._do('log') + scale._do('log').sum(axis=-1))


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """The triangle whose product with its transpose the matrix is."""
    made = _each(lambda a: a._do('cholesky'), x)
    return made.mT if upper else made


def eigh(x: Array, /) -> Eigh:
    """The eigenvalues of a symmetric matrix, and its eigenvectors as columns."""
    return _each(lambda a: Eigh(*a._do('eigh')), x)


def eigvalsh(x: Array, /) -> Array:
    """The eigenvalues of a symmetric matrix."""
    return eigh(x).eigenvalues


def svd(x: Array, /, *, full_matrices: bool = True) -> Svd:
    """Singular values and vectors; full_matrices only of what they make no larger."""
    if full_matrices and x.shape[-2] != x.shape[-1]:
        raise NotImplementedError('svd: full_matrices=False alone, the shape is %s' % (x.shape,))
    return _each(lambda a: Svd(*a._do('svd')), x)


def svdvals(x: Array, /) -> Array:
    """The singular values, the largest first."""
    return svd(x, full_matrices=False).S


def qr(x: Array, /, *, mode: str = 'reduced') -> Qr:
    """Columns at right angles and a triangle; only 'reduced', of what they make no larger."""
    if mode != 'reduced' and x.shape[-2] > x.shape[-1]:
        raise NotImplementedError("qr: 'reduced' alone, the shape is %s" % (x.shape,))
    return _each(lambda a: Qr(*a._do('qr')), x)


def _limit(x: Array, rtol: Any) -> float:
    precision = 2.0 ** -23 if x.type == 'float' else 2.0 ** -52
    return max(x.shape[-2:]) * precision if rtol is None else float(rtol)


def matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """How many singular values are not 0, relative to the largest."""
    s = svdvals(x)
    return (s > s[..., :1] * _limit(x, rtol)).sum(axis=-1)


def pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """The pseudo-inverse."""
    u, s, vh = svd(x, full_matrices=False)
    is_large = s > s[..., :1] * _limit(x, rtol)
    inverse = _array.where(is_large, 1 / _array.where(is_large, s, s * 0 + 1), s * 0)
    return (vh.mT * inverse[..., None, :]) @ u.mT


def matrix_power(x: Array, n: int, /) -> Array:
    """The product of n such matrices."""
    if n < 0:
        return matrix_power(inv(x), -n)
    made = _array.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    made = _api().broadcast_to(made, x.shape)
    while n:
        made = made @ x if n % 2 else made
        x, n = x @ x if n > 1 else x, n // 2
    return made


Norm = Union[int, float, str]


def vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False,
                ord: Norm = 2) -> Array:
    """A norm of all elements, or along axes."""
    size = abs(x)
    how = {'axis': axis, 'keepdims': keepdims}
    if ord == math.inf:
        return size.max(**how)
    if ord == -math.inf:
        return size.min(**how)
    if ord == 0:
        return (x != 0).sum(**how).astype(size.dtype)
    if ord == 1:
        return size.sum(**how)
    if ord == 2:
        return (size * size).sum(**how)._do('sqrt')
    return (size ** ord).sum(**how) ** (1 / float(ord))


def _largest(x: Array, keepdims: bool, ord: Norm) -> Array:
    """Norms that are extremes of sums of rows or columns: 1, -1, inf, -inf"""
    axis = -2 if abs(ord) == 1 else -1                          # type: ignore[arg-type]
    sums = abs(x).sum(axis=axis, keepdims=True)
    name = 'max' if ord > 0 else 'min'                          # type: ignore[operator]
    return getattr(sums, name)(axis=(-2, -1), keepdims=keepdims)


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Norm = 'fro') -> Array:
    """A norm of matrices: 'fro', 'nuc', 1, -1, 2, -2, inf, -inf."""
    if ord == 'fro':
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in (1, -1, math.inf, -math.inf):
        return _largest(x, keepdims, ord)
    s = svdvals(x)
    made = s.sum(axis=-1) if ord == 'nuc' else s.max(axis=-1) if ord == 2 else s.min(axis=-1)
    return made[..., None, None] if keepdims else made


__all__ = ['cholesky', 'cross', 'det', 'diagonal', 'eigh', 'eigvalsh', 'inv', 'matmul',
           'matrix_norm', 'matrix_power', 'matrix_rank', 'matrix_transpose', 'outer', 'pinv',
           'qr', 'slogdet', 'solve', 'svd', 'svdvals', 'tensordot', 'trace', 'vecdot',
           'vector_norm']
