# SPDX-License-Identifier: BSD-3-Clause
"""The programs with which docs/publish/README.md shows how to publish in Python, with NumPy and with PETSc: each solver
is run, followed, killed and resumed (story.py) in an empty folder, without a compiler, with an installation of the
package `ringside`. Arguments: the build folder, `--root TREE` with packages unpacked in TREE, or `--wheel BUILD` in the
environment in which a wheel is installed. Must be run by the interpreter for which the module was built."""

import glob
import os
import pathlib
import subprocess
import sys

import story
from story import Installation, Place


class Interpreted(story.Solver):
    """The tests of a solver in Python (story.py). The classes below name its source."""

    solver = ("python3", "publish.py")
    follower = ("python3", "follow.py")

    def setUp(self):
        super().setUp()
        story.find_python(self.environment)
        self.environment.update({compiler: "/bin/false" for compiler in ("CC", "CXX", "FC")})

    def prepare(self):
        self.copy(self.solver[1], self.follower[1])

    def test_without_an_analyzer_it_ends_with_an_exception_that_names_the_socket(self):
        said = self.without_an_analyzer(expected=4).splitlines()
        self.assertRegex(said[-1], r"^ringside\.\S*PeerLostError: .*nothing\.socket")


class SolverInPython(Interpreted, Place):
    def test_the_package_is_that_of_the_installation(self):
        # If the interpreter found another package `ringside`, the other tests would pass without testing this one.
        found = self.call("python3", "-c", "import importlib.metadata, ringside; print(ringside.__file__); "
                          "print(ringside.__version__, importlib.metadata.version('ringside-insitu-core')); "
                          "print(ringside.get_prefix())").stdout.splitlines()
        self.assertTrue(found[0].startswith(str(Installation.prefix or sys.prefix)), found)
        self.assertEqual(found[2], str(Installation.prefix or pathlib.Path(found[0]).parent / "_prefix"))
        versions = found[1].split()
        self.assertEqual(versions[0], versions[1])


class SolverInPetsc(Interpreted, Place):
    solver = ("python3", "publish_petsc.py")

    def setUp(self):
        super().setUp()
        # Debian's petsc4py is in PETSc's folder, and is found through PETSC_DIR unless PETSc's headers are installed.
        for folder in sorted(glob.glob("/usr/lib/petscdir/petsc*/*-real")):
            self.environment.setdefault("PETSC_DIR", folder)
        found = subprocess.run(["python3", "-c", "from petsc4py import PETSc"], env=self.environment, stderr=subprocess.PIPE,
                               encoding="utf-8", check=False)
        if found.returncode != 0:
            reason = f"{sys.executable} has no petsc4py (python3-petsc4py): {found.stderr.strip().splitlines()[-1]}"
            (self.fail if os.environ.get("CI") else self.skipTest)(reason)


def setUpModule():
    story.install()


if __name__ == "__main__":
    story.run_tests("library", "python")
