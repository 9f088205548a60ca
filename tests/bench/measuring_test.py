# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmarks compute from their measurements: the order of the runs, ratios, confidence intervals, and tables
with missing figures."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import compare  # noqa: E402
import held  # noqa: E402
import measuring  # noqa: E402
import pipeline  # noqa: E402
import plan  # noqa: E402
import products  # noqa: E402
import scale  # noqa: E402


def product_result(matrix, threads, ratio):
    found = {"what": "w", "version": "1", "ms": measuring.spread([2.0]), "convert_s": 0, "error_over_rounding": 0}
    return {"matrix": matrix, "threads": threads, "rows": 4_000_000, "nonzeros": 1, "absent": ["petsc"],
            "vectors_over_iterate": measuring.spread([0.5]),
            "measured": {"ringside": found, "graphblas": {**found, "ringside_over_this": measuring.spread([ratio])},
                         "copy": {**found, "gb_per_s": 64.0}}}


class Measuring(unittest.TestCase):
    def test_turns_alternate_after_one_round_that_does_not_count(self):
        calls = []
        rounds = measuring.in_turn({"a": lambda: calls.append("a") or len(calls), "b": lambda: calls.append("b") or len(calls)}, 3)
        self.assertEqual("".join(calls), "abbaabba")
        self.assertEqual(len(rounds), 3)
        self.assertEqual([min(r.values()) for r in rounds], [3, 5, 7])

    def test_a_ratio_is_taken_within_each_round(self):
        # In the second round, the machine is ten times slower; the ratio remains the same.
        rounds = [{"a": 1.0, "b": 2.0}, {"a": 10.0, "b": 20.0}, {"a": 1.0, "b": 2.0}]
        found = measuring.ratio(rounds, "a", "b")
        self.assertEqual((found["min"], found["median"], found["max"]), (0.5, 0.5, 0.5))

    def test_a_median_lies_between_the_values_that_the_binomial_distribution_names(self):
        self.assertNotIn("median_95", measuring.spread(list(range(5))))
        self.assertEqual(measuring.spread(list(range(6)))["median_95"], [0, 5])  # 1 - 2 / 2^6 = 97 %
        # For 25 values, the median is between the 8th and the 18th value with a probability of 95.7 % (Conover, table
        # A3); here, the interval has one more value on each side.
        self.assertEqual(measuring.spread(list(range(1, 26)))["median_95"], [7, 19])

    def test_few_values_show_their_range(self):
        self.assertEqual(measuring.confidence(measuring.spread([1.0, 3.0, 2.0])), "2 (1 to 3)")

    def others_share(self, before, after):
        document = {}
        with mock.patch.object(measuring, "processor_times", side_effect=[before, after]), \
                mock.patch.object(measuring.os, "cpu_count", return_value=4), measuring.others_share(document):
            pass
        return document["processor_time_of_others"]

    def test_what_others_took_is_a_share_of_all_processors(self):
        # In two seconds, the four processors worked for five processor-seconds; three of these were used by this
        # process.
        self.assertEqual(self.others_share((100, 7, 50), (105, 10, 52)), 0.25)

    def test_clocks_that_tick_apart_do_not_give_others_less_than_nothing(self):
        self.assertEqual(self.others_share((100, 7, 50), (101, 8.01, 51)), 0)

    def test_work_of_ours_and_of_children_counts_as_ours(self):
        busy_before, own_before, _ = measuring.processor_times()
        spin = "import time\nwhile time.process_time() < 0.2: pass"
        subprocess.run([sys.executable, "-c", spin], check=True)
        begin = time.process_time()
        while time.process_time() - begin < 0.2:
            pass
        busy, own, _ = measuring.processor_times()
        self.assertGreater(own - own_before, 0.35)  # counting in ticks rounds 0.4 s down
        self.assertGreater(busy - busy_before, 0.2)  # the kernel counts the machine's times in ticks

    def test_a_pool_in_memory_is_not_taken_for_the_shared_buffers(self):
        producer = {"VmHWM": 100, "RssShmem": 30}
        self.assertEqual(scale.peak_in_all(producer, {"VmHWM": 80, "RssShmem": 30}), 150)  # the pool is on a disk
        self.assertEqual(scale.peak_in_all(producer, {"VmHWM": 80, "RssShmem": 70}), 150)  # the pool is on a tmpfs
        self.assertEqual(scale.peak_in_all({"VmHWM": 100, "RssShmem": 0}, {"VmHWM": 0, "RssShmem": 0}), 100)  # no analyzer

    def test_a_grids_producer_is_predicted_by_what_it_holds_at_a_time(self):
        # 4,000,000 rows with 8 links each: 64 MB of vectors, and in addition first 160 MB of matrix, and later 64 MB of
        # buffers.
        self.assertEqual(pipeline.predicted_peak(4_000_000, 31_976_004), 2 * 32_000_000 + 32_000_008 + 127_904_016)
        self.assertEqual(pipeline.predicted_peak(1_000_000, 1_000_000), 4 * 8_000_000)

    def test_what_holds_a_producer_is_the_time_between_steps_that_made_no_iterate(self):
        steps = [{"published_at_ns": at, "generate_ns": 4_000_000} for at in (10_000_000, 15_000_000, 21_000_000)]
        self.assertAlmostEqual(held.held_ms(steps), 1.5)


