# SPDX-License-Identifier: BSD-3-Clause
"""Code that a type checker must accept: a solver, analyses and readers, as in docs/publish/python.md. This file is
checked, not run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import ringside


def solve(x: npt.NDArray[np.float64]) -> None:
    with ringside.publish({"x": ("f64", x.shape), "y": ringside.Variable("float32", 3, unit="K"), "z": x, "w": (np.int64, ())},
                          scalars={"residual": "f64", "t": ("f64", "s")}, problem_bytes=x, pool_use="resume",
                          on_analyzer_loss="continue", coordination="locks") as run:
        if run.kept is not None:
            x = run.kept["x"].astype(np.float64)
            print(run.kept.scalars["t"])
        for k in range(run.next_iteration, 101):
            with run.step(k) as step:
                step["x"][:] = 2 * x
                step.scalars["residual"] = np.linalg.norm(x)
            run.publish(k, {"x": x, "y": [1.0, 2.0, 3.0], "w": 3}, {"residual": np.linalg.norm(x), "t": 1})
        reply = run.reply
        if reply is not None and reply.value > 1:
            run.detach("diverged")


def solve_many(levels: list[npt.NDArray[np.float64]], flow: dict[str, npt.NDArray[np.float32]]) -> None:
    rng = np.random.default_rng(1)
    state: dict[str, Any] = {"levels": levels, "flow": flow, "pair": (levels[0], flow), "rng": rng.bit_generator.state, "n": 1}
    with ringside.publish({"levels": levels, "flow": flow, "pair": (levels[0], flow), "rng": rng.bit_generator.state, "n": 1},
                          pool=Path("a.pool"), run_options=["--slots", "16"]) as run:
        if run.kept is not None:
            levels, flow = run.kept["levels"], run.kept["flow"]
            rng.bit_generator.state = run.kept["rng"]
        with run.step(run.next_iteration) as step:
            step["levels"][0][:] = 1
            step["flow"] = flow
        run.publish(run.next_iteration, state)
    if run.account is not None:
        print(run.account["total_s"])
    with ringside.open("a.pool")[-1] as held:
        print(held.tree()["flow"]["u"].shape, held["levels"][0].shape)


@ringside.reduction
def energy(step: ringside.HeldStep) -> float:
    return float((step["x"] ** 2).sum())


@ringside.reduction("sums", every=10)
def sums(step: ringside.HeldStep) -> dict[str, float]:
    return {name: float(array.sum()) for name, array in step.items()}


def read(path: Path) -> int:
    with ringside.open(path, wait=1) as pool:
        with pool[17] as step:
            print(step["x"].max(), step.results["x.max"], step.get("y"), dict(step).keys())
        newest: list[ringside.StepInfo] = pool[-3:]
        table: npt.NDArray[np.void] = pool.table()
        print(newest[0].iteration, table["run"], pool.array("x", pool[::2]).shape, pool.columns()["iteration"].max())
        for step in pool.follow(timeout=1.0):
            print(step.iteration + 1)
        dtype: ringside.DTypeLike = pool.variables["x"].dtype
        print(dtype, energy(pool[1]) + 1)
    rings = ringside.open_rings("rings")
    with rings[-1] as whole:
        print(whole["u"].shape, whole.nodes[0].results, rings.nodes[0].pool.runs[-1].solver.upper())
    return len(pool)


async def watch() -> None:
    async for step in ringside.open("a.pool").follow():
        print(step["x"].mean())


asyncio.run(watch())
