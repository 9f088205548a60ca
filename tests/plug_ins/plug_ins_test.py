# SPDX-License-Identifier: BSD-3-Clause
"""Plug-in reductions (docs/use/questions.md) in real runs: their results, what is recorded about them, plug-ins that
crash or hang, and files that are not plug-ins. Argument: the folder of the programs."""

import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from own_folder import OwnFolder  # noqa: E402

STEPS = 12
ENTRIES = 120 * 120  # 15 blocks; the last one is shorter


class Place(OwnFolder):
    """An empty folder with compiled plug-ins."""

    @classmethod
    def setUpClass(cls):
        cls.made = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        for name, source, flags in (("libl3", "examples/reduction/l3.c", []), ("faulty", "tests/plug_ins/faulty.c", []),
                                    ("traps", "tests/plug_ins/faulty.c", ["-DTRAPS"]), ("fast_math", "examples/reduction/l3.c", ["-ffast-math"]),
                                    ("integers", "tests/plug_ins/faulty.c", ["-DWRONG=.classes=RINGSIDE_CLASS_INTEGER"]),
                                    ("other_abi", "tests/plug_ins/faulty.c", ["-DABI=99"]),
                                    ("no_table", "tests/plug_ins/faulty.c", ["-DWITHOUT_TABLE", "-Wno-unused"])):
            subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-shared", "-fPIC", f"-I{ROOT / 'include'}", *flags,
                            ROOT / source, "-o", cls.made / f"{name}.so", "-lm"], check=True)

    def setUp(self):
        super().setUp()
        for plug_in in self.made.glob("*.so"):
            shutil.copy(plug_in, self.folder)

    def run_with(self, *specs, name="run", expected=0, more=(), environment=()):
        """Makes a run. Returns its summary and its standard error."""
        said = self.call("env", *environment, "ringside", "run", "--quiet", "--matrix=grid:120", f"--iterations={STEPS}", "--durability=process",
                         f"--pool={name}.pool", f"--summary={name}.json", *(f"--reduce-with={spec}" for spec in specs), *more,
                         expected=expected)
        summary = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        return summary, said.stderr

    def recorded(self, pool, result):
        """The values of a result in the journal, by iteration; None if the result is absent."""
        steps = [line["step"] if "step" in line and isinstance(line["step"], dict) else line for line in self.records(pool)]
        return {step["iteration"]: step["results"].get(result) for step in steps if "results" in step and "iteration" in step}

    def replayed(self, pool, *more):
        lines = [json.loads(line) for line in self.call("ringside", "replay", pool, "--json", *more).stdout.splitlines()]
        return lines[-1]


