#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how much an analysis in Python slows its run. Makes runs without an analysis, with a cheap one (a sum) and
with an expensive one (sorting ten times), in turn, and compares the run's time and the producer's idle time. Also
counts the steps that each analysis followed. By default, analyses run on the analyzer's cores with the lowest priority;
--analyze-cores selects other cores. Writes JSON (see docs/inside/benchmarking.md)."""

from measuring import document_of, in_turn, parser_of, ratio, ringside_run, spread, work_folder

CHEAP = """
import ringside

@ringside.reduction("sum")
def total(step):
    return step.view("x").sum()
"""
HEAVY = """
import numpy as np
import ringside

@ringside.reduction("median")
def median(step):
    for _ in range(10):
        found = np.sort(step.view("x"))
    return found[found.size // 2]
"""
FIGURES = ("total_s", "producer_idle_s", "generate_s", "analyze_s", "analyzer_idle_s")


def main():
    parser = parser_of(__doc__, repeats=10)
    parser.add_argument("--side", type=int, default=1000)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--analyze-cores", help="cores on which the analyses run (default: the analyzer's cores)")
    options = parser.parse_args()
    workload = {"matrix": f"grid:{options.side}", "iterations": options.iterations, "analyze_cores": options.analyze_cores}
    with document_of(options, "analyses", workload=workload) as document, work_folder(options.pool_dir) as work:
        for name, text in (("cheap", CHEAP), ("heavy", HEAVY)):
            (work / f"{name}.py").write_text(text, encoding="utf-8")

        def measured(name):
            analyze = [] if name == "none" else [f"--analyze={work / f'{name}.py'}", "--analyze-timeout=0"]
            if analyze and options.analyze_cores:
                analyze.append(f"--analyze-cores={options.analyze_cores}")
            summary = ringside_run(options.bin, work, f"--matrix=grid:{options.side}", f"--iterations={options.iterations}",
                                   "--durability=process", *analyze)
            assert summary["steps_committed"] == options.iterations
            return {key: summary[key] for key in FIGURES} | {"analyses": summary["analyses"]}

        rounds = in_turn({name: lambda name=name: measured(name) for name in ("none", "cheap", "heavy")}, options.repeats)
        for name in ("none", "cheap", "heavy"):
            document[name] = {key: spread([one[name][key] for one in rounds]) for key in FIGURES}
            if name != "none":
                document[name]["steps_followed"] = spread([one[name]["analyses"][0]["steps"] for one in rounds])
                document[name]["total_over_none"] = ratio(rounds, name, "none", lambda one: one["total_s"])


if __name__ == "__main__":
    main()
