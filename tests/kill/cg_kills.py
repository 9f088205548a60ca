# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate gradients whose processes get SIGKILL at random instants: the built-in cg, and ringside.scipy.cg in Python.

A life begins without a pool. Each kill hits the producer, the analyzer, both, or both and `ringside run`; the run is
resumed until it is done. A reader that is never killed follows the pool. Every iterate that this reader sees, and every
iterate that the pool keeps when no process is alive, must be bit-equal to that of undisturbed runs (x, r, p and the
scalars). No iterate that the reader has seen may be lost. kill_loop does the same for PageRank, but cannot know x, r
and p of a Python program."""

import argparse
import collections
import contextlib
import hashlib
import json
import os
import pathlib
import random
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time

try:
    import numpy as np
    import scipy.io
    import scipy.sparse
except ImportError as missing:
    print(f"skipped: {sys.executable}: {missing}")
    sys.exit(77)  # CTest reports it as skipped

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import ringside  # noqa: E402
from measuring import children_of, machine_header, remove_pool, write_json  # noqa: E402

HANG_S = 100
MOST_SLOTS = 300
ANALYZER = "ringside-analyz"  # the kernel keeps 15 characters of a name
TARGETS = ("producer", "analyzer", "producer and analyzer", "all")

PROGRAM = """
import sys, numpy as np, scipy.sparse
from ringside.scipy import cg
A = scipy.sparse.load_npz(sys.argv[1])
cg(A, np.ones(A.shape[0]), rtol=0.0, maxiter=int(sys.argv[2]))
"""


def write_matrix(folder, rows):
    """A stiff beam with a weak bond between all points. The condition number is so large that cg iterates thousands of
    times, and there are rows² entries, so that an iteration takes much longer than its hand-off."""
    beam = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(rows, rows)).toarray()
    row = np.arange(rows)
    A = scipy.sparse.csr_matrix(beam @ beam + 1e-9 * np.exp(-abs(row[:, None] - row[None, :]) / 100.0))
    scipy.io.mmwrite(str(folder / "a.mtx"), A, symmetry="symmetric")
    scipy.sparse.save_npz(folder / "a.npz", A, compressed=False)


def bits_of(step):
    """{variable or scalar: its bits}; scalars of a step whose results are not recorded yet are absent."""
    bits = {name: hashlib.blake2b(step[name], digest_size=16).hexdigest() for name in step.keys()}
    return bits | {name: value.hex() for name, value in step.results.items()
                   if name.startswith("solver.") and value is not None}


class Follower:
    """Reads each step when it is committed. seen: {iteration: bits}, over all lives of a run."""

    def __init__(self, pool, compare):
        self.pool, self.compare, self.newest = pool, compare, 0
        self.failure, self.stopped = None, threading.Event()
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        try:
            opened, last = None, 0
            while not self.stopped.is_set():
                try:
                    opened = opened or ringside.open(self.pool)
                    for step in opened.follow(after=last, timeout=0.05):
                        self.compare(step.iteration, bits_of(step))
                        step.check()
                        last, self.newest = step.commit_seq, max(self.newest, step.iteration)
                except ringside.OverwrittenError:
                    continue
                except ringside.PeerLostError:
                    time.sleep(0.001)  # on a busy machine, the next analyzer may start more than 5 s after a kill
                except ringside.Error:
                    if opened is not None:
                        raise
                    time.sleep(0.001)  # the pool does not exist yet, or is unfinished
        except Exception as failure:  # noqa: BLE001 (reported by the main thread)
            self.failure = failure

    def stop(self):
        self.stopped.set()
        self.thread.join()
        if self.failure:
            raise self.failure
        return self.newest


class Loop:
    """The lives of one of the solvers."""

    def __init__(self, options, work, solver):
        self.options, self.work, self.solver = options, work, solver
        self.pool = work / f"{solver}.pool"
        self.random = random.Random(f"{options.seed} {solver}")
        self.expected = collections.defaultdict(dict)  # {iteration: bits} of undisturbed runs
        self.differences = []
        self.counts = collections.Counter()
        self.kills = collections.Counter()

    def command(self, slots):
        run = [self.options.bin / "ringside", "run", "--quiet", f"--pool={self.pool}", f"--slots={slots}", "--resume",
               "--durability=process", "--peer-timeout=60"]
        if self.solver == "scipy":
            return [*run, "--", sys.executable, "-c", PROGRAM, self.work / "a.npz", str(self.options.iterations)]
        return [*run, "--solver=cg", f"--matrix={self.work / 'a.mtx'}", "--cache",
                f"--iterations={self.options.iterations}"]

    def start(self, slots):
        environment = {**os.environ, "TMPDIR": str(self.work), "OMP_NUM_THREADS": "1"}
        environment.pop("XDG_RUNTIME_DIR", None)
        return subprocess.Popen([str(word) for word in self.command(slots)], env=environment, stdin=subprocess.DEVNULL)

    def learn(self):
        """Makes undisturbed runs until each iteration was seen in one of them. These runs must also agree."""
        def compare(iteration, bits):
            for name, value in bits.items():
                if self.expected[iteration].setdefault(name, value) != value:
                    self.differences.append(f"{name} of iteration {iteration} differs between undisturbed runs")

        slots = min(self.options.iterations, MOST_SLOTS) + 1  # each step is kept, so that two runs are sufficient
        for number in range(20):
            remove_pool(self.pool)
            follower = Follower(self.pool, compare)
            with self.start(slots) as run:
                code = run.wait(HANG_S)
            time.sleep(0.05)  # gives the follower time to read the kept steps
            follower.stop()
            self.look_at_rest(compare)
            if code != 0:
                sys.exit(f"cg_kills: an undisturbed run ended with exit code {code}")
            variables = {frozenset(bits) for bits in self.expected.values()}
            if number > 0 and len(self.expected) == self.options.iterations and len(variables) == 1:
                return
        sys.exit(f"cg_kills: found {len(self.expected)} of {self.options.iterations} iterations in undisturbed runs")

    def compare(self, iteration, bits):
        self.counts["iterates compared"] += 1
        self.counts["values compared"] += len(bits)
        for name, value in bits.items():
            if self.expected[iteration].get(name) != value:
                self.differences.append(f"{name} of iteration {iteration} differs from that of an undisturbed run")

    def look_at_rest(self, compare):
        """For use while no process is alive. Returns the newest iteration that is kept."""
        newest = 0
        with contextlib.suppress(ringside.UsageError):  # no pool, or an unfinished one after a kill
            opened = ringside.open(self.pool)
            for kept in opened.steps:
                with opened.hold(kept) as step:
                    compare(step.iteration, bits_of(step))
                newest = max(newest, kept.iteration)
        return newest

    def live(self):
        slots = self.random.choice((8, 64))
        remove_pool(self.pool)
        self.counts["lives"] += 1
        seen, done = set(), False

        def compare(iteration, bits):
            seen.add(iteration)
            self.compare(iteration, bits)

        while not done and not self.differences:
            follower = Follower(self.pool, compare)
            with self.start(slots) as run:
                try:
                    # The last life ends without further kills, because on a busy machine, the run would advance by only
                    # a few steps between two kills.
                    while not self.enough_kills() and not self.kill_something(run, follower):
                        pass
                    code = run.wait(HANG_S)
                finally:
                    run.kill()
            newest = follower.stop()
            if code not in (0, 4, -signal.SIGKILL):
                self.differences.append(f"a killed run ended with exit code {code}, expected 0 or 4")
            kept = self.look_at_rest(compare)
            self.counts["pools at rest"] += 1
            if kept < newest:
                self.differences.append(f"iteration {newest} was committed; the newest kept is {kept}")
            done = code == 0
            self.counts["resumed in the middle"] += 0 < kept < self.options.iterations
        self.counts["iterations of done runs"] += self.options.iterations
        self.counts["of these compared"] += len(seen)
        if done and kept != self.options.iterations:
            self.differences.append(f"a run that is done has kept iteration {kept}")

    def kill_something(self, run, follower):
        """Waits for a random instant and kills. True if this ends the run, or the run has ended before."""
        if self.random.randrange(4) != 0:  # otherwise a kill may also hit starting programs or the creation of a pool
            before, deadline = follower.newest, time.monotonic() + HANG_S
            while follower.newest == before and run.poll() is None:
                if follower.failure:
                    raise follower.failure
                if time.monotonic() > deadline:
                    self.differences.append("nothing more is committed")
                    return True
                time.sleep(0.001)
        time.sleep(self.random.random() ** 2 * self.options.most_wait)
        target = self.random.choice(TARGETS)
        children = children_of(run.pid)
        victims = {}
        if target == "all" and run.poll() is None:
            victims["run"] = run.pid
        for name, pid in children.items():
            side = "analyzer" if name == ANALYZER else "producer"
            if target == "all" or side in target:
                victims[side] = pid
        ends = []
        for side, pid in self.random.sample(sorted(victims.items()), len(victims)):
            with contextlib.suppress(ProcessLookupError):
                ends.append(os.pidfd_open(pid))
                os.kill(pid, signal.SIGKILL)
                self.kills[f"{side} of {self.solver}"] += 1
        for end in ends:
            with select.epoll() as waiting:
                waiting.register(end, select.EPOLLIN)
                if not waiting.poll(HANG_S):
                    self.differences.append("a process does not die")
            os.close(end)
        return "producer" in victims or "run" in victims or run.poll() is not None

    def enough_kills(self):
        return (sum(self.kills.values()) >= self.options.kills
                and 4 * self.counts["resumed in the middle"] >= self.options.kills)

    def report(self):
        begin = time.monotonic()
        self.learn()
        while not self.differences and not self.enough_kills():
            self.live()
        return {"sigkills": sum(self.kills.values()), "sigkills_by_victim": dict(self.kills),
                **{name.replace(" ", "_"): count for name, count in self.counts.items()},
                "compared_of_each": sorted(next(iter(self.expected.values()))), "differences": self.differences[:20],
                "seconds": round(time.monotonic() - begin, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path, help="folder of the programs")
    parser.add_argument("--kills", type=int, default=100, help="SIGKILLs of each solver, at least, and a quarter as many "
                        "resumed runs that had iterates (default 100)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random instants (default 1)")
    parser.add_argument("--rows", type=int, default=2000, help="rows of the matrix (default 2000)")
    parser.add_argument("--iterations", type=int, default=300, help="iterations of a run (default 300)")
    parser.add_argument("--most-wait", type=float, default=0.3, help="most seconds before a kill (default 0.3)")
    parser.add_argument("--folder", default=tempfile.gettempdir(),
                        help="folder of the pools (default: the temporary folder)")
    parser.add_argument("--json", help="file for the figures")
    options = parser.parse_args()
    document = {"benchmark": "cg_kills", "machine": machine_header(options.bin), "seed": options.seed,
                "rows": options.rows, "iterations": options.iterations}
    print(f"cg_kills: seed {options.seed}")
    with tempfile.TemporaryDirectory(prefix="ringside-kill-", dir=options.folder) as folder:
        work = pathlib.Path(folder)
        write_matrix(work, options.rows)
        for solver in ("own", "scipy"):
            found = document[solver] = Loop(options, work, solver).report()
            print(f"{solver}: {json.dumps(found)}")
    write_json(document, options.json)
    sys.exit(any(document[solver]["differences"] for solver in ("own", "scipy")))


if __name__ == "__main__":
    main()
