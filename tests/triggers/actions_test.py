# SPDX-License-Identifier: BSD-3-Clause
"""Which triggers fire in a real run, what they mark, stop and answer, and what is refused (docs/use/questions.md)."""

from runs import Place, main


class Marks(Place):
    def test_a_mark_is_in_the_journal_with_its_step_and_its_actions(self):
        run = self.publish("--trigger=solver.k > 10 && x.max < 21: mark:middle", "--trigger=iteration % 25 == 0: mark")
        self.assertEqual(self.marks(), [("trigger", "middle", 11, ("mark",)), ("trigger", "iteration % 25 == 0", 25, ("mark",)),
                                        ("trigger", "iteration % 25 == 0", 50, ("mark",))])
        self.assertEqual([(one["name"], one["fired"], one["first_iteration"], one["last_iteration"]) for one in run.summary["triggers"]],
                         [("non_finite", 0, None, None), ("middle", 1, 11, 11), ("iteration % 25 == 0", 2, 25, 50)])
        every = {"cause": "trigger", "name": "iteration % 25 == 0", "records": 2, "first_iteration": 25, "last_iteration": 50}
        once = {"cause": "trigger", "name": "middle", "records": 1, "first_iteration": 11, "last_iteration": 11}
        self.assertEqual(self.info()["journal"]["marks"], [every, once])
        text = self.call("ringside", "info", "x.pool").stdout
        self.assertIn("iteration 11 marked by trigger 'middle'\n", text)
        self.assertIn("2 iterations, 25 to 50, marked by trigger 'iteration % 25 == 0'\n", text)

    def test_the_same_triggers_fire_by_messages_and_on_the_way_to_the_slot(self):
        seen = set()
        for more in ((), ("--coordination=messages",), ("--reduce=transfer",), ("--buffers=4", "--durability=power")):
            with self.subTest(more):
                self.publish("--trigger=x.mean > 2 * prev(x.mean) - 5: mark:slow", "--overwrite", *more)
                seen.add(tuple(self.marks()[-1:]))
        self.assertEqual(len(seen), 1, seen)

    def test_a_condition_without_a_value_is_marked_once(self):
        self.publish("--trigger=1 / (solver.k - 20) > 0: mark:after")
        self.assertEqual(self.marks(), [("undefined", "after", 20, ()), ("trigger", "after", 21, ("mark",))])

    def test_a_settings_file_has_an_array_or_a_table(self):
        for name, text in (("array", "trigger = ['iteration == 5: mark:five', \"iteration == 7: mark\"]\n"),
                           ("table", "slots = 4\n[trigger]\nfive = \"iteration == 5: mark\"\nseven = 'iteration == 7: keep'\n")):
            (self.folder / "run.toml").write_text(text, encoding="utf-8")
            with self.subTest(name):
                self.publish("--config=run.toml", pool=f"{name}.pool", steps=10)
                names = [mark[1] for mark in self.marks(f"{name}.pool")]
                self.assertEqual(names, {"array": ["five", "iteration == 7"], "table": ["five", "seven"]}[name])


class Stops(Place):
    def assert_taken(self, run):
        """All published steps must be kept, except a step that was being written when the run was stopped."""
        self.assertIn(run.published - run.summary["steps_committed"], (0, 1))
        self.assertEqual(self.kept()[-1], run.summary["steps_committed"])

    def test_the_run_ends_within_two_steps_and_what_was_published_is_kept(self):
        run = self.publish("--trigger=iteration == 30: stop", steps=100_000, expected=130)
        self.assertLessEqual(run.published, 32)
        self.assert_taken(run)
        self.assertIn("the trigger 'iteration == 30', which fired at iteration 30, stopped the run", run.said)

    def test_it_ends_by_messages_with_more_buffers_and_where_a_loss_is_not_waited_for(self):
        for more in ("--coordination=messages", "--buffers=4", "--on-analyzer-loss=continue"):
            with self.subTest(more):
                run = self.publish("--trigger=iteration == 30: stop", "--overwrite", more, steps=100_000, expected=130)
                self.assertLessEqual(run.published, 30 + (4 if "4" in more else 2))
                self.assert_taken(run)

    def test_the_successor_of_a_killed_analyzer_ends_it(self):
        for kill in (31, 32, 33, 34, 34, 34):
            with self.subTest(kill=kill):
                run = self.publish("--trigger=iteration == 30: stop", "--buffers=4", "--durability=power", "--overwrite", kill=kill,
                                   steps=100_000, expected=130)
                self.assertLessEqual(run.published, 34)
                self.assert_taken(run)

    def test_a_resumed_run_goes_on_from_there(self):
        stopped = self.publish("--trigger=iteration == 30: stop", steps=60, expected=130)
        self.publish("--resume", steps=60)
        self.assertEqual(self.kept()[-1], 60)
        self.assertEqual(self.info()["runs"][0]["run_id"], stopped.summary["run_id"])


class Replies(Place):
    def test_the_solver_reads_the_last_reply_at_a_claim(self):
        run = self.publish("--trigger=iteration == 20: reply:0.5", "--trigger=iteration == 40: reply:-2, mark:second")
        self.assertEqual([reply[:2] for reply in run.replies], [(0.5, 1), (-2.0, 2)])
        # There are two buffers, so that the claim of step s follows the release of step s - 2.
        self.assertTrue(21 <= run.replies[0][2] <= 23 and 41 <= run.replies[1][2] <= 43, run.replies)

    def test_without_a_trigger_there_is_none(self):
        self.assertEqual(self.publish().replies, [])


class Refusals(Place):
    def test_a_name_that_the_run_lacks_lists_those_that_there_are(self):
        for text, why in (("x.l3 > 1: stop", "the run has nothing named 'x.l3'; expected one of x.sum, "),
                          ("x.histogram > 1: stop", "'x.histogram' has 256 numbers"),
                          ("x.l2: stop", "is a number, not a condition"),
                          ("x.l2 > : stop", "cannot be read")):
            with self.subTest(text):
                run = self.publish(f"--trigger={text}", expected=2)
                self.assertIn(why, run.output + run.said)
                self.assertEqual(list(self.folder.glob("*.pool*")), [])

    def test_the_baseline_has_no_triggers(self):
        said = self.call("ringside", "run", "--mode=dram", "--matrix=grid:10", "--trigger=iteration > 1: stop", expected=2).stderr
        self.assertIn("--trigger: found with --mode dram", said)


if __name__ == "__main__":
    main()
