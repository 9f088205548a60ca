# SPDX-License-Identifier: BSD-3-Clause
"""Tests what a user has after `pip install` of the wheels, without any package of the distribution. The Python of an
environment with the installed wheels runs this program, in an empty chroot (deploy/test_on.sh --wheels) or on this
machine (wheel_test.py). Argument: the folder of the examples publish.py and publish.c. If a compiler, pkg-config or
cmake is missing, the tests that need it are skipped and named."""

import gzip
import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest

import numpy as np
import ringside

EXAMPLES = pathlib.Path(sys.argv.pop(1)).resolve()
PREFIX = pathlib.Path(sysconfig.get_path("platlib")).resolve() / "ringside" / "_prefix"

# Eight lines of a user's program, and three lines that print which files the program uses.
HEAT = """
import numpy as np, ringside
x = np.zeros(1000)
x[0] = 100
with ringside.publish({"x": x}) as run:
    for k in range(run.next_iteration, 51):
        x[1:-1] += 0.25 * (x[:-2] - 2 * x[1:-1] + x[2:])
        run.publish(k, {"x": x})
    import glob, os
    relatives = [os.getppid(), *(int(p) for p in open(f"/proc/{os.getppid()}/task/{os.getppid()}/children").read().split())]
    print(*[os.readlink(f"/proc/{p}/exe") for p in relatives if p != os.getpid()],
          *{line.split()[-1] for line in open("/proc/self/maps") if "libringside" in line}, sep="\\n")
"""


class InstalledWheels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("RINGSIDE_", "PYTHONPATH", "LD_"))}
        self.environment = {**environment, "PATH": f"{sysconfig.get_path('scripts')}:/usr/bin:/bin"}

    def call(self, *command, expected=0, **environment):
        run = subprocess.run([str(word) for word in command], cwd=self.folder, env={**self.environment, **environment}, timeout=300,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False)
        self.assertEqual(run.returncode, expected, f"{command}\n{run.stdout}\n{run.stderr}")
        return run.stdout

    def need(self, *programs):
        for program in programs:
            if shutil.which(program) is None:
                self.skipTest(f"{program}: not found")

    def run_heat(self, *options):
        (self.folder / "heat.py").write_text(HEAT, encoding="utf-8")
        said = self.call("ringside", "run", "--pool", "heat.pool", *options, "--", sys.executable, "heat.py")
        return [line for line in said.splitlines() if line.startswith("/")]

    def test_package_programs_and_metadata_are_of_one_version(self):
        for distribution in ("ringside-insitu", "ringside-insitu-core"):
            self.assertEqual(importlib.metadata.version(distribution), ringside.__version__)
        for program in ("ringside", "ringside-analyzer", "ringside-producer", "ringside-memory"):
            self.assertIn(ringside.__version__, self.call(program, "--version"))

    def test_a_run_uses_the_wheels_files_only_and_is_read_back(self):
        files = self.run_heat()
        self.assertIn(str(PREFIX / "bin/ringside"), files)
        self.assertIn(str(PREFIX / "bin/ringside-analyzer"), files)
        self.assertIn(str(PREFIX / "lib/libringside.so.0"), files)
        self.assertEqual([file for file in files if PREFIX not in pathlib.Path(file).parents], [])
        pool = ringside.open(str(self.folder / "heat.pool"))
        with pool[50] as step:
            self.assertEqual(step["x"][0], 100)
            self.assertEqual(np.count_nonzero(step["x"]), 51)

    def test_steps_are_announced_by_messages_too(self):
        self.assertIn(str(PREFIX / "lib/libringside-messages.so.0"), self.run_heat("--coordination", "messages"))

    def test_every_command_of_its_own_program_starts(self):
        self.run_heat()
        self.assertEqual({program.name for program in (PREFIX / "libexec/ringside").iterdir()},
                         {"ringside-analyses", "ringside-export", "ringside-plan", "ringside-serve"})
        for command in ("analyze", "export", "plan", "serve"):
            self.call("ringside", command, "--help")
        self.call("ringside", "verify", "heat.pool")
        self.call("ringside", "export", "heat.pool", "-o", "heat.h5")
        self.assertEqual((self.folder / "heat.h5").read_bytes()[:4], b"\x89HDF")

    def test_built_in_solvers_run(self):
        self.call("ringside", "run", "--matrix", "grid:100", "--iterations", "20", "--pool", "grid.pool")

    def test_a_solver_in_c_is_compiled_with_the_wheels_pkg_config_and_keeps_its_steps(self):
        self.need("cc", "pkg-config")
        paths = {"PKG_CONFIG_PATH": ringside.get_pkgconfig_dir()}
        flags = self.call("pkg-config", "--cflags", "--libs", "ringside", **paths).split()
        self.assertIn(ringside.get_include(), " ".join(flags).replace("/lib/pkgconfig/../..", ""))
        self.call("cc", "-o", "publish", EXAMPLES / "publish.c", *flags, f"-Wl,-rpath,{ringside.get_lib()}")
        self.call("ringside", "run", "--pool", "c.pool", "--", "./publish", "30")
        self.assertEqual(ringside.open(str(self.folder / "c.pool")).steps[-1].iteration, 30)

    def test_cmake_finds_the_wheel(self):
        self.need("cmake", "c++")
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(user C CXX)\nfind_package(Ringside CONFIG REQUIRED)\n"
            f"add_executable(publish {EXAMPLES / 'publish.c'})\ntarget_link_libraries(publish Ringside::ringside)\n", encoding="utf-8")
        self.call("cmake", "-S", ".", "-B", "build", f"-DRingside_DIR={ringside.get_cmake_dir()}")
        self.call("cmake", "--build", "build")
        self.assertIn(str(PREFIX / "lib/libringside.so.0"), self.call("ldd", "build/publish").replace("/lib/cmake/Ringside/../../..", ""))

    def test_manual_pages_lie_where_man_looks_for_those_of_an_environment(self):
        page = gzip.decompress((pathlib.Path(sys.prefix) / "share/man/man1/ringside.1.gz").read_bytes())
        self.assertIn(b".TH", page)

    def test_what_is_bundled_is_named_with_its_license(self):
        files = [str(file) for file in importlib.metadata.files("ringside-insitu") or []]
        self.assertTrue(any(file.endswith("/LICENSE") for file in files), files)


if __name__ == "__main__":
    unittest.main()
