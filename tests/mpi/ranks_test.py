# SPDX-License-Identifier: BSD-3-Clause
"""A step has the same bits for any number of ranks and nodes: the parts in the rings of the nodes, one after another,
are bit-equal to the step that a run of one rank keeps."""

import json
import signal
import subprocess
import time

import numpy as np

from jobs import BIN, HANG_S, SIDE, SLOTS, Heat, Jobs, blocks, run_tests

ITERATIONS = 40
ENDLESS = 1_000_000


class Ranks(Jobs):
    def settle(self, nodes):
        """Ends the analyzers, so that everything is recorded. `ringside verify` must find each ring intact."""
        for node in nodes:
            node.end_analyzer()
            verified = subprocess.run([BIN / "ringside", "verify", node.pool], capture_output=True, check=False)
            self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def heat(self, nodes, placed, side=37):
        said = self.run_job(nodes, "publish_mpi", side, ITERATIONS, placed=placed)
        self.assertEqual(self.resumed_from(said), 0)
        self.settle(nodes)
        self.assert_heat(nodes, placed, Heat(side), newest=ITERATIONS, side=side)
        return [node.kept() for node in nodes]

    def test_any_number_of_ranks_and_nodes_keeps_the_bits_of_one_rank(self):
        alone, = self.heat(self.nodes(1), [0])
        for ranks, nodes in ((3, 1), (4, 1), (8, 1), (2, 2), (3, 2), (8, 2), (4, 4), (8, 4)):  # (2, 1), (4, 2): below
            with self.subTest(ranks=ranks, nodes=nodes):
                kept = self.heat(self.nodes(nodes), blocks(ranks, nodes))
                for iteration, whole in alone.items():
                    u = np.concatenate([steps[iteration]["u"] for steps in kept])
                    self.assertEqual(u.tobytes(), whole["u"].tobytes())
                    for steps in kept:
                        self.assertEqual(steps[iteration]["solver.residual"], whole["solver.residual"])
                self.assertEqual(max(np.abs(steps[ITERATIONS]["u"]).max() for steps in kept), alone[ITERATIONS]["u.linf"])

    def test_a_rank_may_have_no_rows_if_its_node_has_some(self):
        for nodes in (1, 2):
            with self.subTest(nodes=nodes):
                self.heat(self.nodes(nodes), blocks(8, nodes), side=5)

    def test_global_steps_are_recorded_and_never_ahead_of_the_step(self):
        nodes = self.nodes(2)
        for steps in self.heat(nodes, blocks(4, 2)):
            reached = [steps[iteration]["solver.global_iteration"] for iteration in sorted(steps)]
            self.assertEqual(reached, sorted(reached))
            self.assertLess(reached[-1], ITERATIONS)
            self.assertGreater(reached[-1], 0, "the counters travel, however far behind")
            self.assertLessEqual({steps[iteration]["solver.waited_for_node"] for iteration in steps}, {0, 1})
            self.assertTrue(all(steps[iteration]["solver.waited_ns"] >= 0 for iteration in steps))

    def test_steps_name_the_node_whose_analyzer_kept_its_ranks_waiting_longest(self):
        two = self.nodes(2)
        job = self.start(two, "publish_mpi", SIDE, ENDLESS, ranks=4)
        deadline, pause_s, waited = time.monotonic() + HANG_S, 0.25, (None, 0)
        while waited[0] != 1:  # the other node's ranks may have waited longer, for other reasons
            self.assertLess(time.monotonic(), deadline, f"the newest step has {waited}")
            self.assertIsNotNone(two[0].await_steps(job, 20), job.said())
            two[1].stop_analyzer()
            time.sleep(pause_s)  # causes the wait that the steps must report; its length does not matter
            two[1].analyzer.send_signal(signal.SIGCONT)
            self.assertIsNotNone(two[0].await_steps(job, 20), job.said())
            with job.stopped():
                waited = self.waited(two[0])
            pause_s = min(2 * pause_s, 4)
        job.die()
        self.end_analyzers(two)
        for node in two:
            number, waited_ns = self.waited(node)
            self.assertEqual(number, 1)
            self.assertGreaterEqual(waited_ns, waited[1])

    def waited(self, node):
        """From the newest step: for which node the ranks waited, and for how long."""
        kept = node.kept()
        newest = kept[max(kept)]
        return newest["solver.waited_for_node"], newest["solver.waited_ns"]

    # Boxes in three dimensions, with other dtypes, and a variable that every rank has as a whole.

    def boxes(self, nodes, placed, *more, persisted=0):
        said = self.run_job(nodes, "publish_boxes", ITERATIONS, *more, placed=placed)
        self.assertIn(f"publish_boxes: {ITERATIONS} steps, persisted up to {persisted}\n", said)
        self.settle(nodes)
        kept = [node.kept() for node in nodes]
        for steps in kept:
            self.assertEqual(sorted(steps), list(range(ITERATIONS - SLOTS + 1, ITERATIONS + 1)))
        return kept

    def assert_boxes(self, kept, placed, parts):
        """parts: the box of each rank. A node's ring has the boxes of the node in the order of the ranks, row by
        row."""
        index = np.arange(6 * 5 * 7).reshape(6, 5, 7)
        for node, steps in enumerate(kept):
            entries = np.concatenate([index[box].ravel() for rank, box in enumerate(parts) if placed[rank] == node])
            for k, step in steps.items():
                self.assertEqual(step["p"].dtype, np.float32)
                self.assertEqual(step["id"].dtype, np.int64)
                np.testing.assert_array_equal(step["p"].ravel(), entries + np.float32(0.5) * k)
                np.testing.assert_array_equal(step["id"].ravel(), entries * 10**15 + k)
                np.testing.assert_array_equal(step["basis"], k + np.arange(3.0))
                self.assertEqual(step["solver.sweeps"], 2 * k)
                self.assertEqual(step["basis"].shape, (3,))

    def test_boxes_lie_in_the_ring_in_the_order_of_the_ranks(self):
        cubes = [np.s_[a, b, c] for a in (np.s_[:3], np.s_[3:]) for b in (np.s_[:2], np.s_[2:]) for c in (np.s_[:3], np.s_[3:])]
        for placed in ([0] * 8, blocks(8, 2), [0, 1] * 4):
            with self.subTest(placed=placed):
                nodes = self.nodes(max(placed) + 1)
                kept = self.boxes(nodes, placed, "cubes")
                self.assert_boxes(kept, placed, cubes)
                self.assertEqual({step["p"].ndim for steps in kept for step in steps.values()}, {1})

    def test_rows_of_three_dimensions_keep_their_shape(self):
        kept = self.boxes(self.nodes(2), blocks(3, 2), "rows")
        self.assert_boxes(kept, blocks(3, 2), [np.s_[:2], np.s_[2:4], np.s_[4:]])
        self.assertEqual([steps[ITERATIONS]["p"].shape for steps in kept], [(4, 5, 7), (2, 5, 7)])

    def test_progress_says_what_all_nodes_have_on_their_media_if_that_is_asked_for(self):
        kept = self.boxes(self.nodes(2, "--durability=power"), blocks(4, 2), "rows", persisted=ITERATIONS)
        self.assert_boxes(kept, blocks(4, 2), [np.s_[rank * 6 // 4:(rank + 1) * 6 // 4] for rank in range(4)])
        self.boxes(self.nodes(1, "--durability=power") + self.nodes(1), blocks(4, 2), "rows", persisted=0)

    def test_rows_that_are_not_one_behind_the_other_are_kept_as_entries(self):
        kept = self.boxes(self.nodes(2), [0, 1, 0], "rows")
        self.assert_boxes(kept, [0, 1, 0], [np.s_[:2], np.s_[2:4], np.s_[4:]])
        self.assertEqual([steps[ITERATIONS]["p"].shape for steps in kept], [(140,), (2, 5, 7)])

    def test_ranks_of_a_communicator_of_their_own_order_count_as_there(self):
        """The last rank of the world is rank 0 of the communicator. Nodes are numbered by the ranks of the
        communicator."""
        nodes = self.nodes(2)
        kept = self.boxes(nodes, blocks(3, 2), "reversed")
        self.assert_boxes(kept[::-1], [0, 1, 1], [np.s_[:2], np.s_[2:4], np.s_[4:]])

    def test_a_rank_reads_what_it_wrote_before_the_first_rank_has_written_that_step(self):
        self.boxes(self.nodes(1), [0, 0, 0], "late")

    def test_commands_read_the_ring_of_a_node(self):
        node, = self.nodes(1)
        self.heat([node], [0, 0])
        info = json.loads(subprocess.check_output([BIN / "ringside", "info", "--json", node.pool]))
        self.assertEqual(info["iterates"][-1]["iteration"], ITERATIONS)
        self.assertEqual(subprocess.call([BIN / "ringside", "replay", node.pool], stdout=subprocess.DEVNULL), 0)


run_tests()
