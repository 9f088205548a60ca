#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the simulation of many nodes (`ringside plan --nodes`) with runs of several nodes.

A node is an analyzer on this machine with its own socket and ring, as in tests/mpi. The ranks sleep for the time of an
iteration (bench_paced_ranks), so that a machine with few cores can run the ranks and analyzers of several nodes. Each
run is simulated with its own measured figures: seconds of an iteration, of `transfer` and of `analyze`, their
deviations, and the time of a message. Compared are results that these figures do not contain: the lag of the global
commit, which node waits, and for how long. The analyzers have no --node-address, so there are no rounds for results of
the whole run; bench_rounds measures these. With --tables-only, only the tables of docs/inside/ranks.md are simulated
again. Writes JSON (see docs/inside/ranks.md)."""

import csv
import json
import pathlib
import statistics
import subprocess
import sys

from measuring import analyzers_of, called, document_of, parser_of, spread, work_folder, write_json
from plan import plan

MPI = {"OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_plm": "isolated", "OMPI_MCA_pml": "ob1",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo"}
WAITED_S = 1e-4  # an analyzer that waited for at least this time had no step to work on
UNSTEADY = 20  # this number of first steps is excluded, here and in the simulation
MOST_PASSES = 1000  # the most sweeps that an analyzer makes over a step
RATE_GB_S = 1  # the rate of messages; it does not matter for messages as short as these

# For each run: the number of nodes, the ranks per node, the coupling, the sweeps of the last node's analyzer as a share
# of an iteration, and the transport of messages. Open MPI checks for messages of `vader` (shared memory) in each call,
# but not for those of `tcp`.
RUNS = {"1 node": (1, 1, "all", 0, "vader"), "1 node of 2 ranks": (1, 2, "all", 0, "vader"), "1 node of 4 ranks": (1, 4, "all", 0, "vader"),
        "2 nodes": (2, 1, "all", 0, "vader"), "2 nodes of 2 ranks": (2, 2, "all", 0, "vader"), "4 nodes": (4, 1, "all", 0, "vader"),
        "2 nodes, uncoupled": (2, 1, "none", 0, "vader"), "4 nodes, uncoupled": (4, 1, "none", 0, "vader"),
        "2 nodes, slow analyzer": (2, 1, "all", 1.5, "vader"), "4 nodes, slow analyzer": (4, 1, "all", 1.5, "vader"),
        "2 nodes, uncoupled, slow analyzer": (2, 1, "none", 1.5, "vader"),
        "2 nodes, tcp": (2, 1, "all", 0, "tcp"), "2 nodes, uncoupled, tcp": (2, 1, "none", 0, "tcp")}

# As in docs/inside/ranks.md: 16 ranks per node, 10 ms per iteration.
TABLE = ["--step-figures=10,2,3,32", "--ranks-per-node=16", "--spread=0.05", "--iterations=200"]
TABLES = {"infiniband": [], "tcp": ["--network=tcp"], "always": ["--progress=always"], "neighbours": ["--coupling=neighbours"],
          "uncoupled": ["--coupling=none"], "slow_analyzer": ["--slow-analyzer=5"], "100 ms": ["--step-figures=100,20,30,320"],
          "1 ms": ["--step-figures=1,0.2,0.3,3.2"]}


class Runs:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.sweep_s = None

    def records(self, pool):
        file = pathlib.Path(f"{pool}.csv")
        subprocess.run([self.options.bin / "ringside", "export", pool, "--records", "-o", file], check=True, capture_output=True)
        with open(file, newline="") as rows:
            return list(csv.DictReader(rows))

    def run(self, nodes, ranks, coupling, passes=1, messages="vader"):
        """Makes a run. Returns the output of bench_paced_ranks, and the records of each node. passes: the sweeps of the
        last node's analyzer."""
        o = self.options
        shape = (coupling, o.milliseconds, o.spread, o.steps, o.entries)
        words, started = [], []
        for node in range(nodes):
            folder = self.work / f"node{node}"
            subprocess.run(["rm", "-rf", folder], check=True)
            folder.mkdir()
            started.append((folder / "ring.pool", folder / "socket", f"--passes={passes if node == nodes - 1 else 1}"))
            words += [":", "-n", ranks, "env", f"RINGSIDE_SOCKET={folder}/socket", o.bin / "bench_paced_ranks", *shape]
        with analyzers_of(o.bin, *started):  # an analyzer has committed all published steps when it ends
            printed = called(["timeout", "300", "mpirun", *words[1:]], **MPI, OMPI_MCA_btl=f"self,{messages}")
        return json.loads(printed), [self.records(pool) for pool, *_ in started]

    def passes_for(self, share):
        """Returns the number of sweeps that together take this share of an iteration."""
        if share == 0:
            return 1
        if self.sweep_s is None:
            many = 200
            _, [records] = self.run(1, 1, "none", many)
            self.sweep_s = statistics.median(int(r["analyze_ns"]) for r in records) * 1e-9 / many
        return min(max(int(share * self.options.milliseconds * 1e-3 / self.sweep_s), 1), MOST_PASSES)

    def compared(self, nodes, ranks, coupling, share, messages):
        """Returns the measured and the simulated figures of a run."""
        printed, records = self.run(nodes, ranks, coupling, self.passes_for(share), messages)
        found = measured(printed, records)
        figures = inputs(printed, records, share > 0)
        results, _ = plan(self.options.bin, f"--nodes={nodes},{nodes}", f"--ranks-per-node={ranks}", f"--coupling={coupling}",
                          f"--iterations={self.options.steps}", "--spread={spread},{analyzer_spread}".format(**figures),
                          f"--network={figures['alpha_us']},{RATE_GB_S}", f"--slow-analyzer={figures['slow_analyzer']}",
                          "--step-figures={iteration_ms},{transfer_ms},{analyze_ms},1".format(**figures))
        return {"inputs": figures, "measured": found, "simulated": simulated(results["many_nodes"]["rows"][0])}


