# SPDX-License-Identifier: BSD-3-Clause
"""What docs/publish/README.md shows to publish in Python, with NumPy and with PETSc: in an empty folder and without a compiler, each
solver's story (story.py) is told with an installation of the package `ringside`. Takes the build folder, `--root TREE` with
packages unpacked in TREE, or `--wheel BUILD` in the environment where a wheel is installed. Run by the interpreter that the
module was built for."""

import glob
import os
import pathlib
import subprocess
import sys

import story
from story import Installation, Place


class Interpreted(story.Solver):
    """The story of a solver in Python; the classes below name its source."""

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
        # With another ringside that the interpreter also finds, the other tests would pass wrongly.
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
