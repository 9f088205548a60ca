# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the Python package share: a folder for each test, and programs under `ringside run`."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

IN_CI = bool(os.environ.get("CI"))  # what a test needs must be there
BIN = pathlib.Path(os.devnull)  # of Ringside's programs; set by run_tests


def modules_or_skip(*names):
    """Ends with 77, which CTest reports as skipped, if this interpreter lacks one of the modules."""
    for name in names:
        try:
            __import__(name)
        except (ImportError, ValueError) as error:  # ValueError: it was compiled for another NumPy
            print(f"skipped: {sys.executable} has no {name}: {error}")
            sys.exit(77)


def has_module(name):
    try:
        __import__(name)
    except (ImportError, ValueError):
        return False
    return True


class Pipelines(unittest.TestCase):
    """self.folder is the test's own; programs run in it."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ringside-python-"))
        self.addCleanup(shutil.rmtree, self.folder)
        modules = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(pathlib.Path(__file__).resolve().parent))))
        self.environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": modules}

    def path(self, name):
        return str(self.folder / name)

    def python(self, program, *arguments):
        """Runs a program without `ringside run`. Returns its status, output and error output."""
        return self.call(sys.executable, "-c", textwrap.dedent(program), *arguments)

    def run_program(self, program, *options, pool="run.pool"):
        """Runs a program under `ringside run`. Returns the status of that, output and error output."""
        return self.call(BIN / "ringside", "run", "--quiet", "--durability=process", f"--pool={pool}", *options, "--",
                         sys.executable, "-c", textwrap.dedent(program))

    def kept(self, program, *options, pool="run.pool"):
        """The same for a program that is expected to succeed. Returns its output."""
        code, output, error = self.run_program(program, *options, pool=pool)
        self.assertEqual(code, 0, error)
        return output

    def outcome(self, pool="run.pool"):
        """The outcome of the run in the pool's journal."""
        code, output, error = self.call(BIN / "ringside", "tail", "--pool", pool)
        self.assertEqual(code, 0, error)
        return output.strip().splitlines()[-1].split(" ended: ")[1].split(",")[0]

    def call(self, *command):
        run = subprocess.run([str(word) for word in command], cwd=self.folder, env=self.environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                             timeout=60, check=False)
        return run.returncode, run.stdout, run.stderr

    def analyzer(self, *options):
        """Starts an analyzer that serves `socket`, and returns its process when it listens."""
        process = subprocess.Popen(
            [BIN / "ringside-analyzer", "--socket", self.path("socket"), "--pool", self.path("run.pool"), "--once",
             "--durability=process", "--log-level=info", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8")

        def end():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
            process.stderr.close()

        self.addCleanup(end)
        for line in process.stderr:
            if "event=listening" in line:
                return process
        raise AssertionError("the analyzer ended before it listened")


def run_tests():
    """unittest.main for a program whose first argument is the folder of Ringside's programs."""
    global BIN
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main("__main__")
