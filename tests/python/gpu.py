"""Memory that Mare, CuPy, PyTorch and JAX share on CUDA, where these are there: one pointer through
all, no race on their streams, no wait of the host, what an exchange costs; and Ctrl-C in a run.

    PYTHONPATH=bindings/python MARE_LIBRARY_FOLDER=build/bundle/lib python3 tests/python/gpu.py
"""

import os
import signal
import statistics
import sys
import threading
import time

os.environ.setdefault('XLA_PYTHON_CLIENT_PREALLOCATE', 'false')

import mare

DEVICE = os.environ.get('MARE_TEST_DEVICE', 'cuda:0')
ROUNDS, N = 40, 1 << 22
failed = []


def check(what, holds):
    print('%s: %s' % (what, 'ok' if holds else 'FAILED'), flush=True)
    if not holds:
        failed.append(what)


def ours(value, n=N):
    """An array of which Mare's stream has a millisecond of work to do."""
    return mare.lua('''local n, value, device = ...
        local a = mare.zeros({ n }, { device = device })
        a:buffer()
        for k = 1, 200 do a:assign(mare.full({ n }, k < 200 and 0 or value, { device = device }))
        end
        return a''', n, value, DEVICE)


def us(call, times=20000):
    call()
    return min(_timed(call, times // 5) for _ in range(5))


def _timed(call, times):
    began = time.perf_counter()
    for _ in range(times):
        call()
    return 1e6 * (time.perf_counter() - began) / times


class Torch:
    def __init__(self):
        import torch
        self.torch, self.stream = torch, torch.cuda.Stream()

    def take(self, a):
        return self.torch.from_dlpack(a)

    def pointer(self, x):
        return x.data_ptr()

    def theirs(self, value):
        """An array that this library's stream fills late."""
        x = self.torch.zeros(N, device='cuda')
        self.torch.cuda.synchronize()
        self.torch.cuda._sleep(20_000_000)
        x.fill_(value)
        return x

    def on_stream(self):
        return self.torch.cuda.stream(self.stream)

    def total(self, x):
        return float(x.double().sum())


class Cupy:
    def __init__(self):
        import cupy
        self.cupy, self.stream = cupy, cupy.cuda.Stream(non_blocking=True)

    def take(self, a):
        return self.cupy.from_dlpack(a)

    def pointer(self, x):
        return x.data.ptr

    def theirs(self, value):
        x = self.cupy.zeros(N, 'float32')
        for k in range(400):
            x.fill(0 if k < 399 else value)
        return x

    def on_stream(self):
        return self.stream

    def total(self, x):
        return float(x.sum(dtype='float64'))


def races(name, library):
    """Rounds in which one read what the other had not written yet, and the longest exchange."""
    out = into = 0
    waits = []
    with library.on_stream():
        for k in range(1, ROUNDS + 1):
            a = ours(k)
            began = time.perf_counter()
            x = library.take(a)
            waits.append(time.perf_counter() - began)
            out += library.total(x) != k * N
            x = library.theirs(k)
            began = time.perf_counter()
            b = mare.from_dlpack(x, DEVICE)
            waits.append(time.perf_counter() - began)
            into += float(b.sum(dtype='float64')) != k * N
            del a, b, x
    check('%s: no race in %d rounds each way (%d, %d)' % (name, ROUNDS, out, into), out + into == 0)
    print('%s: an exchange while a stream works: median %.0f us, longest %.0f us'
          % (name, 1e6 * statistics.median(waits), 1e6 * max(waits)))
    check('%s: the host waits for nothing' % name, statistics.median(waits) < 3e-4)


def costs(name, library):
    a = mare.zeros(1000, device=DEVICE)
    x = library.take(a)
    print('%s: %.2f us to it, %.2f us from it' % (
        name, us(lambda: library.take(a)), us(lambda: mare.from_dlpack(x, DEVICE))))


def one_pointer(libraries):
    a = mare.ones(1000, device=DEVICE)
    pointers = {'mare': a.__cuda_array_interface__['data'][0]}
    for name, library in libraries.items():
        x = library.take(a)
        pointers[name] = library.pointer(x)
        back = mare.from_dlpack(x, DEVICE)
        pointers[name + ' and back'] = back.__cuda_array_interface__['data'][0]
        if name == 'cupy':
            pointers['by the interface'] = library.cupy.asarray(a).data.ptr
        back *= 2
    try:
        import jax
        pointers['jax'] = jax.dlpack.from_dlpack(a).unsafe_buffer_pointer()
    except ImportError as reason:
        print('no JAX: %s' % reason)
    check('one pointer through %s' % ', '.join(pointers), len(set(pointers.values())) == 1)
    check('what Mare wrote last is there', float(a.sum()) == 1000 * 2 ** len(libraries))


def refusals(libraries):
    import numpy
    for what, source in (('a NumPy array', numpy.ones(3, 'float32')),):
        try:
            mare.from_dlpack(source, DEVICE)
            check(what + ' is refused', False)
        except mare.Error as refused:
            check('%s is refused: %s' % (what, refused), True)


def interrupts():
    sim = mare.simulation('kelvin_helmholtz', nx=4096, ny=4096, device=DEVICE)
    sim.step()
    for _ in range(5):
        came = []

        def press():
            came.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Timer(0.5, press).start()
        try:
            sim.run(t_end=1e6)
        except KeyboardInterrupt:
            took = time.perf_counter() - came[0]
            steps = sim.steps
            sim.step(2)
            check('Ctrl-C in a run of 4096 x 4096 took %.3f s, and the run goes on' % took,
                  took < 0.3 and sim.steps == steps + 2)


def main():
    libraries = {}
    for name, kind in (('torch', Torch), ('cupy', Cupy)):
        try:
            libraries[name] = kind()
        except Exception as reason:
            print('no %s: %s' % (name, reason))
    one_pointer(libraries)
    for name, library in libraries.items():
        races(name, library)
        costs(name, library)
    a = mare.zeros(1000, device=DEVICE)
    a.__dlpack__(stream=-1)
    print('a capsule alone: %.2f us without order, %.2f us on a stream' % (
        us(lambda: a.__dlpack__(stream=-1, max_version=(1, 0))),
        us(lambda: a.__dlpack__(stream=1, max_version=(1, 0)))))
    print('from Mare to Mare: %.2f us' % us(lambda: mare.from_dlpack(a, DEVICE)))
    refusals(libraries)
    interrupts()
    print('%d failed' % len(failed))
    return int(bool(failed))


if __name__ == '__main__':
    sys.exit(main())