def mean(values):
    return statistics.fmean(values)


def relative_deviation(values):
    """Returns the relative standard deviation, limited to 1 as in the simulation."""
    return min(statistics.stdev(values) / mean(values), 1)


def seconds(record, *names):
    return sum(int(record[name]) for name in names) * 1e-9


def measured(printed, records):
    """Returns the measured figures of the steps after the first UNSTEADY ones."""
    steps = range(len(records[0]))
    published = [max(seconds(of[s], "published_at_ns") for of in records) for s in steps]
    committed = [max(seconds(of[s], "published_at_ns", "hand_off_ns", "transfer_ns", "commit_ns") for of in records)
                 for s in steps]
    steady = steps[UNSTEADY:]
    lags = [s + 1 - sum(at < published[s] for at in committed[:s]) for s in steady]
    recorded = [int(of[s]["iteration"]) - int(of[s]["solver.global_iteration"]) for of in records for s in steady]
    return {"step_s": (published[-1] - published[UNSTEADY]) / (len(steps) - 1 - UNSTEADY),
            "committed_lag": mean(lags), "committed_lag_most": max(lags),
            "commit_s": mean([committed[s] - published[s] for s in steady]),
            "recorded_lag": mean(recorded), "recorded_lag_most": max(recorded),
            "exchanges": mean([len({of[s]["solver.global_iteration"] for s in steady}) / len(steady) for of in records]),
            "coupling_s": mean([rank["coupling_s"] for rank in printed["ranks"]]),
            "buffer_wait_s": mean([seconds(r, "producer_idle_ns") for of in records for r in of]),
            "waited_most_s": max(sum(seconds(r, "producer_idle_ns") for r in of) for of in records),
            "waited_for_node": int(records[0][-1]["solver.waited_for_node"])}


