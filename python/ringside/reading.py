# SPDX-License-Identifier: BSD-3-Clause
"""Reading a pool, also while it is written: `ringside.open` gives a `Pool`, `pool[17]` a `HeldStep`."""

from __future__ import annotations

import datetime
import functools
import os
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from . import _core
from .arguments import path_of, whole
from .errors import Error, NotKeptError, OverwrittenError, ResourceError, UsageError
from .table import arrow_table, columns_of, joined, recorded_columns, structured
from .trees import Tree, tree_of
from .variables import ROLES, Variable

__all__ = ["HeldStep", "Pool", "Record", "RunInfo", "StepInfo"]

_LAST_SEQ = 2**64 - 1  # as a commit_seq, ringside.h has another meaning for it
_ROLE_NAMES = {number: name for name, number in ROLES.items()}


class RunInfo(NamedTuple):
    """A run that a pool has steps of."""

    run_id: str
    problem_id: str
    started: datetime.datetime
    work: int
    solver: str
    problem: str
    parameters: str


class StepInfo(NamedTuple):
    """A committed step. Its commit_seq is its key: a pool may keep one iteration of two runs."""

    commit_seq: int
    iteration: int
    step: int
    run_id: str


class Record(NamedTuple):
    """A record of the journal beside the pool."""

    seq: int
    """1, 2, 3 ..."""
    kind: str
    """step, run_started, run_ended, analyzer_started, steps_missing, run_described, mark, analysis_results."""
    written: datetime.datetime
    run_id: str
    fields: dict[str, Any]
    """Of a step: iteration, commit_seq, generate_ns ... as the columns of Pool.table; of the beginning of a run: solver,
    problem, parameters; of its end: how, text, exit_code, and the outcome that the solver gave ("finished", "stopped",
    "diverged", "failed"), or None; of a mark: commit_seq, iteration, step, cause ("trigger", "non_finite" ...), name (of the
    trigger or the plug-in), text, actions ("freeze, stop"; docs/triggers.md)."""
    results: dict[str, Any]
    """Of a step: what was recorded of it, by name. Results that are arrays are in the ring only. Of analysis_results: what an
    analysis computed of the step of these fields (docs/analyses.md)."""


class HeldStep:
    """A step that is held: step["x"] is a verified, read-only NumPy array in place, without a copy.

    While it is held, the analyzer overwrites other slots, as long as there are others. A context manager: leaving the
    block checks and releases. Arrays keep their step held (it is their base) until it is released; then they are stale,
    because their memory may take another step.
    """

    def __init__(self, pool: Pool, core: _core.HeldStep) -> None:
        self._pool = pool
        self._core = core
        self.info = _step_info(core.info())
        """commit_seq, iteration, step of its attachment, run_id."""

    @property
    def iteration(self) -> int:
        """The step's iteration."""
        return self.info.iteration

    @property
    def commit_seq(self) -> int:
        """The step's number in the pool, by which `pool.hold` finds it."""
        return self.info.commit_seq

    @property
    def held(self) -> bool:
        """False after release."""
        return self._core.held

    @property
    def results(self) -> dict[str, Any]:
        """What was recorded of the step, by name: {"x.l2": 1.0}. Sums of integers are ints of any size.

        Empty until the analyzer has recorded it. None is a value that is absent, for instance the change of a run's
        first step.
        """
        return self._pool.results(self.info)

    def __getitem__(self, name: str) -> Any:
        """Raises DamagedError, OverwrittenError, or UsageError after the release. Hashes a variable once. What was published as a
        nested structure is one again, of such arrays."""
        if name not in self._pool._names and (tree := tree_of(self._pool, self.__getitem__)) is not None and name in tree:
            return tree.entry(name, self.__getitem__)
        return self._core.view(self._pool._index(name), True)

    def tree(self) -> dict[str, Any]:
        """All that was published, with the structure that it had (docs/python.md#many-arrays): arrays in place."""
        tree = tree_of(self._pool, self.__getitem__)
        return {name: self[name] for name in self} if tree is None else tree.whole(self.__getitem__)

    def view(self, name: str) -> npt.NDArray[Any]:
        """The same without hashing it."""
        return self._core.view(self._pool._index(name), False)

    def keys(self) -> list[str]:
        """The names of the variables."""
        return list(self._pool.variables)

    def __iter__(self) -> Iterator[str]:
        return iter(self._pool.variables)

    def __len__(self) -> int:
        return len(self._pool.variables)

    def verify(self) -> None:
        """Hashes all variables in place. Raises DamagedError or OverwrittenError."""
        self._core.verify()

    def check(self) -> None:
        """Raises OverwrittenError unless all that was read through the arrays until now is of this step."""
        self._core.check()

    def release(self) -> None:
        """Makes the last check and ends the hold in every case. A second call does nothing."""
        self._core.release()

    def __enter__(self) -> HeldStep:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        try:
            self.release()
        except OverwrittenError as broken:
            if error is None:
                raise
            if hasattr(error, "add_note"):
                error.add_note(str(broken))

    def __repr__(self) -> str:
        state = "held" if self.held else "released"
        return f"<ringside.HeldStep of iteration {self.iteration}, {state}: {', '.join(self._pool.variables)}>"


