#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how accurate the predictions are. Makes rounds of calibrate, plan and run, and also predicts published
results: the pipeline, the competitions, and the placement of a stencil. With --published-only, it predicts only the
published results, and keeps the rounds in the file.

For each matrix in turn, a round measures the node again, plans the run, and makes these runs with fresh pools: with
--cores auto, in every mode of a run's default split, and as planned. An error compares a run's total time with the plan
of its round. Regret is the time of the planned choice divided by the time of the round's fastest mode. The default is
the topology's split, --reduce slot, --elastic off. Writes JSON (see docs/inside/model.md)."""

import json
import pathlib
import statistics
import subprocess
import sys
import time

from measuring import (ROOT, document_of, machine_header, parser_of, path_of, read_json, ringside_run, spread, work_folder,
                       write_json)

MATRICES = {"grid:2000": 300, "cnr-2000-llp.txt.xz": 1000, "rmat:22": 30}  # iterations: a second or two
PUBLISHED_NODE = ROOT / "examples/nodes/xeon_6130_nvdimm.json"
# From an earlier text of S. G. Fagerheim's thesis, Figure 11: {number of generating threads, of 16: seconds of 5000
# iterations}.
PUBLISHED = {15: 247.71, 14: 138.75, 13: 98.87, 12: 75.23, 11: 60.84, 10: 51.27, 9: 45.29, 8: 40.80, 7: 40.80, 6: 43.72,
             5: 50.04, 4: 61.03, 3: 78.71, 2: 113.38, 1: 207.55}
PUBLISHED_IDLE = {
    "producer": {15: 222.32, 14: 112.50, 13: 72.16, 12: 47.62, 11: 32.40, 10: 20.98, 9: 13.86, 8: 6.61, 7: 0.69, 6: 0.02,
                 5: 0.02, 4: 0.02, 3: 0.02, 2: 0.01, 1: 0.00},
    "analyzer": {15: 0.01, 14: 0.02, 13: 0.01, 12: 0.01, 11: 0.01, 10: 0.01, 9: 0.04, 8: 0.08, 7: 4.37, 6: 12.04, 5: 20.81,
                 4: 35.00, 3: 55.42, 2: 90.80, 1: 186.93}}


def plan(bin_dir, *arguments):
    begun = time.monotonic()
    said = subprocess.run([bin_dir / "ringside", "plan", "--json", *map(str, arguments)], check=True, capture_output=True,
                          text=True).stdout
    return json.loads(said), time.monotonic() - begun


def mode_of(row):
    return (f"{row['producer_cores']} + {row['analyzer_cores']}, --reduce {row['reduce']}, "
            f"--elastic {'on' if row['elastic'] else 'off'}")


def cpus_of(node):
    """Returns the processors of a calibration, one per physical core; the text "0-2,4" gives [0, 1, 2, 4]."""
    ranges = [part.split("-") for part in node["fingerprint"]["cpus"].split(",")]
    return [cpu for ends in ranges for cpu in range(int(ends[0]), int(ends[-1]) + 1)]


