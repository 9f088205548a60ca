#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time until the first iterate: from the start of `ringside run --matrix FILE --cache` until the iterate
is published.

The matrix's binary cache exists and is in the page cache; the pool is new every time. Both clocks are CLOCK_MONOTONIC.
The parts of the time:
  start     until the first iterate begins, without loading: three programs, the pool and its journal, the handshake
  load      the matrix: mapping its cache, hashing and checking every byte, converting it to the solver's own form
  generate  the first iterate
For comparison, the same run is also made without --cache, so that it parses the text. Both runs are made in turn.
Writes JSON (see docs/inside/benchmarking.md)."""

import functools
import json
import subprocess
import sys
import time

from held import records_of
from measuring import UNCALIBRATED, confidence, document_of, in_turn, parser_of, remove_pool, spread, work_folder
from products import GRAPHS, path_of


def measure_once(bin_dir, work, path, *arguments):
    pool = work / "bench.pool"
    summary = work / "summary.json"
    remove_pool(pool)
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    subprocess.run([bin_dir / "ringside", "run", "--quiet", f"--matrix={path}", "--iterations=3", "--durability=process",
                    f"--pool={pool}", f"--summary={summary}", *arguments], check=True, env=UNCALIBRATED)
    ended = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    step = records_of(bin_dir, pool)[0]
    load_ms = json.loads(summary.read_text())["load_s"] * 1e3
    all_ms = (step["published_at_ns"] - begin) * 1e-6
    generate_ms = step["generate_ns"] * 1e-6
    return {"all_ms": all_ms, "start_ms": all_ms - load_ms - generate_ms, "load_ms": load_ms, "generate_ms": generate_ms,
            "process_ms": (ended - begin) * 1e-6}


def measure(options):
    path = path_of(options.graph)
    if path is None:
        sys.exit(f"bench/first_iterate.py: {options.graph} is missing, expected {GRAPHS[options.graph]} in the folder "
                 "that RINGSIDE_TEST_DATA names, or --graph FILE")
    workload = {"matrix": options.graph}
    with document_of(options, "first_iterate", 2, workload=workload) as document, work_folder(options.pool_dir) as work:
        cache = ["--cache", f"--cache-dir={work}"]
        rounds = in_turn({"cache": functools.partial(measure_once, options.bin, work, path, *cache),
                          "text": functools.partial(measure_once, options.bin, work, path)}, options.repeats)
        for name in ("cache", "text"):
            document[name] = {key: spread([r[name][key] for r in rounds]) for key in rounds[0][name]}
    return document


def main():
    parser = parser_of(__doc__, repeats=21)
    parser.add_argument("--graph", default="cnr-2000-url", help="a file, or one of " + ", ".join(GRAPHS))
    document = measure(parser.parse_args())
    for name in ("cache", "text"):
        found = document[name]
        print(f"{name}: first iterate after {confidence(found['all_ms'])} ms: start {confidence(found['start_ms'])}, load "
              f"{confidence(found['load_ms'])}, generate {confidence(found['generate_ms'])}")


if __name__ == "__main__":
    main()
