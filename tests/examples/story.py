# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the tests of the solvers of docs/publish/README.md: an installation of Ringside, an empty folder from which
the installation is found, and the story of a solver: the solver runs below `ringside run`, is followed, is killed, and
is resumed; its bits must then be those of an undisturbed run."""

import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from own_folder import OwnFolder  # noqa: E402

EXAMPLES = ROOT / "examples"


class Installation:
    """prefix: where the library is installed; None: nowhere, because a wheel contains it. programs: the folder of the
    programs. sysroot: the tree of the packages, whose files name /usr. components: which components of the build folder
    are installed."""

    prefix = programs = sysroot = build = None
    components = ()


class Place(OwnFolder):
    """An empty folder, and commands that find the installation. Contains no tests."""

    def setUp(self):
        self.programs = Installation.programs
        super().setUp()
        self.environment["OMP_NUM_THREADS"] = "1"
        prefix = Installation.prefix
        if prefix:
            [libraries] = {path.parent for path in prefix.glob("lib/**/libringside.so.0")}
            self.environment.update(
                LD_LIBRARY_PATH=str(libraries), LIBRARY_PATH=str(libraries), PKG_CONFIG_PATH=str(libraries / "pkgconfig"),
                CMAKE_PREFIX_PATH=str(prefix), PKG_CONFIG_SYSROOT_DIR=str(Installation.sysroot or ""))

    def build_project(self, languages=None, text="", *options):
        """Builds a project with CMake. languages: the languages of a project that `text` describes; without them, the
        folder already contains a project."""
        if languages:
            (self.folder / "CMakeLists.txt").write_text(
                f"cmake_minimum_required(VERSION 3.25)\nproject(own LANGUAGES {languages})\n{text}", encoding="utf-8")
        self.call("cmake", "-G", "Ninja", *options, "-S", ".", "-B", "build")
        self.call("cmake", "--build", "build")

    def copy(self, *names):
        for name in names:
            shutil.copy(EXAMPLES / name, self.folder)


class Solver:
    """The story of one solver. A derived class names the commands of the solver and of the reader, and prepares
    both."""

    solver = follower = ()

    def prepare(self):
        raise NotImplementedError

    def newest(self, pool):
        """The newest iteration that is kept."""
        return max(step["iteration"] for step in json.loads(self.call("ringside", "info", "--json", pool).stdout)["iterates"])

    def followed(self, pool):
        """What the reader prints about the kept steps: {iteration: mean}."""
        return dict(line.split() for line in self.call(*self.follower, pool, "0").stdout.splitlines())

    def test_a_run_is_kept_followed_killed_and_resumed_with_the_same_bits(self):
        self.prepare()
        self.call("ringside", "run", "--quiet", "--pool", "rod.pool", "--", *self.solver, "5")
        self.assertEqual(list(self.followed("rod.pool")), ["1", "2", "3", "4", "5"])

        # The run would take longer than the test: SIGKILL ends it when the reader has seen steps after those of the
        # first run.
        run = self.start("ringside", "run", "--pool", "rod.pool", "--resume", "--", *self.solver, "1000000000", stdout=subprocess.DEVNULL)
        self.wait_beyond_5(run, "rod.pool")  # a reader that opens the pool earlier sees the end of the first run
        reader = self.start(*self.follower, "rod.pool", "60")
        seen = [int(reader.stdout.readline().split()[0]) for _ in range(20)]
        self.assertEqual(seen, sorted(set(seen)))
        reader.kill()
        os.kill(self.publishing(run.pid), signal.SIGKILL)
        said = run.communicate(timeout=120)[1]
        self.assertEqual(run.returncode, 4, said)
        self.assertIn("ringside run --resume continues", said)

        newest = self.newest("rod.pool")
        self.assertGreaterEqual(newest, seen[-1])
        last = newest + 10
        self.call("ringside", "run", "--quiet", "--pool", "rod.pool", "--resume", "--", *self.solver, last)
        self.assert_undisturbed("rod.pool", last)
        self.assertIn("intact", self.call("ringside", "verify", "rod.pool").stdout)
        self.assertEqual(self.followed("rod.pool")[str(last)], self.followed("whole.pool")[str(last)])

    def test_without_a_launcher_a_killed_solver_continues_with_the_same_bits(self):
        self.prepare()
        self.environment.update(RINGSIDE_POOL="own.pool", RINGSIDE_RUN_OPTIONS="--quiet")
        self.call(*self.solver, "5")
        run = self.start(*self.solver, "1000000000", stdout=subprocess.DEVNULL)
        self.wait_beyond_5(run, "own.pool")
        run.kill()
        said = run.communicate(timeout=120)[1]  # returns when the processes of its run have also ended
        self.assertIn("; if it is started again, it continues", said)
        last = self.newest("own.pool") + 10
        self.call(*self.solver, last)
        self.assert_undisturbed("own.pool", last)

    def test_a_run_whose_analyzer_stood_still_for_too_long_is_not_done(self):
        self.prepare()
        self.call("ringside", "run", "--quiet", "--pool", "rod.pool", "--", *self.solver, "5")
        run = self.start("ringside", "run", "--pool", "rod.pool", "--resume", "--peer-timeout", "0.3", "--", *self.solver, "1000000000")
        self.wait_beyond_5(run, "rod.pool")
        analyzer = self.child(run.pid, lambda words: words[0].endswith("ringside-analyzer"))
        solver = os.pidfd_open(self.publishing(run.pid))
        os.kill(analyzer, signal.SIGSTOP)
        self.addCleanup(lambda: run.poll() is None and os.kill(analyzer, signal.SIGCONT))
        self.assertTrue(select.select([solver], [], [], 120)[0], "the solver waits for the analyzer for ever")
        os.kill(analyzer, signal.SIGCONT)
        shown, said = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 4, shown + said)
        self.assertNotIn("ringside run: done", shown)
        self.assertIn("ringside: ", said)

    def wait_beyond_5(self, run, pool):
        while self.newest(pool) <= 5:
            self.assertIsNone(run.poll(), "the run has ended")

    def assert_undisturbed(self, pool, last):
        """The last step in the pool must be bit-equal to that of an undisturbed run, which whole.pool keeps."""
        self.call("ringside", "run", "--quiet", "--pool", "whole.pool", "--", *self.solver, last)
        for source in (pool, "whole.pool"):
            self.call("ringside", "export", source, "--iteration", last, "--output", f"{source}.npy")
        self.assertEqual((self.folder / f"{pool}.npy").read_bytes(), (self.folder / "whole.pool.npy").read_bytes())

    def without_an_analyzer(self, expected):
        """What the solver writes to standard error if no analyzer answers. expected: the solver's exit code."""
        self.prepare()
        self.environment["RINGSIDE_SOCKET"] = str(self.folder / "nothing.socket")
        self.environment["RINGSIDE_PEER_TIMEOUT"] = "0.1"
        return self.call(*self.solver, expected=expected).stderr

    def publishing(self, parent):
        """The process below `parent` that runs the solver."""
        return self.child(parent, lambda words: words[:len(self.solver)] == list(self.solver))

    def child(self, parent, is_wanted):
        for child in pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split():
            if is_wanted(pathlib.Path(f"/proc/{child}/cmdline").read_text(encoding="utf-8").split("\0")):
                return int(child)
        return self.fail(f"process {parent} has no such child")


