#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How soon the first iterate is there: from starting `ringside run --matrix FILE --cache` to its being published.

The matrix's binary cache exists and is in the page cache; the pool is new every time. Both clocks are CLOCK_MONOTONIC.
What the time is made of:
  start     until the first iterate is begun, but for loading: three programs, the pool and its journal, the handshake
  load      the matrix: its cache mapped, every byte hashed and checked, the solver's own form of it made
  generate  the first iterate
Beside it, in turn, the same run without --cache, which parses the text. Writes JSON (see docs/inside/benchmarking.md)."""

import argparse
import functools
import json
import pathlib
import subprocess
import sys
import time

import pipeline
from held import records_of
from measuring import (UNCALIBRATED, confidence, demand_cores, in_turn, machine_header, others_share, remove_pool, spread,
                       work_folder, write_json)
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
    demand_cores(2)
    bin_dir = pathlib.Path(options.bin).resolve()
    path = path_of(options.graph)
    if path is None:
        sys.exit(f"bench/first_iterate.py: {options.graph} is missing, expected {GRAPHS[options.graph]} in the folder "
                 "RINGSIDE_TEST_DATA names, or --graph FILE")
    document = {"benchmark": "first_iterate", "machine": machine_header(bin_dir), "workload": {"matrix": options.graph}}
    with work_folder(options.pool_dir) as work, others_share(document):
        cache = ["--cache", f"--cache-dir={work}"]
        rounds = in_turn({"cache": functools.partial(measure_once, bin_dir, work, path, *cache),
                          "text": functools.partial(measure_once, bin_dir, work, path)}, options.repeats)
    for name in ("cache", "text"):
        document[name] = {key: spread([r[name][key] for r in rounds]) for key in rounds[0][name]}
    write_json(document, options.output)
    return document


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    pipeline.declare_folders(parser)
    parser.add_argument("--graph", default="cnr-2000-url", help="a file, or one of " + ", ".join(GRAPHS))
    parser.add_argument("--repeats", type=int, default=21, help="measured rounds (default 21)")
    parser.add_argument("--output", help="JSON file to write")
    document = measure(parser.parse_args())
    for name in ("cache", "text"):
        found = document[name]
        print(f"{name}: first iterate after {confidence(found['all_ms'])} ms: start {confidence(found['start_ms'])}, load "
              f"{confidence(found['load_ms'])}, generate {confidence(found['generate_ms'])}")


if __name__ == "__main__":
    main()
