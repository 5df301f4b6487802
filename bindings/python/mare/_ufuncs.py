"""NumPy's functions of elements that Lua's mare does not have, of what it has: by NumPy's names,
functions of arrays and numbers, at least one of which is an array."""

import math
from typing import Any, Callable, Dict, Tuple

from ._array import Array, array, where


def _beside(x: Any, y: Any) -> Tuple[Array, Array, Array]:
    """Both as arrays of the type that they have together, behind one of that type."""
    like = x._two('add', y) if isinstance(x, Array) else y._two('add', x, True)
    if like.dtype.kind == 'c':
        raise TypeError('complex numbers have no order')

    def made(v: Any) -> Array:
        return v if isinstance(v, Array) else array(v, like.type, like)
    return like, made(x), made(y)


def _extreme(name: str) -> Callable[[Any, Any], Array]:
    """The one of two that is no NaN, where one is NaN."""
    def f(x: Any, y: Any) -> Array:
        like, x, y = _beside(x, y)
        both = x._do(name, y)
        return where(y != y, x, where(x != x, y, both)) if like.dtype.kind == 'f' else both
    return f


def _fmod(x: Any, y: Any) -> Array:
    like, x, y = _beside(x, y)
    if like.dtype.kind == 'f':
        return (abs(x) % abs(y))._do('copysign', x)
    rest = x % y
    return where((rest != 0) & ((x < 0) != (y < 0)), rest - y, rest)


def _truth(x: Any) -> Any:
    return x if isinstance(x, Array) and x.type == 'bool' else x != 0


def _logaddexp(x: Any, y: Any) -> Array:
    _, x, y = _beside(x, y)
    apart = where(x == y, 0, -abs(x - y))       # of infinities, too
    return x._do('maximum', y) + apart._do('exp')._do('log1p')


def _signbit(x: Array) -> Array:
    return (x * 0 + 1)._do('copysign', x) < 0 if x.dtype.kind == 'f' else x < 0


def _heaviside(x: Any, y: Any) -> Array:
    _, x, y = _beside(x, y)
    return where(x != x, x, where(x == 0, y, (x > 0) * 1))


def _scaled(by: float) -> Callable[[Array], Array]:
    return lambda x: x * by


OWN: Dict[str, Callable[..., Any]] = {
    'fmin': _extreme('minimum'), 'fmax': _extreme('maximum'), 'fmod': _fmod,
    'divmod': lambda x, y: (x // y, x % y), 'invert': lambda x: ~x,
    'bitwise_and': lambda x, y: x & y, 'bitwise_or': lambda x, y: x | y,
    'bitwise_xor': lambda x, y: x ^ y, 'logical_not': lambda x: ~_truth(x),
    'logical_and': lambda x, y: _truth(x) & _truth(y),
    'logical_or': lambda x, y: _truth(x) | _truth(y),
    'logical_xor': lambda x, y: _truth(x) ^ _truth(y),
    'logaddexp': _logaddexp, 'signbit': _signbit, 'heaviside': _heaviside,
    'deg2rad': _scaled(math.pi / 180), 'radians': _scaled(math.pi / 180),
    'rad2deg': _scaled(180 / math.pi), 'degrees': _scaled(180 / math.pi)}