class Results(Place):
    def test_they_are_those_of_the_formula(self):
        summary, _ = self.run_with("./libl3.so:l3", "./libl3.so:lp:p=4")
        self.call("ringside", "export", "run.pool", "--format=csv", "--output=x.csv")
        x = [float(line.split(",")[-1]) for line in (self.folder / "x.csv").read_text(encoding="utf-8").split() if line[0] in "0123456789-"]
        self.assertEqual(len(x), ENTRIES)
        results = summary["last"]["results"]
        self.assertAlmostEqual(results["x.l3"] / math.fsum(abs(v) ** 3 for v in x) ** (1 / 3), 1, delta=1e-14)
        self.assertAlmostEqual(results["x.lp.norm"] / math.fsum(v ** 4 for v in x) ** (1 / 4), 1, delta=1e-14)
        self.assertEqual(results["x.lp.finite"], ENTRIES)

    def test_their_bits_depend_neither_on_threads_nor_on_the_mode(self):
        found = set()
        for reduce in ("slot", "transfer"):
            summary, _ = self.run_with("./libl3.so:l3", "./libl3.so:lp:p=2.5:as=between", name=reduce, more=(f"--reduce={reduce}",))
            results = summary["last"]["results"]
            found.add(struct.pack("<dd", results["x.l3"], results["x.between.norm"]))
        self.assertEqual(len(found), 1)
        for threads in ("1", "2", "3"):  # replay recomputes with all OpenMP threads, and compares bit for bit
            self.environment["OMP_NUM_THREADS"] = threads
            last = self.replayed("slot.pool")
            self.assertEqual((last["intact"], last["equal"], last.get("not_recomputed")), (True, 8, None))

    def test_each_step_of_the_journal_has_them(self):
        self.run_with("./libl3.so:l3")
        values = self.recorded("run.pool", "x.l3")
        self.assertEqual(sorted(values), list(range(1, STEPS + 1)))
        self.assertTrue(all(isinstance(value, float) for value in values.values()), values)

    def test_a_resumed_run_may_have_others(self):
        self.run_with("./libl3.so:l3")
        self.call("ringside", "run", "--quiet", "--matrix=grid:120", f"--iterations={STEPS + 3}", "--durability=process", "--pool=run.pool",
                  "--resume", "--reduce-with=./libl3.so:lp")
        self.assertEqual(set(k for k, v in self.recorded("run.pool", "x.lp.norm").items() if v is not None), {STEPS + 1, STEPS + 2, STEPS + 3})
        last = self.replayed("run.pool")
        self.assertEqual((last["intact"], last.get("not_recomputed")), (True, None))

    def test_a_file_of_settings_names_several(self):
        (self.folder / "run.toml").write_text('reduce-with = ["./libl3.so:l3", "./libl3.so:lp:p=4"]\n', encoding="utf-8")
        summary, _ = self.run_with(more=("--config=run.toml",))
        self.assertEqual([one["name"] for one in summary["plug_ins"]], ["l3", "lp"])


    def test_one_that_takes_none_of_the_fields_is_named(self):
        line = r"the reduction 'faulty' \(.*integers.so\) has no results in this run: it accepts integer fields, but the fields are x f64\[14400\] "
        summary, said = self.run_with("./integers.so:faulty", "./libl3.so:l3")
        self.assertRegex(said, line)
        self.assertNotIn("l3", said)
        self.assertIn("x.l3", summary["last"]["results"])
        replayed = self.call("ringside", "replay", "run.pool", "--reduce-with=./integers.so:faulty")
        self.assertRegex(replayed.stderr, "^ringside: note: " + line)


class Replay(Place):
    def test_recomputes_them_with_the_recorded_library(self):
        self.run_with("./libl3.so:l3")
        last = self.replayed("run.pool")
        self.assertEqual((last["intact"], last["equal"], last.get("not_recomputed")), (True, 8, None))

    def test_names_a_library_that_is_missing_and_takes_a_given_one(self):
        self.run_with("./libl3.so:l3")
        (self.folder / "libl3.so").rename(self.folder / "moved.so")
        self.assertRegex(self.replayed("run.pool")["not_recomputed"][0], r"^l3: not recomputed: .*libl3.so: the file no longer exists; ")
        self.assertNotIn("not_recomputed", self.replayed("run.pool", "--reduce-with=./moved.so:l3"))

    def test_does_not_take_another_build_for_the_recorded_one(self):
        self.run_with("./libl3.so:l3")
        with open(self.folder / "libl3.so", "ab") as library:
            library.write(b"\0")
        self.assertIn("has changed since the run", self.replayed("run.pool")["not_recomputed"][0])
        self.assertIn("has another build", self.replayed("run.pool", "--reduce-with=./libl3.so:l3")["not_recomputed"][0])

    def test_does_not_run_a_library_that_others_may_write(self):
        self.run_with("./libl3.so:l3")
        (self.folder / "libl3.so").chmod(0o777)
        self.assertIn("other users may write it", self.replayed("run.pool")["not_recomputed"][0])


