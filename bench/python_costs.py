#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the Python package costs beside the C++ interface, and how soon a reader in Python has a step.

Publishing: the same loop in Python and in C++ (bench_publishing), in turn, under `ringside run` with one core for each
side. A step's cost is the time of the claim, of getting the array, and of the publish, without the time in which x is
written. The loop computes --pace-ns for each row between two steps, so that a buffer is always free. The more it computes,
the more of the caches have other content at the next step, and the more a step costs in both languages.
Reading: a pool of 8 slots of --megabytes: opening it, holding the newest step and getting its array unverified, the
same verified, and one sum over the array for comparison. The pool's pages are in memory.
Needs the interpreter that the package was built for (Debian: /usr/bin/python3). Writes JSON (see docs/benchmarking.md)."""

import argparse
import functools
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from measuring import (BIN, UNCALIBRATED, confidence, demand_cores, in_turn, machine_header, others_share, ratio, remove_pool,
                       spread, work_folder, write_json)

WAYS = ("python", "python_one_call", "cpp")


def publish_in_python(file, rows, steps, pace_us, one_call):
    """The loop of bench_publishing."""
    import numpy
    import ringside

    clock, costs, given = time.perf_counter_ns, [], numpy.zeros(rows)
    with ringside.publish({"x": ("f64", (rows,))}, solver="python_costs") as run:
        for k in range(1, steps + 1):
            until = clock() + 1000 * pace_us
            while clock() < until:
                pass
            begin = clock()
            if one_call:  # copies x, which the other ways leave out
                run.publish(k, {"x": given})
                costs.append(clock() - begin)
                continue
            step = run.step(k)
            step.__enter__()
            x = step["x"]
            claimed = clock()
            x[:] = k
            filled = clock()
            step.__exit__(None, None, None)
            costs.append(claimed - begin + clock() - filled)
    pathlib.Path(file).write_text(json.dumps(costs), encoding="utf-8")


def publishing(options, work, rows, way):
    """Microseconds: the median cost of a step after the first tenth."""
    pool, file = work / "bench.pool", work / "costs.json"
    remove_pool(pool)
    numbers = [str(file), str(rows), str(options.steps), str(rows * options.pace_ns // 1000)]
    program = [str(options.bin / "bench_publishing")] if way == "cpp" else [sys.executable, __file__, f"--loop={way}"]
    subprocess.run([options.bin / "ringside", "run", "--quiet", "--durability=process", f"--pool={pool}", "--", *program,
                    *numbers], check=True, env=UNCALIBRATED)
    remove_pool(pool)
    costs = json.loads(file.read_text())[options.steps // 10:]
    return spread(costs)["median"] / 1000


def timed(call, repeats):
    """Seconds of each call."""
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return found


def reading(options, work):
    import ringside

    pool = work / "bench.pool"
    rows = options.megabytes * 1_000_000 // 8
    subprocess.run([options.bin / "ringside", "run", "--quiet", "--durability=process", f"--pool={pool}", "--", sys.executable,
                    __file__, "--loop=python", str(work / "costs.json"), str(rows), "8", "0"], check=True, env=UNCALIBRATED)
    opened = ringside.open(str(pool))

    def view():
        with opened[-1] as step:
            step.view("x")

    def verified():
        with opened[-1] as step:
            step["x"]

    with opened[-1] as step:
        x = step["x"]

        def read():
            x.sum()

        rounds = in_turn({"verified": lambda: min(timed(verified, 5)), "read": lambda: min(timed(read, 5))}, options.repeats)
    timed(view, 100)
    found = {"slots": 8, "bytes_per_slot": rows * 8,
             "open_ms": spread([1e3 * s for s in timed(lambda: ringside.open(str(pool)), 50)]),
             "view_us": spread([1e6 * s for s in timed(view, 1000)]),
             "verified_view_ms": spread([1e3 * r["verified"] for r in rounds]),
             "one_read_ms": spread([1e3 * r["read"] for r in rounds]),
             "verified_view_over_one_read": ratio(rounds, "verified", "read")}
    remove_pool(pool)
    return found


def report(options):
    demand_cores(2)
    import numpy
    document = {"benchmark": "python_costs", "machine": machine_header(options.bin), "python": sys.version.split()[0],
                "numpy": numpy.__version__,
                "steps": options.steps, "pace_ns_per_row": options.pace_ns}
    with work_folder(options.pool_dir) as work, others_share(document):
        for rows in options.rows:
            ways = {way: functools.partial(publishing, options, work, rows, way) for way in WAYS}
            rounds = in_turn(ways, options.repeats)
            document[f"publishing_{rows}_rows"] = {
                **{f"{way}_us": spread([r[way] for r in rounds]) for way in WAYS},
                "python_more_than_cpp_us": spread([r["python"] - r["cpp"] for r in rounds])}
        document["reading"] = reading(options, work)
    write_json(document, options.output)
    for part, figures in document.items():
        for key, found in figures.items() if isinstance(figures, dict) else ():
            if isinstance(found, dict):
                print(f"{part}, {key}: {confidence(found)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000],
                        help="of x (default 10000 100000 1000000: 80 kB to 8 MB)")
    parser.add_argument("--steps", type=int, default=200, help="of each run (default 200)")
    parser.add_argument("--pace-ns", type=int, default=8, help="computing for each row between two steps (default 8)")
    parser.add_argument("--megabytes", type=int, default=32, help="of a slot (default 32)")
    parser.add_argument("--repeats", type=int, default=11, help="measured rounds (default 11)")
    parser.add_argument("--bin", type=pathlib.Path, default=BIN, help="folder of the programs")
    parser.add_argument("--pool-dir", default=tempfile.gettempdir(), help="where the pools lie (default: the temporary folder)")
    parser.add_argument("--output", help="JSON file to write")
    parser.add_argument("--loop", choices=WAYS, help=argparse.SUPPRESS)  # the program that this script runs
    parser.add_argument("numbers", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.loop:
        file, rows, steps, pace_us = options.numbers
        publish_in_python(file, int(rows), int(steps), int(pace_us), options.loop == "python_one_call")
    else:
        report(options)


if __name__ == "__main__":
    main()
