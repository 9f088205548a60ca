#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time to publish a nested structure of many arrays, compared with one array that has the same entries.

The same program runs under `ringside run` with each of these structures in turn. Each step times the call of
run.publish (the claim, the copy and the publish). Between two steps, the program computes for --pace-ms, so that a
buffer is always free. The variables are always states, because packed ones are states. The structures:
  one       one array of --entries doubles
  nested    --arrays arrays in a dict of lists of dicts, with the same total of entries
  many      ten times as many arrays, with the same total of entries
  small     --arrays arrays of 8 entries: the cost of the structure alone
  memcpy    numpy.copyto of the one array to other memory, without a hand-off
Reading: the script times step.tree() of `nested`, held and not verified, and one array of the same pool.
Needs the interpreter for which the package was built (Debian: /usr/bin/python3). Writes JSON (see
docs/inside/benchmarking.md)."""

import functools
import json
import pathlib
import sys
import time

from measuring import (add_loop, document_of, in_turn, interpreter_header, parser_of, print_spreads, ratio, remove_pool,
                       run_program, seconds_of, spread, spreads, work_folder)

WAYS = ("one", "nested", "many", "small", "memcpy")


def state_of(way, entries, arrays):
    import numpy

    if way in ("one", "memcpy"):
        return {"x": numpy.ones(entries)}
    count = 10 * arrays if way == "many" else arrays
    each = 8 if way == "small" else entries // count
    return {"levels": [{f"x{n}": numpy.ones(each) for n in range(first, first + 10)} for first in range(0, count, 10)]}


def publish(way, file, entries, arrays, steps, pace_ms):
    import numpy
    import ringside

    state = state_of(way, entries, arrays)
    declared = {"x": ringside.Variable("f64", (entries,), role="state")} if way in ("one", "memcpy") else state
    clock, costs, other = time.perf_counter_ns, [], numpy.ones(entries if way == "memcpy" else 1)
    with ringside.publish(declared, solver="python_trees") as run:
        for k in range(1, steps + 1):
            until = clock() + 1_000_000 * pace_ms
            while clock() < until:
                pass
            begin = clock()
            if way == "memcpy":
                numpy.copyto(other, state["x"])
            else:
                run.publish(k, state)
            costs.append(clock() - begin)
        if way == "memcpy":
            run.publish(1, state)
    pathlib.Path(file).write_text(json.dumps(costs), encoding="utf-8")


def publishing(options, work, way, read=None):
    """Returns the median time of a step in milliseconds. The first three steps do not count, because they touch their
    pages for the first time."""
    pool, file = work / "bench.pool", work / "costs.json"
    run_program(options.bin, pool, [sys.executable, __file__, f"--loop={way}", file, options.entries, options.arrays,
                                    options.steps, options.pace_ms], "--slots=4")
    if read is not None:
        read(pool)
    remove_pool(pool)
    return spread(json.loads(file.read_text())[3:])["median"] / 1e6


def reading(found, repeats, pool):
    """Measures the time to get the structure of a held step, and adds it to `found`."""
    import ringside

    with ringside.open(str(pool))[-1] as step:
        step.tree()
        found["tree_ms"] = spread([1e3 * s for s in seconds_of(step.tree, repeats)])
        found["one_packed_array_us"] = spread([1e6 * s for s in seconds_of(lambda: step["tree.f64"], repeats)])


def report(options):
    import numpy
    head = {**interpreter_header(numpy), "entries": options.entries, "arrays": options.arrays, "steps": options.steps,
            "pace_ms": options.pace_ms, "reading": {}}
    with document_of(options, "python_trees", 2, **head) as document, work_folder(options.pool_dir) as work:
        rounds = in_turn({way: functools.partial(publishing, options, work, way) for way in WAYS}, options.repeats)
        publishing(options, work, "nested", functools.partial(reading, document["reading"], 50))
        document.update({f"{way}_ms": found for way, found in spreads(rounds).items()},
                        nested_over_one=ratio(rounds, "nested", "one"), many_over_one=ratio(rounds, "many", "one"),
                        one_over_memcpy=ratio(rounds, "one", "memcpy"))
    print_spreads(document)


def main():
    parser = parser_of(__doc__, repeats=11)
    parser.add_argument("--entries", type=int, default=10_000_000, help="entries of a state (default 10000000: 80 MB)")
    parser.add_argument("--arrays", type=int, default=1000, help="arrays of the nested state (default 1000)")
    parser.add_argument("--steps", type=int, default=15, help="steps of each run (default 15)")
    parser.add_argument("--pace-ms", type=int, default=80, help="time to compute between two steps (default 80)")
    add_loop(parser, WAYS)
    options = parser.parse_args()
    if options.loop:
        file, *numbers = options.numbers
        publish(options.loop, file, *map(int, numbers))
    else:
        report(options)


if __name__ == "__main__":
    main()
