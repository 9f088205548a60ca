# SPDX-License-Identifier: BSD-3-Clause
"""The types of the Python package: mypy and pyright, both in strict mode, must accept typed/right.py, and refuse
exactly those lines of typed/wrong.py that have a comment. The stubs must agree with the extension module. Argument: the
build folder, in which the test keeps mypy. pyright is used if it is found, and always in CI."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import pipelines
import registry

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
TYPED = pathlib.Path(__file__).resolve().parent / "typed"
PACKAGE = pathlib.Path(os.environ["PYTHONPATH"].split(":")[0]).resolve()
# Names that the checker must ignore, because a stub cannot express their properties: metaclasses of the extension
# module, and types that the module itself makes.
NOT_SAID = r"""ringside\._core\.(HeldStep|Reader|Writer|ClaimedStep)
ringside\._core\.HeldStep\.__init__
"""


def wrong_lines():
    lines = (TYPED / "wrong.py").read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if re.search(r"  # ", line)]


class Checked(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ringside-types-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def call(self, folder, *command):
        return subprocess.run([sys.executable, "-B", "-m", *map(str, command)], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=300, check=False,
                              env={**os.environ, "PYTHONPATH": f"{folder}:{PACKAGE}"})

    def mypy(self, *command):
        return self.call(registry.packages(BUILD / "mypy", "mypy"), *command)

    def test_mypy_accepts_what_is_right_and_refuses_what_is_wrong(self):
        for script, expected in (("right.py", []), ("wrong.py", wrong_lines())):
            run = self.mypy("mypy", "--strict", "--cache-dir", self.folder, "--no-error-summary", TYPED / script)
            found = [int(line) for line in re.findall(rf"{script}:(\d+): error: ", run.stdout)]
            self.assertEqual(found, expected, run.stdout + run.stderr)

    def test_mypy_accepts_the_package(self):
        run = self.mypy("mypy", "--strict", "--cache-dir", self.folder, "-p", "ringside")
        others = [line for line in run.stdout.splitlines() if ": error: " in line and "[import-" not in line
                  and "ringside/xarray.py" not in line]  # without xarray, the classes of xarray have no types
        self.assertEqual(others, [], run.stdout + run.stderr)

    def test_the_stubs_describe_the_extension_module(self):
        (self.folder / "not_said").write_text(NOT_SAID, encoding="utf-8")
        run = self.mypy("mypy.stubtest", "ringside._core", "--concise", "--allowlist", self.folder / "not_said",
                        "--ignore-unused-allowlist")
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)

    def test_pyright_knows_every_type_accepts_what_is_right_and_refuses_what_is_wrong(self):
        folder = BUILD / "pyright"
        if not (pipelines.has_module("basedpyright") or (folder / "complete").exists() or pipelines.IN_CI):
            self.skipTest("there is no basedpyright")
        if not pipelines.has_module("basedpyright"):
            folder = registry.packages(folder, "basedpyright", "numpy>=2")  # NumPy 2 has complete types
        run = self.call(folder, "basedpyright", "--pythonpath", sys.executable, "--verifytypes", "ringside", "--ignoreexternal",
                        "--outputjson")
        unknown = [symbol["name"] for symbol in json.loads(run.stdout)["typeCompleteness"]["symbols"]
                   if symbol["isExported"] and not (symbol["isTypeKnown"] and not symbol["isTypeAmbiguous"])]
        self.assertEqual([name for name in unknown if not name.startswith(("ringside.xarray.", "ringside.scipy."))], [])
        (self.folder / "pyrightconfig.json").write_text(json.dumps(
            {"include": [str(TYPED)], "typeCheckingMode": "strict", "extraPaths": [str(PACKAGE), str(folder)]}), encoding="utf-8")
        run = self.call(folder, "basedpyright", "--pythonpath", sys.executable, "--project", self.folder, "--outputjson")
        errors = json.loads(run.stdout)["generalDiagnostics"]
        found = sorted({(pathlib.Path(error["file"]).name, error["range"]["start"]["line"] + 1) for error in errors})
        self.assertEqual(found, [("wrong.py", number) for number in wrong_lines()], run.stdout)


if __name__ == "__main__":
    pipelines.modules_or_skip("numpy")
    registry.packages(BUILD / "mypy", "mypy")
    unittest.main()
