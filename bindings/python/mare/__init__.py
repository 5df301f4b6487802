"""Mare: simulations, arrays and kernels on GPUs and processors, in Lua and from Python.

    import mare
    sim = mare.simulation('kelvin_helmholtz', nx=256, ny=256)
    sim.run(t_end=1)
    rho = sim.field('rho').numpy()                  # an array of NumPy, (ny, nx)
    mare.lua('local a, b = ... return a[0] + b', rho.ravel(), 2)

mare.array_api has the functions of the Python array API standard.
Every name of Lua's table `mare` is one of this module: mare.grid(nx=8, ...), mare.fft(...).
Each thread has a world of Lua of its own, to which its objects belong.
"""

from importlib import import_module
from typing import Any, Callable, Dict, List

from ._array import (Array, arange, array, concatenate, eye, from_dlpack, full, linspace, ones,
                     stack, where, zeros)
from ._engine import Buffer, Method, Object, engine
from ._library import ArgumentError, Error, OutOfMemory

__all__ = ['ArgumentError', 'Array', 'Buffer', 'Error', 'Method', 'Object', 'OutOfMemory',
           'arange', 'array', 'concatenate', 'eye', 'from_dlpack', 'full', 'help', 'linspace',
           'listen', 'lua', 'ones', 'set', 'simulation', 'stack', 'version', 'where', 'zeros']


def lua(text: str, *arguments: Any) -> Any:
    """Runs Lua, an expression or statements with `return`, to which the arguments are `...`.

    Numbers, texts, None, lists and dictionaries pass as Lua's; arrays of NumPy as their memory,
    which the text reads and writes as a[0] .. a[#a - 1] until it returns (a copy, if they may only
    be read, have gaps, or the other order of bytes). Lists of numbers and
    arrays of the host come back as arrays of NumPy, several results as a tuple, the rest as
    objects. Errors are mare.Error.
    """
    return engine().invoke('run', [text.encode(), b'=lua'], arguments)


def set(name: str, value: Any) -> None:
    """Gives a name of the world of Lua a value."""
    lua('local name, value = ... _G[name] = value', name, value)


def simulation(name: str, **options: Any) -> Object:
    """A scenario, set up with options as on the command line: simulation('sod', nx=200)."""
    return lua('local name, options = ... return mare.simulation(name)(options)', name, options)


def listen(function: Callable[[str, Dict[str, Any]], None]) -> Callable[[], None]:
    """Calls function(kind, fields) for all that Mare has to say; the result ends that."""
    if not callable(function):
        raise TypeError('listen: a function is wanted, not %r' % (function,))
    here = engine()
    here.listeners.append(function)
    return lambda: here.listeners.remove(function)


def help(what: Any = None) -> None:
    """Prints what something is: an object, or a name such as 'sim' or 'mare.grid'."""
    if isinstance(what, Object):
        print(what.engine.of('help_of', what.number)[0])
    else:
        keep: List[Any] = []
        here = engine()
        name = what if isinstance(what, str) else 'mare'
        print(here.call('help', here._raw(name.encode(), keep))[0])


def version() -> str:
    """Mare's version."""
    return lua('mare.version')


def __getattr__(name: str) -> Any:
    if name == '__version__':
        return version()
    if name.startswith('_'):
        raise AttributeError(name)
    if name in ('array_api', 'array_api_fft', 'array_api_linalg'):
        return import_module('.' + name, __name__)
    here = engine()
    if here.module is None:
        here.module = here.unpack(here.call('module'))
    return getattr(here.module, name)
