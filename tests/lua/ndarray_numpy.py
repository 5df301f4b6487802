"""Computes expressions by NumPy, one JSON object a line: {"type", "shape", "values"}.

An expression is ["array", type, shape, numbers], ["number", value] or [operation, operand, ...];
["program", step, ...] is one of views and writes.
The types follow Mare's rule, written here once more: the kind decides, then the width."""

import json
import sys

import numpy as np

KINDS = [["bool"], ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"],
         ["float16", "float32", "float64"], ["complex64", "complex128"]]
NAMES = {"half": "float16", "float": "float32", "double": "float64",
         "complex_float": "complex64", "complex_double": "complex128"}
BACK = {value: key for key, value in NAMES.items()}
BOTH = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "mod": np.mod,
        "minimum": np.minimum, "maximum": np.maximum}
REAL_2 = {"div": np.divide, "hypot": np.hypot, "atan2": np.arctan2}
REAL_1 = {"sqrt": np.sqrt, "sin": np.sin, "tanh": np.tanh, "exp": np.exp, "atan": np.arctan}
KEEP = {"floor": np.floor, "ceil": np.ceil, "rint": np.rint, "abs": np.abs, "neg": np.negative}
COMPARE = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
           "eq": np.equal, "ne": np.not_equal}


def kind(name):
    return next(k for k, names in enumerate(KINDS) if name in names)


def common(a, b):
    if a == b:
        return a
    if kind(a) == kind(b) == 1:
        return np.promote_types(a, b).name
    high, low = (a, b) if kind(a) >= kind(b) else (b, a)
    if kind(a) == kind(b):
        return np.promote_types(a, b).name
    if kind(high) == 3 and low == "float64":
        return "complex128"
    return high


def with_number(name, value):
    if kind(name) >= 2:
        return name
    if value % 1 != 0:
        return "float32"
    return "int32" if name == "bool" else name


def real(name):
    return name if kind(name) >= 2 else "float32"


def types_of(operands):
    """The operands' type; numbers take it."""
    names = [x.dtype.name for x in operands if isinstance(x, np.ndarray)]
    name = names[0]
    for other in names[1:]:
        name = common(name, other)
    for x in operands:
        if not isinstance(x, np.ndarray):
            name = with_number(name, x)
    return name


def converted(operands, name):
    return [np.asarray(x).astype(name) for x in operands]


def compute(e):
    op = e[0]
    if op == "array":
        return np.array(e[3]).astype(NAMES.get(e[1], e[1])).reshape(e[2])
    if op == "number":
        return e[1]
    if op in ("transpose", "flip", "slice"):
        x = compute(e[1])
        return x.T if op == "transpose" else x[..., ::-1] if op == "flip" else x[..., ::2]
    if op == "to":
        return compute(e[2]).astype(NAMES.get(e[1], e[1]))
    x = [compute(operand) for operand in e[1:]]
    if op == "where":
        name = types_of(x[1:])
        return np.where(x[0], *converted(x[1:], name))
    name = types_of(x)
    if op in COMPARE:
        return COMPARE[op](*converted(x, name))
    if op in REAL_1 or op in REAL_2:
        return {**REAL_1, **REAL_2}[op](*converted(x, real(name)))
    name = "int32" if name == "bool" else name
    x = converted(x, name)
    if op in KEEP:
        return x[0] if kind(name) == 1 and op in ("floor", "ceil", "rint") else KEEP[op](x[0])
    return BOTH[op](*x)


def program(steps):
    """Views of arrays and what is written into them; returns all elements of all."""
    made = []
    for name, at, *rest in steps:
        a = made[at] if name != "numbers" else None
        if name == "numbers":
            made.append(np.arange(24, dtype="int32").reshape(at) * rest[0])
        elif name == "slice":
            made.append(a[tuple(slice(*s) for s in rest)])
        elif name == "row":
            made.append(a[rest[0]])
        elif name == "turn":
            made.append(a.T)
        elif name == "flip":
            made.append(np.flip(a, rest[0]))
        elif name == "scaled":
            made.append(a * rest[0] + 2)
        elif name == "fill":
            a[...] = rest[0]
        elif name == "assign":
            a[...] = made[rest[0]] * rest[1]
        elif name == "put":
            a.flat[rest[0] % a.size] = rest[1]
    return np.concatenate([a.reshape(-1) for a in made])


def text(value):
    if isinstance(value, complex):
        return [repr(value.real), repr(value.imag)]
    return repr(value)


np.seterr(all="ignore")
for line in sys.stdin:
    asked = json.loads(line)
    x = program(asked[1:]) if asked[0] == "program" else compute(asked)
    name = x.dtype.name
    print(json.dumps({"type": BACK.get(name, name), "shape": list(x.shape),
                      "values": [text(v) for v in x.reshape(-1).tolist()]}))
