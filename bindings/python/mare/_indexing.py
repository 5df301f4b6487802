"""Elements of an array by numbers, slices, None, ..., masks and arrays of indices, as in NumPy."""

from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Tuple

from ._library import ArgumentError, NoElement

if TYPE_CHECKING:
    from ._array import Array


class Places(NamedTuple):
    """What a key says: numbers and slices for Lua, one for each axis; axes to add; the axis from
    which on arrays of indices count, and each of them with how many axes it counts along."""
    places: List[Any]
    added: List[int]
    axis: int
    chosen: List[Tuple['Array', int]]


def mask_of(key: Any, on: 'Array') -> Optional['Array']:
    """A key that is an array of bool, here or of NumPy, as one beside an array."""
    from ._array import Array, array
    if not isinstance(key, Array) and getattr(key, 'dtype', None) == 'bool':
        key = array(key, device=on)
    return key if isinstance(key, Array) and key.type == 'bool' else None


def _indices(values: Any, on: 'Array') -> 'Array':
    """An array of indices beside an array; empty lists are of whole numbers, as in NumPy."""
    from ._array import Array, array
    if isinstance(values, Array):
        return values
    import numpy
    listed = numpy.asarray(values) if isinstance(values, (list, tuple)) else None
    if listed is not None and listed.dtype == bool:
        return array(listed, device=on)
    return array(values, 'int32' if listed is not None and listed.size == 0 else None, on)


def _is_slice(key: Any) -> bool:
    return key is None or key is Ellipsis or isinstance(key, slice)


def _is_number(key: Any) -> bool:
    return hasattr(key, '__index__') and getattr(key, 'shape', ()) == ()


def _chosen(key: Any, on: 'Array', axis: int) -> Tuple['Array', int]:
    """An array of indices, and how many axes from this one on it counts along: those of a mask."""
    from ._array import arange
    found = _indices(key, on)
    if found.type != 'bool':
        return found, 1
    if found.ndim == 0 or found.shape != on.shape[axis:axis + found.ndim]:
        raise IndexError('a mask of %s at axis %d, the shape is %s' % (found.shape, axis, on.shape))
    return arange(found.size, device=on.device)._do('chosen', found.ravel()), found.ndim


def _span(key: Any, on: 'Array') -> int:
    """How many axes of an array a key uses."""
    if key is None or key is Ellipsis:
        return 0
    mask = None if isinstance(key, slice) else mask_of(key, on)
    return 1 if mask is None else max(mask.ndim, 1)


def _is_split(keys: List[Any]) -> bool:
    """Whether something lies between the numbers and arrays among indices."""
    at = [k for k, key in enumerate(keys) if not _is_slice(key)]
    return at[-1] - at[0] + 1 > len(at)


def places_of(key: Any, on: 'Array') -> Places:
    keys = list(key) if isinstance(key, tuple) else [key]
    used = sum(_span(k, on) for k in keys)
    if used > on.ndim:
        raise IndexError('%d indices, the shape is %s' % (used, on.shape))
    if sum(k is Ellipsis for k in keys) > 1:
        raise IndexError('an index has one ... at most')
    places: List[Any] = []
    added: List[int] = []
    chosen: List[Tuple['Array', int]] = []
    axis, first = 0, 0
    for k in keys if any(k is Ellipsis for k in keys) else keys + [Ellipsis]:
        if isinstance(k, bool):
            raise IndexError('%s is no index: a mask is an array of bool' % k)
        if k is None:
            added.append(axis)
            axis += 1
        elif k is Ellipsis:
            places += [[]] * (on.ndim - used)
            axis += on.ndim - used
        elif isinstance(k, slice):
            places.append([k.start, k.stop, k.step])
            axis += 1
        elif _is_number(k):
            number, size = k.__index__(), on.shape[len(places)]
            if not -size <= number < size:
                raise NoElement('MARE_ERROR_ARGUMENT', 'an index from %d to %d is wanted at axis '
                                '%d, not %d' % (-size, size - 1, len(places), number))
            places.append(number)
        else:
            first = axis if not chosen else first
            chosen.append(_chosen(k, on, len(places)))
            places += [[]] * chosen[-1][1]
            axis += chosen[-1][1]
    if chosen and _is_split(keys):
        raise IndexError('an array of indices and a number with a slice or None between them: '
                         'NumPy puts the axis first; take them one after the other')
    return Places(places, added, first, chosen)


def _checked(indices: 'Array', size: int, axis: int) -> 'Array':
    """Indices along an axis, counted from its beginning."""
    if indices.size and (int(indices.min()) < -size or int(indices.max()) >= size):
        raise IndexError('an index from %d to %d is wanted at axis %d, not %d to %d'
                         % (-size, size - 1, axis, int(indices.min()), int(indices.max())))
    return indices % size if size else indices


def found_at(key: Places, on: 'Array') -> 'Array':
    """The elements at the places: a view, or a copy where arrays of indices are among them."""
    places, added, axis, chosen = key
    if len(chosen) == 1 and chosen[0][1] == 1:
        try:
            return on._do('at', places, added, axis, chosen[0][0])
        except ArgumentError as error:
            raise NoElement(error.status, str(error), error.traceback) from None
    found = on._do('at', places, added)
    if not chosen:
        return found
    at: Optional['Array'] = None
    last = axis
    for indices, span in chosen:
        size = 1
        for n in found.shape[last:last + span]:
            size *= n
        own = _checked(indices, size, last)
        at = own if at is None else at * size + own
        last += span
    sizes = [*found.shape[:axis], -1, *found.shape[last:]]
    if found.size == 0:
        raise IndexError('no element of an array of the shape %s' % (found.shape,))
    return found.reshape(sizes)._do('at', [[]] * len(sizes), [], axis, at)
