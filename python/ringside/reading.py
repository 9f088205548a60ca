# SPDX-License-Identifier: BSD-3-Clause
"""Reading a pool, also while it is written: `ringside.open` gives a `Pool`, and `pool[17]` gives a `HeldStep`
(held_step.py)."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from .arguments import whole
from .errors import Named, NotKeptError, OverwrittenError, ResourceError, UsageError, unknown_name
from .held_step import LAST_SEQ, Following, HeldStep, hold_step
from .pool_file import PoolFile
from .records import Record, RunInfo, StepInfo
from .table import arrow_table, columns_of, joined, recorded_columns, structured
from .trees import TABLE, is_own, tree_of

if TYPE_CHECKING:
    import xarray

__all__ = ["Pool"]


class Pool(PoolFile):
    """A pool opened for reading, made by `open`. Each call reads the file again, because its content changes during a run.

    pool[17] holds the newest committed step of iteration 17, pool[-1] the newest step, pool[-2] the step before it.
    `in`, len() and loops refer to the kept iterations.

    A pool is a context manager: leaving its block closes it. It can be pickled: the copy opens the same file. In a child of
    fork() it opens the file again; a held step belongs to the parent.

    >>> list(pool), 12 in pool, 3 in pool
    ([5, 6, 7, 8, 9, 10, 11, 12], True, False)
    >>> pool.variables["x"]
    Variable(dtype='f64', shape=(1000,), role='field', unit='K')
    """

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    @overload
    def __getitem__(self, iteration: int) -> HeldStep: ...

    @overload
    def __getitem__(self, iteration: slice) -> list[StepInfo]: ...

    def __getitem__(self, iteration: int | slice) -> HeldStep | list[StepInfo]:
        """Holds a step. Raises NotKeptError (a LookupError), or ResourceError if the file system lacks the locks that a hold
        needs (use `read`).

        A slice holds nothing: pool[10:20] lists the kept steps of the iterations 10 to 19, pool[-3:] the newest three
        steps, pool[::2] every second step. `array` and `hold` accept the listed steps.
        """
        return self._select(iteration) if isinstance(iteration, slice) else self.hold(self._find(iteration))

    def hold(self, step: StepInfo | int) -> HeldStep:
        """Holds a step of `steps`, or the step with a commit_seq."""
        return hold_step(self, step)

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
        """A verified copy of a variable in several steps, as one array whose first axis is that of the steps.

        steps: a slice as in pool[...], steps that a slice lists, or iterations. part: a NumPy index into each step's array,
        such as numpy.s_[100:200, 0]; only this part is copied. Reads one step after the other, and raises the same
        exceptions as `read`.

        >>> pool.array("x", pool[10:], part=slice(0, 3))
        array([[10., 11., 12.],
               [11., 12., 13.],
               [12., 13., 14.]])
        """
        index = self._index(name, f". Packed arrays can be read from one step only: pool.read(ITERATION, {name!r})"
                            if TABLE in self._names else "")
        if isinstance(steps, (int, np.integer, StepInfo)):
            raise UsageError(f"{self.path}: array: found one step, {steps!r}; expected a slice or a list: [{steps!r}], or "
                             "pool.read")
        chosen = self._select(steps) if isinstance(steps, slice) else [
            step if isinstance(step, StepInfo) else self._find(step) for step in steps]
        variable = self.variables[name]
        like = np.broadcast_to(np.zeros((), variable.numpy_dtype), variable.shape)[part]
        made = np.empty((len(chosen), *np.shape(like)), variable.numpy_dtype)
        for row, step in enumerate(chosen):
            try:
                held = self.hold(step)
            except (ResourceError, NotKeptError):  # no file locks, or the step is about to be overwritten
                made[row] = self._live.copy(step.commit_seq, index)[part]
            else:
                with held:
                    made[row] = held[name][part]
        return made

    def follow(self, *, after: StepInfo | int = 0, timeout: float | None = None, all_runs: bool = False,
               copy: bool = True) -> Following:
        """Holds one step after another: first the kept steps, from the oldest on, and then each step that the analyzer
        commits. Ends when the run has ended and there is no further step.

        step["x"] is a verified copy, so it remains valid when its step is overwritten. Requesting the next step releases
        the one before; step["x"] of a released step is refused. Steps that were overwritten before their turn are left
        out. `async for` works, too: in asyncio, other tasks run during a wait, and the wait can be cancelled.

        after: begins after this step of `steps` (or commit_seq); pool.steps[-1] gives new steps only.
        timeout: the loop also ends after this many seconds without a new step; None waits until Ctrl-C.
        all_runs: continues with the runs that follow.
        copy: False gives arrays in place, as in a `with` block: requesting the next step raises OverwrittenError if the
            analyzer needed the slot. A loop that is left by `break` must call step.check() itself.

        >>> xs = [step["x"] for step in pool.follow()]
        >>> [float(x[0]) for x in xs]
        [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
        """
        last = after.commit_seq if isinstance(after, StepInfo) else whole("after", after)
        return Following(self, last, timeout, all_runs, copy)

    def records(self, *, after: int = 0) -> Iterator[Record]:
        """The records with a seq greater than `after` in the journal beside the pool: of all runs and all steps, including
        the steps that the ring has overwritten. Ends with the last record present now. Without a journal there are no
        records."""
        after = whole("after", after, most=2**64 - 2)
        while (found := self._live.next_record(after + 1)) is not None:
            after, kind, unix_ns, run_id, fields, results = found
            written = datetime.datetime.fromtimestamp(unix_ns * 1e-9, datetime.timezone.utc)
            yield Record(after, kind, written, run_id.hex(), fields, {name: value for name, _, _, _, value in results})

    def columns(self, *, run: RunInfo | str | None = None, kept: bool = False,
                wait: float = 1) -> dict[str, npt.NDArray[Any]]:
        """The recorded numbers of the steps: a contiguous array for each number, in the order of commit_seq.

        The steps are those of the journal beside the pool, including those that the ring has overwritten, and those that
        the ring keeps. run: one of `runs`, or its run_id; None for all. kept: only the steps that the ring keeps. wait: how
        many seconds to wait until the journal has the record of the newest kept step, which follows soon after the step's
        commit. Without an analyzer, this record may never follow, so later calls do not wait for it again.

        The first columns are commit_seq, iteration and step; run, which is 1 for the oldest run of the pool and its
        journal; and run_id. Then follow unix_ns, the time at which the record was written; generate_ns and
        producer_idle_ns, the solver's work and its wait for a buffer; analyzer_idle_ns, hand_off_ns, transfer_ns,
        commit_ns, analyze_ns and record_ns; bytes_transferred, skipped_before and published_at_ns. The columns from
        unix_ns to published_at_ns are 0 for a step that is not in the journal. The other columns are the results of
        count 1, by name, and the results of analyses (docs/use/questions.md), which are NaN for steps that the analyses
        did not process. An absent f64 is NaN. A column of another type becomes an array of objects (ints, and None) if a
        value is absent or has more than 64 bits.
        """
        run_id = run.run_id if isinstance(run, RunInfo) else run
        steps = self.steps
        first, newest = (steps[0].commit_seq, steps[-1].commit_seq) if steps else (LAST_SEQ if kept else 0, 0)
        fields, results, is_there, runs, run_ids = self._live.recorded(
            None if run_id is None else _bytes_of(run_id), first if kept else 0, newest,
            0 if newest == self._unrecorded else wait)
        if not is_there and wait > 0:
            self._unrecorded = newest
        # The journal has the runs in order. A run that only the ring has is newer than these, or there is no journal.
        known = list(dict.fromkeys([*(run_id.hex() for run_id in run_ids), *(step.run_id for step in steps)]))
        if run_id is not None and run_id not in known:
            raise UsageError(f"{self.path}: run: found {run_id!r}; expected one of {', '.join(known) or 'none: there is no run'}")
        recorded = recorded_columns(fields, results, runs, known)
        # A step is identified by its commit number and its run. If a pool was replaced by a new one, the numbers begin
        # again, and the journal may contain records of both pools.
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
                continue  # the step was overwritten meanwhile
        return Named(f"column of {self.path}", joined(recorded, columns_of(rows, known)))

    def table(self, *, run: RunInfo | str | None = None, kept: bool = False, wait: float = 1) -> npt.NDArray[Any]:
        """The columns as one structured array, a row for each step: pandas.DataFrame(pool.table()).

        >>> pool.table()[["run", "iteration", "solver.residual"]][:2]
        array([(1, 1, 0.1 ), (1, 2, 0.01)],
              dtype={'names': ['run', 'iteration', 'solver.residual'], ...
        """
        return structured(self.columns(run=run, kept=kept, wait=wait))

    def arrow(self, *, run: RunInfo | str | None = None, kept: bool = False, wait: float = 1) -> Any:
        """The columns as a pyarrow.Table, without a copy of the columns of numbers. Columns of objects become int64 with
        nulls, or decimals if an int has more than 64 bits. Needs pyarrow."""
        return arrow_table(self.columns(run=run, kept=kept, wait=wait))

    def to_xarray(self, *, run: RunInfo | str | None = None, dims: Mapping[str, Sequence[str]] | None = None) -> xarray.Dataset:
        """The kept steps as an xarray.Dataset along `iteration`, with the coordinates `run` and `commit_seq`. It has the
        variables, which are read when they are used, and every recorded number. Needs xarray.

        run: only the steps of this run; with steps of several runs, an iteration may occur twice. dims: for the name of a
        variable, the names of its dimensions; by default x_0, x_1 ... for the variable x. A step that is overwritten
        before it is read raises NotKeptError.
        """
        from .xarray import dataset_of

        return dataset_of(self, run=run, dims=dims)

    def __repr__(self) -> str:
        kept = "closed" if self.closed else f"{len(self)} steps"
        return f"<ringside.Pool {self.path}: {', '.join(self.variables)}; {kept}>"

    def _repr_html_(self) -> str | None:
        if self.closed:
            return None
        from .html import page_of

        steps = self.steps
        columns = self.columns(run=steps[-1].run_id if steps else None, wait=0)
        return page_of(self.path, self.variables, self.runs, columns)


def _bytes_of(run_id: str) -> bytes:
    try:
        return bytes.fromhex(run_id)
    except (TypeError, ValueError):
        raise UsageError(f"run {run_id!r}; expected one of pool.runs, or its run_id of 32 hexadecimal digits") from None
