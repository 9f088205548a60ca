# SPDX-License-Identifier: BSD-3-Clause
"""`ringside run` with programs of several MPI ranks: below mpirun, with --ranks, and with --per-node."""

import os

import ringside
from jobs import BIN, HOSTS, SIDE, SLOTS, Heat, Launched, run_tests

ENDLESS = 1_000_000


class Run(Launched):
    def setUp(self):
        super().setUp()
        self.options = ["run", "--quiet", f"--pool={self.pool}", f"--slots={SLOTS}", "--durability=process", "--resume"]
        self.expected = Heat()

    def start_heat(self, side, iterations):
        return self.start_run(BIN / "ringside", *self.options, "--ranks=3", "--", BIN / "publish_mpi", side, iterations)

    def assert_keeps_and_resumes(self, before, after):
        """before, after: the words before and after the options of `ringside run`."""
        for begun_after, iterations in ((0, 20), (20, 40)):
            said = self.end(self.start_run(*before, BIN / "ringside", *self.options, *after, BIN / "publish_mpi", SIDE,
                                           iterations), 0)
            self.assertEqual(self.resumed_from(said), begun_after)
            self.assert_kept(iterations)

    def assert_kept(self, newest):
        self.assertEqual(list(ringside.open(self.pool)), list(range(newest - SLOTS + 1, newest + 1)))
        self.assert_bits()

    def assert_bits(self):
        pool = ringside.open(self.pool)
        for k in pool:
            self.assertEqual(pool.read(k, "u").tobytes(), self.expected[k][0].tobytes())

    def test_a_launcher_may_be_the_program(self):
        self.assert_keeps_and_resumes([], ["--", "mpirun", "-n", "3"])

    def test_ranks_are_started_by_mpirun(self):
        self.assert_keeps_and_resumes([], ["--ranks=3", "--"])

    def test_more_ranks_than_cores_share_them_and_a_line_says_so(self):
        for name in [name for name in self.environment if "oversubscribe" in name or "_binding_policy" in name
                     or "_mapping_policy" in name]:
            del self.environment[name]
        self.options.remove("--quiet")
        cores = sorted(os.sched_getaffinity(0))[:2]
        ranks = len(cores) + 2
        said = self.end(self.start_run("taskset", "--cpu-list", ",".join(map(str, cores)), BIN / "ringside", *self.options, f"--ranks={ranks}", "--", BIN / "publish_mpi", SIDE, 20), 0)
        self.assertRegex(said, rf"(?m)^ringside: {ranks} ranks share \d+ cores? \(cores [0-9,-]+\); each waits while others compute$")
        self.assert_kept(20)

    def test_the_first_rank_of_a_node_starts_its_analyzer(self):
        self.assert_keeps_and_resumes(["mpirun", "-n", "3"], ["--per-node", "--"])

    def test_hosts_are_those_of_a_file(self):
        (self.folder / "hosts").write_text(HOSTS, encoding="utf-8")
        self.assert_keeps_and_resumes([], ["--ranks=3", "--hosts=hosts", "--"])

    def test_ctrl_c_leaves_a_run_that_can_be_resumed(self):
        self.interrupt(self.start_heat(SIDE, ENDLESS))
        newest = max(ringside.open(self.pool))
        self.assert_bits()  # releases the followed step; a held step may remain in the ring in place of a newer one
        said = self.end(self.start_heat(SIDE, newest + 20), 0)
        self.assertEqual(self.resumed_from(said), newest)
        self.assert_kept(newest + 20)

    def test_what_the_ranks_refuse_is_the_exit_code(self):
        self.end(self.start_heat(SIDE, 20), 0)
        said = self.end(self.start_heat(SIDE + 1, 20), 2)
        self.assertIn("ring.pool", said)
        self.assert_kept(20)


run_tests()
