# SPDX-License-Identifier: BSD-3-Clause
"""A wheel of the Python package, made as docs/python.md says: what is in it, and the README's solvers with it in an environment
of its own, where there is no compiler. Takes the build folder, where it keeps what the wheel is built with. Skipped if pip is
missing, or if the registry does not answer when scikit-build-core is asked for."""

import pathlib
import re
import shutil
import sys
import tempfile
import unittest
import zipfile

from registry import call, other_numpy, packages

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_COMPILER = {compiler: "/bin/false" for compiler in ("CC", "CXX", "FC")}


def requirements():
    """The folder with what pyproject.toml requires of a build. pip's own folder would have another name in each build, and
    the module would be compiled again each time."""
    wanted = re.search(r"^requires = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE).group(1)
    return packages(BUILD / "wheel" / "requirements", *re.findall(r'"(.*?)"', wanted))


def setUpModule():
    """Builds the wheel once, and installs it without a compiler."""
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    made = pathlib.Path(folder.name)
    launcher = shutil.which("ccache")
    run = call(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--config-settings",
               f"build-dir={BUILD / 'wheel' / 'build'}", "--config-settings",
               "cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O1", "--wheel-dir", made, ROOT,  # it is tested, not measured
               environment={"PYTHONPATH": str(requirements()), **({"CMAKE_CXX_COMPILER_LAUNCHER": launcher} if launcher else {})})
    assert run.returncode == 0, run.stdout + run.stderr
    [Wheel.wheel] = made.glob("ringside-*.whl")
    Wheel.python = made / "environment" / "bin" / "python3"
    for command in ((sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", made / "environment"),
                    (sys.executable, "-m", "pip", "--python", Wheel.python, "install", "--no-deps", "--no-index", Wheel.wheel)):
        run = call(*command, environment=NO_COMPILER)
        assert run.returncode == 0, run.stdout + run.stderr


class Wheel(unittest.TestCase):
    def test_it_has_the_sources_and_one_module_and_no_other_file(self):
        sources = {f"ringside/{path.name}" for path in (ROOT / "python" / "ringside").iterdir() if path.is_file()}
        names = set(zipfile.ZipFile(self.wheel).namelist())
        self.assertLessEqual(sources, names)
        others = [name for name in names - sources if not re.match(r"ringside-[\d.]+\.dist-info/", name)]
        self.assertEqual(others, ["ringside/_core.abi3.so"])
        self.assertRegex(self.wheel.name, r"-cp310-abi3-linux_\w+\.whl$")

    def test_its_module_needs_libc_only_and_shows_nothing_of_libringside(self):
        with tempfile.TemporaryDirectory() as folder:
            [module] = [name for name in zipfile.ZipFile(self.wheel).namelist() if name.endswith(".so")]
            path = zipfile.ZipFile(self.wheel).extract(module, folder)
            needed = re.findall(r"^\s*(lib\S+?)\.so\S* =>", call("ldd", path).stdout, re.MULTILINE)
            self.assertIn("libc", needed)
            self.assertLessEqual(set(needed), {"libc", "libm"})
            symbols = call("nm", "-D", "--defined-only", path).stdout
            self.assertIn(" T PyInit__core\n", symbols)
            self.assertNotIn("ringside", symbols)

    def test_users_solvers_in_python_run_with_it(self):
        run = call(self.python, "-B", ROOT / "tests" / "examples" / "python_test.py", "--wheel", BUILD, environment=NO_COMPILER)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_users_solvers_run_with_it_and_another_numpy(self):
        run = call(self.python, "-B", ROOT / "tests" / "examples" / "python_test.py", "--wheel", BUILD,
                   environment={**NO_COMPILER, "PYTHONPATH": str(other_numpy(BUILD))})
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_it_has_the_same_bits_without_avx2(self):
        run = call(self.python, "-B", ROOT / "tests" / "python" / "plain_isa_test.py", BUILD / "bin", environment=NO_COMPILER)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    requirements()
    unittest.main()
