"""costs_peers.py - what costs.lua times, by a library of Python.

    python3 costs_peers.py pycuda|cupy|numba|pyopencl INDEX CALLS BATCHES MODEL

Prints JSON: version, and the seconds of one call, medians. Exit status 3: it is not there."""

import json
import os
import statistics
import sys
from time import perf_counter as now

SOURCE = 'extern "C" __global__ void empty(float *x, int n) { if (n < 0) x[0] = 0; }'
KIB4, MIB = 1024, 2 ** 20       # floats of 4 KiB, bytes


def pycuda(index, _):
    import numpy as np
    import pycuda
    import pycuda.driver as cuda
    from pycuda.compiler import SourceModule
    cuda.init()
    context = cuda.Device(index).make_context()
    empty = SourceModule(SOURCE, no_extern_c=True).get_function('empty')
    x, data, zero = cuda.mem_alloc(4 * KIB4), cuda.pagelocked_empty(KIB4, np.float32), np.int32(0)

    def launch():
        empty(x, zero, block=(32, 1, 1), grid=(1, 1))

    def wait():
        launch()
        context.synchronize()
    return {'launch': launch, 'wait': wait, 'allocate': lambda: cuda.mem_alloc(MIB).free(),
            'upload': lambda: cuda.memcpy_htod(x, data),
            'download': lambda: cuda.memcpy_dtoh(data, x)}, context.synchronize, \
        pycuda.VERSION_TEXT, context.pop


def cupy(index, _):
    import cupy as cp
    import numpy as np
    cp.cuda.Device(index).use()
    empty = cp.RawModule(code=SOURCE).get_function('empty')
    x, zero = cp.zeros(KIB4, cp.float32), np.int32(0)
    data = np.frombuffer(cp.cuda.alloc_pinned_memory(4 * KIB4), np.float32, KIB4)
    stream = cp.cuda.get_current_stream()

    def wait():
        empty((1,), (32,), (x, zero))
        stream.synchronize()
    return {'launch': lambda: empty((1,), (32,), (x, zero)), 'wait': wait,
            'allocate': lambda: cp.cuda.alloc(MIB),
            'upload': lambda: x.data.copy_from_host(data.ctypes.data, x.nbytes),
            'download': lambda: x.data.copy_to_host(data.ctypes.data, x.nbytes)}, \
        stream.synchronize, cp.__version__, lambda: None


def numba(index, _):
    import numpy as np
    if not hasattr(np, 'row_stack'):    # NumPy 2.5 has no more what older Numba wants
        np.row_stack = np.vstack
    import numba as nb
    from numba import cuda
    cuda.select_device(index)

    @cuda.jit('void(float32[::1], int32)')
    def empty(x, n):
        if n < 0:
            x[0] = 0
    x, data = cuda.device_array(KIB4, np.float32), cuda.pinned_array(KIB4, np.float32)
    bound = empty[1, 32]

    def wait():
        bound(x, 0)
        cuda.synchronize()
    return {'launch': lambda: bound(x, 0), 'wait': wait,
            'allocate': lambda: cuda.device_array(MIB // 4, np.float32),
            'upload': lambda: x.copy_to_device(data), 'download': lambda: x.copy_to_host(data)}, \
        cuda.synchronize, nb.__version__, lambda: None


def pyopencl(_, model):
    import numpy as np
    import pyopencl as cl
    devices = [d for p in cl.get_platforms() for d in p.get_devices()]
    device = next(d for d in devices if d.name.strip() == model.strip())
    context = cl.Context([device])
    queue, flags = cl.CommandQueue(context), cl.mem_flags
    text = 'kernel void empty(global float *x, int n) { if (n < 0) x[0] = 0; }'
    empty = cl.Program(context, text).build().empty
    empty.set_scalar_arg_dtypes([None, np.int32])
    x, data = cl.Buffer(context, flags.READ_WRITE, 4 * KIB4), np.zeros(KIB4, np.float32)

    def wait():
        empty(queue, (32,), (32,), x, 0)
        queue.finish()
    return {'launch': lambda: empty(queue, (32,), (32,), x, 0), 'wait': wait,
            'allocate': lambda: cl.Buffer(context, flags.READ_WRITE, MIB).release(),
            'upload': lambda: cl.enqueue_copy(queue, x, data),
            'download': lambda: cl.enqueue_copy(queue, data, x)}, queue.finish, \
        cl.VERSION_TEXT, lambda: None


def time(work, finish, calls, batches):
    seconds = []
    for _ in range(batches + 1):
        begin = now()
        for _ in range(calls):
            work()
        seconds.append((now() - begin) / calls)
        finish()
    return statistics.median(seconds[1:])


def main():
    name, index, calls, batches, model = sys.argv[1:6]
    libraries = {'pycuda': pycuda, 'cupy': cupy, 'numba': numba, 'pyopencl': pyopencl}
    works, finish, version, end = libraries[name](int(index), model)
    found = {key: time(work, finish, int(calls), int(batches)) for key, work in works.items()}
    print(json.dumps(dict(found, version=version)))
    sys.stdout.flush()
    end()


try:
    main()
except ImportError as failure:
    print(failure, file=sys.stderr)
    sys.exit(3)
except Exception as failure:    # PyCUDA would end with words of its own on its context
    print('%s: %s' % (type(failure).__name__, ' '.join(str(failure).split())[:300]),
          file=sys.stderr)
    sys.stderr.flush()
    os._exit(1)
