# SPDX-License-Identifier: BSD-3-Clause
"""PETSc's solvers as kept runs, through petsc4py: a monitor that publishes each iterate.

    with ringside.publish(**ringside.petsc.described(x, solver="ksp")) as run:
        ksp.setMonitor(ringside.petsc.monitor(run))
        ringside.petsc.restore(run, x)             # x begins with the kept iterate, if there is one
        ksp.setInitialGuessNonzero(run.kept is not None)
        ksp.solve(b, x)

The method's own state is not kept: a resumed Krylov method begins anew from the kept iterate. A TS continues from the
kept time (`run.kept.scalars["time"]`). One process publishes; a vector on several processes is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import UsageError
from .writing import Writer

__all__ = ["described", "monitor", "restore"]


def described(x: Any, name: str = "x", **options: Any) -> dict[str, Any]:
    """Arguments of ringside.publish for a run whose iterates are like the Vec x: one field, and two scalars.

    The scalars are `residual` (of a KSP or SNES: the norm that PETSc monitors; of a TS: 0) and `time` (of a TS).
    """
    return {"variables": {name: _array(x)}, "scalars": ["residual", "time"], **options}


def monitor(run: Writer) -> Callable[..., None]:
    """For setMonitor of a KSP, SNES or TS. The initial guess, PETSc's iteration 0, is not published."""
    name = next(iter(run.variables))
    first = run.next_iteration - 1

    def publish_iterate(solver: Any, iteration: int, value: float, solution: Any = None) -> None:
        if iteration < 1:
            return
        of_time = solution is not None
        if not of_time:
            solution = solver.buildSolution() if hasattr(solver, "buildSolution") else solver.getSolution()
        number = first + iteration
        if number < run.next_iteration:  # a second solve with this monitor counts on
            number = run.next_iteration
        run.publish(number, {name: _array(solution)},
                    {"residual": 0.0 if of_time else value, "time": value if of_time else 0.0})

    return publish_iterate


def restore(run: Writer, x: Any) -> None:
    """Writes the kept iterate into the Vec x, if the run goes on from one."""
    if run.kept is not None:
        x.setArray(run.kept[next(iter(run.variables))])


def _array(x: Any) -> Any:
    if x.getLocalSize() != x.getSize():
        raise UsageError(f"a vector with {x.getLocalSize()} of {x.getSize()} entries in this process; expected all: "
                         "one process publishes (PETSc.COMM_SELF)")
    return np.asarray(x.getArray(readonly=True))
