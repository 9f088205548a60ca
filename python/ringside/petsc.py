# SPDX-License-Identifier: BSD-3-Clause
"""PETSc's solvers as runs whose iterates are kept, with petsc4py: a monitor publishes each iterate.

    with ringside.publish(**ringside.petsc.described(x, solver="ksp")) as run:
        ksp.setMonitor(ringside.petsc.monitor(run))
        ringside.petsc.restore(run, x)             # x begins with the kept iterate, if there is one
        ksp.setInitialGuessNonzero(run.kept is not None)
        ksp.solve(b, x)

The method's own state is not kept: a resumed Krylov method restarts from the kept iterate. Its iterates then differ from
those of an undisturbed run, and it may need more iterations. A TS (`described(u, times=True)`) continues from the
kept time (`run.kept.scalars["time"]`). One process publishes; a vector on several processes is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import UsageError
from .writing import Writer

__all__ = ["described", "monitor", "restore"]


def described(x: Any, name: str = "x", *, times: bool = False, **options: Any) -> dict[str, Any]:
    """Arguments of ringside.publish for a run whose iterates are like the Vec x: one field, and one scalar.

    The scalar is `residual`, the norm that a KSP or SNES monitors; with times=True, for a TS, it is `time`.
    """
    return {"variables": {name: _array(x)}, "scalars": ["time" if times else "residual"], **options}


def monitor(run: Writer) -> Callable[..., None]:
    """A function for setMonitor of a KSP, SNES or TS. It publishes each iterate except the initial guess, PETSc's iteration 0."""
    name = next(iter(run.variables))
    first = run.next_iteration - 1
    built: Any = None  # kept, because otherwise PETSc would make a new Vec at each call

    def publish_iterate(solver: Any, iteration: int, value: float, solution: Any = None) -> None:
        nonlocal built
        if iteration < 1:
            return
        scalar = "residual" if solution is None else "time"
        if scalar not in run.scalars:
            raise UsageError(f"a {type(solver).__name__} monitors a {scalar}, and the run has the scalars "
                             f"{', '.join(run.scalars) or 'none'}; expected described(x) for a KSP or SNES, "
                             "described(u, times=True) for a TS")
        if solution is None and hasattr(solver, "buildSolution"):
            solution = built = solver.buildSolution(built)
        elif solution is None:
            solution = solver.getSolution()
        number = first + iteration
        if number < run.next_iteration:  # a second solve with this monitor: continue the count
            number = run.next_iteration
        run.publish(number, {name: _array(solution)}, {scalar: value})

    return publish_iterate


def restore(run: Writer, x: Any) -> None:
    """Writes the kept iterate into the Vec x, if the run continues from one."""
    if run.kept is not None:
        x.setArray(run.kept[next(iter(run.variables))])


def _array(x: Any) -> Any:
    if x.getLocalSize() != x.getSize():
        raise UsageError(f"a vector with {x.getLocalSize()} of {x.getSize()} entries in this process; expected all "
                         "entries, because one process publishes (PETSc.COMM_SELF)")
    return np.asarray(x.getArray(readonly=True))
