"""fft_peers.py - what fft.lua measures, by a library of a processor on two threads: SciPy's
pocketfft, MKL (mkl_fft with mkl-service) or FFTW (pyfftw, whose plans are kept).

    python3 fft_peers.py [WORKERS [scipy|mkl|fftw]]

Writes one line of JSON for each transform of real numbers, with the names of fft.lua."""

import importlib
import json
import sys
import time

import numpy

PEER = sys.argv[2] if len(sys.argv) > 2 else "scipy"
fft = importlib.import_module({"scipy": "scipy.fft", "mkl": "mkl_fft.interfaces.scipy_fft",
                               "fftw": "pyfftw.interfaces.scipy_fft"}[PEER])
if PEER == "fftw":
    importlib.import_module("pyfftw").interfaces.cache.enable()
WORKERS = int(sys.argv[1]) if len(sys.argv) > 1 else 2
RNG = numpy.random.default_rng(1)
TYPES = {"float": "float32", "double": "float64"}


def report(name, kind, shape, axes=(-1,)):
    x = (RNG.random(shape) * 2 - 1).astype(TYPES[kind])

    def batch(calls):
        start = time.perf_counter()
        for _ in range(calls):
            fft.rfftn(x, axes=axes, workers=WORKERS)
        return (time.perf_counter() - start) / calls
    batch(1)
    calls = max(1, int(0.006 / batch(1)))
    seconds = sorted(batch(calls) for _ in range(5))
    print(json.dumps({"benchmark": "fft", "peer": PEER, "transform": name,
                      "seconds": seconds[2], "fastest": seconds[0], "slowest": seconds[4]}),
          flush=True)


for k in TYPES:
    for log2 in range(10, 26):
        report(f"{k}, 2^{log2}", k, (2**log2,))
for k in TYPES:
    for count in [1, 10, 50, 92, 93, 200, 400, 800]:
        report(f"{k}, {count} of 1024", k, (count, 1024))
for n in [1029, 1250, 1400, 2025, 2187, 2401, 3125, 3600, 4096, 1031, 1511, 2039, 2053, 3067, 4093]:
    report(f"double, 92 of {n}", "double", (92, n))
for k in TYPES:
    for log2 in range(2, 14):
        report(f"{k}, 2^{log2} x 2^{log2}", k, (2**log2, 2**log2), (0, 1))
