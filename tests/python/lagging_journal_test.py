# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a pool whose journal lags behind its ring. They must have the same rows and columns as later, when the
records exist."""

import glob
import os
import shutil

import pipelines

pipelines.modules_or_skip("numpy")
import numpy as np  # noqa: E402
import ringside  # noqa: E402
from ringside.table import TIMES  # noqa: E402

PROGRAM = """
    import numpy as np, ringside
    with ringside.publish({"x": ("f64", (1000,)), "n": ("i32", (3,))}, scalars={"rho": "f64", "count": "i64"}) as run:
        for k in range(run.next_iteration, run.next_iteration + 3):
            run.publish(k, {"x": k + np.arange(1000.0), "n": np.full(3, k, "i4")}, {"rho": 0.5**k, "count": k})
    """


class Tables(pipelines.Pipelines):
    def with_journal_of(self, pool, journal_of):
        """Copies a pool, with the journal of another pool. Returns a reader of the copy."""
        shutil.copy(self.path(pool), self.path("lagging.pool"))
        for path in glob.glob(self.path(journal_of) + "?*"):
            shutil.copy(path, self.path("lagging.pool") + path.removeprefix(self.path(journal_of)))
        return ringside.open(self.path("lagging.pool"))

    def test_steps_that_the_journal_does_not_have_come_from_the_ring(self):
        self.kept(PROGRAM)
        for path in glob.glob(self.path("run.pool") + "*"):
            shutil.copy(path, self.path("early.pool") + path.removeprefix(self.path("run.pool")))
        self.kept(PROGRAM, "--resume")
        expected = ringside.open(self.path("run.pool")).columns()
        lagging = self.with_journal_of("run.pool", "early.pool")
        for kept in (False, True):
            found = lagging.columns(kept=kept, wait=0)
            self.assertEqual([(name, column.dtype) for name, column in found.items()],
                             [(name, column.dtype) for name, column in expected.items()])
            for name, column in found.items():
                later = np.zeros(3, np.int64) if name in TIMES else expected[name][3:]
                np.testing.assert_array_equal(column, np.concatenate([expected[name][:3], later]), name)

    def test_a_journal_without_a_step_does_not_hide_those_of_the_ring(self):
        self.kept("""
            import ringside
            with ringside.publish({"x": ("f64", (1000,)), "n": ("i32", (3,))}, scalars={"rho": "f64", "count": "i64"}):
                pass
            """, pool="empty.pool")
        self.assertEqual(len(ringside.open(self.path("empty.pool")).table()), 0)
        self.kept(PROGRAM)
        expected = ringside.open(self.path("run.pool")).table()
        found = self.with_journal_of("run.pool", "empty.pool").table(wait=0)
        self.assertEqual(found.dtype, expected.dtype)
        self.assertEqual(found["x.l2"].tolist(), expected["x.l2"].tolist())

    def test_right_behind_the_block_the_table_has_every_step_with_its_results(self):
        for attempt in range(4):
            output = self.kept(PROGRAM + """
    pool = ringside.open("run.pool")
    at_once = pool.columns(wait=0)
    table = pool.table(wait=30)
    print(len(at_once["iteration"]), list(at_once) == list(table.dtype.names), len(table),
          bool(np.isfinite(table["x.l2"]).all() and (table["unix_ns"] > 0).all()), table["solver.count"].dtype)
    """)
            self.assertEqual(output, "3 True 3 True int64\n", attempt)
            for path in glob.glob(self.path("run.pool") + "*"):
                os.unlink(path)


if __name__ == "__main__":
    pipelines.run_tests()
