#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks how large a problem may be: whether a hundred million rows fit into a given memory, and whether the time is at
most proportional to the rows.

  growth   one PageRank iterate of grid:1000, 2000, 4000, 10000, measured in turn in separate processes
           (bench/products/), in nanoseconds per row and per nonzero; ratios to the first and to the second size are taken
           within a round. Copies of vectors of the same sizes show the limits of memory and caches: work that is not
           sequential in a cache gets slower once its vectors exceed the cache.
  runs     whole runs, pipeline and --mode dram, of grid:10000 and rmat:24: seconds and peak memory. The total is the
           producer's peak plus that of the analyzer, which maps every page of the pool. The shared buffers, which both
           processes map, count once.

  beyond   one iterate of 2,149,580,800 nonzeros, more than 2^31, checked against its closed form (bench/programs/many_nonzeros.cpp).

Writes JSON (see docs/inside/benchmarking.md). Needs 14 GB of memory, and 2.5 GB in the pool's folder, which should be on
a disk."""

import contextlib
import json
import subprocess

from measuring import confidence, document_of, in_turn, now, others_share, parser_of, read_json, ringside_run, spread, work_folder
from products import Product

SIDES = (1000, 2000, 4000, 10000)
RUNS = ("grid:10000", "rmat:24")


def growth(bin_dir, sides, threads, repeats):
    result = {"threads": threads, "started": now()}
    with others_share(result), contextlib.ExitStack() as stack:
        products = {side: stack.enter_context(contextlib.closing(Product(bin_dir, "ringside", f"grid:{side}", threads)))
                    for side in sides}
        rounds = in_turn({side: product.burst for side, product in products.items()}, repeats)
        for side, product in products.items():
            rows, nonzeros = product.ready["rows"], product.ready["nonzeros"]
            result[f"grid:{side}"] = {
                "rows": rows, "nonzeros": nonzeros, "ms": spread([r[side] * 1e3 for r in rounds]),
                "ns_per_row": spread([r[side] / rows * 1e9 for r in rounds]),
                "ns_per_nonzero": spread([r[side] / nonzeros * 1e9 for r in rounds]),
                **{f"per_row_over_grid:{base}": spread([r[side] / rows / (r[base] / products[base].ready["rows"]) for r in rounds])
                   for base in sides[:2]}}
    return result


def run(bin_dir, work, matrix, mode, iterations):
    peaks = {}
    result = {"matrix": matrix, "mode": mode, "iterations": iterations, "started": now()}
    where = ["--mode=dram"] if mode == "dram" else ["--slots=3", "--durability=process"]
    with others_share(result):
        summary = ringside_run(bin_dir, work, f"--matrix={matrix}", f"--iterations={iterations}", *where, peaks=peaks)
    producer, analyzer = peaks["ringside-produc"], peaks.get("ringside-analyz", {"VmHWM": 0, "RssShmem": 0})
    return {**result, **{key: summary[key] for key in ("rows", "nonzeros", "load_s", "total_s", "generate_s", "producer_idle_s",
                                                       "transfer_s", "analyze_s", "slots")},
            "ms_per_iteration": summary["total_s"] / iterations * 1e3,
            "generate_ns_per_row": summary["generate_s"] / iterations / summary["rows"] * 1e9,
            "generate_ns_per_nonzero": summary["generate_s"] / iterations / summary["nonzeros"] * 1e9,
            "peaks_bytes": peaks, "peak_bytes": peak_in_all(producer, analyzer)}


def peak_in_all(producer, analyzer):
    """Returns the peak of both processes together. A producer's shared memory consists of the buffers. An analyzer's
    shared memory also includes its pool if the pool is on a tmpfs."""
    return producer["VmHWM"] + analyzer["VmHWM"] - min(producer["RssShmem"], analyzer["RssShmem"])


def main():
    parser = parser_of(__doc__, repeats=11)
    parser.add_argument("--sides", nargs="+", type=int, default=SIDES)
    parser.add_argument("--threads", nargs="*", type=int, default=(1, 2))
    parser.add_argument("--runs", nargs="*", default=RUNS, help=f"default: {' '.join(RUNS)}")
    parser.add_argument("--no-beyond", dest="beyond", action="store_false", help="leave out the part `beyond`")
    parser.add_argument("--iterations", type=int, default=10, help="iterations of each run (default 10)")
    parser.add_argument("--keep", action="store_true",
                        help="keep the results of other threads and runs in the JSON file")
    options = parser.parse_args()
    before = {"growth": [], "runs": []} | (read_json(options.output) if options.keep else {})
    with document_of(options, "scale", 2) as document, work_folder(options.pool_dir) as work:
        document["growth"] = [result for result in before["growth"] if result["threads"] not in options.threads]
        document["growth"] += [growth(options.bin, options.sides, threads, options.repeats) for threads in options.threads]
        document["runs"] = [result for result in before["runs"] if result["matrix"] not in options.runs]
        document["runs"] += [run(options.bin, work, matrix, mode, options.iterations)
                            for matrix in options.runs for mode in ("pipeline", "dram")]
        if "beyond" in before:
            document["beyond"] = before["beyond"]
        if options.beyond:
            document["beyond"] = json.loads(subprocess.run([options.bin / "bench_many_nonzeros"], check=True, stdout=subprocess.PIPE).stdout)
    for result in document["growth"]:
        for matrix, found in ((key, value) for key, value in result.items() if key.startswith("grid:")):
            over = ", ".join(f"{key.removeprefix('per_row_over_')}'s {confidence(value)}"
                             for key, value in found.items() if key.startswith("per_row_over_"))
            print(f"{matrix}, {result['threads']} thread(s): {confidence(found['ms'])} ms, {confidence(found['ns_per_row'])} ns a "
                  f"row, {confidence(found['ns_per_nonzero'])} ns a nonzero; a row over {over}")
    for found in document["runs"]:
        print(f"{found['matrix']}, {found['mode']}: {found['ms_per_iteration']:.0f} ms an iteration "
              f"({found['generate_ns_per_row']:.2f} ns a row, {found['generate_ns_per_nonzero']:.3f} ns a nonzero), "
              f"loaded in {found['load_s']:.1f} s, {found['peak_bytes'] / 2**30:.1f} GiB in all")
    if "beyond" in document:
        print(f"{document['beyond']['nonzeros']:,} nonzeros: relative error {document['beyond']['relative_error']:.1e}, "
              f"{document['beyond']['ns_per_nonzero']:.2f} ns a nonzero")


if __name__ == "__main__":
    main()