def planned(producer, analyzer, reduce="slot"):
    return {"producer_cores": producer, "analyzer_cores": analyzer, "reduce": reduce, "elastic": False}


class Plans(unittest.TestCase):
    def test_the_processors_are_those_of_the_calibration(self):
        self.assertEqual(plan.cpus_of({"fingerprint": {"cpus": "0-2,4,10-11"}}), [0, 1, 2, 4, 10, 11])
        self.assertEqual(plan.options_of(planned(2, 1), [0, 2, 4]),
                         ["--producer-cores=0,2", "--analyzer-cores=4", "--reduce=slot", "--elastic=off"])

    def test_all_modes_of_the_default_split_run_and_the_planned_choice(self):
        default, transfer, other, best = planned(6, 2), planned(6, 2, "transfer"), planned(7, 1), planned(5, 3)
        rows = [other, default, transfer, best]
        self.assertEqual(plan.rows_to_run({"rows": rows, "best": 3}, 8), [default, transfer, best])
        self.assertEqual(plan.rows_to_run({"rows": rows, "best": 2}, 8), [default, transfer])

    def test_a_plan_without_the_default_split_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, "found no row of 6 . 2 cores"):
            plan.rows_to_run({"rows": [planned(7, 1)], "best": 0}, 8)

    def test_what_is_published_is_renewed_whether_the_file_has_it_or_not(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(plan, "published", return_value="new"):
            file = pathlib.Path(folder) / "plan.json"
            for old in ({"rounds": 7}, {"rounds": 7, "published": "old"}, {"rounds": 7, "published_pipeline": "old"}):
                file.write_text(json.dumps(old), encoding="utf-8")
                plan.renew_published(mock.Mock(output=file))
                self.assertEqual(json.loads(file.read_text(encoding="utf-8")), {"rounds": 7, "published": "new"})


class Tables(unittest.TestCase):
    def figures(self, **parts):
        with tempfile.TemporaryDirectory() as folder:
            for name, part in parts.items():
                (pathlib.Path(folder) / f"{name}.json").write_text(json.dumps(part), encoding="utf-8")
            return compare.Figures(pathlib.Path(folder))

    def test_what_was_not_measured_is_named_absent(self):
        rows = self.figures().rows()
        self.assertTrue(all(row["measured"] is None for row in rows))
        self.assertEqual(compare.figures_table(rows).count("| absent |"), len(rows))
        self.assertTrue(all(row["limit"] for row in rows))

    def test_each_figure_comes_from_its_own_measurement(self):
        rows = self.figures(products={"results": [product_result("grid:2000", 1, 0.5), product_result("rmat:22", 2, 0.7)]}).rows()
        found = {row["what"]: row["measured"]["median"] for row in rows if row["measured"]}
        self.assertEqual(list(found.values()), [0.5, 0.7])
        self.assertIn("grid:2000, 1 thread", list(found)[0])
        self.assertIn("rmat:22, 2 threads", list(found)[1])

    def test_the_bound_of_keeping_is_a_copy_by_both_cores(self):
        figures = self.figures(products={"results": [product_result("grid:2000", 2, 0.5)]},
                               pipeline={"ms_per_iteration": {"dram_once": measuring.spread([4.0])}})
        self.assertIn("bound 1.25: copying an iterate takes both cores 1.00 ms", figures.copy_bound())  # 64 MB, 64 GB/s

    def measured_by(self, **commits):
        return self.figures(**{part: {"machine": {"commit": commit, "started": f"when {part} was"}}
                               for part, commit in commits.items()})

    def test_a_row_says_which_build_it_comes_from(self):
        rows = self.measured_by(products="abc", pipeline="def").rows()
        self.assertEqual(rows[0]["from"], {"products": {"commit": "abc", "started": "when products was"}})
        self.assertEqual(list(rows[7]["from"]), ["pipeline"])
        self.assertEqual(rows[-1]["from"], {})

    def test_parts_of_different_builds_are_warned_of(self):
        self.assertEqual(self.measured_by(products="abc1234", transfer="abc1234567").warning(), "")
        self.assertIn("products abc, when products was; held def", self.measured_by(products="abc", held="def").warning())
        self.assertIn("not measured with one build", self.measured_by(products="abc-dirty", held="abc-dirty").warning())
        self.assertEqual(self.figures().warning(), "")

    def test_a_peer_that_is_absent_has_its_line(self):
        self.assertIn("| grid:2000 | 2 | petsc | absent | |", products.table([product_result("grid:2000", 2, 0.5)]))

    def test_a_second_is_a_thousand_milliseconds(self):
        part = {name + "_ms": measuring.spread([100.0]) for name in ("all", "start", "load", "generate")}
        row = self.figures(first_iterate={"cache": part}).first_iterate()
        self.assertEqual(row["measured"]["median"], 0.1)
        self.assertEqual(row["measured"]["repeats"], 1)


if __name__ == "__main__":
    unittest.main()
