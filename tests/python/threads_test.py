# SPDX-License-Identifier: BSD-3-Clause
"""Python threads that share a run, a pool or a step: they wait for each other, get an error, or end with the
interpreter. None of them may crash."""

import threading

import numpy as np
import pipelines
import ringside


def at_once(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Writing(pipelines.Pipelines):
    def publish(self, how):
        """Four threads publish 300 steps each. The steps are numbered in the order in which the threads began them.
        Returns the lines that the program prints: the number of steps, and each refusal."""
        return self.kept(f"""
            import threading, numpy as np, ringside
            refused, lock, begun = [], threading.Lock(), 0
            def publish():
                global begun
                for _ in range(300):
                    with lock:
                        begun += 1
                        k = begun
                    try:
                        {how}
                    except ringside.UsageError as error:
                        refused.append(f"{{k}} {{error}}")
            with ringside.publish({{"x": ("f64", (2_000,))}}) as run:
                threads = [threading.Thread(target=publish) for _ in range(4)]
                for thread in threads: thread.start()
                for thread in threads: thread.join()
                print(run.counts.published + len(refused), *refused, sep="\\n")
            """).splitlines()

    def check(self, said, reasons):
        self.assertEqual(said[0], "1200", "each step was published or refused")
        for line in said[1:]:
            self.assertRegex(line, reasons)
        pool = ringside.open(self.path("run.pool"))
        refused = {int(line.split()[0]) for line in said[1:]}
        self.assertEqual(set(pool.columns()["iteration"].tolist()), set(range(1, 1201)) - refused)
        for step in pool.steps:
            np.testing.assert_array_equal(pool.read(step.iteration, "x"), np.full(2_000, float(step.iteration)))

    def test_that_publish_arrays_take_turns(self):
        self.check(self.publish('run.publish(k, {"x": np.full(2_000, float(k))})'),
                   "expected more than [0-9]+, the iteration of the step before")

    def test_that_write_in_a_block_get_an_error_while_another_one_has_the_buffer(self):
        self.check(self.publish("""
                        with run.step(k) as step:
                            step["x"][:] = k""".strip()),
                   "expected more than [0-9]+, the iteration of the step before|has not ended, and uses the buffer")

    def test_a_run_that_another_thread_ends_refuses_the_next_step(self):
        output = self.kept("""
            import threading, numpy as np, ringside
            run = ringside.publish({"x": ("f64", (200_000,))})
            first, ended = threading.Event(), []
            def publish():
                try:
                    for k in range(1, 10**9):
                        run.publish(k, {"x": np.full(200_000, float(k))})
                        first.set()
                except ringside.UsageError as error:
                    ended.append(error)
            thread = threading.Thread(target=publish)
            thread.start()
            first.wait()
            run.detach()
            thread.join()
            print(len(ended))
            """)
        self.assertEqual(output, "1\n")

    def test_a_thread_that_publishes_when_the_interpreter_ends_does_not_abort_it(self):
        error = self.failing(4, """
            import threading, numpy as np, ringside
            run = ringside.publish({"x": ("f64", (500_000,))})
            x, first = np.ones(500_000), threading.Event()
            def publish():
                for k in range(1, 10**9):
                    run.publish(k, {"x": x})
                    first.set()
            threading.Thread(target=publish, daemon=True).start()
            first.wait()
            """)
        self.assertRegex(error, r"ended with status 0 after iteration [0-9]+ without detaching")


class Reading(pipelines.Pipelines):
    def test_a_step_may_be_released_while_others_use_it(self):
        pool = self.pool_of(pipelines.publishing('{"x": ("f64", (100_000,))}', """
            run.publish(1, {"x": np.arange(100_000.0)})
            """))
        other_errors = []

        def use(call):
            try:
                while True:
                    call()
            except ringside.UsageError:  # "the step was released"
                pass
            except Exception as error:  # pylint: disable=broad-except
                other_errors.append(error)

        for _ in range(20):
            step = pool.hold(1)
            self.assertEqual(step["x"][-1], 99_999.0)
            at_once(lambda: use(step.verify), lambda: use(step.check), lambda: use(lambda: step["x"]),
                    lambda: use(lambda: step.view("x")), step.release, step.release)
        self.assertEqual(other_errors, [])


if __name__ == "__main__":
    pipelines.run_tests()