def rows_to_run(predicted, cores):
    """Returns first all modes of a run's default split, and then the planned choice."""
    analyzer = min(max(cores // 4, 1), 4)
    rows = [row for row in predicted["rows"]
            if row["analyzer_cores"] == analyzer and row["producer_cores"] == cores - analyzer]
    if not rows:
        sys.exit(f"bench/plan.py: the plan for {cores} cores: found no row of {cores - analyzer} + {analyzer} cores, "
                 "expected one: a run has this split by default")
    best = predicted["rows"][predicted["best"]]
    return rows + ([] if best in rows else [best])


def options_of(row, cpus):
    producer, both = row["producer_cores"], row["producer_cores"] + row["analyzer_cores"]
    return [f"--producer-cores={','.join(map(str, cpus[:producer]))}",
            f"--analyzer-cores={','.join(map(str, cpus[producer:both]))}",
            f"--reduce={row['reduce']}", f"--elastic={'on' if row['elastic'] else 'off'}"]


def published(bin_dir):
    """Returns all predictions of published measurements. Nothing is measured here, so other load does not affect
    them."""
    others = subprocess.run([bin_dir / "bench_published", f"--node={PUBLISHED_NODE}"], check=True, capture_output=True,
                            text=True)
    return {"commit": machine_header(bin_dir)["commit"], "pipeline": published_pipeline(bin_dir), **json.loads(others.stdout)}


def published_pipeline(bin_dir):
    """Predicts the published pipeline of n = 4,000,000 from the figures of the published node."""
    found, took_s = plan(bin_dir, f"--node={PUBLISHED_NODE}", "--matrix=grid:2000", "--iterations=5000", "--passes=5")
    errors = {row["producer_cores"]: row["total_s"] / PUBLISHED[row["producer_cores"]] - 1 for row in found["rows"]}
    sizes = [abs(error) for error in errors.values()]
    idle = [abs(row[f"{side}_idle_s"] - waited[number]) <= 0.1 * PUBLISHED[row["producer_cores"]]
            for row in found["rows"] for side, waited in PUBLISHED_IDLE.items() for number in [row["producer_cores"]]]
    return {"splits": len(errors), "within_10_percent": sum(size <= 0.1 for size in sizes),
            "idle_times": len(idle), "idle_within_10_percent_of_total": sum(idle),
            "mean_error": statistics.mean(sizes), "largest_error": max(sizes),
            "chosen_producer_cores": found["rows"][found["best"]]["producer_cores"],
            "errors_by_producer_cores": errors, "plan_s": took_s}


def one_round(options, work, matrix, iterations):
    """Calibrates, plans and runs. Returns the plan's rows and the measured time of each mode."""
    node = pathlib.Path(work) / "node.json"
    begun = time.monotonic()
    subprocess.run([options.bin / "ringside", "calibrate", "--quiet", f"--memory={work}", f"--output={node}",
                    f"--budget={options.budget}", f"--matrix={path_of(matrix)}"], check=True)
    calibrate_s = time.monotonic() - begun
    run = [f"--matrix={path_of(matrix)}", f"--iterations={iterations}", f"--durability={options.durability}", "--cache",
           f"--cache-dir={work}"]
    cpus = cpus_of(json.loads(node.read_text()))
    predicted, plan_s = plan(options.bin, f"--node={node}", f"--pool={work}/x.pool", *run)
    rows = rows_to_run(predicted, len(cpus))
    took = {mode_of(row): [] for row in rows}
    auto = []
    for _ in range(options.runs):
        auto.append(ringside_run(options.bin, work, *run, "--cores=auto", f"--node={node}")["total_s"])
        for row in rows:
            took[mode_of(row)].append(ringside_run(options.bin, work, *run, *options_of(row, cpus))["total_s"])
    modes = {}
    for row in rows:
        middle = statistics.median(took[mode_of(row)])
        modes[mode_of(row)] = {"planned_s": row["total_s"], "low_s": row["low_s"], "high_s": row["high_s"],
                               "took_s": middle, "error": row["total_s"] / middle - 1}
    chosen = mode_of(predicted["rows"][predicted["best"]])
    fastest = min(figures["took_s"] for figures in modes.values())
    return {"calibrate_s": calibrate_s, "plan_s": plan_s, "modes": modes, "chosen": chosen,
            "regret": modes[chosen]["took_s"] / fastest - 1,
            "auto_s": statistics.median(auto),
            "auto_over_default": statistics.median(auto) / modes[mode_of(rows[0])]["took_s"]}


def summed(rounds, matrices):
    """Returns the figures of each matrix and each mode over all rounds."""
    document = {}
    for matrix in matrices:
        found = [one[matrix] for one in rounds]
        modes = {}
        for mode in dict.fromkeys(mode for one in found for mode in one["modes"]):
            ran = [one["modes"][mode] for one in found if mode in one["modes"]]
            errors = [abs(one["error"]) for one in ran]
            modes[mode] = {"error": spread(errors), "within_10_percent": sum(error <= 0.1 for error in errors),
                           "in_interval": sum(one["low_s"] <= one["took_s"] <= one["high_s"] for one in ran),
                           "planned_s": spread([one["planned_s"] for one in ran]),
                           "took_s": spread([one["took_s"] for one in ran])}
        document[matrix] = {"modes": modes, "regret": spread([one["regret"] for one in found]),
                            "auto_over_default": spread([one["auto_over_default"] for one in found]),
                            "chosen": [one["chosen"] for one in found],
                            "plan_s": spread([one["plan_s"] for one in found]),
                            "calibrate_s": spread([one["calibrate_s"] for one in found])}
    return document


def measure(options):
    matrices = {matrix: MATRICES[matrix] for matrix in options.matrix or MATRICES}
    head = {"published": published(options.bin), "iterations": matrices, "runs_a_mode": options.runs, "budget_s": options.budget,
            "durability": options.durability}
    rounds = []
    with document_of(options, "plan", 2, **head) as document, work_folder(options.pool_dir) as work:
        begun = time.monotonic()
        subprocess.run([options.bin / "ringside", "calibrate", "--quiet", f"--memory={work}", f"--output={work}/full.json"],
                       check=True)
        document["full_calibration_s"] = time.monotonic() - begun
        for number in range(options.rounds):
            rounds.append({matrix: one_round(options, work, matrix, iterations) for matrix, iterations in matrices.items()})
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        document["results"] = summed(rounds, matrices)
        document["rounds"] = rounds
    return document


def renew_published(options):
    """Replaces the file's predictions of published measurements; its rounds remain unchanged."""
    old = read_json(options.output)
    document = {"published" if key == "published_pipeline" else key: value for key, value in old.items()}
    document["published"] = published(options.bin)
    write_json(document, options.output)
    return document


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--budget", type=float, default=30, help="seconds of each calibration (default 30)")
    parser.add_argument("--runs", type=int, default=3,
                        help="runs of each mode in each round, in turn; their median counts (default 3)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds (default 7)")
    parser.add_argument("--matrix", action="append", choices=list(MATRICES), help="measure only this matrix; may be repeated")
    parser.add_argument("--durability", choices=["process", "power"], default="process", help="default process")
    parser.add_argument("--published-only", action="store_true",
                        help="replace only the predictions of published measurements in --output, with their plan_s (seconds of "
                             "planning); keep its rounds")
    options = parser.parse_args()
    if options.published_only and not options.output:
        parser.error("--published-only: found no --output, expected the file whose rounds are kept")
    document = renew_published(options) if options.published_only else measure(options)
    found = document["published"]["pipeline"]
    print(f"published pipeline: {found['within_10_percent']} of {found['splits']} splits within 10 %, mean "
          f"{100 * found['mean_error']:.1f} %, chosen {found['chosen_producer_cores']} producer cores")
    for one in document["published"]["competitions"]:
        print(f"published competition: {one['first']} beside {one['second']}: mean error {100 * one['mean_error']:.1f} %")
    for one in document["published"]["placement"]:
        print(f"published stencil, version {one['version']}, side {one['side']:,.0f}: chosen {one['chosen_nvdimm_threads']} "
              f"NVDIMM threads, best {one['published_best_nvdimm_threads']}, loss {100 * one['loss']:.1f} %")
    for matrix, result in document["results"].items():
        for mode, figures in result["modes"].items():
            print(f"{matrix:<22} {mode:<41} error {100 * figures['error']['median']:5.1f} % (to "
                  f"{100 * figures['error']['max']:.1f}), {figures['within_10_percent']} of {figures['error']['repeats']} "
                  "within 10 %")
        print(f"{matrix:<22} regret {100 * result['regret']['median']:.1f} %, --cores auto ÷ default "
              f"{result['auto_over_default']['median']:.3f}")


if __name__ == "__main__":
    main()
