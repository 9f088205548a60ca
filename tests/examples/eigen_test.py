# SPDX-License-Identifier: BSD-3-Clause
"""Eigen's solvers as runs whose iterates are kept (ringside_eigen.hpp), tested with Eigen itself.
examples/publish_eigen.cpp is compiled as docs/publish/library.md shows, in an empty folder with an installation; it is
followed, killed and resumed. Each of the other solvers is stopped and resumed; both times, x must be bit-equal to
Eigen's x. Arguments: the build folder, and the folder of Eigen's CMake package."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import library_test
import story

HERE = pathlib.Path(__file__).resolve().parent


class SolverWithEigen(library_test.Compiled, story.Place):
    """Runs, follows, kills and resumes the example (story.py)."""

    source = "publish_eigen.cpp"

    def build(self, source, level="-O2"):
        """Compiles the reader with the command in docs/publish/README.md, and a program that uses Eigen with the
        command in docs/publish/library.md; warnings are errors."""
        if source == "follow.c":
            super().build(source)
        else:
            compile_with_eigen(self, source)


def compile_with_eigen(place, source):
    [shown] = re.findall(r"^c\+\+ .* publish_eigen\.cpp .*$", (story.ROOT / "docs" / "publish" / "library.md").read_text(encoding="utf-8"), re.MULTILINE)
    place.copy(source)
    words = shown.split(" ", 1)
    place.call("sh", "-ec", f"{words[0]} -Wall -Wextra -Werror {words[1]}")


def compile_solvers(place, compiler, *options, eigen="-I"):
    """Compiles eigen_solvers.cpp with the installation, through ccache if it is installed. The paths are relative to
    the place's folder, so that the command is the same in each run of the test. eigen: the option that names Eigen's
    folder. Returns the object file."""
    folder = story.Installation.prefix.parent
    flags = place.call("sh", "-ec", f"pkg-config --cflags ringside; pkg-config --cflags eigen3 | sed s/-I/{eigen}/").stdout.split()
    shutil.copy(HERE / "eigen_solvers.cpp", folder)
    made = folder / f"{compiler}.o"
    environment = {**place.environment, "CCACHE_BASEDIR": str(folder)}
    command = [*(["ccache"] if shutil.which("ccache") else []), compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", *options, *flags,
               "-c", "eigen_solvers.cpp", "-o", made.name]
    run = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    place.assertEqual(run.returncode, 0, f"{command}\n{run.stdout}")
    return made


class Solvers(story.Place):
    """Runs eigen_solvers.cpp, which ends with exit code 1 if x is not bit-equal to Eigen's x."""

    program = None  # compiled once

    def setUp(self):
        super().setUp()
        if Solvers.program is None:
            # The templates of each solver take a long time to compile. With little optimisation, the solvers make the
            # same promises.
            made = compile_solvers(self, "c++", "-O1")
            self.call("sh", "-ec", f"c++ -o publish {made} $(pkg-config --libs ringside)")
            Solvers.program = (self.folder / "publish").read_bytes()
        (self.folder / "publish").write_bytes(Solvers.program)
        (self.folder / "publish").chmod(0o755)

    def run_case(self, pool, case, iterations, *options, expected=0):
        return self.call("ringside", "run", "--quiet", "--pool", pool, *options, "--", "./publish", case, iterations, expected=expected)

    def iterations(self, *arguments):
        return int(re.match(r"iterations (\d+)", self.run_case(*arguments).stdout).group(1))

    def test_each_has_the_bits_of_eigens_also_if_it_was_stopped_and_resumed(self):
        cases = self.call("./publish").stdout.split()
        self.assertIn("bicgstab", cases)
        for case in cases:
            with self.subTest(case):
                pool = f"{case}.pool"
                self.assertEqual(self.iterations(pool, case, 2), 2)
                last = self.iterations(pool, case, 1000, "--resume")
                self.assertGreater(last, 2)
                kept = json.loads(self.call("ringside", "info", "--json", pool).stdout)["iterates"]
                self.assertEqual(max(step["iteration"] for step in kept), last)
                self.assertEqual(self.iterations(pool, case, 1000, "--resume"), last)  # no iteration remains to be done

    def test_the_header_compiles_without_a_warning(self):
        for compiler in filter(shutil.which, ("clang++",)):  # g++ compiles the programs of the other tests
            with self.subTest(compiler):
                compile_solvers(self, compiler, "-O0", "-pedantic", "-Wconversion", "-Wshadow", eigen="-isystem")

    def test_another_problem_does_not_resume_the_run(self):
        self.run_case("cg.pool", "cg", 2)
        for case in ("other_matrix", "other_b", "other_guess", "cg_cholesky", "cg_upper"):
            with self.subTest(case):
                self.assertIn("another problem", self.run_case("cg.pool", case, 1000, "--resume", expected=2).stderr)
        self.assertIn("have different variables", self.run_case("cg.pool", "bicgstab", 1000, "--resume", expected=2).stderr)
        self.assertGreater(self.iterations("cg.pool", "same", 1000, "--resume"), 2)

    def test_bicgstab_goes_on_as_eigens_does_where_the_residual_becomes_orthogonal_to_the_first_one(self):
        said = self.run_case("x.pool", "breakdown", 0).stdout
        ours, theirs = re.match(r"iterations (\d+) of Eigen's (\d+)", said).groups()
        self.assertEqual(int(ours), int(theirs) + 1)  # Eigen's count of iterations begins again at that point

    def test_numbers_that_are_not_finite_end_the_run_as_eigens_numerical_issue(self):
        self.assertIn("error nan", self.run_case("x.pool", "not_finite", 0, expected=2).stdout)

    def test_if_b_is_zero_so_is_x_without_an_iteration(self):
        self.assertEqual(self.run_case("x.pool", "b_is_zero", 0).stdout, "iterations 0, error 0\n")

    def test_two_right_hand_sides_are_refused(self):
        self.assertIn("b: found 2 columns; expected 1\n", self.run_case("x.pool", "two_columns", 0, expected=4).stderr)


def setUpModule():
    story.install()


if __name__ == "__main__":
    del sys.argv[2]  # pkg-config provides Eigen's folder
    story.run_tests("library", "development")
