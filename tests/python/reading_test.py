# SPDX-License-Identifier: BSD-3-Clause
"""Reading pools with the Python package: views in place, copies, results, live runs, and what is refused."""

import collections.abc
import gc
import multiprocessing
import os
import pickle
import re
import shutil
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

    def test_iterations_from_the_newest_and_arrays_of_several_steps(self):
        self.assertEqual(list(reversed(self.pool)), list(self.pool)[::-1])
        with self.assertRaisesRegex(ringside.UsageError, r"array: found one step, 7; expected a slice or a list: \[7\]"):
            self.pool.array("x", 7)

    def test_a_step_that_is_not_kept_is_a_lookup_error_that_names_those_that_are(self):
        with self.assertRaisesRegex(LookupError, "iteration 3 is not kept; the newest kept are 5, 6, 7, .*, 11, 12"):
            self.pool[3]
        with self.assertRaisesRegex(ringside.NotKeptError, "8 steps are kept"):
            self.pool[-9]
        for commit in (0, 3, 10**9):
            with self.assertRaises(ringside.NotKeptError):
                self.pool.hold(commit)

    def test_a_step_that_only_the_archive_keeps_is_named_there(self):
        self.kept(pipelines.publishing('{"x": ("f64", (10,))}', """
            import contextlib
            run.publish(1, {"x": [1.0] * 10})
            archived = []
            while not archived:  # until then, a slot is kept for it
                with contextlib.suppress(ringside.Error):
                    archived = list(ringside.open("kept.pool.archive"))
            for k in range(2, 13):
                run.publish(k, {"x": [float(k)] * 10})
            """), "--trigger=iteration == 1: keep", pool="kept.pool")
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
        x = step.view("x")
        self.assertEqual(step["x"][0], 7)
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

    def test_an_array_in_place_keeps_its_step_held_also_when_its_block_has_ended(self):
        with self.pool[7] as step:
            x = step["x"][:10]
        gc.collect()
        self.assertFalse(step.held)
        with self.assertRaisesRegex(ringside.UsageError, "iteration 7: the step was released; hold it again"):
            step["x"]
        self.assertTrue(x.base.base.owner.held)
        self.assertTrue(self.pool[7].view("x")[:10].base.base.owner.held)
        with self.pool[7] as step:
            x = step.view("x")
            self.assertIs(step["x"], x)  # the same array object, which was not verified before
            self.assertIs(step.view("x"), x)
        self.assertTrue(x.base.owner.held)

    def test_a_step_without_a_block_gives_copies(self):
        step = self.pool[7]
        x = step["x"]
        self.assertIs(step["x"], x)
        self.assertFalse(np.shares_memory(x, step.view("x")))
        self.assertFalse(x.flags.writeable)
        np.testing.assert_array_equal(self.pool[7]["x"], 7 + np.arange(1000.0))
        with step:
            self.assertTrue(np.shares_memory(step["x"], step.view("x")))

    def test_a_step_is_a_mapping(self):
        with self.pool[7] as step:
            self.assertIsInstance(step, collections.abc.Mapping)
            self.assertEqual((list(step), list(step.keys()), len(step)), (["x", "n"], ["x", "n"], 2))
            self.assertEqual({name: array.shape for name, array in step.items()}, {"x": (1000,), "n": (4,)})
            self.assertTrue("x" in step and "y" not in step and 3 not in step)
            self.assertIsNone(step.get("y"))
            self.assertEqual(step.get("n").tolist(), [2**64 - 7] * 4)
            self.assertEqual(step, step)
            self.assertNotEqual(step, self.pool[7])
            self.assertIn(step, {step})
            with self.assertRaisesRegex(ringside.UsageError, r"iteration 7 has 2 variables; expected one of them: step\['x'\]"):
                np.asarray(step)
            self.assertEqual(step._ipython_key_completions_(), ["x", "n"])
        self.assertEqual(self.pool._ipython_key_completions_(), list(self.pool))

    def test_a_name_that_is_spelt_wrongly_is_a_key_error_that_says_what_was_meant(self):
        step = self.pool[7]
        for call, line in ((lambda: step["X"], "'X' is no variable of iteration 7; expected one of x, n"),
                           (lambda: self.pool.read(7, "y"), f"'y' is no variable of {self.pool_path}; expected one of x, n"),
                           (lambda: self.pool.variables["nn"],
                            f"'nn' is no variable of {self.pool_path}; did you mean 'n'? expected one of x, n")):
            with self.assertRaises(ringside.UnknownNameError) as raised:
                call()
            self.assertEqual(str(raised.exception), line)
        for kind in (KeyError, ValueError, ringside.UsageError):
            with self.assertRaisesRegex(kind, "'x.l3' is no result of iteration 7; did you mean 'x.l[12]'[?] expected one of .* more$"):
                step.results["x.l3"]
            with self.assertRaisesRegex(kind, "'solver.residul' is no column of .*; did you mean 'solver.residual'[?]"):
                self.pool.columns()["solver.residul"]

    def test_a_closed_pool_refuses_calls_in_one_line_and_leaves_what_was_given(self):
        with ringside.open(self.pool_path) as pool:
            step = pool[7]
            x = step.view("x")
            self.assertFalse(pool.closed)
        self.assertTrue(pool.closed)
        pool.close()
        self.assertEqual(x[0], 7)
        self.assertEqual(pool.variables["x"].unit, "K")
        self.assertRegex(repr(pool), "run.pool: x, n; closed>")
        self.assertIsNone(pool._repr_html_())
        for call in (lambda: pool[7], lambda: len(pool), pool.table, lambda: list(pool.follow()), lambda: pickle.dumps(pool)):
            with self.assertRaisesRegex(ringside.UsageError, f"^{self.pool_path}: the pool was closed; open it again$"):
                call()

    def test_a_pool_is_pickled_by_its_path_and_a_step_is_not(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(os.path.dirname(self.pool_path))
        pickled = pickle.dumps(ringside.open("run.pool"))
        os.chdir("/")
        self.assertEqual(pickle.loads(pickled).read(7, "x")[0], 7)
        self.assertEqual(pickle.loads(pickle.dumps(self.pool.columns()))["iteration"][0], 1)
        with self.assertRaisesRegex(ringside.UsageError, "iteration 7: a step cannot be pickled"):
            pickle.dumps(self.pool[7])

    def test_workers_that_are_forked_or_spawned_read_the_pool(self):
        for way in ("fork", "spawn"):
            with self.subTest(way), multiprocessing.get_context(way).Pool(2) as workers:
                self.assertEqual(workers.starmap(_first, [(self.pool, k) for k in self.pool]), [float(k) for k in self.pool])

    def test_an_import_brings_no_module_that_few_programs_need(self):
        few = {"asyncio", "xarray", "scipy", "IPython", "multiprocessing"}
        self.assertEqual(self.printed(f"import sys, ringside; print({few} & set(sys.modules))"), "set()\n")

    def test_star_import_leaves_pythons_open(self):
        self.assertEqual(self.python("from ringside import *\nprint(open is __builtins__.open, Pool.__name__)")[1], "True Pool\n")

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

    def test_a_child_of_fork_reads_the_pool_but_not_what_its_parent_holds(self):
        def in_child(call):
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    line = str(call())
                except ringside.UsageError as error:
                    line = str(error)
                os.write(writing, line.encode())
                os._exit(0)
            os.waitpid(child, 0)
            os.close(writing)
            with os.fdopen(reading) as pipe:
                return pipe.read()

        held = self.pool[8]
        with self.pool[7] as step:
            for call in (lambda: step["x"], lambda: held["x"], step.release):
                self.assertRegex(in_child(call), r"this handle belongs to process \d+; its child \d+ ")
            self.assertEqual(in_child(lambda: self.pool[7]["x"][0] + self.pool.read(8, "x")[0]), "15.0")
            self.assertEqual(in_child(lambda: len(self.pool.table())), str(STEPS))
        other = self.path("other.pool")
        shutil.copy(self.pool_path, other)
        pool = ringside.open(other)
        self.kept(pipelines.publishing('{"y": ("f64", (4,))}', """
            run.publish(1, {"y": [1.0] * 4})
            """))
        os.replace(self.path("run.pool"), other)
        self.assertRegex(in_child(lambda: pool.steps), "the parent of this child of fork.* opened another pool at this path")


def _first(pool, iteration):
    """Runs in worker processes."""
    with pool[iteration] as step:
        return float(step["x"][0])


# A function for programs that have a `run` and its `pool`. The function publishes steps, and waits until the last one
# is committed.
PUBLISH_AND_COMMIT = """
            import ringside
            def publish(iterations):
                for k in iterations:
                    run.publish(k, {"x": [float(k)] * 4})
                while not pool.steps or pool.steps[-1].iteration != run.next_iteration - 1:
                    pass                             # until it is committed
"""


class Live(pipelines.Pipelines):
    def test_a_follower_gets_the_steps_as_they_are_committed_and_ends_when_none_comes(self):
        output = self.kept(pipelines.publishing('{"x": ("f64", (1000,))}', """
            run.publish(1, {"x": np.full(1000, 1.0)})
            followed = []
            for step in (pool := ringside.open("run.pool")).follow(timeout=5):
                followed.append((step.iteration, step["x"].min(), step["x"].max()))
                if step.iteration == 20:
                    break
                run.publish(step.iteration + 1, {"x": np.full(1000, step.iteration + 1.0)})
            assert followed == [(k, k, k) for k in range(1, 21)], followed
            print([step.iteration for step in pool.follow(after=pool.steps[-3], timeout=0)])
            """))
        self.assertEqual(output, "[19, 20]\n")

    def test_what_a_loop_that_follows_has_collected_stays_what_it_is(self):
        output = self.kept(pipelines.publishing('{"x": ("f64", (1000,))}', """
            run.publish(1, {"x": np.full(1000, 1.0)})
            pool, xs, steps = ringside.open("run.pool"), [], []
            for step in pool.follow(timeout=5):
                xs.append(step["x"])
                steps.append(step)
                if step.iteration == 100:
                    break
                run.publish(step.iteration + 1, {"x": np.full(1000, step.iteration + 1.0)})
            assert [x.tolist() for x in xs] == [[k] * 1000 for k in np.arange(1.0, 101.0)]
            refused(lambda: steps[0]["x"])
            """))
        self.assertEqual(output, "iteration 1: the step was released; hold it again\n")

    def test_arrays_in_place_that_outlive_their_steps_are_an_error_or_a_warning(self):
        output = self.kept(PUBLISH_AND_COMMIT + """
            import warnings
            with ringside.publish({"x": ("f64", (4,))}) as run, warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                run.publish(1, {"x": [1.0] * 4})
                pool = ringside.open("run.pool")     # of three slots: no lease is respected
                publish([2])
                with pool[2] as step:
                    x = step["x"]
                publish(range(3, 9))
                pool[8], pool[8]
                print(len(said), said[0].message, said[0].filename)
                with pool[8] as step:
                    x = step["x"][1:]
                publish(range(9, 15))
                x = None                             # the last check
                print(len(said), said[1].message)
                following = pool.follow(after=pool.steps[-2], copy=False)
                x = next(following)["x"]
                publish(range(15, 20))
                try:
                    next(following)
                except ringside.OverwrittenError as error:
                    print(error)
                following = pool.follow(after=pool.steps[-2])
                x = next(following)["x"]
                publish(range(20, 24))
                print(next(following)["x"][0] > x[0] == 19)  # a copy needs no last check
            """, "--slots=3")
        lines = output.splitlines()
        self.assertRegex(lines[0], 'run.pool: an array in place was kept after its block, and iteration 2 is no longer held.*; '
                                   r'copy what you keep: step\["x"\].copy\(\)')
        self.assertRegex(lines[0], "^1 .* <string>$")
        self.assertRegex(lines[1], "^2 .* iteration 8 is no longer held")
        self.assertRegex(lines[2], "^iteration 14 is no longer held")
        self.assertEqual(lines[3:], ["True"])

    def test_async_for_follows_too_and_leaves_the_loop_to_other_tasks(self):
        output = self.kept("""
            import asyncio, ringside
            async def main():
                with ringside.publish({"x": ("f64", (4,))}) as run:
                    pool = ringside.open("run.pool", wait=60)
                    async def publish():
                        for k in range(1, 21):
                            await asyncio.sleep(0)
                            run.publish(k, {"x": [float(k)] * 4})
                    publishing, followed = asyncio.create_task(publish()), []
                    async for step in pool.follow():
                        followed.append(step["x"][0])
                        if step.iteration == 20:
                            break
                    await publishing
                    print(followed == sorted(followed), followed[-1])
                    async def wait():
                        async for step in pool.follow(after=pool.steps[-1]):
                            print("a step")
                    waiting = asyncio.create_task(wait())
                    await asyncio.sleep(0.2)
                    waiting.cancel()
                    try:
                        await waiting
                    except asyncio.CancelledError:
                        print("cancelled")
                    print([step.iteration async for step in pool.follow(after=pool.steps[-1], timeout=0.01)])
                print([step.iteration async for step in pool.follow(after=pool.steps[-3])])  # ends with the run
            asyncio.run(main())
            """)
        self.assertEqual(output.splitlines(), ["True 20.0", "cancelled", "[]", "[19, 20]"])

    def test_a_broken_lease_is_an_error_at_the_check_and_at_the_end_of_the_block(self):
        output = self.kept(PUBLISH_AND_COMMIT + """
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
        pool = self.pool_of(PROGRAM)
        self.assertEqual([step.iteration for step in pool.follow()], list(pool))  # must not wait for the next run
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
        self.assertEqual(self.printed("""
            import os, signal, threading, ringside
            try:
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
                ringside.open("no.pool", wait=3600)
            except KeyboardInterrupt as error:
                print(type(error).__name__)
            """), "KeyboardInterrupt\n")

    def test_ctrl_c_ends_a_loop_that_follows(self):
        self.kept(PROGRAM)
        self.assertEqual(self.printed("""
            import signal, ringside
            try:
                for step in ringside.open("run.pool").follow(all_runs=True):
                    if step.iteration == 12:         # the newest: the next look waits
                        signal.signal(signal.SIGALRM, signal.default_int_handler)
                        signal.setitimer(signal.ITIMER_REAL, 0.01)
            except KeyboardInterrupt:
                print("interrupted")
            """), "interrupted\n")


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
        output = self.printed(program)
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
        self.kept(pipelines.publishing('{"x": ("f64", (4,))}', """
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
            """))


if __name__ == "__main__":
    pipelines.run_tests()