class Faults(Place):
    HOW = {"crash": "Segmentation fault", "abort": "Aborted", "exit": "it called exit", "hang": "it did not return",
           "recurse": "Segmentation fault", "divide": "Floating point exception", "close": "it closed descriptors that are not its own"}

    def test_one_that_ends_the_analyzer_twice_is_named_and_left_out_and_no_step_is_lost(self):
        for reduce in ("slot", "transfer"):
            for what, how in self.HOW.items():
                with self.subTest(what=what, reduce=reduce):
                    name = f"{what}-{reduce}"
                    summary, said = self.run_with(f"./faulty.so:faulty:do={what}", "./libl3.so:l3", name=name,
                                                  more=(f"--reduce={reduce}", "--reduce-with-timeout=0.4"))
                    self.assertEqual(summary["steps_committed"], STEPS)
                    # When the descriptors are closed, a thread of ZeroMQ may end the analyzer between two calls of the
                    # plug-in; then the message names no plug-in.
                    self.assertIn(summary["analyzer_restarts"], (2, 3) if what == "close" else (2,))
                    [faulty, l3] = summary["plug_ins"]
                    self.assertEqual((faulty["name"], faulty["deaths"], faulty["left_out"]), ("faulty", 2, True))
                    self.assertEqual((l3["deaths"], l3["left_out"]), (0, False))
                    self.assertIn(f"reduction 'faulty' ({self.folder}/faulty.so) ended the analyzer", said)
                    self.assertIn(how, said)
                    self.assertIn("it is left out", said)
                    self.assertNotIn("x.faulty", {k for k, v in summary["last"]["results"].items() if v is not None})
                    self.assertIsInstance(summary["last"]["results"]["x.l3"], float)
                    self.assertTrue(self.replayed(f"{name}.pool")["intact"])

    def test_no_folder_of_a_run_is_left(self):
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder)
        self.environment["TMPDIR"] = str(self.folder)
        self.run_with("./faulty.so:faulty:do=crash")
        self.assertEqual([str(path) for path in self.folder.iterdir() if path.is_dir()], [])

    def test_after_one_death_it_is_tried_again(self):
        summary, said = self.run_with(f"./faulty.so:faulty:do=crash:once={self.folder}/died")
        self.assertEqual((summary["steps_committed"], summary["analyzer_restarts"]), (STEPS, 1))
        self.assertEqual([(one["deaths"], one["left_out"]) for one in summary["plug_ins"]], [(1, False)])
        self.assertEqual(summary["last"]["results"]["x.faulty"], ENTRIES)
        self.assertIn("it is tried once more", said)
        self.assertEqual([(mark["cause"], mark["name"]) for mark in self.records() if mark["event"] == "mark"], [("plug_in", "faulty")])

    def test_one_that_writes_outside_its_state_is_left_out(self):
        summary, _ = self.run_with("./faulty.so:faulty:do=outside")
        self.assertEqual((summary["steps_committed"], summary["analyzer_restarts"]), (STEPS, 0))
        self.assertEqual([(one["left_out"], one["why"]) for one in summary["plug_ins"]], [(True, "it wrote outside its state")])
        self.assertEqual(set(self.recorded("run.pool", "x.faulty").values()), {None})

    def test_one_that_writes_to_the_entries_changes_neither_the_iterate_nor_other_results(self):
        self.run_with("./libl3.so:l3", name="alone")
        expected = self.recorded("alone.pool", "x.l3")
        for reduce in ("slot", "transfer"):
            name = f"entries-{reduce}"
            self.run_with("./faulty.so:faulty:do=entries", "./libl3.so:l3", name=name, more=(f"--reduce={reduce}",))
            self.assertEqual(self.recorded(f"{name}.pool", "x.l3"), expected)
            self.call("ringside", "compare", "alone.pool", f"{name}.pool", "--expect-equal")
            self.assertTrue(self.replayed(f"{name}.pool")["intact"])

    def test_one_that_keeps_no_self_runs(self):
        summary, _ = self.run_with("./faulty.so:faulty:do=without self")
        self.assertEqual(summary["last"]["results"]["x.faulty"], ENTRIES)

    def test_one_that_forks_is_left_out_and_the_child_ends(self):
        summary, said = self.run_with("./faulty.so:faulty:do=fork")
        self.assertEqual((summary["steps_committed"], summary["analyzer_restarts"]), (STEPS, 0))
        self.assertEqual([(one["left_out"], one["why"]) for one in summary["plug_ins"]],
                         [(True, "it forked, and the child returned from the call")])
        self.assertRegex(said, r"\Aringside: the reduction 'faulty' \(.*\) has forked, .*\n\Z")


    def test_a_child_that_comes_back_late_is_that_of_the_plug_in_that_forked(self):
        summary, said = self.run_with(f"./faulty.so:faulty:do=fork late:once={self.folder}/forked", "./libl3.so:l3")
        self.assertEqual((summary["steps_committed"], summary["analyzer_restarts"]), (STEPS, 0))
        self.assertFalse(summary["plug_ins"][1]["left_out"])
        self.assertRegex(said, r"\Aringside: the reduction 'faulty' \(.*\) has forked, .*\n\Z")


