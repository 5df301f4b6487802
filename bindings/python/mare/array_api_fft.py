"""Fourier transforms by the names of the array API standard."""

from typing import Any, Optional, Sequence

from . import _array
from ._array import Array


def _run(name: str, x: Array, n: Any, axes: Any, norm: str) -> Array:
    import mare
    options = {'n': n, 'axes': axes, 'norm': norm}
    given = {key: list(value) if isinstance(value, (tuple, list)) else value
             for key, value in options.items() if value is not None}
    return getattr(mare.fft, name)(x, **given)


def fft(x: Array, /, *, n: Optional[int] = None, axis: int = -1, norm: str = 'backward') -> Array:
    """The transform along an axis."""
    return _run('fft', x, n, axis, norm)


def ifft(x: Array, /, *, n: Optional[int] = None, axis: int = -1, norm: str = 'backward') -> Array:
    """The inverse of fft."""
    return _run('ifft', x, n, axis, norm)


def rfft(x: Array, /, *, n: Optional[int] = None, axis: int = -1, norm: str = 'backward') -> Array:
    """The half of the transform of reals that tells all of it."""
    return _run('rfft', x, n, axis, norm)


def irfft(x: Array, /, *, n: Optional[int] = None, axis: int = -1,
          norm: str = 'backward') -> Array:
    """The inverse of rfft."""
    return _run('irfft', x, n, axis, norm)


OTHER = {'backward': 'forward', 'forward': 'backward', 'ortho': 'ortho'}


def hfft(x: Array, /, *, n: Optional[int] = None, axis: int = -1, norm: str = 'backward') -> Array:
    """The transform, which is real, of the half of numbers whose others are conjugates."""
    return _run('irfft', x._do('conj'), n, axis, OTHER[norm])


def ihfft(x: Array, /, *, n: Optional[int] = None, axis: int = -1,
          norm: str = 'backward') -> Array:
    """The inverse of hfft."""
    return _run('rfft', x, n, axis, OTHER[norm])._do('conj')


def _all(name: str, x: Array, s: Optional[Sequence[int]], axes: Optional[Sequence[int]],
         norm: str) -> Array:
    if axes is None:
        axes = range(x.ndim - len(s) if s is not None else 0, x.ndim)
    return _run(name + 'n', x, s, list(axes), norm)


def fftn(x: Array, /, *, s: Optional[Sequence[int]] = None, axes: Optional[Sequence[int]] = None,
         norm: str = 'backward') -> Array:
    """The transform along several axes."""
    return _all('fft', x, s, axes, norm)


def ifftn(x: Array, /, *, s: Optional[Sequence[int]] = None, axes: Optional[Sequence[int]] = None,
          norm: str = 'backward') -> Array:
    """The inverse of fftn."""
    return _all('ifft', x, s, axes, norm)


def rfftn(x: Array, /, *, s: Optional[Sequence[int]] = None, axes: Optional[Sequence[int]] = None,
          norm: str = 'backward') -> Array:
    """The transform of reals along several axes, of which the last is halved."""
    return _all('rfft', x, s, axes, norm)


def irfftn(x: Array, /, *, s: Optional[Sequence[int]] = None, axes: Optional[Sequence[int]] = None,
           norm: str = 'backward') -> Array:
    """The inverse of rfftn."""
    return _all('irfft', x, s, axes, norm)


def _line(numbers: Sequence[int], n: int, d: float, dtype: Any, device: Any) -> Array:
    return _array.array([k / (n * d) for k in numbers], dtype or 'float32', device)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of fft's numbers."""
    half = (n - 1) // 2 + 1
    return _line([*range(half), *range(half - n, 0)], n, d, dtype, device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of rfft's numbers."""
    return _line(range(n // 2 + 1), n, d, dtype, device)


def _shifted(x: Array, axes: Any, sign: int) -> Array:
    from . import array_api
    where = array_api._list(x, tuple(axes) if isinstance(axes, (list, tuple)) else axes)
    return array_api.roll(x, tuple(sign * (x.shape[k] // 2) for k in where), axis=tuple(where))


def fftshift(x: Array, /, *, axes: Any = None) -> Array:
    """With the frequency 0 in the middle."""
    return _shifted(x, axes, 1)


def ifftshift(x: Array, /, *, axes: Any = None) -> Array:
    """The inverse of fftshift."""
    return _shifted(x, axes, -1)


__all__ = ['fft', 'fftfreq', 'fftn', 'fftshift', 'hfft', 'ifft', 'ifftn', 'ifftshift', 'ihfft',
           'irfft', 'irfftn', 'rfft', 'rfftfreq', 'rfftn']
