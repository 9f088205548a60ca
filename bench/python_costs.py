#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time that the Python package takes, compared with the C++ interface, and the delay until a reader in
Python has a step.

Publishing: the same loop in Python and in C++ (bench_publishing), in turn, under `ringside run` with one core per side.
The cost of a step is the time of the claim, of getting the array, and of the publish; writing x does not count. Between
two steps the loop computes --pace-ns per row, so that a buffer is always free, and reads --read-megabytes once, as a
solver reads its matrix. The more it computes and reads, the more of the caches is replaced before the next step, and
the more a step costs in both languages. Ways:
  python           `with run.step(k) as step`
  python_one_call  run.publish(k, {"x": x}): copies x, which the other ways leave out
  python_empty     the same statements as python, with a Python object that does not hand off anything: the cost of the
                   interpreter itself in the same state of the caches
  cpp              ringside.hpp
Small steps: the same without pauses, so that the analyzer's work counts, too: the time of a step of 10 rows with both
durabilities, in Python only.
Reading: from a pool of 8 slots of --megabytes, whose pages are in memory. The script measures how long it takes to open
the pool, and to hold the newest step and get its array, unverified and verified. One sum over the array is measured for
comparison. Needs an interpreter with NumPy (Debian: /usr/bin/python3). Writes JSON (see
docs/inside/benchmarking.md)."""

import functools
import json
import pathlib
import sys
import time

from measuring import (add_loop, document_of, in_turn, interpreter_header, parser_of, print_spreads, ratio, remove_pool,
                       run_program, seconds_of, spread, spreads, work_folder)

WAYS = ("python", "python_one_call", "python_empty", "cpp")
SMALL_WAYS = ("python", "python_one_call")
PARTS = ("publishing", "small_steps", "reading")


class EmptyStep:
    """A step without a hand-off; this class also acts as the run that makes the step."""

    def __init__(self, x, iteration=0):
        self.x = x
        self.iteration = iteration

    def step(self, iteration):
        return EmptyStep(self.x, iteration)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        pass

    def __getitem__(self, name):
        return self.x


def publish_in_python(way, file, rows, steps, pace_us, megabytes):
    """Runs the same loop as bench_publishing."""
    import numpy
    import ringside

    clock, costs, given, read = time.perf_counter_ns, [], numpy.zeros(rows), numpy.ones(125_000 * megabytes)
    with ringside.publish({"x": ("f64", (rows,))}, solver="python_costs") as run:
        steps_of = EmptyStep(given) if way == "python_empty" else run
        for k in range(1, steps + 1):
            until = clock() + 1000 * pace_us
            read.sum()
            while clock() < until:
                pass
            begin = clock()
            if way == "python_one_call":
                run.publish(k, {"x": given})
                costs.append(clock() - begin)
                continue
            step = steps_of.step(k)
            step.__enter__()
            x = step["x"]
            claimed = clock()
            x[:] = k
            filled = clock()
            step.__exit__(None, None, None)
            costs.append(claimed - begin + clock() - filled)
    pathlib.Path(file).write_text(json.dumps(costs), encoding="utf-8")


def publish_without_pauses(way, file, rows, steps):
    """Writes the mean time of a step in ns, without the first tenth of the steps."""
    import numpy
    import ringside

    given = numpy.zeros(rows)
    with ringside.publish({"x": ("f64", (rows,))}, solver="python_costs") as run:
        begin = 0
        for k in range(1, steps + 1):
            if k == steps // 10:
                begin = time.perf_counter_ns()
            if way == "python_one_call":
                run.publish(k, {"x": given})
            else:
                with run.step(k) as step:
                    step["x"][:] = given
        taken = time.perf_counter_ns() - begin
    pathlib.Path(file).write_text(json.dumps(taken / (steps - steps // 10)), encoding="utf-8")


def small_steps(options, work, way, durability):
    """Returns the time of a step in microseconds."""
    pool, file = work / "bench.pool", work / "costs.json"
    run_program(options.bin, pool, [sys.executable, __file__, f"--loop={way}", file, 10, options.small_steps],
                durability=durability)
    remove_pool(pool)
    return json.loads(file.read_text()) / 1000


def publishing(options, work, rows, megabytes, way):
    """Returns the median cost of a step in microseconds, without the first tenth of the steps."""
    pool, file = work / "bench.pool", work / "costs.json"
    numbers = [file, rows, options.steps, rows * options.pace_ns // 1000, megabytes]
    program = [options.bin / "bench_publishing"] if way == "cpp" else [sys.executable, __file__, f"--loop={way}"]
    run_program(options.bin, pool, [*program, *numbers])
    remove_pool(pool)
    costs = json.loads(file.read_text())[options.steps // 10:]
    return spread(costs)["median"] / 1000


def reading(options, work):
    import ringside

    pool = work / "bench.pool"
    rows = options.megabytes * 1_000_000 // 8
    run_program(options.bin, pool, [sys.executable, __file__, "--loop=python", work / "costs.json", rows, 8, 0, 0])
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

        rounds = in_turn({"verified": lambda: min(seconds_of(verified, 5)), "read": lambda: min(seconds_of(read, 5))}, options.repeats)
    seconds_of(view, 100)
    found = {"slots": 8, "bytes_per_slot": rows * 8,
             "open_ms": spread([1e3 * s for s in seconds_of(lambda: ringside.open(str(pool)), 50)]),
             "view_us": spread([1e6 * s for s in seconds_of(view, 1000)]),
             "verified_view_ms": spread([1e3 * r["verified"] for r in rounds]),
             "one_read_ms": spread([1e3 * r["read"] for r in rounds]),
             "verified_view_over_one_read": ratio(rounds, "verified", "read")}
    remove_pool(pool)
    return found


def report(options):
    import numpy
    head = {**interpreter_header(numpy), "steps": options.steps, "pace_ns_per_row": options.pace_ns}
    loops = [(rows, 0) for rows in options.rows] + [(max(options.rows), options.read_megabytes)]
    with document_of(options, "python_costs", 2, **head) as document, work_folder(options.pool_dir) as work:
        for rows, megabytes in loops if "publishing" in options.parts else []:
            ways = {way: functools.partial(publishing, options, work, rows, megabytes, way) for way in WAYS}
            rounds = in_turn(ways, options.repeats)
            document[f"publishing_{rows}_rows" + (f"_reading_{megabytes}_MB" if megabytes else "")] = {
                **{f"{way}_us": found for way, found in spreads(rounds).items()},
                "python_more_than_cpp_us": spread([r["python"] - r["cpp"] for r in rounds])}
        if "small_steps" in options.parts:
            ways = {f"{way}_{durability}_us": functools.partial(small_steps, options, work, way, durability)
                    for way in SMALL_WAYS for durability in ("process", "power")}
            document["small_steps"] = spreads(in_turn(ways, options.repeats))
        if "reading" in options.parts:
            document["reading"] = reading(options, work)
    print_spreads(document)


def main():
    parser = parser_of(__doc__, repeats=11)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000],
                        help="rows of x (default 10000 100000 1000000: 80 kB to 8 MB)")
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS, help="what to measure (default: all)")
    parser.add_argument("--small-steps", type=int, default=100_000,
                        help="steps of each run without pauses (default 100000)")
    parser.add_argument("--steps", type=int, default=200, help="steps of each run (default 200)")
    parser.add_argument("--pace-ns", type=int, default=8, help="time to compute between two steps, per row (default 8)")
    parser.add_argument("--read-megabytes", type=int, default=64,
                        help="data to read between two steps, in one more run with the most rows (default 64)")
    parser.add_argument("--megabytes", type=int, default=32, help="size of a slot (default 32)")
    add_loop(parser, WAYS)
    options = parser.parse_args()
    if options.loop:
        file, *numbers = options.numbers
        loop = publish_in_python if len(numbers) > 2 else publish_without_pauses
        loop(options.loop, file, *map(int, numbers))
    else:
        report(options)


if __name__ == "__main__":
    main()
