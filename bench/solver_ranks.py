#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""PageRank as several MPI ranks of one thread each, against one process with as many threads, on the same cores.

Runs of both kinds take turns. The time of an iteration is the difference between a long run and a short one, so that starting and
loading cancel. Only the last iterate is published: the analyzer, which shares the cores, sleeps meanwhile. Writes JSON (see
docs/benchmarking.md)."""

import json
import os
import subprocess
import sys
import time

from measuring import machine_header, parser_of, remove_pool, spread, work_folder, write_json

MPI = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Runs:
    def __init__(self, options, work):
        self.options, self.pool, self.socket = options, work / "ranks.pool", work / "analyzer.socket"
        self.cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:options.ranks]))

    def command(self, way, iterations):
        solver = [f"--matrix={self.options.matrix}", f"--solver={self.options.solver}", f"--iterations={iterations}",
                  "--every=1000000"]
        if way == "threads":
            return [self.options.bin / "ringside-producer", f"--socket={self.socket}", f"--cores={self.cores}", *solver]
        return ["mpirun", "-n", str(self.options.ranks), self.options.bin / "ringside-producer-mpi", *solver]

    def seconds(self, way, iterations):
        remove_pool(self.pool)
        analyzer = subprocess.Popen([self.options.bin / "ringside-analyzer", "--once", f"--socket={self.socket}",
                                     f"--pool={self.pool}", "--durability=process", "--telemetry=off"])
        while not self.socket.exists() and analyzer.poll() is None:
            time.sleep(0.01)
        environment = {**os.environ, **MPI, "RINGSIDE_SOCKET": str(self.socket), "RINGSIDE_CORES": self.cores,
                       "OMP_NUM_THREADS": str(self.options.ranks if way == "threads" else 1)}
        begin = time.monotonic()
        run = subprocess.run(self.command(way, iterations), env=environment, capture_output=True, text=True)
        seconds = time.monotonic() - begin
        analyzer.wait()
        if run.returncode != 0:
            sys.exit(f"solver_ranks: {way}: status {run.returncode}\n{run.stdout}{run.stderr}")
        return seconds

    def seconds_of_iteration(self, way):
        long, short = (self.seconds(way, iterations) for iterations in (self.options.iterations, self.options.short))
        return (long - short) / (self.options.iterations - self.options.short)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--matrix", default="grid:2000", help="(default grid:2000)")
    parser.add_argument("--solver", default="pagerank", help="(default pagerank)")
    parser.add_argument("--ranks", type=int, default=2, help="and threads (default 2)")
    parser.add_argument("--iterations", type=int, default=220, help="of the long run (default 220)")
    parser.add_argument("--short", type=int, default=20, help="iterations of the short run (default 20)")
    parser.add_argument("--pairs", type=int, default=7, help="of measurements (default 7)")
    options = parser.parse_args()
    with work_folder(options.pool_dir) as work:
        runs = Runs(options, work)
        pairs = []
        for pair in range(options.pairs):
            ways = ("threads", "ranks") if pair % 2 == 0 else ("ranks", "threads")
            pairs.append({way: runs.seconds_of_iteration(way) for way in ways})
    document = {"benchmark": "solver_ranks", "machine": machine_header(options.bin), "matrix": options.matrix,
                "solver": options.solver, "ranks": options.ranks, "iterations": options.iterations - options.short,
                "seconds_of_iteration_threads": spread([pair["threads"] for pair in pairs]),
                "seconds_of_iteration_ranks": spread([pair["ranks"] for pair in pairs]),
                "speed_of_ranks_over_threads": spread([pair["threads"] / pair["ranks"] for pair in pairs])}
    print(json.dumps(document, indent=2))
    write_json(document, options.output)


if __name__ == "__main__":
    main()