class FloatEnvironment(Place):
    """Neither Ringside's results nor iterates may depend on what other code has set in the floating-point
    environment."""
    NAMED = r"reduction '{}' \(.*\) has changed the floating-point environment"

    def published(self, name, *specs, environment=()):
        """The results of a small run with values that show each change of the environment: subnormal numbers, sums that
        are rounded, a NaN."""
        (self.folder / "fields.py").write_text("""
import numpy as np, ringside
fields = {"x": ("f64", (5000,)), "tiny": ("f64", (5000,)), "broken": ("f64", (5000,))}
with ringside.publish(variables=fields, solver="s", parameters="p") as run:
    for k in range(run.next_iteration, 4):
        broken = np.full(5000, float(k))
        broken[5] = np.nan
        run.publish(k, {"x": np.full(5000, 0.1 * k), "tiny": np.full(5000, 1e-310 * k), "broken": broken})
""", encoding="utf-8")
        said = self.call("env", *environment, "ringside", "run", "--quiet", "--durability=process", f"--pool={name}.pool",
                         *(f"--reduce-with={spec}" for spec in specs), "--", "env", "-u", "LD_PRELOAD", sys.executable, "fields.py").stderr
        results = [f"{variable}.{name}" for variable in ("x", "tiny", "broken") for name in ("sum", "l2", "max", "change_linf")]
        self.replayed(f"{name}.pool")
        return {result: self.recorded(f"{name}.pool", result) for result in results}, said

    def test_neither_of_a_plug_in_when_it_is_loaded_nor_when_it_is_called(self):
        expected, said = self.published("alone", "./libl3.so:l3")
        self.assertNotIn("floating-point environment", said)
        self.assertEqual(expected["tiny.max"][3], 3 * 1e-310)
        for name, spec, reduction in (("fast", "./fast_math.so:l3", "l3"), ("traps", "./traps.so:faulty", "faulty"),
                                      ("round", "./faulty.so:faulty:do=round", "faulty")):
            with self.subTest(name):
                results, said = self.published(name, spec)
                self.assertEqual(results, expected)
                self.assertRegex(said, self.NAMED.format(reduction))

    def test_nor_of_a_preloaded_library(self):
        expected, _ = self.published("alone")
        solved, _ = self.run_with(name="solved")
        for library in ("fast_math", "traps"):
            preloaded = [f"LD_PRELOAD={self.folder}/{library}.so"]
            self.assertEqual(self.published(library, environment=preloaded)[0], expected)
            name = f"solved-{library}"
            self.assertEqual(self.run_with(name=name, environment=preloaded)[0]["last"]["results"], solved["last"]["results"])
            self.call("ringside", "compare", "solved.pool", f"{name}.pool", "--expect-equal")


class Throwing(Place):
    def test_an_exception_of_cpp_counts_as_a_crash(self):
        self.call("c++", "-O2", "-shared", "-fPIC", f"-I{ROOT / 'include'}", ROOT / "tests/plug_ins/throws.cpp", "-o", "throws.so")
        summary, said = self.run_with("./throws.so:throws")
        self.assertEqual((summary["steps_committed"], summary["analyzer_restarts"]), (STEPS, 2))
        self.assertEqual([(one["deaths"], one["left_out"]) for one in summary["plug_ins"]], [(2, True)])
        self.assertIn("reduction 'throws'", said)


