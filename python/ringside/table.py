# SPDX-License-Identifier: BSD-3-Clause
"""Results of many steps as columns and as a structured array."""

from __future__ import annotations

import decimal
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_F64 = 1  # the type of a result in ringside.h
KEYS = ("commit_seq", "iteration", "step")
RUN_KEYS = ("run", "run_id")
TIMES = ("unix_ns", "generate_ns", "producer_idle_ns", "analyzer_idle_ns", "hand_off_ns", "transfer_ns", "commit_ns",
         "analyze_ns", "record_ns", "bytes_transferred", "skipped_before", "published_at_ns")


def columns_of(rows: Sequence[tuple[Any, Sequence[tuple[str, str, int, int, Any]]]],
               run_ids: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """The columns that identify the step and its run, and then a contiguous array for each result of count 1. See Pool.columns.
    run_ids: the ids of all runs."""
    columns: dict[str, npt.NDArray[Any]] = {
        key: np.array([getattr(step, key) for step, _ in rows], np.uint64)
        for key in KEYS}
    columns.update(_run_columns(np.array([run_ids.index(step.run_id) for step, _ in rows], np.int64), run_ids))
    types: dict[str, int] = {}
    for _, results in rows:
        types.update((name, kind) for name, _, kind, count, _ in results if count == 1)
    values: dict[str, list[Any]] = {name: [None] * len(rows) for name in types}
    for row, (_, results) in enumerate(rows):
        for name, _, _, count, value in results:
            if count == 1:
                values[name][row] = value
    for name, kind in types.items():
        columns[name] = _column(kind, values[name])
    return columns


def recorded_columns(fields: Mapping[str, npt.NDArray[np.int64]],
                     results: Sequence[tuple[str, int, npt.NDArray[np.int64], npt.NDArray[np.bool_]]],
                     runs: npt.NDArray[np.int64], run_ids: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """The same columns for the steps of a journal. results: name, type, values (low and high 64 bits), and which values are
    present. runs: for each step, the index of its run in run_ids."""
    columns: dict[str, npt.NDArray[Any]] = {key: fields[key].view(np.uint64) for key in KEYS}
    columns.update(_run_columns(runs, run_ids))
    columns.update((name, column) for name, column in fields.items() if name not in KEYS)
    for name, kind, words, present in results:
        low, high = np.ascontiguousarray(words[:, 0]), words[:, 1]
        column: npt.NDArray[Any]
        if kind == _F64:
            column = low.view(np.float64)
            column[~present] = np.nan
        elif present.all() and (high == low >> 63).all():
            column = low
        else:
            column = np.empty(len(low), object)
            column[:] = [(h << 64) | (w & 2**64 - 1) if there else None
                         for w, h, there in zip(low.tolist(), high.tolist(), present.tolist())]
        columns[name] = column
    return columns


def joined(recorded: Mapping[str, npt.NDArray[Any]], kept: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Joins the columns of the journal's steps with those of steps that only the ring has, in the order of commit_seq."""
    rows, more = (len(columns["commit_seq"]) for columns in (recorded, kept))
    if more == 0:
        return dict(recorded)
    order = np.argsort(np.concatenate([recorded["commit_seq"], kept["commit_seq"]]), kind="stable")
    columns: dict[str, npt.NDArray[Any]] = {}
    for name in dict.fromkeys([*recorded, *kept]):
        first, second = recorded.get(name), kept.get(name)
        if second is None:  # only the journal has this number, or these steps have no such result
            assert first is not None
            second = np.zeros(more, np.int64) if name in TIMES else _absent(first, more)
        if first is None:
            first = _absent(second, rows)
        # A column without rows must not change the type of the joined column to objects.
        columns[name] = np.concatenate([first, second])[order] if rows else np.ascontiguousarray(second)[order]
    return columns


def structured(columns: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The columns as one array of rows."""
    rows = len(next(iter(columns.values())))
    table = np.empty(rows, [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        table[name] = column
    return table


def arrow_table(columns: Mapping[str, npt.NDArray[Any]]) -> Any:
    """The columns as a pyarrow.Table."""
    import pyarrow  # imported only if it is needed

    def array_of(column: npt.NDArray[Any]) -> Any:
        if column.dtype != object:
            return pyarrow.array(column)
        if all(value is None or _fits(value) for value in column):
            return pyarrow.array(column, pyarrow.int64())
        exact = [None if value is None else decimal.Decimal(value) for value in column]
        return pyarrow.array(exact, pyarrow.decimal256(39, 0))  # an i128 has up to 39 digits

    return pyarrow.Table.from_arrays([array_of(column) for column in columns.values()], names=list(columns))


def _run_columns(runs: npt.NDArray[np.int64], run_ids: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    return {"run": runs + 1, "run_id": np.array([*run_ids, ""], "U32")[runs]}


def _absent(like: npt.NDArray[Any], rows: int) -> npt.NDArray[Any]:
    return np.full(rows, np.nan) if like.dtype == np.float64 else np.full(rows, None, object)


def _fits(value: int) -> bool:
    return -2**63 <= value < 2**63


def _column(kind: int, values: Sequence[Any]) -> npt.NDArray[Any]:
    if kind == _F64:
        return np.array([np.nan if value is None else value for value in values], np.float64)
    if None not in values and all(_fits(value) for value in values):
        return np.array(values, np.int64)
    column = np.empty(len(values), object)
    column[:] = values
    return column
