# SPDX-License-Identifier: BSD-3-Clause
"""How a notebook shows a pool: a table of its runs and newest steps, and a plot of the newest run's residual. The page loads no
other file."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .records import RunInfo
from .variables import Variable

_ROWS = 8
_POINTS = 1000  # more points than the plot has pixels
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 480, 160, 60, 24


def page_of(path: str, variables: Mapping[str, Variable], runs: Sequence[RunInfo], columns: dict[str, npt.NDArray[Any]]) -> str:
    """The pool as a self-contained fragment of HTML. columns: the columns of the newest run."""
    shown = residual_of(columns)
    described = ", ".join(f"{name} {v.dtype}{list(v.shape)}{' ' + v.unit if v.unit else ''}"
                          f"{' state' if v.role == 'state' else ''}"
                          for name, v in variables.items())
    parts = [f"<p><b>{_text(path)}</b>: {_text(described)}</p>"]
    for run in runs[-2:]:
        parts.append(f"<p>run {run.run_id}: {_text(' '.join(filter(None, (run.solver, run.problem, run.parameters))))}, "
                     f"begun {run.started:%Y-%m-%d %H:%M:%S} UTC</p>")
    names = ["iteration", "commit_seq"] + ([shown] if shown else [])
    parts.append("<table><tr>" + "".join(f"<th>{_text(name)}</th>" for name in names) + "</tr>")
    for row in range(max(0, len(columns["iteration"]) - _ROWS), len(columns["iteration"])):
        parts.append("<tr>" + "".join(f"<td>{_text(_number(columns[name][row]))}</td>" for name in names) + "</tr>")
    parts.append("</table>")
    if shown:
        parts.append(plot_of(shown, columns["iteration"], columns[shown]))
    return "<div>" + "".join(parts) + "</div>"


def residual_of(columns: dict[str, npt.NDArray[Any]]) -> str | None:
    """The column that shows a run's progress: a residual of the solver, otherwise the change of the first field."""
    numbers = [name for name, column in columns.items() if column.dtype == np.float64]
    residuals = [name for name in numbers if name.startswith("solver.") and "residual" in name]
    changes = [name for name in numbers if name.endswith(".change_l2")]
    return next(iter(residuals + changes), None)


def plot_of(name: str, iterations: npt.NDArray[Any], values: npt.NDArray[Any]) -> str:
    """An SVG of the values above 0, on a logarithmic axis; empty if fewer than two are above 0. Of many, it shows some."""
    shown = np.unique(np.linspace(0, max(len(values) - 1, 0), min(len(values), _POINTS)).astype(int))
    iterations, values = iterations[shown], values[shown]
    points = [(float(k), math.log10(v)) for k, v in zip(iterations, values) if v > 0 and math.isfinite(v)]
    if len(points) < 2:
        return ""
    horizontal, vertical = _axis([k for k, _ in points]), _axis([v for _, v in points])
    path = " ".join(f"{_LEFT + (_WIDTH - _LEFT - 8) * _part(k, horizontal):.1f},"
                    f"{8 + (_HEIGHT - _BOTTOM - 8) * (1 - _part(v, vertical)):.1f}" for k, v in points)
    label = '<text x="{}" y="{}" text-anchor="{}" font-size="11" fill="currentColor">{}</text>'
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
            f'aria-label="{_text(name)}, logarithmic, by iteration">'
            f'<rect x="{_LEFT}" y="8" width="{_WIDTH - _LEFT - 8}" height="{_HEIGHT - _BOTTOM - 8}" fill="none" '
            'stroke="currentColor" stroke-opacity="0.3"/>'
            f'<polyline points="{path}" fill="none" stroke="#1f77b4" stroke-width="1.5"/>'
            + label.format(_LEFT - 4, 18, "end", f"{10 ** vertical[1]:.1e}")
            + label.format(_LEFT - 4, _HEIGHT - _BOTTOM, "end", f"{10 ** vertical[0]:.1e}")
            + label.format(_LEFT, _HEIGHT - 8, "start", f"{horizontal[0]:.0f}")
            + label.format(_WIDTH - 8, _HEIGHT - 8, "end", f"{horizontal[1]:.0f}")
            + label.format((_LEFT + _WIDTH) / 2, _HEIGHT - 8, "middle", "iteration")
            + label.format(_WIDTH - 14, 22, "end", f"{_text(name)}, logarithmic") + "</svg>")


def _axis(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _part(value: float, axis: tuple[float, float]) -> float:
    low, high = axis
    return (value - low) / (high - low) if high > low else 0.5


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _text(text: object) -> str:
    return html.escape(str(text))
