# SPDX-License-Identifier: BSD-3-Clause
"""`ringside analyze` over pools that no process writes: what the command prints, and what it adds to the journal."""

import json
import pathlib
import sys
import unittest

from place import ENERGY, STEPS, Place, bits


class Kept(Place):
    def setUp(self):
        super().setUp()
        self.write(ENERGY)
        self.run_with(files=(), slots=5)

    def analyze(self, *more, expected=0):
        said = self.call("ringside", "analyze", "run.pool", "my.py", "--json", *more, expected=expected)
        return [json.loads(line) for line in said.stdout.splitlines()]

    def test_all_kept_steps_are_looked_at_and_recorded_once(self):
        lines = self.analyze()
        pool = self.pool()
        expected = {step.iteration: float((pool.read(step.iteration, "x") ** 2).sum()) for step in pool.steps}
        self.assertEqual({line["iteration"]: bits(line["results"]["analysis.energy"]) for line in lines[:-1]},
                         {k: bits(v) for k, v in expected.items()})
        self.assertEqual(lines[-1]["note"], "5 records were added to the journal of run.pool")
        self.assertEqual(self.recorded(), ({"analysis.energy": expected}, 5))
        self.assertEqual(self.analyze()[-1]["note"], "")
        self.assertEqual(self.recorded()[1], 5)
        # From now on, the new value of this name is valid.
        self.write(ENERGY.replace("float(", "2 * float("))
        self.analyze()
        self.assertEqual(self.recorded(), ({"analysis.energy": {k: 2 * v for k, v in expected.items()}}, 10))

    def test_the_table_is_for_people(self):
        said = self.call("ringside", "analyze", "run.pool", "my.py").stdout.splitlines()
        self.assertRegex(said[0], "iteration +results")
        self.assertRegex(said[5], rf"^ +{STEPS}  analysis\.energy [0-9.e+-]+$")
        self.assertRegex(said[6], r"^analysis energy \(my\.py\): 5 steps, 0 skipped, last ")

    def test_a_range_of_iterations(self):
        for last in (9, 10):
            self.assertEqual([line["iteration"] for line in self.analyze("--from=9", f"--to={last}")[:-1]], list(range(9, last + 1)))

    def test_records_go_on_behind_them(self):
        self.analyze()
        self.call(*self.run_words("--resume", files=(), slots=5, steps=STEPS + 3))
        seqs = [record.seq for record in self.pool().records()]
        self.assertEqual(seqs, list(range(1, len(seqs) + 1)))
        for command in ("verify", "replay", "info"):
            self.call("ringside", command, "run.pool")

    def test_a_pool_without_a_journal_is_looked_at(self):
        for log in self.folder.glob("run.pool.journal-*"):
            log.unlink()
        lines = self.analyze()
        self.assertEqual(len(lines), 6)
        self.assertEqual(lines[-1]["note"], "not recorded: run.pool: the pool has no journal beside it")
        self.assertEqual(list(self.folder.glob("run.pool.journal-*")), [])

    def test_a_damaged_step_fails_and_the_others_are_looked_at(self):
        pool = pathlib.Path(self.folder / "run.pool")
        values = self.pool().read(STEPS, "x").tobytes()
        at = pool.read_bytes().index(values[:4096])
        with open(pool, "r+b") as file:
            file.seek(at + 100)
            file.write(b"\xff\xff")
        lines = self.analyze()
        self.assertEqual([line["iteration"] for line in lines[:-1]], list(range(STEPS - 4, STEPS)))
        self.assertEqual([lines[-1]["analyses"][0][key] for key in ("steps", "failed")], [4, 1])

    def test_a_function_whose_calls_all_fail_is_exit_code_2(self):
        self.write("import ringside\n@ringside.reduction\ndef bad(step):\n    return step['none']\n"
                   "@ringside.reduction\ndef good(step):\n    return 1\n"
                   "@ringside.reduction\ndef once(step):\n    return 1 / (step.iteration - 10)\n")
        said = self.call("ringside", "analyze", "run.pool", "my.py", expected=2)
        self.assertIn("ringside: my.py: bad: each of its 5 calls failed; this reduction has no results\n", said.stderr)
        self.assertEqual(said.stderr.count("has no results"), 1)
        said = self.call("ringside", "analyze", "run.pool", "my.py", "--from=10", "--to=10", expected=2)
        self.assertIn("ringside: my.py: once: its only call failed; this reduction has no results\n", said.stderr)

    def test_an_analysis_that_ends_early_is_exit_code_2(self):
        self.write("import os, ringside\n@ringside.reduction\ndef f(step):\n    if step.iteration == 10:\n        os._exit(0)\n    return 1\n"
                   "@ringside.reduction(every=3)\ndef third(step):\n    return 1\n")
        lines = self.analyze(expected=2)
        self.assertEqual(lines[-1]["analyses"][0]["ended"], "ended with exit code 0")
        self.assertEqual([(one["steps"], one["skipped"]) for one in lines[-1]["analyses"]], [(2, 3), (1, 1)])
        lines = self.analyze("--from=10", "--to=11", expected=2)
        self.assertEqual([(one["steps"], one["skipped"]) for one in lines[-1]["analyses"]], [(0, 2), (0, 0)])

    def test_threads_that_never_end_do_not_keep_it_from_ending(self):
        self.write("import atexit, threading\nimport ringside\nfile = open('left.txt', 'w')\natexit.register(lambda: file.write('end'))\n"
                   "@ringside.reduction\ndef f(step):\n    threading.Thread(target=threading.Event().wait).start()\n"
                   "    file.write('step ')\n    return 1\n")
        lines = self.analyze("--analyze-timeout=3600")
        self.assertEqual([lines[-1]["analyses"][0][key] for key in ("steps", "ended")], [5, None])
        self.assertEqual((self.folder / "left.txt").read_text(encoding="utf-8"), "step " * 5 + "end")

    def test_what_keeps_it_from_ending_is_killed(self):
        self.write("import atexit, signal, ringside\natexit.register(signal.pause)\n@ringside.reduction\ndef f(step):\n    return 1\n")
        lines = self.analyze("--analyze-timeout=0.2")
        self.assertEqual([lines[-1]["analyses"][0][key] for key in ("steps", "ended")], [5, None])
        self.assertEqual(self.recorded()[1], 5)

    def test_results_that_cannot_be_recorded_are_a_failure(self):
        log = self.folder / "run.pool.journal-0"
        whole = log.read_bytes()
        for content, limit, code in ((b"something else", "unlimited", 2), (whole, len(whole) + 100, 3)):
            log.write_bytes(content)
            said = self.call("prlimit", f"--fsize={limit}", "ringside", "analyze", "run.pool", "my.py", expected=code)
            self.assertRegex(said.stderr, r"\Aringside: 5 results of analyses are not in the journal: run\.pool.*\n\Z")
        log.write_bytes(b"something else")
        self.assertRegex(self.analyze(expected=2)[-1]["note"], "^not recorded: run.pool")

    def test_what_is_refused(self):
        for words, code in ((("missing.pool", "my.py"), 2), (("my.py", "my.py"), 2), (("run.pool", "missing.py"), 2),
                            (("run.pool", "my.py", "--from=x"), 2), (("run.pool", "my.py", "--from=3", "--to=2"), 2), (("run.pool",), 2)):
            with self.subTest(words=words):
                said = self.call("ringside", "analyze", *words, expected=code)
                self.assertEqual((said.stdout, said.stderr.count("\n")), ("", 1), said.stderr)

    def test_ctrl_c_ends_it(self):
        self.write("import os, signal, ringside\n@ringside.reduction\ndef f(step):\n    print('here', flush=True)\n    signal.pause()\n")
        process = self.start("ringside", "analyze", "run.pool", "my.py")
        self.assertEqual(process.stderr.readline(), "my.py: f: here\n")
        process.send_signal(2)
        self.assertEqual(process.wait(), 130)


class Imported(Place):
    def test_a_program_that_imports_the_file_has_its_functions_unchanged(self):
        self.write(ENERGY)
        self.write("import numpy as np, my\nprint(my.energy({'x': np.array([3.0])}))\nimport importlib\nimportlib.reload(my)\n", "program.py")
        said = self.call(sys.executable, "-B", "program.py")
        self.assertEqual((said.stdout, said.stderr), ("9.0\n", ""))

    def test_the_process_of_analyses_is_not_for_people(self):
        said = self.call(sys.executable, "-m", "ringside.analyze", expected=1)
        self.assertIn("`ringside analyze POOL FILE.py`, which starts this module", said.stderr)


if __name__ == "__main__":
    unittest.main()
