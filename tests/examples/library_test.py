# SPDX-License-Identifier: BSD-3-Clause
"""The programs with which docs/publish/README.md shows how a user's solver publishes: the solvers in C, C++ and Fortran
and the reader are compiled in an empty folder with an installation; then each solver is run, followed, killed and
resumed (story.py). The page's blocks in all languages must be parts of the examples. python_test.py tests the solvers
in Python. Arguments: the build folder, or `--root TREE` with packages unpacked in TREE."""

import pathlib
import re
import unittest

import numpy as np
import story
from story import EXAMPLES, ROOT, Installation, Place

BLOCKS = (("c", "ringside_writer_attach", "publish.c"), ("cpp", "ringside::Writer", "publish.cpp"),
          ("fortran", "run%attach", "publish.f90"), ("c", "ringside_reader_open", "follow.c"),
          ("python", "heat_step", "publish.py"), ("python", "pool.follow", "follow.py"),
          ("python", "ksp.solve", "publish_petsc.py"))


def page():
    """The page on publishing."""
    return (ROOT / "docs" / "publish" / "README.md").read_text(encoding="utf-8")


def block(language, word):
    """The lines of the page's block in this language that contains the word."""
    [found] = [text for text in re.findall(rf"^```{language}\n(.*?)^```", page(), re.MULTILINE | re.DOTALL) if word in text]
    return found.splitlines()


def command_for(source, program, level="-O2"):
    """The page's command that compiles the source, with this program's name and this optimisation level."""
    [found] = [line for line in block("sh", "pkg-config") if re.search(rf" {re.escape(source)} ", line)]
    return re.sub(r"-O2 -o \S+", f"{level} -o {program}", found)


class Page(unittest.TestCase):
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


class Compiled(story.Solver):
    """The tests of a solver that is compiled (story.py). The classes below name its source."""

    source = ""
    solver = ("./publish",)
    follower = ("./follow",)
    built = {}  # {source: the program's bytes}, because each source is compiled only once

    def prepare(self):
        for source, [command] in ((self.source, self.solver), ("follow.c", self.follower)):
            program = self.folder / command
            if source not in Compiled.built:
                self.build(source)
                Compiled.built[source] = program.read_bytes()
            else:
                program.write_bytes(Compiled.built[source])
                program.chmod(0o755)

    def build(self, source, level="-O2"):
        """Compiles the example with the page's command. At -O2, warnings are errors. At other levels, warnings are off:
        at -O3, gfortran 14 warns about the bounds of a pointer that is not associated."""
        self.copy(source)
        path = pathlib.Path(source)
        words = command_for("publish" + path.suffix, path.stem, level).replace("publish.c ", f"{source} ").split(" ", 1)
        warnings = "-Wall -Wextra -Werror" if level == "-O2" else ""
        self.call("sh", "-ec", f"{words[0]} {warnings} {words[1]}")

    def write_resume_and_read(self):
        """Runs `face`, a program that uses the parts of the language's interface that the examples do not use."""
        for file in self.folder.glob("face.pool*"):
            file.unlink()
        for word, use in (("write", []), ("resume", ["--resume"])):
            self.call("ringside", "run", "--quiet", "--pool", "face.pool", *use, "--", "./face", word)
        self.call("./face", "read", "face.pool")

    def test_without_an_analyzer_it_ends_with_one_line(self):
        self.assertRegex(self.without_an_analyzer(expected=4), r"^[^\n]*nothing\.socket[^\n]*\n$")


class AtEveryLevel(Compiled):
    """The solvers of the page, which all compute the same rod."""

    def test_it_runs_whatever_it_is_optimised_to(self):
        for level in ("-O0", "-O1", "-O3"):  # prepare() compiles with -O2
            self.build(self.source, level)
            self.call("ringside", "run", "--quiet", "--pool", f"{level[1:]}.pool", "--", *self.solver, "5")
            self.call("ringside", "export", f"{level[1:]}.pool", "--output", f"{level[1:]}.npy")
            x = np.load(self.folder / f"{level[1:]}.npy")
            self.assertEqual((x[0], x[-1], np.count_nonzero(x)), (100, 0, 6), level)  # five steps from the hot end


class SolverInC(AtEveryLevel, Place):
    source = "publish.c"


