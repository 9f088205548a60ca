# SPDX-License-Identifier: BSD-3-Clause
"""Builds the solver of several ranks of docs/publish/mpi.md in projects of its own: once with the component `mpi` of
the installed CMake package, and once with Ringside's sources. For the latter, the test compares the build commands: the
project must compile the same sources as the build of Ringside itself. Arguments: Ringside's build folder, and the
folder for these builds."""

import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOUND = "find_package(Ringside 0.2 CONFIG REQUIRED COMPONENTS mpi)"
ADDED = f'set(RINGSIDE_BUILD_MPI ON)\nadd_subdirectory("{ROOT}" ringside)'


def call(*command):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", check=False)


class Build(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(WORK, ignore_errors=True)
        self.addCleanup(shutil.rmtree, WORK)
        (WORK / "own").mkdir(parents=True)
        shutil.copy(ROOT / "examples" / "publish_mpi.c", WORK / "own")

    def done(self, *command):
        finished = call(*command)
        self.assertEqual(finished.returncode, 0, finished.stdout)

    def configured(self, how, language="C"):
        (WORK / "own" / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.25)\nproject(own LANGUAGES {language})\n{how}\n"
            "add_executable(publish publish_mpi.c)\ntarget_link_libraries(publish PRIVATE Ringside::mpi)\n", encoding="utf-8")
        shutil.rmtree(WORK / "build", ignore_errors=True)
        return call("cmake", "-G", "Ninja", "-S", WORK / "own", "-B", WORK / "build", f"-DCMAKE_PREFIX_PATH={WORK / 'prefix'}")

    def is_linked(self):
        self.done("cmake", "--build", WORK / "build", "--parallel", "2")
        self.assertIn("libringside_mpi.so.0", call("readelf", "-d", WORK / "build" / "publish").stdout)

    def install(self, *components):
        for component in components:
            self.done("cmake", "--install", BUILD, "--prefix", WORK / "prefix", "--component", component)

    def test_find_package_gives_the_target_of_the_component(self):
        self.install("library", "development", "mpi", "mpi_development")
        found = self.configured(FOUND)
        self.assertEqual(found.returncode, 0, found.stdout)
        self.is_linked()
        self.assertIn("component mpi: found no MPI for C", " ".join(self.configured(FOUND, "CXX").stdout.split()))

    def test_a_component_that_is_not_installed_is_named(self):
        self.install("library", "development")
        told = self.configured(FOUND)
        self.assertNotEqual(told.returncode, 0)
        self.assertIn("component mpi: not in", " ".join(told.stdout.split()))

    def test_the_sources_give_the_target_to_a_project_that_asks_for_it(self):
        added = self.configured(ADDED)
        self.assertEqual(added.returncode, 0, added.stdout)
        commands = call("ninja", "-C", WORK / "build", "-t", "commands", "publish").stdout
        self.assertRegex(commands.splitlines()[-1], r"libringside_mpi\.so\.0")
        self.assertNotIn("ringside-producer-mpi", commands)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    WORK = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
