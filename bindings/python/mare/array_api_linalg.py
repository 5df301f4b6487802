"""Linear algebra by the names of the array API standard. Matrices of float32 and float64 are
solved and decomposed one at a time; cholesky, eigh and the like take no stacks of them."""

import math
from typing import Any, NamedTuple, Optional, Tuple, Union

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


class Svd(NamedTuple):
    """Of svd."""
    U: Array
    S: Array
    Vh: Array


def _api() -> Any:
    from . import array_api
    return array_api


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
    return x1._do('solve', x2)


def inv(x: Array, /) -> Array:
    """The inverse of a matrix."""
    return x._do('inv')


def det(x: Array, /) -> Array:
    """The determinant of a matrix."""
    return _array.array(x._do('det'), x.dtype, x.device)


def slogdet(x: Array, /) -> Slogdet:
    """The sign of the determinant, and the logarithm of its size."""
    scale = abs(x).max(axis=-1)
    scale = _api().where(scale > 0, scale, scale * 0 + 1)
    value = det(x / scale[:, None])
    return Slogdet(value._do('sign'), abs(value)._do('log') + scale._do('log').sum())


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """The triangle whose product with its transpose the matrix is."""
    made = x._do('cholesky')
    return made.T if upper else made


def eigh(x: Array, /) -> Eigh:
    """The eigenvalues of a symmetric matrix, and its eigenvectors as columns."""
    return Eigh(*x._do('eigh'))


def eigvalsh(x: Array, /) -> Array:
    """The eigenvalues of a symmetric matrix."""
    return x._do('eigh')[0]


def svd(x: Array, /, *, full_matrices: bool = True) -> Svd:
    """Singular values and vectors; full_matrices only of what they make no larger."""
    if full_matrices and x.shape[0] != x.shape[1]:
        raise NotImplementedError('svd: full_matrices=False alone, the shape is %s' % (x.shape,))
    return Svd(*x._do('svd'))


def svdvals(x: Array, /) -> Array:
    """The singular values, the largest first."""
    return x._do('svd')[1]


def _limit(x: Array, rtol: Any) -> float:
    precision = 2.0 ** -23 if x.type == 'float' else 2.0 ** -52
    return max(x.shape) * precision if rtol is None else float(rtol)


def matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """How many singular values are not 0, relative to the largest."""
    s = svdvals(x)
    return (s > s[0] * _limit(x, rtol)).sum()


def pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """The pseudo-inverse."""
    u, s, vh = x._do('svd')
    is_large = s > s[0] * _limit(x, rtol)
    return (vh.T * _array.where(is_large, 1 / _array.where(is_large, s, s * 0 + 1), s * 0)) @ u.T


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
    """A norm of matrices: 'fro', 1, -1, inf, -inf; 2, -2 and 'nuc' of one matrix."""
    if ord == 'fro':
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in (1, -1, math.inf, -math.inf):
        return _largest(x, keepdims, ord)
    s = svdvals(x)
    made = s.sum() if ord == 'nuc' else s.max() if ord == 2 else s.min()
    return made.reshape((1, 1)) if keepdims else made


__all__ = ['cholesky', 'cross', 'det', 'diagonal', 'eigh', 'eigvalsh', 'inv', 'matmul',
           'matrix_norm', 'matrix_power', 'matrix_rank', 'matrix_transpose', 'outer', 'pinv',
           'slogdet', 'solve', 'svd', 'svdvals', 'tensordot', 'trace', 'vecdot', 'vector_norm']

del Optional, Tuple
