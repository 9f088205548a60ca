#!/usr/bin/env python3
"""The whole run against the published simulation: how long an iteration takes, who waits, and how much memory it needs.

Workload: PageRank on grid:SIDE, --passes P. Measured in turn, A B C D A B C D ..., after one warm-up of each:
  pipeline         ringside run --durability process, one producer core and one analyzer core, every iterate kept
  dram             ringside run --mode dram, both cores, nothing kept
  reference_nvm    the reference simulation with two groups of one thread and an array in a pool
  reference_dram   the reference simulation with two threads in DRAM
The reference is compiled here from the source given with --reference; without it only the first two are measured. Ratios
are taken pair by pair within a round, because a shared machine drifts.

A second part runs the pipeline with one pass, where the analyzer keeps up, for producer idleness and hand-off times; a
third samples the peak memory of both processes. Writes JSON (see docs/benchmarking.md)."""

import argparse
import json
import math
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def machine_header(bin_dir):
    def first(path, pattern):
        try:
            found = re.search(pattern, pathlib.Path(path).read_text())
            return found.group(1).strip() if found else "n/a"
        except OSError:
            return "n/a"

    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return {
        "cpu": first("/proc/cpuinfo", r"model name\s*:\s*(.*)"),
        "cores_allowed": len(os.sched_getaffinity(0)),
        "governor": first("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", r"(.*)"),
        "kernel": platform.release(),
        "compiler": first(bin_dir.parent / "CMakeCache.txt", r"CMAKE_CXX_COMPILER:\S+=(.*)"),
        "build": first(bin_dir.parent / "CMakeCache.txt", r"CMAKE_BUILD_TYPE:\S+=(.*)"),
        "commit": commit.stdout.strip() or "n/a",
        "load_average": os.getloadavg(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def spread(values):
    """With enough values also where their median lies with 95 % confidence, whatever their distribution: between two of
    them, by the binomial distribution of how many lie below it (Conover, Practical Nonparametric Statistics, 3.2)."""
    found = {"median": statistics.median(values), "min": min(values), "max": max(values), "repeats": len(values)}
    away = round(0.98 * math.sqrt(len(values)))
    if len(values) >= 10:
        ascending = sorted(values)
        found["median_95"] = [ascending[max(len(values) // 2 - 1 - away, 0)],
                              ascending[min((len(values) + 1) // 2 + away, len(values) - 1)]]
    return found


class Bench:
    def __init__(self, options):
        self.options = options
        self.bin = pathlib.Path(options.bin).resolve()
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="ringside-bench-", dir=options.pool_dir))
        self.matrix = f"grid:{options.side}"
        self.reference = self.build_reference()

    def close(self):
        shutil.rmtree(self.work, ignore_errors=True)

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
        summary = self.work / "summary.json"
        pool = self.work / "bench.pool"
        pool.unlink(missing_ok=True)
        subprocess.run(
            [self.bin / "ringside", "run", "--quiet", f"--matrix={self.matrix}", f"--iterations={self.options.iterations}",
             f"--pool={pool}", f"--summary={summary}", *more],
            check=True)
        pool.unlink(missing_ok=True)
        return json.loads(summary.read_text())

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

    def compare(self):
        passes = f"--passes={self.options.passes}"
        measured = {
            "pipeline": lambda: self.ringside(passes, "--durability=process"),
            "dram": lambda: self.ringside(passes, "--mode=dram"),
        }
        if self.reference:
            measured["reference_nvm"] = lambda: self.run_reference("nvm", 1, 1)
            measured["reference_dram"] = lambda: self.run_reference("dram", 2)
        rounds = []
        for number in range(-1, self.options.repeats):  # round -1 warms up
            figures = {name: run() for name, run in measured.items()}
            if number >= 0:
                rounds.append(figures)
        return rounds

    def peak_memory(self):
        """Peak bytes of each process, sampled every 5 ms while it runs: resident in all, and private (RssAnon)."""
        socket = self.work / "s"
        pool = self.work / "memory.pool"
        analyzer = subprocess.Popen(
            [self.bin / "ringside-analyzer", f"--socket={socket}", f"--pool={pool}", "--once", "--cores=1",
             "--durability=process"])
        producer = subprocess.Popen(
            [self.bin / "ringside-producer", f"--socket={socket}", f"--matrix={self.matrix}", "--iterations=30",
             "--cores=0"])
        peaks = {"producer": {}, "analyzer": {}}
        while analyzer.poll() is None and producer.poll() is None:
            for name, process in (("producer", producer), ("analyzer", analyzer)):
                try:
                    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                except OSError:
                    continue
                for key in ("VmHWM", "RssAnon", "RssShmem", "RssFile"):
                    found = re.search(rf"{key}:\s+(\d+) kB", status)
                    if found:
                        peaks[name][key] = max(peaks[name].get(key, 0), int(found.group(1)) * 1024)
            time.sleep(0.005)
        producer.wait()
        analyzer.wait()
        pool.unlink(missing_ok=True)
        return peaks


def report(options):
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("bench/pipeline.py: found 1 core, expected at least 2")
    bench = Bench(options)
    try:
        document = {"benchmark": "pipeline", "machine": machine_header(bench.bin),
                    "workload": {"matrix": bench.matrix, "iterations": options.iterations, "passes": options.passes}}
        rounds = bench.compare()
        total = {"pipeline": "total_s", "dram": "total_s", "reference_nvm": "total", "reference_dram": "total"}
        ms = 1000 / options.iterations
        document["ms_per_iteration"] = {
            name: spread([r[name][key] * ms for r in rounds]) for name, key in total.items() if name in rounds[0]}
        document["pipeline_account_ms_per_iteration"] = {
            key: spread([r["pipeline"][f"{key}_s"] * ms for r in rounds])
            for key in ("generate", "producer_idle", "transfer", "commit", "analyze", "analyzer_idle")}
        ratios = {"pipeline_over_dram": ("pipeline", "dram")}
        if bench.reference:
            ratios["pipeline_over_reference_nvm"] = ("pipeline", "reference_nvm")
            ratios["pipeline_over_reference_dram"] = ("pipeline", "reference_dram")
        document["ratios"] = {
            name: spread([r[a][total[a]] / r[b][total[b]] for r in rounds]) for name, (a, b) in ratios.items()}

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
        document["peak_memory_bytes"]["producer_bound"] = 8 * (rows + 1) + 4 * nonzeros + 4 * 8 * rows + 2 * 8 * rows
        document["rounds"] = rounds
    finally:
        bench.close()
    text = json.dumps(document, indent=2) + "\n"
    if options.output:
        pathlib.Path(options.output).write_text(text)
    for name, ratio in document["ratios"].items():
        print(f"{name:<32} {ratio['median']:.3f}  ({ratio['min']:.3f} to {ratio['max']:.3f}, {ratio['repeats']} rounds)")
    for name, time_ms in document["ms_per_iteration"].items():
        print(f"{name:<32} {time_ms['median']:.2f} ms an iteration  ({time_ms['min']:.2f} to {time_ms['max']:.2f})")
    up = document["analyzer_keeps_up"]
    print(f"with one pass: producer idle {100 * up['producer_idle_share']['median']:.2f} %, "
          f"hand-off p50 {up['hand_off_p50_us']['median']:.1f} us, p99 {up['hand_off_p99_us']['median']:.1f} us")
    memory = document["peak_memory_bytes"]
    print(f"peak memory: producer {memory['producer'].get('VmHWM', 0) / 1e6:.0f} MB "
          f"(matrix + 4 vectors + buffers: {memory['producer_bound'] / 1e6:.0f} MB), "
          f"analyzer private {memory['analyzer'].get('RssAnon', 0) / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=2000)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=7, help="measured rounds (default 7)")
    parser.add_argument("--bin", default=ROOT / "build/release/bin", help="folder of the programs")
    parser.add_argument("--pool-dir", default=tempfile.gettempdir(), help="where the pools lie (default: the temporary folder)")
    data = pathlib.Path(os.environ.get("RINGSIDE_TEST_DATA", ROOT / "../shared/data"))
    parser.add_argument("--reference", default=data.parent / "reference/thesis_sim.c",
                        help="the reference's source (default: reference/thesis_sim.c beside the test data)")
    parser.add_argument("--output", help="JSON file to write")
    report(parser.parse_args())


if __name__ == "__main__":
    main()
