"""arrays_peers.py - what arrays.lua measures, in CuPy, PyTorch (compiled) or JAX on the first GPU,
or in NumPy on the processor.

    python3 arrays_peers.py cupy|torch|jax|numpy [LOG2]

Writes one line of JSON for each operation, with the names of arrays.lua. Exit status 3: the
package is not there."""

import json
import sys
import time

PEER = sys.argv[1]
LOG2 = int(sys.argv[2]) if len(sys.argv) > 2 else 27
COUNT, SIDE = 2**LOG2, 2**(LOG2 // 2)
LARGE = 8192 if LOG2 >= 27 else 1024
TALL = 16384 if LOG2 >= 27 else 4096


def median(values):
    return sorted(values)[len(values) // 2]


def write(name, **values):
    values.update(benchmark="arrays", peer=PEER, operation=name)
    print(json.dumps(values), flush=True)


class Numpy:
    def __init__(self):
        import numpy
        self.np = numpy
        self.rng = numpy.random.default_rng(1)

    def random(self, shape, dtype="float32"):
        return self.rng.random(shape, dtype="float32").astype(dtype)

    def wait(self, _=None):
        pass

    def compiled(self, f):
        return f

    def operations(self):
        np = self.np
        return {
            "axpy": lambda a, b: 2 * a + b,
            "norm": lambda a, b, c: np.sqrt(a * a + b * b + c * c) / (1 + a),
            "turn": lambda a: np.ascontiguousarray(a.T),
            "uniform": lambda: self.random((COUNT,)),
            "sum": lambda a: a.sum(), "dot": lambda a, b: a.dot(b),
            "axis0": lambda a: a.sum(axis=0), "axis1": lambda a: a.sum(axis=1),
            "scan": lambda a: a.cumsum(), "sort": lambda a: np.sort(a),
            "argsort": lambda a: np.argsort(a), "matmul": lambda a, b: a @ b,
            "add": lambda a, b: a + b, "read": lambda x, y: float((5 * x + y)[0]),
        }


class Cupy(Numpy):
    def __init__(self):
        import cupy
        self.np = cupy
        self.rng = cupy.random.default_rng(1)

    def random(self, shape, dtype="float32"):
        return self.rng.random(shape, dtype="float32").astype(dtype)

    def wait(self, _=None):
        self.np.cuda.Device().synchronize()


class Torch:
    def __init__(self):
        import torch
        self.torch = torch
        torch.backends.cuda.matmul.allow_tf32 = False

    def random(self, shape, dtype="float32"):
        return self.torch.rand(shape, device="cuda").to(getattr(self.torch, dtype))

    def wait(self, _=None):
        self.torch.cuda.synchronize()

    def compiled(self, f):
        return self.torch.compile(f)

    def operations(self):
        torch = self.torch
        return {
            "axpy": lambda a, b: 2 * a + b,
            "norm": lambda a, b, c: torch.sqrt(a * a + b * b + c * c) / (1 + a),
            "turn": lambda a: a.T.contiguous(),
            "uniform": lambda: torch.rand(COUNT, device="cuda"),
            "sum": lambda a: a.sum(), "dot": lambda a, b: torch.dot(a, b),
            "axis0": lambda a: a.sum(0), "axis1": lambda a: a.sum(1),
            "scan": lambda a: a.cumsum(0), "sort": lambda a: torch.sort(a)[0],
            "argsort": lambda a: torch.argsort(a), "matmul": lambda a, b: a @ b,
            "add": lambda a, b: a + b, "read": lambda x, y: float((5 * x + y)[0]),
        }


class Jax:
    def __init__(self):
        import jax
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "highest")
        self.jax, self.last = jax, None

    def random(self, shape, dtype="float32"):
        return self.jax.random.uniform(self.jax.random.key(1), shape, dtype=dtype)

    def wait(self, result=None):
        self.jax.block_until_ready(result)

    def compiled(self, f):
        return self.jax.jit(f)

    def operations(self):
        np, jax = self.jax.numpy, self.jax
        return {
            "axpy": lambda a, b: 2 * a + b,
            "norm": lambda a, b, c: np.sqrt(a * a + b * b + c * c) / (1 + a),
            "turn": lambda a: a.T,
            "uniform": lambda: jax.random.uniform(jax.random.key(1), (COUNT,)),
            "sum": lambda a: a.sum(), "dot": lambda a, b: np.dot(a, b),
            "axis0": lambda a: a.sum(axis=0), "axis1": lambda a: a.sum(axis=1),
            "scan": lambda a: a.cumsum(), "sort": lambda a: np.sort(a),
            "argsort": lambda a: np.argsort(a), "matmul": lambda a, b: a @ b,
            "add": lambda a, b: a + b, "read": lambda x, y: float((5 * x + y)[0]),
        }


def measured(peer, work, budget=0.25):
    """Seconds of one call: the median of five batches."""
    peer.wait(work())
    start = time.perf_counter()
    peer.wait(work())
    calls = max(1, int(budget / 5 / (time.perf_counter() - start)))
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(calls):
            result = work()
        peer.wait(result)
        seconds.append((time.perf_counter() - start) / calls)
    return median(seconds)


def rate(peer, name, amount, f, *given):
    f = peer.compiled(f)
    seconds = measured(peer, lambda: f(*given))
    write(name, seconds=seconds, rate=amount / seconds)


def memory_bound(peer, ops):
    a, b, c = (peer.random((COUNT,)) for _ in range(3))
    rate(peer, "2a + b", 12 * COUNT, ops["axpy"], a, b)
    rate(peer, "sqrt(aa + bb + cc)/(1 + a)", 16 * COUNT, ops["norm"], a, b, c)
    rate(peer, "uniform random numbers", 4 * COUNT, ops["uniform"])
    square = a.reshape(SIDE, -1)
    rate(peer, "transposing copy", 8 * COUNT, ops["turn"], square)
    rate(peer, "sum", 4 * COUNT, ops["sum"], a)
    rate(peer, "dot", 8 * COUNT, ops["dot"], a, b)
    rate(peer, "sum along axis 0", 4 * COUNT, ops["axis0"], square)
    rate(peer, "sum along axis 1", 4 * COUNT, ops["axis1"], square)
    rate(peer, "running sum", 4 * COUNT, ops["scan"], a[:COUNT // 2])
    rate(peer, "sort", COUNT // 4, ops["sort"], a[:COUNT // 4])
    rate(peer, "argsort", COUNT // 4, ops["argsort"], a[:COUNT // 4])


def products(peer, ops):
    for name, dtype, size in (("float", "float32", 4), ("double", "float64", 8)):
        a, b = peer.random((LARGE, LARGE), dtype), peer.random((LARGE, LARGE), dtype)
        rate(peer, f"{name} {LARGE}^2 product", 2 * LARGE**3, ops["matmul"], a, b)
        a, b = peer.random((TALL, TALL), dtype), peer.random((TALL,), dtype)
        rate(peer, f"{name} {TALL}^2 times vector", size * TALL**2, ops["matmul"], a, b)


def host(peer, ops):
    a, b = peer.random((16,)), peer.random((16,))
    x, y = peer.random((10000,)), peer.random((10000,))
    add = peer.compiled(ops["add"])
    seconds = []
    for _ in range(301):
        peer.wait(add(a, b))
        start = time.perf_counter()
        for _ in range(100):
            add(a, b)
        seconds.append((time.perf_counter() - start) / 100)
    write("a + b of 16 elements", microseconds=1e6 * median(seconds))
    read, seconds = ops["read"], []
    for _ in range(1001):
        peer.wait(x)
        start = time.perf_counter()
        read(x, y)
        seconds.append(time.perf_counter() - start)
    write("5x + y of 10 000, first one read", microseconds=1e6 * median(seconds))


def main():
    try:
        peer = {"numpy": Numpy, "cupy": Cupy, "torch": Torch, "jax": Jax}[PEER]()
    except ImportError:
        sys.exit(3)
    ops = peer.operations()
    memory_bound(peer, ops)
    products(peer, ops)
    host(peer, ops)


main()