class SolverInCpp(AtEveryLevel, Place):
    source = "publish.cpp"

    def test_the_header_gives_every_function_to_cpp(self):
        self.copy(pathlib.Path(__file__).resolve().parent / "cpp_face.cpp")
        self.call("sh", "-ec", command_for("publish.cpp", "face").replace("publish.cpp", "-Wall -Wextra -Werror -g cpp_face.cpp"))
        self.write_resume_and_read()


class SolverInFortran(AtEveryLevel, Place):
    source = "publish.f90"

    def test_the_module_compiles_as_fortran_2018_without_a_warning(self):
        [module] = Installation.prefix.glob("share/ringside/fortran/ringside.f90")
        self.call("gfortran", "-c", "-std=f2018", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fcheck=all", module)

    def test_the_module_gives_every_function_to_fortran(self):
        self.copy(pathlib.Path(__file__).resolve().parent / "fortran_face.f90")
        # Warnings are on only at -O0, because with optimisation gfortran warns about code that it removes, and about
        # allocatable arrays that a function makes.
        for level in ("-O0 -Wall -Wextra -Werror -fcheck=all -g", "-O1", "-O2", "-O3", "-O3 -fcheck=all -g"):
            self.call("sh", "-ec", command_for("publish.f90", "face", level).replace("publish.f90", "-std=f2018 fortran_face.f90"))
            self.write_resume_and_read()

    def test_its_cmake_target_compiles_the_module(self):
        self.copy(self.source)
        self.build_project("C Fortran", "find_package(Ringside 0.2 CONFIG REQUIRED)\n"
                           "add_executable(publish publish.f90)\ntarget_link_libraries(publish PRIVATE Ringside::fortran)\n")
        self.call("ringside", "run", "--quiet", "--pool", "rod.pool", "--", "build/publish", "5")


class CMakePackage(Place):
    def test_find_package_gives_a_target_for_c_and_cpp(self):
        self.copy("publish.c", "publish.cpp", "follow.c")
        self.build_project("C CXX", "set(CMAKE_CXX_STANDARD 20)\n"
                           "find_package(Ringside 0.2 CONFIG REQUIRED)\nlink_libraries(Ringside::ringside)\n"
                           "add_executable(in_c publish.c)\nadd_executable(in_cpp publish.cpp)\nadd_executable(follow follow.c)\n")
        for program in ("in_c", "in_cpp"):
            self.call("ringside", "run", "--quiet", "--pool", f"{program}.pool", "--", f"build/{program}", "5")
        self.assertEqual(self.call("build/follow", "in_c.pool", "0").stdout, self.call("build/follow", "in_cpp.pool", "0").stdout)

    def test_the_memory_library_has_a_target_and_a_name_for_pkg_config(self):
        (self.folder / "use.c").write_text(
            '#include <ringside_memory.h>\n#include <stdio.h>\n'
            'int main(void) { puts(ringside_memory_stop() == 0 ? "stopped" : ringside_memory_error()); return 0; }\n', encoding="utf-8")
        self.build_project("C", "find_package(Ringside 0.2 CONFIG REQUIRED COMPONENTS memory)\n"
                           "add_executable(use use.c)\ntarget_link_libraries(use PRIVATE Ringside::memory)\n")
        self.call("sh", "-ec", "cc -o use use.c $(pkg-config --cflags --libs ringside-memory)")
        for program in ("build/use", "./use"):
            self.assertIn("ringside_memory_stop: ", self.call(program).stdout)

    def test_the_example_of_a_reduction_is_built_and_loaded(self):
        self.copy("reduction/l3.c", "reduction/CMakeLists.txt")
        self.build_project()
        self.call("ringside", "run", "--quiet", "--matrix=grid:30", "--pool=l3.pool", "--reduce-with=build/libl3.so:l3")
        self.assertIn('"x.l3":', self.call("ringside", "tail", "--pool", "l3.pool", "--json").stdout)

    def test_a_later_version_than_the_installed_one_is_not_found(self):
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(own LANGUAGES C)\nfind_package(Ringside 0.9 CONFIG)\n"
            "message(STATUS \"found=${Ringside_FOUND} of ${Ringside_CONSIDERED_VERSIONS}\")\n", encoding="utf-8")
        self.assertRegex(self.call("cmake", "-S", ".", "-B", "build").stdout, r"found=0 of 0\.")


def setUpModule():
    story.install()


if __name__ == "__main__":
    story.run_tests("library", "development")
