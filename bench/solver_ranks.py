#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""PageRank as several MPI ranks of one thread each, against one process with as many threads, on the same cores.

Runs of both kinds take turns. Each says itself how long its iterations took, without starting and loading. Only the last iterate is
published: the analyzer, which shares the cores, sleeps meanwhile. Writes JSON (see docs/inside/benchmarking.md)."""

import json
import os
import re
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

    def command(self, way):
        solver = [f"--matrix={self.options.matrix}", f"--solver={self.options.solver}",
                  f"--iterations={self.options.iterations}", "--every=1000000"]
        if way == "threads":
            return [self.options.bin / "ringside-producer", f"--socket={self.socket}", f"--cores={self.cores}",
                    "--report-fd=1", *solver]
        return ["mpirun", "-n", str(self.options.ranks), self.options.bin / "ringside-producer-mpi", "--log-level=info", *solver]

    def seconds_of_iteration(self, way):
        remove_pool(self.pool)
        analyzer = subprocess.Popen([self.options.bin / "ringside-analyzer", "--once", f"--socket={self.socket}",
                                     f"--pool={self.pool}", "--durability=process", "--telemetry=off"])
        while not self.socket.exists() and analyzer.poll() is None:
            time.sleep(0.01)
        environment = {**os.environ, **MPI, "RINGSIDE_SOCKET": str(self.socket), "RINGSIDE_CORES": self.cores,
                       "OMP_NUM_THREADS": str(self.options.ranks if way == "threads" else 1)}
        run = subprocess.run(self.command(way), env=environment, capture_output=True, text=True)
        analyzer.wait()
        if run.returncode != 0:
            sys.exit(f"solver_ranks: {way}: status {run.returncode}\n{run.stdout}{run.stderr}")
        if way == "threads":
            final = json.loads(run.stdout.splitlines()[-1])
            seconds = (final["ended_ns"] - final["begun_ns"]) * 1e-9
        else:
            seconds = max(map(float, re.findall(r"event=ended .* seconds=(\S+)", run.stdout + run.stderr)))
        return seconds / self.options.iterations


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--matrix", default="grid:2000", help="(default grid:2000)")
    parser.add_argument("--solver", default="pagerank", help="(default pagerank)")
    parser.add_argument("--ranks", type=int, default=2, help="and threads (default 2)")
    parser.add_argument("--iterations", type=int, default=200, help="of a run (default 200)")
    parser.add_argument("--pairs", type=int, default=9, help="of runs (default 9)")
    options = parser.parse_args()
    with work_folder(options.pool_dir) as work:
        runs = Runs(options, work)
        pairs = []
        for pair in range(options.pairs):
            ways = ("threads", "ranks") if pair % 2 == 0 else ("ranks", "threads")
            pairs.append({way: runs.seconds_of_iteration(way) for way in ways})
    document = {"benchmark": "solver_ranks", "machine": machine_header(options.bin), "matrix": options.matrix,
                "solver": options.solver, "ranks": options.ranks, "iterations": options.iterations,
                "seconds_of_iteration_threads": spread([pair["threads"] for pair in pairs]),
                "seconds_of_iteration_ranks": spread([pair["ranks"] for pair in pairs]),
                "speed_of_ranks_over_threads": spread([pair["threads"] / pair["ranks"] for pair in pairs])}
    print(json.dumps(document, indent=2))
    write_json(document, options.output)


if __name__ == "__main__":
    main()
