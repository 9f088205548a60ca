#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of a plug-in compared with Ringside's own reductions, and how a plug-in that crashes or hangs
affects a run.

Compiles examples/reduction/l3.c and tests/plug_ins/faulty.c with `cc -O3`. bench_plug_in_cost measures the cost. For
each kind of fault, the script makes --runs short runs with a plug-in that crashes (or hangs) from its first step on. It
counts the lost iterates, and measures the producer's idle time. Writes JSON (see docs/inside/benchmarking.md)."""

import json
import subprocess
import sys

from measuring import ROOT, UNCALIBRATED, document_of, parser_of, remove_pool, spread, work_folder


def compiled(work, name, source):
    library = work / f"{name}.so"
    subprocess.run(["cc", "-O3", "-ffp-contract=off", "-shared", "-fPIC", f"-I{ROOT / 'include'}", ROOT / source, "-o", library, "-lm"], check=True)
    return library


def faulty_runs(options, work, library, what):
    """Returns the lost iterates and the producer's idle seconds over all runs."""
    lost, idle, named = 0, [], 0
    pool, summary = work / "run.pool", work / "run.json"
    for run in range(options.runs):
        remove_pool(pool)
        reduce = ("slot", "transfer")[run % 2]
        done = subprocess.run(
            [options.bin / "ringside", "run", "--quiet", f"--matrix=grid:{options.side}", f"--iterations={options.steps}",
             "--durability=process", f"--pool={pool}", f"--summary={summary}", f"--reduce={reduce}",
             f"--reduce-with={library}:faulty:do={what}", f"--reduce-with-timeout={options.timeout}"],
            env=UNCALIBRATED, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench/plug_ins.py: {what}: {done.returncode}: {done.stderr}")
        found = json.loads(summary.read_text(encoding="utf-8"))
        lost += options.steps - found["steps_committed"]
        named += "reduction 'faulty'" in done.stderr and found["plug_ins"][0]["left_out"]
        idle.append(found["producer_idle_s"])
    return {"runs": options.runs, "iterates_lost": lost, "named_and_left_out": named, "producer_idle_s": spread(idle)}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--side", type=int, default=200)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--timeout", type=float, default=0.4)
    options = parser.parse_args()
    workload = {"matrix": f"grid:{options.side}", "steps": options.steps, "timeout_s": options.timeout}
    with document_of(options, "plug_ins", workload=workload) as document, work_folder(options.pool_dir) as work:
        l3 = compiled(work, "l3", "examples/reduction/l3.c")
        faulty = compiled(work, "faulty", "tests/plug_ins/faulty.c")
        for name, threads in (("cost_one_thread", "1"), ("cost_all_threads", None)):
            environment = dict(UNCALIBRATED, **({"OMP_NUM_THREADS": threads} if threads else {}))
            measured = json.loads(subprocess.run([options.bin / "bench_plug_in_cost", f"{l3}:l3"], env=environment, check=True,
                                                 stdout=subprocess.PIPE, text=True).stdout)
            document[name] = {key: measured[key] for key in ("entries", "threads", "sweep", "sweep_with_plug_in", "sum_alone",
                                                             "added_over_sum_alone")}
        for what in ("crash", "hang"):
            document[what] = faulty_runs(options, work, faulty, what)


if __name__ == "__main__":
    main()
