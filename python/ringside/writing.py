# SPDX-License-Identifier: BSD-3-Clause
"""Publishing a run: `publish` attaches, a `Writer` gives out steps, and leaving its block detaches."""

from __future__ import annotations

import atexit
import json
import os
import shlex
import sys
import warnings
import weakref
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._core import ClaimedStep
from .arguments import array_of, path_of, program_name, text_of, whole
from .errors import Error, Named, UsageError, last_uncaught
from .notebook import LiveView, in_notebook
from .step_mapping import StepMapping
from .trees import PackedStep, Packing, packed
from .variables import DTYPES, ROLES, ArrayLike, ScalarLike, ScalarValue, Variable, VariableLike, scalar_types

__all__ = ["ClaimedStep", "Counts", "KeptStep", "Writer", "publish"]

PoolUse = Literal["fresh", "overwrite", "resume"]
AnalyzerLoss = Literal["wait", "continue", "stop"]
Coordination = Literal["locks", "messages"]
Outcome = Literal["finished", "stopped", "diverged", "failed"]
_POOL_USES = {None: 0, "fresh": 1, "overwrite": 2, "resume": 3}
_LOSSES = {None: 0, "wait": 1, "continue": 2, "stop": 3}
_COORDINATIONS = {None: 0, "locks": 1, "messages": 2}
_OUTCOMES = {"finished": 1, "stopped": 2, "diverged": 3, "failed": 4}


def publish(variables: Mapping[str, VariableLike], *, scalars: Mapping[str, ScalarLike] | Sequence[str] = (), solver: str | None = None,
            problem: str | None = None, parameters: str | None = None, problem_bytes: Any = b"", work: int = 0,
            pool: str | os.PathLike[str] | None = None, run_options: str | Sequence[str] | None = None,
            socket: str | None = None, buffers: int = 0, peer_timeout: float = 0, pool_use: PoolUse | None = None,
            on_analyzer_loss: AnalyzerLoss | None = None, coordination: Coordination | None = None) -> Writer:
    """Attaches to an analyzer, and waits until the analyzer accepts. The Writer is a context manager.

    pool: starts an analyzer for this run, which keeps its steps in this file; the run continues if the file holds steps
        of the same problem (`kept`, `next_iteration`). Under `ringside run`, the analyzer must use this pool.
    run_options: options of `ringside run` for that analyzer: "--slots 16 --durability process", or a list of words.
    Without `pool` and `socket`, the environment selects the analyzer: RINGSIDE_SOCKET, which `ringside run -- PROGRAM` sets; else
    RINGSIDE_POOL; else the analyzer of the service.

    variables: by name, a Variable, a pair of dtype and shape ("f64", (1000,)), an array, whose dtype and shape it
        gets, or nested dicts, lists and tuples of arrays (docs/publish/python.md#many-arrays).
    scalars: the numbers that each step has in addition to its variables: a list of names; or by name, the type "f64" or
        "i64", or a pair of a type and a unit.
    solver, problem, parameters: at most 23, 399 and 511 bytes of text. Runs have the same problem if solver, problem,
        parameters, problem_bytes and variables are equal; only such a run is resumed. By default, solver is the script's
        name without .py ("python" where there is no script).
    problem_bytes: other data that the iterates depend on, for instance a matrix: bytes or an array, kept as a hash.
    work: nonzeros, cells or another number to which an iteration's work is proportional.

    `ringside run -- PROGRAM` and run_options set the following options, unless they are given as arguments here:
    socket: the analyzer's socket. buffers: 2 to 64. peer_timeout: seconds. pool_use: "fresh", "overwrite", "resume".
    on_analyzer_loss: "wait", "continue", "stop". coordination: "locks", "messages".

    Raises UsageError for a wrong argument, RefusedError if the analyzer refuses, PeerLostError if there is no analyzer.
    """
    if not isinstance(variables, Mapping):
        raise UsageError(f"variables: found a {type(variables).__name__}, expected descriptions by name: "
                         '{"x": ("f64", (1000,))}')
    described, packing = packed(variables)
    texts = {name: None if given is None else text_of(name, given)
             for name, given in (("problem", problem), ("parameters", parameters), ("socket", socket))}
    texts["pool"] = None if pool is None else text_of("pool", os.fsdecode(path_of("pool", pool)))
    own_pool = _own_pool(texts["pool"], socket)
    texts["run_options"] = _options_of(run_options, quiet=own_pool is not None and in_notebook())
    content = _bytes_of(problem_bytes)
    run = Writer(described, scalar_types(scalars), {
        **texts, "solver": program_name() if solver is None else text_of("solver", solver),
        "problem_bytes": content if packing is None else content + packing.table,
        "work": whole("work", work), "buffers": whole("buffers", buffers, most=2**32 - 1),
        "peer_timeout_s": float(peer_timeout),
        "pool_use": _number_of("pool_use", pool_use, _POOL_USES),
        "on_analyzer_loss": _number_of("on_analyzer_loss", on_analyzer_loss, _LOSSES),
        "coordination": _number_of("coordination", coordination, _COORDINATIONS)}, packing)
    if run.kept is not None and solver is problem is parameters is None and not content:
        warnings.warn(f"continues from iteration {run.kept.iteration} of a run with this program's name and variables: "
                      "only these identify the problem (give also problem=, parameters= or problem_bytes=)",
                      RuntimeWarning, stacklevel=2)
    if own_pool is not None:
        run._watch(own_pool)
    return run


