# SPDX-License-Identifier: BSD-3-Clause
"""Another project's build (foreign_build/) adds Ringside's sources to use libringside. This build must search only for
what libringside uses, link its solver, and keep its own settings. Arguments: the folder for this build (a compiler
cache is effective only if its name is the same each time), and optionally a compiler launcher."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = pathlib.Path(__file__).resolve().parent / "foreign_build"

# The CMake packages that only Ringside's programs and tests need. Libraries that are found with pkg-config are hidden
# by hiding pkg-config (below); a search for Chart.js would leave a cache entry.
HIDDEN = ("CLI11", "fmt", "spdlog", "Protobuf", "OpenMP", "PkgConfig", "nlohmann_json", "prometheus-cpp", "ZLIB", "LibLZMA", "LibArchive", "GTest", "Python3")
FOREIGN_HEADERS = r"/(CLI|spdlog|nlohmann|prometheus|libpmem\w*|hwloc|gtest|fmt|google|zmq\w*|omp)[/.]|/(zlib|lzma|archive)\.h"


def call(*command):
    run = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    if run.returncode != 0:
        raise AssertionError(f"{command}: status {run.returncode}\n{run.stdout}")
    return run.stdout


def setUpModule():
    """Configures and builds once."""
    work = WORK
    shutil.rmtree(work, ignore_errors=True)
    unittest.addModuleCleanup(shutil.rmtree, work)
    (work / "pkgconfig").mkdir(parents=True)  # empty: pkg-config finds nothing
    ForeignBuild.work = work
    ForeignBuild.build = work / "build"
    launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={LAUNCHER}"] if LAUNCHER else []
    call("env", "-u", "PKG_CONFIG_PATH", f"PKG_CONFIG_LIBDIR={work / 'pkgconfig'}", "cmake", "-G", "Ninja", "-S", PROJECT,
         "-B", ForeignBuild.build, f"-DRINGSIDE={ROOT}", f"-DFOUND={work}", *launcher,
         *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in HIDDEN))
    call("cmake", "--build", ForeignBuild.build, "--parallel", "2")


class ForeignBuild(unittest.TestCase):
    def test_its_solver_is_linked_and_runs(self):
        own_solver = [self.build / "programs" / "own_solver", "--unknown"]
        solver = subprocess.run(own_solver, stderr=subprocess.PIPE, encoding="utf-8", check=False)
        self.assertEqual((solver.returncode, solver.stderr.split()[0]), (2, "usage:"))

    def test_its_own_variables_and_properties_stay_as_they_were(self):
        before, after = ((self.work / name).read_text(encoding="utf-8").splitlines() for name in ("before", "after"))
        settings = ("CMAKE_BUILD_TYPE=", "CMAKE_CXX_STANDARD=17", "directory COMPILE_OPTIONS=-Wall;-Wextra;-Werror",
                    f"CMAKE_RUNTIME_OUTPUT_DIRECTORY={self.build}/programs")
        self.assertEqual([setting for setting in settings if setting not in after], [])
        self.assertEqual([line for line in before if line not in after], [])
        added = [line for line in after if line not in before]
        # Only Ringside's own options may be added, and the place where CMake found xxHash's header.
        self.assertEqual([line for line in added if not re.match(r"cache RINGSIDE_\w+=", line)], [])
        self.assertIn("cache RINGSIDE_WARNINGS=OFF", added)
        self.assertFalse([line for line in added if re.match(r"cache RINGSIDE_(BUILD_|SANITIZE|UNITY|CHART|CCACHE)", line)], added)

    def test_only_what_the_library_needs_is_compiled(self):
        dependencies = call("ninja", "-C", self.build, "-t", "deps")
        headers = {line.strip() for line in dependencies.splitlines()}
        self.assertEqual([header for header in headers if re.search(FOREIGN_HEADERS, header)], [])
        compiled = {line.split(":")[0] for line in dependencies.splitlines() if "#deps" in line}
        folders = {name.split("/")[1] for name in compiled if name.startswith("ringside/")}
        self.assertEqual(folders, {"library"})

    def test_the_library_alone_is_configured_with_the_same_short_list(self):
        printed = call("env", "-u", "PKG_CONFIG_PATH", f"PKG_CONFIG_LIBDIR={self.work / 'pkgconfig'}", "cmake", "-G", "Ninja", "-S", ROOT,
                       "-B", self.work / "library", "-DRINGSIDE_BUILD_PROGRAMS=OFF",
                       *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in HIDDEN))
        self.assertRegex(printed, r"libringside: compiled with a C\+\+20 compiler and xxhash\.h \(/\S+\), linked with libc, libstdc\+\+, threads")
        targets = call("ninja", "-C", self.work / "library", "-t", "targets", "all")
        self.assertIn("lib/libringside.so.0", targets)
        self.assertNotRegex(targets, r"(?m)^(analyzer|cli|producer|node|tests|bench)/")


if __name__ == "__main__":
    WORK = pathlib.Path(sys.argv.pop(1)).resolve()
    LAUNCHER = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else ""
    unittest.main()
