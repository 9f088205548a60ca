# SPDX-License-Identifier: BSD-3-Clause
"""Notebooks, executed by nbconvert: one publishes, is killed with its kernel and continues, another one follows it. What a person
sees in the cells."""

import re
import subprocess
import sys

import pipelines

pipelines.modules_or_skip("numpy", "nbconvert", "nbformat", "ipykernel", "ringside")

import nbformat  # noqa: E402
import numpy as np  # noqa: E402
import ringside  # noqa: E402

HEAT = """
import numpy as np, ringside
x = np.zeros(1000); x[500] = 1000
with ringside.publish({"x": x}, pool="heat.pool", scalars=["residual"], problem="rod") as run:
    x = x if run.kept is None else run.kept["x"]
    for k in range(run.next_iteration, 101):
        before = x.copy()
        x[1:-1] += 0.25 * (before[2:] - 2 * before[1:-1] + before[:-2])
        run.publish(k, {"x": x}, {"residual": float(np.linalg.norm(x - before))})
        KILL
"""
FOLLOW = """
import ringside
for step in ringside.open("heat.pool", wait=60).follow(all_runs=True):
    print(step.iteration, float(step["x"].max()))
    if step.iteration == 100:
        break
"""


class Notebooks(pipelines.Pipelines):
    def setUp(self):
        super().setUp()
        for name in [name for name in self.environment if name.startswith("RINGSIDE_")]:
            del self.environment[name]
        self.environment["RINGSIDE_RUN_OPTIONS"] = "--durability process"
        self.environment["IPYTHONDIR"] = self.environment["JUPYTER_CONFIG_DIR"] = self.path("settings")
        self.environment["JUPYTER_PLATFORM_DIRS"] = "1"

    def start(self, name, *cells):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, self.path(name))
        process = subprocess.Popen([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", name], cwd=self.folder,
                                   env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   encoding="utf-8")
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def execute(self, name, *cells, ends_well=True):
        process = self.start(name, *cells)
        _, said = process.communicate(timeout=100)
        self.assertEqual(process.returncode == 0, ends_well, said)
        return self.outputs(name)

    def outputs(self, name):
        """What each cell shows: texts and HTML, in order."""
        notebook = nbformat.read(self.path(name), as_version=4)
        return ["\n".join(output.get("text") or "\n".join(output.get("data", {}).values()) for output in cell.outputs)
                for cell in notebook.cells]

    def test_a_notebook_publishes_is_killed_continues_and_is_followed(self):
        follower = self.start("follow.ipynb", FOLLOW)
        self.execute("heat.ipynb", HEAT.replace("KILL", "if k == 40: import os; os.kill(os.getpid(), 9)"), ends_well=False)
        shown, account = self.execute("heat.ipynb", HEAT.replace("KILL", ""), 'print(run.account["resumed_from"])')
        self.assertIn("<b>python</b>: 100 iterations, continued from iteration 40; 60 steps committed", shown)
        for part in ("<th>producer, cores ", "<td>transfer</td>", "<td>total</td>", "<svg ", "solver.residual, logarithmic"):
            self.assertIn(part, shown)
        self.assertNotIn("kept       ", shown)  # that is for a terminal
        self.assertEqual(account.strip(), "40")

        _, said = follower.communicate(timeout=100)
        self.assertEqual(follower.returncode, 0, said)
        [followed] = self.outputs("follow.ipynb")
        lines = dict(re.findall(r"^(\d+) (\S+)$", followed, re.MULTILINE))
        self.assertEqual(list(lines)[-1], "100")
        x = np.zeros(1000)
        x[500] = 1000
        for _ in range(100):
            before = x.copy()
            x[1:-1] += 0.25 * (before[2:] - 2 * before[1:-1] + before[:-2])
        self.assertEqual(float(lines["100"]), x.max())
        np.testing.assert_array_equal(ringside.open(self.path("heat.pool")).read(100, "x"), x)

    def test_a_cell_shows_the_pool_while_its_run_goes_on(self):
        shown, ended = self.execute("live.ipynb", """
import time, ringside
from IPython.display import DisplayHandle
seen, update = [], DisplayHandle.update
DisplayHandle.update = lambda self, shown, **more: (seen.append(shown.data), update(self, shown, **more))[1]
run = ringside.publish({"x": ("f64", (4,))}, pool="live.pool")
run.publish(1, {"x": [1.0, 2, 3, 4]})
until = time.monotonic() + 60
while not any("<td>1</td>" in page for page in seen) and time.monotonic() < until:
    time.sleep(0.01)
print("live" if any("live.pool" in page for page in seen) else seen)
""", "run.detach('stopped')")
        self.assertIn("live", shown)
        self.assertIn("1 iterations; 1 steps committed", shown + ended)

    def test_a_kernel_that_ends_stops_an_open_run(self):
        self.execute("open.ipynb", """
import ringside
run = ringside.publish({"x": ("f64", (4,))}, pool="run.pool")
run.publish(1, {"x": [1.0, 2, 3, 4]})
""")
        self.assertEqual(self.outcome(), "interrupted")


if __name__ == "__main__":
    pipelines.run_tests()
