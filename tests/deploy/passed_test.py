# SPDX-License-Identifier: BSD-3-Clause
"""deploy/passed.sh in a separate repository: a stage counts as passed only while all its inputs are the same as when it
passed."""

import os
import pathlib
import subprocess
import tempfile
import unittest

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"


class Passed(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "sources"
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.root.parent / "cache"),
                            "RINGSIDE_TEST_DATA": str(self.root.parent / "data")}
        for path in ("producer/main.cpp", "docs/page.md", "python/core.py", "tests/node/node_test.py", "tests/unit/a_test.cpp",
                     "tests/unit/memory/oracle.cpp", "dashboards/page/live.html", "bench/bench.cpp"):
            self.write(path, "first")
        (self.root.parent / "data").mkdir()
        subprocess.run(["git", "init", "--quiet"], cwd=self.root, check=True)
        subprocess.run(["git", "add", "."], cwd=self.root, check=True)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def shell(self, commands, **environment):
        run = subprocess.run(["bash", "-c", f'set -euo pipefail; source "{DEPLOY}/passed.sh"; {commands}'], cwd=self.root,
                             stdout=subprocess.PIPE, encoding="utf-8", env={**self.environment, **environment}, check=False)
        return run.returncode, run.stdout

    def passes(self, *stages):
        for stage in stages:
            self.assertEqual(self.shell(f"has_passed {stage} || note_passed {stage}")[0], 0)

    def passed(self, **environment):
        """The stages that currently count as passed."""
        return self.shell("for s in release asan tsan node; do if has_passed $s; then echo $s; fi; done", **environment)[1].split()

    def test_nothing_has_passed_at_first_and_a_stage_only_speaks_for_itself(self):
        self.assertEqual(self.passed(), [])
        self.passes("asan")
        self.assertEqual(self.passed(), ["asan"])

    def test_a_changed_file_undoes_the_stages_that_read_it(self):
        for path, left in (("producer/main.cpp", []), ("docs/page.md", ["asan", "tsan"]), ("bench/bench.cpp", ["asan", "tsan", "node"]),
                           ("python/core.py", ["asan", "tsan"]), ("tests/node/node_test.py", ["asan", "tsan"]),
                           ("tests/unit/a_test.cpp", ["node"]), ("tests/unit/memory/oracle.cpp", []), ("dashboards/page/live.html", []),
                           ("producer/new_and_untracked.hpp", [])):
            with self.subTest(path):
                self.passes("release", "asan", "tsan", "node")
                self.assertEqual(self.passed(), ["release", "asan", "tsan", "node"])
                self.write(path, f"changed {path}")
                self.assertEqual(self.passed(), left)

    def test_permissions_test_data_and_build_settings_are_inputs(self):
        self.passes("asan")
        (self.root / "producer/main.cpp").chmod(0o755)
        self.assertEqual(self.passed(), [])
        self.passes("asan")
        (self.root.parent / "data/graph.txt").write_text("0 1\n", encoding="utf-8")
        self.assertEqual(self.passed(), [])
        self.passes("asan")
        for setting in ({"CXXFLAGS": "-O0"}, {"OMP_NUM_THREADS": "1"}, {"PATH": f"/nonexistent:{os.environ['PATH']}"}):
            self.assertEqual(self.passed(**setting), [], setting)
        self.assertEqual(self.passed(), ["asan"])

    def test_a_stage_whose_inputs_changed_while_it_ran_is_not_noted(self):
        self.shell("has_passed asan || { echo changed >producer/main.cpp; note_passed asan; }")
        self.assertEqual(self.passed(), [])

    def test_without_a_repository_every_stage_runs(self):
        subprocess.run(["rm", "-rf", ".git"], cwd=self.root, check=True)
        self.passes("asan")
        self.assertEqual(self.passed(), [])

    def test_a_cache_that_cannot_be_written_is_no_failure(self):
        self.environment["XDG_CACHE_HOME"] = "/dev/null"
        self.passes("asan")
        self.assertEqual(self.passed(), [])


if __name__ == "__main__":
    unittest.main()
