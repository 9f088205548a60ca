# SPDX-License-Identifier: BSD-3-Clause
"""Steps that are held: `pool[17]` gives a `HeldStep`, and `pool.follow()` gives one after the other."""

from __future__ import annotations

import contextlib
import time
import weakref
from collections.abc import AsyncIterator, Iterator, Mapping
from types import TracebackType
from typing import Any, cast

import numpy.typing as npt

from . import _core
from .arguments import whole
from .errors import NotKeptError, OverwrittenError, UsageError
from .pool_file import PoolFile, step_info
from .records import StepInfo
from .step_mapping import StepMapping
from .trees import Tree, tree_of
from .variables import Variable

__all__ = ["LAST_SEQ", "Following", "HeldStep", "hold_step"]

LAST_SEQ = 2**64 - 1  # no commit_seq has this value, which has another meaning in ringside.h
_SLICE_S = 0.1  # the longest wait in another thread, because it cannot be interrupted


class HeldStep(StepMapping["npt.NDArray[Any]"]):
    """A held step, as a mapping of names to read-only, verified arrays.

    In its `with` block, step["x"] is the array in place: no byte is copied. Leaving the block checks that the step was not
    overwritten meanwhile, and raises OverwrittenError otherwise. Outside of a block, as in pool[17]["x"], step["x"] is a copy.

    While a step is held, the analyzer overwrites other slots, as long as there are others. While an array in place exists,
    its step stays held, even after the block. But after the block the array is not checked: copy what you keep.

    >>> with pool[-1] as step:
    ...     step.iteration, sorted(step), float(step["x"].max())
    (12, ['n', 'x'], 1011.0)
    """

    def __init__(self, pool: PoolFile, core: _core.HeldStep, *, copy: bool | None = None) -> None:
        self._pool = pool
        self._held: _core.HeldStep | None = core
        self._copies = copy is not False  # if copy is None, true until the step's block begins
        self._stays = copy is not None
        self._copied: dict[str, npt.NDArray[Any]] = {}
        self._given: dict[int, tuple[npt.NDArray[Any], bool]] = {}  # arrays in place, and whether each is verified
        self._tree: Tree | None = None  # set on its first use, if anything is packed
        self.variables: Mapping[str, Variable] = pool.variables
        self.info: StepInfo = step_info(core.info())
        """Its commit_seq, iteration, number in its attachment (`step`), and run_id."""
        self.iteration: int = self.info.iteration

    @property
    def commit_seq(self) -> int:
        """The step's number in the pool, with which `pool.hold` finds the step."""
        return self.info.commit_seq

    @property
    def held(self) -> bool:
        """Whether the step is held: False after its block, and after `release`."""
        return self._held is not None and self._held.held

    @property
    def results(self) -> dict[str, Any]:
        """The recorded results of the step, by name. Sums of integers are ints of any size.

        Empty until the analyzer has recorded the results. None means that a value is absent, for instance the change of
        a run's first step.

        >>> pool[-1].results["n.sum"]
        73786976294838206416
        """
        return self._pool.results(self.info)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Raises UnknownNameError, DamagedError, OverwrittenError, or UsageError after the release. Each variable is hashed
        once. A nested structure that was published is returned as a structure of such arrays; type checkers need `tree`."""
        found: npt.NDArray[Any] = self._entry(name, self._array)
        return found

    def view(self, name: str) -> npt.NDArray[Any]:
        """The array in place, inside and outside of a block, without a hash check."""
        found: npt.NDArray[Any] = self._entry(name, lambda variable: self._in_place(self._index(variable), False))
        return found

    def verify(self) -> None:
        """Hashes all variables in place. Raises DamagedError or OverwrittenError."""
        self._live.verify()

    def check(self) -> None:
        """Raises OverwrittenError unless everything read so far through arrays in place belongs to this step."""
        self._live.check()

    def release(self) -> None:
        """Checks a last time, and ends the hold even if this check fails. Arrays in place are then stale, because another step
        may use their memory. A second call does nothing."""
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
        """The variable's array, in place or as a copy."""
        index = self._index(name)
        if not self._copies:
            return self._in_place(index, True)
        if not self.held:
            raise self._released()
        if name not in self._copied:
            self._live.check()
            copied = self._pool._live.copy(self.commit_seq, index)
            copied.flags.writeable = False  # like the array in place
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
        array = viewed if array is None else array  # one array per variable, so that kept references are noticed
        self._given[index] = array, verify
        return array

    def _leave(self) -> None:
        """Ends a block: makes the last check, and ends the hold. If arrays in place still exist, they keep the step held."""
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
            with contextlib.suppress(OverwrittenError):  # the same error again
                self.release()
            raise
        finally:
            self._held = None


def hold_step(pool: PoolFile, step: StepInfo | int, *, copy: bool | None = None) -> HeldStep:
    """Holds a step of `steps`, or the step with a commit_seq. copy: as in `Pool.follow`; None means True before the step's block,
    and False from its beginning."""
    pool._warn_of_stale_arrays()
    commit_seq = step.commit_seq if isinstance(step, StepInfo) else whole("a commit_seq", step, -2**63)
    if not 0 < commit_seq < LAST_SEQ:
        raise NotKeptError(f"{pool.path}: no step has the commit_seq {commit_seq}; expected one of pool.steps")
    try:
        held = pool._live.hold(commit_seq)
    except OverwrittenError as error:
        raise NotKeptError(str(error)) from None
    if held is None:
        raise NotKeptError(f"{pool.path}: there is no step with the commit_seq {commit_seq} yet")
    return HeldStep(pool, held, copy=copy)


class Following(Iterator[HeldStep], AsyncIterator[HeldStep]):
    """The result of Pool.follow: an iterator for `for` and `async for`. Requesting the next step releases the previous
    one."""

    def __init__(self, pool: PoolFile, after: int, timeout: float | None, all_runs: bool, copy: bool) -> None:
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
        """Waits in another thread, a short time per call, so that the wait can be cancelled."""
        import asyncio  # not at the top: it takes 26 ms, and callers of this have imported it

        self._leave()
        give_up = None if self._timeout is None else time.monotonic() + self._timeout
        await asyncio.sleep(0)  # lets other tasks run, even if there is always a next step
        while not self._ended:
            found = self._pool._live.next(self._last, 0, self._all_runs)
            if found is None:
                began = time.monotonic()
                wait = _SLICE_S if give_up is None else max(0, min(_SLICE_S, give_up - began))
                found = await asyncio.to_thread(self._pool._live.next, self._last, wait, self._all_runs)
                # None means that the run or the wait has ended. If the run has ended, this call or the next one returns
                # at once.
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
            self._step = hold_step(self._pool, commit_seq, copy=self._copy)
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
            if not self._copy:  # copies were verified when they were made, and remain valid
                raise
