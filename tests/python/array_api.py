"""mare.array_api beside NumPy: each function of the Python array API standard, 2024.12, is there or
is declined here by name, and gives NumPy's numbers, shapes and types for seeded arrays of several
types. MARE_TESTS=long: 40 times as many."""

import os
import random
import sys
import unittest
import warnings

import numpy as np

import mare
from mare import array_api as xp

ROUNDS = 80 if os.environ.get('MARE_TESTS') == 'long' else 1
NULL = 'null'

STANDARD = '''abs acos acosh add all any arange argmax argmin argsort asarray asin asinh astype atan
    atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift
    bitwise_xor broadcast_arrays broadcast_to can_cast ceil clip concat conj copysign cos cosh
    count_nonzero cumulative_prod cumulative_sum diff divide empty empty_like equal exp expand_dims
    expm1 eye finfo flip floor floor_divide from_dlpack full full_like greater greater_equal hypot
    iinfo imag isdtype isfinite isinf isnan less less_equal linspace log log10 log1p log2 logaddexp
    logical_and logical_not logical_or logical_xor matmul matrix_transpose max maximum mean meshgrid
    min minimum moveaxis multiply negative nextafter nonzero not_equal ones ones_like permute_dims
    positive pow prod real reciprocal remainder repeat reshape result_type roll round searchsorted
    sign signbit sin sinh sort sqrt square squeeze stack std subtract sum take take_along_axis tan
    tanh tensordot tile tril triu trunc unique_all unique_counts unique_inverse unique_values
    unstack var vecdot where zeros zeros_like __array_namespace_info__'''.split()
STANDARD += ['linalg.' + name for name in '''cholesky cross det diagonal eigh eigvalsh inv matmul
    matrix_norm matrix_power matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals
    tensordot trace vecdot vector_norm'''.split()]
STANDARD += ['fft.' + name for name in '''fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft
    irfft irfftn rfft rfftfreq rfftn'''.split()]
DECLINED: dict = {}      # why, by name

WHOLE = ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64']
REAL = ['float32', 'float64']
COMPLEX = ['complex64', 'complex128']
SHAPES = [(4,), (3, 4), (2, 3, 4), (1,), (2, 1), (0, 3), ()]


