# SPDX-License-Identifier: BSD-3-Clause
"""The wheels, made as docs/publish/python.md says: their contents, and the solvers of docs/publish/README.md in a
separate environment that has the wheels but no compiler. Argument: the build folder, in which the test keeps the
packages that build the wheels. The wheel of the programs contains the programs of this build folder, which link the
distribution's libraries. The wheels of deploy/wheels.sh take minutes to build; deploy/test_on.sh --wheels tests them.
The test is skipped if pip is missing, or if the registry does not answer the request for scikit-build-core."""

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
    """The folder with the packages that pyproject.toml requires for a build. pip's own folder would have another name
    in each build, and the module would be compiled again each time."""
    wanted = re.search(r"^requires = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE).group(1)
    return packages(BUILD / "wheel" / "requirements", *re.findall(r'"(.*?)"', wanted))


def setUpModule():
    """Builds the wheel once, and installs it without a compiler."""
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    made = pathlib.Path(folder.name)
    launcher = shutil.which("ccache")
    for name, source, define in (("build", ROOT, "CMAKE_CXX_FLAGS_RELEASE=-O1"),  # not measured, so build quickly
                                 ("programs", ROOT / "python" / "programs", f"RINGSIDE_BUILT={BUILD}")):
        run = call(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--config-settings",
                   f"build-dir={BUILD / 'wheel' / name}", "--config-settings", f"cmake.define.{define}", "--wheel-dir", made, source,
                   environment={"PYTHONPATH": str(requirements()), **({"CMAKE_CXX_COMPILER_LAUNCHER": launcher} if launcher else {})})
        assert run.returncode == 0, run.stdout + run.stderr
    [Wheel.wheel] = made.glob("ringside_insitu_core-*.whl")
    [Wheel.programs] = made.glob("ringside_insitu-*.whl")
    Wheel.python = made / "environment" / "bin" / "python3"
    for command in ((sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", made / "environment"),
                    (sys.executable, "-m", "pip", "--python", Wheel.python, "install", "--no-deps", "--no-index",
                     Wheel.wheel, Wheel.programs)):
        run = call(*command, environment=NO_COMPILER)
        assert run.returncode == 0, run.stdout + run.stderr


class Wheel(unittest.TestCase):
    def test_it_has_the_sources_one_module_and_the_library_and_no_other_file(self):
        sources = {f"ringside/{path.name}" for path in (ROOT / "python" / "ringside").iterdir() if path.is_file()}
        names = set(zipfile.ZipFile(self.wheel).namelist())
        self.assertLessEqual(sources, names)
        others = {name for name in names - sources
                  if not re.match(r"ringside_insitu_core-[\d.]+\.dist-info/|ringside/_prefix/(include|share|lib/cmake)/", name)}
        self.assertEqual(others, {"ringside/_core.abi3.so", "ringside/_prefix/lib/libringside.so", "ringside/_prefix/lib/libringside.so.0",
                                  "ringside/_prefix/lib/pkgconfig/ringside.pc"})
        self.assertRegex(self.wheel.name, r"-cp310-abi3-linux_\w+\.whl$")

    def test_no_file_is_in_both_wheels(self):
        both = set(zipfile.ZipFile(self.wheel).namelist()) & set(zipfile.ZipFile(self.programs).namelist())
        self.assertEqual(both, set())

    def test_its_files_need_libc_only_and_the_module_shows_nothing_of_libringside(self):
        with tempfile.TemporaryDirectory() as folder:
            zipfile.ZipFile(self.wheel).extractall(folder)
            [module] = pathlib.Path(folder, "ringside").glob("_core*.so")
            library = pathlib.Path(folder, "ringside/_prefix/lib/libringside.so.0")
            self.assertIn(f"libringside.so.0 => {module.parent}/_prefix/lib/libringside.so.0 ", call("ldd", module).stdout)
            for path in (module, library):
                needed = re.findall(r"^\s*(lib\S+?)\.so\S* =>", call("ldd", path).stdout, re.MULTILINE)
                self.assertIn("libc", needed)
                self.assertLessEqual(set(needed), {"libc", "libm", "libringside"})
            symbols = call("nm", "-D", "--defined-only", module).stdout
            self.assertIn(" T PyInit__core\n", symbols)
            self.assertNotIn("ringside", symbols)

    def test_installed_beside_its_programs_it_serves_a_user_without_any_package(self):
        run = call(self.python, "-B", ROOT / "tests" / "python" / "installed_wheel.py", ROOT / "examples")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_the_readmes_notebooks_are_killed_continue_and_are_followed_with_it(self):
        run = call(self.python, "-B", ROOT / "tests" / "python" / "notebook_test.py", self.python.parent, environment=NO_COMPILER)
        if run.returncode == 77:
            self.skipTest(run.stdout)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_pip_takes_the_debian_package_for_the_same_distribution(self):
        with tempfile.TemporaryDirectory() as folder:
            debian = pathlib.Path(folder, "usr/lib/python3/dist-packages")
            call("cmake", "--install", BUILD, "--component", "python", "--prefix", f"{folder}/usr")
            python = pathlib.Path(folder, "environment/bin/python3")
            call(sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", python.parents[1])
            [site] = python.parents[1].glob("lib/python3*/site-packages")
            (site / "debian.pth").write_text(f"{debian}\n", encoding="utf-8")  # searched after that of the environment
            install = (sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--find-links", self.wheel.parent)
            where = (python, "-c", "import os, ringside; print(ringside.__file__)")

            run = call(*install, "ringside-insitu")
            self.assertRegex(run.stdout, rf"already satisfied: ringside-insitu-core==\S+ in {re.escape(str(debian))}")
            self.assertEqual(call(python.parent / "ringside", "--version").returncode, 0)
            run = call(*where, environment={"LD_LIBRARY_PATH": str(BUILD / "lib")})  # libringside is not installed
            self.assertTrue(run.stdout.startswith(str(debian)), run.stdout + run.stderr)

            run = call(*install, "--ignore-installed", "--no-deps", "ringside-insitu-core")
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertTrue(call(*where).stdout.startswith(str(site)))
            self.assertTrue((debian / "ringside/__init__.py").exists())

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
