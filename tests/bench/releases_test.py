# SPDX-License-Identifier: BSD-3-Clause
"""bench/releases.py compares two folders of programs, which are scripts here: pairs and their order, equal bits, what a
build lacks, the table, and the worktree of a commit."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import measuring  # noqa: E402
import releases  # noqa: E402
from two_builds import build, sizes, table, timings  # noqa: E402

# All programs of a build. `settings` beside them has what differs between the builds.
PROGRAM = """#!{python} -SE
import json, os, pathlib, sys
here = pathlib.Path(__file__).resolve().parent
settings = json.loads((here / "settings.json").read_text())
name, arguments = pathlib.Path(__file__).name, sys.argv[1:]
isa = os.environ.get("RINGSIDE_ISA", "avx2")
head = {{"machine": {{"isa": "plain" if isa == "avx512" else isa}}}}
if arguments == ["--version"]:
    print(settings["version"])
elif name in settings["status"]:
    print(name + ": an option of a later build", file=sys.stderr)
    sys.exit(settings["status"][name])
elif name == "ringside":
    assert os.environ["LD_LIBRARY_PATH"] == str(here.parent / "lib")
    summary = next(word[len("--summary="):] for word in arguments if word.startswith("--summary="))
    times = dict.fromkeys(("total_s", "generate_s", "transfer_s", "analyze_s"), settings["time"])
    change = {{"iterations": 100, "residual_l1": 1e-9, "residual_linf": 1e-12}}
    pathlib.Path(summary).write_text(json.dumps({{**times, **change, "last": settings["last"]}}))
    if "--" in arguments:
        program, file, rows, steps, pause, read = arguments[arguments.index("--") + 1:]
        pathlib.Path(file).write_text(json.dumps([1000 * settings["time"]] * int(steps)))
elif name == "bench_kernels":
    formats = {{one: {{"iterate_ms": {{"median": settings["time"]}}}} for one in settings["formats"]}}
    print(json.dumps({{**head, "matrices": [{{"matrix": "grid:1000", "results": [{{"kernels": formats}}]}}]}}))
elif name == "bench_transfer":
    print(json.dumps({{**head, "transfer": {{"transfer": {{"median": settings["time"]}}}}}}))
