"""Does by NumPy what ordering_numpy_spec.lua asks, one JSON object a line: {"kind", "shape",
"values"}. A call is [name, arguments...]; an array is [type, shape, numbers]."""

import json
import re
import sys

import numpy as np

NAMES = {"half": "float16", "float": "float32", "double": "float64"}
BACK = {value: key for key, value in NAMES.items()}


def array(given):
    return np.array(given[2]).astype(NAMES.get(given[0], given[0])).reshape(given[1])


def changed(a, change):
    flat = a.copy().reshape(-1)
    change(flat)
    return flat.reshape(a.shape)


def compute(name, a, *rest):
    if name in ("cumsum", "cumprod"):
        return getattr(np, name)(a, axis=rest[0])
    if name in ("cummax", "cummin"):
        return getattr(np, "maximum" if name == "cummax" else "minimum").accumulate(a, rest[0])
    if name == "sort":
        return np.sort(a, axis=rest[0])
    if name == "argsort":
        return np.argsort(a, axis=rest[0], kind="stable")
    if name == "take":
        return np.take(a, rest[0], axis=rest[1])
    if name in ("take_wrap", "take_clip"):
        return np.take(a, rest[0], mode=name[5:])
    if name == "put":
        return changed(a, lambda flat: np.put(flat, rest[0], array(rest[1])))
    if name == "add":
        return changed(a, lambda flat: np.add.at(flat, rest[0], array(rest[1])))
    if name == "compress":
        return a[array(rest[0])]
    if name == "flatnonzero":
        return np.flatnonzero(a)
    if name == "unique":
        return np.unique(a)
    if name == "unique_counts":
        return np.unique(a, return_counts=True)[1]
    if name == "unique_inverse":
        return np.unique(a, return_inverse=True)[1].reshape(a.shape)
    if name == "searchsorted":
        return np.searchsorted(np.sort(a), array(rest[0]), "right" if rest[1] else "left")
    weights = array(rest[0]) if name == "weighted" else None
    return np.histogram(a, 4, (-2, 2), weights=weights)[0]


np.seterr(all="ignore")
for line in sys.stdin:
    call = json.loads(line)
    x = compute(call[0], array(call[1]), *call[2:])
    kind = re.sub(r"\d+$", "", BACK.get(x.dtype.name, x.dtype.name))
    values = [float(v) for v in x.reshape(-1).tolist()]
    print(json.dumps({"kind": kind, "shape": list(x.shape), "values": values}))
