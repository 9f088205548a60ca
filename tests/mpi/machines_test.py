# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on two simulated machines with separate names, networks and folders (machines.py): the commands of
docs/publish/mpi.md, a machine that dies, a network between the analyzers that breaks, and rings that are stored on
different machines and are gathered."""

import contextlib
import os
import pathlib
import re
import subprocess
import types
import unittest

from machines import enter, make_machines

CANNOT = enter()

import ringside  # noqa: E402 (`enter` begins this program again)
from jobs import BIN, HANG_S, IS_MPICH, SIDE, Heat, Jobs, Node, run_tests, wait_until  # noqa: E402
from journals import missing, records, reductions_of, steps  # noqa: E402

ENDLESS = 1_000_000
RANKS = 4


@unittest.skipIf(CANNOT, CANNOT)
@unittest.skipIf(IS_MPICH, "the way from one machine to another is described to Open MPI only")
class OnMachines(Jobs):
    def setUp(self):
        super().setUp()
        self.machines = make_machines(self.folder, 2, self.addCleanup)
        (self.folder / "hosts").write_text("m0 slots=2\nm1 slots=2\n", encoding="utf-8")
        self.rings = self.folder / "rings"
        self.rings.mkdir()
        self.ring_of_m1 = Node(self.rings)
        self.ring_of_m1.pool = self.rings / "m1.pool"
        self.whole = self.rings / "m0.pool.global"
        del self.environment["OMPI_MCA_plm"], self.environment["OMPI_MCA_btl_vader_backing_directory"]
        self.alone = dict(self.environment)
        self.environment |= {
            "TMPDIR": str(self.folder / "own"), "XDG_RUNTIME_DIR": str(self.folder / "own"),
            "PATH": f"{BIN}:{self.environment['PATH']}",
            "OMPI_MCA_plm_rsh_agent": str(self.folder / "on"), "OMPI_MCA_oob_tcp_if_include": "mpi",
            "PMIX_MCA_psec": "native",  # munge would use the user id outside of the namespace
            "OMPI_MCA_btl": "self,vader,tcp", "OMPI_MCA_btl_tcp_if_include": "mpi"}
        self.expected = Heat()

    def start_on(self, machine, *words):
        output = open(self.folder / "said", "w+b")  # noqa: SIM115 (a process's children would keep a pipe open)
        self.addCleanup(output.close)
        process = subprocess.Popen(machine.inside(*map(str, words)), env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_heat(self, iterations, *options, pool=None, before=("mpirun", "-n", RANKS, "--hostfile", "hosts"), ranks="--per-node"):
        """Starts a job from m0 with the commands of docs/publish/mpi.md; each machine has a pool."""
        return self.start_on(self.machines[0], *before, "ringside", "run", ranks, "--quiet", "--slots=64", "--durability=process",
                             "--pool", pool or self.rings / "%h.pool", *options, "--", "publish_mpi", SIDE, iterations)

    def end(self, process, expected=0):
        process.wait(2 * HANG_S)
        said = self.said()
        if expected is not None:
            self.assertEqual(process.returncode, expected, said)
        return said

    def said(self):
        return (self.folder / "said").read_text(errors="replace")

    def await_steps(self, process, count):
        """Waits for `count` further steps in m1's ring. Returns the iteration of the newest step."""
        found = self.ring_of_m1.await_steps(types.SimpleNamespace(process=process, said=self.said), count)
        self.assertIsNotNone(found, self.said())
        return found

    def await_analyzers_end(self):
        """The analyzers may outlive the launcher: they commit the published steps, and use their pools until then."""
        wait_until(lambda: not self.analyzers(), lambda: f"analyzers did not end: {self.analyzers()}\n{self.said()}")

    def analyzers(self):
        """The analyzers of all machines. The namespace contains no other analyzers."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/exe"):
            with contextlib.suppress(OSError):  # the process has ended
                if pathlib.Path(os.readlink(path)).name == "ringside-analyzer":
                    found.append(int(path.parts[2]))
        return found

    def assert_kept(self, rings, newest):
        found = ringside.open(rings)
        self.assertEqual(max(found), newest)
        for k in found:
            self.assertEqual(found.read(k, "u").tobytes(), self.expected[k][0].tobytes(), k)

    def of_one_process(self, iterations):
        """The results that a run on one node records. Some may be missing, because thousands of steps follow each other
        quickly."""
        pool = self.folder / "alone.pool"
        said = subprocess.run([BIN / "ringside", "run", "--ranks=1", "--quiet", f"--pool={pool}", "--durability=process", "--",
                               BIN / "publish_mpi", str(SIDE), str(iterations)],
                              env={**self.alone, "OMPI_MCA_plm": "isolated"}, capture_output=True, check=False,
                              timeout=2 * HANG_S)
        self.assertEqual(said.returncode, 0, said.stderr)
        return steps(pool)

    def test_a_machine_dies_and_the_run_resumes(self):
        run = self.start_heat(ENDLESS)
        self.await_steps(run, 20)
        self.machines[1].die()
        said = self.end(run, None)
        self.assertNotEqual(run.returncode, 0, said)
        self.await_analyzers_end()
        kept = [max(ringside.open(self.rings / f"m{n}.pool")) for n in range(2)]
        self.machines[1].boot()
        last = max(kept) + 20
        said = self.end(self.start_heat(last, "--resume", "--hosts=hosts", before=(), ranks=f"--ranks={RANKS}"))
        self.assertLessEqual(self.resumed_from(said), min(kept))
        self.assertGreater(self.resumed_from(said), 0)
        self.assert_kept(self.rings, last)
        ring = ringside.open(self.rings)
        self.assertEqual([(node.host, len(node.ranks)) for node in ring.nodes], [("m0", 2), ("m1", 2)])
        expected = self.of_one_process(last)
        # Some steps occur twice, because the run went back.
        of_steps = [record for record in records(self.whole) if record["event"] == "step"]
        for record in of_steps:
            self.assertEqual(reductions_of(record), expected.get(record["iteration"], reductions_of(record)))
        self.assertIn(last, expected)
        self.assertEqual([record["iteration"] for record in of_steps][-1], last)

    def test_the_network_of_the_analyzers_breaks_and_heals(self):
        run = self.start_heat(ENDLESS, "--node-address=%h-rings")
        self.await_steps(run, 20)
        self.machines[1].set_network("rings", up=False)
        self.await_steps(run, 400)  # an analyzer keeps parts of fewer steps, but the run does not wait
        self.machines[1].set_network("rings", up=True)
        newest = self.await_steps(run, 20)
        wait_until(lambda: max(steps(self.whole), default=0) >= newest, lambda: "no step of the whole after the network had healed")
        run.terminate()
        self.end(run, None)
        self.await_analyzers_end()
        whole = records(self.whole)
        self.assertEqual(whole[-1]["event"], "run_ended")
        recorded, (named, _) = steps(whole), missing(whole)
        expected = self.of_one_process(max(recorded))
        both = set(recorded) & set(expected)
        self.assertGreater(len(both), 20)
        self.assertEqual({k: recorded[k] for k in both}, {k: expected[k] for k in both})
        self.assertEqual(sorted([*recorded, *named]), list(range(1, max(recorded) + 1)))
        self.assertGreater(len(named), 0)

    def test_each_machine_gives_its_account_and_the_first_one_shows_progress(self):
        go = self.folder / "go"
        waits = f'while [ ! -e {go} ]; do sleep 0.05; done; exec "$@"'
        # Each rank writes to its own file, because on the terminal mpirun mixes parts of the lines of different ranks.
        run = self.start_on(self.machines[0], "mpirun", "--output-filename", self.folder / "ranks", "-n", RANKS, "--hostfile", "hosts",
                            "ringside", "run", "--per-node", "--slots=64", "--durability=process", "--pool", self.rings / "%h.pool",
                            "--", "sh", "-c", waits, "sh", "publish_mpi", SIDE, 20)

        def said_by(rank):
            """A rank's lines: first those of its standard output, then those of its standard error."""
            files = sorted(self.folder.glob(f"ranks/1/rank.{rank}/std*"), reverse=True)
            return "".join(path.read_text(encoding="utf-8") for path in files)

        wait_until(lambda: said_by(0).count("waiting for sh to attach") >= 2, lambda: f"no progress is shown\n{self.said()}")
        go.touch()
        self.end(run)
        accounts = [(rank, host) for rank in range(RANKS) for host in re.findall(r"(?m)^ringside run on (\w+): done$", said_by(rank))]
        self.assertEqual(accounts, [(0, "m0"), (2, "m1")], self.said())
        for rank in (1, 2, 3):
            self.assertNotRegex(said_by(rank), r"(?m)^(waiting|sh has attached|iteration )")
        self.assert_kept(self.rings, 20)

    def test_rings_of_machines_without_a_shared_file_system_are_gathered(self):
        own = self.folder / "own" / "heat.pool"
        self.end(self.start_heat(20, pool=own))
        copy = self.folder / "copy"  # takes HOST:FILE and TO, like scp
        copy.write_text(f'#!/bin/sh\nexec {self.folder}/on "${{1%%:*}}" cat "${{1#*:}}" > "$2"\n', encoding="utf-8")
        copy.chmod(0o755)
        said = self.end(self.start_on(self.machines[0], "ringside", "gather", self.rings / "all", "--ranks", f"{own}.ranks",
                                      "--copy", copy))
        self.assert_kept(self.rings / "all", 20)
        self.assertIn("m1", said)


run_tests(at_once=1)  # all tests make machines with the same names
