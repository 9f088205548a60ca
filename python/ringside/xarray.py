# SPDX-License-Identifier: BSD-3-Clause
"""Pools and rings as datasets of xarray: `pool.to_xarray()`, and `xarray.open_dataset("heat.pool", engine="ringside")`, which finds
`PoolBackend` by its entry point. The arrays of the steps are read when they are used."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import xarray
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from .arguments import path_of
from .errors import Error, NotKeptError, OverwrittenError, UsageError
from .reading import Pool
from .records import RunInfo, StepInfo
from .rings import Rings, is_rings
from .rings import open as open_pool
from .table import KEYS, RUN_KEYS, TIMES

if TYPE_CHECKING:
    from .variables import Variable

__all__ = ["PoolBackend", "dataset_of"]

_COORDINATES = ("iteration", "run", "run_id", "commit_seq")
_FIRST_WORD = b"PMEMOBJ\0"  # of a pool file (docs/formats/ring_format.md)


class _Steps(BackendArray):
    """A variable of several steps. Nothing is read until the variable is indexed; then only the requested part is read."""

    def __init__(self, source: Pool | Rings, name: str, steps: Sequence[StepInfo] | Sequence[int]) -> None:
        variable = source.variables[name]
        self._source, self._name, self._steps = source, name, steps
        self.shape = (len(steps), *variable.shape)
        self.dtype = variable.numpy_dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)
        return found

    def _read(self, key: tuple[Any, ...]) -> npt.NDArray[Any]:
        first, *part = key
        places = np.atleast_1d(np.arange(len(self._steps))[first])
        chosen: Any = [self._steps[place] for place in places]
        # `part` is used as NumPy's index of an array. NumPy would take several vectors as the indices of single
        # entries, but here each vector selects along its own axis. Therefore the vectors are applied one after another
        # below.
        basic = tuple(slice(None) if isinstance(index, np.ndarray) else index for index in part)
        try:
            read = self._source.array(self._name, chosen, part=basic)
        except (NotKeptError, OverwrittenError) as error:
            raise NotKeptError(f"{os.fsdecode(self._source.path)}: {self._name}: a step was overwritten after this dataset was "
                               f"made ({error}); make the dataset again, load it earlier (ds.load()), or give the pool more "
                               "--slots") from error
        axis = 1
        for index in part:
            if isinstance(index, np.ndarray):
                read = np.take(read, index, axis)
            axis += isinstance(index, (slice, np.ndarray))
        return read if isinstance(first, (slice, np.ndarray)) else read[0]


def dataset_of(source: Pool | Rings, *, run: RunInfo | str | None = None, drop_variables: str | Iterable[str] | None = None,
               dims: Mapping[str, Sequence[str]] | None = None) -> xarray.Dataset:
    """The dataset that Pool.to_xarray and Rings.to_xarray return. drop_variables: names to leave out of it."""
    dropped = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
    steps: Sequence[StepInfo] | Sequence[int]
    if isinstance(source, Rings):
        steps = list(source)
        coordinates: dict[str, Any] = {"iteration": np.array(steps, np.int64)}
        numbers: dict[str, Any] = {}
        attributes = {"run_id": source.run_id}
    else:
        columns = source.columns(run=run, kept=True)
        steps = [StepInfo(*values) for values in zip(*(columns[key].tolist() for key in (*KEYS, "run_id")))]
        coordinates = {"iteration": columns["iteration"].astype(np.int64),
                       **{key: ("iteration", columns[key]) for key in ("run", "commit_seq")}}
        units = _units(source, steps)
        numbers = {name: ("iteration", _floats(column), {"units": units[name]} if units.get(name) else {})
                   for name, column in columns.items() if name not in (*KEYS, *RUN_KEYS, *TIMES, *dropped)}
        attributes = _attributes(source, {step.run_id for step in steps})
    named = {name: (given,) if isinstance(given, str) else given for name, given in (dims or {}).items()}
    for name in named:
        source.variables[name]  # raises the error with this name
    arrays = {name: _lazy(source, name, variable, steps, named.get(name))
              for name, variable in source.variables.items() if name not in dropped}
    for name in _COORDINATES:
        if name in arrays:
            raise UsageError(f"{os.fsdecode(source.path)}: variable {name!r} has the name of a coordinate; expected it to be left out: "
                             f"drop_variables=[{name!r}]")
    return xarray.Dataset({**arrays, **numbers}, coordinates, attributes)


_DECODERS = {"mask_and_scale", "decode_times", "decode_timedelta", "use_cftime", "concat_characters", "decode_coords"}


class PoolBackend(BackendEntrypoint):  # type: ignore[misc, unused-ignore]
    """The engine "ringside" of xarray.open_dataset. The dataset's `close` closes the pool."""

    description: ClassVar[str] = "Steps of a solver that Ringside keeps (ringside.open)"
    open_dataset_parameters: ClassVar[tuple[str, ...] | None] = ("filename_or_obj", "drop_variables", "run", "dims")

    def open_dataset(self, filename_or_obj: Any, *, drop_variables: str | Iterable[str] | None = None,
                     run: RunInfo | str | None = None, dims: Mapping[str, Sequence[str]] | None = None,
                     **decoders: Any) -> xarray.Dataset:
        if unknown := decoders.keys() - _DECODERS:  # no data is encoded, so known decoders have no effect
            raise TypeError(f"open_dataset() got an unexpected keyword argument {min(unknown)!r}")
        path_of("the pool", filename_or_obj)
        source: Pool | Rings = open_pool(filename_or_obj)
        try:
            made = dataset_of(source, run=run, drop_variables=drop_variables, dims=dims)
        except BaseException:
            source.close()
            raise
        made.set_close(source.close)
        return made

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        try:
            path = os.fsdecode(filename_or_obj)
            if os.path.isdir(path):
                return any(name.endswith(".pool.ranks") for name in os.listdir(path))
            if is_rings(path):
                return True
            with open(path, "rb") as file:
                return file.read(len(_FIRST_WORD)) == _FIRST_WORD
        except (OSError, TypeError, ValueError):
            return False


def _lazy(source: Pool | Rings, name: str, variable: Variable, steps: Sequence[StepInfo] | Sequence[int],
          dims: Sequence[str] | None) -> xarray.Variable:
    names = [f"{name}_{axis}" for axis in range(len(variable.shape))] if dims is None else list(dims)
    if len(names) != len(variable.shape):
        raise UsageError(f"dims: found {names} for variable {name!r} of shape {variable.shape}; expected a name for each dimension")
    return xarray.Variable(
        ("iteration", *names), indexing.LazilyIndexedArray(_Steps(source, name, steps)), {"units": variable.unit} if variable.unit else {},
        {"preferred_chunks": {"iteration": 1, **dict(zip(names, variable.shape))}})


def _floats(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A column as floats, with NaN for absent values, if an integer is absent or has more than 64 bits."""
    if column.dtype != object:
        return column
    return np.array([np.nan if value is None else float(value) for value in column], np.float64)


def _units(pool: Pool, steps: Sequence[StepInfo]) -> dict[str, str]:
    try:
        return {name: unit for name, unit, *_ in pool._live.results(steps[-1].commit_seq)} if steps else {}
    except Error:  # the step was overwritten meanwhile
        return {}


def _attributes(pool: Pool, run_ids: set[str]) -> dict[str, str]:
    """The attributes that identify the run, if the dataset has the steps of only one run."""
    for run in pool.runs:
        if {run.run_id} == run_ids:
            return {key: getattr(run, key) for key in ("run_id", "solver", "problem", "parameters")}
    return {}
