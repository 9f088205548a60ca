# SPDX-License-Identifier: BSD-3-Clause
"""What an attach refuses, on which ranks, and with which message. A refused resume must not change the rings."""

import contextlib
import re
import shutil

import numpy as np

import ringside
from jobs import PEER_LOST, SIDE, SLOTS, USAGE, Heat, Jobs, blocks, run_tests

ARGUMENT = 1  # RINGSIDE_REASON_ARGUMENT


class Mistakes(Jobs):
    """Runs the program `refusals` on four ranks of two nodes. Rank 1 makes the mistake, unless all ranks make it."""

    def setUp(self):
        super().setUp()
        self.two = self.nodes(2)

    def refusals(self, case, expected=USAGE, where="attach", ranks=4, **more):
        """{rank: (reason, line)} of the ranks that failed."""
        said = self.run_job(self.two, "refusals", case, ranks=ranks, expected=expected, **more)
        return self.refused_ranks(said, where, expected), said

    def refused_ranks(self, said, where, status=USAGE):
        found = re.findall(rf"^rank (\d): {where}: {status} (\d+) (.+)$", said, re.M)
        return {int(rank): (int(reason), line) for rank, reason, line in found}

    def assert_refused(self, patterns, ranks=4, without_place=None):
        """Expects that all ranks get the same line, which matches the case's pattern, and that no ring is made. One job
        runs all cases. without_place: the case in which rank 1 has no place for the line."""
        said = self.run_job(self.two, "refusals", ",".join(patterns) + ",", ranks=ranks)
        for case, pattern in patterns.items():
            with self.subTest(case=case):
                found = self.refused_ranks(said, f"attach {case}")
                self.assertEqual(sorted(found), [rank for rank in range(ranks) if rank != 1 or case != without_place], said)
                self.assertEqual(set(found.values()), {(ARGUMENT, found[0][1])}, said)
                self.assertRegex(found[0][1], pattern)
        self.assertFalse(any(node.pool.exists() for node in self.two))

    def test_mistakes_are_told_to_all_ranks_and_name_the_one_that_makes_them(self):
        differ = ("name", "dtype", "unit", "role", "shape", "count", "distribution", "scalar", "scalar_type", "solver",
                  "parameters", "bytes", "pool_use", "buffers")
        wrong = ("bad_name", "no_out", "no_parts", "part_size", "bad_distribution", "bad_dtype", "bad_buffers")
        self.assert_refused({
            **{f"other_{case}": "rank 1" for case in differ}, "fewer_scalars": "rank 1", **dict.fromkeys(wrong, "rank 1"),
            # Boxes that do not cover the variable exactly once.
            "overlap": r"(?s)x.*ranks? [01].*[01]|ranks? [01].*[01].*x", "out_of_range": r"rank 1.*x|x.*rank 1",
            "far_out_of_range": r"rank 1.*x|x.*rank 1", "gap": "x", "empty": "x", "empty_node": r"node 1.*x|x.*node 1",
            # Settings that are refused for any run of several ranks.
            "all_bad_names": "1 2", "messages": "messages|coordination", "continue": "on_analyzer_loss|continue",
            "skip": "on_analyzer_loss|skip", "reserved_scalar": "global_iteration",
            "environment_continue": "on_analyzer_loss|continue",
            "environment_messages": "messages|coordination|COORDINATION", "environment_elastic": "RINGSIDE_ELASTIC=off",
            "error_size": "^rank 1: ringside_error"}, without_place="error_size")

    def test_mpi_must_be_initialised_and_callable_from_the_thread(self):
        said = self.run_job(self.two, "refusals", "outside", ranks=4)
        for case in ("before_init", "other_thread", "after_finalize"):
            with self.subTest(case=case):
                self.assertEqual(len(re.findall(rf"(?m)^rank \d: attach {case}: {USAGE} {ARGUMENT} .*MPI", said)), 4, said)

    def test_one_rank_is_refused_as_several_are(self):
        self.two = self.two[:1]
        self.assert_refused({"all_bad_names": "1 2", "messages": "messages|coordination"}, ranks=1)

    def test_runs_of_one_job_follow_each_other_whatever_became_of_those_before(self):
        differ = {"bad_outcome": "rank 1: outcome: found 9", "other_outcome": "outcome: found 1 to 2",
                  "fewer_steps": "published 2 to 3 steps"}
        well = ("mistakes", "iteration_again", "none")
        said = self.run_job(self.two, "refusals", ",".join([*differ, *well, "leave"]), ranks=4, use="overwrite")
        for case, line in differ.items():
            with self.subTest(case=case):  # all ranks refuse ends that differ
                refused = self.refused_ranks(said, f"detach {case}")
                self.assertEqual(sorted(refused), [0, 1, 2, 3], said)
                self.assertTrue(all(line in found for _, found in refused.values()), said)
        for case in well:
            self.assertIn(f"fine: {case}\n", said)
        for node in self.two:
            node.end_analyzer()
            self.assertEqual(sorted(node.kept()), [1, 2, 3])
            ended = [record.fields["outcome"] for record in ringside.open(node.pool).records() if record.kind == "run_ended"]
            self.assertIsNone(ended[-1], "freed without a detach, as if the solver had died")

    def test_ranks_that_publish_other_iterations_end_the_run(self):
        _, said = self.refusals("other_iteration", expected=USAGE, where="(?:claim|publish|detach)")
        self.assertRegex(said, r"node 0 .*: step 1: rank 1 published iteration 9, but rank 0 published iteration 2")
        for node in self.two:
            node.end_analyzer()
            self.assertTrue(set(node.kept()) <= {1, 2, 3})
        self.assertNotIn(2, self.two[0].kept())

    def test_a_rank_that_dies_is_named_by_the_others_of_its_node(self):
        """The launcher would end the other ranks at once; an option forbids this."""
        said = self.start(self.two[:1], "refusals", "die", ranks=3, outlives_ranks=True).ended()[1]
        for rank in (0, 2):
            self.assertRegex(said, rf"(?m)^rank {rank}: claim: {PEER_LOST} 0 node 0 .*rank 1\b")

    def test_a_node_without_an_analyzer_is_named(self):
        self.two[1].end_analyzer()
        refused, said = self.refusals("", expected=PEER_LOST, RINGSIDE_PEER_TIMEOUT="0.3")
        self.assertEqual(sorted(refused), [0, 1, 2, 3], said)
        self.assertEqual({line for _, line in refused.values()}, {refused[0][1]})
        self.assertRegex(refused[0][1], "rank 2|node 1")


