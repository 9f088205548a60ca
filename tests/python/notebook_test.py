# SPDX-License-Identifier: BSD-3-Clause
"""Notebooks, executed by nbconvert: a notebook with the README's first example is killed with its kernel and continued,
and a second notebook follows it. Also: what a user sees in the cells."""

import json
import pathlib
import re
import subprocess
import sys

import pipelines

pipelines.modules_or_skip("numpy", "xarray", "nbconvert", "nbformat", "ipykernel", "ringside")

import nbformat  # noqa: E402
import numpy as np  # noqa: E402
import ringside  # noqa: E402

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"
HEAT, FOLLOW = re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S)[:2]
KILLED = HEAT + "        if k == 400: import os; os.kill(os.getpid(), 9)\n"
STEPS = 5000


class Notebooks(pipelines.Pipelines):
    def setUp(self):
        super().setUp()
        for name in [name for name in self.environment if name.startswith("RINGSIDE_")]:
            del self.environment[name]
        self.environment["RINGSIDE_RUN_OPTIONS"] = "--durability process"
        self.environment["IPYTHONDIR"] = self.environment["JUPYTER_CONFIG_DIR"] = self.path("settings")
        self.environment["JUPYTER_PLATFORM_DIRS"] = "1"
        # The kernel must be this interpreter. In a virtual environment with the system's packages, it would otherwise
        # be the system's Python.
        kernel = self.folder / "jupyter/kernels/python3/kernel.json"
        kernel.parent.mkdir(parents=True)
        kernel.write_text(json.dumps({"display_name": "Python 3", "language": "python",
                                      "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]}))
        self.environment["JUPYTER_PATH"] = self.path("jupyter")

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
        """The outputs of each cell: texts and HTML, in order."""
        notebook = nbformat.read(self.path(name), as_version=4)
        return ["\n".join(output.get("text") or "\n".join(output.get("data", {}).values()) for output in cell.outputs)
                for cell in notebook.cells]

    def test_the_readmes_notebook_is_killed_continues_and_is_followed(self):
        self.execute("heat.ipynb", KILLED, ends_well=False)
        heat = self.start("heat.ipynb", HEAT, 'print(run.account["resumed_from"])')
        pool = ringside.open(self.path("heat.pool"))
        while pool.steps[-1].iteration <= 400:  # if the reader began earlier, it would find the end of the first run
            self.assertIsNone(heat.poll(), "the second run has ended")
        [followed, peak] = self.execute("follow.ipynb", FOLLOW, 'print(peak.iteration.values[-1], float(peak[-1]))')
        _, said = heat.communicate(timeout=100)
        self.assertEqual(heat.returncode, 0, said)
        shown, account = self.outputs("heat.ipynb")
        self.assertIn("<b>python</b>: 5,000 iterations, continued from iteration 400; 4,600 steps committed", shown)
        for part in ("<th>producer, cores ", "<td>transfer</td>", "<td>total</td>", "<svg ", "x.change_l2, logarithmic"):
            self.assertIn(part, shown)
        self.assertNotIn("kept       ", shown)  # this line is only for a terminal
        self.assertEqual(account.strip(), "400")

        x, peaks = np.zeros(1000), {}
        x[500] = 1000
        for k in range(1, STEPS + 1):
            x[1:-1] += 0.25 * (x[2:] - 2 * x[1:-1] + x[:-2])
            peaks[k] = x.max()
        np.testing.assert_array_equal(ringside.open(self.path("heat.pool")).read(STEPS, "x"), x)
        lines = dict(re.findall(r"^(\d+) (\S+)$", followed, re.MULTILINE))
        self.assertEqual(list(lines)[-1], str(STEPS))
        for iteration, value in (*lines.items(), peak.split()):
            self.assertEqual(float(value), peaks[int(iteration)])

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
