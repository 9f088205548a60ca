# SPDX-License-Identifier: BSD-3-Clause
"""Ranks, analyzers, nodes and mpirun get SIGKILL. The run is resumed from a step that all rings hold, and each kept
step has the bits of an undisturbed run. --kills N and --seed S: how often and when the last tests kill."""

import argparse
import random
import signal
import sys

import numpy as np

import ringside
from jobs import PEER_LOST, SIDE, Heat, Jobs, blocks, run_tests

ENDLESS = 1_000_000  # the number of iterations of a job that only a kill ends
parser = argparse.ArgumentParser()
parser.add_argument("--kills", type=int, default=25, help="number of kills in each of the last two tests (default 25)")
parser.add_argument("--seed", type=int, default=1)
options, sys.argv[1:] = parser.parse_known_args()


class Resume(Jobs):
    def setUp(self):
        super().setUp()
        self.expected = Heat()
        self.placed = blocks(4, 2)
        self.two = [self.node(), self.node()]

    def after_20_steps(self):
        """Sets self.two to the nodes of a run that has ended, and starts their analyzers."""
        self.two = self.ended_run(2, "publish_mpi", SIDE, 20, placed=self.placed)
        self.start_analyzers(self.two)

    def heat(self, iterations, use="resume", placed=None):
        return self.start(self.two, "publish_mpi", SIDE, iterations, placed=placed or self.placed, use=use)

    def newest(self):
        return [max(node.kept(), default=0) for node in self.two]

    def rest(self):
        """Replaces the analyzers; each old one commits the published steps before it ends. Returns the newest step that
        all rings hold."""
        self.end_analyzers(self.two)
        self.assert_heat(self.two, self.placed, self.expected)
        common = set.intersection(*(set(node.kept()) for node in self.two))
        self.start_analyzers(self.two)
        return max(common, default=0)

    def finish(self, begun_after, further=30):
        """Resumes the run and waits for its end. The run must continue after the step `begun_after`; all kept steps of
        both rings must have the right bits."""
        last = begun_after + further
        said = self.ends(self.heat(last), 0)
        self.assertEqual(self.resumed_from(said), begun_after, said)
        self.end_analyzers(self.two)
        self.assert_heat(self.two, self.placed, self.expected, newest=last)

    def begin(self, steps=20):
        """Starts a job, and returns it when it has kept `steps` steps on both nodes; the job continues."""
        job = self.heat(ENDLESS)
        for node in self.two:
            self.assertIsNotNone(node.await_steps(job, steps), job.said())
        return job

    def test_a_run_that_ended_has_nothing_to_do_but_to_say_so_and_is_continued_where_it_ended(self):
        self.after_20_steps()
        code, said = self.heat(20).ended()
        self.assertEqual((code, self.resumed_from(said)), (0, 20), said)
        self.assertIn(f"residual {self.expected[20][1]:.17g} K", said)
        self.finish(20)

    def test_any_rank_a_node_and_mpirun_may_die_and_ctrl_c_leaves_what_was_published(self):
        """The processes die one after another. Each job continues from the newest step in the rings of the previous
        job."""
        self.start_analyzers(self.two)
        begun_after = 0

        def node(job):
            job.kill(2, 3)
            self.two[1].end_analyzer(signal.SIGKILL)

        ways = [*[(f"rank {rank}", lambda job, rank=rank: job.kill(rank)) for rank in range(4)], ("node", node),
                ("mpirun", lambda job: job.process.kill()), ("ctrl-c", lambda job: job.process.send_signal(signal.SIGINT))]
        for name, end in ways:
            job = self.begin()
            end(job)
            self.assertNotEqual(job.ended()[0], 0, name)
            lost = any(node.analyzer is None for node in self.two)
            rest = self.rest()
            if not lost:  # a killed analyzer's journal may lack steps
                self.assertEqual([firsts[-1] for firsts in self.begun()], [begun_after + 1] * 2, name)
            begun_after = rest
        self.finish(begun_after)

    def test_an_analyzer_that_dies_is_replaced_and_the_run_goes_on(self):
        self.start_analyzers(self.two)
        job = self.heat(200)
        for node in self.two:
            self.assertIsNotNone(node.await_steps(job, 20), job.said())
            node.end_analyzer(signal.SIGKILL)
            node.start_analyzer()
        self.ends(job, 0)
        self.assert_heat(self.two, self.placed, self.expected, newest=200)

    def test_an_analyzer_without_a_successor_ends_the_job_and_is_named(self):
        self.start_analyzers(self.two)
        for number in (0, 1):
            with self.subTest(node=number):
                job = self.start(self.two, "publish_mpi", SIDE, ENDLESS, placed=self.placed, use="resume",
                                 RINGSIDE_PEER_TIMEOUT="0.3")
                self.assertIsNotNone(self.two[1].await_steps(job, 20), job.said())
                self.two[number].end_analyzer(signal.SIGKILL)
                said = self.ends(job, PEER_LOST)
                self.assertRegex(said, rf"node {number} \(ranks {2 * number} to {2 * number + 1}\): ")
                self.two[number].start_analyzer()
        self.finish(self.rest())

    def test_a_ring_that_lacks_the_newest_steps_decides_where_the_run_continues(self):
        self.start_analyzers(self.two)
        job = self.begin()
        self.two[1].stop_analyzer()
        behind = max(ringside.open(self.two[1].pool))
        self.two[0].await_iteration(job, behind + 1)
        job.die()
        self.two[1].end_analyzer(signal.SIGKILL)
        begun_after = self.rest()
        newest = self.newest()
        self.assertGreater(newest[0], newest[1])
        self.assertEqual(begun_after, newest[1])
        self.finish(begun_after)

    def test_a_damaged_newest_step_is_passed_over_on_all_nodes(self):
        self.after_20_steps()
        rows = self.two[1].kept()[20]["u"].shape[0]
        self.damage(self.two[1].pool, self.expected[20][0][SIDE - rows:].tobytes())
        self.finish(19)

    def test_other_ranks_may_continue_if_the_nodes_keep_the_same_rows(self):
        self.after_20_steps()
        code, said = self.heat(40, placed=[0, 1]).ended()
        self.assertEqual((code, self.resumed_from(said)), (0, 20), said)
        self.rest()
        self.assert_heat(self.two, [0, 1], self.expected, newest=40)

    def test_ranks_get_back_their_boxes(self):
        self.start_analyzers(self.two)
        for steps in (20, 30):
            said = self.run_job(self.two, "publish_boxes", steps, "cubes", placed=[0, 1] * 4, use="resume")
            self.assertIn("persisted up to 0\n", said, "analyzers that need not wait for the medium")
        for node in self.two:
            kept = node.kept()
            self.assertEqual(max(kept), 30)
            np.testing.assert_array_equal(kept[30]["basis"], 30 + np.arange(3.0))

    def begun(self):
        """For each node, the first iteration of each job in the node's journal, in the order of the jobs."""
        return [[record.fields["iteration"] for record in ringside.open(node.pool).records()
                 if record.kind == "step" and record.fields["step"] == 0 and not record.fields["rebuilt"]]
                if node.pool.exists() else [] for node in self.two]

    def kill(self, victim, number, job, chance):
        """Kills one of the processes that `victim` names, or all of them. Does not start new analyzers."""
        if victim in ("mpirun", "all"):
            job.process.kill()
        ranks = range(len(self.placed))
        if victim != "mpirun":
            of_node = [rank for rank in ranks if self.placed[rank] == number]
            job.kill(*{"rank": [chance.choice(ranks)], "node": of_node, "all": ranks}.get(victim, []))
        for node in {"analyzer": [self.two[number]], "node": [self.two[number]], "all": self.two}.get(victim, []):
            node.end_analyzer(signal.SIGKILL)

    def kill_at_random_instants(self, seed):
        """The run is resumed after each kill, and ends after the last one."""
        self.start_analyzers(self.two)
        chance = random.Random(seed)
        known = None  # the step after which the job began, if no other process ran before
        job = self.heat(ENDLESS)
        for done in range(options.kills):
            victim, number = chance.choice(("rank", "rank", "analyzer", "analyzer", "node", "mpirun", "all")), chance.randrange(2)
            said = f"seed {options.seed}, kill {done}: {victim} {number}"
            if self.two[number].await_steps(job, chance.randint(1, 60)) is None:
                self.fail(f"{said}: the job before has ended: {job.ended()}")
            for _ in range(chance.randrange(50_000)):  # wait for a random instant within a step
                pass
            self.kill(victim, number, job, chance)
            for node in self.two:
                if node.analyzer is None:
                    node.start_analyzer()
                    known = None  # a killed analyzer's journal may lack steps
            if victim == "analyzer":
                continue
            self.assertNotEqual(job.ended()[0], 0, said)
            if chance.random() < 0.5:
                begun_after, known = known, self.rest()
                if begun_after is not None:
                    self.assertEqual([firsts[-1] for firsts in self.begun()], [begun_after + 1] * 2, said)
            else:
                known = None
            job = self.heat(ENDLESS)
        job.die()
        self.finish(self.rest())

    def test_kills_at_random_instants(self):
        self.kill_at_random_instants(options.seed)

    def test_kills_at_random_instants_of_a_rank_on_each_node(self):
        self.placed = [0, 1]
        self.kill_at_random_instants(options.seed + 1000)


run_tests()
