# SPDX-License-Identifier: BSD-3-Clause
"""What README.md shows to publish from a solver of one's own: the solvers in C, C++ and Fortran and the reader are compiled
in an empty folder against an installation. Each solver runs below `ringside run`, is followed, is killed, and is resumed to
the bits of a run that was not disturbed. Takes the build folder, or `--root TREE` with packages unpacked in TREE."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
BLOCKS = (("c", "ringside_writer_attach", "publish.c"), ("cpp", "ringside::Writer", "publish.cpp"),
          ("fortran", "run%attach", "publish.f90"), ("c", "ringside_reader_open", "follow.c"))


def section():
    """The README's section on publishing."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.search(r"^## Publish from your own solver\n(.*?)^## ", text, re.MULTILINE | re.DOTALL).group(1)


def block(language, word):
    """The lines of the section's block in that language that has the word."""
    [found] = [text for text in re.findall(rf"^```{language}\n(.*?)^```", section(), re.MULTILINE | re.DOTALL) if word in text]
    return found.splitlines()


def command_for(source):
    """The command that compiles the source, as the section shows it."""
    [found] = [line for line in block("sh", "pkg-config") if re.search(rf" {re.escape(source)} ", line)]
    return found


class Installation:
    """Where the library is installed, with which programs; sysroot: the packages' tree, whose files name /usr."""

    prefix = programs = sysroot = build = None


