# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the documents as a newcomer reads them: in one empty folder for each page its programs are saved, and its commands are run as they
are written, in their order. What a sample shows of their output must be there, but for the numbers. Takes the build folder, or
`--root TREE` with packages unpacked in TREE. Run by the interpreter that the module was built for."""

import re
import shutil

import story
from story import ROOT, Place

# Options whose programs this machine, or an installation without MPI, may lack.
NEEDS = {"--ranks": ("mpirun", "ringside-producer-mpi"), "gfortran ": ("gfortran",)}


def blocks(page):
    """The language and the text of each block of a page that can be run, in order: programs, commands, commands with their output."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```(python|sh|console)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(text):
    """Each command of a block, without its remark, and the lines of output that a sample shows of it."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:].split("  #")[0].strip(), []))
        else:
            found[-1][1].append(line)
    return found


def form(line):
    """A line without its numbers and the width of its columns."""
    return " ".join(re.sub(r"\d[\d,.]*(e-?\d+)?", "N", line).split())


class Pages(Place):
    def setUp(self):
        super().setUp()
        story.find_python(self.environment)
        self.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")  # the tests' user may be root

    def run_page(self, page, *programs, started=()):
        """programs: what the page's blocks of Python are saved as; None: a part of a program. started: those that are run where they
        stand. Returns the output of each command."""
        names = iter(programs)
        said = {}
        for language, text in blocks(page):
            if language == "python":
                name = next(names)
                if name is not None:
                    (self.folder / name).write_text(text, encoding="utf-8")
                if name in started:
                    said[name] = self.call("python3", name).stdout
                continue
            written = commands(text) if language == "console" else [(line.split(" #")[0].strip(), []) for line in text.splitlines()]
            for command, shown in written:
                needed = [program for word, those in NEEDS.items() if word in command for program in those]
                if any(shutil.which(program, path=self.environment["PATH"]) is None for program in needed):
                    continue
                interrupted = re.search(r"--trigger '[^']*stop", command)
                run = self.call("sh", "-ec", command, expected=130 if interrupted else 0)
                said[command] = run.stdout
                lines = {form(line) for line in (run.stdout + run.stderr).splitlines()}
                self.assertEqual([line for line in shown if line != "..." and form(line) not in lines], [], f"{command}\n{run.stdout}")
        self.assertEqual(list(names), [], f"programs that {page} no longer has")
        return said

    def test_readme(self):
        said = self.run_page("README.md", "heat.py", "follow.py", "energy.py", started=("heat.py", "follow.py"))
        self.assertRegex(said["follow.py"], r"\A5000 \d+\.\d+\n\Z")
        self.assertIn("intact", said["ringside verify grid.pool"])
        self.assertGreater(len(said["ringside tail --pool grid.pool"].splitlines()), 200)
        self.assertTrue((self.folder / "heat.zarr").is_dir())
        self.assertIn("analysis energy", " ".join(said.values()))

    def test_questions(self):
        self.copy("reduction/l3.c")
        said = " ".join(self.run_page("docs/use/questions.md", "energy.py", "nan.py").values())
        for part in ('"analysis.energy":', "analysis energy (energy.py): 8 steps, 0 skipped", '"x.l3":', '"x.lp.norm":'):
            self.assertIn(part, said)
        self.assertTrue((self.folder / "before.npy").exists())

    def test_publish(self):
        self.copy("publish.c", "publish.cpp", "publish.f90")
        self.run_page("docs/publish/README.md", None, None, None)


def setUpModule():
    story.install()


if __name__ == "__main__":
    story.run_tests("library", "development", "python")
