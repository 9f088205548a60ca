# SPDX-License-Identifier: BSD-3-Clause
"""Runs without a launcher: the package starts the analyzer, and everything else is the same as under `ringside run`."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import numpy as np

import pipelines
import ringside
from pipelines import Pipelines, publishing

HEAT = """
    import sys, numpy as np, ringside
    steps, hook = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    x = np.zeros(1000); x[500] = 1000
    with ringside.publish({"x": x}, scalars=["t"], solver="heat", parameters="a=0.25", pool="heat.pool") as run:
        if run.kept is not None:
            x = run.kept["x"]
        for k in range(run.next_iteration, steps + 1):
            x[1:-1] += 0.25 * (x[2:] - 2 * x[1:-1] + x[:-2])
            run.publish(k, {"x": x}, {"t": float(k)})
            if k == 40 and hook:
                print("40", flush=True)
                exec(hook)
    """
ACCOUNT = "ringside run: done"


class OwnAnalyzer(Pipelines):
    def setUp(self):
        super().setUp()
        for name in [name for name in self.environment if name.startswith("RINGSIDE_")]:
            del self.environment[name]
        self.environment["RINGSIDE_RUN_OPTIONS"] = "--durability process"

    def heat(self, steps):
        """Makes a run, which must end well. Returns its standard error."""
        code, output, error = self.python(HEAT, steps)
        self.assertEqual((code, output), (0, ""), error)
        return error

    def started(self, program, *arguments, stdin=subprocess.DEVNULL):
        process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)], cwd=self.folder,
                                   env=self.environment, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def helper_of(self, process):
        """The helper process that the package started for `process`, and the helper's analyzer."""
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                words = _words(entry)
                if words[1:2] == ["run"] and any(word.startswith("--attend=") for word in words):
                    for analyzer in pathlib.Path("/proc").iterdir():
                        if analyzer.name.isdigit() and f"--publisher={process.pid}" in _words(analyzer):
                            if _parent(analyzer) == int(entry.name):
                                return int(entry.name), int(analyzer.name)
        raise AssertionError(f"no helper of process {process.pid}")

    def bits(self):
        with ringside.open(self.path("heat.pool"))[-1] as step:
            return step.iteration, step["x"].tobytes()

    def undisturbed(self):
        x = np.zeros(1000)
        x[500] = 1000
        for _ in range(100):
            x[1:-1] += 0.25 * (x[2:] - 2 * x[1:-1] + x[:-2])
        return 100, x.tobytes()

    def test_a_run_with_a_pool_needs_no_launcher_and_tells_its_account(self):
        error = self.heat(100)
        self.assertIn(ACCOUNT, error)
        self.assertIn("100 steps committed, kept across the death of processes, not power loss, 0 skipped", error)
        self.assertNotIn("nothing to continue from", error)
        self.assertEqual(self.bits(), self.undisturbed())
        self.assertEqual(self.outcome("heat.pool"), "finished")

    def test_it_continues_when_it_is_started_again(self):
        self.heat(60)
        self.assertIn("resumed    from iteration 60", self.heat(100))
        self.assertEqual(self.bits(), self.undisturbed())

    def test_a_program_that_is_killed_has_its_steps_and_continues_with_the_same_bits(self):
        process = self.started(HEAT, 100, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        _, error = process.communicate()  # ends with the helper, which has the same standard error
        self.assertIn("after iteration 40; 40 steps are committed; if it is started again, it continues", error)
        self.assertIn("failed; the account so far", error)
        self.heat(100)
        self.assertEqual(self.bits(), self.undisturbed())

    def test_a_program_that_is_killed_may_be_started_again_at_once(self):
        lines = []
        for _ in range(8):
            process = self.started(HEAT.replace("k == 40", "k % 40 == 0"), 100_000, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
            process.stdout.readline()
            process.wait()  # does not wait for its helper
            lines.append(process.stderr)
        said = "".join(line.read() for line in lines)
        self.assertNotIn("in use", said)
        self.assertEqual(ringside.open(self.path("heat.pool")).steps[-1].iteration, 320)

    def test_a_killed_analyzer_has_a_successor(self):
        process = self.paused()
        _, analyzer = self.helper_of(process)
        os.kill(analyzer, signal.SIGKILL)
        _, error = process.communicate("\n")
        self.assertEqual(process.returncode, 0, error)
        self.assertIn("another one takes over", error)
        self.assertEqual(self.bits(), self.undisturbed())

    def paused(self):
        """Starts a run, and waits until it is at iteration 40, where it waits for a line of input."""
        process = self.started(HEAT, 100, "sys.stdin.readline()", stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "40\n")
        return process

    def test_the_helper_is_stopped_by_no_signal_and_is_no_child(self):
        process = self.paused()
        helper, _ = self.helper_of(process)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            os.kill(helper, number)
        self.assertNotEqual(os.getsid(helper), os.getsid(process.pid))
        self.assertEqual(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(), "")
        _, error = process.communicate("\n")
        self.assertEqual(process.returncode, 0, error)
        self.assertIn(ACCOUNT, error)

    def test_the_program_leaves_the_analyzer_its_cores_and_has_them_back_at_the_end(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core")
        self.assertEqual(self.printed("""
            import os, threading, ringside
            def cores(): return {tuple(sorted(os.sched_getaffinity(int(t)))) for t in os.listdir("/proc/self/task")}
            end = threading.Event()
            threading.Thread(target=end.wait).start()
            before = cores()
            with ringside.publish({"x": ("f64", (4,))}, pool="cores.pool") as run:
                inside = cores()
                run.publish(1, {"x": [1.0, 2, 3, 4]})
            after = cores()
            end.set()
            print(before == after, len(inside) == 1, len(next(iter(inside))) < len(next(iter(before))))
            """), "True True True\n")

    def test_the_account_is_there_once_the_run_has_ended(self):
        code, output, error = self.python("""
            import json, ringside
            run = ringside.publish({"x": ("f64", (4,))}, pool="a.pool", run_options=["--quiet", "--slots", "5"])
            run.publish(1, {"x": [1.0, 2, 3, 4]})
            print(run.account)
            run.detach()
            print(json.dumps(run.account))
            """)
        self.assertEqual((code, error), (0, ""))
        before, account = output.splitlines()
        account = json.loads(account)
        self.assertEqual(before, "None")
        self.assertEqual((account["steps_committed"], account["slots"], account["durability"]), (1, 5, "power"))

    def test_runs_follow_one_another_in_a_process_and_one_may_be_beside_another(self):
        self.assertEqual(self.printed("""
            import ringside
            for alpha in (0.1, 0.2, 0.3):
                with ringside.publish({"x": ("f64", (4,))}, solver="sweep", parameters=f"{alpha}", pool=f"{alpha}.pool") as run:
                    run.publish(1, {"x": [alpha] * 4})
            with ringside.publish({"x": ("f64", (4,))}, solver="sweep", parameters="0.1", pool="0.1.pool") as first, \\
                 ringside.publish({"x": ("f64", (4,))}, solver="other", pool="other.pool") as second:
                print(first.next_iteration, second.next_iteration)
                first.publish(2, {"x": [0.0] * 4})
                second.publish(1, {"x": [0.0] * 4})
            print([list(ringside.open(name)) for name in ("0.1.pool", "other.pool")])
            """), "2 1\n[[1, 2], [1]]\n")

    def test_a_run_in_no_block_ends_with_its_script(self):
        publishing = """
            import ringside
            run = ringside.publish({"x": ("f64", (4,))}, solver="s", pool="heat.pool", pool_use="overwrite")
            run.publish(1, {"x": [1.0] * 4})
            """
        for ending, outcome in (("", "finished"), ("raise ValueError", "failed"), ("raise KeyboardInterrupt", "interrupted"),
                                ("import sys; sys.excepthook = lambda *error: None\nraise ValueError", "failed"),
                                ("del run", "interrupted"), ("run.detach('diverged')", "diverged")):
            with self.subTest(ending):
                self.python(textwrap.dedent(publishing) + ending)
                self.assertEqual(self.outcome("heat.pool"), outcome)

    def test_a_run_in_no_block_whose_steps_are_lost_does_not_end_well(self):
        process = self.started("""
            import sys, ringside
            run = ringside.publish({"x": ("f64", (4,))}, pool="heat.pool", peer_timeout=0.5)
            for k in (1, 2):
                print(k, flush=True)
                sys.stdin.readline()
                run.publish(k, {"x": [1.0] * 4})
            print(3, flush=True)
            sys.stdin.readline()
            """, stdin=subprocess.PIPE)

        def go_on():
            process.stdout.readline()
            process.stdin.write("\n")
            process.stdin.flush()

        go_on()
        self.assertEqual(process.stdout.readline(), "2\n")
        helper, analyzer = self.helper_of(process)
        for pid in (helper, analyzer):  # the helper would start another analyzer
            os.kill(pid, signal.SIGSTOP)
        process.stdin.write("\n")  # makes a step that no analyzer takes
        process.stdin.flush()
        process.stdout.readline()
        for pid in (analyzer, helper):  # in this order: the kernel continues a stopped process whose parent has died
            os.kill(pid, signal.SIGKILL)
        _, error = process.communicate("\n")
        self.assertEqual(process.returncode, 4, error)
        self.assertIn("ringside: a run could not be ended: ", error)

    def test_options_may_say_what_becomes_of_the_pools_steps(self):
        self.heat(5)
        self.assertEqual(self.printed(publishing('{"x": ("f64", (4,))}, pool="heat.pool", run_options="--overwrite --quiet"', """
            print(run.kept, run.next_iteration)
            """)), "None 1\n")

    def test_the_environment_starts_one_for_an_unchanged_program(self):
        self.environment["RINGSIDE_POOL"] = "given.pool"
        self.assertEqual(self.printed(publishing('{"x": ("f64", (4,))}', """
            run.publish(1, {"x": [1.0] * 4})
            """)), "")
        self.assertEqual(list(ringside.open(self.path("given.pool"))), [1])

    def test_below_ringside_run_its_pool_must_be_the_one_that_is_given(self):
        program = """
            import ringside
            with ringside.publish({"x": ("f64", (4,))}, pool="own.pool") as run:
                run.publish(1, {"x": [1.0] * 4})
            """
        code, _, error = self.run_program(program, pool="own.pool")
        self.assertEqual(code, 0, error)
        error = self.failing(2, program, pool="other.pool")
        self.assertRegex(error, r"pool: found .*/own.pool, but the pool of this analyzer is .*/other.pool; expected the same")
        self.assertFalse(pathlib.Path(self.path("other.pool")).exists())

    def test_what_is_refused_is_one_line(self):
        self.heat(5)
        pathlib.Path(self.path("folder")).mkdir()
        for arguments, kind, line in (
                ('pool="heat.pool", solver="another"', "RefusedError", "heat.pool: .*: this run has solver another instead of heat.*pool_use"),
                ('pool="nowhere/x.pool"', "ResourceError", "cannot make .*nowhere/x.pool"),
                ('pool="folder"', "UsageError", "folder: is a directory"),
                ('pool=""', "UsageError", "pool: found an empty name"),
                ('socket=""', "UsageError", "socket: found an empty name"),
                ('socket="", pool="p"', "UsageError", "socket: found an empty name"),
                ('pool=b"caf\\xe9"', "UsageError", "pool: .* cannot be encoded as UTF-8"),
                ('pool=3', "UsageError", "pool: found 3, expected a path"),
                ('pool="p", run_options="--slots x"', "UsageError", "--slots: found 'x', expected a number"),
                ('pool="p", run_options="--slots \'3"', "UsageError", "an opening ' without a closing one"),
                ('pool="p", run_options="--ranks 4"', "UsageError", "several ranks"),
                ('pool="p", run_options="--cores auto"', "UsageError", "the program runs already"),
                ('pool="p", run_options="--matrix grid:3"', "UsageError", "--matrix: found before"),
                ('pool="p", run_options="--help"', "UsageError", "--help")):
            with self.subTest(arguments):
                _, output, error = self.python(f"""
                    import ringside
                    try:
                        ringside.publish({{"x": ("f64", (1000,))}}, {arguments})
                    except ringside.Error as error:
                        print(type(error).__name__, error)
                    """)
                self.assertRegex(output, f"^{kind} .*{line}", error)
                self.assertEqual(len(output.splitlines()), 1)
                self.assertEqual(error, "")

    def test_an_iteration_that_is_kept_names_the_two_ways_out(self):
        self.heat(5)
        _, _, error = self.python(publishing('{"x": ("f64", (1000,))}, scalars=["t"], solver="heat", parameters="a=0.25", pool="heat.pool"', """
            run.publish(1, {"x": [0.0] * 1000}, {"t": 1.0})
            """))
        self.assertRegex(error, r"iteration 1: the run continues from iteration 5, .* expected 6 or more .*overwrite")

    def test_a_pool_in_use_is_refused(self):
        process = self.paused()
        code, _, error = self.python(HEAT, 5)
        self.assertNotEqual(code, 0)
        self.assertRegex(error, "heat.pool.*(in use|process)")
        process.communicate("\n")
        self.assertEqual(process.returncode, 0)

    def test_without_a_program_to_start_the_line_says_what_is_missing(self):
        # The library first searches beside itself, so the test uses a copy of it in an empty folder.
        library = next(pathlib.Path(line.split()[-1]) for line in pathlib.Path("/proc/self/maps").read_text().splitlines()
                       if "libringside.so" in line)
        alone = self.folder / "alone"
        alone.mkdir()
        (alone / library.name).write_bytes(library.read_bytes())
        (alone / "libringside.so.0").write_bytes(library.read_bytes())
        self.environment["LD_LIBRARY_PATH"] = str(alone)
        self.environment["LD_PRELOAD"] = str(alone / "libringside.so.0")
        self.environment["PATH"] = "/usr/bin:/bin"
        _, output, error = self.python("""
            import ringside
            try:
                ringside.publish({"x": ("f64", (4,))}, pool="p")
            except ringside.ResourceError as error:
                print(error)
            """)
        self.assertRegex(output, "^pool: found no program `ringside`, which starts the analyzer, in .* or PATH; expected", error)

    def test_without_pool_and_socket_it_says_at_once_what_it_waits_for(self):
        if os.path.exists("/run/ringside/analyzer.socket"):
            self.skipTest("a service runs here")
        process = self.started("""
            import ringside
            ringside.publish({"x": ("f64", (4,))})
            """)
        line = process.stderr.readline()
        process.kill()
        self.assertRegex(line, r"^ringside: no analyzer listens at /run/ringside/analyzer.socket, the service's socket; waiting up to 30 s")
        self.assertIn("RINGSIDE_POOL=FILE", line)
        self.assertIn("ringside run --pool FILE -- PROGRAM", line)

    def test_a_child_of_fork_leaves_the_run_alone(self):
        self.assertEqual(self.printed("""
            import os, ringside
            run = ringside.publish({"x": ("f64", (4,))}, pool="fork.pool")
            run.publish(1, {"x": [1.0] * 4})
            child = os.fork()
            if child == 0:
                raise SystemExit  # with all that ends at the end of an interpreter
            os.waitpid(child, 0)
            run.publish(2, {"x": [2.0] * 4})
            run.detach()
            print(run.counts.published)
            """), "2\n")
        self.assertEqual(self.outcome("fork.pool"), "finished")

    def test_a_child_that_lives_on_does_not_hold_the_run(self):
        self.assertEqual(self.printed("""
            import os, ringside
            run = ringside.publish({"x": ("f64", (4,))}, pool="fork.pool")
            run.publish(1, {"x": [1.0] * 4})
            go = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(go[1])
                os.read(go[0], 1)   # lives longer than the run
                os._exit(0)
            run.detach()
            print(run.account["steps_committed"])
            os.close(go[1])
            os.waitpid(child, 0)
            """), "1\n")


def _words(entry):
    try:
        return (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def _parent(entry):
    return int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])


if __name__ == "__main__":
    pipelines.run_tests()
