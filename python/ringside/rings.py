# SPDX-License-Identifier: BSD-3-Clause
"""Reads the rings of an MPI run on all nodes as one ring (docs/publish/mpi.md). `ringside.open` returns `Rings` for the
folder of the rings, or for a ranks file; `rings[17]` returns a `GlobalStep`."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, cast, overload

import numpy as np
import numpy.typing as npt

from .arguments import in_slice, path_of, whole
from .errors import Error, Named, NoFileError, NotKeptError, OverwrittenError, UsageError, unknown_name
from .held_step import HeldStep, hold_step
from .ranks_file import ENDING, RanksFile, kept_shape, read_ranks, regions_pattern
from .reading import Pool
from .records import StepInfo
from .step_mapping import StepMapping
from .variables import Variable

if TYPE_CHECKING:
    import xarray

__all__ = ["GlobalStep", "NodeRing", "Rings", "open", "open_rings"]


def open(path: str | os.PathLike[str], *, wait: float = 0) -> Pool:  # noqa: A001 (as gzip.open and others)
    """Opens the pool at `path` for reading, and returns a Pool. A process that writes the pool continues; neither of the two
    waits for the other.

    For a folder with all rings of an MPI run, or a ranks file (POOL.ranks), it returns Rings, which are read as one
    ring. For type checkers, `open_rings` does the same with a single return type.

    wait: seconds to wait for a pool that does not exist yet.

    Raises NoFileError if there is no file, UsageError if it is not a pool, ResourceError if it may not be read,
    DamagedError. For Rings, the message names the node.

    >>> with ringside.open("made.pool") as pool:
    ...     pool
    <ringside.Pool made.pool: x, n; 8 steps>
    """
    path_of("the pool", path)
    return cast(Pool, Rings(path, wait=wait)) if is_rings(path) else Pool(path, wait=wait)


def open_rings(path: str | os.PathLike[str], *, wait: float = 0) -> Rings:
    """Opens all rings of an MPI run: `path` is their folder, or a ranks file. Raises the same as `open`."""
    return Rings(path, wait=wait)


class NodeRing(NamedTuple):
    """The ring of a node."""

    name: str
    """For example, "node 1 (ranks 2 to 3)"."""
    host: str
    ranks: tuple[int, ...]
    pool: Pool
    """The pool, with the steps, the results and the journal of this node."""


class GlobalStep(StepMapping["npt.NDArray[Any]"]):
    """A step that is held in the rings of all nodes. It is a mapping: step["u"] is a verified copy of the whole array.

    It is also a context manager: leaving the block checks and releases the step.
    """

    def __init__(self, rings: Rings, iteration: int, held: list[HeldStep]) -> None:
        self._rings = rings
        self.variables: Mapping[str, Variable] = rings.variables
        self.iteration: int = iteration
        self.nodes: list[HeldStep] = held
        """The held step of each node, with that node's results."""

    @property
    def held(self) -> bool:
        """Whether the step is held: False after `release`."""
        return all(step.held for step in self.nodes)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Raises UnknownNameError, DamagedError, OverwrittenError, or UsageError after the release."""
        return self._rings._assembled(name, lambda node: _named(self._rings.nodes[node], lambda: self.nodes[node][name]))

    def verify(self) -> None:
        """Hashes all variables in place. Raises DamagedError or OverwrittenError."""
        for ring, step in zip(self._rings.nodes, self.nodes):
            _named(ring, step.verify)

    def check(self) -> None:
        """Raises OverwrittenError unless everything that was read up to now belongs to this step."""
        for ring, step in zip(self._rings.nodes, self.nodes):
            _named(ring, step.check)

    def release(self) -> None:
        """Checks a last time, and ends the hold even if this check fails. A second call does nothing."""
        with contextlib.ExitStack() as all_of_them:
            for step in self.nodes:
                all_of_them.callback(step.release)

    def __enter__(self) -> GlobalStep:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        try:
            self.release()
        except OverwrittenError:
            if error is None:
                raise

    def __repr__(self) -> str:
        state = "held" if self.held else "released"
        return f"<ringside.GlobalStep of iteration {self.iteration}, {state}: {', '.join(self)}>"


class Rings:
    """The rings of all nodes of one run. Made by `open`. Each call reads the files again.

    rings[17] holds the step of iteration 17 in every ring, rings[-1] the newest step that all rings have. `in`, len()
    and loops refer to the iterations that all rings have. The data of a single node are in `nodes`, for instance
    rings.nodes[1].pool.table().

    Closing, pickling and use in a child of fork() are as for a Pool.
    """

    def __init__(self, path: str | os.PathLike[str], *, wait: float = 0) -> None:
        path_of("the rings", path)
        self.path: str = os.fspath(path)
        """The path as it was given."""
        ranks, pools = _found(pathlib.Path(self.path))
        self._absolute = os.path.abspath(self.path)
        self.run_id: str = ranks.run_id
        self.variables: Mapping[str, Variable] = Named(f"variable of {self.path}", ranks.variables)
        """The variables of the whole run, by name."""
        self._ranks = ranks
        self.nodes: list[NodeRing] = [_opened(ranks, node, pool, wait) for node, pool in enumerate(pools)]
        """The ring of each node."""

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return all(ring.pool.closed for ring in self.nodes)

    def close(self) -> None:
        """Closes the pool of every node (Pool.close)."""
        for ring in self.nodes:
            ring.pool.close()

    def __enter__(self) -> Rings:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    def __reduce__(self) -> tuple[type[Rings], tuple[str]]:
        len(self)  # raises if the rings were closed
        return type(self), (self._absolute,)

    @property
    def steps(self) -> dict[int, list[StepInfo]]:
        """Returns the iterations that all rings hold, in ascending order, each with the step of each node."""
        of_nodes = [{step.iteration: step for step in ring.pool.steps if step.run_id == self.run_id} for ring in self.nodes]
        common = sorted(set.intersection(*(set(steps) for steps in of_nodes)))
        return {iteration: [steps[iteration] for steps in of_nodes] for iteration in common}

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[int]:
        return iter(self.steps)

    def __reversed__(self) -> Iterator[int]:
        return reversed(self.steps)

    def __contains__(self, iteration: object) -> bool:
        return iteration in self.steps

    @overload
    def __getitem__(self, iteration: int) -> GlobalStep: ...

    @overload
    def __getitem__(self, iteration: slice) -> list[int]: ...

    def __getitem__(self, iteration: int | slice) -> GlobalStep | list[int]:
        """Holds a step. Raises NotKeptError (a LookupError), or ResourceError if a file system lacks the locks that a hold
        needs (use `read`).

        A slice holds nothing: rings[10:20] lists the iterations 10 to 19 that all rings hold, rings[-3:] the newest three.
        """
        if isinstance(iteration, slice):
            return self._in_slice(iteration)
        found, steps = self._find(iteration)
        held: list[HeldStep] = []
        try:
            for ring, step in zip(self.nodes, steps):
                # Held in place, without a copy, because each part is copied into the whole array at once.
                held.append(_named(ring, lambda ring=ring, step=step: hold_step(ring.pool, step, copy=False)))
        except BaseException:
            for one in held:
                with contextlib.suppress(OverwrittenError):
                    one.release()
            raise
        return GlobalStep(self, found, held)

    def read(self, iteration: int, name: str) -> npt.NDArray[Any]:
        """A verified copy of a variable of the whole run, without a hold. Raises NotKeptError, OverwrittenError, DamagedError."""
        steps = self._find(iteration)[1]
        return self._assembled(name, lambda node: _named(
            self.nodes[node], lambda: self.nodes[node].pool._live.copy(steps[node].commit_seq,
                                                                       self.nodes[node].pool._index(name))))

    def array(self, name: str, steps: slice | Iterable[int] = slice(None), *, part: Any = ()) -> npt.NDArray[Any]:
        """A verified copy of a variable in several steps, as one array whose first axis is that of the steps.

        steps: a slice as in rings[...], or iterations. part: a NumPy index into each step's array, such as
        numpy.s_[100:200, 0]. Steps are assembled one after the other, each as a whole; then the part is copied.
        """
        chosen = self._in_slice(steps) if isinstance(steps, slice) else list(steps)
        variable = self._variable(name)
        like = np.broadcast_to(np.zeros((), variable.numpy_dtype), variable.shape)[part]
        made = np.empty((len(chosen), *np.shape(like)), variable.numpy_dtype)
        for row, iteration in enumerate(chosen):
            made[row] = self.read(iteration, name)[part]
        return made

    def to_xarray(self, *, dims: Mapping[str, Sequence[str]] | None = None) -> xarray.Dataset:
        """The steps that all rings hold, as an xarray.Dataset along `iteration`: like Pool.to_xarray, but without the recorded
        numbers."""
        from .xarray import dataset_of

        return dataset_of(self, dims=dims)

    def __repr__(self) -> str:
        kept = "closed" if self.closed else f"{len(self)} steps"
        return f"<ringside.Rings {self.path}: {len(self.nodes)} nodes, {', '.join(self.variables)}; {kept}>"

    def _ipython_key_completions_(self) -> list[int]:
        return list(self)

    def _variable(self, name: str) -> Variable:
        if not isinstance(name, str) or name not in self.variables:
            raise unknown_name(f"variable of {self.path}", name, self.variables)
        return self.variables[name]

    def _assembled(self, name: str, of_node: Any) -> npt.NDArray[Any]:
        variable = self._variable(name)
        if name not in self._ranks.nodes[0].boxes:  # replicated: use the first node's copy
            return np.array(of_node(0))
        made = np.empty(variable.shape, variable.numpy_dtype)
        for node, described in enumerate(self._ranks.nodes):
            entries = of_node(node).reshape(-1)
            at = 0
            for offset, extent in described.boxes[name]:
                count = int(np.prod(extent, dtype=np.uint64))
                box = tuple(slice(begin, begin + length) for begin, length in zip(offset, extent))
                made[box] = entries[at:at + count].reshape(extent)
                at += count
        return made

    def _in_slice(self, chosen: slice) -> list[int]:
        kept = list(self.steps)
        return in_slice(chosen, kept, kept)

    def _find(self, iteration: int) -> tuple[int, list[StepInfo]]:
        iteration = whole("an iteration", iteration, -2**63)
        steps = self.steps
        kept = list(steps)
        if iteration < 0 and -iteration <= len(kept):
            iteration = kept[iteration]
        if iteration not in steps:
            held = ", ".join(map(str, kept[-8:])) or "none"
            raise NotKeptError(f"{self.path}: iteration {iteration} is not held by the rings of all nodes; the newest that are: {held}")
        return iteration, steps[iteration]


def is_rings(path: str | os.PathLike[str]) -> bool:
    """Whether `open(path)` returns Rings."""
    given = os.fsdecode(path)
    return given.endswith(ENDING) or os.path.isdir(given)


def _found(path: pathlib.Path) -> tuple[RanksFile, list[str]]:
    """The ranks file, and the pool of each node."""
    if not path.is_dir():
        ranks = read_ranks(str(path))
        folder, own = path.parent, {ranks.node: str(path)[:-len(ENDING)]}
    else:
        folder, own, files = path, {}, sorted(path.glob("*" + ENDING))
        if not files:
            raise UsageError(f"{path}: found no file in this folder that ends with {ENDING}; expected a pool, or a folder with "
                             "all rings of an MPI run")
        ranks = read_ranks(str(files[0]))
        for file in files:
            other = read_ranks(str(file))
            if other.run_id != ranks.run_id or len(other.nodes) != len(ranks.nodes):
                raise UsageError(f"{path}: found rings of several runs: {files[0]} (run {ranks.run_id}) and {file} "
                                 f"(run {other.run_id}); expected the rings of one run, or the name of a ranks file")
            if other.node in own:
                raise UsageError(f"{path}: {own[other.node]} and {file} both belong to node {other.node}; expected only one of them")
            own[other.node] = str(file)[:-len(ENDING)]
    pools = []
    for node, described in enumerate(ranks.nodes):
        recorded = folder / described.pool  # an absolute path is not changed
        beside = folder / recorded.name
        places = [pathlib.Path(own[node])] if node in own and os.path.exists(own[node]) else [recorded, beside]
        pools.append(str(next((place for place in places if described.pool and place.is_file()), places[0])))
    return ranks, pools


def _opened(ranks: RanksFile, node: int, path: str, wait: float) -> NodeRing:
    described = ranks.nodes[node]
    name = f"node {node} ({described.name})"
    try:
        pool = Pool(path, wait=wait)
    except Error as error:
        raise type(error)(f"{ranks.path}: {name}: {error}") from None
    run = next((run for run in reversed(pool.runs) if run.run_id == ranks.run_id), None)
    if run is None:
        raise UsageError(f"{ranks.path}: {name}: {path} has no run {ranks.run_id}")
    with contextlib.suppress(NoFileError):
        beside = read_ranks(os.path.realpath(path) + ENDING)
        if (beside.run_id, beside.node) != (ranks.run_id, node):
            raise UsageError(f"{ranks.path}: {name}: {path} is the ring of node {beside.node} of run {beside.run_id}")
    expected = {key: (variable.dtype, kept_shape(described.boxes[key], variable.shape) if key in described.boxes
                      else variable.shape) for key, variable in ranks.variables.items()}
    found = {key: (variable.dtype, variable.shape) for key, variable in pool.variables.items()}
    # Of longer parameters, a ring keeps only the last 508 to 511 bytes (no character is cut); then the parameters
    # cannot be checked.
    is_told = len(run.parameters.encode(errors="surrogateescape")) >= 508 or re.search(
        regions_pattern(ranks.variables, described.boxes) + "$", run.parameters)
    if found != expected or not is_told:
        raise UsageError(f"{ranks.path}: {name}: {path} keeps other entries than the ranks file lists: found {run.parameters}")
    return NodeRing(name, described.host, described.ranks, pool)


def _named(ring: NodeRing, read: Any) -> Any:
    """Calls `read`, and adds the node's name to an exception that it raises."""
    try:
        return read()
    except Error as error:
        raise type(error)(f"{ring.name}: {error}") from None
