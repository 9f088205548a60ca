# SPDX-License-Identifier: BSD-3-Clause
"""Runs, steps and records of a pool and its journal."""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple

__all__ = ["Record", "RunInfo", "StepInfo"]


class RunInfo(NamedTuple):
    """A run of which a pool has steps."""

    run_id: str
    problem_id: str
    started: datetime.datetime
    work: int
    solver: str
    problem: str
    parameters: str


class StepInfo(NamedTuple):
    """A committed step. Its commit_seq is its key, because a pool may keep the same iteration of two runs."""

    commit_seq: int
    iteration: int
    step: int
    run_id: str


class Record(NamedTuple):
    """A record of the journal beside the pool."""

    seq: int
    """The record's number in the journal: 1, 2, 3 ..."""
    kind: str
    """One of step, run_started, run_ended, analyzer_started, steps_missing, run_described, mark, analysis_results."""
    written: datetime.datetime
    run_id: str
    fields: dict[str, Any]
    """For a step: iteration, commit_seq, generate_ns ..., like the columns of Pool.table. For the beginning of a run: solver,
    problem, parameters. For the end of a run: how, text, exit_code, and outcome ("finished", "stopped", "diverged" or
    "failed", as the solver gave it; otherwise None). For a mark: commit_seq, iteration, step, cause ("trigger",
    "non_finite" ...), name (of the trigger or the plug-in), text, actions ("freeze, stop"; docs/use/questions.md)."""
    results: dict[str, Any]
    """For a step: its recorded results, by name. Results that are arrays are in the ring only. For analysis_results: what an
    analysis computed from the step that `fields` identifies (docs/use/questions.md)."""
