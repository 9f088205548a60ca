# SPDX-License-Identifier: BSD-3-Clause
"""The Python package with another NumPy than the one with which it was compiled: NumPy 2 if the system has NumPy 1, and
the reverse. The tests of reading and writing must pass. A NumPy that does not accept memory of the package is refused.
Argument: the build folder, in which the test keeps the other NumPy."""

import os
import pathlib
import sys
import unittest

import registry

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
TESTS = pathlib.Path(__file__).resolve().parent


class OtherNumPy(unittest.TestCase):
    def call(self, *command, first=None):
        """Runs Python with the other NumPy (or the packages in `first`) in front of the system's NumPy."""
        path = f"{first or registry.other_numpy(BUILD)}:{os.environ['PYTHONPATH']}"
        return registry.call(sys.executable, "-B", *command, environment={"PYTHONPATH": path})

    def test_it_is_the_other_one(self):
        import numpy as np

        found = self.call("-c", "import numpy; print(numpy.__version__)").stdout
        self.assertNotEqual(found.split(".")[0], np.__version__.split(".")[0])

    def test_the_tests_of_arrays_pass(self):
        for name in ("writing", "reading", "arguments", "tables", "trees", "inputs"):
            with self.subTest(name):
                run = self.call(TESTS / f"{name}_test.py", BUILD / "bin")
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_a_numpy_that_reads_our_memory_otherwise_is_refused_at_import(self):
        folder = BUILD / "no_numpy"
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(
            "import numpy\nfirst = numpy.ndarray\nclass ndarray(first):\n"
            "    def __new__(cls, shape, *rest): return first.__new__(first, shape[::-1], *rest)\n"
            "numpy.ndarray = ndarray\n", encoding="utf-8")
        run = self.call("-c", "import ringside", first=folder)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"ImportError: NumPy [\d.]+ at \S+ reads an array of Ringside's as \[\[1, 2\], \[3, 4\], "
                                     r"\[5, 6\]\], expected \[\[1, 2, 3\], \[4, 5, 6\]\]")


if __name__ == "__main__":
    try:
        import numpy as np  # noqa: F401
    except ImportError:
        print(f"skipped: {sys.executable} has no NumPy")
        sys.exit(77)
    registry.other_numpy(BUILD)
    unittest.main()
