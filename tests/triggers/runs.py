# SPDX-License-Identifier: BSD-3-Clause
"""Runs of publish_poisoned in an empty folder, and what is left of them."""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/bin").resolve()
ENTRIES = 3000


class Run:
    """What a run of `ringside run` said and left."""

    def __init__(self, done, summary):
        self.output, self.said, self.summary = done.stdout, done.stderr, summary
        self.replies = [(float(value), int(number), int(k))
                        for value, number, k in re.findall(r"^reply (\S+) (\d+) at (\d+)$", done.stdout, re.MULTILINE)]
        ended = re.findall(r"^ended after (\d+)$", done.stdout, re.MULTILINE)
        self.published = int(ended[-1]) if ended else None


class Place(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("RINGSIDE_")}
        self.environment.update(LC_ALL="C.UTF-8", PATH=f"{PROGRAMS}:{os.environ['PATH']}")

    def call(self, *command, expected=0):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=240, check=False)
        self.assertEqual(done.returncode, expected, f"{command}\n{done.stdout}{done.stderr}")
        return done

    def publish(self, *options, steps=60, nan=(0, 0), kill=0, expected=0, pool="x.pool"):
        """A run; nan: the first and last iteration with a NaN; kill: at which the analyzer is killed."""
        summary = self.folder / "summary.json"
        summary.unlink(missing_ok=True)
        durability = () if any(str(one).startswith("--durability") for one in options) else ("--durability=process",)
        done = self.call("ringside", "run", "--quiet", f"--pool={pool}", f"--summary={summary}", *durability, *options, "--",
                         PROGRAMS / "publish_poisoned", steps, ENTRIES, *nan, kill, expected=expected)
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
        records = map(json.loads, self.call("ringside", "tail", "--pool", pool, "--json").stdout.splitlines())
        return [record for record in records if record["event"] == "mark"]

    def mark_texts(self, pool="x.pool"):
        return [mark["text"] for mark in self.mark_records(pool)]

    def assert_exported(self, iteration, pool="x.pool"):
        """The iterate comes back, bit by bit."""
        self.call("ringside", "export", pool, "--iteration", iteration, "--output=x.npy")
        content = (self.folder / "x.npy").read_bytes()
        values = struct.unpack(f"<{ENTRIES}d", content[-8 * ENTRIES:])
        self.assertEqual(values, tuple(iteration + i / ENTRIES for i in range(ENTRIES)))


def main():
    unittest.main(argv=sys.argv[:1])
