"""transforms_peers.py - what transforms.lua measures, by cuFFT through CuPy on the first GPU, or by
SciPy's pocketfft on the processor.

    python3 transforms_peers.py cufft|scipy [LOG2 [NAME...]]

Writes one line of JSON for each transform, with the names and the rates of transforms.lua; NAME: a
part of the names of those that are wanted. Exit status 3: the package is not there."""

import json
import sys

PEER = sys.argv[1]
POINTS = 2 ** (int(sys.argv[2]) if len(sys.argv) > 2 else 26)
WANTED = sys.argv[3:]
LENGTHS = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536, 2**20, 2**24, 1000,
           1536, 2187, 1009, 10007]
SIDES = [512, 1024, 2048, 4096, 8192]


class Cufft:
    """Transforms out of place, by a plan that was made before, into an array that is there."""

    def __init__(self):
        import cupy
        from cupyx.scipy import fft
        self.cupy, self.fft = cupy, fft

    def numbers(self, kind, shape):
        x = self.cupy.random.random(shape, dtype="float32") - 0.5
        if kind == "float":
            return x
        return (x + 1j).astype("complex64" if kind == "complex_float" else "complex128")

    def transform(self, x, name, axes):
        is_real = name == "rfft"
        plan = self.fft.get_fft_plan(x, axes=axes, value_type="R2C" if is_real else "C2C")
        shape = (*x.shape[:-1], x.shape[-1] // 2 + 1) if is_real else x.shape
        y = self.cupy.empty(shape, x.dtype if not is_real else "complex64")
        return y, lambda: plan.fft(x, y, -1)

    def spectra(self, x):
        n, cupy = x.shape[-1], self.cupy
        weights = (0.5 - 0.5 * cupy.cos(cupy.arange(n) * (2 * cupy.pi / n))).astype("float32")
        z = cupy.empty_like(x)
        y, run = self.transform(z, "rfft", (-1,))
        power = cupy.empty(y.shape, "float32")
        square = cupy.ElementwiseKernel("complex64 y", "float32 p",
                                        "p = y.real() * y.real() + y.imag() * y.imag()", "square")

        def three():
            cupy.multiply(x, weights, out=z)
            run()
            square(y, power)
        return three

    def seconds(self, work):
        event = self.cupy.cuda.Event

        def batch(calls):
            start, stop = event(), event()
            start.record()
            for _ in range(calls):
                work()
            stop.record()
            stop.synchronize()
            return self.cupy.cuda.get_elapsed_time(start, stop) / 1000 / calls
        batch(1)
        calls = max(1, int(0.15 / 7 / batch(3)))
        batch(calls)
        return sorted(batch(calls) for _ in range(7))

    def forget(self):
        self.cupy.fft.config.get_plan_cache().clear()
        self.cupy.get_default_memory_pool().free_all_blocks()


class Scipy:
    """Transforms by two threads, in place where their type allows it."""

    def __init__(self):
        import numpy
        from scipy import fft
        self.numpy, self.fft = numpy, fft

    def numbers(self, kind, shape):
        x = self.numpy.random.default_rng(1).random(shape, dtype="float32") - 0.5
        if kind == "float":
            return x
        return (x + 1j).astype("complex64" if kind == "complex_float" else "complex128")

    def transform(self, x, name, axes):
        if name == "rfft":
            return None, lambda: self.fft.rfft(x, workers=2)
        return None, lambda: self.fft.fftn(x, axes=axes, workers=2)

    def spectra(self, x):
        n, numpy = x.shape[-1], self.numpy
        weights = (0.5 - 0.5 * numpy.cos(numpy.arange(n) * (2 * numpy.pi / n))).astype("float32")

        def three():
            y = self.fft.rfft(x * weights, workers=2)
            return y.real * y.real + y.imag * y.imag
        return three

    def seconds(self, work):
        import time

        def batch(calls):
            start = time.perf_counter()
            for _ in range(calls):
                work()
            return (time.perf_counter() - start) / calls
        batch(1)
        calls = max(1, int(1 / 7 / batch(1)))
        return sorted(batch(calls) for _ in range(7))

    def forget(self):
        pass


def report(peer, name, make, size):
    if WANTED and not any(part in name for part in WANTED):
        return
    try:
        seconds = peer.seconds(make())
    except Exception as problem:        # a length that a library refuses, memory that is not there
        print(json.dumps({"benchmark": "transforms", "peer": PEER, "transform": name,
                          "problem": str(problem)[:200]}), flush=True)
        return
    peer.forget()
    median = seconds[len(seconds) // 2]
    print(json.dumps({"benchmark": "transforms", "peer": PEER, "transform": name,
                      "points": POINTS, "seconds": median, "fastest": seconds[0],
                      "slowest": seconds[-1], "rate": size / median}), flush=True)


def rows(peer, kind, name, lengths):
    for n in lengths:
        batch = POINTS // n
        if batch:
            size = batch * n * (16 if kind == "complex_double" else 8) * (2 if name == "fft" else 1)
            report(peer, f"{kind} {name} of {n}", lambda: peer.transform(
                peer.numbers(kind, (batch, n)), name, (-1,))[1], size)


def main():
    try:
        peer = {"cufft": Cufft, "scipy": Scipy}[PEER]()
    except ImportError as problem:
        print(problem, file=sys.stderr)
        sys.exit(3)
    rows(peer, "complex_float", "fft", LENGTHS)
    rows(peer, "float", "rfft", [256, 1024, 4096])
    rows(peer, "complex_double", "fft", [256, 1024, 4096])
    for n in SIDES:
        batch = POINTS // n // n
        if batch:
            report(peer, f"2-D, {n} x {n}", lambda: peer.transform(
                peer.numbers("complex_float", (batch, n, n)), "fft", (-2, -1))[1],
                16 * batch * n * n)
    report(peer, "window, real 1024, power",
           lambda: peer.spectra(peer.numbers("float", (POINTS // 1024, 1024))), 6 * POINTS)


main()
