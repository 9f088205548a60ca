# SPDX-License-Identifier: BSD-3-Clause
"""Programs that publish with the Python package: what is kept, how the programs end, and what is refused."""

import json
import signal

import pipelines

pipelines.modules_or_skip("numpy")
import numpy as np  # noqa: E402
import ringside  # noqa: E402

DTYPES = ("f32", "f64", "c64", "c128", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")


class Publishing(pipelines.Pipelines):
    def test_every_dtype_is_kept_with_shape_role_and_unit(self):
        pool = self.pool_of(f"""
            import numpy as np, ringside
            variables = {{f"v_{{dtype}}": ringside.Variable(dtype, (3, 5), unit="m") for dtype in {DTYPES}}}
            variables["state"] = ringside.Variable(np.complex128, (), role="state")
            with ringside.publish(variables, solver="dtypes") as run:
                with run.step(1) as step:
                    for name in run.variables:
                        step[name][...] = np.arange(step[name].size).reshape(step[name].shape)
            """)
        self.assertEqual(list(pool.variables), [f"v_{dtype}" for dtype in DTYPES] + ["state"])
        self.assertEqual(pool.variables["state"], ringside.Variable("c128", (), role="state"))
        with pool[1] as step:
            for dtype in DTYPES:
                self.assertEqual(pool.variables[f"v_{dtype}"], ringside.Variable(dtype, (3, 5), unit="m"))
                view = step[f"v_{dtype}"]
                self.assertEqual(view.dtype, pool.variables[f"v_{dtype}"].numpy_dtype)
                np.testing.assert_array_equal(view, np.arange(15).reshape(3, 5))

    def test_a_step_of_f32_moves_half_the_bytes_of_f64(self):
        for dtype, bytes_per_entry in (("f32", 4), ("f64", 8)):
            pool = f"{dtype}.pool"
            self.kept(f"""
                import numpy as np, ringside
                with ringside.publish({{"x": ("{dtype}", (30, 1000))}}) as run:
                    for k in range(1, 5):
                        with run.step(k) as step:
                            step["x"][:] = k
                """, "--summary=summary.json", pool=pool)
            code, output, error = self.call(pipelines.BIN / "ringside", "tail", "--json", "--pool", pool)
            self.assertEqual(code, 0, error)
            steps = [record for record in map(json.loads, output.splitlines()) if record["event"] == "step"]
            self.assertEqual([step["bytes_transferred"] for step in steps], 4 * [30_000 * bytes_per_entry])
            summary = json.loads((self.folder / "summary.json").read_text())
            self.assertEqual(summary["bytes_transferred"], 4 * 30_000 * bytes_per_entry)

    def test_variables_can_be_given_as_arrays_and_scalars_by_type(self):
        pool = self.pool_of("""
            import numpy as np, ringside
            x, n = np.linspace(0, 1, 7), np.arange(4, dtype=np.int16).reshape(2, 2)
            with ringside.publish({"x": x, "n": n}, scalars={"rho": "f64", "steps": "i64"}) as run:
                run.publish(5, {"n": n, "x": x}, {"steps": -2**62, "rho": 0.25})
            """)
        with pool[5] as step:
            np.testing.assert_array_equal(step["x"], np.linspace(0, 1, 7))
            np.testing.assert_array_equal(step["n"], [[0, 1], [2, 3]])
            self.assertEqual(step.results["solver.steps"], -2**62)
            self.assertEqual(step.results["solver.rho"], 0.25)

    def test_a_resumed_run_gets_every_variable_and_scalar_back(self):
        program = """
            import numpy as np, ringside
            with ringside.publish({"x": ("f64", (4,)), "p": ringside.Variable("i8", (2, 3), role="state")},
                                  scalars=["rho"], solver="resumed") as run:
                if run.kept is None:
                    x, rho = np.zeros(4), 1.0
                else:
                    assert run.kept.iteration == 3 and len(run.kept) == 2, run.kept
                    x, rho = run.kept["x"], run.kept.scalars["rho"]
                    assert (run.kept["p"] == 3).all()
                print(run.next_iteration, x.tolist(), rho)
                for k in range(run.next_iteration, run.next_iteration + 3):
                    x, rho = x + k, rho / 2   # the kept array is a copy: it can be changed and outlives the step
                    with run.step(k) as step:
                        step["x"] = x
                        step["p"][:] = k
                        step.scalars["rho"] = rho
                if run.kept is not None:
                    assert run.kept["x"] is run.kept["x"]
            """
        self.assertEqual(self.kept(program), "1 [0.0, 0.0, 0.0, 0.0] 1.0\n")
        self.assertEqual(self.kept(program, "--resume"), "4 [6.0, 6.0, 6.0, 6.0] 0.125\n")

    def test_the_step_before_can_be_read_while_the_next_one_is_written(self):
        program = """
            import numpy as np, ringside
            with ringside.publish({"x": ("f64", (4,))}) as run:
                for k in range(run.next_iteration, run.next_iteration + 5):
                    with run.step(k) as step:
                        before = step.previous("x")
                        if k == 1:
                            assert before is None
                            step["x"][:] = 1
                            continue
                        assert not before.flags.writeable and (before == 2.0**(k - 1) - 1).all(), (k, before)
                        step["x"][:] = 2 * before + 1
                    run.skip()
                try:
                    step.previous("x")
                except ringside.UsageError as error:
                    print(run.counts.skipped, error)
            """
        for use in ([], ["--resume"]):
            self.assertRegex(self.kept(program, *use), "^[45] iteration (5|10): not claimed; expected")
        self.assertEqual(ringside.open(self.path("run.pool")).read(10, "x").tolist(), [1023.0] * 4)

    def test_a_step_whose_block_raises_is_not_published(self):
        pool = self.pool_of(pipelines.publishing('{"x": ("f64", (4,))}', """
            for k in range(1, 4):
                try:
                    with run.step(k) as step:
                        step["x"][:] = k
                        if k == 2:
                            raise LookupError
                except LookupError:
                    pass
            """))
        self.assertEqual(list(pool), [1, 3])
        np.testing.assert_array_equal(pool.read(3, "x"), [3, 3, 3, 3])

    def test_the_arrays_of_a_step_are_read_only_once_it_is_published(self):
        output = self.kept(pipelines.publishing('{"x": ("f64", (4,))}', """
            with run.step(1) as step:
                x = step["x"]
                x[:] = 1
                assert not x.flags.owndata
                assert np.shares_memory(np.from_dlpack(x), x)
            refused(x.__setitem__, 0, 2)
            refused(step.__getitem__, "x")
            """))
        self.assertIn("read-only", output)
        self.assertIn("iteration 1: not claimed; expected `with run.step(k) as step`", output)


class Endings(pipelines.Pipelines):
    PROGRAM = """
        import os, signal, sys, ringside
        with ringside.publish({{"x": ("f64", (4,))}}) as run:
            run.publish(1, {{"x": [1.0, 2.0, 3.0, 4.0]}})
            {}
        """

    def test_the_outcome_is_how_the_block_is_left(self):
        for ending, codes, line, outcome in (
                ("pass", {0}, "", "finished"), ("run.detach('diverged')", {2}, "reported that it diverged after iteration 1", "diverged"),
                ("raise LookupError('mine')", {4}, "LookupError: mine", "failed"),  # which is also raised
                ("sys.exit(0)", range(256), "", "finished"), ("sys.exit(3)", range(256), "", "failed"),
                # "interrupted" is the journal's name for the outcome "stopped".
                ("os.kill(os.getpid(), signal.SIGINT)", range(256), "KeyboardInterrupt", "interrupted")):
            with self.subTest(ending):
                code, _, error = self.run_program(self.PROGRAM.format(ending), "--overwrite")
                self.assertIn(code, codes, error)
                self.assertIn(line, error)
                self.assertEqual(self.outcome(), outcome)

    def test_ringside_stop_interrupts_as_ctrl_c_does(self):
        error = self.failing(130, pipelines.publishing('{"x": ("f64", (4,))}', """
            import itertools, os, subprocess
            for k in itertools.count(1):
                if k == 3:
                    subprocess.run(["ringside", "stop", "--socket", os.environ["RINGSIDE_SOCKET"]], check=True)
                run.publish(k, {"x": [1.0, 2.0, 3.0, 4.0]})
            """))
        self.assertIn("ringside.errors.Interrupted: the run was asked to stop", error)

    def test_ctrl_c_ends_the_wait_for_a_buffer_while_other_threads_run(self):
        analyzer = self.analyzer()
        self.assertEqual(self.printed("""
            import os, signal, subprocess, sys, threading, ringside
            socket, analyzer = sys.argv[1], int(sys.argv[2])
            x = [1.0, 2.0, 3.0, 4.0]
            reading, writing = os.pipe()

            def interrupt():
                os.read(reading, 1)                  # without the interpreter's lock
                os.kill(os.getpid(), signal.SIGINT)

            # A process that writes a byte when this one's main thread sleeps.
            watcher = ("import os, sys\\n"
                       "while open(f'/proc/{sys.argv[1]}/stat').read().rsplit(')', 1)[1].split()[0] != 'S': pass\\n"
                       "os.write(1, b'x')")
            # A wait that the signal does not end outlasts the test.
            with ringside.publish({"x": ("f64", (4,))}, socket=socket, peer_timeout=600) as run:
                run.publish(1, {"x": x})
                pool = ringside.open("run.pool")
                next(pool.follow())                  # the first step is committed: both buffers are free
                os.kill(analyzer, signal.SIGSTOP)
                run.publish(2, {"x": x})
                run.publish(3, {"x": x})
                thread = threading.Thread(target=interrupt)
                thread.start()
                watching = subprocess.Popen([sys.executable, "-c", watcher, str(os.getpid())], stdout=writing)
                try:
                    run.publish(4, {"x": x})
                    print("published")
                except KeyboardInterrupt as error:
                    print(type(error).__name__)
                os.kill(analyzer, signal.SIGCONT)
                thread.join()
                watching.wait()
                run.publish(4, {"x": x})             # the run goes on
            print(run.counts.published, signal.getsignal(signal.SIGINT) is signal.default_int_handler)
            """, self.path("socket"), str(analyzer.pid)), "KeyboardInterrupt\n4 True\n")
        self.assertEqual(analyzer.wait(), 0)

    def test_ctrl_c_ends_a_loop_whose_claims_never_wait_and_each_step_is_whole(self):
        output = self.kept("""
            import os, signal, threading, numpy as np, ringside

            def interrupt():
                while run.counts.published < 100:
                    pass
                os.kill(os.getpid(), signal.SIGINT)

            with ringside.publish({"x": ("f64", (4,))}) as run:
                thread, called = threading.Thread(target=interrupt), 0
                try:
                    thread.start()
                    while True:
                        called += 1
                        run.publish(called, {"x": np.full(4, float(called))}, wait=False)
                except KeyboardInterrupt:
                    pass
                thread.join()
                missing = called - run.counts.published - run.counts.skipped
                print(missing in (0, 1), run.counts.published >= 100)   # 1: the signal came before the claim
                with run.step(called + 1) as step:                      # the run goes on
                    step["x"][:] = called + 1
            """)
        self.assertEqual(output, "True True\n")
        pool = ringside.open(self.path("run.pool"))
        for step in pool.steps:
            self.assertEqual(pool.read(step.iteration, "x").tolist(), 4 * [step.iteration])

    def test_a_handler_that_publishes_while_a_claim_waits_is_refused(self):
        analyzer = self.analyzer()
        self.assertEqual(self.printed("""
            import os, signal, sys, threading, numpy as np, ringside
            socket, analyzer = sys.argv[1], int(sys.argv[2])
            x = {"x": np.zeros(4)}

            def publish(*_):
                try:
                    run.publish(10, x, wait=False)
                except ringside.UsageError as error:
                    print(error)
                    os.kill(analyzer, signal.SIGCONT)
                else:                                  # the signal came before the claim
                    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()

            signal.signal(signal.SIGINT, publish)
            with ringside.publish({"x": ("f64", (4,))}, socket=socket, peer_timeout=600, buffers=2) as run:
                os.kill(analyzer, signal.SIGSTOP)
                k = 1
                while run.publish(k, x, wait=False):   # until the buffers are full
                    k += 1
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
                print(run.publish(k, x))               # waits; the signal's handler lets the analyzer go on
            """, self.path("socket"), str(analyzer.pid)),
            "this thread is publishing a step of the run, and a signal handler has interrupted it; expected the handler only to "
            "note the signal, and the loop to publish\nTrue\n")
        self.assertEqual(analyzer.wait(), 0)

    def test_a_handler_that_returns_does_not_end_the_wait_for_an_analyzer(self):
        output = self.printed("""
            import signal, threading, os, sys, ringside
            caught = threading.Event()
            signal.signal(signal.SIGINT, lambda *_: caught.set())
            threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                ringside.publish({"x": ("f64", (4,))}, socket=sys.argv[1], peer_timeout=0.3)
            except ringside.PeerLostError as error:
                print(caught.is_set(), error.status, error)
            """, self.path("nobody"))
        self.assertTrue(output.startswith("True 4 "), output)
        self.assertIn("nobody", output)


class Refusals(pipelines.Pipelines):
    def test_a_schema_is_refused_with_the_librarys_line(self):
        self.assertIn("found 0 variables, expected 1 to 256", self.refusal({}))
        self.assertIn("the name '1x' has '1' at byte 0", self.refusal({"1x": ("f64", (4,))}))
        self.assertIn("'solver.r' begins with 'solver'", self.refusal({"solver.r": ("f64", (4,))}))
        self.assertIn("variable 'x': shape (100, 0): found 0, expected at least 1", self.refusal({"x": ("f64", (100, 0))}))
        self.assertIn("9 dimensions; expected 0 to 8", self.refusal({"x": ("f64", (1,) * 9)}))
        self.assertIn("a unit of 40 bytes", self.refusal({"x": ringside.Variable("f64", (4,), unit="m" * 40)}))
        self.assertIn("found 70 scalars, expected at most 64",
                      self.refusal({"x": ("f64", (4,))}, scalars=[f"s{i}" for i in range(70)]))

    def test_a_dtype_or_role_that_is_none_is_refused(self):
        self.assertEqual(self.refusal({"x": ("f16", (4,))}),
                         "variable 'x': dtype 'f16'; expected one of " + ", ".join(DTYPES))
        # The 4 in NumPy's i4 counts bytes, so i4 is not a dtype name in Ringside.
        self.assertIn("variable 'x': dtype 'i4'; expected one of", self.refusal({"x": ("i4", (4,))}))
        self.assertIn("variable 'x': dtype '>f8'; expected one of f32, f64", self.refusal({"x": (np.dtype(">f8"), (4,))}))
        self.assertIn("variable 'x': dtype '|b1'", self.refusal({"x": (bool, (4,))}))
        with self.assertRaisesRegex(ValueError, "role 'ghost'; expected field or state"):
            ringside.Variable("f64", (4,), role="ghost")
        self.assertIn("scalar 'rho': dtype 'f32'; expected f64 or i64",
                      self.refusal({"x": ("f64", (4,))}, scalars={"rho": "f32"}))

    def test_an_option_that_is_none_is_refused(self):
        self.assertEqual(self.refusal({"x": ("f64", (4,))}, pool_use="keep"),
                         "pool_use: found 'keep', expected one of fresh, overwrite, resume")

        with self.assertRaisesRegex(ringside.UsageError, "coordination: found 'mail', expected one of locks, messages"):
            ringside.publish({"x": ("f64", (4,))}, coordination="mail")

    def test_a_step_is_made_by_its_run_has_one_array_of_a_name_and_keeps_it(self):
        output = self.kept("""
            import numpy as np, ringside
            def refused(call):
                try:
                    call()
                except (TypeError, ringside.UsageError) as error:
                    print(type(error).__name__, error)
            with ringside.publish({"x": ("f64", (4,))}, scalars=["rho"]) as run:
                refused(lambda: ringside.ClaimedStep(run, 1))
                refused(lambda: run.step("1"))
                refused(lambda: run.step(-1))
                with run.step(np.int64(1)) as step:
                    assert step["x"] is step["x"] and not step.skipped
                    refused(lambda: step.__delitem__("x"))
                    refused(lambda: step["y"])
                    step["x"] = np.ones(4)
                    step["x"] += 1
                    step.scalars = {"rho": np.float32(0.5)}
                print(step.iteration, {name: float(value) for name, value in step.scalars.items()})
                try:
                    with run.step(2) as step:
                        del step.scalars
                except ringside.UsageError as error:
                    print(error)
            """)
        lines = output.splitlines()
        self.assertEqual(lines[0], "TypeError a step is made by Writer.step")
        expected = "expected a whole number, 1 to 2^64 - 1"
        self.assertEqual(lines[1:3], [f"UsageError an iteration: found {found}, {expected}" for found in ("'1'", "-1")])
        self.assertEqual(lines[3:], ["TypeError an array of a step cannot be deleted",
                                     "UnknownNameError 'y' is no variable of this run; expected one of x",
                                     "1 {'rho': 0.5}", "scalars: found none; expected a dict"])
        np.testing.assert_array_equal(ringside.open(self.path("run.pool")).read(1, "x"), [2, 2, 2, 2])

    def test_a_name_that_is_spelt_wrongly_is_named_as_the_cause(self):
        _, output, _ = self.run_program("""
            import ringside
            def refused(call):
                try:
                    call()
                except KeyError as error:
                    assert isinstance(error, ringside.UsageError)
                    print(error)
            def block(k, name, scalar):
                with run.step(k) as step:
                    step[name][:] = 0
                    step.scalars[scalar] = 1
            with ringside.publish({"velocity": ("f64", (2,))}, scalars=["residual", "t"]) as run:
                v = [0.0, 0.0]
                refused(lambda: run.publish(1, {"velocty": v}, {"residual": 1, "t": 0}))
                refused(lambda: run.publish(1, {"velocity": v}, {"residul": 1, "t": 0}))
                refused(lambda: run.publish(1, {"velocity": v, "t": 0}, {"residual": 1}))
                refused(lambda: run.publish(1, {"velocity": v}, {"residual": 1, "velocity": v}))
                refused(lambda: block(1, "Velocity", "t"))
                refused(lambda: block(2, "velocity", "residul"))
                refused(lambda: block(3, "residual", "t"))
                refused(lambda: run.variables["pressure"])
                run.publish(4, {"velocity": v}, {"residual": 1, "t": 0})
                run.detach("stopped")
            """)
        self.assertEqual(output.splitlines(), [
            "'velocty' is no variable of this run; did you mean 'velocity'? expected one of velocity",
            "iteration 1: 'residul' is no scalar of this run; did you mean 'residual'? expected one of residual, t",
            "'t' is no variable of this run; expected one of velocity. "
            "It is a scalar: use step.scalars['t'], or pass it in publish(k, arrays, scalars)",
            "iteration 1: 'velocity' is no scalar of this run; expected one of residual, t. "
            "It is a variable: use step[...], or pass it in publish(k, arrays)",
            "'Velocity' is no variable of this run; did you mean 'velocity'? expected one of velocity",
            "iteration 2: 'residul' is no scalar of this run; did you mean 'residual'? expected one of residual, t",
            "'residual' is no variable of this run; expected one of velocity. "
            "It is a scalar: use step.scalars['residual'], or pass it in publish(k, arrays, scalars)",
            "'pressure' is no variable of this run; expected one of velocity"])
        output = self.kept(pipelines.publishing('{"velocity": ("f64", (2,))}, scalars=["residual", "t"]', """
            refused(lambda: run.kept["velocty"])
            refused(lambda: run.kept.scalars["T"])
            print(dict(run.kept)["velocity"], np.asarray(run.kept))
            """), "--resume")
        self.assertEqual(output.splitlines(), [
            "'velocty' is no variable of iteration 4; did you mean 'velocity'? expected one of velocity",
            "'T' is no scalar of the kept iteration 4; expected one of residual, t", "[0. 0.] [0. 0.]"])

    def test_arrays_that_do_not_fit_are_refused_and_nothing_is_published(self):
        output = self.kept("""
            import numpy as np, ringside
            from refusal import refused
            with ringside.publish({"x": ("f64", (20, 10)), "n": ("i32", (3,))}, scalars=["rho"]) as run:
                x, n, rho = np.zeros((20, 10)), np.zeros(3, np.int32), {"rho": 1.0}
                refused(run.publish, 1, {"x": np.zeros((10, 20), np.float32, order="F"), "n": n}, rho)
                refused(run.publish, 1, {"x": x.T, "n": n}, rho)
                refused(run.publish, 1, {"x": x, "n": np.zeros(3, ">i4")}, rho)
                refused(run.publish, 1, {"x": x, "n": [1, 2, 3]}, rho)
                refused(run.publish, 1, {"x": x}, rho)
                refused(run.publish, 1, {"x": x, "n": n, "y": x}, rho)
                refused(run.publish, 1, {"x": x, "n": n})
                refused(run.publish, 1, {"x": x, "n": n}, {"rho": 1.0, "mu": 2.0})
                refused(run.publish, 0, {"x": x, "n": n}, rho)
                with run.step(1) as step:
                    refused(step.__setitem__, "x", np.zeros(200))
                    refused(step.__getitem__, "y")
                    step.scalars["rho"] = 1.0
            refused(run.publish, 2, {"x": x, "n": n}, rho)
            print(run.counts.published)
            """)
        self.assertEqual(output.splitlines(), [
            "x: found an array of float32, shape (10, 20); expected f64, shape (20, 10)",
            "x: found an array of float64, shape (10, 20); expected f64, shape (20, 10)",
            "n: found an array of >i4, shape (3,); expected i32, shape (3,)",
            "n: found an array of int64, shape (3,); expected i32, shape (3,)",
            "iteration 1: no array for n; expected one for each variable",
            "'y' is no variable of this run; expected one of x, n",
            "iteration 1: no value for scalar rho",
            "iteration 1: 'mu' is no scalar of this run; expected one of rho",
            "iteration 0: expected more than 0, the iteration of the step before",
            "x: found an array of float64, shape (200,); expected f64, shape (20, 10)",
            "'y' is no variable of this run; expected one of x, n",
            "iteration 2: this run has ended; publish another one",
            "1"])

    def test_a_dict_of_plain_arrays_is_checked_as_every_other_mapping(self):
        output = self.kept(pipelines.publishing('{"x": ("f64", (2,)), "n": ("i32", (3,))}, scalars=["rho"]', """
            import collections, types
            x, n, rho, kinds = np.zeros(2), np.zeros(3, np.int32), {"rho": 1.0}, (dict, collections.OrderedDict, types.MappingProxyType)
            def tried(*arguments):
                try:
                    return str(run.publish(*arguments))
                except ringside.UsageError as error:
                    return str(error)
            for arguments in (({"x": x}, rho), ({"x": x, "m": n}, rho), ({"x": x, "n": n, "y": x}, rho), ({"x": n, "n": x}, rho),
                              ({"x": x[:1], "n": n}, rho), ({"x": x.reshape(1, 2), "n": n}, rho), ({"x": x.astype(object), "n": n}, rho),
                              ({"x": x[:1], "n": np.ma.array(n)}, rho), ({"x": x, 1: n}, rho), ({"x": x, "n": n}, {"mu": 1.0}),
                              ({"x": x, "n": n}, {}), ({"x": x, "n": n},)):
                print(*sorted({tried(1, kind(arguments[0]), *arguments[1:]) for kind in kinds}), sep=" | ")
            print(*sorted({tried("1", kind({"x": x[:1], "n": n}), rho) for kind in kinds}), sep=" | ")
            print(tried(1, [x, n], rho))
            for k, kind in enumerate(kinds, start=1):
                assert run.publish(k, kind({"n": n + k, "x": x + k}), rho)
            """))
        self.assertEqual(output.splitlines(), [
            "iteration 1: no array for n; expected one for each variable",
            "'m' is no variable of this run; expected one of x, n",
            "'y' is no variable of this run; expected one of x, n",
            "x: found an array of int32, shape (3,); expected f64, shape (2,)",
            "x: found an array of float64, shape (1,); expected f64, shape (2,)",
            "x: found an array of float64, shape (1, 2); expected f64, shape (2,)",
            "x: found an array of object, shape (2,); expected f64, shape (2,)",
            "iteration 1: n: found a masked array, whose mask would be lost; expected a plain one: x.filled(VALUE)",
            "1 is no variable of this run; expected one of x, n",
            "iteration 1: 'mu' is no scalar of this run; expected one of rho",
            "iteration 1: no value for scalar rho",
            "iteration 1: no value for scalar rho",
            "an iteration: found '1', expected a whole number, 1 to 2^64 - 1",
            'iteration 1: found a list, expected arrays by name: {"x": array}'])
        pool = ringside.open(self.path("run.pool"))
        self.assertEqual(pool.array("x").tolist(), [[float(k)] * 2 for k in (1, 2, 3)])
        self.assertEqual(pool.array("n").tolist(), [[k] * 3 for k in (1, 2, 3)])

    def test_an_array_of_any_layout_is_published_in_its_own_order(self):
        pool = self.pool_of("""
            import array, numpy as np, ringside
            a = np.arange(12.0).reshape(3, 4)
            wide = np.zeros((6, 8))
            wide[::2, ::2] = a
            odd = np.zeros(97, np.int8)[1:].view(np.float64).reshape(3, 4)  # not aligned
            odd[:] = a
            layouts = [a, np.asfortranarray(a), wide[::2, ::2], a[::-1].copy()[::-1], a.T.copy().T, odd]
            with ringside.publish({"x": ("f64", (3, 4)), "n": ("i32", (2,)), "z": ("f64", ())}) as run:
                for k, x in enumerate(layouts, start=1):
                    n = np.array([k, 0, 7, 0], np.int32)[::2]
                    run.publish(k, {"x": x, "n": n, "z": np.float64(k)})
                k = len(layouts)
                for x in layouts:
                    k += 1
                    with run.step(k) as step:
                        step["x"], step["n"], step["z"] = x, np.broadcast_to(np.int32(k), 2), float(k)
                run.publish(k + 1, {"x": memoryview(a), "n": array.array("i", [5, 6]), "z": 1.5})
                run.publish(k + 2, {"x": np.broadcast_to(2.0, (3, 4)), "n": np.array([5, 6], np.int32)[::-1], "z": 1.5})
            """, "--slots=16")
        expected = np.arange(12.0).reshape(3, 4).tolist()
        self.assertEqual([x.tolist() for x in pool.array("x")], [expected] * 13 + [[[2.0] * 4] * 3])
        self.assertEqual(pool.array("n").tolist(), [[k, 7] for k in range(1, 7)] + [[k, k] for k in range(7, 13)] + [[5, 6], [6, 5]])

    def test_a_name_that_is_wrong_is_named_and_not_what_therefore_is_missing(self):
        output = self.kept(pipelines.publishing('{"x": ("f64", (2,)), "y": ("f64", (2,))}, scalars=["rho", "mu"]', """
            import types
            x = {"x": np.zeros(2), "y": np.zeros(2)}
            refused(run.publish, 1, x, {"roh": 1.0, "mu": 2.0})
            refused(run.publish, 1, x, types.MappingProxyType({"rho": 1.0, "x": 2.0}))
            refused(run.publish, 1, x, {"mu": 2.0})
            refused(run.publish, 1, {**x, "rho": 1.0})
            def leave():
                with run.step(1) as step:
                    step["x"] = step["y"] = 0.0 * x["x"]
                    step.scalars["rho"] = step.scalars["nu"] = 1.0
            refused(leave)
            with run.step(1) as step:
                refused(step.__setitem__, "rho", 1.0)
                refused(step.previous, "z")
                step["x"] = step["y"] = x["x"]
                step.scalars.update(rho=1.0, mu=2.0)
            """))
        self.assertEqual(output.splitlines(), [
            "iteration 1: 'roh' is no scalar of this run; did you mean 'rho'? expected one of rho, mu",
            "iteration 1: 'x' is no scalar of this run; expected one of rho, mu. "
            "It is a variable: use step[...], or pass it in publish(k, arrays)",
            "iteration 1: no value for scalar rho",
            "'rho' is no variable of this run; expected one of x, y. "
            "It is a scalar: use step.scalars['rho'], or pass it in publish(k, arrays, scalars)",
            "iteration 1: 'nu' is no scalar of this run; expected one of rho, mu",
            "'rho' is no variable of this run; expected one of x, y. "
            "It is a scalar: use step.scalars['rho'], or pass it in publish(k, arrays, scalars)",
            "'z' is no variable of this run; expected one of x, y"])

    def test_the_bytes_of_a_list_of_buffers_follow_one_another_in_a_variable(self):
        output = self.kept(pipelines.publishing('{"x": ("f64", (6,)), "n": ("i32", (3,))}, scalars=["rho"]', """
            import array
            n = np.arange(3, dtype=np.int32)
            def put(k, x, n=n):
                try:
                    print(run._core.publish_packed(k, [x, n], {"rho": 1.0}, True))
                except ValueError as error:
                    print(error)
            put(1, [np.arange(4.0).reshape(2, 2), array.array("d", [4.0]), b"", np.float64(5.0)])
            put(2, np.arange(6.0), [n[:1], n[1:].tobytes()])
            put(3, [np.arange(4.0)])
            put(3, [np.arange(12.0)[::2]])
            print(run.counts.published)
            """)).splitlines()
        self.assertEqual(output[:3], ["True", "True", "x: found buffers of 32 bytes in all; expected 48"])
        self.assertIn("not C-contiguous", output[3])
        self.assertEqual(output[-1], "2")
        pool = ringside.open(self.path("run.pool"))
        self.assertEqual(pool.array("x").tolist(), [list(range(6))] * 2)
        self.assertEqual(pool.array("n").tolist(), [[0, 1, 2]] * 2)

    def test_so_do_those_of_much_memory_wherever_a_buffer_begins_and_ends(self):
        pool = self.pool_of("""
            import numpy as np, ringside
            x = np.random.default_rng(1).integers(0, 256, 5_000_003, np.uint8)
            with ringside.publish({"x": ("u8", x.shape)}) as run:
                for k, most in enumerate((1_000, 100_000, 6_000_000), start=1):
                    cuts = np.cumsum(np.random.default_rng(k).integers(0, most, 10_000))
                    run._core.publish_packed(k, [np.split(x, cuts[cuts < len(x)])], {}, True)
                run.publish(4, {"x": x})
            """)
        expected = np.random.default_rng(1).integers(0, 256, 5_000_003, np.uint8)
        for step in pool.steps:
            np.testing.assert_array_equal(pool.read(step.iteration, "x"), expected)

    def test_a_child_of_fork_cannot_use_the_handle_and_the_run_goes_on(self):
        output = self.kept(pipelines.publishing('{"x": ("f64", (4,))}', """
            import os
            step = run.step(1)
            with step:
                child = os.fork()
                if child == 0:
                    for call in (lambda: step["x"], run.detach):
                        try:
                            call()
                        except ringside.UsageError as error:
                            print(error, flush=True)
                    os._exit(0)
                os.waitpid(child, 0)
                step["x"][:] = 1
            """))
        lines = output.splitlines()
        self.assertEqual(len(lines), 2, output)
        for line in lines:
            self.assertRegex(line, r"this handle belongs to process \d+; its child \d+ must open one of its own")
        self.assertEqual(list(ringside.open(self.path("run.pool"))), [1])

    def test_a_child_of_fork_cannot_publish_while_buffers_are_free(self):
        output = self.kept(pipelines.publishing('{"x": ("f64", (4,))}, buffers=4', """
            import os
            child = os.fork()
            if child == 0:
                refused(run.publish, 1, {"x": np.zeros(4)})
                refused(run.step(1).__enter__)
                sys.stdout.flush()
                os._exit(0)
            os.waitpid(child, 0)
            run.publish(1, {"x": np.ones(4)})
            """).replace("import numpy", "import sys, numpy", 1))
        lines = output.splitlines()
        self.assertEqual(len(lines), 2, output)
        for line in lines:
            self.assertRegex(line, r"this handle belongs to process \d+; its child \d+ must open one of its own")
        self.assertEqual(ringside.open(self.path("run.pool")).read(1, "x").tolist(), [1.0] * 4)

    def test_another_problem_is_not_resumed(self):
        program = """
            import ringside
            with ringside.publish({{"x": ("f64", (4,))}}, problem_bytes={}) as run:
                run.publish(run.next_iteration, {{"x": [1.0, 2.0, 3.0, 4.0]}})
            """
        self.kept(program.format("b'one'"))
        error = self.failing(2, program.format("b'two'"), "--resume")
        self.assertIn("ringside.errors.RefusedError: ", error)
        self.kept(program.format("b'one'"), "--resume")


class Masked(pipelines.Pipelines):
    """numpy.asarray would drop the mask, and use the values below it."""

    def refused(self, given, line, how='run.publish(1, {"x": x})'):
        code, _, error = self.run_program(f"""
            import numpy as np, ringside
            from tests_of_masks import Missing
            x = {given}
            with ringside.publish({{"x": ("f64", (4,))}}) as run:
                {how}
            """, "--overwrite")
        self.assertNotEqual(code, 0, error)
        self.assertIn(f"ringside.errors.UsageError: {line}", error)

    def setUp(self):
        super().setUp()
        # An array like those of pandas: with a special dtype that has a value for missing entries.
        (self.folder / "tests_of_masks.py").write_text(
            "import numpy as np\n"
            "class Float64:\n"
            "    na_value = None\n"
            "    def __str__(self): return 'Float64'\n"
            "class Missing:\n"
            "    dtype = Float64()\n"
            "    def __init__(self, *values): self.values = values\n"
            "    def isna(self): return np.array([value is None for value in self.values])\n"
            "    def __array__(self, dtype=None, copy=None): return np.array([np.nan if v is None else v for v in self.values])\n")

    def test_a_mask_is_refused_in_a_publish_and_in_an_assignment(self):
        masked = "np.ma.masked_equal([1.0, 2.0, 3.0, -999.0], -999.0)"
        line = "iteration 1: x: found a masked array, whose mask would be lost; expected a plain one: x.filled(VALUE)"
        self.refused(masked, line)
        self.refused(masked, line, 'with run.step(1) as step: step["x"] = x')
        self.refused(f"[{masked}][0:1]", line)
        self.refused(masked, "problem_bytes: found a masked array", 'ringside.publish({"y": ("f64", (4,))}, problem_bytes=x)')

    def test_missing_entries_and_objects_are_refused(self):
        self.refused("Missing(1.0, 2.0, None, 4.0)", "iteration 1: x: found missing entries (Float64)")
        self.refused("np.array([1.0, 2.0, None, 4.0])", "x: found an array of object")
        self.kept(pipelines.publishing('{"x": ("f64", (4,))}', """
            from tests_of_masks import Missing
            run.publish(1, {"x": Missing(1.0, 2.0, 3.0, 4.0)})
            """), "--overwrite")


class Lost(pipelines.Pipelines):
    def test_steps_without_an_analyzer_are_skipped_if_that_was_chosen(self):
        analyzer = self.analyzer()
        code, output, error = self.python("""
            import os, signal, sys, ringside
            with ringside.publish({"x": ("f64", (4,))}, socket=sys.argv[1], on_analyzer_loss="continue",
                                  peer_timeout=0.2) as run:
                print(run.publish(1, {"x": [1.0] * 4}))
                next(ringside.open("run.pool").follow())
                os.kill(int(sys.argv[2]), signal.SIGKILL)
                print(next(k for k in range(2, 1000) if not run.publish(k, {"x": [1.0] * 4})) <= 4)
                with run.step(1000) as step:
                    step["x"][:] = 1
                print(step.skipped, run.counts.skipped)
            """, self.path("socket"), str(analyzer.pid))
        self.assertEqual(output, "True\nTrue\nTrue 2\n", error)
        self.assertIn("ringside.errors.PeerLostError: ", error)
        self.assertEqual(code, 4)
        self.assertEqual(analyzer.wait(), -signal.SIGKILL)


if __name__ == "__main__":
    pipelines.run_tests()
