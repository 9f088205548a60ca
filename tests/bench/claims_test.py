# SPDX-License-Identifier: BSD-3-Clause
"""The figures in README.md and CONTRIBUTING.md (speed, time to build, time to test) must be those in bench/results,
measured with sources of about the same size as today's."""

import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import build_time  # noqa: E402


def results(name):
    return json.loads((ROOT / "bench/results" / f"{name}.json").read_text(encoding="utf-8"))


def newest(name):
    """The results for the newest commit that was measured."""
    return results(name)["results"][-1]


def claims(file, pattern):
    """The numbers in the only text of the file that matches the pattern."""
    text = " ".join((ROOT / file).read_text(encoding="utf-8").split())
    found = re.findall(pattern, text)
    if len(found) != 1:
        raise AssertionError(f"{file}: expected one text of the form '{pattern}', found {len(found)}")
    return [float(number) for number in (found[0] if isinstance(found[0], tuple) else (found[0],))]


class Build(unittest.TestCase):
    def test_readme_states_the_measured_minutes(self):
        minutes = newest("build_time")["build"]["wall_s"] / 60
        self.assertEqual(claims("README.md", r"builds \(([\d.]+) minutes on two cores\)"), [round(minutes, 1)])

    def test_contributing_states_the_measured_processor_times(self):
        found = newest("build_time")
        touched = found["after_touching"]
        cli = max(times["processor_s"] for path, times in touched.items() if path.startswith("cli/"))
        handoff = touched["common/handoff/handoff_layout.hpp"]["processor_s"]
        stated = claims("CONTRIBUTING.md", r"take (\d+) s of processor time to build. Rebuilding takes (\d+) s after a change of one file "
                                           r"of `cli`, and (\d+) s after a change of the hand-off's header")
        self.assertEqual(stated, [round(found["build"]["processor_s"]), round(cli), round(handoff)])

    def test_the_sources_have_not_grown_since_they_were_measured(self):
        measured, now = newest("build_time")["source_lines"], build_time.source_lines(ROOT)
        self.assertLess(abs(now - measured), 0.1 * measured,
                        f"{now} lines now, {measured} when bench/results/build_time.json was measured: run bench/build_time.py again")


class Speed(unittest.TestCase):
    def test_readme_states_the_measured_ratios_and_their_days(self):
        newest_run = results("pipeline")["avx2"]
        kept = newest_run["ratios"]["elastic_over_dram_once"]
        figure = r" \| ([\d.]+) × \(([\d.]+) to ([\d.]+)\) \| "
        self.assertEqual(claims("README.md", "against keeping nothing on the same cores" + figure + "30 November 2026"),
                         [float(f"{kept['median']:.2g}"), *(round(bound, 2) for bound in kept["median_95"])])
        self.assertEqual(newest_run["machine"]["started"][:10], "2026-11-30")
        python = results("python")
        over = python["over_copy"]
        self.assertEqual(claims("README.md", "against a plain copy" + figure + "28 November 2026"),
                         [round(over["ringside"][name], 2) for name in ("median", "min", "max")])
        self.assertEqual(claims("README.md", "`h5py` with the same, against the copy" + figure + "28 November 2026"),
                         [float(f"{over['h5py'][bound]:.2g}") for bound in ("median", "min", "max")])
        self.assertEqual(python["machine"]["started"][:10], "2026-11-28")
        self.assertEqual((python["file_system"], python["durability"]["ringside"]), ("tmpfs", "process"))


class Stages(unittest.TestCase):
    def test_contributing_states_the_measured_minutes_of_each_stage(self):
        found = newest("ci_time")["warm"]
        for row, titles in (("release: build, tests", "release: "), ("AddressSanitizer, UndefinedBehaviorSanitizer", "AddressSanitizer"),
                            ("fuzz targets", "fuzzing"), ("ThreadSanitizer", "ThreadSanitizer")):
            seconds = sum(taken for title, taken in found["stages_s"].items() if title.startswith(titles))
            with self.subTest(row):
                self.assertEqual(claims("CONTRIBUTING.md", rf"\| {row} \| ([\d.]+) \|"), [round(seconds / 60, 1)])
        self.assertEqual(claims("CONTRIBUTING.md", r"with a filled compiler cache it takes ([\d.]+) minutes on two cores"),
                         [round(found["wall_s"] / 60, 1)])


if __name__ == "__main__":
    unittest.main()
