# SPDX-License-Identifier: BSD-3-Clause
"""How the Python package treats arguments: each invalid argument is refused in one line, and no argument is changed
silently."""

import pathlib

import pipelines

pipelines.modules_or_skip("numpy")
import numpy as np  # noqa: E402
import ringside  # noqa: E402
from made_pool import KEPT, STEPS, OfAPool  # noqa: E402


class Descriptions(pipelines.Pipelines):
    def test_a_text_with_a_nul_is_refused_because_it_would_end_there(self):
        x = {"x": ("f64", (4,))}
        self.assertEqual(self.refusal({"a\0b": ("f64", (4,))}),
                         r"the name of a variable: 'a\x00b' has a NUL at character 1; expected a text without one")
        self.assertIn(r"the name of a scalar: 'r\x00' has a NUL", self.refusal(x, scalars=["r\0"]))
        for option in ("solver", "problem", "parameters"):
            self.assertIn(rf"{option}: 'a\x00' has a NUL at character 1", self.refusal(x, **{option: "a\0"}))
        with self.assertRaisesRegex(ringside.UsageError, "unit: 'm.x00' has a NUL"):
            ringside.Variable("f64", (4,), unit="m\0")
        with self.assertRaisesRegex(ringside.UsageError, "the pool: 'a.x00b' has a NUL"):
            ringside.open("a\0b")
        with self.assertRaisesRegex(ringside.UsageError, "the pool: found 3, expected a path"):
            ringside.open(3)

    def test_a_text_that_is_none_is_refused(self):
        x = {"x": ("f64", (4,))}
        self.assertEqual(self.refusal({1: ("f64", (4,))}), "the name of a variable: found 1, expected a text")
        self.assertEqual(self.refusal(x, solver=3), "solver: found 3, expected a text")
        self.assertIn("cannot be encoded as UTF-8 at character 1", self.refusal(x, problem="a\udc80"))
        self.assertIn("expected descriptions by name", self.refusal([("x", "f64", 3)]))
        self.assertIn("problem_bytes: found a dict that NumPy converts to an array of objects; expected", self.refusal(x, problem_bytes={"a": 1}))
        self.assertEqual(self.refusal(x, work=-1), "work: found -1, expected at least 0")

    def test_extents_are_whole_numbers(self):
        for shape in ((3.7,), 3.7, ("3",), "33", None, (2, np.float64(3))):
            with self.assertRaisesRegex(ringside.UsageError, "expected a whole number", msg=repr(shape)):
                ringside.Variable("f64", shape)
        self.assertEqual(ringside.Variable("f64", np.int32(3)).shape, (3,))
        self.assertEqual(ringside.Variable("f64", np.array([3, 4])).shape, (3, 4))
        self.assertEqual(self.refusal({"x": ("f64", (2**70,))}),
                         f"variable 'x': shape ({2**70},): found {2**70}, expected at most {2**63 - 1}")
        self.assertIn("expected at least 1", self.refusal({"x": ("f64", (-1,))}))
        self.refusal({"x": ("f64", (2**62, 2**62))})  # libringside makes this line

    def test_a_scalar_that_is_named_twice_is_refused(self):
        self.assertEqual(self.refusal({"x": ("f64", (4,))}, scalars=["r", "s", "r"]),
                         "scalars: found 'r' twice, expected each name once")
        self.assertIn("scalar 'r': dtype 3; expected f64 or i64", self.refusal({"x": ("f64", (4,))}, scalars={"r": 3}))

    def test_a_scalar_may_have_a_unit(self):
        pool = self.pool_of(pipelines.publishing('{"x": ("f64", (4,))}, scalars={"t": ("f64", "s"), "n": "i64"}', """
            assert run.scalars == ("t", "n")
            run.publish(1, {"x": [1.0] * 4}, {"t": 0.5, "n": 2})
            """))
        units = {name: unit for name, unit, *_ in pool._live.results(pool.steps[0].commit_seq)}
        self.assertEqual((units["solver.t"], units["solver.n"]), ("s", ""))