class Refusals(Place):
    def test_a_wrong_declaration_names_what_is_wrong(self):
        for wrong, line in ((".classes = 9", "reduction 'faulty': classes 9; expected 0 to 7"),
                            (".flags = 1 << 20", "reduction 'faulty': flags 1048576; expected flags that this version supports"),
                            (".state_bytes = 0", "reduction 'faulty': state_bytes 0; expected 1 to "),
                            (".merge = NULL", "reduction 'faulty' lacks a function; expected init, block, merge and finish"),
                            (".result_count = 0", "reduction 'faulty': result_count 0; expected 1 to 64"),
                            (".size = 8", "declares a reduction of 8 bytes; expected .size = sizeof(ringside_reduction)")):
            self.call("cc", "-shared", "-fPIC", f"-I{ROOT / 'include'}", f"-DWRONG={wrong}", ROOT / "tests/plug_ins/faulty.c", "-o", "wrong.so")
            with self.subTest(wrong):
                self.assertIn(line, self.refused("./wrong.so:faulty"))

    def refused(self, spec, *more):
        said = self.call("ringside", "run", "--quiet", "--matrix=grid:20", "--pool=refused.pool", f"--reduce-with={spec}", *more, expected=2)
        self.assertEqual(said.stderr.count("\n"), 1, said.stderr)
        return said.stderr

    def test_each_names_what_was_found_and_what_would_be_accepted(self):
        library = bytearray((self.folder / "libl3.so").read_bytes())
        library[18] = 183  # e_machine: AArch64
        (self.folder / "arm.so").write_bytes(library)
        (self.folder / "text.so").write_text("no library\n", encoding="utf-8")
        shutil.copy("/bin/true", self.folder / "truncated.so")
        os.truncate(self.folder / "truncated.so", 200)
        for spec, line in (
                ("./missing.so:l3", "missing.so: No such file or directory; expected the shared library of a plug-in"),
                ("./text.so:l3", "text.so: not an ELF file; expected the shared library of a plug-in"),
                ("./arm.so:l3", "arm.so: found a library for AArch64; expected one for x86-64"),
                ("./truncated.so:l3", "truncated.so: the dynamic linker refuses it: "),
                ("./no_table.so:faulty", "exports no symbol 'ringside_reductions'; expected RINGSIDE_REDUCTIONS(...)"),
                ("./other_abi.so:faulty", "a plug-in for version 99 of the interface; expected version 1"),
                ("./libl3.so:l4", "has no reduction 'l4'; expected one of l3, lp"),
                ("./libl3.so", "has several reductions; expected FILE:NAME with one of l3, lp"),
                ("./libl3.so:lp:p=half", "refused for 'x': found p=half, expected p=NUMBER, at least 1"),
                ("./libl3.so:l3:p=3", "reduction 'l3' accepts no settings; found p=3"),
                ("./libl3.so:l3:as=l2", "two results are named 'x.l2'; expected each name once"),
                ("./libl3.so:l3:as=1", "the name '1' has '1' at byte 0"),
                ("./libl3.so:lp:p=3:p=4", "found the setting 'p' twice, expected it once")):
            with self.subTest(spec=spec):
                self.assertIn(line, self.refused(spec))

    def test_a_refused_setting_costs_the_pool_no_iterate(self):
        self.run_with(name="refused")
        before = self.replayed("refused.pool")
        self.assertEqual(before["equal"], 8)
        self.assertIn("refused for 'x'", self.refused("./libl3.so:lp:p=0", "--overwrite", "--slots=5"))
        self.assertEqual(self.replayed("refused.pool"), before)

    def test_two_of_one_name_are_refused(self):
        self.assertIn("two reductions are named 'l3'", self.refused("./libl3.so:l3", "--reduce-with=./libl3.so:l3"))

    def test_the_baseline_has_no_analyzer_to_run_them(self):
        said = self.call("ringside", "run", "--quiet", "--matrix=grid:20", "--mode=dram", "--reduce-with=./libl3.so:l3", expected=2)
        self.assertIn("--reduce-with", said.stderr)


if __name__ == "__main__":
    OwnFolder.programs = pathlib.Path(sys.argv.pop(1))
    unittest.main()