class Counts(NamedTuple):
    """Counts of a Writer: steps published, steps skipped, seconds that claims waited."""

    published: int
    skipped: int
    idle_s: float


class Reply(NamedTuple):
    """The reply of a trigger of the run (`reply:VALUE`)."""

    value: float
    number: int
    """The number of replies so far: a new reply has a greater number."""


class KeptStep(StepMapping[Any]):
    """The step from which a resumed run continues: a copy of each variable, by name, and the scalars. Published nested
    structures are returned as such structures.

    A variable is copied when it is first used. The first use must be before the first publish.
    """

    def __init__(self, core: _core.Writer, iteration: int, variables: Mapping[str, Variable], scalars: Sequence[str],
                 packing: Packing | None = None) -> None:
        self._core = core
        self._packing = packing
        self.variables: Mapping[str, Variable] = variables
        self._copies: dict[str, npt.NDArray[Any]] = {}
        self._entries: dict[str, Any] = {}  # structures made of these copies
        self.iteration: int = iteration
        values = {name: core.kept_scalar(index) for index, name in enumerate(scalars)}
        self.scalars: dict[str, float] = Named(f"scalar of the kept iteration {iteration}",
                                               {name: value for name, value in values.items() if value is not None})
        """Its scalars, without those that the earlier run did not declare."""

    def __getitem__(self, name: str) -> Any:
        if self._packing is None or name not in self._packing:
            return self._array(name)
        if name not in self._entries:
            self._entries[name] = self._packing.entry(name, self._array, as_declared=True)
        return self._entries[name]

    def _packed(self) -> Packing | None:
        return self._packing

    def _array(self, name: str) -> npt.NDArray[Any]:
        if name not in self._copies:
            self._copies[name] = self._core.kept_variable(self._index(name))
        return self._copies[name]

    def __repr__(self) -> str:
        return f"<ringside.KeptStep of iteration {self.iteration}: {', '.join(map(str, self))}>"


