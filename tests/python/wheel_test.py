# SPDX-License-Identifier: BSD-3-Clause
"""A wheel of the Python package, made as docs/python.md says: what is in it, and the README's solvers with it in an environment
of its own, where there is no compiler. Takes the build folder, where it keeps what the wheel is built with. Skipped if pip is
missing, or if the registry does not answer when scikit-build-core is asked for."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_COMPILER = {compiler: "/bin/false" for compiler in ("CC", "CXX", "FC")}


def call(*command, environment=None):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8", timeout=1500, check=False,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **(environment or {})})


def requirements():
    """The folder with what pyproject.toml requires of a build. pip's own folder would have another name in each build, and
    the module would be compiled again each time."""
    folder = BUILD / "wheel" / "requirements"
    wanted = re.search(r"^requires = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE).group(1)
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        run = call(sys.executable, "-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "15", "--target", folder,
                   *re.findall(r'"(.*?)"', wanted))
        if run.returncode != 0:
            print(f"skipped: no {wanted} from the registry: {(run.stderr.strip().splitlines() or ['?'])[-1]}")
            sys.exit(77)
        (folder / "complete").touch()
    return folder


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
        self.assertEqual([re.sub(r"\.cpython-\d+-\S+?\.", ".", name) for name in others], ["ringside/_core.so"])

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

    def test_it_has_the_same_bits_without_avx2(self):
        run = call(self.python, "-B", ROOT / "tests" / "python" / "plain_isa_test.py", BUILD / "bin", environment=NO_COMPILER)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    if call(sys.executable, "-m", "pip", "--version").returncode != 0:
        print(f"skipped: {sys.executable} has no pip (python3-pip)")
        sys.exit(77)
    requirements()
    unittest.main()
