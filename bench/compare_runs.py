#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how long `ringside compare` takes for two journals of many steps, and checks that it reports one flipped bit
of a mantissa.

Makes the journals with two real runs of PageRank on grid:SIDE, and compares them several times. Then publishes --seeds
pairs of runs that differ in one bit of one value of one iterate (tests/pipeline/compare/flipped_program), and checks
the reported iteration, variable, index and distance. Writes JSON (see docs/inside/benchmarking.md)."""

import json
import re
import subprocess
import sys

from measuring import UNCALIBRATED, document_of, parser_of, remove_pool, seconds_of, spread, work_folder


def ringside(options, *words, code=0):
    done = subprocess.run([options.bin / "ringside", *map(str, words)], env=UNCALIBRATED, capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"bench/compare_runs.py: {' '.join(map(str, words))}: {done.returncode}: {done.stderr}")
    return done


def named_exactly(options, work, seed):
    pools = [work / "first.pool", work / "second.pool"]
    for pool, flip in zip(pools, ([], ["flip"])):
        remove_pool(pool)
        done = ringside(options, "run", "--quiet", "--durability=process", f"--pool={pool}", "--",
                        options.bin / "flipped_program", seed, *flip)
    iteration, variable, entry, bit = re.search(r"flipped (\d+) (\w) (\d+) (\d+)", done.stderr).groups()
    entry = int(entry)
    found = json.loads(ringside(options, "compare", "--json", *pools).stdout)["pairs"][0]["first_difference"]
    index = [entry] if variable == "v" else [entry // 70, entry % 70]
    return (found["kind"], found["iteration"], found["variable"], found["index"], found["distance"],
            found["entries_differing"]) == ("iterate", int(iteration), variable, index, 1 << int(bit), 1)


def main():
    parser = parser_of(__doc__, repeats=10)
    parser.add_argument("--side", type=int, default=100)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=100)
    options = parser.parse_args()
    workload = {"matrix": f"grid:{options.side}", "steps": options.steps}
    with document_of(options, "compare_runs", workload=workload) as document, work_folder(options.pool_dir) as work:
        pools = [work / "a.pool", work / "b.pool"]
        for pool in pools:
            ringside(options, "run", f"--matrix=grid:{options.side}", f"--iterations={options.steps}", "--quiet",
                     "--durability=process", f"--pool={pool}")
        found = json.loads(ringside(options, "compare", "--json", *pools).stdout)
        document["common_iterations"] = found["pairs"][0]["iterations_common"]
        document["equal"] = found["equal"]
        document["compare_s"] = spread(seconds_of(lambda: ringside(options, "compare", *pools), options.repeats))
        for pool in pools:
            remove_pool(pool)
        document["flipped_bits"] = {"runs": options.seeds, "named_exactly": sum(
            named_exactly(options, work, seed) for seed in range(1, options.seeds + 1))}
    print(f"{document['common_iterations']} iterations: {document['compare_s']['median']:.3f} s; "
          f"{document['flipped_bits']['named_exactly']} of {options.seeds} flipped bits reported exactly")


if __name__ == "__main__":
    main()
