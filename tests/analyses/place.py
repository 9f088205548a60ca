# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the tests in this folder: an empty folder with a file of analyses, and runs in this folder. Each test takes
the folder of the programs as its argument."""

import json
import pathlib
import struct
import sys

import ringside

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from own_folder import OwnFolder  # noqa: E402

STEPS = 12
ENERGY = """
import ringside

@ringside.reduction("energy")
def energy(step):
    return float((step["x"] ** 2).sum())
"""


def bits(value):
    return struct.pack(">d", value)


class Place(OwnFolder):
    programs = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None

    def setUp(self):
        super().setUp()
        # The interpreter is named, because python3 in PATH may be a different one.
        self.environment.update(RINGSIDE_PYTHON=sys.executable, XDG_RUNTIME_DIR=str(self.folder), TMPDIR=str(self.folder))

    def write(self, text, name="my.py"):
        super().write(text, name)

    def run_words(self, *more, name="run", files=("my.py",), slots=2 * STEPS, steps=STEPS, timeout=120):
        """The words of a run. Cores are named for the analyses, because with the lowest priority they might not run at
        all on a busy machine."""
        return ("ringside", "run", "--quiet", f"--pool={name}.pool", f"--summary={name}.json", f"--slots={slots}",
                "--durability=process", *(f"--analyze={file}" for file in files), "--analyze-cores=0", f"--analyze-timeout={timeout}",
                f"--iterations={steps}", "--matrix=grid:60", *more)

    def run_with(self, *more, expected=0, **choices):
        """Makes a run. Returns the entries of the summary's key `analyses` by name, the summary, and the run's standard
        error."""
        said = self.call(*self.run_words(*more, **choices), expected=expected)
        summary = json.loads((self.folder / f"{choices.get('name', 'run')}.json").read_text(encoding="utf-8"))
        return {one["name"]: one for one in summary["analyses"]}, summary, said.stderr

    def pool(self, name="run"):
        return ringside.open(self.folder / f"{name}.pool")

    def recorded(self, name="run"):
        """{full name: {iteration: value}} from the journal, and the number of records with these values."""
        found, count = {}, 0
        for record in self.pool(name).records():
            if record.kind != "analysis_results":
                continue
            count += 1
            for result, value in record.results.items():
                found.setdefault(result, {})[record.fields["iteration"]] = value
        return found, count
