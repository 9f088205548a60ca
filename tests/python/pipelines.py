# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the tests of the Python package: a folder for each test, and programs under `ringside run`."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

IN_CI = bool(os.environ.get("CI"))  # in CI, no test may be skipped for missing requirements
BIN = pathlib.Path(os.devnull)  # the folder of Ringside's programs; set by run_tests


def modules_or_skip(*names):
    """Ends with 77, which CTest reports as skipped, if this interpreter lacks one of the modules."""
    for name in names:
        try:
            __import__(name)
        except (ImportError, ValueError) as error:  # ValueError: the module was compiled for another NumPy
            print(f"skipped: {sys.executable} has no {name}: {error}")
            sys.exit(77)


def has_module(name):
    try:
        __import__(name)
    except (ImportError, ValueError):
        return False
    return True


def publishing(arguments, body):
    """A program whose `body` is the block of `with ringside.publish(ARGUMENTS) as run`. It has np, ringside, and refused
    of refusal.py."""
    return (f"import numpy as np, ringside\nfrom refusal import refused\nwith ringside.publish({arguments}) as run:\n"
            + textwrap.indent(textwrap.dedent(body), "    "))


class Pipelines(unittest.TestCase):
    """self.folder is a separate folder for each test; programs run in this folder."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ringside-python-"))
        self.addCleanup(shutil.rmtree, self.folder)
        modules = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(pathlib.Path(__file__).resolve().parent))))
        self.environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": modules}

    def path(self, name):
        return str(self.folder / name)

    def python(self, program, *arguments):
        """Runs a program without `ringside run`. Returns its exit code, standard output and standard error."""
        return self.call(sys.executable, "-c", textwrap.dedent(program), *arguments)

    def printed(self, program, *arguments):
        """Runs a program without `ringside run`, which must succeed. Returns its standard output."""
        code, output, error = self.python(program, *arguments)
        self.assertEqual(code, 0, error)
        return output

    def run_program(self, program, *options, pool="run.pool"):
        """Runs a program under `ringside run`. Returns the exit code of `ringside run`, standard output and standard
        error."""
        return self.call(BIN / "ringside", "run", "--quiet", "--durability=process", f"--pool={pool}", *options, "--",
                         sys.executable, "-c", textwrap.dedent(program))

    def kept(self, program, *options, pool="run.pool"):
        """Runs a program under `ringside run`, which must succeed. Returns standard output."""
        code, output, error = self.run_program(program, *options, pool=pool)
        self.assertEqual(code, 0, error)
        return output

    def pool_of(self, program, *options, pool="run.pool"):
        """The pool of a program that is run as by `kept`."""
        import ringside
        self.kept(program, *options, pool=pool)
        return ringside.open(self.path(pool))

    def failing(self, expected, program, *options, pool="run.pool"):
        """Runs a program under `ringside run`, which must end with this exit code. Returns standard error."""
        code, _, error = self.run_program(program, *options, pool=pool)
        self.assertEqual(code, expected, error)
        return error

    def killed_and_resumed(self, program, kept_in=range(25, 1000)):
        """Runs a program undisturbed (`kill_at` is None), and then a program that kills itself (`kill_at` is 30) and is
        resumed. Both must print the same and keep the same last step. The killed run's newest step must be one of
        kept_in. Returns the pool of the resumed run, and what was printed."""
        import ringside
        program = textwrap.dedent(program)
        undisturbed = self.kept("kill_at = None\n" + program, pool="undisturbed.pool")
        self.failing(4, "kill_at = 30\n" + program)
        kept = ringside.open(self.path("run.pool"))[-1].iteration
        self.assertIn(kept, kept_in)
        self.assertEqual(self.kept("kill_at = None\n" + program, "--resume"), undisturbed)
        pools = [ringside.open(self.path(name)) for name in ("undisturbed.pool", "run.pool")]
        with pools[0][-1] as expected, pools[1][-1] as found:
            self.assertEqual(found.iteration, expected.iteration)
            self.assertGreater(found.iteration, kept + 10)
            for name in pools[0].variables:
                self.assertEqual(found[name].tobytes(), expected[name].tobytes(), name)
            self.assertEqual(*({name: value for name, value in step.results.items() if name.startswith("solver.")} for step in (found, expected)))
        return pools[1], undisturbed

    def outcome(self, pool="run.pool"):
        """The outcome of the run, according to the pool's journal."""
        code, output, error = self.call(BIN / "ringside", "tail", "--pool", pool)
        self.assertEqual(code, 0, error)
        return output.strip().splitlines()[-1].split(" ended: ")[1].split(",")[0]

    def refusal(self, *arguments, **options):
        """The line with which publish refuses these arguments."""
        import ringside
        with self.assertRaises(ringside.UsageError) as raised:
            ringside.publish(*arguments, socket=self.path("nobody"), peer_timeout=0.01, **options)
        self.assertEqual(raised.exception.status, 2)
        self.assertIsInstance(raised.exception, ValueError)
        self.assertNotIn("\n", str(raised.exception))
        return str(raised.exception)

    def call(self, *command):
        run = subprocess.run([str(word) for word in command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                             capture_output=True, encoding="utf-8", timeout=60, check=False)
        return run.returncode, run.stdout, run.stderr

    def analyzer(self, *options):
        """Starts an analyzer that serves `socket`, and returns its process when it listens."""
        process = subprocess.Popen(
            [BIN / "ringside-analyzer", "--socket", self.path("socket"), "--pool", self.path("run.pool"), "--once",
             "--durability=process", "--log-level=info", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(lambda: (process.send_signal(signal.SIGCONT), process.kill(), process.communicate()))
        for line in process.stderr:
            if "event=listening" in line:
                return process
        raise AssertionError("the analyzer ended before it listened")


def run_tests():
    """unittest.main for a program whose first argument is the folder of Ringside's programs."""
    global BIN
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main("__main__")
