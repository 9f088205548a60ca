# SPDX-License-Identifier: BSD-3-Clause
"""Ringside keeps every step of a solver in a persistent ring. This package publishes steps and reads them.

    import ringside

    with ringside.publish({"x": ("f64", (1000,))}, solver="my_solver", pool="my.pool") as run:
        for k in range(run.next_iteration, 101):
            with run.step(k) as step:
                step["x"][:] = iterate(k)        # a NumPy array in shared memory

    pool = ringside.open("my.pool")
    with pool[17] as step:
        print(step["x"].max())                   # verified, read-only, not copied

The analyzer that keeps the steps is started with the run. docs/publish/python.md has more.

Several threads may use one object; calls that wait or hash release the interpreter's lock. In a child of fork(), a pool
opens its file again. A held step and a published run belong to the parent; in the child, their calls raise UsageError.
"""

from ._core import catch_bus_errors
from ._core import version as _version
from .analyses import reduction
from .errors import (DamagedError, Error, Interrupted, NoFileError, NotKeptError, OverwrittenError, PeerLostError,
                     RefusedError, ResourceError, UnknownNameError, UsageError)
from .held_step import Following, HeldStep
from .prefix import get_cmake_dir, get_fortran_source, get_include, get_lib, get_pkgconfig_dir, get_prefix
from .reading import Pool
from .records import Record, RunInfo, StepInfo
from .rings import GlobalStep, NodeRing, Rings, open_rings
from .rings import open as open  # not in __all__, so that `from ringside import *` keeps Python's own
from .variables import DTypeLike, Variable, VariableLike
from .writing import ClaimedStep, Counts, KeptStep, Reply, Writer, publish

__version__ = _version()

__all__ = [
    "ClaimedStep", "Counts", "DTypeLike", "DamagedError", "Error", "Following", "GlobalStep", "HeldStep", "Interrupted", "KeptStep",
    "NoFileError", "NodeRing", "NotKeptError", "OverwrittenError", "PeerLostError", "Pool", "Record", "RefusedError", "Reply",
    "ResourceError", "Rings", "RunInfo", "StepInfo", "UnknownNameError", "UsageError", "Variable", "VariableLike", "Writer",
    "catch_bus_errors", "get_cmake_dir", "get_fortran_source", "get_include", "get_lib", "get_pkgconfig_dir", "get_prefix",
    "open_rings", "publish", "reduction",
]
