# SPDX-License-Identifier: BSD-3-Clause
"""The archive beside a pool, to which triggers copy steps (docs/use/questions.md)."""

from runs import Place, main

EVERY_SEVENTH = "--trigger=iteration % 7 == 0: keep"


class Archive(Place):
    def test_it_holds_the_steps_with_their_results_bit_by_bit(self):
        run = self.publish_without_loss(EVERY_SEVENTH)
        self.assertEqual(run.summary["archive"], {"kept": 8, "lost": 0})
        self.assertEqual(self.kept("x.pool.archive"), [7, 14, 21, 28, 35, 42, 49, 56])
        self.call("ringside", "verify", "x.pool.archive")
        self.call("ringside", "replay", "x.pool.archive")  # fails if a result differs
        for iteration in (7, 56):
            self.assert_exported(iteration, "x.pool.archive")
        self.assert_exported(7)  # export finds iteration 7

    def publish_without_loss(self, *options):
        """A ring can wait for the copy of some steps only. On a busy machine, a run may therefore lose a step of the
        archive; then the run is repeated."""
        for _ in range(5):
            run = self.publish(*options, "--overwrite")
            if run.summary["archive"]["lost"] == 0:
                break
        return run

    def test_when_it_is_full_the_newest_step_replaces_the_oldest(self):
        self.publish_without_loss("--trigger=iteration % 12 == 0: keep", "--slots=4")
        self.assertEqual(self.kept("x.pool.archive"), [24, 36, 48, 60])

    def test_export_of_all_steps_has_those_of_the_archive_too(self):
        self.publish_without_loss(EVERY_SEVENTH)
        said = self.call("ringside", "export", "x.pool", "--all", "--output=x.zarr")
        self.assertIn("15 steps, iterations 7 to 60", said.stdout + said.stderr)  # 56 is in the ring and in the archive

    def test_a_resumed_run_continues_it(self):
        self.publish(EVERY_SEVENTH, "--trigger=iteration == 30: stop", expected=130)
        self.publish(EVERY_SEVENTH, "--resume")
        self.assertEqual(self.kept("x.pool.archive"), [7, 14, 21, 28, 35, 42, 49, 56])

    def test_the_successor_of_a_killed_analyzer_continues_it(self):
        self.publish(EVERY_SEVENTH, kill=30)
        kept = self.kept("x.pool.archive")
        # Steps that the killed analyzer was about to copy may be missing.
        self.assertTrue({35, 42, 49, 56} <= set(kept) <= {7, 14, 21, 28, 35, 42, 49, 56}, kept)

    def test_overwrite_discards_it_and_otherwise_anothers_is_refused(self):
        self.publish(EVERY_SEVENTH)
        self.publish("--trigger=iteration == 50: keep", "--overwrite")
        self.assertEqual(self.kept("x.pool.archive"), [50])
        (self.folder / "x.pool").unlink()
        refused = self.publish(EVERY_SEVENTH, "--journal=off", expected=2)
        self.assertIn("x.pool.archive: the pool holds 1 iterates of another run", refused.output + refused.said)

    def test_a_run_without_keep_leaves_it_alone(self):
        self.publish(EVERY_SEVENTH)
        (self.folder / "x.pool").unlink()
        self.publish("--journal=off")
        self.assertEqual(self.kept("x.pool.archive")[0], 7)

    def test_its_size_is_bounded(self):
        self.publish("--trigger=iteration > 0 && iteration % 2 == 0: keep", "--archive-size=40M")
        size = (self.folder / "x.pool.archive").stat().st_size
        self.assertLessEqual(size, 40 << 20)
        self.assertGreater(size, 32 << 20)
        self.assertGreaterEqual(len(self.kept("x.pool.archive")), 8)

    def test_a_size_without_room_for_three_steps_is_refused(self):
        refused = self.publish(EVERY_SEVENTH, "--archive-size=1M", expected=2)
        self.assertIn("--archive-size: found 1048576 bytes, expected room for at least 3 steps:", refused.output + refused.said)

    def test_a_wrong_size_costs_the_pool_no_step(self):
        self.publish()
        before = self.kept()
        self.publish(EVERY_SEVENTH, "--archive-size=1M", "--overwrite", expected=2)
        self.assertEqual(self.kept(), before)

    def test_export_takes_no_step_of_a_run_that_the_pool_has_discarded(self):
        self.publish(EVERY_SEVENTH)
        self.publish("--overwrite", steps=20)
        refused = self.call("ringside", "export", "x.pool", "--iteration", 56, "--output=x.npy", expected=2)
        self.assertIn("56 is not kept in x.pool", refused.stderr)
        self.assertIn("the pool's archive keeps iteration 56 of another run: give x.pool.archive as the pool", refused.stderr)
        self.assertIn("8 steps, iterations 13 to 20", self.call("ringside", "export", "x.pool", "--all", "--output=x.h5").stdout)

    def test_an_error_about_a_step_that_only_the_archive_keeps_says_so(self):
        self.publish(EVERY_SEVENTH)
        refused = self.call("ringside", "replay", "x.pool", "--from=14", "--to=14", expected=2)
        self.assertIn("the pool's archive keeps iteration 14: give x.pool.archive as the pool", refused.stderr)
        refused = self.call("ringside", "replay", "x.pool", "--to=30", expected=2)
        self.assertIn("the pool's archive keeps 4 of them, iterations 7 to 28: give x.pool.archive", refused.stderr)
        refused = self.call("ringside", "replay", "x.pool", "--from=15", "--to=15", expected=2)
        self.assertNotIn("archive", refused.stderr)

    def test_a_damaged_archive_costs_the_pool_no_export(self):
        self.publish(EVERY_SEVENTH)
        size = (self.folder / "x.pool.archive").stat().st_size
        (self.folder / "x.pool.archive").write_bytes(bytes(size))
        self.assertEqual(self.call("ringside", "export", "x.pool", "--output=x.npy").stderr, "")
        self.assertIn("note: the archive is left out:", self.call("ringside", "export", "x.pool", "--all", "--output=x.h5").stderr)

    def test_what_cannot_be_copied_in_time_is_counted_and_marked(self):
        run = self.publish("--trigger=iteration % 2 == 0: keep", "--slots=3", steps=400)
        archive = run.summary["archive"]
        self.assertEqual(archive["kept"] + archive["lost"], 200)
        lost = sum(int(text.split()[0]) for text in self.mark_texts() if "could not be copied" in text)
        self.assertEqual(lost, archive["lost"])
        self.assertEqual(self.kept()[-1], 400)


if __name__ == "__main__":
    main()