class Names(pipelines.Pipelines):
    PROGRAM = """import ringside
with ringside.publish({"x": ("f64", (4,))}) as run:
    run.publish(run.next_iteration, {"x": [1.0] * 4})
"""

    def run_script(self, *command, pool="run.pool", resume=()):
        return self.call(pipelines.BIN / "ringside", "run", "--quiet", "--durability=process", f"--pool={pool}", *resume,
                         "--", pipelines.sys.executable, *command)

    def test_the_solver_is_named_after_the_script(self):
        (self.folder / "package").mkdir()
        for path in ("heat.py", "package/__main__.py", "a_name_of_more_than_23_letters.py"):
            pathlib.Path(self.path(path)).write_text(self.PROGRAM)
        for command, name in ((("heat.py",), "heat"), ((self.path("heat.py"),), "heat"), (("-m", "package"), "package"),
                              (("-c", self.PROGRAM), "python"),
                              (("a_name_of_more_than_23_letters.py",), "a_name_of_more_than_23_")):
            code, _, error = self.run_script(*command, pool=f"{name}.pool", resume=("--overwrite",))
            self.assertEqual(code, 0, error)
            self.assertEqual(ringside.open(self.path(f"{name}.pool")).runs[-1].solver, name)

    def test_a_script_does_not_resume_the_run_of_another_one(self):
        for name in ("one.py", "other.py"):
            pathlib.Path(self.path(name)).write_text(self.PROGRAM)
        self.assertEqual(self.run_script("one.py")[0], 0)
        code, _, error = self.run_script("other.py", resume=("--resume",))
        self.assertEqual(code, 2, error)
        self.assertIn("RefusedError", error)
        code, _, error = self.run_script("one.py", resume=("--resume",))
        self.assertEqual(code, 0, error)
        self.assertIn("RuntimeWarning: continues from iteration 1 of a run with this program's name and variables", error)

    def test_a_run_that_says_what_it_solves_is_resumed_without_a_warning(self):
        for option in ("solver='s'", "problem='p'", "parameters='a'", "problem_bytes=b'm'"):
            program = self.PROGRAM.replace("(4,))}", "(4,))}, " + option)
            self.assertEqual(self.run_script("-c", program, resume=("--overwrite",))[0], 0)
            code, _, error = self.run_script("-c", program, resume=("--resume",))
            self.assertEqual((code, error), (0, ""))


class Steps(pipelines.Pipelines):
    def test_what_is_no_step_is_refused_in_one_line_and_the_run_continues(self):
        output = self.kept(pipelines.publishing('{"x": ("f64", (4,))}, scalars={"r": "f64", "n": "i64"}', """
            x, scalars = {"x": np.zeros(4)}, {"r": 0.5, "n": 2}
            refused(run.publish, -1, x, scalars)
            refused(run.publish, 2.0, x, scalars)
            refused(run.publish, 2**64, x, scalars)
            refused(run.publish, 1, np.zeros(4), scalars)
            refused(run.publish, 1, x, {"r": "a", "n": 2})
            refused(run.publish, 1, x, {"r": 0.5, "n": 2.5})
            refused(run.publish, 1, x, {"r": 0.5, "n": 2**63})
            refused(run.publish, 1, x, {"r": 0.5})
            refused(run.publish, 1, x, {"r": 0.5, "n": 1, "s": 2})
            refused(run.publish, 1, x, [0.5, 2])
            refused(run.publish, 1, x)
            refused(run.publish, 1, {"x": np.zeros(3)})
            refused(run.step, -1)
            refused(run.step, "one")
            with run.step(np.int32(1)) as step:
                refused(step.__getitem__, 0)
                refused(step.__getitem__, ["x"])
                step["x"][:] = 1
                step.scalars["r"] = np.float32(0.25)
                step.scalars["n"] = np.int16(3)
            """))
        self.assertEqual(output.splitlines(), [
            "an iteration: found -1, expected a whole number, 1 to 2^64 - 1",
            "an iteration: found 2.0, expected a whole number, 1 to 2^64 - 1",
            f"an iteration: found {2**64}, expected a whole number, 1 to 2^64 - 1",
            "iteration 1: found a ndarray, expected arrays by name: {\"x\": array}",
            "iteration 1: scalar r: found 'a', expected a number",
            "iteration 1: scalar n: found 2.5, expected a whole number of 64 bits",
            f"iteration 1: scalar n: found {2**63}, expected a whole number of 64 bits",
            "iteration 1: no value for scalar n",
            "iteration 1: 's' is no scalar of this run; expected one of r, n",
            "iteration 1: found [0.5, 2] as scalars; expected a dict of values by name",
            "iteration 1: no value for scalar r",
            "x: found an array of float64, shape (3,); expected f64, shape (4,)",
            "an iteration: found -1, expected a whole number, 1 to 2^64 - 1",
            "an iteration: found 'one', expected a whole number, 1 to 2^64 - 1",
            "0 is no variable of this run; expected one of x",
            "['x'] is no variable of this run; expected one of x"])
        with ringside.open(self.path("run.pool"))[1] as step:
            self.assertEqual((step["x"].tolist(), step.results["solver.r"], step.results["solver.n"]), ([1.0] * 4, 0.25, 3))

    def test_a_step_in_the_block_of_another_one_is_refused(self):
        output = self.kept(pipelines.publishing('{"x": ("f64", (4,))}', """
            with run.step(1) as outer:
                outer["x"][:] = 1
                refused(run.step(2).__enter__)
                refused(run.publish, 2, {"x": np.zeros(4)})
                refused(outer.__enter__)
            try:
                with run.step(2) as step:
                    raise ZeroDivisionError
            except ZeroDivisionError:
                pass
            run.step(2).__enter__()   # by hand, and dropped
            with run.step(2) as step:
                step["x"][:] = 2
            """))
        line = "has not ended, and uses the buffer; expected one step after the other"
        self.assertEqual(output.splitlines(), [f"iteration {k}: the block of iteration 1 {line}" for k in (2, 2, 1)])
        pool = ringside.open(self.path("run.pool"))
        self.assertEqual(pool.array("x").tolist(), [[1.0] * 4, [2.0] * 4])

    def test_a_step_that_does_not_wait_is_skipped_while_no_buffer_is_free(self):
        analyzer = self.analyzer()
        output = self.printed("""
            import os, signal, sys, numpy as np, ringside
            with ringside.publish({"x": ("f64", (4,))}, socket=sys.argv[1]) as run:
                os.kill(int(sys.argv[2]), signal.SIGSTOP)
                x, k = {"x": np.ones(4)}, 1
                while run.publish(k, x, wait=False):   # until the buffers are full
                    k += 1
                with run.step(k, wait=False) as step:
                    step["x"][:] = 7
                print(step.skipped, run.counts.skipped, run.counts.published == k - 1, k <= 4)
                os.kill(int(sys.argv[2]), signal.SIGCONT)
                run.publish(k, x)
            print(k)
            """, self.path("socket"), str(analyzer.pid))
        self.assertTrue(output.startswith("True 2 True True\n"), output)
        self.assertEqual(list(ringside.open(self.path("run.pool"))), list(range(1, int(output.split()[-1]) + 1)))


