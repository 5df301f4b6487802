"""functions_peers.py - the kernels of functions.lua, as users of Numba and Warp write them.

    python3 functions_peers.py numba|warp INDEX COUNT SIDE DEEPEST CALLS

Prints JSON: version, and of each kernel first_call, call and seconds. Exit status 3: it is not
there. Constants are single precision, as those of Mare are: numbers of Python would make Numba
compute in double."""

import json
import os
import sys
import tempfile
from time import perf_counter as now

GROUP = 256


def numba(index, count):
    import numpy as np
    if not hasattr(np, 'row_stack'):    # NumPy 2.5 has no more what older Numba wants
        np.row_stack = np.vstack
    import numba as nb
    from numba import cuda
    cuda.select_device(index)
    f = np.float32
    one, two, three, four = f(1), f(2), f(3), f(4)
    middle, side_by_side, corner = f(0.25), f(0.125), f(0.0625)

    @cuda.jit
    def saxpy(n, a, x, y):
        i = cuda.grid(1)
        if i < n:
            y[i] = a * x[i] + y[i]

    @cuda.jit
    def mandelbrot(n, y, width, deepest):
        i = cuda.grid(1)
        if i < n:
            cx = f(i % width) * three / f(width) - two
            cy = f(i // width) * two / f(width) - one
            a, b, k = f(0), f(0), 0
            while k < deepest and a * a + b * b <= four:
                a, b = a * a - b * b + cx, two * a * b + cy
                k += 1
            y[i] = k

    @cuda.jit
    def stencil(n, x, y, width):
        i = cuda.grid(1)
        if i < n:
            s = middle * x[i]
            if i > width and i < n - width - 1:
                s = s + side_by_side * (x[i - 1] + x[i + 1] + x[i - width] + x[i + width]) \
                    + corner * (x[i - width - 1] + x[i - width + 1] + x[i + width - 1]
                                + x[i + width + 1])
            y[i] = s
    x = cuda.to_device((np.arange(count) * 37 % 1009 / 1009).astype(f))
    y = cuda.to_device(np.ones(count, f))

    def launcher(kernel, *arguments):
        return lambda n: kernel[(n + GROUP - 1) // GROUP, GROUP](n, *arguments)
    return {'saxpy': lambda _, __: launcher(saxpy, f(2.5), x, y),
            'mandelbrot': lambda side, deepest: launcher(mandelbrot, y, side, deepest),
            'stencil of 9 points': lambda side, _: launcher(stencil, x, y, side)}, \
        cuda.synchronize, nb.__version__


def warp(index, count):
    import numpy as np
    import warp as wp
    wp.config.quiet, wp.config.kernel_cache_dir = True, tempfile.mkdtemp()
    wp.init()
    device = 'cuda:%d' % index

    @wp.kernel
    def saxpy(n: int, a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
        i = wp.tid()
        y[i] = a * x[i] + y[i]

    @wp.kernel
    def mandelbrot(n: int, y: wp.array(dtype=float), width: int, deepest: int):
        i = wp.tid()
        cx = float(i % width) * 3.0 / float(width) - 2.0
        cy = float(i // width) * 2.0 / float(width) - 1.0
        a = float(0.0)
        b = float(0.0)
        k = int(0)
        while k < deepest and a * a + b * b <= 4.0:
            new = a * a - b * b + cx
            b = 2.0 * a * b + cy
            a = new
            k = k + 1
        y[i] = float(k)

    @wp.kernel
    def stencil(n: int, x: wp.array(dtype=float), y: wp.array(dtype=float), width: int):
        i = wp.tid()
        s = 0.25 * x[i]
        if i > width and i < n - width - 1:
            s = s + 0.125 * (x[i - 1] + x[i + 1] + x[i - width] + x[i + width]) \
                + 0.0625 * (x[i - width - 1] + x[i - width + 1] + x[i + width - 1]
                            + x[i + width + 1])
        y[i] = s
    data = (np.arange(count) * 37 % 1009 / 1009).astype(np.float32)
    x, y = wp.array(data, dtype=float, device=device), wp.ones(count, dtype=float, device=device)

    def launcher(kernel, *arguments):
        return lambda n: wp.launch(kernel, dim=n, inputs=[n, *arguments], device=device)
    return {'saxpy': lambda _, __: launcher(saxpy, 2.5, x, y),
            'mandelbrot': lambda side, deepest: launcher(mandelbrot, y, side, deepest),
            'stencil of 9 points': lambda side, _: launcher(stencil, x, y, side)}, \
        lambda: wp.synchronize_device(device), wp.config.version


def seconds_of(run, finish, count):
    """Of one run, the best of batches of 0.1 s."""
    repeats, best = 1, 1e9
    for _ in range(5):
        while True:
            begin = now()
            for _ in range(repeats):
                run(count)
            finish()
            spent = now() - begin
            if spent > 0.05:
                break
            repeats *= 2
        best = min(best, spent / repeats)
    return best


def measure(launch, finish, count, calls):
    begin = now()
    launch(count)
    finish()
    first = now() - begin
    begin = now()
    for _ in range(calls):
        launch(GROUP)
    call = (now() - begin) / calls
    finish()
    return {'first_call': first, 'call': call, 'seconds': seconds_of(launch, finish, count)}


def main():
    name, index, count, side, deepest, calls = sys.argv[1:2] + [int(w) for w in sys.argv[2:7]]
    make, finish, version = {'numba': numba, 'warp': warp}[name](index, count)
    found = {key: measure(of(side, deepest), finish, count, calls) for key, of in make.items()}
    print(json.dumps(dict(found, version=version)))


try:
    main()
except ImportError as failure:
    print(failure, file=sys.stderr)
    sys.exit(3)
except Exception as failure:
    print('%s: %s' % (type(failure).__name__, ' '.join(str(failure).split())[:300]),
          file=sys.stderr)
    sys.stderr.flush()
    os._exit(1)
