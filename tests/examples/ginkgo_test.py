# SPDX-License-Identifier: BSD-3-Clause
"""Ginkgo's solvers as runs whose iterates are kept (ringside_ginkgo.hpp), tested with Ginkgo itself and its reference
executor. ginkgo_solvers.cpp is compiled in an empty folder with an installation, as docs/publish/library.md shows.
Arguments: the build folder, and the folder of Ginkgo's CMake package."""

import json
import pathlib
import re
import sys

import story


class Solvers(story.Place):
    """Runs ginkgo_solvers.cpp, which ends with exit code 1 if x differs between a solve with the logger and one
    without."""

    package = None
    program = None  # compiled once

    def setUp(self):
        super().setUp()
        if Solvers.program is None:
            self.build_with_cmake()
            Solvers.program = (self.folder / "build" / "publish").read_bytes()
        (self.folder / "publish").write_bytes(Solvers.program)
        (self.folder / "publish").chmod(0o755)

    def build_with_cmake(self):
        self.copy(pathlib.Path(__file__).resolve().parent / "ginkgo_solvers.cpp")
        self.build_project("CXX", "set(CMAKE_CXX_STANDARD 20)\nfind_package(Ringside CONFIG REQUIRED)\nfind_package(Ginkgo REQUIRED)\n"
                           "add_compile_options(-pedantic -Wall -Wextra -Wconversion -Wshadow -Werror)\nadd_executable(publish ginkgo_solvers.cpp)\n"
                           "target_link_libraries(publish PRIVATE Ringside::ringside Ginkgo::ginkgo)\n", f"-DGinkgo_DIR={self.package}")

    def solve(self, case, iterations, pool, *options):
        """Runs a case. Returns how many iterates were published, and the bytes of x."""
        run = self.call("ringside", "run", "--quiet", "--pool", pool, *options, "--", "./publish", case, iterations)
        return int(re.match(r"(\d+) published", run.stdout).group(1)), (self.folder / "x.bin").read_bytes()

    def kept(self, pool):
        steps = json.loads(self.call("ringside", "info", "--json", pool).stdout)["iterates"]
        return [step["iteration"] for step in steps], steps[-1]["scalars"]["solver.residual"]

    def exported(self, pool, iteration):
        self.call("ringside", "export", pool, "--iteration", iteration, "--output", "x.npy")
        return (self.folder / "x.npy").read_bytes()

    def test_the_iterates_of_each_solver_are_kept_and_the_last_one_is_what_apply_returns(self):
        for case in self.call("./publish").stdout.split():
            with self.subTest(case):
                pool = f"{case}.pool"
                self.assertEqual(self.solve(case, 5, pool)[0], 5)
                self.assertEqual(self.kept(pool)[0], [1, 2, 3, 4, 5])
                published, x = self.solve(case, 2000, pool, "--resume")
                self.assertLess(published, 2000)  # the solver converged
                iterations, residual = self.kept(pool)
                self.assertEqual(iterations[-1], 5 + published)
                self.assertLess(residual, 1e-3)
                self.assertTrue(self.exported(pool, iterations[-1]).endswith(x))

    def test_a_stationary_method_that_is_resumed_has_the_same_bits(self):
        self.solve("ir", 20, "stopped.pool")
        published, x = self.solve("ir", 2000, "stopped.pool", "--resume")
        self.assertEqual(self.solve("ir", 2000, "whole.pool"), (20 + published, x))


def setUpModule():
    story.install()


if __name__ == "__main__":
    Solvers.package = sys.argv.pop(2)
    story.run_tests("library", "development")
