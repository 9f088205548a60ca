# SPDX-License-Identifier: BSD-3-Clause
"""How the Python package presents a pool's records: the table of all steps, columns, and the output in a notebook."""

import re
import shutil
import unittest
import xml.etree.ElementTree

import pipelines
from made_pool import KEPT, STEPS, OfAPool

import numpy as np
import ringside
from ringside.table import TIMES


class Tables(OfAPool):
    def test_the_table_has_a_row_for_each_step_and_a_column_for_each_number(self):
        table = self.pool.table()
        self.assertEqual(table["iteration"].tolist(), list(range(1, STEPS + 1)))  # more steps than the ring keeps
        self.assertEqual(table["solver.residual"].tolist(), [10.0**-int(k) for k in table["iteration"]])
        self.assertEqual(table["n.sum"].tolist(), [4 * (2**64 - int(k)) for k in table["iteration"]])
        self.assertEqual(table["n.change_l1"].tolist(), [None] + [4] * (STEPS - 1))
        self.assertEqual(table["x.non_finite"].dtype, np.int64)
        self.assertTrue((table["transfer_ns"] > 0).all())
        self.assertTrue((table["bytes_transferred"] >= 8032).all())
        self.assertNotIn("x.histogram", table.dtype.names)

    def test_the_kept_steps_have_the_same_results_in_ring_and_journal(self):
        recorded, kept = self.pool.columns(), self.pool.columns(kept=True)
        self.assertEqual(kept["iteration"].tolist(), list(range(STEPS - KEPT + 1, STEPS + 1)))
        self.assertEqual(set(kept) - set(recorded), set())
        for name, column in kept.items():
            np.testing.assert_array_equal(recorded[name][-KEPT:], column, name)

    def test_a_pool_without_a_journal_has_a_table_of_the_kept_steps(self):
        pool = self.path("alone.pool")
        shutil.copy(self.pool_path, pool)
        pool = ringside.open(pool)
        self.assertEqual(list(pool.records()), [])
        alone, kept = pool.columns(), self.pool.columns(kept=True)
        self.assertEqual([(name, column.dtype) for name, column in alone.items()],
                         [(name, column.dtype) for name, column in kept.items()])
        for name, column in alone.items():
            expected = np.zeros(KEPT, np.int64) if name in TIMES else kept[name]
            np.testing.assert_array_equal(column, expected, name)
        self.assertIn("polyline", pool._repr_html_())

    def test_the_records_are_those_of_the_run_from_its_beginning_to_its_end(self):
        records = list(self.pool.records())
        self.assertEqual([record.seq for record in records], list(range(1, len(records) + 1)))
        run, = self.pool.runs
        begun, = (record for record in records if record.kind == "run_started")
        self.assertEqual(begun.fields, {"solver": "made", "problem": "a<b", "parameters": "c=1"})
        self.assertLess(abs((begun.written - run.started).total_seconds()), 60)
        ended = records[-1]
        self.assertEqual((ended.kind, ended.fields["how"], ended.fields["outcome"]), ("run_ended", "detached", "finished"))
        steps = [record for record in records if record.kind == "step"]
        self.assertEqual([step.fields["iteration"] for step in steps], list(range(1, STEPS + 1)))
        self.assertEqual({step.run_id for step in steps} | {begun.run_id}, {run.run_id})
        self.assertEqual(steps[0].results["x.change_l2"], None)
        self.assertEqual(steps[8].results, {name: value for name, value in self.pool.results(self.pool.steps[4]).items()
                                            if name != "x.histogram" and not isinstance(value, (np.ndarray, list))})
        self.assertEqual(next(self.pool.records(after=7)), records[7])

    def test_a_table_can_be_of_one_run(self):
        program = """
            import ringside
            with ringside.publish({"x": ("f64", (4,))}, parameters="%s") as run:
                run.publish(1, {"x": [1.0] * 4})
            """
        self.kept(program % "a")
        pool = self.pool_of(program % "b", "--overwrite")
        run = pool.runs[-1]
        _, output, _ = self.call(pipelines.BIN / "ringside", "info", "run.pool", "--json")
        self.assertIn(f'"run_id": "{run.run_id}"', output)
        self.assertEqual(len(pool.table()), 2)
        for kept in (False, True):
            self.assertEqual(len(pool.table(run=run, kept=kept)), 1)
            self.assertEqual(len(pool.table(run=run.run_id, kept=kept)), 1)
            with self.assertRaisesRegex(ringside.UsageError, "run: found '0+'; expected one of "):
                pool.table(run="0" * 32, kept=kept)
            self.assertEqual(pool.table(run=run, kept=kept)["run"].tolist(), [2])  # as in the table of all runs
        self.assertEqual(pool.table(kept=True)["run"].tolist(), [2])
        self.assertEqual(pool.table()["run"].tolist(), [1, 2])
        self.assertEqual(pool.table()["run_id"].tolist()[1], run.run_id)
        self.assertEqual(len(set(pool.table()["run_id"])), 2)
        columns = pool.columns()
        self.assertEqual(list(columns)[:6], ["commit_seq", "iteration", "step", "run", "run_id", "unix_ns"])
        self.assertEqual([columns[name].dtype for name in ("run", "run_id")], [np.int64, "U32"])
        alone = self.path("alone.pool")
        shutil.copy(self.path("run.pool"), alone)
        self.assertEqual(ringside.open(alone).table()["run"].tolist(), [1])  # without a journal, only the ring's
        self.assertIn(f"run {run.run_id}: ", pool._repr_html_())

    def test_the_mark_of_a_trigger_is_a_record_with_its_texts(self):
        pool = self.pool_of(pipelines.publishing('{"x": ("f64", (4,))}', """
            run.publish(1, {"x": [1.0] * 4})
            run.publish(2, {"x": [3.0] * 4})
            """), "--trigger=x.max > 2: mark:large, reply:0.5")
        mark, = (record for record in pool.records() if record.kind == "mark")
        self.assertEqual(mark.fields, {"commit_seq": 2, "iteration": 2, "step": 1, "cause": "trigger", "name": "large",
                                       "text": "x.max > 2", "actions": "mark, reply:0.5"})
        self.assertEqual((mark.run_id, mark.results), (pool.runs[0].run_id, {}))

    def test_absent_values_are_nan_or_none(self):
        pool = self.pool_of("""
            import ringside
            variables = {"x": ("f64", (4,)), "n": ("i8", (2,)), "s": ringside.Variable("f64", (2,), role="state")}
            with ringside.publish(variables) as run:
                run.publish(1, {"x": [1.0] * 4, "n": __import__("numpy").ones(2, "i1"), "s": [0.0] * 2})
            """)
        self.assertRegex(pool._repr_html_(), r"n i8\[2\], s f64\[2\] state<.*<p>[^<]*[^ <], begun ")
        table = pool.table()
        self.assertTrue(np.isnan(table["x.change_l2"][0]))
        self.assertIsNone(table["n.change_l1"][0])

    @unittest.skipUnless(pipelines.has_module("pandas"), "this interpreter has no pandas")
    def test_pandas_takes_the_table(self):
        import pandas
        frame = pandas.DataFrame(self.pool.table()).set_index("iteration")
        self.assertEqual(frame.loc[9, "solver.residual"], 1e-9)

    @unittest.skipUnless(pipelines.has_module("pyarrow"), "this interpreter has no pyarrow")
    def test_pyarrow_takes_the_columns_without_a_copy(self):
        table = self.pool.arrow()
        self.assertEqual(table.column("n.sum").to_pylist()[-1], 4 * (2**64 - STEPS))
        columns = self.pool.columns()
        import pyarrow
        array = pyarrow.array(columns["x.l2"])
        self.assertEqual(array.buffers()[1].address, columns["x.l2"].ctypes.data)

    def test_a_notebook_shows_a_table_and_a_plot_and_loads_nothing(self):
        page = self.pool._repr_html_()
        root = xml.etree.ElementTree.fromstring(page)
        self.assertEqual([cell.text for cell in root.iter("th")], ["iteration", "commit_seq", "solver.residual"])
        self.assertEqual(next(root.iter("td")).text, str(STEPS - KEPT + 1))
        self.assertIn(f">run {self.pool.runs[0].run_id}: made a&lt;b c=1, begun ", page)
        self.assertIn("x f64[1000] K, n u64[4]<", page)
        labels = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(labels[-2:], ["iteration", "solver.residual, logarithmic"])
        line = root.find(".//{http://www.w3.org/2000/svg}polyline")
        self.assertEqual(len(line.get("points").split()), len(self.pool.table()))
        self.assertEqual(re.findall(r"(?:src|href|url)\s*[=(]", page), [])


class Anew(pipelines.Pipelines):
    def test_a_pool_that_was_made_anew_has_its_own_steps_only(self):
        # The journal also contains the earlier steps; their commits have the same numbers.
        program = """
            import numpy as np, ringside
            with ringside.publish({{"x": ("f64", (3,))}}) as run:
                for k in range(1, {last} + 1):
                    run.publish(k, {{"x": np.full(3, {value})}})
            """
        self.kept(program.format(last=3, value=1.0))
        (self.folder / "run.pool").unlink()
        pool = self.pool_of(program.format(last=2, value=7.0))
        columns = pool.columns(kept=True)
        self.assertEqual(columns["iteration"].tolist(), [1, 2])
        self.assertEqual(columns["x.max"].tolist(), [7.0, 7.0])
        self.assertEqual(set(columns["run_id"].tolist()), {pool.steps[0].run_id})
        with self.assertRaisesRegex(ringside.UsageError, "run: found 'abab.*expected one of [0-9a-f]{32}"):
            pool.table(run="ab" * 16)


if __name__ == "__main__":
    pipelines.run_tests()
