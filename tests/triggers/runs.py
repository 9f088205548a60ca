# SPDX-License-Identifier: BSD-3-Clause
"""Runs of publish_poisoned in an empty folder, and what these runs keep and record."""

import json
import pathlib
import re
import struct
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from own_folder import OwnFolder  # noqa: E402

ENTRIES = 3000


class Run:
    """The output and the summary of a `ringside run`."""

    def __init__(self, done, summary):
        self.output, self.said, self.summary = done.stdout, done.stderr, summary
        self.replies = [(float(value), int(number), int(k))
                        for value, number, k in re.findall(r"^reply (\S+) (\d+) at (\d+)$", done.stdout, re.MULTILINE)]
        ended = re.findall(r"^ended after (\d+)$", done.stdout, re.MULTILINE)
        self.published = int(ended[-1]) if ended else None


class Place(OwnFolder):
    programs = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/bin").resolve()

    def publish(self, *options, steps=60, nan=(0, 0), kill=0, expected=0, pool="x.pool"):
        """Makes a run. nan: the first and the last iteration with a NaN. kill: the iteration at which the analyzer is
        killed; 0: none."""
        summary = self.folder / "summary.json"
        summary.unlink(missing_ok=True)
        durability = () if any(str(one).startswith("--durability") for one in options) else ("--durability=process",)
        done = self.call("ringside", "run", "--quiet", f"--pool={pool}", f"--summary={summary}", *durability, *options, "--",
                         self.programs / "publish_poisoned", steps, ENTRIES, *nan, kill, expected=expected)
        return Run(done, json.loads(summary.read_text(encoding="utf-8")) if summary.exists() else None)

    def kept(self, pool="x.pool"):
        """The iterations that a pool keeps, in the order of their commits."""
        return [one["iteration"] for one in self.info(pool)["iterates"]]

    def info(self, pool="x.pool"):
        return json.loads(self.call("ringside", "info", "--json", pool).stdout)

    def marks(self, pool="x.pool"):
        """The marks in the journal: (cause, name, iteration, actions)."""
        return [(mark["cause"], mark["name"], mark["iteration"], tuple(mark["action"])) for mark in self.mark_records(pool)]

    def mark_records(self, pool="x.pool"):
        return [record for record in self.records(pool) if record["event"] == "mark"]

    def mark_texts(self, pool="x.pool"):
        return [mark["text"] for mark in self.mark_records(pool)]

    def assert_exported(self, iteration, pool="x.pool"):
        """Expects that `export` returns the iterate with the right bits."""
        self.call("ringside", "export", pool, "--iteration", iteration, "--output=x.npy")
        content = (self.folder / "x.npy").read_bytes()
        values = struct.unpack(f"<{ENTRIES}d", content[-8 * ENTRIES:])
        self.assertEqual(values, tuple(iteration + i / ENTRIES for i in range(ENTRIES)))


def main():
    unittest.main(argv=sys.argv[:1])
