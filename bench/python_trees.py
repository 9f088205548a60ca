#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What it costs to publish a nested structure of many arrays in place of one array with the same entries.

The same program under `ringside run`, in turn: each step calls run.publish, and the call's time is noted: the claim, the copy and the
publish. Between two steps it computes for --pace-ms, so that a buffer is always free. The variables are states in all ways: the packed
ones are. Ways:
  one       one array of --entries doubles
  nested    --arrays arrays in a dict of lists of dicts with the same number of entries in all
  many      ten times as many arrays, with the same number of entries in all
  small     --arrays arrays of 8 entries: what the structure costs by itself
  memcpy    numpy.copyto of the one array to other memory, nothing handed off
Reading: step.tree() of `nested`, held and not verified, and one array of the same pool.
Needs the interpreter that the package was built for (Debian: /usr/bin/python3). Writes JSON (see docs/inside/benchmarking.md)."""

import functools
import json
import pathlib
import subprocess
import sys
import time

from measuring import (UNCALIBRATED, add_loop, confidence, demand_cores, in_turn, interpreter_header, machine_header, others_share,
                       parser_of, ratio, remove_pool, seconds_of, spread, work_folder, write_json)

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
    """Milliseconds: the median of the steps after the first three, whose pages are touched for the first time."""
    pool, file = work / "bench.pool", work / "costs.json"
    remove_pool(pool)
    numbers = [str(number) for number in (file, options.entries, options.arrays, options.steps, options.pace_ms)]
    subprocess.run([options.bin / "ringside", "run", "--quiet", "--durability=process", "--slots=4", f"--pool={pool}", "--", sys.executable,
                    __file__, f"--loop={way}", *numbers], check=True, env=UNCALIBRATED)
    if read is not None:
        read(pool)
    remove_pool(pool)
    return spread(json.loads(file.read_text())[3:])["median"] / 1e6


def reading(found, repeats, pool):
    """Notes in `found` what it costs to get the structure of a held step."""
    import ringside

    with ringside.open(str(pool))[-1] as step:
        step.tree()
        found["tree_ms"] = spread([1e3 * s for s in seconds_of(step.tree, repeats)])
        found["one_packed_array_us"] = spread([1e6 * s for s in seconds_of(lambda: step["tree.f64"], repeats)])


def report(options):
    demand_cores(2)
    import numpy
    document = {"benchmark": "python_trees", "machine": machine_header(options.bin), **interpreter_header(numpy), "entries": options.entries,
                "arrays": options.arrays, "steps": options.steps, "pace_ms": options.pace_ms, "reading": {}}
    with work_folder(options.pool_dir) as work, others_share(document):
        rounds = in_turn({way: functools.partial(publishing, options, work, way) for way in WAYS}, options.repeats)
        publishing(options, work, "nested", functools.partial(reading, document["reading"], 50))
        document.update({f"{way}_ms": spread([found[way] for found in rounds]) for way in WAYS},
                        nested_over_one=ratio(rounds, "nested", "one"), many_over_one=ratio(rounds, "many", "one"),
                        one_over_memcpy=ratio(rounds, "one", "memcpy"))
    write_json(document, options.output)
    for key, found in {**document, **document["reading"]}.items():
        if isinstance(found, dict) and "median" in found:
            print(f"{key}: {confidence(found)}")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--entries", type=int, default=10_000_000, help="of a state (default 10000000: 80 MB)")
    parser.add_argument("--arrays", type=int, default=1000, help="of the nested state (default 1000)")
    parser.add_argument("--steps", type=int, default=15, help="of each run (default 15)")
    parser.add_argument("--pace-ms", type=int, default=80, help="computing between two steps (default 80)")
    parser.add_argument("--repeats", type=int, default=11, help="measured rounds (default 11)")
    add_loop(parser, WAYS)
    options = parser.parse_args()
    if options.loop:
        file, *numbers = options.numbers
        publish(options.loop, file, *map(int, numbers))
    else:
        report(options)


if __name__ == "__main__":
    main()
