"""table1_peers.py - table 1 by libraries of Python: the zoom of table1.lua, with its kernel.

    python3 table1_peers.py pycuda|cupy|numba|pyopencl JOB.json

JOB has source (the kernel's whole text), options of the compiler, index of the device, size, limit,
views (left, top, step of each frame), centre, rounds, and last, a file for the last frame. Prints
JSON: version, lines of host code, and of each round compile, wall, and launch, download, kernel,
copy of each frame, in seconds. Exit status 3: the library is not there."""

import inspect
import json
import os
import sys
from time import perf_counter as now

try:
    import numpy as np
except ImportError as failure:
    print(failure, file=sys.stderr)
    sys.exit(3)

GROUP = (8, 16)


def grid_of(size):
    return tuple(-(-size // g) for g in GROUP)


def pycuda(job):
    import pycuda.driver as cuda
    from pycuda.compiler import SourceModule
    cuda.init()
    context = cuda.Device(job['index']).make_context()
    version = '.'.join(map(str, __import__('pycuda').VERSION))

    def zoom(text, out):
        size, grid = job['size'], grid_of(job['size'])
        begin = now()
        options = ['-std=c++17'] + job['options']
        module = SourceModule(text, no_extern_c=True, options=options, cache_dir=False)
        escape = module.get_function('escape')
        out['compile'] = now() - begin
        compute, copy, slots = cuda.Stream(), cuda.Stream(), []
        for _ in range(2):
            pinned = cuda.pagelocked_empty((size, size), np.uint32)
            slots.append((cuda.mem_alloc(pinned.nbytes), pinned, [cuda.Event() for _ in range(4)]))
        f, low, limit = np.float32, np.float32(0), np.int32(job['limit'])
        begin = now()
        for k in range(len(job['views']) + 2):
            times, pinned, (began, ready, copying, done) = slots[k % 2]
            if k > 1:
                done.synchronize()
                out['kernel'].append(began.time_till(ready) / 1e3)
                out['copy'].append(copying.time_till(done) / 1e3)
            if k < len(job['views']):
                left, top, step = map(f, job['views'][k])
                began.record(compute)
                start = now()
                escape(np.int32(size), np.int32(size), f(job['centre'][0]), low,
                       f(job['centre'][1]), low, left, top, step, limit, times,
                       block=GROUP + (1,), grid=grid, stream=compute)
                out['launch'].append(now() - start)
                ready.record(compute)
                copy.wait_for_event(ready)
                copying.record(copy)
                start = now()
                cuda.memcpy_dtoh_async(pinned, times, copy)
                out['download'].append(now() - start)
                done.record(copy)
        out['wall'] = now() - begin
        return pinned
    return zoom, version, context.pop


def cupy(job):
    import cupy as cp
    cp.cuda.Device(job['index']).use()

    def zoom(text, out):
        size, grid = job['size'], grid_of(job['size'])
        begin = now()
        module = cp.RawModule(code=text, options=('--std=c++17', *job['options']))
        escape = module.get_function('escape')
        out['compile'] = now() - begin
        compute, copy = (cp.cuda.Stream(non_blocking=True) for _ in range(2))
        slots = []
        for _ in range(2):
            memory = cp.cuda.alloc_pinned_memory(4 * size * size)
            pinned = np.frombuffer(memory, np.uint32, size * size).reshape(size, size)
            events = [cp.cuda.Event() for _ in range(4)]
            slots.append((cp.empty((size, size), np.uint32), pinned, events))
        f, low, limit = np.float32, np.float32(0), np.int32(job['limit'])
        begin = now()
        for k in range(len(job['views']) + 2):
            times, pinned, (began, ready, copying, done) = slots[k % 2]
            if k > 1:
                done.synchronize()
                out['kernel'].append(cp.cuda.get_elapsed_time(began, ready) / 1e3)
                out['copy'].append(cp.cuda.get_elapsed_time(copying, done) / 1e3)
            if k < len(job['views']):
                left, top, step = map(f, job['views'][k])
                began.record(compute)
                with compute:
                    start = now()
                    escape(grid, GROUP, (np.int32(size), np.int32(size), f(job['centre'][0]), low,
                                         f(job['centre'][1]), low, left, top, step, limit, times))
                    out['launch'].append(now() - start)
                ready.record(compute)
                copy.wait_event(ready)
                copying.record(copy)
                start = now()
                times.data.copy_to_host_async(pinned.ctypes.data, times.nbytes, copy)
                out['download'].append(now() - start)
                done.record(copy)
        out['wall'] = now() - begin
        return pinned
    return zoom, cp.__version__, lambda: None


def numba(job):
    if not hasattr(np, 'row_stack'):    # NumPy 2.5 has no more what older Numba wants
        np.row_stack = np.vstack
    from numba import cuda, float32, int32, uint32
    from numba.types import void
    cuda.select_device(job['index'])

    def escape(size, limit, cx, cy, left, top, step, times):
        """As it is written in Numba, without the blocks of iterations that the other kernel has."""
        i, j = cuda.grid(2)
        if i >= size or j >= size:
            return
        a, b = cx + (float32(i) * step + left), cy + (float32(-j) * step + top)
        x, y, n = float32(0), float32(0), int32(0)
        while n < limit and x * x + y * y <= float32(4):
            x, y = x * x - y * y + a, float32(2) * x * y + b
            n += int32(1)
        times[j, i] = n

    def zoom(_, out):
        size, grid = job['size'], grid_of(job['size'])
        f, compute, copy = np.float32, cuda.stream(), cuda.stream()
        begin = now()
        signature = void(int32, int32, float32, float32, float32, float32, float32, uint32[:, ::1])
        kernel = cuda.jit(signature)(escape)
        out['compile'] = now() - begin
        slots = []
        for _ in range(2):
            times = cuda.device_array((size, size), np.uint32)
            pinned = cuda.pinned_array((size, size), np.uint32)
            slots.append((times, pinned, [cuda.event() for _ in range(4)]))
        begin = now()
        for k in range(len(job['views']) + 2):
            times, pinned, (began, ready, copying, done) = slots[k % 2]
            if k > 1:
                done.synchronize()
                out['kernel'].append(began.elapsed_time(ready) / 1e3)
                out['copy'].append(copying.elapsed_time(done) / 1e3)
            if k < len(job['views']):
                left, top, step = map(f, job['views'][k])
                began.record(compute)
                start = now()
                kernel[grid, GROUP, compute](size, job['limit'], f(job['centre'][0]),
                                             f(job['centre'][1]), left, top, step, times)
                out['launch'].append(now() - start)
                ready.record(compute)
                ready.wait(copy)
                copying.record(copy)
                start = now()
                times.copy_to_host(pinned, copy)
                out['download'].append(now() - start)
                done.record(copy)
        out['wall'] = now() - begin
        return pinned
    return zoom, __import__('numba').__version__, lambda: None


def pyopencl(job):
    import pyopencl as cl
    devices = [d for p in cl.get_platforms() for d in p.get_devices()]
    device = next(d for d in devices if d.name.strip() == job['model'].strip())
    context, flags = cl.Context([device]), cl.mem_flags
    timed = cl.command_queue_properties.PROFILING_ENABLE

    def seconds(first, last):
        return (last.profile.end - first.profile.start) / 1e9

    def zoom(text, out):
        size, queues = job['size'], [cl.CommandQueue(context, properties=timed) for _ in range(2)]
        compute, copy = queues
        begin = now()
        escape = cl.Program(context, text).build(job['options'], cache_dir=False).escape
        escape.set_scalar_arg_dtypes([np.int32] * 2 + [np.float32] * 7 + [np.int32, None])
        out['compile'] = now() - begin
        slots = []
        for _ in range(2):
            pinned = cl.Buffer(context, flags.ALLOC_HOST_PTR, 4 * size * size)
            host, _ = cl.enqueue_map_buffer(copy, pinned, cl.map_flags.READ, 0, (size, size),
                                            np.uint32)
            slots.append([cl.Buffer(context, flags.READ_WRITE, 4 * size * size), host, None, None])
        shape = tuple(n * g for n, g in zip(grid_of(size), GROUP))
        begin = now()
        for k in range(len(job['views']) + 2):
            slot = slots[k % 2]
            times, host, computed, copied = slot
            if k > 1:
                copied.wait()
                out['kernel'].append(seconds(computed, computed))
                out['copy'].append(seconds(copied, copied))
            if k < len(job['views']):
                left, top, step = job['views'][k]
                start = now()
                slot[2] = escape(compute, shape, GROUP, size, size, job['centre'][0], 0,
                                 job['centre'][1], 0, left, top, step, job['limit'], times)
                out['launch'].append(now() - start)
                compute.flush()
                start = now()
                slot[3] = cl.enqueue_copy(copy, host, times, is_blocking=False,
                                          wait_for=[slot[2]])
                out['download'].append(now() - start)
                copy.flush()
        out['wall'] = now() - begin
        return host
    return zoom, cl.VERSION_TEXT, lambda: None


def lines_of(function):
    """That are neither empty nor comments."""
    text = [line.strip() for line in inspect.getsource(function).splitlines()]
    return sum(1 for line in text if line and not line.startswith(('#', '"""')))


def main():
    name, job = sys.argv[1], json.load(open(sys.argv[2]))
    function = {'pycuda': pycuda, 'cupy': cupy, 'numba': numba, 'pyopencl': pyopencl}[name]
    try:
        zoom, version, finish = function(job)
    except ImportError as failure:
        print(failure, file=sys.stderr)
        sys.exit(3)
    rounds = []
    for k in range(job['rounds']):
        out = {'launch': [], 'download': [], 'kernel': [], 'copy': []}
        # new to every cache
        last = zoom('%s\n/* python %d */\n' % (job['source'], job['serial'] + k), out)
        rounds.append(out)
    np.asarray(last).tofile(job['last'])
    print(json.dumps({'version': version, 'lines': lines_of(function), 'rounds': rounds}))
    sys.stdout.flush()
    finish()


try:
    main()
except Exception as failure:    # PyCUDA would end with words of its own on its context
    text = ' '.join(str(failure).split())
    print('%s: %s' % (type(failure).__name__, text[:300]), file=sys.stderr)
    sys.stderr.flush()
    os._exit(1)
