#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares locks and messages: the delay until the analyzer takes a published step, and the time of the whole run.

Workload: PageRank on grid:SIDE, one sweep of the reductions, --durability process, one producer core and one analyzer
core. Both kinds are measured in turn after one warm-up run of each. The one that is first alternates from round to
round. Ratios are taken within a round, because a shared machine drifts. Writes JSON (see
docs/inside/benchmarking.md)."""

import functools
import os

from measuring import confidence, document_of, in_turn, parser_of, ratio, ringside_run, spread, work_folder

WAYS = ("locks", "messages")


def figures(runs):
    return {
        "total_s": spread([r["total_s"] for r in runs]),
        **{f"hand_off_{p}_us": spread([r["hand_off_ns"][p] / 1000 for r in runs]) for p in ("p50", "p99", "max")},
        "producer_idle_share": spread([r["producer_idle_s"] / r["total_s"] for r in runs]),
        "generate_s": spread([r["generate_s"] for r in runs]),
    }


def report(options):
    head = {"scheduling": "fifo" if os.sched_getscheduler(0) == os.SCHED_FIFO else "other",
            "workload": {"matrix": f"grid:{options.side}", "iterations": options.iterations, "passes": 1}}
    with document_of(options, "coordination", 2, **head) as document, work_folder(options.pool_dir) as work:
        def run(way):
            return ringside_run(options.bin, work, f"--matrix=grid:{options.side}", f"--iterations={options.iterations}",
                                f"--coordination={way}", "--durability=process")

        rounds = in_turn({way: functools.partial(run, way) for way in WAYS}, options.repeats)
        for way in WAYS:
            document[way] = figures([r[way] for r in rounds])
        document["messages_over_locks"] = {
            key: ratio(rounds, "messages", "locks", lambda summary: summary[key]) for key in ("total_s", "generate_s")}
        document["load_average_after"] = os.getloadavg()
        document["rounds"] = rounds
    for way in WAYS:
        f = document[way]
        print(f"{way:<9} {f['total_s']['median']:.3f} s ({f['total_s']['min']:.3f} to {f['total_s']['max']:.3f}), "
              f"hand-off p50 {f['hand_off_p50_us']['median']:.1f} us ({f['hand_off_p50_us']['min']:.1f} to "
              f"{f['hand_off_p50_us']['max']:.1f}), p99 {f['hand_off_p99_us']['median']:.0f} us, "
              f"producer idle {100 * f['producer_idle_share']['median']:.2f} %")
    for key, found in document["messages_over_locks"].items():
        print(f"messages ÷ locks, {key}: {confidence(found)}")


def main():
    parser = parser_of(__doc__, repeats=11)
    parser.add_argument("--side", type=int, default=2000)
    parser.add_argument("--iterations", type=int, default=200)
    report(parser.parse_args())


if __name__ == "__main__":
    main()