def inputs(printed, records, is_slow):
    """Returns the inputs of the simulation. A publish counts as a part of the iteration, and a hand-off to a waiting
    analyzer as a part of the transfer. The means of the analyzers are taken over the nodes without a slow analyzer."""
    iteration = mean([rank["iteration_s"] for rank in printed["ranks"]])
    usual = [r for of in (records[:-1] if is_slow else records) for r in of[UNSTEADY:]]
    analyze = mean([seconds(r, "analyze_ns") for r in usual])
    hand_offs = [seconds(r, "hand_off_ns") for r in usual if seconds(r, "analyzer_idle_ns") > WAITED_S]
    return {"iteration_ms": 1e3 * (iteration + mean([rank["publish_s"] for rank in printed["ranks"]])),
            "spread": min(mean([rank["deviation_s"] for rank in printed["ranks"]]) / iteration, 1),
            "analyzer_spread": (relative_deviation([seconds(r, "transfer_ns", "commit_ns") for r in usual])
                                + relative_deviation([seconds(r, "analyze_ns") for r in usual])) / 2,
            "transfer_ms": 1e3 * (mean([seconds(r, "transfer_ns", "commit_ns") for r in usual]) + mean(hand_offs or [0])),
            "analyze_ms": 1e3 * analyze,
            "slow_analyzer": max(mean([seconds(r, "analyze_ns") for r in records[-1][UNSTEADY:]]) / analyze, 1) if is_slow else 1,
            "alpha_us": 1e6 * printed["alpha_s"],
            "publish_us": 1e6 * mean([rank["median_publish_s"] for rank in printed["ranks"]])}


def simulated(row):
    found = {name: row[name] for name in ("step_s", "commit_s", "exchanges", "coupling_s", "buffer_wait_s", "waited_most_s",
                                          "waited_for_node")}
    for lag in ("committed_lag", "recorded_lag"):
        found |= {lag: row[lag]["mean"], f"{lag}_most": row[lag]["most"]}
    return found


def summed(rounds, name):
    """Returns the medians over the rounds, for each measured and each simulated figure."""
    found = [one[name] for one in rounds]
    both = {side: {figure: spread([one[side][figure] for one in found]) for figure in found[0][side]}
            for side in ("inputs", "measured", "simulated")}
    both["step_error"] = spread([abs(one["simulated"]["step_s"] / one["measured"]["step_s"] - 1) for one in found])
    both["recorded_lag_error"] = spread([abs(one["simulated"]["recorded_lag"] - one["measured"]["recorded_lag"])
                                         for one in found])
    return both


def tables(bin_dir):
    found = {}
    for name, more in TABLES.items():
        shape = [word for word in TABLE if word.split("=")[0] not in {one.split("=")[0] for one in more}]
        simulation, took_s = plan(bin_dir, "--nodes=1,4,16,64,256,1024,4096,10000", *shape, *more)
        found[name] = {**simulation["many_nodes"], "took_s": took_s}
    return found


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--milliseconds", type=float, default=50, help="time of an iteration (default 50)")
    parser.add_argument("--spread", type=float, default=0.1, help="spread of the iterations' times (default 0.1)")
    parser.add_argument("--steps", type=int, default=150, help="steps of a run (default 150)")
    parser.add_argument("--entries", type=int, default=200_000, help="entries that a rank publishes (default 200,000)")
    parser.add_argument("--rounds", type=int, default=5, help="how often all runs are measured (default 5)")
    parser.add_argument("--tables-only", action="store_true", help="simulate only the tables, and keep the runs in --output")
    options = parser.parse_args()
    if options.tables_only:
        document = json.loads(pathlib.Path(options.output).read_text())
    else:
        head = {"milliseconds": options.milliseconds, "spread": options.spread, "steps": options.steps, "entries_of_rank": options.entries}
        rounds = []
        with document_of(options, "many_nodes", 2, **head) as document, work_folder(options.pool_dir) as work:
            runs = Runs(options, work)
            for number in range(options.rounds):
                rounds.append({name: runs.compared(*run) for name, run in RUNS.items()})
                print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        document["runs"] = {name: summed(rounds, name) for name in RUNS}
    document["tables"] = tables(options.bin)
    write_json(document, options.output)


if __name__ == "__main__":
    main()
