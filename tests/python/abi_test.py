# SPDX-License-Identifier: BSD-3-Clause
"""A module that was compiled once works with every CPython from 3.10 on. Of the other interpreters that this machine
has in its PATH or from pyenv, the oldest must pass the tests of writing, and the newest those of reading. Argument: the
build folder, in which the test keeps a NumPy for each interpreter."""

import glob
import os
import pathlib
import shutil
import sys
import unittest

import registry

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
TESTS = pathlib.Path(__file__).resolve().parent


def others():
    """{minor version: path} of the other interpreters on this machine that support the limited C API."""
    paths = [shutil.which(f"python3.{minor}") for minor in range(10, 20)]
    paths += glob.glob(os.path.join(os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv"), "versions/*/bin/python3"))
    found = {}
    for path in filter(None, paths):
        asked = registry.call(path, "-c", "import sys, sysconfig; print(sys.implementation.name, *sys.version_info[:2], "
                                          "sysconfig.get_config_var('Py_GIL_DISABLED') or 0)").stdout.split()
        if asked[:2] == ["cpython", "3"] and int(asked[2]) >= 10 and asked[3] == "0" and int(asked[2]) != sys.version_info[1]:
            found.setdefault(int(asked[2]), path)
    return found


class OtherInterpreters(unittest.TestCase):
    def test_they_import_it_and_publish_and_read_with_it(self):
        found = others()
        for minor, names in ((min(found), ("writing",)), (max(found), ("reading",))):
            path = found[minor]
            numpy = registry.packages(BUILD / f"numpy_python3.{minor}", "--only-binary=:all:", f"--python-version=3.{minor}", "numpy")
            for name in names:
                with self.subTest(name, python=f"3.{minor}"):
                    run = registry.call(path, "-B", TESTS / f"{name}_test.py", BUILD / "bin", environment={
                        "PYTHONPATH": f"{numpy}:{os.environ['PYTHONPATH']}",
                        "LD_BIND_NOW": "1"})  # a missing function of this interpreter is reported at once
                    self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    if not (BUILD / "python" / "ringside" / "_core.abi3.so").exists():
        print("skipped: the module is for this interpreter alone, which has no limited C API")
        sys.exit(77)
    if not others():
        print("skipped: there is no other interpreter")
        sys.exit(77)
    unittest.main()
