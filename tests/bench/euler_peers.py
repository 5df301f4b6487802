"""euler_peers.py - the Euler step of euler_openmp.c as one writes it in Python: whole arrays with
NumPy, or strips of rows compiled by Numba, in parallel and with fast maths. One text of the
formulas serves both.

    python3 euler_peers.py numpy|numba [cells along each side] [steps] [file for the density]

Prints Mcells/s of the best of three runs first. The file gets the density after the first run, as
floats, x fastest. Exit status 3: the package is not there."""

import sys
import time

try:
    import numpy as np
except ImportError:
    sys.exit(3)

HALO, STRIP = 2, 32
F = np.float32
GAS, GAS_1, CFL, HALF, ONE = F(1.4), F(1.4 - 1), F(0.45), F(0.5), F(1)
FOUR, EIGHTH, ZERO = F(4), F(0.125), F(0)


def formulas(jit, pick):
    """Functions of float32 numbers or arrays: primitive, faces, flux. pick(condition, yes, no)."""

    @jit
    def primitive(rho, mn, mt, e):
        r = ONE / rho
        un, ut = mn * r, mt * r
        return rho, un, ut, GAS_1 * (e - HALF * (mn * un + mt * ut))

    @jit
    def half_slope(a, b):
        least = np.minimum(FOUR * np.minimum(np.abs(a), np.abs(b)), np.abs(a + b))
        return (np.copysign(EIGHTH, a) + np.copysign(EIGHTH, b)) * least

    @jit
    def faces(l, w, r, k):
        """At the low and at the high face of cell w, half a step later."""
        h_rho = half_slope(w[0] - l[0], r[0] - w[0])
        h_un = half_slope(w[1] - l[1], r[1] - w[1])
        h_ut = half_slope(w[2] - l[2], r[2] - w[2])
        h_p = half_slope(w[3] - l[3], r[3] - w[3])
        rho = w[0] - k * (w[1] * h_rho + w[0] * h_un)
        un = w[1] - k * (w[1] * h_un + h_p / w[0])
        ut = w[2] - k * (w[1] * h_ut)
        p = w[3] - k * (w[1] * h_p + GAS * w[3] * h_un)
        ok = (rho > np.abs(h_rho)) & (p > np.abs(h_p))
        low = (pick(ok, rho - h_rho, w[0]), pick(ok, un - h_un, w[1]),
               pick(ok, ut - h_ut, w[2]), pick(ok, p - h_p, w[3]))
        high = (pick(ok, rho + h_rho, w[0]), pick(ok, un + h_un, w[1]),
                pick(ok, ut + h_ut, w[2]), pick(ok, p + h_p, w[3]))
        return low, high

    @jit
    def flux(l, r):
        """HLLC: of mass, momenta normal and transverse, and energy."""
        cl, cr = np.sqrt(GAS * l[3] / l[0]), np.sqrt(GAS * r[3] / r[0])
        sl, sr = np.minimum(l[1] - cl, r[1] - cr), np.maximum(l[1] + cl, r[1] + cr)
        al, ar = l[0] * (sl - l[1]), r[0] * (sr - r[1])
        contact = (r[3] - l[3] + al * l[1] - ar * r[1]) / (al - ar)
        left = contact >= ZERO
        rho, un = pick(left, l[0], r[0]), pick(left, l[1], r[1])
        ut, p = pick(left, l[2], r[2]), pick(left, l[3], r[3])
        s, a = pick(left, sl, sr), pick(left, al, ar)
        contact = pick(pick(left, sl, -sr) >= ZERO, un, contact)
        inverse = ONE / (s - contact)
        star = p + a * (contact - un)
        e = p / GAS_1 + HALF * rho * (un * un + ut * ut)
        e_star = inverse * (e * (s - un) + star * contact - p * un)
        mass = a * inverse * contact
        return mass, mass * contact + star, mass * ut, contact * (e_star + star)

    return primitive, faces, flux


def with_numpy():
    primitive, faces, flux = formulas(lambda f: f, np.where)

    def sweep(out, q, k, dj, di):
        order = [0, 1, 2, 3] if di else [0, 2, 1, 3]
        n = q.shape[1] - 2 * HALO

        def shifted(a, first, more):
            """n cells, and so many more, from one on, both counted along the axis."""
            return [f[first * dj:first * dj + n + more * dj, first * di:first * di + n + more * di]
                    for f in a]

        lines = q[order, HALO * di:n + 2 * HALO - HALO * di, HALO * dj:n + 2 * HALO - HALO * dj]
        w = primitive(*lines)
        low, high = faces(shifted(w, 0, 2), shifted(w, 1, 2), shifted(w, 2, 2), k)
        f = flux(shifted(high, 0, 1), shifted(low, 1, 1))
        inner = slice(HALO, n + HALO)
        for a, low, high in zip(order, shifted(f, 0, 0), shifted(f, 1, 0)):
            out[a, inner, inner] = q[a, inner, inner] + k * (low - high)

    def largest_rate(q):
        rho, u, v, p = primitive(*q[:, HALO:-HALO, HALO:-HALO])
        return np.max(np.maximum(np.abs(u), np.abs(v)) + np.sqrt(GAS * p / rho))

    return sweep, largest_rate


