# SPDX-License-Identifier: BSD-3-Clause
"""Publishing a run: `publish` attaches, a `Writer` gives out steps, and leaving its block detaches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import Error, UsageError
from .variables import DTYPES, ROLES, Variable, scalar_types, variable_of

__all__ = ["ClaimedStep", "Counts", "KeptStep", "Writer", "publish"]

_POOL_USES = {None: 0, "fresh": 1, "overwrite": 2, "resume": 3}
_LOSSES = {None: 0, "wait": 1, "continue": 2, "stop": 3}
_COORDINATIONS = {None: 0, "locks": 1, "messages": 2}
_OUTCOMES = {"finished": 1, "stopped": 2, "diverged": 3, "failed": 4}


def publish(variables: Mapping[str, Any], *, scalars: Mapping[str, str] | Sequence[str] = (), solver: str | None = None,
            problem: str | None = None, parameters: str | None = None, problem_bytes: Any = b"", work: int = 0,
            socket: str | None = None, buffers: int = 0, peer_timeout: float = 0, pool_use: str | None = None,
            on_analyzer_loss: str | None = None, coordination: str | None = None) -> Writer:
    """Attaches to the analyzer and waits until it accepts. The Writer is a context manager.

    variables: by name, a Variable, a pair of dtype and shape ("f64", (1000,)), or an array whose dtype and shape count.
    scalars: names of the numbers that each step has besides, or names with "f64" or "i64".
    solver, problem, parameters: at most 23, 399 and 511 bytes of text. Runs are of one problem if solver, problem,
        parameters, problem_bytes and variables are equal; only such a run is resumed.
    problem_bytes: what else the iterates depend on, for instance a matrix: bytes or an array, of which a hash is kept.
    work: nonzeros, cells or whatever an iteration's work is proportional to.

    The others are set by `ringside run -- PROGRAM` in the environment, unless they are given:
    socket: the analyzer's. buffers: 2 to 64. peer_timeout: seconds. pool_use: "fresh", "overwrite", "resume".
    on_analyzer_loss: "wait", "continue", "stop". coordination: "locks", "messages".

    Raises UsageError for an argument, RefusedError if the analyzer refuses, PeerLostError if there is none.
    """
    described = {name: variable_of(name, given) for name, given in variables.items()}
    return Writer(described, scalar_types(scalars), {
        "solver": solver, "problem": problem, "parameters": parameters, "problem_bytes": _bytes_of(problem_bytes),
        "work": work, "socket": socket, "buffers": buffers, "peer_timeout_s": float(peer_timeout),
        "pool_use": _number_of("pool_use", pool_use, _POOL_USES),
        "on_analyzer_loss": _number_of("on_analyzer_loss", on_analyzer_loss, _LOSSES),
        "coordination": _number_of("coordination", coordination, _COORDINATIONS)})


class Counts(NamedTuple):
    """What a Writer has done: steps published, steps skipped, seconds that claims waited."""

    published: int
    skipped: int
    idle_s: float


class KeptStep(Mapping[str, "npt.NDArray[Any]"]):
    """The step that a resumed run goes on from: a copy of each variable, by name, and its scalars.

    A variable is copied when it is asked for the first time, which can be done until the first publish.
    """

    def __init__(self, core: _core.Writer, iteration: int, variables: Sequence[str], scalars: Sequence[str]) -> None:
        self._core = core
        self._variables = {name: index for index, name in enumerate(variables)}
        self._copies: dict[str, npt.NDArray[Any]] = {}
        self.iteration = iteration
        """The step's iteration."""
        values = {name: core.kept_scalar(index) for index, name in enumerate(scalars)}
        self.scalars = {name: value for name, value in values.items() if value is not None}
        """Its scalars; a scalar that the run before did not declare is missing."""

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self._copies:
            self._copies[name] = self._core.kept_variable(self._variables[name])
        return self._copies[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        return f"<ringside.KeptStep of iteration {self.iteration}: {', '.join(self._variables)}>"


class ClaimedStep:
    """A step that is being written: step["x"] is a NumPy array in shared memory, step.scalars["rho"] a number.

    A context manager. Entering claims the buffer and waits while the analyzer copies from it. Leaving publishes the
    step; leaving by an exception does not. The arrays are read-only from then on: the analyzer reads them.
    """

    __slots__ = ("_arrays", "_open", "_run", "iteration", "scalars", "skipped")

    def __init__(self, run: Writer, iteration: int) -> None:
        self._run = run
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        self._open = False
        self.iteration = iteration
        """The number of the step."""
        self.scalars: dict[str, float] = {}
        """Its scalars, by name: all that were declared, when the block is left."""
        self.skipped = False
        """True if there is no analyzer and on_analyzer_loss is "continue": the arrays are then not published."""

    def __enter__(self) -> ClaimedStep:
        self.skipped = not self._run._core.claim(self.iteration)
        self._open = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self._open = False
        if kind is not None or self.skipped:
            return
        self._run._core.publish(self.iteration, self._run._values(self.scalars))

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if not self._open:
            raise self._not_claimed()
        array = self._arrays.get(name)
        if array is None:
            index = self._run._index(name)
            if self.skipped:
                variable = self._run.variables[name]
                array = np.zeros(variable.shape, variable.numpy_dtype)
            else:
                array = self._run._core.buffer(index)
            self._arrays[name] = array
        return array

    def previous(self, name: str) -> npt.NDArray[Any] | None:
        """The same variable of the step before, read-only, in place: of the step that was published last, or a copy of
        the kept one. None in the first step of a new run. Valid in the block: its memory may then take another step."""
        if not self._open:
            raise self._not_claimed()
        return self._run._core.previous(self._run._index(name))

    def __setitem__(self, name: str, value: Any) -> None:
        """Copies an array of the variable's dtype and shape; step["x"][:] = ... converts as NumPy does."""
        own, given = self[name], np.asarray(value)
        if own is not given:
            _core.check_array(name, DTYPES[self._run.variables[name].dtype][0], own.shape, given)
            own[...] = given

    def _not_claimed(self) -> UsageError:
        return UsageError(f"iteration {self.iteration}: not claimed; expected `with run.step(k) as step`, and its arrays "
                          "inside")


class Writer:
    """A run that is published. Made by `publish`; a context manager.

    Leaving the block detaches and returns when every step is committed. The outcome is "finished"; after an exception
    "failed", after Ctrl-C or `ringside stop` "stopped". `detach` gives another one.
    """

    def __init__(self, variables: dict[str, Variable], scalars: dict[str, int], options: dict[str, Any]) -> None:
        self.variables = variables
        """By name, in the order declared."""
        self._names = {name: index for index, name in enumerate(variables)}
        self._scalars = tuple(scalars)
        self._core = _core.Writer(
            variables=[(name, DTYPES[v.dtype][0], ROLES[v.role], list(v.shape), v.unit)
                       for name, v in variables.items()],
            scalars=[(name, number, "") for name, number in scalars.items()], **options)
        iteration = self._core.kept()
        self.kept = None if iteration is None else KeptStep(self._core, iteration, list(variables), self._scalars)
        """The step that the run goes on from; None for a new run."""

    @property
    def next_iteration(self) -> int:
        """One more than that of the last step: 1 in a new run."""
        return self._core.last + 1

    @property
    def counts(self) -> Counts:
        """Steps published and skipped, and the seconds that claims waited."""
        return Counts(*self._core.counts())

    def step(self, iteration: int) -> ClaimedStep:
        """The step of an iteration, to be written in a `with` block. Each iteration is greater than the one before."""
        return ClaimedStep(self, iteration)

    def publish(self, iteration: int, arrays: Mapping[str, Any], scalars: Mapping[str, float] | None = None) -> bool:
        """Copies an array for each variable into a buffer and publishes it: a step in one call.

        An array has the dtype and the shape of its variable, in C order; otherwise this raises UsageError, which is a
        ValueError. False: the step was skipped, because there is no analyzer and on_analyzer_loss is "continue".
        """
        for name in arrays:
            self._index(name)
        missing = [name for name in self._names if name not in arrays]
        if missing:
            raise UsageError(f"iteration {iteration}: no array for {', '.join(missing)}; "
                             "expected one for each variable")
        return self._core.publish_arrays(iteration, [np.asarray(arrays[name]) for name in self._names],
                                         self._values(scalars or {}))

    def skip(self) -> None:
        """Counts a step as skipped: the solver made it, and publishes it nowhere."""
        self._core.skip()

    def detach(self, outcome: str = "finished") -> None:
        """Ends the run: "finished", "stopped" (it may be resumed), "diverged" or "failed". Waits for the commits."""
        self._core.detach(_number_of("outcome", outcome, _OUTCOMES))

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if error is None:
            self.detach()
            return
        try:
            self.detach(_outcome_of(error))
        except Error as second:  # the first one is what the user wants to see
            if hasattr(error, "add_note") and str(second) != str(error):
                error.add_note(f"and the run could not be ended: {second}")

    def __repr__(self) -> str:
        state = "detached" if self._core.detached else f"at iteration {self._core.last}"
        return f"<ringside.Writer of {', '.join(self.variables)}, {state}>"

    def _index(self, name: str) -> int:
        if name not in self._names:
            raise UsageError(f"{name!r} is no variable of this run; expected one of {', '.join(self._names)}")
        return self._names[name]

    def _values(self, scalars: Mapping[str, float]) -> list[float]:
        if not scalars and not self._scalars:
            return []
        if len(scalars) != len(self._scalars) or any(name not in scalars for name in self._scalars):
            found, expected = ", ".join(scalars) or "none", ", ".join(self._scalars) or "none"
            raise UsageError(f"found the scalars {found}; expected {expected}")
        return [scalars[name] for name in self._scalars]


def _outcome_of(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return "finished" if error.code in (None, 0) else "failed"
    return "failed" if isinstance(error, Exception) and not isinstance(error, KeyboardInterrupt) else "stopped"


def _number_of(what: str, given: Any, numbers: Mapping[Any, int]) -> int:
    if given not in numbers:
        raise UsageError(f"{what}: found {given!r}, expected one of {', '.join(str(name) for name in numbers if name)}")
    return numbers[given]


def _bytes_of(given: Any) -> bytes:
    if isinstance(given, str):
        return given.encode()
    return given if isinstance(given, bytes) else np.ascontiguousarray(given).tobytes()
