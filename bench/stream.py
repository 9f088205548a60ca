#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the rates of `ringside experiment stream` with those of a plain STREAM. Both are measured in turn, with the
same arrays, threads and repeats.

tests/reference/plain_stream.cpp implements STREAM as its published definition describes it. The compared values are the
best rates (of the shortest repeat except the first), with plain stores in DRAM; ratios are taken within a round. Writes
JSON (see docs/inside/benchmarking.md)."""

import json
import os
import subprocess

from measuring import confidence, document_of, in_turn, others_share, parser_of, ratio, spread

LOOPS = ("copy", "scale", "add", "triad")
BYTES = 128 << 20  # the size of one array, as in plain_stream


def plain(options, threads):
    """{loop: GB/s}"""
    cpus = sorted(os.sched_getaffinity(0))[:threads]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true",
                   "OMP_PLACES": ",".join(f"{{{cpu}}}" for cpu in cpus)}
    done = subprocess.run([options.bin / "plain_stream", str(options.repeats)], check=True, capture_output=True, env=environment)
    return json.loads(done.stdout)


def ours(options, threads):
    """Returns {loop: GB/s} of the experiment. Includes the rates with non-temporal stores."""
    done = subprocess.run([options.bin / "ringside", "experiment", "stream", "--json", f"--threads={threads}",
                           f"--bytes={BYTES}", f"--repeats={options.repeats}"], check=True, capture_output=True)
    rows = [row for row in json.loads(done.stdout)["tables"]["rates"]["rows"] if row["memory"] == "dram"]
    rates = {row["kernel"]: row["best_gb_s"] for row in rows if row["stores"] == "plain"}
    rates.update({f"{row['kernel']}_nontemporal": row["best_gb_s"] for row in rows if row["stores"] != "plain"})
    return rates


def measure(options):
    head = {"array_bytes": BYTES, "repeats": options.repeats, "results": []}
    with document_of(options, "stream", max(options.threads), **head) as document:
        for threads in options.threads:
            result = {"threads": threads}
            with others_share(result):
                rounds = in_turn({"plain": lambda threads=threads: plain(options, threads),
                                  "ours": lambda threads=threads: ours(options, threads)}, options.rounds)
            result["ours_over_plain"] = {loop: ratio(rounds, "ours", "plain", lambda rates, loop=loop: rates[loop])
                                         for loop in LOOPS}
            result["best_gb_s"] = {name: {loop: spread([r[name][loop] for r in rounds]) for loop in rounds[0][name]}
                                   for name in ("plain", "ours")}
            document["results"].append(result)
    return document


def main():
    parser = parser_of(__doc__, pool_dir=None)
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, len(os.sched_getaffinity(0))}),
                        help="numbers of threads (default: 1, and one per core)")
    parser.add_argument("--repeats", type=int, default=30, help="repeats of each loop in a run (default 30)")
    parser.add_argument("--rounds", type=int, default=11, help="measured rounds (default 11)")
    for result in measure(parser.parse_args())["results"]:
        for loop, found in result["ours_over_plain"].items():
            print(f"{result['threads']} threads, {loop:<6} ours ÷ plain: {confidence(found)}, {found['repeats']} rounds")


if __name__ == "__main__":
    main()