def find_python(environment):
    """Changes the environment so that Python programs run with the interpreter of the tests, and find the
    installation's package."""
    environment["PATH"] = os.pathsep.join((str(Installation.programs), os.path.dirname(sys.executable), os.environ["PATH"]))
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    environment.pop("PYTHONPATH", None)
    if Installation.prefix:
        environment["PYTHONPATH"] = str(Installation.prefix / "lib/python3/dist-packages")


def install():
    """For setUpModule: installs the components of the build folder, if there are any to install."""
    if not Installation.components:
        return
    Installation.prefix = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory())) / "local"
    for component in Installation.components:
        subprocess.run(["cmake", "--install", Installation.build, "--prefix", Installation.prefix, "--component", component],
                       stdout=subprocess.DEVNULL, check=True)


def run_tests(*components):
    """unittest.main for a program with one of these arguments: the build folder, from which the components are
    installed; `--root TREE`, with packages unpacked in TREE; or `--wheel BUILD`, with an installed wheel and the
    programs of this build folder."""
    first = sys.argv.pop(1)
    if first == "--root":
        Installation.sysroot = pathlib.Path(sys.argv.pop(1)).resolve()
        Installation.prefix = Installation.sysroot / "usr"
        Installation.programs = Installation.prefix / "bin"
    else:
        Installation.build = pathlib.Path(sys.argv.pop(1) if first == "--wheel" else first).resolve()
        Installation.programs = Installation.build / "bin"
        Installation.components = () if first == "--wheel" else components
    unittest.main("__main__")
