# SPDX-License-Identifier: BSD-3-Clause
"""The results of the whole run, which the first node's analyzer records. They are bit-equal to those of a run on one
node, for any number of ranks and nodes; sums of variables in boxes are correctly rounded; and each step is recorded
once, whichever analyzer is killed."""

import contextlib
import math
import socket
import subprocess

import numpy as np
from jobs import BIN, HANG_S, Jobs, blocks, run_tests
from journals import missing, steps, whole_of

ITERATIONS = 40


def exact_results(iteration):
    """The expected results of the variable p of publish_boxes: each sum is rounded once."""
    x = np.arange(6 * 5 * 7, dtype=np.float32).astype(float) + 0.5 * iteration
    results = {"sum": math.fsum(x), "mean": math.fsum(x) / x.size, "l1": math.fsum(abs(x)), "l2": math.sqrt(math.fsum(x * x)),
               "min": x.min(), "max": x.max(), "linf": x.max(), "non_finite": 0}
    if iteration > 1:
        change = np.full(x.size, 0.5)
        results |= {"change_l1": math.fsum(change), "change_l2": math.sqrt(math.fsum(change * change)), "change_linf": 0.5}
    return results


class Whole(Jobs):
    def heat(self, nodes, placed, side, iterations=ITERATIONS, **more):
        said = self.run_job(nodes, "publish_mpi", side, iterations, placed=placed, **more)
        self.end_analyzers(nodes)
        return said

    def nodes(self, count, *options):
        return super().nodes(count, "--node-address=localhost", *options)

    def alone(self, side=37, iterations=ITERATIONS):
        """A node on which a run of one rank has ended."""
        return self.ended_run(1, "publish_mpi", side, iterations, placed=[0])[0]

    def test_results_of_the_whole_have_the_bits_of_one_node(self):
        for side, shapes in ((37, ((2, 2), (3, 2), (8, 4))), (64, ((2, 2), (4, 4)))):  # 64: parts begin at blocks of 1024
            alone = self.alone(side)
            expected = steps(alone.pool)
            self.assertEqual(sorted(expected), list(range(1, ITERATIONS + 1)))
            self.assertFalse(whole_of(alone).with_name(whole_of(alone).name + ".journal-0").exists(), "one node is the whole")
            for ranks, nodes in shapes:
                with self.subTest(side=side, ranks=ranks, nodes=nodes):
                    made = self.ended_run(nodes, "publish_mpi", side, ITERATIONS, placed=blocks(ranks, nodes))
                    self.assertEqual(steps(whole_of(made[0])), expected)
                    for node in made[1:]:
                        self.assertEqual(list(node.folder.glob("*.global*")), [], "the first node collects")

    def test_boxes_have_results_of_the_whole_wherever_their_entries_are(self):
        made = self.nodes(2)
        self.run_job(made, "publish_boxes", ITERATIONS, "rows", placed=blocks(3, 2))
        self.end_analyzers(made)
        alone, = self.nodes(1)
        self.run_job([alone], "publish_boxes", ITERATIONS, "rows", placed=[0, 0, 0])
        self.end_analyzers([alone])
        for variable in ("p", "id", "basis"):  # f32, i64, and a variable that every rank has
            self.assertEqual(steps(whole_of(made[0]), variable), steps(alone.pool, variable), variable)
        for nodes, placed, spread in ((2, [0, 1] * 4, "cubes"), (4, blocks(8, 4), "cubes"), (4, [0, 1, 2, 3] * 2, "backwards")):
            with self.subTest(nodes=nodes, spread=spread):
                scattered = self.nodes(nodes)
                self.run_job(scattered, "publish_boxes", ITERATIONS, spread, placed=placed)
                self.end_analyzers(scattered)
                found = steps(whole_of(scattered[0]), "p")
                self.assertEqual(sorted(found), list(range(1, ITERATIONS + 1)))
                for iteration, results in found.items():
                    self.assertEqual(results, exact_results(iteration), iteration)
                of_integers = steps(whole_of(scattered[0]), "id")
                for iteration, results in steps(alone.pool, "id").items():
                    squares = [float(index * 10**15 + iteration) ** 2 for index in range(6 * 5 * 7)]  # their sum is rounded
                    self.assertEqual(of_integers[iteration], results | {"l2": math.sqrt(math.fsum(squares))}, iteration)
                self.assertEqual(steps(whole_of(scattered[0]), "basis"), steps(alone.pool, "basis"))

    def test_the_whole_loses_no_step_when_an_analyzer_is_killed(self):
        for killed in (0, 1):
            with self.subTest(killed=killed):
                made = self.nodes(2, "--slots=512")  # room for all steps: on a busy machine, many are unfinished
                job = self.start(made, "publish_mpi", 41, 400, ranks=2)
                self.assertIsNotNone(made[killed].await_steps(job, 20))
                made[killed].end_analyzer(by=9)
                made[killed].start_analyzer()
                self.ends(job, 0)
                self.end_analyzers(made)
                expected, found = steps(self.alone(41, 400).pool), steps(whole_of(made[0]))
                for iteration, results in found.items():
                    self.assertEqual(results, expected[iteration], iteration)
                self.assertEqual(sorted(found), list(range(1, 401)), "its successor has its newest steps again")

    def test_a_collector_that_dies_before_it_wrote_anything_loses_no_step_of_its_ring(self):
        made = self.nodes(2, "--slots=64")
        job = self.start(made, "publish_mpi", 41, 400, ranks=2)
        self.assertIsNotNone(made[0].await_steps(job, 20))
        made[0].end_analyzer(by=9)
        kept = sorted(made[0].kept())
        for journal in made[0].folder.glob("*.global.journal*"):
            journal.unlink()
        made[0].start_analyzer()
        self.ends(job, 0)
        self.end_analyzers(made)
        found = steps(whole_of(made[0]))
        first = 1 if kept[0] == 1 else kept[1]  # the oldest kept step has no previous step to compute its change
        self.assertEqual(sorted(found), list(range(first, 401)))
        expected = steps(self.alone(41, 400).pool)
        self.assertEqual(found, {iteration: expected[iteration] for iteration in found})

    def test_a_node_without_an_address_leaves_the_run_without_results_of_the_whole(self):
        made = self.nodes(1) + super().nodes(1)
        self.heat(made, [0, 1], 37)
        self.assertEqual(list(made[0].folder.glob("*.global*")), [])
        self.assertEqual(len(steps(made[1].pool)), ITERATIONS)

    def test_a_collector_that_cannot_be_made_leaves_the_run_alone(self):
        port, keys = self.free_ports(), self.folder / "keys"
        for client in ([], ["--client", "test"]):
            subprocess.run([BIN / "ringside", "keygen", keys, *client], check=True, capture_output=True)
        with socket.create_server(("127.0.0.1", port + 2)):
            causes = {rf"127\.0\.0\.1:{port + 2}: .*in use": [f"--telemetry-tcp=127.0.0.1:{port}", f"--telemetry-keys={keys}"],
                      "--global-trigger 'u.unknown > 1': .*nothing named 'u.unknown'": ["--global-trigger=u.unknown > 1: mark"],
                      r"socket path '\S+\.global\.telemetry' has 114 characters, expected at most 107": []}
            for pattern, options in causes.items():
                with self.subTest(pattern=pattern):
                    made = self.nodes(1, *options) + self.nodes(1)
                    if not options:
                        self.lengthen_socket(made[0])
                    self.heat(made, [0, 1], 37)
                    self.assertRegex(made[0].log(), f"event=no_whole_run .*{pattern}")
                    self.assertNotIn("event=no_whole_run", made[1].log())
                    for node in made:
                        self.assertEqual(sorted(steps(node.pool)), list(range(1, ITERATIONS + 1)))
                    self.assertEqual(list(made[0].folder.glob("*.global.journal*")), [])

    def free_ports(self):
        """The first of four consecutive ports: two for the node's telemetry, and two for that of the whole run."""
        while True:
            with contextlib.suppress(OSError, OverflowError), contextlib.ExitStack() as held:
                first = held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
                for port in range(first + 1, first + 4):
                    held.enter_context(socket.create_server(("127.0.0.1", port)))
                return first

    def lengthen_socket(self, node):
        """Renames the socket: the new name is short enough for the node's own sockets, but too long for the sockets of
        the whole run."""
        node.end_analyzer()
        longest = 107 - len(".telemetry")
        node.socket = node.socket.with_name("s" * (longest - len(str(node.socket.parent)) - 1 - len(".socket")) + ".socket")
        node.start_analyzer()

    def test_a_step_as_which_nodes_publish_different_iterations_is_missing(self):
        made = self.nodes(2)
        self.run_job(made, "refusals", "other_node", ranks=4)
        self.end_analyzers(made)
        self.assertEqual([sorted(steps(node.pool, "x")) for node in made], [[1, 3, 4], [1, 2, 4]])
        self.assertEqual(sorted(steps(whole_of(made[0]), "x")), [1, 4])
        self.assertEqual(missing(whole_of(made[0])), ([2, 3], 1))
        self.assertIn('event=round_differs step=1 text="node 1 published iteration 2 as this step, but the nodes before it '
                      'published 3; expected the same iteration on all ranks"', made[1].log())

    def test_a_resumed_run_goes_on_in_the_journal_of_the_whole(self):
        made = self.nodes(2)
        self.heat(made, [0, 1], 37, 20)
        self.start_analyzers(made)
        said = self.heat(made, [0, 1], 37, ITERATIONS, use="resume")
        self.assertEqual(self.resumed_from(said), 20)
        self.assertEqual(steps(whole_of(made[0])), steps(self.alone().pool))

    def test_commands_read_the_whole_run(self):
        made, alone = self.ended_run(2, "publish_mpi", 37, ITERATIONS, placed=[0, 1]), self.alone()
        pool = whole_of(made[0])
        report = self.folder / "report.html"
        subprocess.run([BIN / "ringside", "report", pool, "--output", report], check=True, timeout=HANG_S)
        self.assertIn("publish_mpi", report.read_text())
        compared = subprocess.run([BIN / "ringside", "compare", "--json", pool, alone.pool], capture_output=True, check=False)
        self.assertEqual(compared.returncode, 0, compared.stderr)


run_tests()
