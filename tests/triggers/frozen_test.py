# SPDX-License-Identifier: BSD-3-Clause
"""A ring that a trigger freezes, and the last finite step, which steps with NaN must not overwrite
(docs/use/questions.md)."""

import os

from runs import Place, main


class LastFinite(Place):
    def test_nan_does_not_overwrite_it(self):
        for slots in (3, 4, 8):
            for durability in ("process", "power"):
                with self.subTest(slots=slots, durability=durability):
                    pool = f"{slots}{durability}.pool"
                    self.publish(f"--slots={slots}", f"--durability={durability}", nan=(20, 60), pool=pool)
                    self.assertIn(19, self.kept(pool))
                    self.assertEqual(self.kept(pool)[-1], 60)
                    self.assertEqual(self.marks(pool), [("non_finite", "non_finite", 20, ("mark",))])
                    self.assertIn("the last finite step, iteration 19, is not overwritten", self.mark_texts(pool)[0])
                    self.assert_exported(19, pool)

    def test_it_may_go_once_a_later_step_is_finite(self):
        self.publish("--slots=4", nan=(20, 30))
        self.assertEqual(self.kept(), [57, 58, 59, 60])

    def test_keep_going_overwrites_it(self):
        self.publish("--slots=4", "--on-non-finite=keep-going", nan=(20, 60))
        self.assertEqual(self.kept(), [57, 58, 59, 60])
        self.assertEqual(self.marks(), [])

    def test_the_successor_of_a_killed_analyzer_keeps_it_as_well(self):
        run = self.publish("--slots=4", nan=(20, 60), kill=30)
        self.assertEqual(run.summary["analyzer_restarts"], 1)
        self.assertIn(19, self.kept())
        self.assert_exported(19)

    def test_a_run_that_is_resumed_keeps_it_as_well(self):
        self.publish("--slots=4", "--trigger=iteration == 30: stop", nan=(20, 60), expected=130)
        self.publish("--slots=4", "--resume", nan=(20, 60))
        self.assertEqual(self.kept()[-1], 60)
        self.assert_exported(19)


