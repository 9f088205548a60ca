# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of several MPI ranks on several nodes, all of which are this machine: a node is a folder with a pool and an
analyzer, and only the node's ranks know the socket of this analyzer. Each test takes the folder of the programs as its
argument."""

import contextlib
import hashlib
import multiprocessing
import os
import pathlib
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import types
import unittest
import uuid

import numpy as np

import ringside

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # a spinning thread would occupy one of the few cores
# The launcher of the MPI library with which the programs were built; CMake passes it. This file handles all differences
# between Open MPI and MPICH.
MPIRUN = shutil.which(os.environ.get("RINGSIDE_TEST_MPIRUN", "mpirun"))
VERSION = subprocess.run([MPIRUN, "--version"], stdout=subprocess.PIPE, check=True).stdout
IS_MPICH = b"HYDRA" in VERSION
RANKS_OUTLIVE_OTHERS = ["--enable-recovery"] if b") 4." in VERSION else ["--runtime-options", "recoverable"]
HOSTS = "localhost:4\n" if IS_MPICH else "localhost slots=4\n"  # a host file: this machine with four slots for ranks
BIN = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
ROOT = pathlib.Path(__file__).resolve().parents[2]  # the folder of the sources
HANG_S = 40  # time limit for actions that take seconds on an idle machine
SLOTS = 8
ENDED_RUNS = []  # the folder for the runs of `ended_run`
SIDE = 37  # a prime, so that it is no multiple of the number of ranks
USAGE, SYSTEM, PEER_LOST, DAMAGED, INTERRUPTED = 2, 3, 4, 5, 130


def heat(side):
    """Generates the iterates of publish_mpi, from the first one on, and their residuals, by the same operations in the
    same order."""
    x = np.zeros((side, side))
    framed = np.zeros((side + 2, side + 2))
    framed[0, 1:-1] = 100
    while True:
        framed[1:-1, 1:-1] = x
        x = 0.25 * (framed[:-2, 1:-1] + framed[2:, 1:-1] + framed[1:-1, :-2] + framed[1:-1, 2:])
        yield x, float(np.abs(x - framed[1:-1, 1:-1]).max())


class Heat:
    """heat() as a sequence: [k] is iterate k; k begins at 1."""

    def __init__(self, side=SIDE):
        self.source, self.made = heat(side), [None]

    def __getitem__(self, k):
        while len(self.made) <= k:
            self.made.append(next(self.source))
        return self.made[k]


def blocks(ranks, nodes):
    """The node of each rank, in blocks: the first ranks are on node 0."""
    return [rank * nodes // ranks for rank in range(ranks)]


def wait_until(holds, otherwise):
    """Calls `holds` until its result is true, and returns this result. If that takes too long, fails with the text that
    `otherwise` returns."""
    deadline = time.monotonic() + HANG_S
    while not (found := holds()):
        assert time.monotonic() < deadline, otherwise()
        time.sleep(0.01)
    return found


def kept_steps(pool):
    """{iteration: {name: array or number}} of the intact steps in a ring."""
    opened, kept = ringside.open(pool), {}
    for step in opened.steps:
        with contextlib.suppress(ringside.DamagedError, ringside.NotKeptError), opened.hold(step) as held:
            arrays = {name: held[name].copy() for name in held.keys()}
            kept[step.iteration] = {**arrays, **held.results}
    return kept


class Node:
    """A node of a job; all nodes are this machine."""

    def __init__(self, folder, *options):
        self.folder, self.pool, self.socket = folder, folder / "ring.pool", folder / "analyzer.socket"
        self.options = options  # options of the node's analyzer
        self.environment = {}  # further environment variables of the node's analyzer
        self.analyzer = None

    def start_analyzer(self):
        """Returns when the analyzer listens."""
        path = self.folder / "notify"
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, open(self.folder / "log", "ab") as log:
            manager.bind(str(path))
            manager.settimeout(0.1)
            usual = [one for one in (f"--slots={SLOTS}", "--durability=process")
                     if not any(own.startswith(one.split("=")[0]) for own in self.options)]
            self.analyzer = subprocess.Popen(
                [BIN / "ringside-analyzer", f"--socket={self.socket}", f"--pool={self.pool}", f"--peer-timeout={HANG_S}", *usual,
                 *self.options], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "NOTIFY_SOCKET": str(path), "TMPDIR": str(self.folder), **self.environment})
            while self.analyzer.poll() is None:
                with contextlib.suppress(TimeoutError):
                    if b"READY=1" in manager.recv(65536):
                        return
        raise AssertionError(f"an analyzer ended before it listened: {self.log()}")

    def log(self):
        return (self.folder / "log").read_text()

    def await_log(self, text):
        wait_until(lambda: text in self.log(), lambda: f"the log has no '{text}':\n{self.log()}")

    def end_analyzer(self, by=signal.SIGTERM):
        """After SIGTERM, the analyzer commits all published steps before it ends."""
        if self.analyzer is not None:
            self.analyzer.send_signal(by)
            self.analyzer.send_signal(signal.SIGCONT)
            self.analyzer.wait(HANG_S)
            self.analyzer = None

    def await_steps(self, job, count):
        """Waits for `count` further committed steps. Returns the iteration of the newest step, or None if the job
        ended."""
        begun = newest = None
        deadline = time.monotonic() + HANG_S
        while time.monotonic() < deadline:
            running = job.process.poll() is None
            # Errors with these causes are ignored: the pool does not exist yet, a step was overwritten, or no run or
            # analyzer is active at this moment.
            with contextlib.suppress(ringside.Error, TimeoutError):
                pool = ringside.open(self.pool)
                if begun is None:
                    begun = newest = max((step.commit_seq for step in pool.steps), default=0)
                for step in pool.follow(after=newest, timeout=0.05):
                    newest = step.commit_seq
                    if newest - begun >= count:
                        return step.iteration
            if not running:
                return None
            time.sleep(0.01)
        raise AssertionError(f"{self.pool} got no {count} steps in {HANG_S} s\n{job.said()}")

    def await_iteration(self, job, at_least):
        """Waits until the ring's newest iteration is `at_least` or more, which may be true at once. Returns this
        iteration."""
        deadline = time.monotonic() + HANG_S
        while True:
            running = job.process.poll() is None
            newest = 0
            with contextlib.suppress(ringside.Error):  # there is no pool yet, or a step was overwritten
                newest = max(ringside.open(self.pool), default=0)
            if newest >= at_least:
                return newest
            assert running, f"the job ended after iteration {newest} of {self.pool}; expected {at_least}\n{job.said()}"
            assert time.monotonic() < deadline, f"{self.pool} got to {newest} in {HANG_S} s; expected {at_least}\n{job.said()}"
            time.sleep(0.01)

    def stop_analyzer(self):
        """Stops the analyzer until it gets SIGCONT. Returns when it has stopped."""
        self.analyzer.send_signal(signal.SIGSTOP)
        os.waitpid(self.analyzer.pid, os.WUNTRACED)

    def kept(self):
        return kept_steps(self.pool) if self.pool.exists() else {}

    def hashes(self):
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                for path in self.folder.iterdir() if path.name.startswith(self.pool.name) and path.is_file()}


class Job:
    """mpirun and its ranks. `ended` waits for mpirun and for all ranks."""

    def __init__(self, nodes, program, arguments, placed, folder, environment, of_rank, outlives_ranks=False):
        self.token = f"RINGSIDE_TEST_JOB={uuid.uuid4()}"  # identifies the job's ranks, even after mpirun has ended
        environment = {**environment, **dict([self.token.split("=")])}
        # A single script with one line for each rank, because mpirun of Debian 13 crashes if it starts several programs
        # (docs/publish/mpi.md). If ranks outlive another rank, mpirun of Debian 13 loses lines of their output and may
        # hang, so they write to a file.
        to_file = f"exec >>{shlex.quote(str(folder / 'job.out'))} 2>&1" if outlives_ranks else ""
        lines = [to_file, "case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in"]
        for rank, node in enumerate(placed):
            command = ["exec", "env", f"RINGSIDE_SOCKET={nodes[node].socket}", f"RINGSIDE_POOL={nodes[node].pool}",
                       *of_rank.get(rank, []), BIN / program, *arguments]
            lines.append(f"{rank}) cd {shlex.quote(str(nodes[node].folder))} && {shlex.join(map(str, command))} ;;")
        lines += ["*) exit 99 ;;", "esac"]  # a rank that must not exist
        command = [MPIRUN, *(RANKS_OUTLIVE_OTHERS if outlives_ranks else []), "-n", len(placed), "sh", "-c", "\n".join(lines)]
        (folder / "job.out").unlink(missing_ok=True)  # left by the previous job
        self.output = open(folder / "job.out", "a+b")  # noqa: SIM115 (as long as the job)
        self.process = subprocess.Popen([str(word) for word in command], env=environment, stdin=subprocess.DEVNULL,
                                        stdout=self.output, stderr=subprocess.STDOUT, cwd=folder)

    def pids(self):
        """{rank: process} of the running ranks."""
        found = {}
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                variables = path.read_bytes().decode(errors="replace").split("\0")
                rank = [one for one in variables if one.startswith(("OMPI_COMM_WORLD_RANK=", "PMI_RANK="))]
                if rank and self.token in variables:
                    found[int(rank[0].split("=")[1])] = int(path.parts[2])
        return found

    def kill(self, *ranks, by=signal.SIGKILL):
        pids = self.pids()
        for rank in ranks:
            with contextlib.suppress(ProcessLookupError, KeyError):
                os.kill(pids[rank], by)

    @contextlib.contextmanager
    def stopped(self):
        """While this context lasts, no rank makes a step."""
        pids = self.pids()
        self.kill(*pids, by=signal.SIGSTOP)
        yield
        self.kill(*pids, by=signal.SIGCONT)

    def ended(self, timeout=HANG_S):
        """Waits for mpirun and for ranks that outlive it. Returns the exit code and the output."""
        try:
            code = self.process.wait(timeout)
            for rank, pid in self.pids().items():
                with contextlib.suppress(ProcessLookupError):
                    end = os.pidfd_open(pid)
                    if not select.select([end], [], [], timeout)[0]:
                        raise subprocess.TimeoutExpired(f"rank {rank}", timeout)
                    os.close(end)
        except subprocess.TimeoutExpired as late:
            raise AssertionError(f"a job hangs: {late}\n{self.said()}") from late
        return code, self.said()

    def said(self):
        self.output.seek(0)
        return self.output.read().decode(errors="replace").replace("\0", "")  # Open MPI 5 also prints NULs

    def die(self):
        """Kills all processes of the job with SIGKILL."""
        self.process.kill()
        self.kill(*self.pids())
        self.ended()

    def clean_up(self):
        self.process.kill()
        self.process.wait()
        self.kill(*self.pids())
        self.output.close()


class Jobs(unittest.TestCase):
    """self.folder is a separate folder for each test."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rs-mpi-"))  # short, because it contains MPI's sockets
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("RINGSIDE_", "OMPI_", "PRTE_"))}
        self.environment |= {
            "LC_ALL": "C.UTF-8", "TMPDIR": str(self.folder), "RINGSIDE_PEER_TIMEOUT": str(HANG_S),
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_plm": "isolated",
            "OMPI_MCA_oob_tcp_if_include": "lo", "OMPI_MCA_btl": "self,vader", "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_btl_vader_backing_directory": str(self.folder),
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
            # The two settings above under their names in Open MPI 5.
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none",
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_odls_base_sigkill_timeout": "0",  # otherwise mpirun sleeps for 1 to 2 s after a rank's death
            "HWLOC_PLUGINS_PATH": "/nonexistent",  # so that no process loads plugins for graphics and OpenCL
            "PMIX_MCA_gds": "hash",  # a shared memory file per job would take more time than it saves
            "PATH": f"{self.make_mpirun()}:{os.environ['PATH']}"}

    def make_mpirun(self):
        """A folder in which `mpirun` starts MPIRUN, for `ringside run --ranks`. A link would not be enough, because
        MPICH's launcher looks for other programs in its own folder."""
        folder = self.folder / "launcher"
        folder.mkdir()
        (folder / "mpirun").write_text(f'#!/bin/sh\nexec {MPIRUN} "$@"\n')
        (folder / "mpirun").chmod(0o755)
        return folder

    def node(self, *options):
        """A node whose analyzer is not started."""
        made = Node(pathlib.Path(tempfile.mkdtemp(prefix="node", dir=self.folder)), *options)
        self.addCleanup(made.end_analyzer, signal.SIGKILL)
        return made

    def nodes(self, count, *options):
        made = [self.node(*options) for _ in range(count)]
        self.start_analyzers(made)
        return made

    def start_analyzers(self, nodes):
        for node in nodes:
            node.start_analyzer()

    def ended_run(self, count, program, *arguments, placed):
        """Nodes with the rings of a run that has ended; its analyzers have also ended. Tests that need the same run
        share it: each test gets copies of the files."""
        made = ENDED_RUNS[0] / re.sub("[^a-z0-9]+", "_", f"{count} {program} {arguments} {placed}")
        if not made.exists():
            nodes = self.nodes(count)
            self.run_job(nodes, program, *arguments, placed=placed)
            self.end_analyzers(nodes)
            incomplete = pathlib.Path(tempfile.mkdtemp(dir=ENDED_RUNS[0]))
            for number, node in enumerate(nodes):
                shutil.copytree(node.folder, incomplete / str(number), ignore=lambda folder, names: [
                    name for name in names if not name.startswith("ring.pool")])
            (incomplete / "pools").write_text("\n".join(str(node.pool) for node in nodes))
            with contextlib.suppress(OSError):  # another process may have made this folder meanwhile
                incomplete.rename(made)
            return nodes
        nodes = [self.node() for _ in range(count)]
        for number, node in enumerate(nodes):
            shutil.copytree(made / str(number), node.folder, dirs_exist_ok=True)
            ranks_file = node.pool.with_name(node.pool.name + ".ranks")
            described = ranks_file.read_text(encoding="utf-8")
            for pool, own in zip((made / "pools").read_text().splitlines(), nodes, strict=True):
                described = described.replace(pool, str(own.pool))
            ranks_file.write_text(described, encoding="utf-8")
        return nodes

    def end_analyzers(self, nodes):
        """Ends all analyzers at the same time, as launchers do, because each analyzer waits for rounds that the others
        still have to pass on."""
        for node in nodes:
            if node.analyzer is not None:
                node.analyzer.terminate()
        for node in nodes:
            node.end_analyzer()

    def linked(self, nodes):
        """A folder with links to the rings of these nodes, like a folder on a shared file system. Ends the analyzers of
        the nodes first."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="rings", dir=self.folder))
        self.end_analyzers(nodes)
        for number, node in enumerate(nodes):
            for ending in ("", ".ranks"):
                (folder / f"n{number}.pool{ending}").symlink_to(f"{node.pool}{ending}")
        return folder

    def damage(self, path, payload):
        """Changes an entry of the only step that contains these rows."""
        with open(path, "r+b") as pool:
            content = pool.read()
            self.assertEqual(content.count(payload), 1)
            pool.seek(content.index(payload) + 100)
            pool.write(bytes([payload[100] ^ 1]))

    def start(self, nodes, program, *arguments, ranks=None, placed=None, use="fresh", of_rank=None, outlives_ranks=False, **more):
        """placed: the node of each rank; without it, `ranks` ranks are placed in blocks. of_rank: for single ranks,
        environment variables, and words before the program. outlives_ranks: if a rank dies, the others do not end."""
        if outlives_ranks and IS_MPICH:
            self.skipTest("MPICH's launcher ends all ranks")
        placed = placed or blocks(ranks, len(nodes))
        job = Job(nodes, program, arguments, placed, self.folder, {**self.environment, "RINGSIDE_POOL_USE": use, **more},
                  of_rank or {}, outlives_ranks)
        self.addCleanup(job.clean_up)
        return job

    def run_job(self, *arguments, expected=0, **more):
        """Starts a job that must end with the exit code `expected`. Returns what the job printed."""
        return self.ends(self.start(*arguments, **more), expected)

    def ends(self, job, expected, timeout=HANG_S):
        """Waits for a job that must end with this exit code. Returns what the job printed."""
        code, said = job.ended(timeout)
        self.assertEqual(code, expected, said)
        return said

    def compile(self, source, *flags):
        """Compiles a source file of the repository to a shared object, and returns its path."""
        made = self.folder / f"{pathlib.Path(source).stem}.so"
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *flags, ROOT / source, "-o", made], check=True)
        return made

    def resumed_from(self, said):
        """The iteration from which publish_mpi continued, as it printed it."""
        last = re.search(r"^publish_mpi: iteration \d+, residual \S+ K, (begun anew|resumed from iteration (\d+))$", said, re.M)
        self.assertTrue(last, said)
        return int(last[2] or 0)

    def assert_heat(self, nodes, placed, expected, newest=None, side=SIDE):
        """Each step of each ring must have the node's rows of Heat's iterate, and the residual of this iterate."""
        first = 0
        for number, node in enumerate(nodes):
            rows = sum(side // len(placed) + (rank < side % len(placed)) for rank in range(len(placed)) if placed[rank] == number)
            kept = node.kept()
            for iteration, step in kept.items():
                u, residual = expected[iteration]
                self.assertEqual(step["u"].shape, (rows, side))
                self.assertEqual(step["u"].tobytes(), u[first:first + rows].tobytes(), f"node {number}, iteration {iteration}")
                self.assertEqual(step["solver.residual"], residual)
            if newest is not None:
                self.assertEqual(sorted(kept), list(range(max(1, newest - SLOTS + 1), newest + 1)), f"node {number}")
            first += rows


class Launched(Jobs):
    """`ringside run`, started as users start it."""

    def setUp(self):
        super().setUp()
        self.pool = self.folder / "ring.pool"
        del self.environment["RINGSIDE_PEER_TIMEOUT"], self.environment["OMPI_MCA_odls_base_sigkill_timeout"]

    def start_run(self, *words):
        process = subprocess.Popen([str(word) for word in words], env=self.environment, cwd=self.folder, encoding="utf-8",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        return process

    def end(self, process, expected):
        said = process.communicate(timeout=HANG_S)[0]
        self.assertEqual(process.returncode, expected, said)
        return said

    def interrupt(self, process):
        """Sends SIGINT once the run has kept 20 steps."""
        for step in ringside.open(self.pool, wait=HANG_S).follow(timeout=HANG_S):
            if step.iteration >= 20:
                break
        del step  # the step is held as long as a reference to it exists
        process.send_signal(signal.SIGINT)
        self.end(process, INTERRUPTED)


class AtOnce:
    """Runs several tests at the same time, because jobs wait for most of their time. Each test runs in a process that
    is forked from this one."""

    tests = []

    def __init__(self, processes):
        self.processes = processes

    def run(self, suite):
        self.gather(suite)
        well, skipped = True, 0
        with multiprocessing.get_context("fork").Pool(self.processes) as pool:
            for name, failures, reasons in pool.imap_unordered(self.run_one, range(len(self.tests))):
                outcome = "FAILED" if failures else f"skipped: {'; '.join(reasons)}" if reasons else "ok"
                print(f"{name}: {outcome}", *failures, sep="\n", file=sys.stderr, flush=True)
                well, skipped = well and not failures, skipped + bool(reasons)
        only_skipped = 0 < len(self.tests) == skipped
        return types.SimpleNamespace(only_skipped=only_skipped, wasSuccessful=lambda: well)

    def gather(self, tests):
        for test in tests:
            if isinstance(test, unittest.TestSuite):
                self.gather(test)
            else:
                self.tests.append(test)

    @classmethod
    def run_one(cls, number):
        """Runs in one of these processes."""
        result, test = unittest.TestResult(), cls.tests[number]
        try:
            unittest.TestSuite([test]).run(result)
        except Exception:
            return test.id(), [traceback.format_exc()], []
        failures = [f"{failed.id()}\n{text}" for failed, text in result.errors + result.failures]
        return test.id(), failures, [reason for _, reason in result.skipped]


def run_tests(at_once=1 if IS_MPICH else 2):
    """Exits with 77, which CTest reports as skipped, if every test was skipped. MPICH's ranks poll, so that several
    jobs of MPICH would slow each other down."""
    with tempfile.TemporaryDirectory(prefix="rs-mpi-") as folder:
        ENDED_RUNS.append(pathlib.Path(folder))
        result = unittest.main(argv=[sys.argv[0], *sys.argv[1:]], exit=False, testRunner=AtOnce(at_once)).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.only_skipped else 0)
