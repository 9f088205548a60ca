#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that an f32 field moves half as many bytes as an f64 field, and measures which share of the time it takes.

The same program publishes --entries numbers per step, as f32 and as f64 in turn, under `ringside run` with one core per
side. A step's bytes and times come from the journal (`ringside tail --json`). The bytes must be 4 and 8 per entry in
every step. Times are medians over a run's steps, beginning when the ring is full for the first time. Ratios are taken
within a round. Needs the interpreter for which the package was built. Writes JSON (see docs/inside/benchmarking.md)."""

import argparse
import statistics
import sys

from held import records_of
from measuring import confidence, document_of, in_turn, parser_of, ratio, remove_pool, run_program, spread, work_folder

BYTES = {"f32": 4, "f64": 8}
TIMES = ("transfer", "analyze")
SLOTS = 8


def publish_steps(dtype, entries, steps):
    import numpy
    import ringside
    x = numpy.random.default_rng(1).standard_normal(entries)
    with ringside.publish({"x": (dtype, (entries,))}, solver="dtypes") as run:
        for k in range(1, steps + 1):
            with run.step(k) as step:
                step["x"][:] = x


def one_run(options, work, dtype):
    """Makes one run. Returns the milliseconds that a step takes."""
    pool = work / "bench.pool"
    run_program(options.bin, pool, [sys.executable, __file__, "--publish", dtype, options.entries, options.steps],
                f"--slots={SLOTS}", f"--reduce={options.reduce}")
    steps = records_of(options.bin, pool)
    remove_pool(pool)
    moved = {step["bytes_transferred"] for step in steps}
    if len(steps) != options.steps or moved != {BYTES[dtype] * options.entries}:
        sys.exit(f"bench/dtypes.py: {dtype}: found {len(steps)} steps of {moved} bytes, expected {options.steps} of "
                 f"{BYTES[dtype] * options.entries}")
    return {part: statistics.median(step[f"{part}_ns"] for step in steps[SLOTS:]) / 1e6 for part in TIMES}


def measure(options):
    head = {"entries": options.entries, "steps": options.steps, "reduce": options.reduce,
            "bytes_transferred_per_step": {dtype: size * options.entries for dtype, size in BYTES.items()}}
    with document_of(options, "dtypes", 2, **head) as document, work_folder(options.pool_dir) as work:
        rounds = in_turn({dtype: lambda dtype=dtype: one_run(options, work, dtype) for dtype in BYTES}, options.repeats)
        for part in TIMES:
            document[f"{part}_ms"] = {dtype: spread([one[dtype][part] for one in rounds]) for dtype in BYTES}
            document[f"{part}_f32_over_f64"] = ratio(rounds, "f32", "f64", lambda found, part=part: found[part])
    print(f"bytes of a step: {document['bytes_transferred_per_step']}")
    for part in TIMES:
        print(f"{part}: f32 ÷ f64 {confidence(document[f'{part}_f32_over_f64'])}; ms "
              + ", ".join(f"{dtype} {confidence(found)}" for dtype, found in document[f"{part}_ms"].items()))


def main():
    parser = parser_of(__doc__, repeats=11)
    parser.add_argument("--entries", type=int, default=4_000_000, help="entries of x (default 4000000: 16 and 32 MB)")
    parser.add_argument("--steps", type=int, default=40, help="steps of a run (default 40)")
    parser.add_argument("--reduce", default="slot", choices=("slot", "transfer"), help="--reduce of ringside run (default slot)")
    parser.add_argument("--publish", nargs=3, metavar=("DTYPE", "ENTRIES", "STEPS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.publish:
        dtype, entries, steps = options.publish
        publish_steps(dtype, int(entries), int(steps))
    else:
        measure(options)


if __name__ == "__main__":
    main()