class Writer:
    """A published run, made by `publish`. It is a context manager.

    Leaving the block detaches and returns when every step is committed. The outcome is "finished"; after an exception
    "failed", after Ctrl-C or `ringside stop` "stopped". `detach` sets another outcome. A run with `pool` outside of a
    block ends with the script, by the same rules; in an interactive session, or if nothing refers to the run any more, its
    outcome is "stopped".
    """

    _owner: int | None = None  # the process id, if the run has its own analyzer
    _view: LiveView | None = None

    def __init__(self, variables: dict[str, Variable], scalars: dict[str, tuple[int, str]],
                 options: dict[str, Any], packing: Packing | None = None) -> None:
        self._packing = packing
        self.variables: Mapping[str, Variable] = Named("variable of this run", variables)
        """The variables by name, in the order declared."""
        self.scalars: tuple[str, ...] = tuple(scalars)
        """The names of its scalars, in the order declared."""
        self._core = _core.Writer(
            variables=[(name, DTYPES[v.dtype][0], ROLES[v.role], list(v.shape), v.unit)
                       for name, v in variables.items()],
            scalars=[(name, number, unit) for name, (number, unit) in scalars.items()], **options)
        iteration = self._core.kept()
        self.kept: KeptStep | None = None if iteration is None else KeptStep(self._core, iteration, self.variables, list(scalars), packing)
        """The step that the run continues from; None for a new run."""

    @property
    def next_iteration(self) -> int:
        """One more than the last step's iteration; 1 in a new run."""
        return self._core.last + 1

    @property
    def reply(self) -> Reply | None:
        """The last reply of a trigger, read when the newest step was claimed; None if there was no reply."""
        found = self._core.reply()
        return None if found is None else Reply(*found)

    @property
    def account(self) -> dict[str, Any] | None:
        """The account of a run with `pool` after its end, in the form of `ringside run --summary`; otherwise None."""
        text = self._core.account()
        found: dict[str, Any] | None = json.loads(text) if text else None
        return found

    @property
    def counts(self) -> Counts:
        """The numbers of published and skipped steps, and the seconds for which claims waited."""
        return Counts(*self._core.counts())

    def step(self, iteration: int, *, wait: bool = True) -> ClaimedStep:
        """The step of an iteration, to be written in a `with` block. Each iteration must be greater than the one before.

        wait=False: if no buffer is free, the step counts as skipped (`step.skipped`), and its arrays are not published.
        """
        if self._packing is not None and self._packing.table:
            return PackedStep(ClaimedStep(self._core, iteration, wait), self._packing, self.scalars)  # type: ignore[return-value]
        return ClaimedStep(self._core, iteration) if wait else ClaimedStep(self._core, iteration, False)

    def publish(self, iteration: int, arrays: Mapping[str, ArrayLike], scalars: Mapping[str, ScalarValue] | None = None, *,
                wait: bool = True) -> bool:
        """Publishes a step in one call: copies an array for each variable into a buffer, and publishes the buffer.

        An array has the dtype and the shape of its variable, in any layout; otherwise this raises UsageError, which is a
        ValueError. Returns False if the step was skipped: because there is no analyzer and on_analyzer_loss is "continue", or
        because no buffer was free and wait=False.
        """
        given = {} if scalars is None else scalars
        if self._packing is None:
            published = self._core.publish_arrays(iteration, arrays, given, wait)
            if published is not None:
                return published
        if not isinstance(arrays, Mapping):
            raise UsageError(f"iteration {iteration}: found a {type(arrays).__name__}, expected arrays by name: "
                             f'{{"{next(iter(self.variables))}": array}}')
        if self._packing is not None:
            return self._core.publish_packed(iteration, self._packing.pieces(f"iteration {iteration}", arrays), given, wait)
        for name in arrays:
            self._core.index(name)
        missing = [name for name in self.variables if name not in arrays]
        if missing:
            raise UsageError(f"iteration {iteration}: no array for {', '.join(missing)}; "
                             "expected one for each variable")
        return self._core.publish_packed(iteration, [array_of(f"iteration {iteration}: {name}", arrays[name]) for name in self.variables],
                                         given, wait)

    def skip(self) -> None:
        """Counts a step that the solver made but does not publish as skipped."""
        self._core.skip()

    def detach(self, outcome: Outcome = "finished") -> None:
        """Ends the run: "finished", "stopped" (it may be resumed), "diverged" or "failed". Waits for the commits."""
        try:
            self._core.detach(_number_of("outcome", outcome, _OUTCOMES))
        finally:
            _open_runs.discard(self)
            if self._view is not None:
                self._view.finish(self.account)

    def _watch(self, pool: str) -> None:
        """For a run with an analyzer of its own: shows it in a notebook, and ends it with the interpreter."""
        self._owner = os.getpid()
        _open_runs.add(self)
        if in_notebook():
            self._view = LiveView(os.path.abspath(pool))

    @property
    def _ends_here(self) -> bool:
        """Whether the run has an analyzer of its own, and continues in this process (not in the parent of a fork())."""
        return self._owner == os.getpid() and not self._core.detached

    def __del__(self) -> None:
        if not self._ends_here:
            return
        try:
            self.detach("stopped")
        except Error as error:  # no caller could catch it
            warnings.warn(f"a run to which nothing refers any more could not be ended: {error}", RuntimeWarning, stacklevel=2)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if error is None:
            self.detach()
            return
        try:
            self.detach(_outcome_of(error))
        except Error as second:  # the first error is the one that the user wants to see
            if hasattr(error, "add_note") and str(second) != str(error):
                error.add_note(f"and the run could not be ended: {second}")

    def __repr__(self) -> str:
        state = "detached" if self._core.detached else f"at iteration {self._core.last}"
        return f"<ringside.Writer of {', '.join(self.variables)}, {state}>"


