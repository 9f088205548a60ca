#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how much time it takes to keep every iterate of scipy.sparse.linalg.cg.

The matrix has a million rows: the five-point Laplacian of a square, or the 7- or 27-point one of a cube. Each turn is a
process under `ringside run`, with the solver on core 0 and the analyzer on core 1. In this process, bursts of cg
without Ringside alternate with bursts of one of the methods below, which keep every x. Ratios are taken pair by pair,
so that the drift of a shared machine cancels (with other load: sudo chrt -f 1). The methods:
  callback    scipy's cg with callback=ringside.scipy.callback(run)
  streaming   as callback, but glibc's memcpy uses non-temporal stores (GLIBC_TUNABLES)
  in_place    cg as a loop in NumPy that computes x in the step's own array, compared with the same loop without Ringside
  copy_only   scipy's cg with a callback that copies x to other memory: the minimum cost of keeping x from a callback
  transfer    as callback, and the analyzer reduces in the pass that copies (--reduce transfer)
  no_analysis as callback, and x is a state, which the analyzer copies and does not reduce
  ringside_cg ringside.scipy.cg, which keeps x, r and p: 3 times the bytes
The time of an iteration is the time between two products with the matrix, so it excludes attaching. Pools are not synced
(--durability process). Needs SciPy, and the interpreter for which the package was built. Writes JSON."""

import json
import pathlib
import statistics
import sys
import time

from measuring import (UNCALIBRATED, add_loop, document_of, interpreter_header, parser_of, print_spreads, remove_pool,
                       run_program, spread, work_folder)

WAYS = ("callback", "streaming", "transfer", "no_analysis", "copy_only", "in_place", "ringside_cg")
STREAMING = {"GLIBC_TUNABLES": "glibc.cpu.x86_non_temporal_threshold=0x100000"}


def laplacian(stencil):
    """Returns a Laplacian with 1,000,000 rows, each with at most `stencil` nonzeros."""
    import scipy.sparse as sparse
    side = 1000 if stencil == 5 else 100
    line, one = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(side, side)), sparse.identity(side)
    square = sparse.kronsum(line, line, format="csr")
    if stencil == 5:
        return square
    if stencil == 7:
        return sparse.kronsum(square, line, format="csr")
    around = sparse.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(side, side))
    neighbours = sparse.kron(sparse.kron(around, around), around, format="csr")
    return (27 * sparse.identity(side**3) - neighbours).tocsr()


class TimedProducts:
    """The matrix as an operator that records the time of each multiplication."""

    def __init__(self, A):
        from scipy.sparse.linalg import LinearOperator
        self.times = []

        def product(x):
            self.times.append(time.perf_counter())
            return A @ x

        self.operator = LinearOperator(A.shape, product, dtype=float)

    def iteration_ms(self, call):
        """Calls `call`, which solves. Returns the median time of the iterations after the first two, in
        milliseconds."""
        self.times.clear()
        call()
        gaps = [after - before for before, after in zip(self.times, self.times[1:])]
        return 1e3 * statistics.median(gaps[2:])


def loop(A, b, iterations, run=None):
    """Runs cg without a tolerance, and computes x_k directly in the array that keeps it."""
    import numpy as np
    x, other, r, rho = np.zeros_like(b), np.empty_like(b), b.copy(), 0.0
    for k in range(1, iterations + 1):
        rho, before = float(np.dot(r, r)), rho
        p = r.copy() if k == 1 else r + (rho / before) * p
        q = A.matvec(p)
        alpha = rho / float(np.dot(p, q))
        if run is None:
            np.multiply(p, alpha, out=other)
            other += x
            x, other = other, x
        else:  # the previous step's array is readable until its buffer is claimed again, two steps later
            with run.step(run.next_iteration) as step:
                new = step["x"]
                np.multiply(p, alpha, out=new)
                new += x
            x = new
        r -= alpha * q


def solve(way, file, stencil, bursts, iterations):
    """Runs in a separate process. Writes {"plain": [ms, ...], "kept": [ms, ...]}, with a pair for each burst."""
    import numpy as np
    import ringside
    import ringside.scipy
    from scipy.sparse.linalg import cg

    timed = TimedProducts(laplacian(stencil))
    b = np.random.default_rng(1).standard_normal(timed.operator.shape[0])
    elsewhere = np.zeros((2, b.size))

    def scipys(callback=None):
        return timed.iteration_ms(lambda: cg(timed.operator, b, tol=0.0, maxiter=iterations, callback=callback))

    found = {"plain": [], "kept": []}
    scipys()
    if way == "ringside_cg":
        def kept():
            ringside.scipy.cg(timed.operator, b, rtol=0.0, maxiter=iterations, problem="laplacian")

        before, found["kept"] = scipys(), [timed.iteration_ms(kept)]
        found["plain"] = [(before + scipys()) / 2]
    else:
        role = "state" if way == "no_analysis" else "field"
        with ringside.publish({"x": ringside.Variable("f64", b.shape, role=role)}, solver="scipy_cg") as run:
            copied = []

            def copy_only(x):
                copied.append(None)
                elsewhere[len(copied) % 2] = x

            def kept():
                if way == "in_place":
                    return timed.iteration_ms(lambda: loop(timed.operator, b, iterations, run))
                return scipys(copy_only if way == "copy_only" else ringside.scipy.callback(run))

            def plain():
                return timed.iteration_ms(lambda: loop(timed.operator, b, iterations)) if way == "in_place" else scipys()

            kept()
            for burst in range(bursts):
                order = {"plain": plain, "kept": kept}
                for name in order if burst % 2 else reversed(order):
                    found[name].append(order[name]())
            found["waited_s"] = run.counts.idle_s
            assert run.counts.skipped == 0
    pathlib.Path(file).write_text(json.dumps(found), encoding="utf-8")


def turn(options, work, way):
    pool, file, summary = work / "bench.pool", work / "times.json", work / "summary.json"
    more = ["--reduce=transfer"] if way == "transfer" else []
    run_program(options.bin, pool, [sys.executable, __file__, f"--loop={way}", file, options.stencil, options.bursts, options.iterations],
                "--producer-cores=0", "--analyzer-cores=1", f"--buffers={options.buffers}", f"--summary={summary}", *more,
                env=UNCALIBRATED | (STREAMING if way == "streaming" else {}))
    remove_pool(pool)
    found = json.loads(file.read_text())
    file.unlink()
    if summary.exists():
        account = json.loads(summary.read_text())
        summary.unlink()
        steps = account["steps_committed"]
        found["steps"] = steps
        for key in ("transfer_s", "analyze_s"):
            found[key.replace("_s", "_ms_a_step")] = 1e3 * account[key] / max(steps, 1)
    return found


def measure(options):
    import numpy
    import scipy
    head = {**interpreter_header(numpy, scipy), "rows": 1_000_000, "stencil": options.stencil,
            "iterations_of_a_burst": options.iterations, "pairs_of_bursts_of_a_turn": options.bursts,
            "buffers": options.buffers, "pool_folder": options.pool_dir, "ways": {}}
    found = {way: [] for way in options.ways}
    with document_of(options, "scipy_cg", 2, **head) as document, work_folder(options.pool_dir) as work:
        for number in range(options.turns):
            for way in options.ways if number % 2 else reversed(options.ways):
                found[way].append(turn(options, work, way))
        for way, turns in found.items():
            plain = [ms for one in turns for ms in one["plain"]]
            kept = [ms for one in turns for ms in one["kept"]]
            document["ways"][way] = {"kept_over_plain": spread([k / p for k, p in zip(kept, plain)]),
                                     "fastest_kept_over_fastest_plain": min(kept) / min(plain),
                                     "more_ms": spread([k - p for k, p in zip(kept, plain)]),
                                     "plain_ms": spread(plain), "kept_ms": spread(kept)}
            for key in ("steps", "transfer_ms_a_step", "analyze_ms_a_step"):
                if key in turns[0]:
                    document["ways"][way][key] = spread([one[key] for one in turns])
    print_spreads(document["ways"])


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--stencil", type=int, choices=(5, 7, 27), default=5, help="most nonzeros of a row (default 5)")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--turns", type=int, default=5, help="processes for each method (default 5)")
    parser.add_argument("--bursts", type=int, default=6,
                        help="pairs of bursts in each process (default 6; ringside_cg has 1)")
    parser.add_argument("--iterations", type=int, default=15, help="iterations of a burst (default 15)")
    parser.add_argument("--buffers", type=int, default=2, help="--buffers of ringside run (default 2)")
    add_loop(parser, WAYS)
    options = parser.parse_args()
    if options.loop:
        file, *numbers = options.numbers
        solve(options.loop, file, *map(int, numbers))
    else:
        measure(options)


if __name__ == "__main__":
    main()
