# SPDX-License-Identifier: BSD-3-Clause
"""Ringside keeps every step of a solver in a persistent ring. This package publishes steps and reads them.

    import ringside

    with ringside.publish(variables={"x": ("f64", (1000,))}, solver="my_solver") as run:
        for k in range(run.next_iteration, 101):
            with run.step(k) as step:
                step["x"][:] = iterate(k)        # a NumPy array in shared memory

    pool = ringside.open("my.pool")
    with pool[17] as step:
        print(step["x"].max())                   # verified, read-only, not copied

Start a program that publishes with `ringside run --pool my.pool -- python3 program.py`. docs/python.md has more.

Several threads may use one object; calls that wait or hash release the interpreter's lock. An object belongs to the
process that made it: in a child of fork(), its calls raise UsageError.
"""

from ._core import catch_bus_errors
from ._core import version as _version
from .analyses import reduction
from .errors import (DamagedError, Error, Interrupted, NoFileError, NotKeptError, OverwrittenError, PeerLostError,
                     RefusedError, ResourceError, UsageError)
from .prefix import get_cmake_dir, get_fortran_source, get_include, get_lib, get_pkgconfig_dir, get_prefix
from .reading import HeldStep, Pool, Record, RunInfo, StepInfo
from .rings import GlobalStep, NodeRing, Rings, open
from .variables import Variable
from .writing import ClaimedStep, Counts, KeptStep, Reply, Writer, publish

__version__ = _version()

__all__ = [
    "ClaimedStep", "Counts", "DamagedError", "Error", "GlobalStep", "HeldStep", "Interrupted", "KeptStep", "NoFileError", "NodeRing",
    "NotKeptError", "OverwrittenError", "PeerLostError", "Pool", "Record", "RefusedError", "Reply", "ResourceError", "Rings", "RunInfo",
    "StepInfo", "UsageError", "Variable", "Writer", "catch_bus_errors", "get_cmake_dir", "get_fortran_source", "get_include", "get_lib",
    "get_pkgconfig_dir", "get_prefix", "open", "publish", "reduction",
]
