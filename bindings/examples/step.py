"""step.py - a scenario stepped from Python, by ctypes alone: python3 step.py [LIBRARY]."""
import ctypes
import sys

mare = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libmare_engine.so.2")
mare.mare_error_message.restype = ctypes.c_char_p


class Progress(ctypes.Structure):
    """mare_scenario_progress"""
    _fields_ = [(name, ctypes.c_double)
                for name in ("t", "dt", "t_end", "fraction", "cells_per_second")]
    _fields_ += [("steps", ctypes.c_uint64), ("nx", ctypes.c_uint32), ("ny", ctypes.c_uint32)]


class Values(ctypes.Structure):
    """mare_scenario_values"""
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_uint32),
                ("nx", ctypes.c_uint32), ("ny", ctypes.c_uint32)]


def call(name, *arguments):
    """Calls a function of Mare; a status other than MARE_OK is raised."""
    if getattr(mare, name)(*arguments) != 0:
        raise RuntimeError(mare.mare_error_message().decode())


options = [b"--nx=64", b"--ny=32", b"--t-end=0.1"]
words = (ctypes.c_char_p * (len(options) + 1))(*options)
engine, scenario = ctypes.c_void_p(), ctypes.c_void_p()
call("mare_engine_create", None, ctypes.byref(engine))
call("mare_scenario_open", engine, b"kelvin_helmholtz", words, ctypes.byref(scenario))
now, rho = Progress(), Values()
for _ in range(3):
    call("mare_scenario_step", scenario, ctypes.c_uint64(4))
    call("mare_scenario_read", scenario, ctypes.byref(now))
call("mare_scenario_field", scenario, b"rho", ctypes.byref(rho))
density = (ctypes.c_float * (rho.nx * rho.ny)).from_address(rho.data)
print(f"step {now.steps}, t = {now.t:.4f}: mean density {sum(density) / len(density):.6f}")
call("mare_scenario_close", scenario)
call("mare_engine_destroy", engine)
