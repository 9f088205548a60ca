# SPDX-License-Identifier: BSD-3-Clause
"""How runs of several ranks end if they neither finish nor lose a process: by `stop`, a signal, a trigger or `ringside
stop`, because memory or an analyzer is missing, and while another node's analyzer is stopped. A resume from the
committed steps gives the right bits."""

import re
import signal
import subprocess

import ringside
from jobs import BIN, HANG_S, INTERRUPTED, PEER_LOST, SIDE, SYSTEM, Heat, Jobs, blocks, run_tests
from journals import missing, records, steps, whole_of

PROGRAM = "ringside-producer-mpi"
MATRIX = "--matrix=grid:80"
ENDLESS = 100_000_000


class Ends(Jobs):
    def ended(self, node):
        """The outcome of the newest run in the node's journal."""
        return [record.fields["outcome"] for record in ringside.open(node.pool).records() if record.kind == "run_ended"][-1]


class OfAnyProgram(Ends):
    def test_stop_on_one_rank_ends_its_claims_and_no_others(self):
        two = self.nodes(2)
        code, said = self.start(two, "refusals", "stop", ranks=4).ended()
        self.assertNotEqual(code, 0, said)
        self.assertIn(f"rank 1: claim: {INTERRUPTED} 0 interrupted", said)
        # Rank 0 may also print that rank 1 has exited, because its claim of step 3 waits for rank 1.
        others = re.findall(rf"(?m)^rank (?!1: claim: {INTERRUPTED} |0: claim: {PEER_LOST} )\d: .*", said)
        self.assertEqual((len(re.findall("(?m)^rank 1: ", said)), others), (1, []), said)
        self.end_analyzers(two)
        self.assertEqual(sorted(two[0].kept()), [1], "of step 2 it lacks the part of rank 1")
        self.assertLessEqual(set(two[1].kept()), {1, 2, 3})

    def test_a_stop_that_is_taken_back_leaves_the_run_alone_and_ranks_that_agree_on_one_end_cleanly(self):
        two = self.nodes(2)
        said = self.run_job(two, "refusals", "stop_for_a_while,stop_agreed", ranks=4, use="overwrite")
        self.assertTrue("fine: stop_for_a_while\n" in said and "fine: stop_agreed\n" in said, said)
        for node in two:
            node.end_analyzer()
            self.assertEqual((sorted(node.kept()), self.ended(node)), ([1, 2], "stopped"))

    def test_a_run_that_breaks_off_does_not_wait_for_an_analyzer_that_stands_still(self):
        two = self.nodes(2, "--node-address=localhost")
        job = self.start(two, "publish_mpi", SIDE, ENDLESS, ranks=4)
        self.assertIsNotNone(two[1].await_steps(job, 20))
        with job.stopped():
            two[1].stop_analyzer()
        stopped = max(ringside.open(two[1].pool))
        # The ranks may be ahead of an analyzer by at most the number of buffers.
        two[0].await_iteration(job, stopped + 1)
        job.die()
        two[0].await_log("event=producer_lost")
        two[0].end_analyzer()
        named, lost = missing(whole_of(two[0]))
        recorded = records(whole_of(two[0]))
        self.assertEqual(recorded[-1]["event"], "run_ended")
        self.assertEqual(len(steps(whole_of(two[0]))) + lost, max(two[0].kept()))
        self.assertGreater(lost, 0)
        two[1].analyzer.send_signal(signal.SIGCONT)
        two[1].end_analyzer()
        newest = min(max(node.kept()) for node in two)
        self.assertGreaterEqual(newest, stopped)
        self.start_analyzers(two)
        said = self.run_job(two, "publish_mpi", SIDE, newest + 20, ranks=4, use="resume")
        self.assertEqual(self.resumed_from(said), newest)
        self.end_analyzers(two)
        self.assert_heat(two, blocks(4, 2), Heat(), newest=newest + 20)


