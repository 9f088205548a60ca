# SPDX-License-Identifier: BSD-3-Clause
"""README.md as a newcomer reads it: its programs are saved and run, and its commands are run as they are written, in their order, in one
empty folder. Takes the build folder, or `--root TREE` with packages unpacked in TREE. Run by the interpreter that the module was built
for."""

import re
import shutil

import story
from story import ROOT, Place

# What a block of Python is saved as, in the order of the page.
PROGRAMS = ("heat.py", "follow.py", "energy.py")
# Options whose programs this machine, or an installation without MPI, may lack; and a status that is not 0.
NEEDS = {"--ranks": ("mpirun", "ringside-producer-mpi")}
ENDS = {"--trigger": 130}  # a trigger that stops a run interrupts it


def blocks():
    """The language and the text of each block of the page that can be run, in order."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```(python|sh)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class Readme(Place):
    def setUp(self):
        super().setUp()
        story.find_python(self.environment)
        self.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")  # the tests' user may be root

    def test_its_blocks_run_as_they_are_written(self):
        names = iter(PROGRAMS)
        said = {}
        for language, text in blocks():
            if language == "python":
                name = next(names)
                (self.folder / name).write_text(text, encoding="utf-8")
                if name != "energy.py":
                    said[name] = self.call("python3", name).stdout
                continue
            for line in text.splitlines():
                command = line.split(" #")[0].strip()
                needed = [program for word, programs in NEEDS.items() if word in line for program in programs]
                if any(shutil.which(program, path=self.environment["PATH"]) is None for program in needed):
                    continue
                expected = next((status for word, status in ENDS.items() if word in line), 0)
                said[command] = self.call("sh", "-c", command, expected=expected).stdout
        self.assertEqual(list(names), [], "programs that the page no longer has")
        self.assertRegex(said["follow.py"], r"\A5000 \d+\.\d+\n\Z")
        self.assertIn("intact", said["ringside verify grid.pool"])
        self.assertGreater(len(said["ringside tail --pool grid.pool"].splitlines()), 200)
        self.assertTrue((self.folder / "heat.zarr").is_dir())
        self.assertIn("analysis energy", " ".join(said.values()))


def setUpModule():
    story.install()


if __name__ == "__main__":
    story.run_tests("library", "python")
