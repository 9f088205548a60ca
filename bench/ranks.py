#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how much time it takes to keep each step of a solver with several MPI ranks, and the network traffic between
nodes.

Weak scaling: bench_ranks runs with 1, 2 and 4 ranks of equal blocks that keep each step. It is compared in turn with
the same ranks on the same cores that keep nothing. One process with libringside is compared in the same way. On a
machine with two cores, the ranks share one core, and the analyzer has the other one. Network: the ranks of two nodes
(two analyzers on this machine) communicate by TCP over the loopback device. The script counts the device's bytes per
step with and without keeping. Writes JSON (see docs/inside/benchmarking.md)."""

import json
import os
import pathlib

from measuring import analyzers_of, called, document_of, parser_of, remove_pool, spread, work_folder

YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}


class Costs:
    def __init__(self, options, pool):
        self.options, self.pool = options, pool
        self.cores = sorted(os.sched_getaffinity(0))
        self.program = options.bin / "bench_ranks"

    def shape(self):
        return (self.options.columns, self.options.rows, self.options.sweeps, self.options.steps)

    def seconds(self, way, ranks):
        producers = ",".join(map(str, self.cores[:-1]))
        command = ["mpirun", "-n", ranks, self.program, way, *self.shape()]
        if way == "none":
            return float(called(["taskset", "-c", producers, *command], **YIELD))
        remove_pool(self.pool)
        return float(called([self.options.bin / "ringside", "run", "--quiet", f"--pool={self.pool}", "--durability=process",
                             f"--producer-cores={producers}", f"--analyzer-cores={self.cores[-1]}", "--", *command], **YIELD))

    def pairs(self, way, ranks):
        found = []
        for _ in range(self.options.pairs + 1):
            kept, bare = self.seconds(way, ranks), self.seconds("none", ranks)
            found.append((kept, bare))
        found = found[1:]  # the first warms up
        return {"ranks": ranks, "seconds_a_step_not_kept": spread([bare for _, bare in found]),
                "kept_over_not_kept": spread([kept / bare for kept, bare in found])}


def loopback_bytes():
    [line] = [line for line in pathlib.Path("/proc/net/dev").read_text().splitlines() if line.strip().startswith("lo:")]
    return int(line.split()[9])  # the bytes sent


def network(options, work):
    """Returns the bytes per step and node for two ranks. Each rank is a node with its own analyzer."""
    tcp = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl_tcp_if_include": "lo"}
    shape = (100, 50, 1, options.network_steps)
    program = options.bin / "bench_ranks"
    nodes = [(work / f"node{node}.pool", work / f"node{node}.socket") for node in range(2)]
    words = [word for _, socket in nodes for word in (":", "-n", "1", "env", f"RINGSIDE_SOCKET={socket}", program, "ranks", *shape)]
    counts = {}
    with analyzers_of(options.bin, *nodes):
        for way, command in (("ranks", ["mpirun", *words[1:]]), ("none", ["mpirun", "-n", "2", program, "none", *shape])):
            before = loopback_bytes()
            called(command, **YIELD, **tcp)
            counts[way] = loopback_bytes() - before
    steps = options.network_steps + 1
    return {"steps": steps, "bytes_of_the_device": counts, "bytes_a_step_and_node": (counts["ranks"] - counts["none"]) / steps / 2}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--columns", type=int, default=2000, help="columns of the plate (default 2000)")
    parser.add_argument("--rows", type=int, default=250, help="rows of a rank's block (default 250: 4 MB)")
    parser.add_argument("--sweeps", type=int, default=20, help="sweeps per step (default 20)")
    parser.add_argument("--steps", type=int, default=60, help="steps of a run (default 60)")
    parser.add_argument("--pairs", type=int, default=9, help="pairs of runs (default 9)")
    parser.add_argument("--network-steps", type=int, default=5000,
                        help="number of steps in the run that counts bytes (default 5000)")
    options = parser.parse_args()
    head = {"columns": options.columns, "rows_of_rank": options.rows, "sweeps": options.sweeps, "steps": options.steps}
    with document_of(options, "ranks", **head) as document, work_folder(options.pool_dir) as work:
        costs = Costs(options, work / "ranks.pool")
        document["one_process"] = costs.pairs("one", 1)
        document["weak_scaling"] = [costs.pairs("ranks", ranks) for ranks in (1, 2, 4)]
        single = document["one_process"]["kept_over_not_kept"]["median"]
        for found in document["weak_scaling"]:
            found["over_one_process"] = found["kept_over_not_kept"]["median"] / single
        document["network"] = network(options, work)
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