class Frozen(Place):
    def test_the_steps_before_the_first_nan_stay_and_the_run_stops(self):
        run = self.publish("--on-non-finite=freeze,stop", nan=(40, 10_000), steps=10_000, expected=130)
        self.assertEqual(self.kept(), [33, 34, 35, 36, 37, 38, 39, 40])
        self.assertLessEqual(run.published, 42)
        self.assertEqual(self.info()["frozen"]["iteration"], 40)
        self.assertEqual(run.summary["frozen_at_iteration"], 40)
        self.assertEqual(run.summary["steps_committed"], 40)
        self.assertEqual(run.summary["steps_not_kept"], run.published - 40)
        self.assertEqual(self.marks(), [("non_finite", "non_finite", 40, ("freeze", "stop"))])
        for iteration in range(33, 40):
            self.assert_exported(iteration)
        self.assertIn("\n", self.call("ringside", "verify", "x.pool").stdout)

    def test_without_stop_the_solver_goes_on_and_nothing_is_overwritten(self):
        run = self.publish("--trigger=iteration == 40: freeze", steps=500)
        self.assertEqual(run.published, 500)
        self.assertEqual(self.kept()[-1], 40)
        self.assertEqual((run.summary["steps_committed"], run.summary["steps_not_kept"]), (40, 460))

    def test_scalars_and_iterations_still_fire_afterwards(self):
        run = self.publish("--trigger=iteration == 40: freeze", "--trigger=solver.k == 50: stop", "--trigger=x.l2 > 0 && iteration > 41: mark",
                           steps=100_000, expected=130)
        self.assertLessEqual(run.published, 52)
        self.assertEqual([mark[1:3] for mark in self.marks()], [("iteration == 40", 40), ("solver.k == 50", 50)])

    def test_resume_is_refused_until_the_pool_is_thawed(self):
        self.publish("--trigger=iteration == 40: freeze, stop", expected=130)
        refused = self.publish("--resume", expected=2)
        self.assertIn("the ring has been frozen since iteration 40 (trigger 'iteration == 40'), so no step in it is overwritten",
                      refused.output + refused.said)
        self.assertIn("was frozen since iteration 40 (trigger 'iteration == 40')", self.call("ringside", "thaw", "x.pool").stdout)
        self.assertEqual(self.call("ringside", "thaw", "x.pool").stdout, "x.pool: is not frozen\n")
        self.publish("--resume")
        self.assertEqual(self.kept()[-1], 60)
        self.assertIsNone(self.info()["frozen"])

    def test_overwrite_discards_the_freeze_with_the_steps(self):
        self.publish("--trigger=iteration == 40: freeze")
        self.publish("--overwrite")
        self.assertEqual(self.kept()[-1], 60)
        self.assertFalse((self.folder / "x.pool.freeze").exists())

    def test_the_freeze_of_a_pool_that_is_gone_does_not_count(self):
        self.publish("--trigger=iteration == 40: freeze")
        (self.folder / "x.pool").unlink()
        self.publish("--journal=off")
        self.assertEqual(self.kept()[-1], 60)

    def test_a_freeze_that_cannot_be_read_is_not_taken_for_none(self):
        self.publish("--trigger=iteration == 40: freeze, stop", expected=130)
        (self.folder / "x.pool.freeze").write_text("{}", encoding="utf-8")
        refused = self.publish("--resume", expected=5)
        self.assertIn("x.pool.freeze: cannot be understood", refused.output + refused.said)
        self.call("ringside", "thaw", "x.pool")
        self.publish("--resume")

    def test_a_killed_analyzers_trigger_is_not_lost(self):
        for kill in (41, 42, 43) * 3 + (50,):  # the kill comes before, during or after the evaluation of the trigger
            with self.subTest(kill=kill):
                run = self.publish("--trigger=iteration == 40: freeze", "--overwrite", kill=kill, steps=80)
                self.assertEqual(run.summary["analyzer_restarts"] if kill == 50 else 1, 1)
                self.assertEqual(self.info()["frozen"]["iteration"], 40)
                self.assertEqual(self.kept(), [33, 34, 35, 36, 37, 38, 39, 40])
                self.assertEqual((run.summary["steps_committed"], run.summary["steps_not_kept"]), (40, 40))

    def test_every_name_of_the_pool_is_frozen(self):
        (self.folder / "other").mkdir()
        (self.folder / "link.pool").symlink_to("other/x.pool")
        self.publish("--trigger=iteration == 40: freeze, stop", pool="other/x.pool", expected=130)
        refused = self.publish("--resume", pool="link.pool", expected=2)
        self.assertIn("the ring has been frozen since iteration 40", refused.output + refused.said)

    def test_a_reader_may_hold_each_step(self):
        self.publish("--trigger=iteration == 40: freeze, stop", expected=130)
        held = self.call("ringside", "export", "x.pool", "--all", "--output=x.h5").stdout
        self.assertIn("8 steps, iterations 33 to 40", held)

    def test_a_freeze_file_that_is_in_the_way_is_told_at_the_beginning(self):
        (self.folder / "x.pool.freeze").mkdir()
        refused = self.publish("--trigger=iteration == 40: freeze", expected=3)
        self.assertIn("x.pool.freeze: cannot be deleted", refused.output + refused.said)

    def test_thaw_refuses_what_is_no_pool(self):
        self.assertIn("there is no such file, expected a pool", self.call("ringside", "thaw", "none.pool", expected=2).stderr)

    def test_wipe_removes_it_and_the_archive(self):
        self.publish("--trigger=iteration == 40: freeze, keep")
        said = self.call("ringside", "wipe", "--yes", "x.pool").stdout
        self.assertIn("x.pool.archive:", said)
        self.assertEqual(sorted(os.listdir(self.folder)), ["summary.json"])


if __name__ == "__main__":
    main()