class Reading(OfAPool):
    def test_a_slice_lists_steps_by_iteration_or_from_the_end(self):
        steps, first = self.pool.steps, STEPS - KEPT + 1
        self.assertEqual(self.pool[:], steps)
        self.assertEqual(self.pool[0:first], [])
        self.assertEqual([step.iteration for step in self.pool[0:first + 2]], [first, first + 1])
        self.assertEqual(self.pool[-3:], steps[-3:])
        self.assertEqual(self.pool[first + 1:-2], steps[1:-2])
        self.assertEqual(self.pool[::2], steps[::2])
        self.assertEqual(self.pool[-100:], steps)
        for refused in (slice(None, None, -1), slice("a", None), slice(None, 2.0), slice(None, None, 0)):
            with self.assertRaises(ringside.UsageError):
                self.pool[refused]

    def test_the_iterates_of_several_steps_are_one_array(self):
        first = STEPS - KEPT + 1
        expected = np.array([k + np.arange(1000.0) for k in range(first, STEPS + 1)])
        found = self.pool.array("x")
        np.testing.assert_array_equal(found, expected)
        self.assertTrue(found.flags.writeable and found.flags.c_contiguous)
        np.testing.assert_array_equal(self.pool.array("x", slice(-2, None)), expected[-2:])
        np.testing.assert_array_equal(self.pool.array("x", [STEPS, first]), expected[[-1, 0]])
        np.testing.assert_array_equal(self.pool.array("x", self.pool[::3], part=np.s_[10:30:2]), expected[::3, 10:30:2])
        self.assertEqual(self.pool.array("x", part=5).tolist(), expected[:, 5].tolist())
        self.assertEqual(self.pool.array("x", []).shape, (0, 1000))
        self.assertEqual(self.pool.array("n").dtype, np.uint64)
        with self.assertRaises(ringside.NotKeptError):
            self.pool.array("x", [1])
        with self.assertRaises(IndexError):
            self.pool.array("x", part=1000)

    def test_what_is_no_iteration_is_refused_in_one_line(self):
        for wrong, line in (("x", "'x' is a variable; expected an iteration first: pool[17]['x'], or pool.array('x')"),
                            ("y", "an iteration: found 'y', expected a whole number"),
                            (17.0, "an iteration: found 17.0, expected a whole number"),
                            (None, "an iteration: found None, expected a whole number")):
            with self.assertRaises(ringside.UsageError) as raised:
                self.pool[wrong]
            self.assertIn(line, str(raised.exception))
        with self.assertRaisesRegex(ringside.UsageError, "run 'newest'; expected one of pool.runs, or its run_id of 32 hexadecimal digits"):
            self.pool.table(run="newest")
        self.assertEqual(self.pool[np.int64(STEPS)].iteration, STEPS)


if __name__ == "__main__":
    pipelines.run_tests()
