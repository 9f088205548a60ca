# SPDX-License-Identifier: BSD-3-Clause
"""What an attach refuses, on which ranks, and in which words; and that a refused resume leaves the rings as they were."""

import re

import ringside
from jobs import PEER_LOST, SIDE, SLOTS, USAGE, Heat, Jobs, blocks, run_tests

ARGUMENT = 1  # RINGSIDE_REASON_ARGUMENT


class Mistakes(Jobs):
    """The program `refusals` on four ranks of two nodes; rank 1 makes the mistake, if not all do."""

    def setUp(self):
        super().setUp()
        self.two = self.nodes(2)

    def refusals(self, case, expected=USAGE, where="attach", ranks=4, **more):
        """{rank: (reason, line)} of the ranks that failed."""
        said = self.run_job(self.two, "refusals", case, ranks=ranks, expected=expected, **more)
        found = re.findall(rf"^rank (\d): {where}: {expected} (\d+) (.+)$", said, re.M)
        return {int(rank): (int(reason), line) for rank, reason, line in found}, said

    def assert_refused(self, patterns, ranks=4, **more):
        """All ranks are told the same, by a line of the case's pattern; no ring is made. One job has all cases."""
        said = self.run_job(self.two, "refusals", ",".join(patterns) + ",", ranks=ranks, expected=USAGE, **more)
        for case, pattern in patterns.items():
            with self.subTest(case=case):
                found = re.findall(rf"^rank (\d): attach {case}: {USAGE} (\d+) (.+)$", said, re.M)
                self.assertEqual(sorted(int(rank) for rank, _, _ in found), list(range(ranks)), said)
                self.assertEqual({(reason, line) for _, reason, line in found}, {(str(ARGUMENT), found[0][2])}, said)
                self.assertRegex(found[0][2], pattern)
        self.assertFalse(any(node.pool.exists() for node in self.two))

    def test_ranks_that_differ_are_named(self):
        differ = ("name", "dtype", "unit", "role", "shape", "count", "distribution", "scalar", "scalar_type", "solver",
                  "parameters", "bytes", "pool_use", "buffers")
        self.assert_refused({**{f"other_{case}": "rank 1" for case in differ}, "fewer_scalars": "rank 1"})

    def test_boxes_that_are_not_all_of_the_variable_are_named(self):
        self.assert_refused({"overlap": r"(?s)x.*ranks? [01].*[01]|ranks? [01].*[01].*x",
                             "out_of_range": r"rank 1.*x|x.*rank 1", "far_out_of_range": r"rank 1.*x|x.*rank 1",
                             "gap": "x", "empty": "x", "empty_node": r"node 1.*x|x.*node 1"})

    def test_a_wrong_argument_of_one_rank_is_told_to_all(self):
        cases = ("bad_name", "no_out", "no_parts", "part_size", "bad_distribution", "bad_dtype", "bad_buffers")
        self.assert_refused(dict.fromkeys(cases, "rank 1"))

    def test_what_no_run_of_several_ranks_has_is_refused(self):
        self.assert_refused({"all_bad_names": "1 2", "messages": "messages|coordination", "continue": "on_analyzer_loss|continue",
                             "skip": "on_analyzer_loss|skip", "reserved_scalar": "global_iteration"})
        self.assert_refused({"x": "on_analyzer_loss|continue"}, RINGSIDE_ON_ANALYZER_LOSS="continue")
        self.assert_refused({"x": "messages|coordination|COORDINATION"}, RINGSIDE_COORDINATION="messages")

    def test_mpi_must_be_initialised_and_callable_from_the_thread(self):
        for case in ("before_init", "after_finalize", "other_thread"):
            with self.subTest(case=case):
                refused, said = self.refusals(case)
                self.assertEqual({reason for reason, _ in refused.values()}, {ARGUMENT}, said)
                self.assertTrue(all("MPI" in line for _, line in refused.values()), said)

    def test_one_rank_is_refused_as_several_are(self):
        self.two = self.two[:1]
        self.assert_refused({"all_bad_names": "1 2", "messages": "messages|coordination"}, ranks=1)

    def test_ends_that_differ_are_refused_on_all_ranks(self):
        for case, line in (("bad_outcome", "rank 1: outcome: found 9"), ("other_outcome", "outcome: found 1 to 2"),
                           ("fewer_steps", "published 2 to 3 steps")):
            with self.subTest(case=case):
                refused, said = self.refusals(case, where="detach", use="overwrite")
                self.assertEqual(sorted(refused), [0, 1, 2, 3], said)
                self.assertTrue(all(line in found for _, found in refused.values()), said)

    def test_an_error_of_a_wrong_size_is_told_to_the_others(self):
        refused, said = self.refusals("error_size")
        self.assertEqual(sorted(refused), [0, 2, 3], said)
        self.assertTrue(all(line.startswith("rank 1: ringside_error") for _, line in refused.values()), said)

    def test_a_run_without_mistakes_ends_well(self):
        self.assertIn("fine", self.run_job(self.two, "refusals", "", ranks=4))
        for node in self.two:
            node.end_analyzer()
            self.assertEqual(sorted(node.kept()), [1, 2, 3])

    def test_calls_that_are_refused_leave_the_run_alone(self):
        for case in ("mistakes", "iteration_again"):
            with self.subTest(case=case):
                self.assertIn("fine", self.run_job(self.two, "refusals", case, ranks=4, use="overwrite"))

    def test_ranks_that_publish_other_iterations_end_the_run(self):
        _, said = self.refusals("other_iteration", expected=USAGE, where="(?:claim|publish|detach)")
        self.assertRegex(said, r"node 0 .*: step 1: rank 1 published iteration 9, rank 0 iteration 2")
        for node in self.two:
            node.end_analyzer()
            self.assertTrue(set(node.kept()) <= {1, 2, 3})
        self.assertNotIn(2, self.two[0].kept())

    def test_a_run_that_is_freed_without_a_detach_ends_as_one_whose_solver_died(self):
        self.run_job(self.two, "refusals", "leave", ranks=4)
        for node in self.two:
            node.end_analyzer()
            self.assertEqual(sorted(node.kept()), [1, 2, 3])
            ended, = [record for record in ringside.open(node.pool).records() if record.kind == "run_ended"]
            self.assertIsNone(ended.fields["outcome"])

    def test_a_rank_that_dies_is_named_by_the_others_of_its_node(self):
        """The launcher, which would end these at once, is told not to."""
        said = self.start(self.two[:1], "refusals", "die", ranks=3, outlives_ranks=True).ended()[1]
        for rank in (0, 2):
            self.assertRegex(said, rf"(?m)^rank {rank}: claim: {PEER_LOST} 0 node 0 .*rank 1\b")

    def test_a_node_without_an_analyzer_is_named(self):
        self.two[1].end_analyzer()
        refused, said = self.refusals("", expected=PEER_LOST, RINGSIDE_PEER_TIMEOUT="1")
        self.assertEqual(sorted(refused), [0, 1, 2, 3], said)
        self.assertEqual({line for _, line in refused.values()}, {refused[0][1]})
        self.assertRegex(refused[0][1], "rank 2|node 1")


