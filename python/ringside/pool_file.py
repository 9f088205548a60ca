# SPDX-License-Identifier: BSD-3-Clause
"""The file behind a `Pool` (reading.py): its handle, its present steps and runs, and the search for an iteration's step."""

from __future__ import annotations

import datetime
import os
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy.typing as npt

from . import _core
from .arguments import in_slice, path_of, whole
from .errors import Error, Named, NotKeptError, OverwrittenError, UsageError, unknown_name
from .records import RunInfo, StepInfo
from .trees import Tree
from .variables import ROLES, Role, Variable

_ROLE_NAMES: dict[int, Role] = {number: name for name, number in ROLES.items()}


class PoolFile:
    """Each call reads the file again, because the kept steps change during a run."""

    def __init__(self, path: str | os.PathLike[str], *, wait: float = 0) -> None:
        encoded = path_of("the pool", path)
        self.path: str = os.fspath(path)
        """The path as it was given."""
        self._absolute = os.path.abspath(encoded)
        self._reader: _core.Reader | None = _core.Reader(encoded, wait)
        self._process = os.getpid()
        self.variables: Mapping[str, Variable] = self._described(self._reader)
        """The variables of every step, by name."""
        self._names = {name: index for index, name in enumerate(self.variables)}
        self._tree: tuple[bytes, Tree] | None = None  # table of packed arrays of the last step read: bytes, decoded
        self._unrecorded = 0  # the commit_seq for whose record `columns` has waited without success
        self._outlived: list[weakref.finalize[..., npt.NDArray[Any]]] = []  # for arrays in place whose block has ended

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._reader is None

    def close(self) -> None:
        """Closes the file: every later call that needs the file raises UsageError. Held steps and arrays are not affected. A
        second call does nothing."""
        self._reader = None

    def __reduce__(self) -> tuple[type[PoolFile], tuple[str]]:
        self._live.variables()  # raises if the pool was closed
        return type(self), (os.fsdecode(self._absolute),)

    @property
    def _live(self) -> _core.Reader:
        if self._reader is None:
            raise UsageError(f"{self.path}: the pool was closed; open it again")
        if self._process != os.getpid():  # in a child of fork(), the parent's handle is refused
            reader = _core.Reader(self._absolute, 0)
            if self._described(reader) != self.variables:
                raise UsageError(f"{self.path}: the parent of this child of fork() opened another pool at this path; open it again")
            self._reader, self._process = reader, os.getpid()
        return self._reader

    def _described(self, reader: _core.Reader) -> Named[Variable]:
        return Named(f"variable of {self.path}", {
            name: Variable(dtype, shape, _ROLE_NAMES[role], unit) for name, dtype, role, shape, unit in reader.variables()})

    @property
    def runs(self) -> list[RunInfo]:
        """The runs that the pool knows; the newest run is last."""
        return [RunInfo(run_id.hex(), problem_id.hex(), datetime.datetime.fromtimestamp(started, datetime.timezone.utc),
                        work, solver, problem, parameters)
                for run_id, problem_id, started, work, solver, problem, parameters in self._live.runs()]

    @property
    def steps(self) -> list[StepInfo]:
        """The committed steps, in the order of their commits."""
        return [step_info(step) for step in self._live.steps()]

    def __len__(self) -> int:
        return len(self._live.steps())

    def __iter__(self) -> Iterator[int]:
        return iter(dict.fromkeys(step.iteration for step in self.steps))

    def __reversed__(self) -> Iterator[int]:
        return reversed([step.iteration for step in self.steps])

    def __contains__(self, iteration: object) -> bool:
        return any(step.iteration == iteration for step in self.steps)

    def results(self, step: StepInfo) -> dict[str, Any]:
        """The recorded results of a step, by name (see HeldStep.results)."""
        return Named(f"result of iteration {step.iteration}",
                     {name: value for name, _, _, _, value in self._live.results(step.commit_seq)})

    def _ipython_key_completions_(self) -> list[int]:
        return list(self)

    def _watch(self, core: _core.HeldStep, arrays: Iterable[weakref.ref[npt.NDArray[Any]]]) -> None:
        """For arrays in place that are kept after their block: the last check of an array is made when it is deleted."""
        for reference in arrays:
            array = reference()
            if array is not None:
                finalizer = weakref.finalize(array, is_stale, core, self.path)
                finalizer.atexit = False
                self._outlived.append(finalizer)

    def _warn_of_stale_arrays(self) -> None:
        """Called before each hold: checks these arrays, and warns of those whose step was overwritten."""
        kept, self._outlived = self._outlived, []
        for finalizer in kept:
            alive = finalizer.peek()
            if alive is None:
                continue
            core, path = alive[2]
            if is_stale(core, path, stacklevel=6):
                finalizer.detach()
            else:
                self._outlived.append(finalizer)

    def _index(self, name: str, behind: str = "") -> int:
        if not isinstance(name, str) or name not in self._names:
            raise unknown_name(f"variable of {self.path}", name, self._names, behind=behind)
        return self._names[name]

    def _select(self, chosen: slice) -> list[StepInfo]:
        steps = self.steps
        return in_slice(chosen, steps, [step.iteration for step in steps])

    def _find(self, iteration: int) -> StepInfo:
        if isinstance(iteration, str) and iteration in self._names:
            raise UsageError(f"{self.path}: {iteration!r} is a variable; expected an iteration first: "
                             f"pool[17][{iteration!r}], or pool.array({iteration!r})")
        iteration = whole("an iteration", iteration, -2**63)
        steps = self.steps
        if iteration < 0:
            if -iteration <= len(steps):
                return steps[iteration]
            raise NotKeptError(f"{self.path}: {len(steps)} steps are kept; a negative iteration counts from the end: "
                               f"found {iteration}, expected at least {-len(steps)}")
        for step in reversed(steps):
            if step.iteration == iteration:
                return step
        kept = ", ".join(str(step.iteration) for step in steps[-8:]) or "none"
        raise NotKeptError(f"{self.path}: iteration {iteration} is not kept; the newest kept are {kept}"
                           f"{self._in_the_archive(iteration)}")

    def _in_the_archive(self, iteration: int) -> str:
        """The text about the archive for a message, if triggers have kept the iteration in the archive."""
        path = os.fsdecode(self.path) + ".archive"
        try:
            kept = any(step[1] == iteration for step in _core.Reader(path_of("the archive", path), 0).steps())
        except Error:  # there is no archive, or it cannot be read
            return ""
        return f"; its archive keeps it: open {path!r}" if kept else ""


def is_stale(core: _core.HeldStep, path: str, stacklevel: int = 2) -> bool:
    """Whether an array in place that was kept after its block has the bytes of another step. If so, warns the program."""
    try:
        core.check()
    except OverwrittenError as error:
        warnings.warn(f"{path}: an array in place was kept after its block, and {error}; copy what you keep: step[\"x\"].copy()",
                      RuntimeWarning, stacklevel=stacklevel)
        return True
    except UsageError:  # released meanwhile, or held by the parent of this process
        return True
    return False


def step_info(step: tuple[int, int, int, bytes]) -> StepInfo:
    commit_seq, iteration, number, run_id = step
    return StepInfo(commit_seq, iteration, number, run_id.hex())