class Pool:
    """A pool that is read. Made by `open`. Each call looks at it anew, because what it keeps changes during a run.

    pool[17] holds the newest committed step of iteration 17, pool[-1] the newest step, pool[-2] the one before. `in`,
    len() and iteration are about the iterations that are kept.
    """

    def __init__(self, path: str | os.PathLike[str], *, wait: float = 0) -> None:
        encoded = path_of("the pool", path)
        self.path = os.fspath(path)
        """As it was given."""
        self._core = _core.Reader(encoded, wait)
        self.variables = {name: Variable(dtype, shape, _ROLE_NAMES[role], unit)
                          for name, dtype, role, shape, unit in self._core.variables()}
        """The variables of every step, by name."""
        self._names = {name: index for index, name in enumerate(self.variables)}
        self._tree: tuple[bytes, Tree] | None = None  # of the last step looked at: the table of what is packed, and what it says
        self._unrecorded = 0  # the commit_seq for whose record `columns` waited in vain

    @property
    def runs(self) -> list[RunInfo]:
        """The runs that the pool knows, the newest last."""
        return [RunInfo(run_id.hex(), problem_id.hex(), datetime.datetime.fromtimestamp(started, datetime.timezone.utc),
                        work, solver, problem, parameters)
                for run_id, problem_id, started, work, solver, problem, parameters in self._core.runs()]

    @property
    def steps(self) -> list[StepInfo]:
        """The committed steps, in the order of their commits."""
        return [_step_info(step) for step in self._core.steps()]

    def __len__(self) -> int:
        return len(self._core.steps())

    def __iter__(self) -> Iterator[int]:
        return iter(dict.fromkeys(step.iteration for step in self.steps))

    def __contains__(self, iteration: object) -> bool:
        return any(step.iteration == iteration for step in self.steps)

    @overload
    def __getitem__(self, iteration: int) -> HeldStep: ...

    @overload
    def __getitem__(self, iteration: slice) -> list[StepInfo]: ...

    def __getitem__(self, iteration: int | slice) -> HeldStep | list[StepInfo]:
        """Raises NotKeptError, a LookupError; ResourceError if the file system has no locks for it (use `read`).

        A slice holds nothing: pool[10:20] lists the kept steps of the iterations 10 to 19, pool[-3:] the newest three
        steps, pool[::2] every second step. `array` and `hold` take what it lists.
        """
        return self._select(iteration) if isinstance(iteration, slice) else self.hold(self._find(iteration))

    def hold(self, step: StepInfo | int) -> HeldStep:
        """Holds a step of `steps`, or that of a commit_seq."""
        commit_seq = step.commit_seq if isinstance(step, StepInfo) else whole("a commit_seq", step, -2**63)
        if not 0 < commit_seq < _LAST_SEQ:
            raise NotKeptError(f"{self.path}: no step has the commit_seq {commit_seq}; expected one of pool.steps")
        try:
            held = self._core.hold(commit_seq)
        except OverwrittenError as error:
            raise NotKeptError(str(error)) from None
        if held is None:
            raise NotKeptError(f"{self.path}: there is no step with the commit_seq {commit_seq} yet")
        return HeldStep(self, held)

    def read(self, iteration: int, name: str) -> Any:
        """A verified copy of a variable, or of a nested structure, without a hold. Raises NotKeptError, OverwrittenError,
        DamagedError."""
        commit_seq = self._find(iteration).commit_seq

        @functools.cache
        def copy(variable: str) -> npt.NDArray[Any]:
            return self._core.copy(commit_seq, self._index(variable))

        if name not in self._names and (tree := tree_of(self, copy)) is not None and name in tree:
            return tree.entry(name, copy)
        return copy(name)

    def array(self, name: str, steps: slice | Iterable[StepInfo | int] = slice(None), *,
              part: Any = ()) -> npt.NDArray[Any]:
        """A verified copy of a variable of several steps as one array, whose first axis is that of the steps.

        steps: a slice as of pool[...], steps of it, or iterations. part: an index of each step's array as NumPy takes
        it, such as numpy.s_[100:200, 0]: only that is copied. Raises as `read`, which it does for one step after the
        other.
        """
        index = self._index(name)
        chosen = self._select(steps) if isinstance(steps, slice) else [
            step if isinstance(step, StepInfo) else self._find(step) for step in steps]
        variable = self.variables[name]
        like = np.broadcast_to(np.zeros((), variable.numpy_dtype), variable.shape)[part]
        made = np.empty((len(chosen), *np.shape(like)), variable.numpy_dtype)
        for row, step in enumerate(chosen):
            try:
                held = self.hold(step)
            except (ResourceError, NotKeptError):  # no locks, or about to be overwritten
                made[row] = self._core.copy(step.commit_seq, index)[part]
            else:
                with held:
                    made[row] = held[name][part]
        return made

    def results(self, step: StepInfo) -> dict[str, Any]:
        """What was recorded of a step, by name (see HeldStep.results)."""
        return {name: value for name, _, _, _, value in self._core.results(step.commit_seq)}

    def follow(self, *, after: StepInfo | int = 0, timeout: float | None = None,
               all_runs: bool = False) -> Iterator[HeldStep]:
        """Holds one step after the other: first the kept ones, from the oldest, then each that the analyzer commits. Ends
        when the run has ended and there is no further step.

        A step is released when the next one is asked for, which raises OverwrittenError if its lease was broken; a loop
        that is left by `break` calls step.check() itself. Steps that were overwritten before their turn are
        left out. after: begins behind this step of `steps` (or commit_seq); pool.steps[-1] gives new steps only.
        timeout: seconds without a new step after which the loop ends, too; None waits until Ctrl-C.
        all_runs: continues with the runs that follow.
        """
        last = after.commit_seq if isinstance(after, StepInfo) else whole("after", after)
        while True:
            found = self._core.next(last, timeout, all_runs)
            if found is None:
                return
            last = found[0]
            try:
                step = self.hold(last)
            except NotKeptError:
                continue
            with step:
                yield step

    def records(self, *, after: int = 0) -> Iterator[Record]:
        """The records of the journal beside the pool whose seq is greater than `after`: all runs, and all steps, also
        those that the ring has overwritten. Ends with the last record that is there now. Without a journal there are
        none."""
        after = whole("after", after, most=2**64 - 2)
        while (found := self._core.next_record(after + 1)) is not None:
            after, kind, unix_ns, run_id, fields, results = found
            written = datetime.datetime.fromtimestamp(unix_ns * 1e-9, datetime.timezone.utc)
            yield Record(after, kind, written, run_id.hex(), fields, {name: value for name, _, _, _, value in results})

    def columns(self, *, run: RunInfo | str | None = None, kept: bool = False,
                wait: float = 1) -> dict[str, npt.NDArray[Any]]:
        """What was recorded of each step: a contiguous array for each number, by ascending commit_seq.

        The steps are those of the journal beside the pool, also those that the ring has overwritten, and those that the
        ring keeps. run: one of `runs`, or its run_id; None for all. kept: only the steps that the ring keeps. wait:
        seconds to wait until the journal has the newest step that is kept now: its record comes soon after its commit.
        Without an analyzer it may never come, so a call does not wait for it again.

        The first columns are commit_seq, iteration and step. Then follow unix_ns, when the record was written;
        generate_ns and producer_idle_ns, the solver's work and its wait for a buffer; analyzer_idle_ns, hand_off_ns,
        transfer_ns, commit_ns, analyze_ns and record_ns; bytes_transferred, skipped_before and published_at_ns: these are 0 for a
        step that is not in the journal. The others are the results of count 1 by name, and those of analyses
        (docs/analyses.md): NaN for the steps that these did not look at. An absent f64 is NaN. A column of
        another type is an array of objects if a value is absent or has more than 64 bits: ints, and None.
        """
        run_id = run.run_id if isinstance(run, RunInfo) else run
        steps = self.steps
        first, newest = (steps[0].commit_seq, steps[-1].commit_seq) if steps else (_LAST_SEQ if kept else 0, 0)
        fields, results, is_there = self._core.recorded(None if run_id is None else _bytes_of(run_id), first if kept else 0,
                                                        newest, 0 if newest == self._unrecorded else wait)
        if not is_there and wait > 0:
            self._unrecorded = newest
        recorded = recorded_columns(fields, results)
        if kept:
            there = np.isin(recorded["commit_seq"], [step.commit_seq for step in steps])
            recorded = {name: column[there] for name, column in recorded.items()}
        found = set(recorded["commit_seq"].tolist())
        rows = []
        for step in steps:
            if run_id not in (None, step.run_id) or step.commit_seq in found:
                continue
            try:
                rows.append((step, self._core.results(step.commit_seq)))
            except (UsageError, OverwrittenError):
                continue  # overwritten since
        return joined(recorded, columns_of(rows))

    def table(self, *, run: RunInfo | str | None = None, kept: bool = False, wait: float = 1) -> npt.NDArray[Any]:
        """The same as one structured array, a row for each step: pandas.DataFrame(pool.table())."""
        return structured(self.columns(run=run, kept=kept, wait=wait))

    def arrow(self, *, run: RunInfo | str | None = None, kept: bool = False, wait: float = 1) -> Any:
        """The same as a pyarrow.Table, without a copy of the columns of numbers. Columns of objects become int64 with
        nulls, or decimals if an int has more than 64 bits. Needs pyarrow."""
        return arrow_table(self.columns(run=run, kept=kept, wait=wait))

    def __repr__(self) -> str:
        return f"<ringside.Pool {self.path}: {', '.join(self.variables)}; {len(self)} steps>"

    def _repr_html_(self) -> str:
        from .html import page_of

        return page_of(self)

    def _index(self, name: str) -> int:
        if not isinstance(name, str) or name not in self._names:
            raise UsageError(f"{name!r} is no variable of {self.path}; expected one of {', '.join(self._names)}")
        return self._names[name]

    def _select(self, chosen: slice) -> list[StepInfo]:
        begin, end = (None if bound is None else whole("a slice of iterations", bound, -2**63)
                      for bound in (chosen.start, chosen.stop))
        stride = whole("the stride of a slice of iterations", 1 if chosen.step is None else chosen.step, 1)
        steps = self.steps
        count = len(steps)
        return [step for place, step in enumerate(steps)
                if (begin is None or (step.iteration >= begin if begin >= 0 else place >= count + begin))
                and (end is None or (step.iteration < end if end >= 0 else place < count + end))][::stride]

    def _find(self, iteration: int) -> StepInfo:
        if isinstance(iteration, str) and iteration in self._names:
            raise UsageError(f"{self.path}: {iteration!r} is a variable; expected an iteration first: "
                             f"pool[17][{iteration!r}], or pool.array({iteration!r})")
        iteration = whole("an iteration", iteration, -2**63)
        steps = self.steps
        if iteration < 0:
            if -iteration <= len(steps):
                return steps[iteration]
            raise NotKeptError(f"{self.path}: {len(steps)} steps are kept; expected at most that many from the end, "
                               f"found {iteration}")
        for step in reversed(steps):
            if step.iteration == iteration:
                return step
        kept = ", ".join(str(step.iteration) for step in steps[-8:]) or "none"
        raise NotKeptError(f"{self.path}: iteration {iteration} is not kept; the newest kept are {kept}"
                           f"{self._in_the_archive(iteration)}")

    def _in_the_archive(self, iteration: int) -> str:
        """Where triggers have kept the iteration, for a message."""
        path = os.fsdecode(self.path) + ".archive"
        try:
            kept = any(step[1] == iteration for step in _core.Reader(path_of("the archive", path), 0).steps())
        except Error:  # there is none, or none that can be read
            return ""
        return f"; its archive keeps it: open {path!r}" if kept else ""


def _step_info(step: tuple[int, int, int, bytes]) -> StepInfo:
    commit_seq, iteration, number, run_id = step
    return StepInfo(commit_seq, iteration, number, run_id.hex())


def _bytes_of(run_id: str) -> bytes:
    try:
        return bytes.fromhex(run_id)
    except ValueError:
        raise UsageError(f"run_id {run_id!r}; expected 32 hexadecimal digits, as in pool.runs") from None
