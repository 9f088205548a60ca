# SPDX-License-Identifier: BSD-3-Clause
"""pyarrow and pandas open what `export --records` writes: Feather, Parquet and csv must contain the same values as the
journal."""

import decimal
import io
import os
import pathlib
import sys
import tempfile
import unittest

import exports
from exports import KEPT, POOL, STEPS, WORK, call, export

pyarrow, feather, parquet, pandas = exports.modules_or_skip("pyarrow", "pyarrow.feather", "pyarrow.parquet", "pandas")
import pyarrow.ipc  # noqa: E402


def with_this_python():
    """An environment in which `python3` is this interpreter, with this interpreter's modules."""
    folder = WORK / "bin"
    folder.mkdir(exist_ok=True)
    if not (folder / "python3").exists():
        (folder / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (folder / "python3").chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


class Records(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = feather.read_table(export("r.feather", "--records"))

    def test_feather_is_valid_and_has_a_row_for_each_step(self):
        self.table.validate(full=True)
        self.assertEqual(self.table["iteration"].to_pylist(), list(range(1, STEPS + 1)))
        self.assertEqual(self.table["solver.sweeps"].to_pylist(), [7 * k for k in range(1, STEPS + 1)])
        self.assertEqual(self.table.schema.field("generate_ns").metadata, {b"unit": b"ns"})
        self.assertEqual({len(run) for run in self.table["run_id"].to_pylist()}, {32})
        self.assertEqual(self.table["u16.change_l1"].null_count, 1)  # the first step has no change
        self.assertIsInstance(self.table["i64.sum"][0].as_py(), decimal.Decimal)
        self.assertEqual(self.table["i64.l1"][STEPS - 1].as_py(), sum(abs(int(v)) for v in exports.npy("i64")))
        self.assertEqual(self.table["rebuilt"].to_pylist(), [False] * STEPS)

    def test_parquet_holds_the_same(self):
        done = call("export", POOL, "--records", "-o", WORK / "r.parquet", env=with_this_python())
        self.assertEqual(done.returncode, 0, done.stderr)
        found = parquet.read_table(WORK / "r.parquet")
        self.assertEqual(found.to_pylist().__repr__(), self.table.to_pylist().__repr__())
        self.assertEqual(found.schema.names, self.table.schema.names)

    def test_csv_holds_the_same(self):
        text = call("export", POOL, "--records", "-o", "-").stdout.decode()
        rows = pandas.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
        self.assertEqual(list(rows.columns), self.table.schema.names)
        for name in rows.columns:
            for found, expected in zip(rows[name], self.table[name].to_pylist()):
                if expected is None:
                    self.assertEqual(found, "", name)
                elif isinstance(expected, bool):
                    self.assertEqual(found, str(expected).lower(), name)
                elif isinstance(expected, float):
                    self.assertEqual(float(found).hex(), expected.hex(), name)
                else:
                    self.assertEqual(found, str(expected), name)

    def test_a_range_of_iterations_and_a_pipe(self):
        piped = call("export", POOL, "--records", "--format", "feather", "--from", KEPT[0], "--to", KEPT[1], "-o", "-").stdout
        with pyarrow.ipc.open_file(pyarrow.BufferReader(piped)) as file:
            self.assertEqual(file.read_all()["iteration"].to_pylist(), KEPT[:2])
        none = call("export", POOL, "--records", "--format", "feather", "--from", STEPS + 1, "-o", "-").stdout
        with pyarrow.ipc.open_file(pyarrow.BufferReader(none)) as file:
            self.assertEqual(file.read_all().num_rows, 0)

    def test_many_records_are_several_batches(self):
        pool = exports.made_pool("many.pool", "steps", 70_000)
        with pyarrow.ipc.open_file(str(export("many.feather", "--records", pool=pool))) as file:
            self.assertGreater(file.num_record_batches, 1)
            iterations = file.read_all()["iteration"].to_pylist()
        self.assertEqual(iterations, list(range(70_001 - len(iterations), 70_001)))

    def test_parquet_without_pyarrow_is_one_line_and_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder, "python3")
            python.write_text("#!/bin/sh\nexit 77\n")
            python.chmod(0o755)
            for path, part in ((folder, "pip install pyarrow"), ("/nowhere", "python3 cannot be started")):
                done = call("export", POOL, "--records", "-o", WORK / "none.parquet", env={**os.environ, "PATH": path})
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertRegex(done.stderr.decode(), rf"^ringside: --format: parquet needs .*{part}.*feather and csv.*\n$")
                self.assertFalse((WORK / "none.parquet").exists())


if __name__ == "__main__":
    unittest.main()