_open_runs: weakref.WeakSet[Writer] = weakref.WeakSet()


@atexit.register
def _end_open_runs() -> None:
    uncaught = last_uncaught()
    in_session = hasattr(sys, "ps1") or bool(sys.flags.inspect) or in_notebook()
    outcome: Outcome = _outcome_of(uncaught) if uncaught is not None else "stopped" if in_session else "finished"
    for run in [run for run in list(_open_runs) if run._ends_here]:
        try:
            run.detach(outcome)
        except Error as error:
            print(f"ringside: a run could not be ended: {error}", file=sys.stderr)
            sys.stderr.flush()
            sys.stdout.flush()
            os._exit(error.status if 0 < error.status < 128 else 1)  # the interpreter's own status can no longer change


def _own_pool(pool: str | None, socket: str | None) -> str | None:
    """The pool for which the library starts an analyzer, chosen by the rules of ringside_writer_attach."""
    if socket is not None or os.environ.get("RINGSIDE_SOCKET"):
        return None
    return pool or os.environ.get("RINGSIDE_POOL") or None


def _options_of(given: str | Sequence[str] | None, *, quiet: bool) -> str | None:
    if given is None and quiet:
        given = os.environ.get("RINGSIDE_RUN_OPTIONS", "")
    if given is None:
        return None
    text = text_of("run_options", given if isinstance(given, str) else shlex.join(given))
    return text + " --quiet" if quiet else text


def _outcome_of(error: BaseException) -> Outcome:
    if isinstance(error, SystemExit):
        return "finished" if error.code in (None, 0) else "failed"
    return "failed" if isinstance(error, Exception) and not isinstance(error, KeyboardInterrupt) else "stopped"


def _number_of(what: str, given: Any, numbers: Mapping[Any, int]) -> int:
    if not isinstance(given, (str, type(None))) or given not in numbers:
        raise UsageError(f"{what}: found {given!r}, expected one of {', '.join(str(name) for name in numbers if name)}")
    return numbers[given]


def _bytes_of(given: Any) -> bytes:
    if isinstance(given, str):
        return given.encode()
    if isinstance(given, bytes):
        return given
    array = np.ascontiguousarray(array_of("problem_bytes", given))
    if array.dtype.hasobject:
        raise UsageError(f"problem_bytes: found a {type(given).__name__}, expected bytes, a text or an array of numbers")
    return array.tobytes()
