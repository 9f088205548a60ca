# SPDX-License-Identifier: BSD-3-Clause
"""An empty folder with a file of analyses, and runs in it: what the tests of this folder share. Each takes the folder of the
programs as its argument."""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import ringside

PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
STEPS = 12
ENERGY = """
import ringside

@ringside.reduction("energy")
def energy(step):
    return float((step["x"] ** 2).sum())
"""


def bits(value):
    return struct.pack(">d", value)


class Place(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("RINGSIDE_")}
        # Named: python3 in PATH may be another one.
        self.environment.update(LC_ALL="C.UTF-8", PATH=f"{PROGRAMS}:{os.environ['PATH']}", RINGSIDE_PYTHON=sys.executable,
                                XDG_RUNTIME_DIR=str(self.folder), TMPDIR=str(self.folder))

    def write(self, text, name="my.py"):
        (self.folder / name).write_text(text, encoding="utf-8")

    def call(self, *command, expected=0, **more):
        run = subprocess.run([str(word) for word in command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=240, check=False, **more)
        self.assertEqual(run.returncode, expected, f"{command}\n{run.stdout}{run.stderr}")
        return run

    def run_words(self, *more, name="run", files=("my.py",), slots=2 * STEPS, steps=STEPS, timeout=120):
        """Named cores: with the lowest priority a busy machine would not let the analyses run at all."""
        return ("ringside", "run", "--quiet", f"--pool={name}.pool", f"--summary={name}.json", f"--slots={slots}",
                "--durability=process", *(f"--analyze={file}" for file in files), "--analyze-cores=0", f"--analyze-timeout={timeout}",
                f"--iterations={steps}", "--matrix=grid:60", *more)

    def run_with(self, *more, expected=0, **choices):
        """The entries of the summary's key `analyses`, by name, the summary, and what was said."""
        said = self.call(*self.run_words(*more, **choices), expected=expected)
        summary = json.loads((self.folder / f"{choices.get('name', 'run')}.json").read_text(encoding="utf-8"))
        return {one["name"]: one for one in summary["analyses"]}, summary, said.stderr

    def pool(self, name="run"):
        return ringside.open(self.folder / f"{name}.pool")

    def recorded(self, name="run"):
        """{full name: {iteration: value}} of the journal, and how many records they are."""
        found, count = {}, 0
        for record in self.pool(name).records():
            if record.kind != "analysis_results":
                continue
            count += 1
            for result, value in record.results.items():
                found.setdefault(result, {})[record.fields["iteration"]] = value
        return found, count
