# SPDX-License-Identifier: BSD-3-Clause
"""`ringside run` with a built-in solver of several ranks: `run` starts mpirun, or mpirun starts `run`; runs are
resumed, stopped or refused."""

import json

import ringside
from jobs import BIN, HOSTS, SLOTS, USAGE, Launched, blocks, run_tests

PROGRAM = "ringside-producer-mpi"
MATRIX = "--matrix=grid:80"
ENDLESS = "--iterations=100000000"


class Runs(Launched):
    def setUp(self):
        super().setUp()
        self.environment["OMP_NUM_THREADS"] = "1"
        self.options = ["--quiet", f"--slots={SLOTS}", "--durability=process"]

    def run_ringside(self, *words, before=(), expected=0, pool=None):
        return self.end(self.start_run(*before, BIN / "ringside", "run", *self.options, f"--pool={pool or self.pool}", *words), expected)

    def iterates(self, pool=None):
        opened = ringside.open(pool or self.pool)
        return {k: opened.read(k, "x").tobytes() for k in opened}

    def alone(self, *words):
        pool = self.folder / "alone.pool"
        self.run_ringside("--overwrite", *words, pool=pool)
        return self.iterates(pool)

    def test_each_way_to_start_it_keeps_and_resumes(self):
        (self.folder / "hosts").write_text(HOSTS, encoding="utf-8")
        expected = {n: self.alone(MATRIX, f"--iterations={n}") for n in (20, 40)}
        for before, ranks in (([], ["--ranks=3"]), (["mpirun", "-n", "2"], ["--per-node"]), ([], ["--ranks=2", "--hosts=hosts"])):
            use = "--overwrite"
            for n in (20, 40):
                with self.subTest(ranks=ranks, iterations=n):
                    self.run_ringside(use, *ranks, MATRIX, f"--iterations={n}", before=before)
                    self.assertEqual(self.iterates(), expected[n])
                use = "--resume"

    def test_the_number_of_ranks_on_a_node_may_change_when_it_resumes(self):
        self.run_ringside("--ranks=3", MATRIX, "--solver=pagerank", "--iterations=20")
        self.run_ringside("--ranks=2", "--resume", MATRIX, "--matrix-format=csr", "--iterations=40")
        self.assertEqual(self.iterates(), self.alone(MATRIX, "--iterations=40"))

    def test_nodes_and_the_borders_between_them_may_change(self):
        """With built-in solvers, the borders between the nodes' rows depend on the number of ranks."""
        nodes = self.nodes(2)
        self.run_job(nodes, PROGRAM, MATRIX, "--iterations=20", placed=[0, 1, 1], OMP_NUM_THREADS="1")
        expected = {n: self.alone(MATRIX, f"--iterations={n}") for n in (25, 30)}
        self.run_ringside("--ranks=2", f"--resume-from={self.linked(nodes)}", MATRIX, "--iterations=25")
        self.assertEqual(self.iterates(), {k: expected[25][k] for k in range(20, 26)})
        said = self.run_ringside("--per-node", "--resume", f"--resume-from={self.pool}.ranks", MATRIX, "--iterations=30",
                                 before=["mpirun", "-n", "3"], pool=self.folder / "third.pool")
        self.assertNotIn("nothing to continue from", said)  # although the third pool is new
        self.assertEqual(self.iterates(self.folder / "third.pool"), {k: expected[30][k] for k in range(25, 31)})

    def test_ranks_whose_rows_have_no_entries_do_not_change_the_problem(self):
        nodes = 8000  # all nodes link to the first 500, so only the first of eight blocks of rows has entries
        for weight in ("", " 0.5"):
            with self.subTest(weight=weight):
                (self.folder / "few.txt").write_text("".join(f"{node} {node * 7 % 500}{weight}\n" for node in range(nodes)))
                self.run_ringside("--overwrite", "--ranks=1", "--matrix=few.txt", "--iterations=10")
                self.run_ringside("--resume", "--ranks=4", "--matrix=few.txt", "--iterations=20")
                self.assertEqual(self.iterates(), self.alone("--matrix=few.txt", "--iterations=20"))

    def test_ctrl_c_leaves_a_run_that_can_be_resumed(self):
        self.interrupt(self.start_run(BIN / "ringside", "run", *self.options, f"--pool={self.pool}", "--ranks=2", MATRIX, ENDLESS))
        newest = max(self.iterates())
        self.run_ringside("--ranks=2", "--resume", MATRIX, f"--iterations={newest + 5}")
        self.assertEqual(self.iterates(), self.alone(MATRIX, f"--iterations={newest + 5}"))

    def test_two_nodes_resume_after_a_rank_was_killed(self):
        nodes = self.nodes(2)
        arguments = ("--matrix=grid:80", "--solver=pagerank")
        job = self.start(nodes, PROGRAM, *arguments, ENDLESS, placed=blocks(4, 2), OMP_NUM_THREADS="1")
        nodes[0].await_steps(job, 20)
        job.kill(3)
        code, said = job.ended()
        self.assertNotEqual(code, 0, said)
        newest = max(max(node.kept()) for node in nodes) + 10
        self.run_job(nodes, PROGRAM, *arguments, f"--iterations={newest}", placed=blocks(4, 2), use="resume", OMP_NUM_THREADS="1")
        expected = self.alone(*arguments, f"--iterations={newest}")
        kept = [self.iterates(node.pool) for node in nodes]
        self.assertEqual({k: b"".join(iterates[k] for iterates in kept) for k in expected}, expected)

    def test_the_matrix_may_be_read_from_a_cache_that_one_rank_writes(self):
        expected = self.alone("--matrix=rmat:12:4", "--iterations=20")
        for ranks in (3, 2):
            self.run_ringside("--overwrite", f"--ranks={ranks}", "--cache", "--matrix=rmat:12:4", "--iterations=20")
            self.assertTrue((self.folder / "rmat-12-4.in-links.rsm").exists())
            self.assertEqual(self.iterates(), expected)
        self.run_ringside("--overwrite", "--ranks=2", "--matrix=rmat-12-4.in-links.rsm", "--iterations=20")
        self.assertEqual(self.iterates(), expected)

    def test_the_summary_names_the_ranks(self):
        self.run_ringside("--ranks=2", MATRIX, "--iterations=5", "--summary=summary.json")
        summary = json.loads((self.folder / "summary.json").read_text())
        self.assertEqual((summary["ranks"], summary["nodes"]), (2, 1))
        self.assertEqual(summary["iterations"], 5)

    def test_options_that_ranks_do_not_have_are_refused(self):
        for option, named in (("--mode=dram", "--mode dram"), ("--elastic=on", "--elastic on"), ("--when-full=skip", "--when-full skip"),
                              ("--coordination=messages", "--coordination messages"), ("--cores=auto", "--cores"),
                              ("--on-analyzer-loss=continue", "--on-analyzer-loss continue")):
            with self.subTest(option=option):
                said = self.run_ringside("--ranks=2", MATRIX, option, expected=USAGE)
                self.assertIn(f"{named}: found with --ranks, expected ", said)
        self.assertFalse(self.pool.exists())

    def test_one_process_does_not_continue_from_rings_of_ranks(self):
        said = self.run_ringside("--resume-from=earlier", MATRIX, expected=USAGE)
        self.assertIn("--resume-from: found without --ranks and --per-node, expected one of them", said)
        self.assertFalse(self.pool.exists())

    def test_a_mistyped_matrix_is_refused_before_a_rank_starts(self):
        said = self.run_ringside("--ranks=2", "--matrix=missing.mtx", expected=USAGE)
        self.assertIn("--matrix missing.mtx: cannot be opened", said)
        self.assertNotIn("mpirun", said)


run_tests()