class Draw:
    """Seeded arrays for NumPy, of which `mare_of` makes Mare's."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)

    def array(self, kinds, shape=None, low=-9, high=9, odd=False):
        """odd: with infinities, nan and -0 among reals"""
        kind = self.random.choice(kinds)
        shape = self.random.choice(SHAPES) if shape is None else shape
        if kind == 'bool':
            return self.numbers.integers(0, 2, shape).astype(bool)
        if kind in WHOLE:
            low = 0 if kind[0] == 'u' else int(low)
            return self.numbers.integers(low, int(high) + 1, shape).astype(kind)
        x = np.asarray(self.numbers.uniform(low, high, shape))
        if kind in COMPLEX:
            x = x + 1j * self.numbers.uniform(low, high, shape)
        x = np.asarray(x.astype(kind))
        if odd and x.size > 1:
            x.reshape(-1)[:2] = self.random.sample([np.nan, np.inf, -np.inf, -0.0], 2)
        return x


def mare_of(value):
    if isinstance(value, np.ndarray):
        return mare.array(value, device=NULL)
    if isinstance(value, (list, tuple)):
        return type(value)(mare_of(x) for x in value)
    return value


INDICES = {'argmax', 'argmin', 'argsort', 'nonzero', 'searchsorted', 'unique_all', 'unique_counts',
           'unique_inverse', 'count_nonzero', 'linalg.matrix_rank'}    # int32 here, int64 there


def named(module, name):
    for part in name.split('.'):
        module = getattr(module, part)
    return module


class Namespace(unittest.TestCase):
    tried = set()

    def compare(self, name, wanted, found, units=64):
        if isinstance(wanted, (list, tuple)):
            self.assertEqual(len(wanted), len(found), name)
            for one, other in zip(wanted, found):
                self.compare(name, one, other, units)
            return
        wanted = np.asarray(wanted)
        self.assertEqual(wanted.shape, found.shape, name)
        if name not in INDICES:
            self.assertEqual(wanted.dtype, found.dtype, name)
        if wanted.dtype.kind in 'fc':
            some = np.float32 if wanted.dtype.name in ('float32', 'complex64') else np.float64
            finite = wanted[np.isfinite(wanted)]
            near = units * np.finfo(some).eps
            np.testing.assert_allclose(found.numpy(), wanted, rtol=near,
                                       atol=near * np.abs(finite).max(initial=0), err_msg=name)
        else:
            np.testing.assert_array_equal(found.numpy(), wanted, name)

    def both(self, name, *given, units=64, **options):
        """Calls a function of both libraries with the same arguments."""
        type(self).tried.add(name)
        with warnings.catch_warnings(), np.errstate(all='ignore'):
            warnings.simplefilter('ignore')
            wanted = named(np, name)(*given, **options)
        options = {key: mare_of(value) for key, value in options.items()}
        found = named(xp, name)(*mare_of(given), **options)
        try:
            self.compare(name, wanted, found, units)
        except AssertionError:
            print(name, given, options, '\nwanted', wanted, '\nfound', found)
            raise

    def each_round(self):
        return (Draw(seed) for seed in range(ROUNDS))

    def test_zz_all_of_the_standard_is_there_or_declined(self):
        there = [name for name in STANDARD if self.has(name)]
        self.assertEqual(sorted(DECLINED), sorted(set(STANDARD) - set(there)))
        untried = set(there) - self.tried
        self.assertEqual(set(), untried)
        print('%d of %d functions of the array API standard 2024.12 tried, %d declined'
              % (len(there), len(STANDARD), len(DECLINED)))

    @staticmethod
    def has(name):
        try:
            return callable(named(xp, name))
        except AttributeError:
            return False

    # ---- functions of elements ----

    def test_of_one_number(self):
        for draw in self.each_round():
            for name in '''sin cos tan tanh sinh cosh asinh atan exp expm1 isnan isinf isfinite
                    signbit reciprocal'''.split():
                self.both(name, draw.array(REAL, low=-4, high=4, odd=name != 'reciprocal'))
            for name in 'log log2 log10 log1p sqrt acosh'.split():
                self.both(name, draw.array(REAL, low=1, high=90, odd=name not in ('acosh',)))
            for name in 'asin acos atanh'.split():
                self.both(name, draw.array(REAL, low=-0.9, high=0.9))
            for name in 'floor ceil trunc round'.split():
                self.both(name, draw.array(WHOLE + REAL, odd=True))
            self.both('sign', draw.array(['int32', 'int64'] + REAL, odd=True))
            for name in 'abs negative positive square'.split():
                self.both(name, draw.array(['int16', 'int64'] + REAL))
            self.both('abs', draw.array(COMPLEX))
            for name in 'sqrt exp log log2 log10 sin cos tan sinh cosh tanh'.split():
                self.both(name, draw.array(COMPLEX, low=-3, high=3))
            for name in 'isnan isinf isfinite'.split():
                self.both(name, draw.array(COMPLEX, odd=True))
            for name in 'real imag conj negative square'.split():
                self.both(name, draw.array(COMPLEX))
            self.both('bitwise_invert', draw.array(WHOLE + ['bool']))
            self.both('logical_not', draw.array(['bool']))

    def pair(self, draw, kinds, **how):
        kind = draw.random.choice(kinds)
        shapes = draw.random.choice([((3, 4), (4,)), ((2, 1), (1, 3)), ((4,), (4,)), ((), (3,)),
                                     ((0, 3), (3,)), ((2, 3, 4), (3, 1))])
        return [draw.array([kind], shape, **how) for shape in shapes]

    def test_of_two_numbers(self):
        for draw in self.each_round():
            for name in 'add subtract multiply maximum minimum'.split():
                self.both(name, *self.pair(draw, WHOLE + REAL))
            for name in 'add subtract multiply divide equal not_equal'.split():
                self.both(name, *self.pair(draw, COMPLEX))
            for name in '''add multiply divide atan2 hypot copysign maximum minimum
                    nextafter'''.split():
                self.both(name, *self.pair(draw, REAL, odd=True))
            self.both('pow', *self.pair(draw, COMPLEX, low=0.5, high=3))
            for name in 'logaddexp pow divide'.split():
                self.both(name, *self.pair(draw, REAL, low=0.5, high=5))
            self.both('pow', *self.pair(draw, ['int32', 'int64'], low=0, high=5))
            for name in 'less less_equal greater greater_equal equal not_equal'.split():
                self.both(name, *self.pair(draw, WHOLE + REAL, odd=True))
            for name in 'floor_divide remainder'.split():
                x, y = self.pair(draw, ['int32', 'int64', 'uint16', 'float64'])
                self.both(name, x, np.asarray(np.where(y == 0, np.ones_like(y), y)))
            large = draw.array(['int64', 'uint64'], (5,), 2**61, 2**62)
            self.both('floor_divide', large, np.array([1, 3, 7, 2**40 + 1, 2**61 - 1], large.dtype))
            for name in 'bitwise_and bitwise_or bitwise_xor'.split():
                self.both(name, *self.pair(draw, WHOLE + ['bool']))
            for name in 'bitwise_left_shift bitwise_right_shift'.split():
                self.both(name, *self.pair(draw, ['int32', 'uint32', 'int64'], low=0, high=6))
            for name in 'logical_and logical_or logical_xor'.split():
                self.both(name, *self.pair(draw, ['bool']))
            one, two = draw.array(['int8', 'int32'], (3,)), draw.array(['int16', 'uint8'], (3,))
            self.both('add', one, two)
            self.both('add', draw.array(['float32'], (3,)), draw.array(['float64'], (3,)))

    def test_choices(self):
        for draw in self.each_round():
            x, y = self.pair(draw, WHOLE + REAL + COMPLEX)
            mask = draw.array(['bool'], np.broadcast_shapes(x.shape, y.shape))
            self.both('where', mask, x, y)
            self.both('clip', draw.array(REAL + ['int32']), -3, 5)
            self.both('clip', draw.array(['float64'], (3, 4)), max=draw.array(['float64'], (4,)))

    # ---- new arrays, types ----

    def test_new_ones(self):
        def same(name, *given, **options):
            type(self).tried.add(name)
            wanted, found = named(np, name)(*given, **options), named(xp, name)(
                *given, device=NULL, **options)
            self.compare(name, wanted, found)
        for kind in ('bool', 'int8', 'uint64', 'float32', 'float64', 'complex64'):
            same('zeros', (2, 3), dtype=kind)
            same('ones', (), dtype=kind)
            same('full', (0, 2), 1, dtype=kind)
            same('eye', 3, 4, k=1, dtype=kind)
            self.assertEqual(((2, 1), np.dtype(kind)), self.about(xp.empty((2, 1), kind, NULL)))
        same('full', 3, 7.5, dtype='float64')
        self.assertEqual([2 ** 53 + 1] * 2, xp.full(2, 2 ** 53 + 1).tolist())
        self.assertEqual('int64 float32 complex64 bool', ' '.join(
            xp.full((), x).dtype.name for x in (5, 1.5, 1j, True)))
        for given in ((5,), (2, 9, 3), (9, 2, -2), (0, 1, 0.25), (3, 3), (-1, 1)):
            same('arange', *given, dtype='float64')
        same('linspace', 0, 3, 7, dtype='float64')
        same('linspace', 1, -1, 4, dtype='float64', endpoint=False)
        self.tried.add('empty')
        x = np.arange(6, dtype='int16').reshape(2, 3)
        for name in ('zeros_like', 'ones_like'):
            self.both(name, x)
        self.both('full_like', x, 4)
        self.tried.add('empty_like')
        self.assertEqual(((2, 3), np.dtype('int16')), self.about(xp.empty_like(mare_of(x))))
        for k in (-1, 0, 2):
            self.both('tril', x, k=k)
            self.both('triu', np.stack([x, x]), k=k)
        for indexing in ('xy', 'ij'):
            self.both('meshgrid', x[0], x[:, 0], x[1], indexing=indexing)
        self.tried |= {'asarray', 'from_dlpack', '__array_namespace_info__'}
        a = mare_of(x)
        self.assertIs(a, xp.asarray(a))
        self.assertEqual(np.dtype('float64'), xp.asarray(a, dtype=xp.float64).dtype)
        np.testing.assert_array_equal(x, xp.asarray(x, device=NULL, copy=True))
        with self.assertRaises(ValueError):
            xp.asarray(x, copy=False)
        np.testing.assert_array_equal(x, xp.from_dlpack(x.copy(), device=NULL))
        for later in (3000, '2999.12'):
            with self.assertRaises(ValueError):
                a.__array_namespace__(api_version=later)
        info = a.__array_namespace__(api_version='2024.12').__array_namespace_info__()
        self.assertIn('int8', info.dtypes(kind='signed integer'))
        self.assertIn(info.default_device(), info.devices())
        self.assertEqual(xp.float32, info.default_dtypes()['real floating'])

    @staticmethod
    def about(x):
        return x.shape, x.dtype

    def test_types(self):
        self.tried |= {'can_cast', 'result_type', 'finfo', 'iinfo', 'isdtype', 'astype'}
        self.assertTrue(xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(xp.float64, xp.int8))
        a = mare_of(np.arange(3, dtype='int8'))
        self.assertEqual(xp.int16, xp.result_type(a, xp.uint8, 3))
        self.assertEqual(xp.float32, xp.result_type(xp.int32, xp.float32))
        self.assertEqual(xp.complex64, xp.result_type(xp.complex64, xp.int64))
        self.assertEqual(xp.complex128, xp.result_type(xp.complex64, xp.float64))
        with self.assertRaises(TypeError):
            xp.result_type(xp.int32, xp.uint64)
        self.assertEqual(xp.int8, xp.astype(a, xp.int8, copy=False).dtype)
        self.assertEqual(127, xp.iinfo(xp.int8).max)
        self.assertEqual(2**-23, xp.finfo(xp.float32).eps)
        self.assertTrue(xp.isdtype(a.dtype, ('bool', 'integral')) and xp.isdtype(xp.bool, 'bool'))
        self.assertFalse(xp.isdtype(xp.complex64, 'real floating'))
        for draw in self.each_round():
            self.both('astype', draw.array(WHOLE + ['bool'], low=0), 'float64')
            self.both('astype', draw.array(REAL), 'int32')

    # ---- shapes ----

    def test_shapes(self):
        for draw in self.each_round():
            x = draw.array(WHOLE + REAL + COMPLEX + ['bool'], (2, 3, 4))
            self.both('permute_dims', x, (2, 0, 1))
            self.both('moveaxis', x, 0, -1)
            self.both('moveaxis', x, (0, 2), (1, 0))
            self.both('matrix_transpose', x)
            self.both('linalg.matrix_transpose', x)
            self.both('reshape', x, (4, -1))
            self.both('squeeze', x[:, :1], axis=1)
            self.both('expand_dims', x, axis=draw.random.choice([-4, -1, 0, 2]))
            self.both('flip', x, axis=draw.random.choice([None, 0, (1, -1)]))
            self.both('roll', x, draw.random.choice([1, -2, 9]), axis=1)
            self.both('roll', x, (1, 2), axis=(0, 2))
            self.both('roll', x, 5)
            self.both('tile', x, (2, 1, 2))
            self.both('tile', x[0, 0], (2, 2))
            self.both('repeat', x, 2, axis=1)
            self.both('repeat', x[0, 0], np.array([1, 0, 3, 2]))
            self.both('broadcast_to', x[:, :1], (5, 2, 3, 4))
            self.both('broadcast_arrays', x, x[0, :, :1])
            self.both('unstack', x, axis=1)
            self.both('stack', [x, x], axis=draw.random.choice([0, -1]))
            self.both('concat', [x, x[:, :1]], axis=1)
            self.both('concat', [x, x[0]], axis=None)
            y = draw.array(['int16'], (3, 5))
            self.both('take', y, np.array([4, 0, 0]), axis=1)
            self.both('take_along_axis', y, np.array([[1, 0], [2, 2], [4, -1]]), axis=1)
            self.both('take_along_axis', y, np.array([[1, 0, 2, 2, 0]]), axis=0)

    # ---- orders, reductions ----

    def test_orders(self):
        for draw in self.each_round():
            x = draw.array(['int32', 'uint8'] + REAL, (3, 8), low=0, high=5)
            for axis in (0, 1):
                self.both('sort', x, axis=axis)
                self.compare('sort', np.flip(np.sort(x, axis=axis), axis),
                             xp.sort(mare_of(x), axis=axis, descending=True))
            self.both('argsort', np.round(x), stable=True)
            for name in 'unique_all unique_counts unique_inverse'.split():
                self.both(name, np.round(x))
            self.tried.add('unique_values')
            self.compare('unique_values', np.sort(np.unique_values(x)),
                         xp.unique_values(mare_of(x)))
            self.both('searchsorted', np.sort(x[0]), x[1])
            self.both('searchsorted', x[0], x[1], side='right', sorter=np.argsort(x[0]))
            self.both('nonzero', np.round(x))
            self.both('count_nonzero', np.round(x), axis=0)
            for name in ('argmax', 'argmin'):
                self.both(name, x)
                self.both(name, x, axis=1, keepdims=True)

    def test_reductions(self):
        for draw in self.each_round():
            axis = draw.random.choice([None, 0, -1, (0, 2)])
            how = {'axis': axis, 'keepdims': draw.random.random() < 0.5}
            for name in ('sum', 'prod', 'max', 'min'):
                self.both(name, draw.array(['int64', 'uint64'] + REAL, (2, 3, 4), 1, 3), **how)
            self.both('sum', draw.array(COMPLEX, (2, 3, 4)), **how)
            for name in ('mean', 'var', 'std'):
                self.both(name, draw.array(REAL, (2, 3, 4)), **how)
            self.both('var', draw.array(REAL, (2, 3, 4)), correction=1, **how)
            for name in ('all', 'any'):
                self.both(name, draw.array(['bool', 'int8'], (2, 3, 4), 0, 1), **how)
            self.both('cumulative_sum', draw.array(['int64'] + REAL, (3, 4)), axis=0)
            self.both('cumulative_sum', draw.array(['int64'], (4,)), include_initial=True)
            self.both('cumulative_prod', draw.array(REAL, (3, 4), 0.5, 2), axis=1)
            x = draw.array(['int32'] + REAL, (3, 5))
            self.both('diff', x, axis=draw.random.choice([0, 1]))
            self.both('diff', x, n=2)
            self.both('diff', x, prepend=x[:, :2], append=x)

    # ---- products, matrices, transforms ----

    def test_products(self):
        for draw in self.each_round():
            kind = draw.random.choice(REAL + ['complex64'])
            a, b = (draw.array([kind], shape) for shape in ((2, 3, 4), (4, 5)))
            for name in ('', 'linalg.'):
                self.both(name + 'matmul', a, b)
                self.both(name + 'tensordot', a, b, axes=1)
                self.both(name + 'tensordot', a, b, axes=((2,), (0,)))
                self.both(name + 'vecdot', a, b[:, 0])
            self.both('linalg.outer', b[0], b[:, 1])
            self.both('linalg.cross', a[:, :, 0], a[:, :, 1])
            self.both('linalg.diagonal', a, offset=1)
            self.both('linalg.trace', a, offset=-1)

    def test_matrices(self):
        if not mare.lua("(require('bindings.openblas').is_there())"):
            self.skipTest('needs OpenBLAS')
        for draw in self.each_round():
            x = draw.array(['float64'], (4, 4))
            symmetric = x @ x.T + np.eye(4)
            b = draw.array(['float64'], (4, 2))
            stack = np.stack([symmetric, x @ x.T + 2 * np.eye(4)])
            self.both('linalg.solve', symmetric, b, units=2000)
            self.both('linalg.solve', stack, b, units=2000)
            for name in 'inv det cholesky eigvalsh slogdet pinv matrix_rank'.split():
                for one in (symmetric, stack):
                    self.both('linalg.' + name, one, units=20000)
            self.both('linalg.matrix_power', symmetric, 3)
            self.both('linalg.svdvals', b, units=2000)
            self.tried |= {'linalg.eigh', 'linalg.svd', 'linalg.qr'}
            q, r = xp.linalg.qr(mare_of(np.stack([b, 2 * b])))
            np.testing.assert_allclose(q @ r, np.stack([b, 2 * b]), atol=1e-11)
            np.testing.assert_array_equal(np.triu(r), r.numpy())
            values, vectors = xp.linalg.eigh(mare_of(symmetric))
            np.testing.assert_allclose(vectors * values @ vectors.mT, symmetric, atol=1e-11)
            u, s, vh = xp.linalg.svd(mare_of(b), full_matrices=False)
            np.testing.assert_allclose(u * s @ vh, b, atol=1e-11)
            for kind in (2, 1, np.inf, -np.inf, 0, 3):
                self.both('linalg.vector_norm', x, axis=1, ord=kind)
            for kind in ('fro', 'nuc', 1, -1, 2, -2, np.inf, -np.inf):
                self.both('linalg.matrix_norm', x, ord=kind, units=5000)
                self.both('linalg.matrix_norm', stack, ord=kind, keepdims=True, units=5000)

    def test_stacks_of_no_matrix(self):
        if not mare.lua("(require('bindings.openblas').is_there())"):
            self.skipTest('needs OpenBLAS')
        x = np.zeros((0, 2, 2))
        for name in 'inv det cholesky eigvalsh slogdet pinv matrix_rank eigh svd qr'.split():
            self.both('linalg.' + name, x)
        self.both('linalg.solve', x, np.ones((2, 3)))
        self.both('linalg.matrix_power', x, 3)

    def test_refusals_and_ends(self):
        with self.assertRaises(ValueError) as caught:
            xp.isdtype(xp.float32, 'whole')
        self.assertIn('signed integer', str(caught.exception))
        with self.assertRaises(ValueError):
            xp.diff(xp.arange(3, device=NULL), n=-1)
        for ends in ((2 ** 60,), (2 ** 60 + 2 ** 45, 2 ** 60, -1)):
            with self.assertRaises(MemoryError) as caught:
                xp.arange(*ends, device=NULL)
            self.assertTrue(str(caught.exception))
        with self.assertRaises(OverflowError):
            xp.arange(2 ** 60, 2 ** 60 + 1, dtype='int32', device=NULL)
        for ends in ((2 ** 63 - 1, 2 ** 63 - 8, -3), (2 ** 63, 2 ** 63 + 2), (2 ** 60, 0),
                     (-2 ** 63, -2 ** 63 + 3, 2)):
            self.assertEqual(list(range(*ends)), xp.arange(*ends, device=NULL).tolist())

    def test_transforms(self):
        for draw in self.each_round():
            x = draw.array(['complex64', 'complex128'], (3, 8))
            norm = draw.random.choice(['backward', 'ortho', 'forward'])
            for name in ('fft', 'ifft'):
                self.both('fft.' + name, x, norm=norm, axis=draw.random.choice([0, -1]))
                self.both('fft.%sn' % name, x, norm=norm)
            self.both('fft.rfft', x.real, n=6, norm=norm)
            self.both('fft.irfft', x, n=7, norm=norm)
            self.both('fft.rfftn', x.real, axes=(0, 1), norm=norm)
            self.both('fft.irfftn', x, s=(3, 6), axes=(0, 1), norm=norm)
            self.both('fft.hfft', x, n=9, norm=norm)
            self.both('fft.ihfft', x.real, norm=norm)
            for name in ('fftshift', 'ifftshift'):
                self.both('fft.' + name, x[:, :7])
            for name in ('fftfreq', 'rfftfreq'):
                self.tried.add('fft.' + name)
                for n in (7, 8):
                    self.compare(name, named(np.fft, name)(n, 0.5),
                                 named(xp.fft, name)(n, d=0.5, dtype='float64', device=NULL))


if __name__ == '__main__':
    if not hasattr(np, 'unstack'):
        print('skipped: NumPy %s is older than the standard' % np.__version__)
        sys.exit(0)
    unittest.main(verbosity=0)