class OfBuiltInSolvers(Ends):
    """Unless a test sets something else, there are two nodes with two ranks each."""

    def solver(self, nodes, *arguments, use="resume", **more):
        more.setdefault("placed", blocks(4, 2))
        return self.start(nodes, PROGRAM, MATRIX, *arguments, use=use, OMP_NUM_THREADS="1", **more)

    def begin(self, nodes, **more):
        job = self.solver(nodes, f"--iterations={ENDLESS}", **more)
        for node in nodes:
            self.assertIsNotNone(node.await_steps(job, 10), job.said())
        return job

    def iterates(self, *nodes):
        """{iteration: bits} of the iterates that all these nodes keep."""
        pools = [ringside.open(node.pool) for node in nodes]
        return {k: b"".join(pool.read(k, "x").tobytes() for pool in pools)
                for k in set.intersection(*(set(pool) for pool in pools))}

    def assert_resumes(self, nodes):
        """Resumes with new analyzers, from the newest common step; the bits must be those of one rank. Returns that
        step."""
        self.end_analyzers(nodes)
        newest = max(self.iterates(*nodes))
        self.start_analyzers(nodes)
        last = f"--iterations={newest + 5}"
        self.ends(self.solver(nodes, last), 0)
        for node in nodes:
            node.end_analyzer()
            first = [one.fields["iteration"] for one in ringside.open(node.pool).records()
                     if one.kind == "step" and one.fields["step"] == 0][-1]
            self.assertEqual(first, newest + 1)
        alone, = self.nodes(1)
        self.assertEqual(self.solver([alone], last, placed=[0]).ended()[0], 0)
        alone.end_analyzer()
        self.assertEqual(self.iterates(*nodes), self.iterates(alone))
        return newest

    def test_a_signal_to_one_rank_ends_all_after_the_same_iteration(self):
        two = self.nodes(2)
        job = self.begin(two)
        job.kill(3, by=signal.SIGINT)
        self.ends(job, INTERRUPTED)
        for node in two:
            node.end_analyzer()
            self.assertEqual(self.ended(node), "stopped")
        self.assertEqual(*[max(node.kept()) for node in two])
        self.start_analyzers(two)
        self.assert_resumes(two)

    def test_a_trigger_and_ringside_stop_end_the_job_which_says_why(self):
        two = self.nodes(1) + self.nodes(1, "--trigger=iteration == 30: stop")
        said = self.ends(self.solver(two, f"--iterations={ENDLESS}"), INTERRUPTED)
        self.assertRegex(said, r"(?m)^ringside: node 1 \(ranks 2 to 3\): .*the trigger 'iteration == 30'.* iteration 30")
        two[1].options = two[0].options
        for node in two:
            node.end_analyzer()
            node.start_analyzer()
        self.assertIn(30, self.iterates(two[1]))
        job = self.begin(two)
        subprocess.run([BIN / "ringside", "stop", "--socket", two[0].socket], check=True, timeout=HANG_S, capture_output=True)
        said = self.ends(job, INTERRUPTED)
        self.assertRegex(said, r"(?m)^ringside: node 0 \(ranks 0 to 1\): .*ringside stop")
        self.assert_resumes(two)

    def test_a_claim_that_fails_ends_the_job_which_names_the_node(self):
        two = self.nodes(2)
        job = self.begin(two, RINGSIDE_PEER_TIMEOUT="0.5")
        two[1].end_analyzer(signal.SIGKILL)
        said = self.ends(job, PEER_LOST)
        self.assertRegex(said, r"(?m)^ringside: node 1 \(ranks 2 to 3\): ")
        self.assert_resumes(two)

    def test_a_rank_without_memory_ends_the_job_while_it_loads(self):
        """The other ranks have enough memory: each needs about 200 MB."""
        node, = self.nodes(1)
        said = self.run_job([node], PROGRAM, "--matrix=grid:3000", placed=[0, 0, 0], OMP_NUM_THREADS="1", expected=SYSTEM,
                            of_rank={1: ["prlimit", f"--data={100 << 20}"]})
        self.assertEqual(len(re.findall("(?m)^ringside: .*memory.*; free some, or use a smaller matrix$", said)), 1, said)
        self.assertFalse(node.pool.exists())


run_tests()
