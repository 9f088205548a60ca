# SPDX-License-Identifier: BSD-3-Clause
"""Pools that the Python package reads: views in place, copies, results, live runs, and what is refused."""

import gc
import os
import re
import threading

import pipelines
from made_pool import KEPT, PROGRAM, STEPS, OfAPool

import numpy as np
import ringside


class Steps(OfAPool):
    def test_the_pool_lists_runs_variables_and_steps(self):
        self.assertEqual(self.pool.variables, {"x": ringside.Variable("f64", (1000,), unit="K"),
                                               "n": ringside.Variable("u64", (4,))})
        run, = self.pool.runs
        self.assertEqual((run.solver, run.problem, run.parameters), ("made", "a<b", "c=1"))
        self.assertEqual([step.iteration for step in self.pool.steps], list(range(STEPS - KEPT + 1, STEPS + 1)))
        self.assertEqual(list(self.pool), [step.iteration for step in self.pool.steps])
        self.assertEqual(len(self.pool), KEPT)
        self.assertIn(STEPS, self.pool)
        self.assertNotIn(1, self.pool)
        self.assertEqual({step.run_id for step in self.pool.steps}, {run.run_id})

    def test_a_step_is_found_by_iteration_from_the_end_and_by_commit(self):
        with self.pool[7] as step:
            self.assertEqual(step.iteration, 7)
        with self.pool[-1] as newest, self.pool[-2] as before, self.pool.hold(self.pool.steps[0]) as oldest:
            self.assertEqual([newest.iteration, before.iteration, oldest.iteration],
                             [STEPS, STEPS - 1, STEPS - KEPT + 1])
            self.assertEqual(self.pool.hold(newest.commit_seq).iteration, STEPS)

    def test_a_step_that_is_not_kept_is_a_lookup_error_that_names_those_that_are(self):
        with self.assertRaisesRegex(LookupError, "iteration 3 is not kept; the newest kept are 5, 6, 7, .*, 11, 12"):
            self.pool[3]
        with self.assertRaisesRegex(ringside.NotKeptError, "8 steps are kept"):
            self.pool[-9]
        for commit in (0, 3, 10**9):
            with self.assertRaises(ringside.NotKeptError):
                self.pool.hold(commit)

    def test_a_step_that_only_the_archive_keeps_is_named_there(self):
        self.kept(PROGRAM, "--trigger=iteration == 1: keep", pool="kept.pool")
        path = self.path("kept.pool")
        archive = re.escape(repr(f"{path}.archive"))
        pool = ringside.open(path)
        with self.assertRaisesRegex(LookupError, f"1 is not kept; .*; its archive keeps it: open {archive}"):
            pool[1]
        with self.assertRaisesRegex(LookupError, "2 is not kept; the newest kept are .*12$"):
            pool[2]

    def test_a_view_is_read_only_verified_and_not_a_copy(self):
        with self.pool[7] as step:
            x = step["x"]
            np.testing.assert_array_equal(x, 7 + np.arange(1000.0))
            self.assertFalse(x.flags.writeable)
            self.assertFalse(x.flags.owndata)
            self.assertTrue(np.shares_memory(x, step.view("x")))
            self.assertEqual(bytes(memoryview(x)), x.tobytes())
            with self.assertRaises(ValueError):
                x[0] = 1
            step.check()
            step.verify()
            with self.assertRaisesRegex(ValueError, "'y' is no variable of .*; expected one of x, n"):
                step["y"]

    def test_after_the_release_the_step_gives_no_array_and_the_old_ones_can_still_be_loaded(self):
        step = self.pool[7]
        x = step["x"]
        step.release()
        step.release()
        self.assertFalse(step.held)
        for call in (lambda: step["x"], step.check, step.verify):
            with self.assertRaisesRegex(ringside.UsageError, "iteration 7: the step was released; hold it again"):
                call()
        del step
        self.pool = None
        gc.collect()
        self.assertEqual(x[0], 7)

    def test_an_array_keeps_its_step_held(self):
        x = self.pool[7]["x"][:10]
        gc.collect()
        self.assertTrue(x.base.base.owner.held)

    def test_a_copy_is_verified_and_writeable(self):
        x = self.pool.read(9, "x")
        x[0] = 0
        np.testing.assert_array_equal(x[1:], 9 + np.arange(1.0, 1000.0))
        self.assertEqual(self.pool.read(-1, "n").tolist(), [2**64 - STEPS] * 4)

    def test_results_are_named_and_sums_of_integers_are_exact(self):
        with self.pool[9] as step:
            results, x = step.results, step["x"]
            self.assertEqual(results["n.sum"], 4 * (2**64 - 9))
            self.assertEqual(results["x.max"], x.max())
            self.assertAlmostEqual(results["x.l2"], np.linalg.norm(x))
            self.assertEqual(results["x.change_linf"], 1.0)
            self.assertEqual(results["solver.residual"], 1e-9)
            self.assertEqual(results["x.histogram"].sum(), 1000)

    def test_several_threads_may_use_one_pool(self):
        wrong = []

        def read(iteration):
            for _ in range(20):
                with self.pool[iteration] as step:
                    if step["x"][0] != iteration or self.pool.read(iteration, "x")[0] != iteration:
                        wrong.append(iteration)

        threads = [threading.Thread(target=read, args=(k,)) for k in (6, 8, 10, 12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_child_of_fork_cannot_use_pool_or_step(self):
        with self.pool[7] as step:
            for call in (lambda: step["x"], lambda: self.pool.steps, step.release):
                reading, writing = os.pipe()
                child = os.fork()
                if child == 0:
                    try:
                        call()
                        line = "no error"
                    except ringside.UsageError as error:
                        line = str(error)
                    os.write(writing, line.encode())
                    os._exit(0)
                os.waitpid(child, 0)
                self.assertRegex(os.read(reading, 4096).decode(), r"this handle belongs to process \d+; its child \d+ ")
                os.close(reading)
                os.close(writing)


class Live(pipelines.Pipelines):
    def test_a_follower_gets_the_steps_as_they_are_committed_and_ends_when_none_comes(self):
        output = self.kept("""
            import numpy as np, ringside
            with ringside.publish({"x": ("f64", (1000,))}) as run:
                run.publish(1, {"x": np.full(1000, 1.0)})
                followed = []
                for step in (pool := ringside.open("run.pool")).follow(timeout=5):
                    followed.append((step.iteration, step["x"].min(), step["x"].max()))
                    if step.iteration == 20:
                        break
                    run.publish(step.iteration + 1, {"x": np.full(1000, step.iteration + 1.0)})
                assert followed == [(k, k, k) for k in range(1, 21)], followed
                print([step.iteration for step in pool.follow(after=pool.steps[-3], timeout=0)])
            """)
        self.assertEqual(output, "[19, 20]\n")

    def test_a_broken_lease_is_an_error_at_the_check_and_at_the_end_of_the_block(self):
        output = self.kept("""
            import ringside
            def publish(iterations):
                for k in iterations:
                    run.publish(k, {"x": [float(k)] * 4})
                while not pool.steps or pool.steps[-1].iteration != run.next_iteration - 1:
                    pass                             # until it is committed
            with ringside.publish({"x": ("f64", (4,))}) as run:
                run.publish(1, {"x": [1.0] * 4})
                pool = ringside.open("run.pool")     # of three slots: no lease is respected
                publish([2])
                try:
                    with pool[2] as step:
                        x = step["x"]
                        step.check()
                        publish(range(3, 9))
                        for call in (step.check, step.verify, lambda: step["x"]):
                            try:
                                call()
                            except ringside.OverwrittenError as error:
                                print(error)
                except ringside.OverwrittenError as error:
                    print(error.status, error)
                try:
                    with pool[8] as step:
                        publish(range(9, 15))
                        raise LookupError("mine")
                except LookupError as error:
                    print(error)
            """, "--slots=3")
        lines = output.splitlines()
        self.assertEqual(len(lines), 5, output)
        for line in lines[:3]:
            self.assertTrue(line.startswith("iteration 2 is no longer held: the analyzer needed its slot"), line)
        self.assertTrue(lines[3].startswith("-3 iteration 2 is no longer held"), lines[3])
        self.assertEqual(lines[4], "mine")

    def test_a_follower_ends_with_the_run_unless_it_follows_all_runs(self):
        self.kept(PROGRAM)
        pool = ringside.open(self.path("run.pool"))
        self.assertEqual([step.iteration for step in pool.follow()], list(pool))  # would wait for the next run
        newest = pool.steps[-1]
        second = threading.Thread(target=self.kept, args=(PROGRAM, "--overwrite"))
        second.start()
        self.assertNotEqual(next(pool.follow(after=newest, all_runs=True)).info.run_id, newest.run_id)
        second.join()

    def test_an_open_can_wait_for_the_pool(self):
        making = threading.Timer(0, self.kept, (PROGRAM,))
        making.start()
        pool = ringside.open(self.path("run.pool"), wait=60)
        self.assertEqual([step.iteration for step in pool.follow()][-1], STEPS)
        making.join()

    def test_ctrl_c_ends_the_wait_for_a_pool(self):
        code, output, error = self.python("""
            import os, signal, threading, ringside
            try:
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
                ringside.open("no.pool", wait=3600)
            except KeyboardInterrupt as error:
                print(type(error).__name__)
            """)
        self.assertEqual((code, output), (0, "KeyboardInterrupt\n"), error)

    def test_ctrl_c_ends_a_loop_that_follows(self):
        self.kept(PROGRAM)
        code, output, error = self.python("""
            import signal, ringside
            try:
                for step in ringside.open("run.pool").follow(all_runs=True):
                    if step.iteration == 12:         # the newest: the next look waits
                        signal.signal(signal.SIGALRM, signal.default_int_handler)
                        signal.setitimer(signal.ITIMER_REAL, 0.01)
            except KeyboardInterrupt:
                print("interrupted")
            """)
        self.assertEqual((code, output), (0, "interrupted\n"), error)


class Refusals(pipelines.Pipelines):
    def test_a_path_that_is_no_pool_is_refused(self):
        for kind in (FileNotFoundError, ringside.NoFileError, ringside.UsageError):
            with self.assertRaisesRegex(kind, "No such file or directory"):
                ringside.open(self.folder / "nothing.pool")
        (self.folder / "text").write_text("text" * 10000, encoding="utf-8")
        with self.assertRaises(ringside.UsageError) as raised:
            ringside.open(self.folder / "text")
        self.assertNotIsInstance(raised.exception, FileNotFoundError)
        with self.assertRaisesRegex(ringside.UsageError, "wait_s: found -1"):
            ringside.open(self.folder / "text", wait=-1)

    def test_a_pool_that_may_not_be_read_is_an_error_of_the_system(self):
        self.kept(PROGRAM)
        become = ""
        if os.geteuid() == 0:  # root may read every file
            os.chmod(self.folder, 0o755)
            become = "import os; os.setuid(65534)\n"
        os.chmod(self.path("run.pool"), 0)
        program = ("import ringside\n" + become +
                   "try:\n"
                   "    ringside.open('run.pool')\n"
                   "except ringside.ResourceError as error:\n"
                   "    print(error.status, error)\n")
        code, output, error = self.python(program)
        self.assertEqual(code, 0, error)
        self.assertTrue(output.startswith("3 "), output)
        self.assertIn("Permission denied", output)

    def test_damage_is_found_by_view_copy_and_verify_and_names_the_iteration(self):
        self.kept(PROGRAM)
        content = bytearray((self.folder / "run.pool").read_bytes())
        place = content.find((7 + np.arange(1000.0)).tobytes())
        self.assertGreater(place, 0)
        content[place + 5] ^= 4
        (self.folder / "run.pool").write_bytes(content)
        pool = ringside.open(self.path("run.pool"))
        with pool[7] as step:
            for call in (lambda: step["x"], step.verify, lambda: pool.read(7, "x")):
                with self.assertRaisesRegex(ringside.DamagedError, "iteration 7 is damaged"):
                    call()
            self.assertEqual(step["n"].tolist(), [2**64 - 7] * 4)
            self.assertNotEqual(step.view("x").tobytes(), (7 + np.arange(1000.0)).tobytes())

    def test_a_pool_without_a_step_has_none(self):
        self.kept("""
            import ringside
            with ringside.publish({"x": ("f64", (4,))}) as run:
                pool = ringside.open("run.pool")
                assert not pool.steps and len(pool) == 0 and list(pool.follow(timeout=0)) == []
                assert len(pool.table()) == 0 and "<table>" in pool._repr_html_()
                for call in (lambda: pool[-1], lambda: pool[1], lambda: pool.read(1, "x")):
                    try:
                        call()
                        raise AssertionError("found a step")
                    except ringside.NotKeptError as error:
                        assert error.status == 2
                run.publish(1, {"x": [1.0] * 4})
            """)


if __name__ == "__main__":
    pipelines.run_tests()
