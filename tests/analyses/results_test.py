# SPDX-License-Identifier: BSD-3-Clause
"""What analyses record during a run: values that are bit-equal to NumPy's own, in the places where followers, exports
and readers look for them."""

import csv
import json
import sys
import unittest

import numpy as np

from place import ENERGY, STEPS, Place, bits

PROGRAM = """
import pathlib, sys
import ringside
with ringside.publish(variables={"u": ("f64", (4, 5)), "n": ("i64", (3,))}, solver="program") as run:
    for k in range(run.next_iteration, 11):
        with run.step(k) as step:
            step["u"][:] = 1 / k
            step["n"][:] = k
        while k == 5 and not pathlib.Path("go").exists():
            pass
"""
BOTH = """
import ringside

@ringside.reduction("both")
def both(step):
    return {"u": step["u"].sum(), "n": step["n"].sum()}
"""


class Beside(Place):
    def test_results_are_those_of_numpy_on_the_kept_steps(self):
        self.write(ENERGY)
        analyses, summary, said = self.run_with()
        self.assertEqual(said, "")
        found, count = self.recorded()
        self.assertEqual(list(found), ["analysis.energy"])
        pool = self.pool()
        expected = {step.iteration: float((pool.read(step.iteration, "x") ** 2).sum()) for step in pool.steps}
        self.assertEqual(len(expected), STEPS)
        self.assertEqual({k: bits(v) for k, v in found["analysis.energy"].items()}, {k: bits(v) for k, v in expected.items()})
        self.assertEqual(count, STEPS)
        self.assertEqual(analyses["energy"], {"name": "energy", "file": "my.py", "steps": STEPS, "skipped": 0, "failed": 0,
                                              "last": expected[STEPS], "ended": None})
        self.assertEqual(summary["steps_committed"], STEPS)

    def test_every_bit_of_a_number_is_recorded(self):
        values = {"payload": "np.uint64(0x7ff8000000abcdef).view(np.float64)", "negative": "np.uint64(0xfff0000000000001 | 1 << 51).view(np.float64)",
                  "inf": "float('inf')", "minus_inf": "-np.inf", "zero": "-0.0", "tiny": "5e-324", "f32": "np.float32(0.1)",
                  "int": "np.int16(-7)", "flag": "True", "array": "np.array(2.5)"}
        text = ", ".join(f'"{name}": {value}' for name, value in values.items())
        self.write(f"import numpy as np, ringside\n@ringside.reduction\ndef all_bits(step):\n    return {{{text}}}\n")
        self.run_with(steps=1)
        found, _ = self.recorded()
        for name, value in values.items():
            expected = float(eval(value, {"np": np}))  # pylint: disable=eval-used
            self.assertEqual(bits(found[f"analysis.all_bits.{name}"][1]), bits(expected), name)

    def test_a_function_may_be_called_for_some_steps_only_and_may_return_nothing(self):
        self.write(ENERGY + """
@ringside.reduction("fifth", every=5)
def fifth(step):
    return step.iteration

@ringside.reduction("sometimes")
def sometimes(step):
    return step.iteration if step.iteration > 10 else None
""")
        analyses, _, _ = self.run_with()
        found, _ = self.recorded()
        self.assertEqual(found["analysis.fifth"], {5: 5, 10: 10})
        self.assertEqual(found["analysis.sometimes"], {11: 11, 12: 12})
        self.assertEqual([(one["steps"], one["skipped"]) for one in (analyses["fifth"], analyses["sometimes"])], [(2, 0), (STEPS, 0)])

    def test_several_files_have_processes_of_their_own(self):
        for name in ("a", "b"):
            self.write(f"import os, ringside\n@ringside.reduction('{name}')\ndef pid(step):\n    return os.getpid()\n", f"{name}.py")
        analyses, _, _ = self.run_with(files=("a.py", "b.py"))
        self.assertNotEqual(analyses["a"]["last"], analyses["b"]["last"])
        self.assertEqual([analyses[name]["steps"] for name in "ab"], [STEPS, STEPS])

    def test_a_resumed_run_adds_those_of_its_own_steps(self):
        self.write(ENERGY)
        self.run_with(steps=6)
        analyses, _, _ = self.run_with("--resume")
        self.assertEqual((analyses["energy"]["steps"], analyses["energy"]["skipped"]), (STEPS - 6, 0))
        found, count = self.recorded()
        self.assertEqual((sorted(found["analysis.energy"]), count), (list(range(1, STEPS + 1)), STEPS))

    def test_readers_of_a_journal_have_them_by_name(self):
        self.write(ENERGY)
        self.run_with()
        values = self.recorded()[0]["analysis.energy"]
        self.assertEqual({line["iteration"]: line["results"]["analysis.energy"] for line in self.records() if line["event"] == "analysis_results"},
                         values)
        self.assertIn(f"iteration {STEPS}: analysis.energy {values[STEPS]:.6g}", self.call("ringside", "tail", "--pool", "run.pool").stdout)
        self.call("ringside", "export", "run.pool", "--records", "-o", "records.csv")
        with open(self.folder / "records.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({int(row["iteration"]): float(row["analysis.energy"]) for row in rows}, values)
        table = self.pool().columns()
        self.assertEqual(dict(zip(table["iteration"].tolist(), table["analysis.energy"].tolist())), values)
        info = json.loads(self.call("ringside", "info", "run.pool", "--json").stdout)
        self.assertEqual(info["journal"]["analyses"], {"analysis.energy": {"records": STEPS, "iteration": STEPS, "last": values[STEPS]}})
        for command in (("replay", "run.pool"), ("verify", "run.pool"), ("compare", "run.pool", "run.pool"),
                        ("report", "run.pool", "-o", "report.html")):
            self.call("ringside", *command)

    def test_the_account_has_a_line_of_each(self):
        self.write(ENERGY)
        said = self.call(*(word for word in self.run_words() if word != "--quiet"))
        self.assertRegex(said.stdout, rf"\n  analysis energy \(my\.py\): {STEPS} steps, 0 skipped, last [0-9.e+-]+\n")

    def test_without_a_journal_they_are_in_the_summary_and_live_only(self):
        self.write(ENERGY)
        analyses, _, said = self.run_with("--journal=off")
        self.assertEqual(analyses["energy"]["steps"], STEPS)
        self.assertEqual(self.recorded()[1], 0)
        self.assertLessEqual(said.count("\n"), 1, said)


class ProgramOfTheUser(Place):
    def words(self, *more):
        return ("ringside", "run", "--quiet", "--pool=run.pool", "--slots=16", "--durability=process", *more, "--", sys.executable,
                "program.py")

    def setUp(self):
        super().setUp()
        self.write(BOTH)
        self.write(PROGRAM, "program.py")

    def started(self, *more):
        """Starts a run that waits for the file `go`, and returns it when it has committed the five steps before this
        wait."""
        run = self.start(*self.words(*more))
        follower = "import ringside\nfor s in ringside.open('run.pool', wait=60).follow():\n  if s.iteration == 5: break"
        self.assertEqual(self.call(sys.executable, "-c", follower).stderr, "")
        return run

    def kill_analyzer(self):
        self.call("kill", "-KILL", json.loads(self.call("ringside", "tail", "--once", "--json").stdout)["pid"])

    def test_its_steps_are_looked_at_like_those_of_a_built_in_solver(self):
        self.write("", "go")
        self.call(*self.words("--analyze=my.py", "--analyze-cores=0", "--analyze-timeout=120"))
        found, _ = self.recorded()
        self.assertEqual(found["analysis.both.n"], {k: 3 * k for k in range(1, 11)})
        pool = self.pool()
        self.assertEqual(found["analysis.both.u"], {k: pool.read(k, "u").sum() for k in range(1, 11)})

    def assert_followed_to_the_end(self, loses_its_analyzer):
        run = self.started()
        follower = self.start("ringside", "analyze", "run.pool", "my.py", "--json", "--analyze-timeout=120")
        seen = []
        for line in follower.stdout:
            seen.append(json.loads(line))
            if seen[-1].get("iteration") == 5:
                if loses_its_analyzer:
                    self.kill_analyzer()
                self.write("", "go")
        self.assertEqual((follower.wait(), follower.stderr.read()), (0, ""))
        said = run.stderr.read()
        self.assertEqual(run.wait(), 0, said)
        self.assertEqual([line["iteration"] for line in seen[:-1]], list(range(1, 11)))
        self.assertEqual(seen[-1]["analyses"][0]["steps"], 10)
        self.assertEqual(self.recorded()[0]["analysis.both.n"], {k: 3 * k for k in range(1, 11)})
        return said

    def test_a_run_that_goes_on_is_followed_to_its_end(self):
        self.assertEqual(self.assert_followed_to_the_end(False), "")

    def test_a_run_that_goes_on_is_followed_beyond_the_loss_of_its_analyzer(self):
        self.assert_followed_to_the_end(True)

    def test_an_analyzer_that_takes_over_takes_their_results_too(self):
        run = self.started("--analyze=my.py", "--analyze-cores=0", "--analyze-timeout=120")
        self.kill_analyzer()
        self.write("", "go")
        self.assertEqual(run.wait(), 0, run.stderr.read())
        self.assertEqual(self.recorded()[0]["analysis.both.n"], {k: 3 * k for k in range(1, 11)})


if __name__ == "__main__":
    unittest.main()
