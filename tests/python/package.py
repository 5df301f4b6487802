"""Tests of the installed package mare: Lua's world, arrays that are shared, a first picture."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import mare

PATIENCE = 40


def devices():
    """Names of devices that run kernels, and of one that does not."""
    found = mare.lua('''local names = {}
        for _, d in ipairs(mare.device.list()) do
            if d.runs_kernels and not d.error then names[#names + 1] = d.name end
        end
        return table.concat(names, ' ')''')
    return found.split(), 'null'


KERNELS, NULL = devices()


class OldArray:
    """An array of a library that knows no DLPack 1."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Lua(unittest.TestCase):
    def test_values_pass_both_ways(self):
        for value in (None, True, False, 0, -7, 1.5, 'ü', '', float('inf')):
            self.assertEqual(value, mare.lua('...', value))
        self.assertTrue(np.isnan(mare.lua('0 / 0')))
        self.assertEqual(0.1 + 0.2, mare.lua('...', 0.1 + 0.2))
        self.assertEqual(b'\xff\x00', mare.lua('...', b'\xff\x00'))
        self.assertEqual((1, None, 'x'), mare.lua('1, nil, "x"'))
        self.assertEqual({'a': 1, 'b': {'c': 'd'}},
                         mare.lua('...', {'a': 1, 'b': {'c': 'd'}}).to_python())
        np.testing.assert_array_equal([1, 2, 3], mare.lua('{ 1, 2, 3 }'))
        self.assertEqual(['a', 'b'], mare.lua('...', ['a', 'b']).to_python())
        self.assertIsNone(mare.lua('x = 1'))

    def test_arrays_are_their_memory(self):
        x = np.arange(6, dtype='float64').reshape(2, 3)
        self.assertEqual(3, mare.lua('local a, b = ... a[0] = 7 return a[1] + b', x, 2))
        self.assertEqual(7, x[0, 0])
        for kind in ('int8', 'uint16', 'int32', 'uint64', 'float32'):
            self.assertEqual(5, mare.lua('(...)[1]', np.array([4, 5], kind)))
        with self.assertRaises(mare.Error):
            mare.lua('kept = ...', x)
            mare.lua('kept[0]')
        with self.assertRaises(TypeError):
            mare.lua('...', np.array([1j]))
        mare.set('depth', 4)
        self.assertEqual(4, mare.lua('depth'))
        fixed = np.frombuffer(b'\x01\x02', 'uint8')
        self.assertEqual(9, mare.lua('local a = ... a[0] = 9 return a[0]', fixed))
        self.assertEqual(1, fixed[0])

    def test_bytes_in_the_other_order(self):
        for kind in ('>f4', '>i2', '<f8', '>u8'):
            self.assertEqual(5, mare.lua('(...)[1]', np.array([4, 5], kind)))
            if KERNELS and kind != '>u8':
                self.assertEqual([4, 5], mare.array(np.array([4, 5], kind)).numpy().tolist())

    def test_tables_whole_and_one_by_one(self):
        table = mare.lua('local t = {} for k = 1, 1234 do t[k] = "x" .. k end return t')
        self.assertEqual(['x%d' % k for k in range(1, 1235)], table.to_python())
        self.assertEqual(table.to_python(), list(table))
        many = mare.lua('local t = {} for k = 1, 300 do t["x" .. k] = k end return t').to_python()
        self.assertEqual({'x%d' % k: k for k in range(1, 301)}, many)
        self.assertEqual([], list(mare.lua('{ a = 1 }')))
        self.assertTrue(mare.lua('{ a = 1 }'))
        self.assertTrue(mare.lua('print'))
        self.assertEqual('b', mare.lua('(...)[7]', {7: 'b', 'a': None}))
        self.assertEqual(-1, np.copysign(1, mare.lua('-0.0')))

    def test_errors_are_exceptions(self):
        with self.assertRaises(mare.Error) as caught:
            mare.lua('error "no"')
        self.assertEqual('MARE_ERROR_SCRIPT', caught.exception.status)
        for text, word in (('1 +', 'lua'), ('mare.grid { nx = 0 }', 'nx'),
                           ('mare.no_such_name', 'no_such_name')):
            with self.assertRaises(mare.Error) as caught:
                mare.lua(text)
            self.assertIn(word, str(caught.exception))
        self.assertEqual(2, mare.lua('1 + 1'))

    def test_objects(self):
        grid = mare.grid(nx=8, ny=4, x=[0, 1], y=[0, 1])
        self.assertEqual((8, 0.0625), (grid.nx, grid.x_centre(0)))
        self.assertIn('x_centre', dir(grid))
        table = mare.lua('{ a = 1, [2] = "two" }')
        table.b = 5
        table['c'] = 6
        self.assertEqual((1, 'two', 5, 6), (table.a, table[2], table['b'], table.c))
        self.assertEqual(3, mare.lua('function(x) return x + 1 end')(2))
        before = mare.engine().call('count')[0]
        for _ in range(100):
            mare.lua('{ a = print }')
        gc.collect()
        mare.lua('1')
        self.assertLessEqual(mare.engine().call('count')[0], before + 2)

    def test_threads_have_worlds_of_their_own(self):
        mare.set('here', 1)
        mine, seen = mare.lua('{}'), []

        def other():
            seen.append(mare.lua('rawget(_G, "here")'))
            try:
                mine.a = 1
            except RuntimeError as failure:
                seen.append(str(failure))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        self.assertIsNone(seen[0])
        self.assertIn('thread', seen[1])

    def test_worlds_end_with_their_threads(self):
        kept, live = [], mare._library.core.mare_live_objects

        def work():
            kept.append(mare.lua('mare.arange(3)'))

        def repeat(times):
            for _ in range(times):
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
            gc.collect()
            return live()

        self.assertEqual(repeat(1), repeat(3))
        with self.assertRaises(RuntimeError):
            kept[0].sum()