class Rings(Jobs):
    """Resumes that are refused."""

    def setUp(self):
        super().setUp()
        self.two = self.nodes(2)
        self.publish(self.two, 60)

    def publish(self, nodes, iterations, **more):
        code, said = self.start(nodes, "publish_mpi", SIDE, iterations, ranks=4, **more).ended()
        self.assertEqual(code, 0, said)

    def settle(self, nodes):
        for node in nodes:
            node.end_analyzer()
            node.start_analyzer()

    def assert_refused(self, *patterns, nodes=None, expected=USAGE, unchanged=True, **more):
        nodes = nodes or self.two
        self.settle(nodes)
        before = [node.hashes() for node in nodes]
        code, said = self.start(nodes, "publish_mpi", SIDE, 80, use="resume", **{"ranks": 4, **more}).ended()
        self.assertEqual(code, expected, said)
        for pattern in patterns:
            self.assertRegex(said, pattern)
        if unchanged:
            self.assertEqual([node.hashes() for node in nodes], before)
        return said

    def assert_continues(self):
        """What was refused has harmed nothing."""
        code, said = self.start(self.two, "publish_mpi", SIDE, 80, ranks=4, use="resume").ended()
        self.assertEqual((code, self.resumed_from(said)), (0, 60), said)
        self.settle(self.two)
        self.assert_heat(self.two, blocks(4, 2), Heat(), newest=80)

    def test_a_missing_ring_is_named_with_what_the_others_hold(self):
        self.two[1].end_analyzer()
        for path in self.two[1].folder.glob("ring.pool*"):
            path.rename(self.folder / path.name)
        self.assert_refused(r"node 1 \(ranks 2 to 3\): \S+ring\.pool holds no step", "node 0 .*holds iterations 53 to 60")
        self.assertFalse(self.two[1].pool.exists())
        self.two[1].end_analyzer()
        for path in self.folder.glob("ring.pool*"):
            path.rename(self.two[1].folder / path.name)
        self.two[1].start_analyzer()
        self.assert_continues()

    def test_rings_of_different_runs_are_refused(self):
        others = self.nodes(2)
        self.publish(others, 60)
        runs = [ringside.open(node.pool).runs[-1].run_id for node in (self.two[0], others[1])]
        dashed = [rf"{run[:8]}-?{run[8:12]}-?{run[12:16]}-?{run[16:20]}-?{run[20:]}" for run in runs]
        self.assert_refused("node 0", "node 1", *dashed, nodes=[self.two[0], others[1]])
        self.assert_continues()

    def test_a_file_that_is_no_pool_is_named(self):
        self.two[1].end_analyzer()
        content = self.two[1].pool.read_bytes()
        self.two[1].pool.write_bytes(bytes(len(content)))
        self.assert_refused("node 1|rank 2", "ring.pool")
        self.two[1].pool.write_bytes(content)
        self.settle(self.two)
        self.assert_continues()

    def test_rings_that_hold_no_common_step_are_refused(self):
        """Each step of node 1 is damaged: an entry of it is another."""
        self.settle(self.two)
        expected, rows = Heat(), self.two[1].kept()[60]["u"].shape[0]
        content = bytearray(self.two[1].pool.read_bytes())
        for k in range(60 - SLOTS + 1, 61):
            content[content.index(expected[k][0][SIDE - rows:].tobytes()) + 50] ^= 1
        self.two[1].pool.write_bytes(content)
        self.assert_refused("node 0.*53 to 60", "node 1")

    def test_rings_that_are_too_far_apart_are_refused(self):
        """Node 1 has the ring that it had 20 iterations ago."""
        self.settle(self.two)
        self.two[1].end_analyzer()
        old = {path.name: path.read_bytes() for path in self.two[1].folder.glob("ring.pool*") if path.is_file()}
        self.two[1].start_analyzer()
        self.publish(self.two, 80, use="resume")
        self.two[1].end_analyzer()
        for name, content in old.items():
            (self.two[1].folder / name).write_bytes(content)
        self.assert_refused("node 0.*73 to 80", "node 1.*53 to 60")

    def test_other_blocks_of_rows_are_refused(self):
        self.assert_refused("node [01]|rank [02]", ranks=3, unchanged=False)
        self.assert_continues()

    def test_other_boxes_of_the_same_size_are_refused(self):
        node, = self.nodes(1)
        for steps, spread, expected in ((10, "cubes", 0), (20, "backwards", 1), (20, "cubes", 0)):  # 1: the program's own
            said = self.run_job([node], "publish_boxes", steps, spread, ranks=8, use="resume", expected=expected)
            self.assertEqual("another problem: this run has parameters" in said, expected != 0, said)

    def test_nodes_in_another_order_are_refused(self):
        """Each would take the rows of the other, which are as many, for its own."""
        two = self.nodes(2)
        for nodes, expected in ((two, 0), (two[::-1], USAGE), (two, 0)):
            said = self.run_job(nodes, "publish_mpi", 36, 40, ranks=4, use="resume", expected=expected)
            self.assertEqual("parameters u f64[36,36] K: rows 0 to 17 instead of u f64[36,36] K: rows 18 to 35" in said,
                             expected != 0, said)

    def test_another_problem_is_refused(self):
        self.settle(self.two)
        said = self.run_job(self.two, "publish_mpi", SIDE + 1, 80, ranks=4, use="resume", expected=USAGE)
        self.assertRegex(said, "node 0|rank 0|problem")
        self.assert_continues()

    def test_pools_that_must_be_fresh_are_not_overwritten(self):
        said = self.run_job(self.two, "publish_mpi", SIDE, 80, ranks=4, use="fresh", expected=USAGE)
        self.assertRegex(said, "ring.pool")
        self.assert_continues()

    def test_one_pool_that_is_not_fresh_harms_no_other(self):
        """Node 0 has an empty folder, node 1 a pool with steps."""
        fresh, = self.nodes(1)
        said = self.run_job([fresh, self.two[1]], "publish_mpi", SIDE, 80, ranks=4, use="fresh", expected=USAGE)
        self.assertRegex(said, "ring.pool")
        self.assertEqual(fresh.kept(), {})
        self.assert_continues()

    def test_no_ring_has_steps(self):
        others = self.nodes(2)
        self.publish(others, 60, use="resume")
        self.settle(others)
        self.assert_heat(others, blocks(4, 2), Heat(), newest=60)


run_tests()
