# fft.py - the errors of transforms that fft.lua has written: relative, L2, beside NumPy in double,
# in units of the rounding of float times the root of log2 n. A line for each: kind, length, error,
# error allowed.
import sys

import numpy as np


def error(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


with open(sys.argv[1], "rb") as data:
    for line in open(sys.argv[2]):
        count, n, kind, allowed = line.split()
        count, n = int(count), int(n)
        x = np.fromfile(data, np.complex64, count * n).reshape(count, n)
        y = np.fromfile(data, np.complex64, count * n).reshape(count, n)
        unit = 2.0**-24 * max(1.0, np.log2(n)) ** 0.5
        found = error(y, np.fft.fft(x.astype(complex))) / unit
        print(f"{kind} {n} {found:.4f} {allowed}")