class Place(unittest.TestCase):
    """An empty folder, and commands that find the installation; contains no tests."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        prefix = Installation.prefix
        [libraries] = {path.parent for path in prefix.glob("lib/**/libringside.so.0")}
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("RINGSIDE_")}
        self.environment.update(
            LC_ALL="C.UTF-8", PATH=f"{Installation.programs}:{os.environ['PATH']}", LD_LIBRARY_PATH=str(libraries),
            LIBRARY_PATH=str(libraries), PKG_CONFIG_PATH=str(libraries / "pkgconfig"), CMAKE_PREFIX_PATH=str(prefix),
            PKG_CONFIG_SYSROOT_DIR=str(Installation.sysroot or ""), OMP_NUM_THREADS="1")

    def call(self, *command, expected=0):
        run = subprocess.run([str(word) for word in command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=240, check=False)
        self.assertEqual(run.returncode, expected, f"{command}\n{run.stdout}{run.stderr}")
        return run

    def build(self, source):
        """Compiles the example as the README shows, with warnings as errors."""
        shutil.copy(EXAMPLES / source, self.folder)
        shown = command_for("publish" + pathlib.Path(source).suffix).replace("publish.c ", f"{source} ")
        program = pathlib.Path(source).stem
        words = shown.replace("-o publish", f"-o {program}").split(" ", 1)
        self.call("sh", "-ec", f"{words[0]} -Wall -Wextra -Werror {words[1]}")

    def newest(self, pool):
        """The newest iteration that is kept."""
        return max(step["iteration"] for step in json.loads(self.call("ringside", "info", "--json", pool).stdout)["iterates"])

    def followed(self, pool):
        """What the reader prints of the steps that are kept: {iteration: mean}."""
        return dict(line.split() for line in self.call("./follow", pool, "0").stdout.splitlines())


class Readme(unittest.TestCase):
    def test_each_block_is_a_part_of_the_example_that_is_compiled(self):
        for language, word, source in BLOCKS:
            with self.subTest(source):
                lines = [line.strip() for line in (EXAMPLES / source).read_text(encoding="utf-8").splitlines()]
                shown = [line.strip() for line in block(language, word)]
                places = [at for at in range(len(lines)) if lines[at:at + len(shown)] == shown]
                self.assertEqual(len(places), 1, "\n".join(shown))

    def test_a_user_adds_less_than_ten_lines(self):
        for language, word, source in BLOCKS:
            added = [line for line in block(language, word) if line.strip() not in ("", "}", "end do") and "your " not in line]
            self.assertLess(len(added), 10, source)


class Solver:
    """The story of one solver; the classes below name its source."""

    source = ""

    def test_a_run_is_kept_followed_killed_and_resumed_with_the_same_bits(self):
        self.build(self.source)
        self.build("follow.c")
        self.call("ringside", "run", "--quiet", "--pool", "rod.pool", "--", "./publish", "5")
        self.assertEqual(list(self.followed("rod.pool")), ["1", "2", "3", "4", "5"])

        # Longer than the test lives: it ends by SIGKILL, once the reader has seen steps after the first run's.
        run = subprocess.Popen(["ringside", "run", "--pool", "rod.pool", "--resume", "--", "./publish", "1000000000"],
                               cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, encoding="utf-8")
        reader = None
        try:
            while self.newest("rod.pool") <= 5:  # a reader that comes earlier sees the end of the first run
                self.assertIsNone(run.poll(), "the second run has ended")
            reader = subprocess.Popen(["./follow", "rod.pool", "60"], cwd=self.folder, env=self.environment,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8")
            seen = [int(reader.stdout.readline().split()[0]) for _ in range(20)]
            self.assertEqual(seen, sorted(set(seen)))
            os.kill(self.publishing(run.pid), signal.SIGKILL)
            said = run.communicate(timeout=120)[1]
        finally:
            for process in filter(None, (reader, run)):
                process.kill()
                process.communicate()
        self.assertEqual(run.returncode, 4, said)
        self.assertIn("ringside run --resume continues", said)

        newest = self.newest("rod.pool")
        self.assertGreaterEqual(newest, seen[-1])
        last = newest + 10
        self.call("ringside", "run", "--quiet", "--pool", "rod.pool", "--resume", "--", "./publish", last)
        self.call("ringside", "run", "--quiet", "--pool", "whole.pool", "--", "./publish", last)
        self.assertIn("intact", self.call("ringside", "verify", "rod.pool").stdout)
        for pool in ("rod", "whole"):
            self.call("ringside", "export", f"{pool}.pool", "--iteration", last, "--output", f"{pool}.npy")
        self.assertEqual((self.folder / "rod.npy").read_bytes(), (self.folder / "whole.npy").read_bytes())
        self.assertEqual(self.followed("rod.pool")[str(last)], self.followed("whole.pool")[str(last)])

    def test_without_an_analyzer_it_ends_with_one_line(self):
        self.build(self.source)
        self.environment["RINGSIDE_SOCKET"] = str(self.folder / "nothing.socket")
        self.environment["RINGSIDE_PEER_TIMEOUT"] = "0.1"
        run = self.call("./publish", expected=4)
        self.assertRegex(run.stderr, r"^[^\n]*nothing\.socket[^\n]*\n$")

    def publishing(self, parent):
        """The process below `parent` that runs ./publish."""
        for child in pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split():
            if pathlib.Path(f"/proc/{child}/comm").read_text(encoding="utf-8") == "publish\n":
                return int(child)
        self.fail(f"process {parent} has no child `publish`")


class SolverInC(Solver, Place):
    source = "publish.c"


class SolverInCpp(Solver, Place):
    source = "publish.cpp"


class SolverInFortran(Solver, Place):
    source = "publish.f90"

    def test_the_module_compiles_as_fortran_2018_without_a_warning(self):
        [module] = Installation.prefix.glob("share/ringside/fortran/ringside.f90")
        self.call("gfortran", "-c", "-std=f2018", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fcheck=all", module)

    def test_the_module_gives_every_function_to_fortran(self):
        shutil.copy(EXAMPLES.parent / "tests" / "examples" / "fortran_face.f90", self.folder)
        self.call("sh", "-ec", command_for("publish.f90").replace("publish.f90", "-std=f2018 -Wall -Wextra -Werror -fcheck=all -g "
                                                                  "fortran_face.f90").replace("-o publish", "-o face"))
        for word, use in (("write", []), ("resume", ["--resume"])):
            self.call("ringside", "run", "--quiet", "--pool", "face.pool", *use, "--", "./face", word)
        self.call("./face", "read", "face.pool")

    def test_its_cmake_target_compiles_the_module(self):
        shutil.copy(EXAMPLES / self.source, self.folder)
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(own LANGUAGES C Fortran)\nfind_package(Ringside 0.2 CONFIG REQUIRED)\n"
            "add_executable(publish publish.f90)\ntarget_link_libraries(publish PRIVATE Ringside::fortran)\n", encoding="utf-8")
        self.call("cmake", "-G", "Ninja", "-S", ".", "-B", "build")
        self.call("cmake", "--build", "build")
        self.call("ringside", "run", "--quiet", "--pool", "rod.pool", "--", "build/publish", "5")


class CMakePackage(Place):
    def test_find_package_gives_a_target_for_c_and_cpp(self):
        for source in ("publish.c", "publish.cpp", "follow.c"):
            shutil.copy(EXAMPLES / source, self.folder)
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(own LANGUAGES C CXX)\nset(CMAKE_CXX_STANDARD 20)\n"
            "find_package(Ringside 0.2 CONFIG REQUIRED)\nlink_libraries(Ringside::ringside)\n"
            "add_executable(in_c publish.c)\nadd_executable(in_cpp publish.cpp)\nadd_executable(follow follow.c)\n", encoding="utf-8")
        self.call("cmake", "-G", "Ninja", "-S", ".", "-B", "build")
        self.call("cmake", "--build", "build")
        for program in ("in_c", "in_cpp"):
            self.call("ringside", "run", "--quiet", "--pool", f"{program}.pool", "--", f"build/{program}", "5")
        self.assertEqual(self.call("build/follow", "in_c.pool", "0").stdout, self.call("build/follow", "in_cpp.pool", "0").stdout)

    def test_a_later_version_than_the_installed_one_is_not_found(self):
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(own LANGUAGES C)\nfind_package(Ringside 0.9 CONFIG)\n"
            "message(STATUS \"found=${Ringside_FOUND} of ${Ringside_CONSIDERED_VERSIONS}\")\n", encoding="utf-8")
        self.assertRegex(self.call("cmake", "-S", ".", "-B", "build").stdout, r"found=0 of 0\.")


def setUpModule():
    if Installation.build:
        folder = tempfile.TemporaryDirectory()
        unittest.addModuleCleanup(folder.cleanup)
        Installation.prefix = pathlib.Path(folder.name) / "local"
        Installation.programs = Installation.build / "bin"
        for component in ("library", "development"):
            subprocess.run(["cmake", "--install", Installation.build, "--prefix", Installation.prefix, "--component", component],
                           stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    if sys.argv[1] == "--root":
        Installation.sysroot = pathlib.Path(sys.argv[2]).resolve()
        Installation.prefix = Installation.sysroot / "usr"
        Installation.programs = Installation.prefix / "bin"
        del sys.argv[1:3]
    else:
        Installation.build = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
