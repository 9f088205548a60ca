# SPDX-License-Identifier: BSD-3-Clause
"""Reading a pool, also while it is written: `ringside.open` gives a `Pool`, `pool[17]` a `HeldStep`."""

from __future__ import annotations

import contextlib
import datetime
import functools
import os
import time
import warnings
import weakref
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, cast, overload

import numpy as np
import numpy.typing as npt

from . import _core
from .arguments import path_of, whole
from .errors import Error, Named, NotKeptError, OverwrittenError, ResourceError, UsageError, unknown_name
from .step_mapping import StepMapping
from .table import arrow_table, columns_of, joined, recorded_columns, structured
from .trees import TABLE, Tree, is_own, tree_of
from .variables import ROLES, Role, Variable

if TYPE_CHECKING:
    import xarray

__all__ = ["Following", "HeldStep", "Pool", "Record", "RunInfo", "StepInfo"]

_LAST_SEQ = 2**64 - 1  # as a commit_seq, ringside.h has another meaning for it
_SLICE_S = 0.1  # of a wait in another thread, which nothing else ends
_ROLE_NAMES: dict[int, Role] = {number: name for name, number in ROLES.items()}


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
    trigger or the plug-in), text, actions ("freeze, stop"; docs/use/questions.md)."""
    results: dict[str, Any]
    """Of a step: what was recorded of it, by name. Results that are arrays are in the ring only. Of analysis_results: what an
    analysis computed of the step of these fields (docs/use/questions.md)."""


class HeldStep(StepMapping["npt.NDArray[Any]"]):
    """A step that is held, as a mapping of names to read-only, verified arrays.

    In its `with` block, step["x"] is the array in place: no byte is copied. Leaving the block checks that the step was
    there all the time, and raises OverwrittenError otherwise. Outside of a block, as in pool[17]["x"], it is a copy.

    While a step is held, the analyzer overwrites other slots, as long as there are others. An array in place keeps its step
    held as long as it lives, also when its block has ended, and nothing checks it then: copy what you keep.

    >>> with pool[-1] as step:
    ...     step.iteration, sorted(step), float(step["x"].max())
    (12, ['n', 'x'], 1011.0)
    """

    def __init__(self, pool: Pool, core: _core.HeldStep, *, copy: bool | None = None) -> None:
        self._pool = pool
        self._held: _core.HeldStep | None = core
        self._copies = copy is not False  # until its block begins, if copy is None
        self._stays = copy is not None
        self._copied: dict[str, npt.NDArray[Any]] = {}
        self._given: dict[int, tuple[npt.NDArray[Any], bool]] = {}  # in place, and whether verified
        self._tree: Tree | None = None  # once it was asked for, if something is packed
        self.variables: Mapping[str, Variable] = pool.variables
        self.info: StepInfo = _step_info(core.info())
        """commit_seq, iteration, step of its attachment, run_id."""
        self.iteration: int = self.info.iteration

    @property
    def commit_seq(self) -> int:
        """The step's number in the pool, by which `pool.hold` finds it."""
        return self.info.commit_seq

    @property
    def held(self) -> bool:
        """False after the block or the release."""
        return self._held is not None and self._held.held

    @property
    def results(self) -> dict[str, Any]:
        """What was recorded of the step, by name. Sums of integers are ints of any size.

        Empty until the analyzer has recorded it. None is a value that is absent, for instance the change of a run's
        first step.

        >>> pool[-1].results["n.sum"]
        73786976294838206416
        """
        return self._pool.results(self.info)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Raises UnknownNameError, DamagedError, OverwrittenError, or UsageError after the release. Hashes a variable once. What was
        published as a nested structure is one again, of such arrays; for type checkers, use `tree`."""
        found: npt.NDArray[Any] = self._entry(name, self._array)
        return found

    def view(self, name: str) -> npt.NDArray[Any]:
        """The array in place, in a block and outside, without hashing it."""
        found: npt.NDArray[Any] = self._entry(name, lambda variable: self._in_place(self._index(variable), False))
        return found

    def verify(self) -> None:
        """Hashes all variables in place. Raises DamagedError or OverwrittenError."""
        self._live.verify()

    def check(self) -> None:
        """Raises OverwrittenError unless all that was read through arrays in place until now is of this step."""
        self._live.check()

    def release(self) -> None:
        """Makes the last check and ends the hold in every case: arrays in place are stale then, because their memory may take
        another step. A second call does nothing."""
        if self._held is not None:
            self._held.release()

    def __enter__(self) -> HeldStep:
        if not self._stays:
            self._copies = False
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        try:
            self._leave()
        except OverwrittenError as broken:
            if error is None:
                raise
            if hasattr(error, "add_note"):
                error.add_note(str(broken))

    def __repr__(self) -> str:
        state = "held" if self.held else "released"
        return f"<ringside.HeldStep of iteration {self.iteration}, {state}: {', '.join(self.variables)}>"

    def _packed(self) -> Tree | None:
        if self._tree is None:
            self._tree = tree_of(self._pool, self._array)
        return self._tree

    def _array(self, name: str) -> npt.NDArray[Any]:
        """In place or a copy."""
        index = self._index(name)
        if not self._copies:
            return self._in_place(index, True)
        if not self.held:
            raise self._released()
        if name not in self._copied:
            self._live.check()
            copied = self._pool._live.copy(self.commit_seq, index)
            copied.flags.writeable = False  # as the array in place
            self._copied[name] = copied
        return self._copied[name]

    def _index(self, name: str) -> int:
        index = self._pool._names.get(name) if isinstance(name, str) else None
        return super()._index(name) if index is None else index

    @property
    def _live(self) -> _core.HeldStep:
        if self._held is None:
            raise self._released()
        return self._held

    def _released(self) -> UsageError:
        return UsageError(f"iteration {self.iteration}: the step was released; hold it again")

    def _in_place(self, index: int, verify: bool) -> npt.NDArray[Any]:
        array, is_verified = self._given.get(index, (None, False))
        if array is not None and (is_verified or not verify):
            self._live.check()
            return array
        viewed = self._live.view(index, verify)
        array = viewed if array is None else array  # always the same one: what is kept of it is seen when the block ends
        self._given[index] = array, verify
        return array

    def _leave(self) -> None:
        """The end of a block: the last check, and the end of the hold, unless arrays in place are still there: they keep it."""
        given = [weakref.ref(array) for array, _ in self._given.values()]
        self._given = {}
        outlived = [array for array in given if array() is not None]
        if self._held is None or not outlived:
            self.release()
            self._held = None
            return
        try:
            if self._held.held:
                self._held.check()
                self._pool._watch(self._held, outlived)
        except OverwrittenError:
            with contextlib.suppress(OverwrittenError):  # the same again
                self.release()
            raise
        finally:
            self._held = None


class Following(Iterator[HeldStep], AsyncIterator[HeldStep]):
    """What Pool.follow gives: an iterator for `for` and for `async for`. A step is released when the next is asked for."""

    def __init__(self, pool: Pool, after: int, timeout: float | None, all_runs: bool, copy: bool) -> None:
        self._pool, self._last, self._timeout, self._all_runs, self._copy = pool, after, timeout, all_runs, copy
        self._step: HeldStep | None = None
        self._ended = False

    def __iter__(self) -> Following:
        return self

    def __aiter__(self) -> Following:
        return self

    def __next__(self) -> HeldStep:
        self._leave()
        while not self._ended:
            found = self._pool._live.next(self._last, self._timeout, self._all_runs)
            self._ended = found is None
            if found is not None and self._take(found[0]):
                return cast(HeldStep, self._step)
        raise StopIteration

    async def __anext__(self) -> HeldStep:
        """The wait is made in slices in another thread, so that it can be cancelled."""
        import asyncio  # not at the top: that takes 26 ms, and who calls this has it

        self._leave()
        give_up = None if self._timeout is None else time.monotonic() + self._timeout
        await asyncio.sleep(0)  # other tasks have their turn, also if there is always a step
        while not self._ended:
            found = self._pool._live.next(self._last, 0, self._all_runs)
            if found is None:
                began = time.monotonic()
                wait = _SLICE_S if give_up is None else max(0, min(_SLICE_S, give_up - began))
                found = await asyncio.to_thread(self._pool._live.next, self._last, wait, self._all_runs)
                # None is the end of the run or of the wait. The former comes at once; at the latest the next look finds it.
                at_once = time.monotonic() - began < wait / 2
                self._ended = found is None and (at_once or give_up is not None and time.monotonic() >= give_up)
            if found is not None and self._take(found[0]):
                return cast(HeldStep, self._step)
        raise StopAsyncIteration

    def close(self) -> None:
        """Ends the loop, and releases its last step."""
        self._ended = True
        self._leave()

    def _take(self, commit_seq: int) -> bool:
        self._last = commit_seq
        try:
            self._step = self._pool._hold(commit_seq, copy=self._copy)
        except NotKeptError:
            return False
        return True

    def _leave(self) -> None:
        step, self._step = self._step, None
        if step is None:
            return
        try:
            step._leave()
        except OverwrittenError:
            if not self._copy:  # copies were verified when they were made
                raise


class Pool:
    """A pool that is read. Made by `open`. Each call looks at it anew, because what it keeps changes during a run.

    pool[17] holds the newest committed step of iteration 17, pool[-1] the newest step, pool[-2] the one before. `in`,
    len() and iteration are about the iterations that are kept.

    A context manager, which closes it. It can be pickled: the copy opens the same file. In a child of fork() it opens the
    file anew; a step that was held belongs to the parent.

    >>> list(pool), 12 in pool, 3 in pool
    ([5, 6, 7, 8, 9, 10, 11, 12], True, False)
    >>> pool.variables["x"]
    Variable(dtype='f64', shape=(1000,), role='field', unit='K')
    """

    def __init__(self, path: str | os.PathLike[str], *, wait: float = 0) -> None:
        encoded = path_of("the pool", path)
        self.path: str = os.fspath(path)
        """As it was given."""
        self._absolute = os.path.abspath(encoded)
        self._reader: _core.Reader | None = _core.Reader(encoded, wait)
        self._process = os.getpid()
        self.variables: Mapping[str, Variable] = self._described(self._reader)
        """The variables of every step, by name."""
        self._names = {name: index for index, name in enumerate(self.variables)}
        self._tree: tuple[bytes, Tree] | None = None  # of the last step looked at: the table of what is packed, and what it says
        self._unrecorded = 0  # the commit_seq for whose record `columns` waited in vain
        self._outlived: list[weakref.finalize[..., npt.NDArray[Any]]] = []  # of arrays in place whose block has ended

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._reader is None

    def close(self) -> None:
        """Every later call that needs the file raises UsageError. Steps that are held, and arrays, stay as they are. A second call
        does nothing."""
        self._reader = None

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    def __reduce__(self) -> tuple[type[Pool], tuple[str]]:
        self._live.variables()  # not of a pool that was closed
        return type(self), (os.fsdecode(self._absolute),)

    @property
    def _live(self) -> _core.Reader:
        if self._reader is None:
            raise UsageError(f"{self.path}: the pool was closed; open it again")
        if self._process != os.getpid():  # a child of fork(), in which the parent's handle is refused
            reader = _core.Reader(self._absolute, 0)
            if self._described(reader) != self.variables:
                raise UsageError(f"{self.path}: this child of fork() finds another pool there than its parent opened; open it again")
            self._reader, self._process = reader, os.getpid()
        return self._reader

    def _described(self, reader: _core.Reader) -> Named[Variable]:
        return Named(f"variable of {self.path}", {
            name: Variable(dtype, shape, _ROLE_NAMES[role], unit) for name, dtype, role, shape, unit in reader.variables()})

    @property
    def runs(self) -> list[RunInfo]:
        """The runs that the pool knows, the newest last."""
        return [RunInfo(run_id.hex(), problem_id.hex(), datetime.datetime.fromtimestamp(started, datetime.timezone.utc),
                        work, solver, problem, parameters)
                for run_id, problem_id, started, work, solver, problem, parameters in self._live.runs()]

    @property
    def steps(self) -> list[StepInfo]:
        """The committed steps, in the order of their commits."""
        return [_step_info(step) for step in self._live.steps()]

    def __len__(self) -> int:
        return len(self._live.steps())

    def __iter__(self) -> Iterator[int]:
        return iter(dict.fromkeys(step.iteration for step in self.steps))

    def __reversed__(self) -> Iterator[int]:
        return reversed([step.iteration for step in self.steps])

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
        return self._hold(step)

    def _hold(self, step: StepInfo | int, *, copy: bool | None = None) -> HeldStep:
        self._warn_of_stale_arrays()
        commit_seq = step.commit_seq if isinstance(step, StepInfo) else whole("a commit_seq", step, -2**63)
        if not 0 < commit_seq < _LAST_SEQ:
            raise NotKeptError(f"{self.path}: no step has the commit_seq {commit_seq}; expected one of pool.steps")
        try:
            held = self._live.hold(commit_seq)
        except OverwrittenError as error:
            raise NotKeptError(str(error)) from None
        if held is None:
            raise NotKeptError(f"{self.path}: there is no step with the commit_seq {commit_seq} yet")
        return HeldStep(self, held, copy=copy)

    def _watch(self, core: _core.HeldStep, arrays: Iterable[weakref.ref[npt.NDArray[Any]]]) -> None:
        """Arrays in place that are kept beyond their block: the last check is made when they go."""
        for reference in arrays:
            array = reference()
            if array is not None:
                finalizer = weakref.finalize(array, _is_stale, core, self.path)
                finalizer.atexit = False
                self._outlived.append(finalizer)

    def _warn_of_stale_arrays(self) -> None:
        """The check of these arrays, before each hold."""
        kept, self._outlived = self._outlived, []
        for finalizer in kept:
            alive = finalizer.peek()
            if alive is None:
                continue
            core, path = alive[2]
            if _is_stale(core, path, stacklevel=6):
                finalizer.detach()
            else:
                self._outlived.append(finalizer)

    def read(self, iteration: int, name: str) -> Any:
        """A verified copy of a variable, or of a nested structure, without a hold. Raises NotKeptError, OverwrittenError,
        DamagedError.

        >>> pool.read(-1, "n")
        array([18446744073709551604, 18446744073709551604, 18446744073709551604,
               18446744073709551604], dtype=uint64)
        """
        commit_seq = self._find(iteration).commit_seq

        @functools.cache
        def copy(variable: str) -> npt.NDArray[Any]:
            return self._live.copy(commit_seq, self._index(variable))

        if not is_own(name, self.variables) and (tree := tree_of(self, copy)) is not None:
            if name in tree:
                return tree.entry(name, copy)
            if name not in self.variables:
                raise unknown_name(f"variable of {self.path}", name, tree.names())
        return copy(name)

    def array(self, name: str, steps: slice | Iterable[StepInfo | int] = slice(None), *,
              part: Any = ()) -> npt.NDArray[Any]:
        """A verified copy of a variable of several steps as one array, whose first axis is that of the steps.

        steps: a slice as of pool[...], steps of it, or iterations. part: an index of each step's array as NumPy takes
        it, such as numpy.s_[100:200, 0]: only that is copied. Raises as `read`, which it does for one step after the
        other.

        >>> pool.array("x", pool[10:], part=slice(0, 3))
        array([[10., 11., 12.],
               [11., 12., 13.],
               [12., 13., 14.]])
        """
        index = self._index(name, f". What is packed is read of one step: pool.read(ITERATION, {name!r})" if TABLE in self._names else "")
        if isinstance(steps, (int, np.integer, StepInfo)):
            raise UsageError(f"{self.path}: array: found one step, {steps!r}; expected a slice or several: [{steps!r}], or pool.read")
        chosen = self._select(steps) if isinstance(steps, slice) else [
            step if isinstance(step, StepInfo) else self._find(step) for step in steps]
        variable = self.variables[name]
        like = np.broadcast_to(np.zeros((), variable.numpy_dtype), variable.shape)[part]
        made = np.empty((len(chosen), *np.shape(like)), variable.numpy_dtype)
        for row, step in enumerate(chosen):
            try:
                held = self.hold(step)
            except (ResourceError, NotKeptError):  # no locks, or about to be overwritten
                made[row] = self._live.copy(step.commit_seq, index)[part]
            else:
                with held:
                    made[row] = held[name][part]
        return made

    def results(self, step: StepInfo) -> dict[str, Any]:
        """What was recorded of a step, by name (see HeldStep.results)."""
        return Named(f"result of iteration {step.iteration}",
                     {name: value for name, _, _, _, value in self._live.results(step.commit_seq)})

    def follow(self, *, after: StepInfo | int = 0, timeout: float | None = None, all_runs: bool = False,
               copy: bool = True) -> Following:
        """Holds one step after the other: first the kept ones, from the oldest, then each that the analyzer commits. Ends
        when the run has ended and there is no further step.

        step["x"] is a verified copy, so it stays what it is when its step is overwritten. A step is released when the next one
        is asked for; later, step["x"] is refused. Steps that were overwritten before their turn
        are left out. `async for` works, too: in asyncio, a wait leaves the loop to other tasks and can be cancelled.

        after: begins behind this step of `steps` (or commit_seq); pool.steps[-1] gives new steps only.
        timeout: seconds without a new step after which the loop ends, too; None waits until Ctrl-C.
        all_runs: continues with the runs that follow.
        copy: False gives arrays in place, as in a `with` block: asking for the next step raises OverwrittenError if the
            analyzer needed the slot, and a loop that is left by `break` calls step.check() itself.

        >>> xs = [step["x"] for step in pool.follow()]
        >>> [float(x[0]) for x in xs]
        [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
        """
        last = after.commit_seq if isinstance(after, StepInfo) else whole("after", after)
        return Following(self, last, timeout, all_runs, copy)

    def records(self, *, after: int = 0) -> Iterator[Record]:
        """The records of the journal beside the pool whose seq is greater than `after`: all runs, and all steps, also
        those that the ring has overwritten. Ends with the last record that is there now. Without a journal there are
        none."""
        after = whole("after", after, most=2**64 - 2)
        while (found := self._live.next_record(after + 1)) is not None:
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

        The first columns are commit_seq, iteration and step; run, which is 1 for the oldest run of the pool and its journal, and
        run_id. Then follow unix_ns, when the record was written;
        generate_ns and producer_idle_ns, the solver's work and its wait for a buffer; analyzer_idle_ns, hand_off_ns,
        transfer_ns, commit_ns, analyze_ns and record_ns; bytes_transferred, skipped_before and published_at_ns: these are 0 for a
        step that is not in the journal. The others are the results of count 1 by name, and those of analyses
        (docs/use/questions.md): NaN for the steps that these did not look at. An absent f64 is NaN. A column of
        another type is an array of objects if a value is absent or has more than 64 bits: ints, and None.
        """
        run_id = run.run_id if isinstance(run, RunInfo) else run
        steps = self.steps
        first, newest = (steps[0].commit_seq, steps[-1].commit_seq) if steps else (_LAST_SEQ if kept else 0, 0)
        fields, results, is_there, runs, run_ids = self._live.recorded(
            None if run_id is None else _bytes_of(run_id), first if kept else 0, newest,
            0 if newest == self._unrecorded else wait)
        if not is_there and wait > 0:
            self._unrecorded = newest
        # The journal has the runs in their order. One that only the ring knows is newer, or there is no journal.
        known = list(dict.fromkeys([*(run_id.hex() for run_id in run_ids), *(step.run_id for step in steps)]))
        if run_id is not None and run_id not in known:
            raise UsageError(f"{self.path}: run: found {run_id!r}; expected one of {', '.join(known) or 'none: there is no run'}")
        recorded = recorded_columns(fields, results, runs, known)
        # The numbers of commits begin anew in a pool that was made anew, and the journal may know both: so the run tells, too.
        run_of = {step.commit_seq: known.index(step.run_id) + 1 for step in steps}
        there = np.isin(recorded["commit_seq"], list(run_of))
        there[there] = recorded["run"][there] == [run_of[commit] for commit in recorded["commit_seq"][there].tolist()]
        found = set(recorded["commit_seq"][there].tolist())
        if kept:
            recorded = {name: column[there] for name, column in recorded.items()}
        rows = []
        for step in steps:
            if run_id not in (None, step.run_id) or step.commit_seq in found:
                continue
            try:
                rows.append((step, self._live.results(step.commit_seq)))
            except (UsageError, OverwrittenError):
                continue  # overwritten since
        return Named(f"column of {self.path}", joined(recorded, columns_of(rows, known)))

    def table(self, *, run: RunInfo | str | None = None, kept: bool = False, wait: float = 1) -> npt.NDArray[Any]:
        """The same as one structured array, a row for each step: pandas.DataFrame(pool.table()).

        >>> pool.table()[["run", "iteration", "solver.residual"]][:2]
        array([(1, 1, 0.1 ), (1, 2, 0.01)],
              dtype={'names': ['run', 'iteration', 'solver.residual'], ...
        """
        return structured(self.columns(run=run, kept=kept, wait=wait))

    def arrow(self, *, run: RunInfo | str | None = None, kept: bool = False, wait: float = 1) -> Any:
        """The same as a pyarrow.Table, without a copy of the columns of numbers. Columns of objects become int64 with
        nulls, or decimals if an int has more than 64 bits. Needs pyarrow."""
        return arrow_table(self.columns(run=run, kept=kept, wait=wait))

    def to_xarray(self, *, run: RunInfo | str | None = None, dims: Mapping[str, Sequence[str]] | None = None) -> xarray.Dataset:
        """The kept steps as an xarray.Dataset along `iteration`, with the coordinates `run` and `commit_seq`: the variables, which are
        read when they are used, and every recorded number. Needs xarray.

        run: only its steps; with those of several runs, an iteration may be there twice. dims: names of the dimensions of
        variables, by name; x_0, x_1 ... otherwise. A step that is overwritten before it is read raises NotKeptError.
        """
        from .xarray import dataset_of

        return dataset_of(self, run=run, dims=dims)

    def __repr__(self) -> str:
        kept = "closed" if self.closed else f"{len(self)} steps"
        return f"<ringside.Pool {self.path}: {', '.join(self.variables)}; {kept}>"

    def _ipython_key_completions_(self) -> list[int]:
        return list(self)

    def _repr_html_(self) -> str | None:
        if self.closed:
            return None
        from .html import page_of

        return page_of(self)

    def _index(self, name: str, behind: str = "") -> int:
        if not isinstance(name, str) or name not in self._names:
            raise unknown_name(f"variable of {self.path}", name, self._names, behind=behind)
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


def _is_stale(core: _core.HeldStep, path: str, stacklevel: int = 2) -> bool:
    """Whether an array in place, which was kept beyond its block, has another step's bytes. Nothing else tells the program."""
    try:
        core.check()
    except OverwrittenError as error:
        warnings.warn(f"{path}: an array in place was kept after its block, and {error}; copy what you keep: step[\"x\"].copy()",
                      RuntimeWarning, stacklevel=stacklevel)
        return True
    except UsageError:  # released since, or of the parent of this process
        return True
    return False


def _step_info(step: tuple[int, int, int, bytes]) -> StepInfo:
    commit_seq, iteration, number, run_id = step
    return StepInfo(commit_seq, iteration, number, run_id.hex())


def _bytes_of(run_id: str) -> bytes:
    try:
        return bytes.fromhex(run_id)
    except (TypeError, ValueError):
        raise UsageError(f"run {run_id!r}; expected one of pool.runs, or its run_id of 32 hexadecimal digits") from None
