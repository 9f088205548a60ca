#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares PageRank as several MPI ranks of one thread each with one process that has the same number of threads on the
same cores.

Runs of both kinds take turns. Each run reports the time of its iterations, without the time that it takes to start and
to load the matrix. Only the last iterate is published, so that the analyzer, which shares the cores, sleeps until then.
Writes JSON (see docs/inside/benchmarking.md)."""

import functools
import json
import os
import re
import time

from measuring import analyzers_of, called, document_of, in_turn, parser_of, ratio, remove_pool, spreads, work_folder


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
        return ["sh", "-c", '"$@" 2>&1', "sh", "mpirun", "-n", self.options.ranks, self.options.bin / "ringside-producer-mpi",
                "--log-level=info", *solver]

    def seconds_of_iteration(self, way):
        remove_pool(self.pool)
        with analyzers_of(self.options.bin, (self.pool, self.socket)):
            while not self.socket.exists():
                time.sleep(0.01)
            said = called(self.command(way), RINGSIDE_SOCKET=str(self.socket), RINGSIDE_CORES=self.cores,
                          OMP_NUM_THREADS=str(self.options.ranks if way == "threads" else 1))
        if way == "threads":
            final = json.loads(said.splitlines()[-1])
            seconds = (final["ended_ns"] - final["begun_ns"]) * 1e-9
        else:
            seconds = max(map(float, re.findall(r"event=ended .* seconds=(\S+)", said)))
        return seconds / self.options.iterations


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--matrix", default="grid:2000", help="(default grid:2000)")
    parser.add_argument("--solver", default="pagerank", help="(default pagerank)")
    parser.add_argument("--ranks", type=int, default=2, help="ranks, and threads of the one process (default 2)")
    parser.add_argument("--iterations", type=int, default=200, help="iterations of a run (default 200)")
    parser.add_argument("--pairs", type=int, default=9, help="pairs of runs (default 9)")
    options = parser.parse_args()
    head = {"matrix": options.matrix, "solver": options.solver, "ranks": options.ranks, "iterations": options.iterations}
    with document_of(options, "solver_ranks", **head) as document, work_folder(options.pool_dir) as work:
        runs = Runs(options, work)
        rounds = in_turn({way: functools.partial(runs.seconds_of_iteration, way) for way in ("threads", "ranks")}, options.pairs)
        document.update({f"seconds_of_iteration_{way}": found for way, found in spreads(rounds).items()})
        document["speed_of_ranks_over_threads"] = ratio(rounds, "threads", "ranks")
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