"""
PROGRAMS = ("ringside", "bench_kernels", "bench_transfer", "bench_publishing")


class Place(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def build(self, side, programs=PROGRAMS, library=True, **settings):
        """Makes a build folder. Returns the folder of its programs."""
        folder = self.folder / side / "bin"
        folder.mkdir(parents=True)
        if library:
            (folder.parent / "lib").mkdir()
            (folder.parent / "lib/libringside.so.0").touch()
        usual = {"version": "0.2.0", "time": 1.0, "formats": ["csr", "bands"], "status": {}, "last": {"max": 0.5}}
        (folder / "settings.json").write_text(json.dumps(usual | settings))
        for name in programs:
            (folder / name).write_text(PROGRAM.format(python=sys.executable))
            (folder / name).chmod(0o755)
        return folder

    def compare(self, before, after, *options):
        """Runs the script. Returns its status, its output, and its JSON."""
        output = self.folder / "found.json"
        script = [sys.executable, "-B", ROOT / "bench/releases.py", before, after, f"--output={output}"]
        ran = subprocess.run([*script, *options], capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout + ran.stderr, measuring.read_json(output)


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "a benchmark needs two cores")
class Comparison(Place):
    def rows(self, document):
        return {row["what"]: row for row in document["results"]}

    def test_each_figure_has_both_builds_and_their_ratio(self):
        status, said, found = self.compare(self.build("before"), self.build("after", time=0.5), "--rounds=6",
                                           "--parts", "runs", "kernels")
        self.assertEqual(status, 0, said)
        self.assertEqual({side: head["version"] for side, head in found["builds"].items()},
                         {"before": "0.2.0", "after": "0.2.0"})
        row = self.rows(found)["grid:1000, csr"]
        self.assertEqual((row["before"]["median"], row["after"]["median"], row["unit"]), (1, 0.5, "ms"))
        self.assertEqual(row["after_over_before"]["median_95"], [0.5, 0.5])
        self.assertRegex(said, r"grid:2000, total +1 +0\.5 s +0\.500 \(0\.500 to 0\.500\) +less")
        self.assertIn("7 of 7 intervals exclude 1", said)

    def test_small_steps_run_with_the_library_of_their_own_build(self):
        before, after = self.build("before"), self.build("after", library=False)
        status, said, found = self.compare(before, after, "--rounds=1", "--parts=steps")
        self.assertEqual(status, 0, said)
        self.assertRegex(self.rows(found)["10 rows, 8 slots"]["absent"], "not in AFTER: .* another build's library")
        status, said, found = self.compare(before, before, "--rounds=1", "--parts=steps")
        self.assertEqual(status, 0, said)
        self.assertEqual(self.rows(found)["10 rows, 8 slots, p50"]["after"]["median"], 1)
        self.assertEqual(self.rows(found)["10 rows, 8 slots, no pause"]["after"]["median"], 100)  # 1 s for 10,000 steps

    def test_what_a_build_lacks_is_absent(self):
        before = self.build("before", formats=["csr"], programs=("ringside", "bench_kernels"))
        after = self.build("after", status={"ringside": timings.USAGE})
        status, said, found = self.compare(before, after, "--rounds=1", "--parts", "runs", "kernels", "compile")
        self.assertEqual(status, 0, said)
        rows = self.rows(found)
        self.assertEqual(rows["grid:1000, bands"]["absent"], "not in BEFORE")
        self.assertEqual(rows["grid:1000, bands"]["after"]["median"], 1)
        self.assertEqual(rows["bench_transfer"]["absent"], "not in BEFORE: there is no bench_transfer")
        self.assertEqual(rows["grid:2000"]["absent"], "not in AFTER: refused its options; its message is above")
        self.assertIn("not in BEFORE or AFTER: found no compile_commands.json", said)

    def test_an_instruction_set_that_the_processor_lacks_is_absent(self):
        status, said, _ = self.compare(self.build("before"), self.build("after"), "--rounds=1", "--parts=kernels",
                                       "--isa", "avx512", "avx2")
        self.assertEqual(status, 0, said)
        self.assertIn("uses plain, because this processor lacks avx512", said)
        self.assertIn("PageRank iterate, avx2\n  grid:1000, csr", said)

    def test_other_bits_end_the_comparison(self):
        before = self.build("before", last={"max": 0.5, "results": {"x.sum": 1.0}})
        after = self.build("after", last={"max": 0.5, "results": {"x.sum": 1.0000000000000002, "x.new": 1}})
        for part in ("runs", "steps"):
            status, said, found = self.compare(before, after, "--rounds=1", f"--parts={part}")
            self.assertEqual((status, found), (1, {}))
            self.assertIn("x.sum: found 1.0000000000000002, expected as before 1.0", said)
        self.assertEqual(self.compare(before, after, "--rounds=1", "--parts=runs", "--other-bits")[0], 0)

    def test_a_program_that_fails_ends_the_comparison(self):
        status, said, found = self.compare(self.build("before"), self.build("after", status={"bench_kernels": 5}),
                                           "--rounds=1", "--parts=kernels")
        self.assertEqual((status, found), (1, {}))
        self.assertIn("status 5\nbench_kernels: an option of a later build", said)

    def test_a_name_that_is_neither_a_commit_nor_a_build_is_refused(self):
        status, said, _ = self.compare("no-such-commit", self.build("after"))
        self.assertEqual(status, 1)
        self.assertIn("BEFORE: found 'no-such-commit', expected a commit, or a folder of built programs", said)


class Rounds(unittest.TestCase):
    def rounds(self, most_pairs=None, **options):
        calls = []

        def measure(build_, _):
            calls.append(build_)
            return {("figure", "s"): 1.0}, {}

        one = timings.Measurement("part", "name", measure, most_pairs)
        given = types.SimpleNamespace(**{"minutes": 0, "rounds": None, "other_bits": False, "pool_dir": None} | options)
        with mock.patch.object(releases, "say"):
            pairs, _, rounds = releases.measured_rounds([one], {"before": "b", "after": "a"}, given)
        return "".join(calls), len(pairs[one]), rounds

    def test_both_builds_take_turns_in_alternating_order_after_a_round_that_does_not_count(self):
        self.assertEqual(self.rounds(rounds=3), ("ab" "abbaab", 3, 3))

    def test_even_without_time_the_rounds_suffice_for_an_interval(self):
        calls, pairs, rounds = self.rounds()
        self.assertEqual((len(calls), pairs, rounds), (14, 6, 6))
        self.assertIn("median_95", measuring.spread([1.0] * rounds))

    def test_a_long_measurement_has_few_pairs_and_no_warm_up(self):
        self.assertEqual(self.rounds(most_pairs=2, rounds=9), ("abba", 2, 2))


class WholeBuilds(unittest.TestCase):
    def test_only_a_commit_is_built_as_a_whole(self):
        found = {"build": {"wall_s": 100.0, "processor_s": 200.0},
                 "after_touching": {"a.cpp": {"wall_s": 4.0, "processor_s": 3.0}}}
        names = {"before": "abc", "after": "abc-dirty"}
        builds = {side: types.SimpleNamespace(commit=name) for side, name in names.items()}
        with mock.patch.object(releases, "measure_commit", return_value=found), mock.patch.object(releases, "say"), \
                mock.patch.object(releases, "commit_of", lambda name: "" if "dirty" in name else name):
            rows = releases.whole_builds(builds)
        self.assertEqual([(row["what"], row["before"], row["absent"]) for row in rows], [
            ("all programs, processor time", 200, "not in AFTER"), ("all programs, wall time", 100, "not in AFTER"),
            ("a.cpp, processor time", 3, "not in AFTER"), ("a.cpp, wall time", 4, "not in AFTER")])


class Table(unittest.TestCase):
    def rows(self, *ratios):
        one = timings.Measurement("kernels", "name", None)
        return table.timed_rows(one, [{"before": {("csr", "ms"): 2.0}, "after": {("csr", "ms"): 2 * ratio}}
                                      for ratio in ratios])

    def test_only_an_interval_without_1_has_a_mark(self):
        for ratios, mark in (([0.9] * 6, "less"), ([1.1] * 6, "more"), ([0.9] * 5 + [1.1], ""), ([0.9] * 5, "")):
            with self.subTest(ratios):
                self.assertEqual(table.mark(self.rows(*ratios)[0]), mark)

    def test_few_pairs_show_their_range(self):
        self.assertEqual(table.cells(self.rows(0.9, 1.0, 1.2)[0])[3], "1.000 (range 0.900 to 1.200)")

    def test_a_time_of_zero_has_no_ratio(self):
        pair = {side: {("x", "s"): 0.0} for side in table.SIDES}
        row, = table.timed_rows(timings.Measurement("runs", "name", None), [pair])
        self.assertEqual(table.cells(row)[3:], ["n/a", ""])

    def test_a_size_is_exact_and_has_no_mark(self):
        rows = table.exact_rows("sizes", {"before": {("ringside", "bytes"): 2000},
                                          "after": {("ringside", "bytes"): 1000, ("new", "bytes"): 1}})
        self.assertEqual([table.cells(row) for row in rows], [["2,000", "1,000", "bytes", "0.5000", ""],
                                                              ["-", "1", "bytes", "not in BEFORE", ""]])

    def test_both_forms_have_a_line_for_each_row(self):
        rows = self.rows(0.9, 1.0)
        self.assertEqual(len(table.text(rows).splitlines()), 3)
        self.assertEqual(table.markdown(rows).splitlines()[-1],
                         "| kernels: csr | 2 | 1.9 | ms | 0.950 (range 0.900 to 1.000) |  |")


class Sources(Place):
    def test_a_source_is_compiled_with_its_folder_by_the_first_target_that_has_it(self):
        unity = self.folder / "build/one.dir/Unity/unity_0_cxx.cxx"
        unity.parent.mkdir(parents=True)
        unity.write_text(f'#include "{self.folder}/a/alone.cpp"\n#include "{self.folder}/a/together.cpp"\n')
        alone = self.folder / "a/alone.cpp"
        calls = [{"file": str(file), "directory": "/d", "command": f"c++ -O3 -o {output} -c {file}"}
                 for file, output in ((unity, "one.o"), (alone, "b_avx2.o"), (alone, "a_plain.o"))]
        (self.folder / "build/compile_commands.json").write_text(json.dumps(calls))
        built = types.SimpleNamespace(bin=self.folder / "build/bin", tree=self.folder)
        self.assertEqual(timings.compiler_call(built, "a/together.cpp"),
                         (["c++", "-O3", "-o", "one.o", "-c", str(unity)], "/d"))
        self.assertEqual(timings.compiler_call(built, "a/alone.cpp")[0][3], "a_plain.o")
        with self.assertRaisesRegex(timings.Absent, "no target compiles this source"):
            timings.compiler_call(built, "together.cpp")

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.folder, "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
                              check=True, capture_output=True, text=True).stdout.strip()

    def test_a_worktree_keeps_its_objects_but_no_program_of_another_commit(self):
        commits = []
        for text in ("one\n", "two\nlines\n"):
            (self.folder / "cli").mkdir(exist_ok=True)
            (self.folder / "cli/main.cpp").write_text(text)
            self.git("init", "--quiet")
            self.git("add", "cli")
            self.git("commit", "--quiet", "--message=c")
            commits.append(self.git("rev-parse", "HEAD"))
        with mock.patch.object(build, "ROOT", self.folder):
            tree = build.check_out(commits[0], self.folder / "work/before")
            for folder in ("bin", "objects"):
                (tree / "build/release" / folder).mkdir(parents=True)
            self.assertEqual(sizes.sources_of(tree)["product, code", "lines"], 1)
            build.check_out(commits[0], self.folder / "work/before")
            self.assertTrue((tree / "build/release/bin").exists())
            build.check_out(commits[1], self.folder / "work/before")
        self.assertFalse((tree / "build/release/bin").exists())
        self.assertTrue((tree / "build/release/objects").exists())
        self.assertEqual(sizes.sources_of(tree)["product, code", "lines"], 2)

    def test_different_settings_of_the_builds_are_named(self):
        one, two = (types.SimpleNamespace(settings={"CMAKE_CXX_FLAGS": flags, **more}) for flags, more in (
            ("", {"RINGSIDE_UNITY": "ON"}), ("-march=native", {})))
        self.assertEqual(build.differing_settings(one, two), ["CMAKE_CXX_FLAGS was '', and is '-march=native'"])


if __name__ == "__main__":
    unittest.main()