class Simulations(unittest.TestCase):
    def setUp(self):
        if not KERNELS:
            self.skipTest('no device runs kernels here')

    def test_a_run_and_its_picture(self):
        kinds = []
        stop = mare.listen(lambda kind, fields: kinds.append((kind, fields)))
        sim = mare.simulation('kelvin_helmholtz', nx=48, ny=32)
        sim.run(t_end=0.1)
        stop()
        self.assertEqual(0.1, sim.t)
        self.assertIn('end', [kind for kind, _ in kinds])
        rho = sim.field('rho').numpy()
        self.assertEqual((32, 48), rho.shape)
        self.assertTrue(1 <= rho.mean() <= 2)
        sim.plot('rho').save('first.png')
        with open('first.png', 'rb') as file:
            self.assertEqual(b'\x89PNG', file.read(4))
        self.assertEqual(b'\x89PNG', sim.field('rho')._repr_png_()[:4])
        self.assertIn('Kelvin', repr(sim))

    def test_errors_of_listeners_end_a_run(self):
        def fail(kind, fields):
            raise ValueError(kind)
        stop = mare.listen(fail)
        with self.assertRaises(ValueError):
            mare.simulation('sod', nx=16).run(t_end=1e-4)
        stop()
        self.assertEqual(2, mare.lua('1 + 1'))

    def test_ctrl_c_ends_a_run(self):
        code = ('import mare, sys\n'
                'sim = mare.simulation("kelvin_helmholtz", nx=64, ny=64)\n'
                'mare.listen(lambda k, f: k == "progress" and print("runs", flush=True))\n'
                'try:\n    sim.run(t_end=1e6)\n'
                'except KeyboardInterrupt:\n    print("ended", sim.t > 0)\n'
                'import os, signal, threading\n'
                'threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n'
                'try:\n    mare.lua("while true do end")\n'
                'except KeyboardInterrupt:\n    print("too", mare.lua("1 + 1"))\n')
        process = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual('runs\n', process.stdout.readline())
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=PATIENCE)[0]
            self.assertIn('ended True', said)
            self.assertIn('too 2', said)
        finally:
            process.kill()

    def test_arrays_on_a_device(self):
        x = np.arange(6, dtype='float32').reshape(2, 3)
        a = mare.array(x)
        np.testing.assert_array_equal(2 * x + 1, mare.lua('2 * ... + 1', a).numpy())
        np.testing.assert_array_equal(x, np.asarray(a))
        self.assertEqual('float', mare.array([1, 2.5]).type)
        with self.assertRaises(TypeError):
            mare.array(np.array([1j]))


class Memory(unittest.TestCase):
    def test_numpy_and_null_devices_share_memory(self):
        y = np.arange(4, dtype='float32')
        for source in (y, OldArray(y)):
            a = mare.from_dlpack(source, NULL)
            y[0] = 9
            self.assertEqual(9, mare.lua('(...):at(0)', a))
            back = np.from_dlpack(a)
            back[1] = 5
            self.assertEqual(5, y[1])
            self.assertEqual(y.ctypes.data, back.ctypes.data)
            del a, back
            gc.collect()
        matrix = mare.from_dlpack(np.ones((2, 3), 'int16'), NULL)
        self.assertEqual((2, 3), np.from_dlpack(matrix).shape)

    def test_no_queue_of_another_device_is_told(self):
        heard = []

        class OnCuda:
            def __dlpack__(self, **given):
                heard.append(given)
                return np.ones(3, 'float32').__dlpack__()

            def __dlpack_device__(self):
                return 2, 7

        for name in [NULL] + KERNELS:
            try:
                mare.from_dlpack(OnCuda(), name)
            except mare.Error:
                pass
            self.assertIsNone(heard[-1]['stream'], name)

    def test_refusals(self):
        y = np.arange(6, dtype='float32').reshape(2, 3)
        for wrong in (y.T, y[:, :2], np.zeros((0, 3), 'float32')):
            with self.assertRaises(mare.Error):
                mare.from_dlpack(wrong, NULL)
        with self.assertRaises((mare.Error, BufferError)):
            y.flags.writeable = False
            mare.from_dlpack(y, NULL)
        for name in KERNELS:
            if not name.startswith('null'):
                a = mare.array(np.ones(3, 'float32'), name)
                with self.assertRaises((RuntimeError, BufferError)):
                    np.from_dlpack(a)
                with self.assertRaises(mare.Error) as caught:
                    mare.from_dlpack(np.ones(3, 'float32'), name)
                self.assertIn(name, str(caught.exception))
                self.assertFalse(name.startswith('opencl')
                                 and hasattr(a, '__cuda_array_interface__'))

    def test_many_exchanges_leave_nothing(self):
        y = np.ones(1000, 'float32')
        a = mare.from_dlpack(y, NULL)
        np.from_dlpack(a)
        gc.collect()
        mare.lua('collectgarbage()')
        before = mare._library.core.mare_live_objects()
        began = time.process_time()
        for _ in range(2000):
            a.__dlpack__(max_version=(1, 0))
            np.from_dlpack(a)
        took = (time.process_time() - began) / 4000
        mare.lua('collectgarbage() collectgarbage()')
        self.assertLessEqual(mare._library.core.mare_live_objects(), before + 2)
        print('an export in Python takes %.0f us' % (1e6 * took))


if __name__ == '__main__':
    result = unittest.main(exit=False).result
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    for test, why in result.skipped:
        print('skipped: %s: %s' % (test, why))
    passed = result.testsRun - failed - skipped
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    sys.stdout.flush()
    os._exit(failed > 0)
