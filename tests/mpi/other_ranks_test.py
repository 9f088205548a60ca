# SPDX-License-Identifier: BSD-3-Clause
"""A run continues from the rings of an earlier job with other ranks, nodes or boxes. The bits are those of an
undisturbed run, and the earlier rings do not change."""

import fcntl
import os
import shutil
import signal
import subprocess

import numpy as np

import ringside
from jobs import DAMAGED, HANG_S, SIDE, SYSTEM, USAGE, Heat, Jobs, blocks, run_tests

ENDLESS = 1_000_000


class OtherRanks(Jobs):
    def setUp(self):
        super().setUp()
        self.expected = Heat()
        self.new = []  # the nodes of the jobs that are refused before they make rings

    def earlier(self, program="publish_mpi", arguments=(SIDE, 20), placed=None, nodes=2):
        """A folder with links to the rings of a job that has ended, and the nodes of this job."""
        made = self.ended_run(nodes, program, *arguments, placed=placed or blocks(2 * nodes, nodes))
        return self.linked(made), made

    def continued(self, rings, iterations, placed, use="fresh", nodes=None, expected=0, program="publish_mpi"):
        """Runs a job that continues from these rings. Returns the job's nodes, and what it printed."""
        made = nodes or self.nodes(max(placed) + 1)
        said = self.run_job(made, program, SIDE, iterations, placed=placed, use=use, RINGSIDE_RESUME_FROM=str(rings),
                            expected=expected)
        return made, said

    def refused(self, rings, pattern, *arguments, expected=USAGE, pool=None, makes_rings=False, **more):
        """Expects that the new job is refused before its analyzers get a step. pool: the pool's path that the ranks
        get. makes_rings: whether the job is refused only after it has made rings; then no other job uses its nodes."""
        nodes = self.nodes(2) if makes_rings or not self.new else self.new
        own = [node.pool for node in nodes]
        for node in nodes:
            node.pool = node.pool if pool is None else pool
        said = self.run_job(nodes, *(arguments or ("publish_mpi", SIDE, 40)), RINGSIDE_RESUME_FROM=str(rings), expected=expected,
                            **{"placed": [0, 1], **more})
        for node, its in zip(nodes, own, strict=True):
            node.pool = its
        self.assertRegex(said, pattern)
        if makes_rings:
            self.assert_no_step(nodes)
        else:
            self.new = nodes

    def assert_no_step(self, nodes):
        self.end_analyzers(nodes)
        self.assertEqual([node.kept() for node in nodes], [{} for _ in nodes])

    def tearDown(self):
        self.assert_no_step(self.new)

    def test_ranks_nodes_and_borders_may_be_others(self):
        rings, earlier = self.earlier()
        before = [node.hashes() for node in earlier]
        for placed in ([0], [0, 0, 0], [0, 1], blocks(8, 4)):
            with self.subTest(placed=placed):
                nodes, said = self.continued(rings, 23, placed)
                self.assertEqual(self.resumed_from(said), 20, said)
                for node in nodes:
                    node.end_analyzer()
                    self.assertEqual(sorted(node.kept()), [20, 21, 22, 23])
                    self.assertRegex(ringside.open(node.pool).runs[-1].parameters, "continues run [0-9a-f]{32} from iteration 20; ")
                self.assert_heat(nodes, placed, self.expected)
        self.assertEqual([node.hashes() for node in earlier], before)

    def test_the_first_step_is_known_to_the_next_one(self):
        rings, _ = self.earlier()
        (node,), _ = self.continued(rings, 21, [0, 0])
        node.end_analyzer()
        kept = node.kept()
        change = np.abs(self.expected[21][0] - self.expected[20][0])
        self.assertEqual(kept[21]["u.change_linf"], change.max())
        self.assertNotIn("u.change_linf", {name for name, value in kept[20].items() if value is not None})

    def test_boxes_of_any_shape_are_filled_from_any_others(self):
        for before, after, placed in (("cubes", "rows", [0, 1, 0]), ("rows", "backwards", [0, 1, 1, 0, 0, 1, 1, 0])):
            with self.subTest(before=before, after=after):
                rings, _ = self.earlier("publish_boxes", (20, before), blocks(8, 4), nodes=4)
                nodes = self.nodes(2)
                self.run_job(nodes, "publish_boxes", 30, after, placed=placed, RINGSIDE_RESUME_FROM=str(rings))
                for node in nodes:
                    node.end_analyzer()
                    self.assertEqual(max(node.kept()), 30)

    def test_own_rings_that_hold_steps_go_first(self):
        """The same command is repeated: it first continues from the earlier rings, and then from its own, even when the
        earlier rings no longer exist."""
        rings, _ = self.earlier()
        nodes, said = self.continued(rings, 30, [0, 1], use="resume")
        self.assertEqual(self.resumed_from(said), 20, said)
        shutil.rmtree(rings)
        nodes, said = self.continued(rings, 40, [0, 1], use="resume", nodes=nodes)
        self.assertEqual(self.resumed_from(said), 30, said)
        self.end_analyzers(nodes)
        self.assert_heat(nodes, [0, 1], self.expected, newest=40)

    def test_a_killed_job_continues_from_what_it_kept_itself(self):
        rings, _ = self.earlier()
        nodes = self.nodes(1)
        job = self.start(nodes, "publish_mpi", SIDE, ENDLESS, placed=[0, 0, 0], use="resume", RINGSIDE_RESUME_FROM=str(rings))
        self.assertIsNotNone(nodes[0].await_steps(job, 3), job.said())
        job.die()
        nodes[0].end_analyzer()
        newest = max(nodes[0].kept())
        nodes[0].start_analyzer()
        again = self.linked(nodes)
        nodes, said = self.continued(again, newest + 3, [0, 1])
        self.assertEqual(self.resumed_from(said), newest, said)
        self.end_analyzers(nodes)
        self.assert_heat(nodes, [0, 1], self.expected)

    def test_a_damaged_newest_step_is_passed_over(self):
        rings, earlier = self.earlier()
        self.damage(earlier[1].pool, self.expected[20][0][-18:].tobytes())
        nodes, said = self.continued(rings, 22, [0, 0, 0])
        self.assertEqual(self.resumed_from(said), 19, said)
        nodes[0].end_analyzer()
        self.assert_heat(nodes, [0, 0, 0], self.expected)

    def test_rings_that_cannot_be_used_are_named(self):
        rings, earlier = self.earlier()
        self.refused(rings, r"--resume-from: .*its steps have 'u f64\[37,37\] K' as variable 0, "
                     r"but those of this run have 'u f64\[38,38\] K'", "publish_mpi", SIDE + 1, 40)
        self.refused(rings, "--resume-from: .*its steps have 1 variables, but those of this run have 3",
                     "publish_boxes", 20, "rows", expected=1)
        self.refused(earlier[0].pool, r"--resume-from: .*ring\.pool", expected=USAGE)
        self.refused(self.folder / "nowhere", r"--resume-from: .*nowhere")
        with open(earlier[1].pool, "rb") as owned:
            fcntl.flock(owned, fcntl.LOCK_EX)
            self.refused(rings, r"--resume-from: node 1 \(ranks 2 to 3\): .*n1\.pool: is in use by", expected=SYSTEM)
        hidden = earlier[1].pool.with_suffix(".hidden")
        earlier[1].pool.rename(hidden)
        self.refused(rings, r"--resume-from: .*node 1 \(ranks 2 to 3\): .*no such pool")
        hidden.rename(earlier[1].pool)
        os.truncate(earlier[1].pool, earlier[1].pool.stat().st_size // 2)
        self.refused(rings, r"--resume-from: .*node 1 \(ranks 2 to 3\): .*n1\.pool", expected=DAMAGED)

    def sees(self, there, instead):
        """Words before a program, so that the program sees the file or folder `there` in place of `instead`. A user
        without the right to mount needs a user namespace with this right, and in it another one with the usual user
        number, for the launcher."""
        as_user = ["unshare", "--user", f"--map-user={os.getuid()}", f"--map-group={os.getgid()}"]
        for mounts, usual in (([], []), (["--user", "--map-root-user"], as_user)):
            words = ["unshare", *mounts, "--mount", "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"', there, instead, *usual]
            if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
                return words
        return self.skipTest("needs the right to mount, or name spaces of users")

    def test_a_machine_that_sees_other_files_is_named(self):
        rings, earlier = self.earlier()
        _, others = self.earlier(arguments=(SIDE, 21))
        empty = self.folder / "empty"
        empty.mkdir()
        self.refused(rings, r"--resume-from: rank 1: node 1 \(ranks 2 to 3\): \S+/n1\.pool: found the ring of another run",
                     of_rank={1: self.sees(others[1].pool, earlier[1].pool)})
        self.refused(rings, r"--resume-from: rank 1: node 1 \(ranks 2 to 3\): \S+/n1\.pool: No such file or directory; expected it under this path on all nodes",
                     of_rank={1: self.sees(empty, rings)})
        copy = self.folder / "copy.pool"
        shutil.copy(earlier[0].pool, copy)
        self.damage(copy, self.expected[20][0][:19].tobytes())  # rank 0 verifies it, rank 1 reads some of its last rows
        self.refused(rings, r"node 0 \(ranks 0 to 1\): \S+/n0\.pool: iteration 20 differs from the iteration that was verified",
                     expected=DAMAGED, makes_rings=True, placed=[0, 1, 1], of_rank={1: self.sees(copy, earlier[0].pool)})

    def at_first_read(self, command):
        """Environment variables of a rank that runs this command when it begins to read an earlier ring, after all
        ranks have attached."""
        return [f"LD_PRELOAD={self.compile('tests/mpi/faults.c')}", f"RINGSIDE_TEST_AT_FIRST_READ={command}"]

    def test_a_slot_that_changes_while_it_is_read_ends_all_ranks(self):
        _, made = self.earlier()
        copies = [self.folder / f"copy{number}.pool" for number in range(2)]
        for node, copy in zip(made, copies, strict=True):
            shutil.copy(node.pool, copy)
            node.start_analyzer()
        self.run_job(made, "publish_mpi", SIDE, 40, placed=blocks(4, 2), use="resume")
        rings = self.linked(made)
        later, damaged = self.folder / "later", self.folder / "damaged"
        shutil.copy(made[0].pool, later)
        shutil.copy(copies[0], damaged)
        self.damage(damaged, self.expected[20][0][:19].tobytes())
        for content, expected, found in ((damaged, DAMAGED, "iteration 20 differs from the iteration that was verified"),
                                         (later, SYSTEM, "iteration 20 was overwritten while it was read")):
            with self.subTest(found=found):
                for node, copy in zip(made, copies, strict=True):
                    shutil.copy(copy, node.pool)
                change = self.at_first_read(f"dd if={content} of={made[0].pool} conv=notrunc status=none")
                self.refused(rings, rf"n0\.pool: {found}", expected=expected, makes_rings=True, of_rank={0: change})

    def test_a_job_that_died_between_the_first_steps_of_its_rings_begins_again(self):
        rings, _ = self.earlier()
        nodes = self.nodes(2)
        stop = self.at_first_read(f"kill -STOP {nodes[1].analyzer.pid}")
        job = self.start(nodes, "publish_mpi", SIDE, ENDLESS, placed=[0, 1], use="resume", RINGSIDE_RESUME_FROM=str(rings),
                         of_rank={1: stop})
        first = next(iter(ringside.open(nodes[0].pool, wait=HANG_S).follow(after=0, timeout=HANG_S)))
        self.assertEqual(first.iteration, 20)
        del first  # the step is held as long as a reference to it exists
        job.die()
        for node in nodes:
            node.end_analyzer(signal.SIGKILL)
        self.assertIn(20, nodes[0].kept())
        self.assertEqual(nodes[1].kept(), {})
        self.start_analyzers(nodes)
        _, said = self.continued(rings, 30, [0, 1], use="resume", nodes=nodes, expected=USAGE)
        self.assertRegex(said, r"node 1 \(rank 1\): \S+ring\.pool holds no step")
        self.assertRegex(said, r"node 0 \(rank 0\): \S+ring\.pool holds iteration")
        _, said = self.continued(rings, 20, [0, 1], use="overwrite", nodes=nodes)
        self.assertEqual(self.resumed_from(said), 20)
        for node in nodes:
            node.end_analyzer()
            self.assertEqual(list(node.kept()), [20])
            node.start_analyzer()
        shutil.rmtree(rings)
        _, said = self.continued(rings, 30, [0, 1], use="resume", nodes=nodes)
        self.assertEqual(self.resumed_from(said), 20)
        self.end_analyzers(nodes)
        self.assert_heat(nodes, [0, 1], self.expected, newest=30)

    def test_an_iteration_must_be_held_by_all_rings(self):
        _, made = self.earlier()
        old = self.folder / "old.pool"
        shutil.copy(made[1].pool, old)
        self.start_analyzers(made)
        self.run_job(made, "publish_mpi", SIDE, 40, placed=blocks(4, 2), use="resume")
        rings = self.linked(made)
        shutil.copy(old, made[1].pool)
        self.refused(rings, r"no iteration is held intact by every ring: node 0 \(ranks 0 to 1\) holds 33 to 40; "
                            r"node 1 \(ranks 2 to 3\) holds 13 to 20; expected at least one such iteration")

    def test_the_pool_of_each_node_must_be_known(self):
        """Otherwise it would be unknown whether the pool is one of the earlier rings, or holds steps that have
        precedence."""
        rings, _ = self.earlier()
        self.refused(rings, "--resume-from: RINGSIDE_POOL is not set; expected the path", "publish_mpi", SIDE, 40, pool="")

    def test_the_own_rings_are_no_earlier_ones(self):
        """Overwriting them would destroy the steps from which the run must continue."""
        rings, earlier = self.earlier()
        before = [sorted(node.kept()) for node in earlier]
        self.start_analyzers(earlier)
        other = self.nodes(1) + earlier[1:]
        said = self.run_job(other, "publish_mpi", SIDE, 40, placed=[0, 1], use="overwrite",
                            RINGSIDE_RESUME_FROM=str(rings), expected=USAGE)
        self.assertRegex(said, r"--resume-from: node 1 \(rank 1\): .*n1.pool is also the pool of this run")
        self.end_analyzers(earlier)
        self.assertEqual([sorted(node.kept()) for node in earlier], before)

    def test_what_a_continued_job_kept_may_be_overwritten(self):
        rings, _ = self.earlier()
        nodes, _ = self.continued(rings, 23, [0, 1])
        nodes, said = self.continued(rings, 22, [0, 1], use="overwrite", nodes=nodes)
        self.assertEqual(self.resumed_from(said), 20, said)
        for node in nodes:
            node.end_analyzer()
            self.assertEqual(sorted(node.kept()), [20, 21, 22])
        self.assert_heat(nodes, [0, 1], self.expected)


run_tests()