def with_numba():
    try:
        import numba
    except ImportError:
        sys.exit(3)
    jit = numba.njit(fastmath=True, error_model="numpy")
    parallel = numba.njit(fastmath=True, error_model="numpy", parallel=True)
    primitive, faces, flux = formulas(jit, jit(lambda condition, yes, no: yes if condition else no))

    @numba.njit
    def take(a, j, i):
        return a[0, j, i], a[1, j, i], a[2, j, i], a[3, j, i]

    @parallel
    def sweep(out, q, k, dj, di):
        n = q.shape[1] - 2 * HALO
        mn, mt = (1, 2) if di else (2, 1)
        for strip in numba.prange((n + STRIP - 1) // STRIP):
            first = strip * STRIP
            rows = min(STRIP, n - first)
            w = np.empty((4, rows + 4 * dj, n + 4 * di), F)
            low = np.empty((4, rows + 2 * dj, n + 2 * di), F)
            high = np.empty((4, rows + 2 * dj, n + 2 * di), F)
            f = np.empty((4, rows + dj, n + di), F)
            for j in range(w.shape[1]):
                for i in range(w.shape[2]):
                    y, x = first + j + HALO - HALO * dj, i + HALO - HALO * di
                    w[0, j, i], w[1, j, i], w[2, j, i], w[3, j, i] = primitive(
                        q[0, y, x], q[mn, y, x], q[mt, y, x], q[3, y, x])
            for j in range(low.shape[1]):
                for i in range(low.shape[2]):
                    a, b = faces(take(w, j, i), take(w, j + dj, i + di),
                                 take(w, j + 2 * dj, i + 2 * di), k)
                    low[0, j, i], low[1, j, i], low[2, j, i], low[3, j, i] = a
                    high[0, j, i], high[1, j, i], high[2, j, i], high[3, j, i] = b
            for j in range(f.shape[1]):
                for i in range(f.shape[2]):
                    f[0, j, i], f[1, j, i], f[2, j, i], f[3, j, i] = flux(
                        take(high, j, i), take(low, j + dj, i + di))
            for j in range(rows):
                for i in range(n):
                    y, x = first + j + HALO, i + HALO
                    out[0, y, x] = q[0, y, x] + k * (f[0, j, i] - f[0, j + dj, i + di])
                    out[mn, y, x] = q[mn, y, x] + k * (f[1, j, i] - f[1, j + dj, i + di])
                    out[mt, y, x] = q[mt, y, x] + k * (f[2, j, i] - f[2, j + dj, i + di])
                    out[3, y, x] = q[3, y, x] + k * (f[3, j, i] - f[3, j + dj, i + di])

    @parallel
    def largest_rate(q):
        n = q.shape[1] - 2 * HALO
        rates = np.empty(n, F)
        for j in numba.prange(n):
            most = ZERO
            for i in range(n):
                rho, u, v, p = primitive(q[0, j + HALO, i + HALO], q[1, j + HALO, i + HALO],
                                         q[2, j + HALO, i + HALO], q[3, j + HALO, i + HALO])
                most = max(most, max(abs(u), abs(v)) + np.sqrt(GAS * p / rho))
            rates[j] = most
        return rates.max()

    return sweep, largest_rate


def wrap(q):
    """Periodic ghost cells."""
    q[:, :, :HALO], q[:, :, -HALO:] = q[:, :, -2 * HALO:-HALO], q[:, :, HALO:2 * HALO]
    q[:, :HALO], q[:, -HALO:] = q[:, -2 * HALO:-HALO], q[:, HALO:2 * HALO]


def shear_layer(n):
    """A smooth Kelvin-Helmholtz start."""
    x = y = (np.arange(n) + 0.5) / n
    s = 0.5 * (np.tanh((y - 0.25) / 0.025) - np.tanh((y - 0.75) / 0.025))[:, None]
    rho, u, v = 1 + s + 0 * x, 0.5 - s, 0.01 * np.sin(4 * np.pi * x)
    q = np.zeros((4, n + 2 * HALO, n + 2 * HALO), F)
    q[:, HALO:-HALO, HALO:-HALO] = (rho, rho * u, rho * v,
                                    2.5 / 0.4 + 0.5 * rho * (u * u + v * v))
    wrap(q)
    return q


def main(kind, n=1024, steps=10, path=None):
    sweep, largest_rate = {"numpy": with_numpy, "numba": with_numba}[kind]()

    def advance(a, b, step):
        k = CFL / largest_rate(a)
        for source, target, along_x in ((a, b, step % 2 == 0), (b, a, step % 2 == 1)):
            sweep(target, source, k, 0 if along_x else 1, 1 if along_x else 0)
            wrap(target)

    small = shear_layer(64)
    advance(small, small.copy(), 0)     # compiles
    a = shear_layer(int(n))
    b = a.copy()
    seconds = []
    for run in range(3):
        start = time.perf_counter()
        for step in range(int(steps)):
            advance(a, b, step)
        seconds.append(time.perf_counter() - start)
        if path and run == 0:
            a[0, HALO:-HALO, HALO:-HALO].tofile(path)
    print("%.1f Mcells/s, %s" % (int(n) ** 2 * int(steps) / min(seconds) / 1e6, kind))


main(*sys.argv[1:])
