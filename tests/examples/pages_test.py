# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the documents, as a newcomer uses them: for each page, the programs of the page are saved in an empty
folder, and its commands are run there, unchanged and in their order. The lines of output that the page shows must occur
in the real output, except for the numbers. Arguments: the build folder, or `--root TREE` with packages unpacked in
TREE. Must be run by the interpreter for which the module was built."""

import importlib.util
import json
import pathlib
import re
import shutil
import subprocess

import story
from story import ROOT, Place

# The programs or files that commands need in addition to Ringside, and that may be missing on this machine.
NEEDS = {"--ranks": ("mpirun", "ringside-producer-mpi"), "mpirun": ("mpirun",), "mpicc": ("mpicc", "ringside-producer-mpi"),
         "gfortran ": ("gfortran",), "./plate": ("gfortran",), "eigen3": ("/usr/include/eigen3",),
         "ringside-start-node ": ("ringside-start-node",)}

# Text that differs between runs and machines, and its replacement.
VARIES = ((r"\d[\d,.]*(e[-+]?\d+)?", "N"), (r"\bN ([mun]?s|[KMGT]i?B)\b", "N units"), (r"^ *\*", " "),
          (r"N % (more|less) than planned", "as planned"), (r"(the solver|the analyzer|balanced)$", "limit"))


# Contents of files that a page calls the reader's own.
EDGES = "1 2\\n2 3\\n3 1\\n1 3\\n"
MATRIX = "%%%%MatrixMarket matrix coordinate real symmetric\\n3 3 5\\n1 1 4\\n2 1 -1\\n2 2 4\\n3 2 -1\\n3 3 4\\n"
RIGHT_HAND_SIDE = "%%%%MatrixMarket matrix array real general\\n3 1\\n1\\n2\\n3\\n"


def blocks(page):
    """The language and the text of each block of a page that can be run (programs, commands, and commands with their
    output), in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```(python|fortran|sh|console)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(language, text):
    """Each command of a block, without its comment, and the lines of output that the block shows for this command."""
    found = []
    for line in re.sub(r"\\\n *", "", text).splitlines():
        if language == "sh" or line.startswith("$ "):
            found.append((line.removeprefix("$ ").split(" # ")[0].strip(), []))
        else:
            found[-1][1].append(line)
    return found


def form(line):
    """The line with fixed words in place of what varies, and without the width of the columns."""
    for pattern, instead in VARIES:
        line = re.sub(pattern, instead, line)
    return " ".join(line.split())


class Pages(Place):
    def setUp(self):
        super().setUp()
        # The folders in which tail and stop find runs, and in which run and plan find a node file, are not those of
        # other tests or of the user.
        self.environment.update(TMPDIR=str(self.folder), XDG_CACHE_HOME=str(self.folder))
        story.find_python(self.environment)
        self.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")  # the tests' user may be root

    def run_page(self, page, *programs, started=(), beside=(), instead=(), kinds=("python", "fortran", "sh", "console"), rows=True):
        """programs: the names under which the page's blocks of Python and Fortran are saved; None for a block that is
        only a part of a program. started: those of the programs in Python that are run when the test reaches them.
        beside: commands that do not end by themselves. instead: pairs of a placeholder and its text. kinds: which kinds
        of blocks are run. rows: whether the output has the same rows of figures on every machine. Returns the output of
        each command."""
        names = iter(programs)
        said = {}
        for language, text in blocks(page):
            if language not in kinds:
                continue
            if language in ("python", "fortran"):
                name = next(names)
                if name is not None:
                    (self.folder / name).write_text(text, encoding="utf-8")
                if name in started:
                    said[name] = self.call("python3", name).stdout
                continue
            for command, shown in commands(language, text):
                needed = [thing for word, things in NEEDS.items() if word in command for thing in things]
                if not all(pathlib.Path(thing).exists() or shutil.which(thing, path=self.environment["PATH"]) for thing in needed):
                    continue
                for placeholder, given in instead:
                    command = command.replace(placeholder, given)
                if command in beside:
                    self.start(command)
                    continue
                run = self.run_command(command)
                said[command] = run.stdout
                lines = {form(line) for line in (run.stdout + run.stderr).splitlines()}
                compared = [line for line in shown if line != "..." and (rows or not re.search(r"\d", line))]
                self.assertEqual([line for line in compared if form(line) not in lines], [], f"{command}\n{run.stdout}{run.stderr}")
        self.assertEqual(list(names), [], f"programs that {page} no longer has")
        return said

    def run_command(self, command):
        """Runs a command, which must end with 0, or with 130 if it has a trigger with the action `stop`. Two of these
        triggers never fire: that of README waits for a NaN in grid:500, and a.mtx converges before the other one
        fires."""
        run = subprocess.run(["sh", "-ec", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=240, check=False)
        stopped = re.search(r"--trigger '[^']*\bstop\b", command) and "grid:500" not in command and "a.mtx" not in command
        self.assertEqual(run.returncode, 130 if stopped else 0, f"{command}\n{run.stdout}{run.stderr}")
        return run

    def start(self, command):
        """Starts a command that lasts until the test ends."""
        process = subprocess.Popen(["sh", "-ec", f"exec {command}"], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def given(self, *lines):
        """Runs commands that make what a page assumes to exist."""
        for line in lines:
            self.call("sh", "-ec", line)

    def test_readme(self):
        said = self.run_page("README.md", "heat.py", "follow.py", "energy.py", started=("heat.py", "follow.py"))
        self.assertRegex(said["follow.py"], r"\A5000 \d+\.\d+\n\Z")
        self.assertIn("intact", said["ringside verify grid.pool"])
        self.assertGreater(len(said["ringside tail --pool grid.pool"].splitlines()), 200)
        self.assertTrue((self.folder / "heat.zarr").is_dir())
        self.assertIn("analysis energy", " ".join(said.values()))

    def test_questions(self):
        plug_in, = re.findall(r"^```c\n(.*?)^```$", (ROOT / "docs/use/questions.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        (self.folder / "l3.c").write_text(plug_in, encoding="utf-8")
        self.given(f"printf '{MATRIX}' > a.mtx")
        said = " ".join(self.run_page("docs/use/questions.md", "energy.py", "nan.py", "plate.py", started=("plate.py",)).values())
        for part in ("solver.residual < 1e-3', which fired", '"analysis.energy":', "analysis energy (energy.py): 8 steps, 0 skipped", '"x.l3":'):
            self.assertIn(part, said)
        self.assertTrue((self.folder / "before.npy").exists())

    def test_publish(self):
        self.copy("publish.c", "publish.cpp", "publish.f90")
        self.run_page("docs/publish/README.md", None, None, None, None)

    def test_library(self):
        self.copy("publish.c", "publish_eigen.cpp")
        self.given("cc -O2 -o heat publish.c $(pkg-config --cflags --libs ringside)")
        # If packages are unpacked in a tree, only this tree's pkg-config files are found, and Eigen is not in the tree.
        eigen = (("ringside eigen3)", "ringside) -I/usr/include/eigen3"),) if story.Installation.sysroot else ()
        self.run_page("docs/publish/library.md", "plate.f90", instead=eigen)
        self.assertTrue((self.folder / "heat.pool").exists())

    def test_mpi(self):
        self.copy("publish_mpi.c")
        (self.folder / "hosts").write_text("localhost slots=4\n", encoding="ascii")
        self.environment.update(OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none",
                                OMPI_MCA_mpi_yield_when_idle="1", PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
                                PRTE_MCA_hwloc_default_binding_policy="none")
        if not (shutil.which("mpicc") and shutil.which("ringside-producer-mpi", path=self.environment["PATH"])):
            self.skipTest("no MPI")
        said = self.run_page("docs/publish/mpi.md")
        self.assertIn("300", said["ringside info rings/"])

    def test_run(self):
        self.copy("publish.c")
        self.given("cc -O2 -o solver publish.c $(pkg-config --cflags --libs ringside)", f"printf '{EDGES}' | xz > web.txt.xz",
                   f"printf '{MATRIX}' > a.mtx", f"printf '{RIGHT_HAND_SIDE}' > b.mtx",
                   "printf '# a graph\\n7,9\\n9,30\\n' > web.txt",
                   "printf 'import ringside\\n\\n@ringside.reduction\\ndef top(step):\\n    return step[\"x\"].max()\\n' > my.py")
        said = self.run_page("docs/use/run.md")
        self.assertIn("intact", said["ringside verify ringside.pool"])
        self.assertFalse((self.folder / "e.pool").exists())
        self.assertEqual((self.folder / "ids.txt").read_text(encoding="ascii"), "7\n9\n30\n")

    def test_export(self):
        run = "ringside run --quiet --matrix grid:100 --iterations 200 --pool"
        self.given(f"{run} ringside.pool", f"{run} a.pool --summary summary.json", f"{run} b.pool")
        if shutil.which("mpirun") and shutil.which("ringside-producer-mpi", path=self.environment["PATH"]):
            self.given("ringside run --quiet --ranks 2 --matrix grid:100 --iterations 20 --pool n.pool", "ringside gather rings --ranks n.pool.ranks")
        else:
            self.given(f"mkdir rings && {run} rings/n.pool")
        summary = json.loads((self.folder / "summary.json").read_text(encoding="utf-8"))
        readers = {"step.py": ("h5py",), "run.py": ("xarray", "zarr"), "records.py": ("pandas", "pyarrow")}
        there = [name for name, modules in readers.items() if all(map(importlib.util.find_spec, modules))]
        heat = next(text for language, text in blocks("README.md") if language == "python")
        (self.folder / "heat.py").write_text(heat, encoding="utf-8")
        self.run_page("docs/use/export.md", *readers, started=there, beside=("ringside serve --runs .",),
                      instead=(("1f2e", summary["run_id"][:4]),))

    def test_live(self):
        run = self.start("ringside run --matrix grid:100 --iterations 1000000000 --pool ringside.pool")
        while self.call("sh", "-c", "ringside tail --once || true").stdout == "":
            self.assertIsNone(run.poll(), "the run has ended")
        self.given("ringside run --quiet --matrix grid:100 --pool a.pool", "ringside run --quiet --matrix grid:100 --pool b.pool")
        self.run_page("docs/use/live.md", beside=("ringside tail", "ringside serve"))
        self.assertEqual(run.wait(timeout=60), 130)
        self.assertIn("<html", (self.folder / "report.html").read_text(encoding="utf-8")[:200])

    def test_operations(self):
        self.copy("publish.c")
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder)
        self.given("cc -O2 -o my_solver publish.c $(pkg-config --cflags --libs ringside)")
        self.run_page("docs/use/operations.md", kinds=("console",))  # the others: tests/node

    def test_plan_and_many_nodes(self):
        self.copy("publish.c")
        self.given("cc -O2 -o heat publish.c $(pkg-config --cflags --libs ringside)")
        said = self.run_page("docs/use/plan.md", rows=False)  # a busy machine can measure less in 30 s, and plans fewer rows
        self.assertRegex(said["ringside plan --matrix grid:2000 --durability process"], r"(?m)^  \* +1 \+ 1 +(slot|transfer) +(on|off) ")
        self.assertIn("planned", " ".join(said.values()))
        self.run_page("docs/inside/ranks.md")

    def test_experiments(self):
        self.run_page("docs/use/experiments.md")

    def test_probes(self):
        self.run_page("docs/inside/model.md")

    def test_memory_programs(self):
        self.run_page("docs/use/memory_programs.md")

    def test_ring_format(self):
        self.run_page("docs/formats/ring_format.md", "slots.py")


def setUpModule():
    story.install()


if __name__ == "__main__":
    story.run_tests("library", "development", "python", "mpi", "mpi_development")
