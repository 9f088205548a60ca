#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the whole run with the published simulation: the time of an iteration, the waiting times of producer and
analyzer, and the memory.

Workload: PageRank on grid:SIDE, --passes P. Measured in turn, A B C D, D C B A, ..., after one warm-up of each:
  pipeline         ringside run --durability process, one producer core and one analyzer core, every iterate kept
  dram             ringside run --mode dram, both cores, nothing kept
  elastic_passes   the pipeline with --elastic on and --reduce transfer
  reference_nvm    the reference simulation with two groups of one thread and an array in a pool
  reference_dram   the reference simulation with two threads in DRAM
The reference is compiled from the source that --reference names; without this option, only Ringside's runs are
measured. Ratios are taken pair by pair within a round, because the speed of a shared machine drifts. Then, in separate
pairs:
  elastic          the pipeline with --elastic on, --reduce transfer and one pass
  dram_once        ringside run --mode dram with one pass

A second part runs the pipeline with one pass, with which the analyzer keeps up, and measures the producer's idle time
and the times of the hand-off. A third part samples the peak memory of both processes. Writes JSON (see
docs/inside/benchmarking.md)."""

import os
import pathlib
import re
import subprocess
import sys

from measuring import TEST_DATA, confidence, document_of, in_turn, parser_of, ringside_run, spread, work_folder

SHARED = ("--elastic=on", "--reduce=transfer", "--durability=process")


class Bench:
    def __init__(self, options, work):
        self.options = options
        self.bin = options.bin
        self.work = work
        self.matrix = f"grid:{options.side}"
        self.reference = self.build_reference()

    def build_reference(self):
        source = pathlib.Path(self.options.reference)
        if not source.is_file():
            print(f"{source} is missing: the reference is not measured", file=sys.stderr)
            return None
        program = self.work / "reference"
        subprocess.run(
            ["gcc", "-O2", "-fopenmp", source, "-o", program, "-lpmemobj", "-lpmem", "-lm"], check=True)
        return program

    def ringside(self, *more):
        return ringside_run(self.bin, self.work, f"--matrix={self.matrix}", f"--iterations={self.options.iterations}", *more)

    def run_reference(self, mode, *more):
        pool = self.work / "reference.pool"
        pool.unlink(missing_ok=True)
        arguments = [self.reference, mode, self.options.side, self.options.iterations, self.options.passes, *more]
        if mode == "nvm":
            arguments.append(pool)
        done = subprocess.run([str(a) for a in arguments], check=True, capture_output=True, text=True,
                              env={**os.environ, "PMEM_IS_PMEM_FORCE": "1"})
        pool.unlink(missing_ok=True)
        return {key: float(value) for key, value in re.findall(r"(\w+)=([-+.\de]+)", done.stdout) if key != "mode"}

    def has_elastic_cores(self):
        usage = subprocess.run([self.bin / "ringside", "run", "--help"], check=True, capture_output=True, text=True).stdout
        return "--elastic" in usage

    def compare(self):
        passes = f"--passes={self.options.passes}"
        measured = {
            "pipeline": lambda: self.ringside(passes, "--durability=process"),
            "dram": lambda: self.ringside(passes, "--mode=dram"),
        }
        if self.has_elastic_cores():
            measured["elastic_passes"] = lambda: self.ringside(passes, *SHARED)
        if self.reference:
            measured["reference_nvm"] = lambda: self.run_reference("nvm", 1, 1)
            measured["reference_dram"] = lambda: self.run_reference("dram", 2)
        return in_turn(measured, self.options.repeats)

    def compare_with_keeping_nothing(self):
        """Compares times that are nearly equal. Therefore it measures many pairs of two successive runs."""
        return in_turn({"elastic": lambda: self.ringside("--passes=1", *SHARED),
                        "dram_once": lambda: self.ringside("--passes=1", "--mode=dram")}, self.options.pairs)

    def peak_memory(self):
        """Returns the peak memory of each process in bytes: resident in total, and private (RssAnon)."""
        peaks = {}
        ringside_run(self.bin, self.work, f"--matrix={self.matrix}", "--iterations=30", "--durability=process",
                     "--producer-cores=0", "--analyzer-cores=1", peaks=peaks)
        return {"producer": peaks["ringside-produc"], "analyzer": peaks["ringside-analyz"]}


def report(options):
    with document_of(options, "pipeline", 2) as document, work_folder(options.pool_dir) as work:
        measure(options, Bench(options, work), document)
    for name, found in document["ratios"].items():
        print(f"{name:<32} {confidence(found)}, {found['repeats']} rounds")
    for name, time_ms in document["ms_per_iteration"].items():
        print(f"{name:<32} {time_ms['median']:.2f} ms an iteration  ({time_ms['min']:.2f} to {time_ms['max']:.2f})")
    up = document["analyzer_keeps_up"]
    print(f"with one pass: producer idle {100 * up['producer_idle_share']['median']:.2f} %, "
          f"hand-off p50 {up['hand_off_p50_us']['median']:.1f} us, p99 {up['hand_off_p99_us']['median']:.1f} us")
    memory = document["peak_memory_bytes"]
    print(f"peak memory: producer {memory['producer'].get('VmHWM', 0) / 1e6:.0f} MB "
          f"(matrix and vectors: {memory['producer_predicted'] / 1e6:.0f} MB), "
          f"analyzer private {memory['analyzer'].get('RssAnon', 0) / 1e6:.1f} MB")


def measure(options, bench, document):
    series = [bench.compare()]
    if bench.has_elastic_cores():
        series.append(bench.compare_with_keeping_nothing())
    ms = 1000 / options.iterations
    rounds_of = {name: rounds for rounds in series for name in rounds[0]}
    total = {name: "total" if name.startswith("reference") else "total_s" for name in rounds_of}
    document["workload"] = {"matrix": bench.matrix, "iterations": options.iterations, "passes": options.passes}
    document["ms_per_iteration"] = {name: spread([r[name][key] * ms for r in rounds_of[name]])
                                    for name, key in total.items()}
    document["account_ms_per_iteration"] = {
        way: {key: spread([r[way][f"{key}_s"] * ms for r in rounds_of[way]])
              for key in ("generate", "producer_idle", "transfer", "commit", "analyze", "analyzer_idle")}
        for way in ("pipeline", "elastic") if way in total}
    pairs = {"pipeline_over_dram": ("pipeline", "dram"), "pipeline_over_reference_nvm": ("pipeline", "reference_nvm"),
             "pipeline_over_reference_dram": ("pipeline", "reference_dram"), "elastic_over_dram_once": ("elastic", "dram_once"),
             "elastic_over_reference_dram": ("elastic_passes", "reference_dram")}
    document["ratios"] = {name: spread([r[a][total[a]] / r[b][total[b]] for r in rounds_of[a]])
                          for name, (a, b) in pairs.items() if a in total and b in total}

    keeping_up = [bench.ringside("--passes=1", "--durability=process") for _ in range(options.repeats)]
    document["analyzer_keeps_up"] = {
        "passes": 1,
        "producer_idle_share": spread([s["producer_idle_s"] / s["total_s"] for s in keeping_up]),
        "hand_off_p50_us": spread([s["hand_off_ns"]["p50"] / 1000 for s in keeping_up]),
        "hand_off_p99_us": spread([s["hand_off_ns"]["p99"] / 1000 for s in keeping_up]),
        "ms_per_iteration": spread([s["total_s"] * ms for s in keeping_up]),
    }
    rows = keeping_up[0]["rows"]
    nonzeros = keeping_up[0]["nonzeros"]
    document["peak_memory_bytes"] = bench.peak_memory()
    document["peak_memory_bytes"]["producer_predicted"] = predicted_peak(rows, nonzeros)
    document["rounds"] = series


def predicted_peak(rows, nonzeros):
    """Predicts the peak memory of a grid's producer in bytes, without its programs. First the producer has the matrix,
    the out-degrees and the scales. Later, when the entries are in bands, it has the scales, the first iterate and the
    two shared buffers."""
    vector = 8 * rows
    return 2 * vector + max(8 * (rows + 1) + 4 * nonzeros, 2 * vector)


def declare_reference(parser):
    parser.add_argument("--reference", default=TEST_DATA.parent / "reference/thesis_sim.c",
                        help="the reference's source (default: reference/thesis_sim.c next to the test data's folder)")


def declare(parser):
    """Declares the options of a benchmark that runs a grid."""
    parser.add_argument("--side", type=int, default=2000)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--passes", type=int, default=5)


def main():
    parser = parser_of(__doc__, repeats=7)
    declare(parser)
    declare_reference(parser)
    parser.add_argument("--pairs", type=int, default=30, help="measured pairs of elastic and dram_once (default 30)")
    report(parser.parse_args())


if __name__ == "__main__":
    main()
