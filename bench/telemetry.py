#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how much followers slow a run, and how long it takes until a step is visible.

  cost         whole runs in interleaved pairs: journal and telemetry on (the default), and both off. The ratio is of total_s,
               pair by pair, because a shared machine drifts.
  processor    the same cost as processor time: of the recorder's threads and ZeroMQ's, as a share of the observed time.
               Other load on the machine hardly affects it.
  latency      from a step's commit until `ringside tail --json` writes its line; both clocks are CLOCK_MONOTONIC. The
               commit is at or after published_at_ns + hand_off_ns + transfer_ns + commit_ns, so that the shown latency
               is an upper bound.
  subscribers  pairs of a run without followers and one with 100 followers, of which 10 are stopped (SIGSTOP). The
               followers use only processor time that the run does not need (SCHED_IDLE). This measures the analyzer's
               work for the followers, which is slightly less than for followers with their own cores.
               subscribers_competing is the same without SCHED_IDLE: on a machine with two cores, it includes the work
               of the followers.
  push         the time in which the main thread puts a step's figures into the queue: bench/programs/record_push.cpp.

Writes JSON (see docs/inside/benchmarking.md)."""

import json
import os
import pathlib
import signal
import subprocess
import time

from measuring import UNCALIBRATED, document_of, in_turn, parser_of, ratio, remove_pool, spreads, work_folder


class Bench:
    def __init__(self, options, work):
        self.bin, self.work = options.bin, work
        self.environment = dict(UNCALIBRATED, XDG_RUNTIME_DIR=str(self.work))

    def start(self, side, iterations, *more):
        remove_pool(self.work / "bench.pool")
        command = [self.bin / "ringside", "run", f"--matrix=grid:{side}", f"--iterations={iterations}", "--quiet",
                   "--durability=process", f"--pool={self.work / 'bench.pool'}", f"--summary={self.work / 'summary.json'}"]
        return subprocess.Popen([*command, *more], env=self.environment)

    def finish(self, run):
        if run.wait() != 0:
            raise SystemExit(f"the run failed with exit code {run.returncode}")
        return json.loads((self.work / "summary.json").read_text())

    def run(self, side, iterations, *more):
        return self.finish(self.start(side, iterations, *more))["total_s"]

    def socket(self):
        while True:
            for found in self.work.glob("ringside-*/analyzer.socket.control"):
                return str(found).removesuffix(".control")
            time.sleep(0.005)

    def cost(self, side, iterations, pairs):
        rounds = in_turn({"off": lambda: self.run(side, iterations, "--journal=off", "--telemetry=off"),
                          "on": lambda: self.run(side, iterations)}, pairs)
        taken = spreads(rounds)
        return {"matrix": f"grid:{side}", "iterations": iterations, "on_s": taken["on"], "off_s": taken["off"],
                "steps_per_s": iterations / taken["on"]["median"], "ratio": ratio(rounds, "on", "off")}

    def processor(self, side, iterations):
        run = self.start(side, iterations)
        self.socket()
        pid = subprocess.run(["pgrep", "-P", str(run.pid), "-x", "ringside-analyz"], capture_output=True, text=True).stdout
        tasks = pathlib.Path(f"/proc/{pid.strip()}/task")
        samples = []
        while run.poll() is None:
            spent = {"recorder": 0, "ZMQbg": 0, "all": 0}
            try:
                for task in tasks.iterdir():
                    name = (task / "comm").read_text().strip()
                    ns = int((task / "schedstat").read_text().split()[0])
                    spent["all"] += ns
                    for key in ("recorder", "ZMQbg"):
                        spent[key] += ns if name.startswith(key) else 0
                samples.append((time.monotonic_ns(), spent))
            except OSError:  # the process is ending
                pass
            time.sleep(0.02)
        total_s = self.finish(run)["total_s"]
        # When the process ends, its threads and their times disappear.
        first, last = samples[len(samples) // 4], max(samples, key=lambda sample: sample[1]["all"])
        passed = last[0] - first[0]
        shares = {key: (last[1][key] - first[1][key]) / passed for key in last[1]}
        return {"matrix": f"grid:{side}", "steps_per_s": iterations / total_s, "share_of_one_core": shares}

    def latency(self, side, iterations):
        run = self.start(side, iterations)
        tail = subprocess.Popen([self.bin / "ringside", "tail", "--json", f"--socket={self.socket()}"],
                                stdout=subprocess.PIPE)
        seen = []
        for line in tail.stdout:
            now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            seen.append((now, line))
        self.finish(run)
        tail.wait()
        # In the first second, tail reads past steps.
        latencies = []
        for now, line in seen:
            record = json.loads(line)
            if record["event"] != "step" or now - seen[0][0] < 1_000_000_000:
                continue
            committed = sum(record[key] for key in ("published_at_ns", "hand_off_ns", "transfer_ns", "commit_ns"))
            latencies.append((now - committed) * 1e-6)
        latencies.sort()
        return {"matrix": f"grid:{side}", "steps": len(latencies),
                "ms": {name: latencies[int(share * (len(latencies) - 1))]
                       for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1))}}

    def followed(self, side, iterations, subscribers, stopped, prefix):
        run = self.start(side, iterations)
        socket = self.socket()
        # All followers run in two processes; otherwise the start of a hundred programs would be measured.
        following = [subprocess.Popen([*prefix, self.bin / "bench_followers", socket, str(count)], stdout=subprocess.PIPE)
                     for count in (subscribers - stopped, stopped)]
        for process in following:
            process.stdout.readline()
        following[1].send_signal(signal.SIGSTOP)
        total = self.finish(run)["total_s"]
        for process in following:
            process.kill()
            process.wait()
        return total

    def subscribers(self, side, iterations, pairs, prefix, subscribers=100, stopped=10):
        rounds = in_turn({"alone": lambda: self.run(side, iterations),
                          "followed": lambda: self.followed(side, iterations, subscribers, stopped, prefix)}, pairs)
        taken = spreads(rounds)
        return {"matrix": f"grid:{side}", "iterations": iterations, "subscribers": subscribers, "stopped": stopped,
                "alone_s": taken["alone"], "followed_s": taken["followed"], "ratio": ratio(rounds, "followed", "alone")}


def main():
    parser = parser_of(__doc__, pool_dir="/dev/shm")
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=3, help="approximate time of a run (default 3)")
    options = parser.parse_args()
    with document_of(options, "telemetry") as document, work_folder(options.pool_dir) as work:
        bench = Bench(options, work)
        long = {2000: max(int(options.seconds * 25), 10), 300: max(int(options.seconds * 2500), 1000)}
        push = json.loads(subprocess.run([bench.bin / "bench_record_push"], capture_output=True, check=True).stdout)
        document.update({"push_cold": push["push_cold"], "push_warm": push["push_warm"],
                     "cost": [bench.cost(side, iterations, options.pairs) for side, iterations in long.items()],
                     "processor": [bench.processor(side, 2 * iterations) for side, iterations in long.items()],
                     "latency": [bench.latency(side, 2 * iterations) for side, iterations in long.items()],
                     "subscribers": [bench.subscribers(2000, 2 * long[2000], options.pairs, ["chrt", "--idle", "0"])],
                     "subscribers_competing": [bench.subscribers(2000, 2 * long[2000], options.pairs, [])]})
        document["load_average_at_the_end"] = os.getloadavg()
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