class Rings(Jobs):
    """Resumes that are refused."""

    def setUp(self):
        super().setUp()
        self.two = self.ended_run(2, "publish_mpi", SIDE, 60, placed=blocks(4, 2))

    def assert_refused(self, *patterns, nodes=None, program=("publish_mpi", SIDE, 80), expected=USAGE, opened=False, **more):
        """Expects a refusal, after which no ring has changed. opened: an analyzer had to open its ring before the
        refusal; then only the steps must be the same as before."""
        nodes = nodes or self.two
        steps = [self.steps(node) for node in nodes]
        self.start_analyzers(nodes)
        try:
            before = [node.hashes() for node in nodes]
            said = self.run_job(nodes, *program, expected=expected, **{"ranks": 4, "use": "resume", **more})
            for pattern in patterns:
                self.assertRegex(said, pattern)
            if not opened:
                self.assertEqual([node.hashes() for node in nodes], before)
        finally:
            self.end_analyzers(nodes)
        if opened:
            self.assertEqual([self.steps(node) for node in nodes], steps)

    def steps(self, node):
        """{iteration: bits} of the steps in the node's ring, which an analyzer must be able to open."""
        with contextlib.suppress(ringside.Error):
            return {k: {name: value.tobytes() if isinstance(value, np.ndarray) else repr(value) for name, value in step.items()}
                    for k, step in node.kept().items()}

    def test_what_is_refused_changes_no_ring_and_the_run_continues(self):
        with self.subTest("a missing ring is named, with what the others hold"):
            moved = self.two[1].folder.rename(self.folder / "moved")
            self.two[1].folder.mkdir()
            self.assert_refused(r"node 1 \(ranks 2 to 3\): \S+ring\.pool holds no step", "node 0 .*holds iterations 53 to 60")
            self.assertFalse(self.two[1].pool.exists())
            shutil.rmtree(self.two[1].folder)
            moved.rename(self.two[1].folder)
        with self.subTest("a file that is no pool is named"):
            content = self.two[1].pool.read_bytes()
            self.two[1].pool.write_bytes(bytes(len(content)))
            self.assert_refused("node 1|rank 2", "ring.pool")
            self.two[1].pool.write_bytes(content)
        with self.subTest("other blocks of rows are refused"):
            self.assert_refused("node [01]|rank [02]", ranks=3, opened=True)
        with self.subTest("another problem is refused"):
            self.assert_refused("node 0|rank 0|problem", program=("publish_mpi", SIDE + 1, 80), opened=True)
        with self.subTest("pools that must be fresh are not overwritten"):
            self.assert_refused(r"ring\.pool", use="fresh", opened=True)
        with self.subTest("one pool that is not fresh harms no other"):
            fresh = self.node()
            self.assert_refused(r"ring\.pool", nodes=[fresh, self.two[1]], use="fresh", opened=True)
            self.assertEqual(fresh.kept(), {})
        self.start_analyzers(self.two)
        said = self.run_job(self.two, "publish_mpi", SIDE, 80, ranks=4, use="resume")
        self.assertEqual(self.resumed_from(said), 60)
        self.end_analyzers(self.two)
        self.assert_heat(self.two, blocks(4, 2), Heat(), newest=80)

    def test_rings_of_different_runs_are_refused(self):
        others = self.nodes(2)
        self.run_job(others, "publish_mpi", SIDE, SLOTS, ranks=4)
        self.end_analyzers(others)
        nodes = [self.two[0], others[1]]
        runs = [ringside.open(node.pool).runs[-1].run_id for node in nodes]
        dashed = [rf"{run[:8]}-?{run[8:12]}-?{run[12:16]}-?{run[16:20]}-?{run[20:]}" for run in runs]
        self.assert_refused("node 0", "node 1", *dashed, nodes=nodes)

    def test_rings_that_hold_no_common_step_are_refused(self):
        """Each step of node 1 is damaged: one entry is changed."""
        expected, rows = Heat(), self.two[1].kept()[60]["u"].shape[0]
        content = bytearray(self.two[1].pool.read_bytes())
        for k in range(60 - SLOTS + 1, 61):
            content[content.index(expected[k][0][SIDE - rows:].tobytes()) + 50] ^= 1
        self.two[1].pool.write_bytes(content)
        self.assert_refused("node 0.*53 to 60", "node 1")

    def test_rings_that_are_too_far_apart_are_refused(self):
        """Node 1 has a copy of its ring from 20 iterations ago."""
        old = {path.name: path.read_bytes() for path in self.two[1].folder.glob("ring.pool*") if path.is_file()}
        self.start_analyzers(self.two)
        self.run_job(self.two, "publish_mpi", SIDE, 80, ranks=4, use="resume")
        self.end_analyzers(self.two)
        for name, content in old.items():
            (self.two[1].folder / name).write_bytes(content)
        self.assert_refused("node 0.*73 to 80", "node 1.*53 to 60")

    def test_other_boxes_of_the_same_size_are_refused(self):
        nodes = self.ended_run(1, "publish_boxes", 10, "cubes", placed=[0] * 8)
        self.assert_refused("another problem: this run has parameters", nodes=nodes, program=("publish_boxes", 20, "backwards"),
                            ranks=8, expected=1, opened=True)  # 1: the program's own status

    def test_nodes_in_another_order_are_refused(self):
        """Otherwise each node would accept the rows of the other node as its own, because both have the same number of
        rows."""
        two = self.ended_run(2, "publish_mpi", 36, 40, placed=blocks(4, 2))
        self.assert_refused(r"parameters u f64\[36,36\] K: rows 0 to 17 instead of u f64\[36,36\] K: rows 18 to 35",
                            nodes=two[::-1], program=("publish_mpi", 36, 40), opened=True)


run_tests()
