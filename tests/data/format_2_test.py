# SPDX-License-Identifier: BSD-3-Clause
"""Pools of ring format 2 and their journals, made by release 0.2.0: today's programs must read them as that release did.
Commands may print further keys, but no value may change. No command that reads, and no run that is refused, may change
a byte of a pool or of its journal.

The archive was made once; the script that made it is in the history of this folder. outputs.json has what release 0.2.0
printed, and exported/ has what it exported. The pools:
  wrapped     the ring has wrapped several times; the journal is in plain files
  killed      the analyzer was killed at a sync in the middle of the run
  resumed     a copy of `killed` that another run continued: five iterates of the first life and three of the second
  jacobi      every seventh iterate and the last one, which leaves two slots empty; the journal uses libpmemlog
  damaged     the second chunk of the newest iterate has a wrong byte; there is no journal
  unfinished  the analyzer was killed before its first fdatasync: superblocks, but no formatted word"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ARCHIVE = pathlib.Path(__file__).with_name("format_2.tar.xz")


def values_of(printed):
    """The JSON values in an output, which has one object, or one object per line."""
    values = []
    decoder = json.JSONDecoder()
    printed = printed.strip()
    while printed:
        value, end = decoder.raw_decode(printed)
        values.append(value)
        printed = printed[end:].lstrip()
    return values


def differences(then, now, where):
    """The differences: what `then` has and what is missing or changed in `now`. Further keys in `now` do not count."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key, value in then.items():
            if key in now:
                yield from differences(value, now[key], f"{where}.{key}")
            else:
                yield f"{where}.{key}: missing, expected {value}"
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for index, (one, other) in enumerate(zip(then, now)):
            yield from differences(one, other, f"{where}[{index}]")
    elif then != now or isinstance(then, bool) != isinstance(now, bool):
        yield f"{where}: {now}, expected {then}"


def digests(folder):
    """The SHA-256 digest of each pool and each log in the folder, by file name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.pool*"))}


class Format2(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        subprocess.run(["tar", "--extract", "--no-same-owner", f"--file={ARCHIVE}", f"--directory={place.name}"], check=True)
        self.folder = pathlib.Path(place.name) / "format_2"
        self.commands = json.loads((self.folder / "outputs.json").read_text(encoding="utf-8"))["commands"]
        self.before = digests(self.folder)
        self.exported = {path.name: path.read_bytes() for path in (self.folder / "exported").iterdir()}
        for name in self.exported:
            (self.folder / "exported" / name).unlink()
        (self.folder / "pages").mkdir()

    def ringside(self, *words):
        """Runs `ringside WORDS` in the folder. Returns the exit code, standard output and standard error."""
        ended = subprocess.run([BIN / "ringside", *words], cwd=self.folder, check=False, encoding="utf-8", capture_output=True)
        return ended.returncode, ended.stdout, ended.stderr

    def test_each_command_ends_and_prints_as_it_did(self):
        for command in self.commands:
            words = command["words"]
            with self.subTest(" ".join(words)):
                code, printed, error = self.ringside(*words)
                self.assertEqual(code, command["exit_code"], error)
                found = list(differences(command.get("values", []), values_of(printed) if "--json" in words else [], "$"))
                self.assertFalse(found, "\n".join(found[:20]))

    def test_exported_files_are_equal_byte_for_byte(self):
        self.assertGreater(len(self.exported), 8)
        for command in self.commands:
            if command["words"][0] == "export":
                self.ringside(*command["words"])
        written = {path.name: path.read_bytes() for path in (self.folder / "exported").iterdir()}
        self.assertEqual(written.keys(), self.exported.keys())
        for name, expected in self.exported.items():
            self.assertTrue(written[name] == expected, name)

    def test_the_damaged_chunk_is_found_and_its_iterate_is_not_exported(self):
        self.assertEqual(self.ringside("verify", "damaged.pool")[0], 5)
        self.assertEqual(self.ringside("replay", "damaged.pool")[0], 5)
        code, _, error = self.ringside("export", "damaged.pool", "--output", "x.npy")
        self.assertEqual(code, 5)
        self.assertIn("--iteration 4 is the newest intact one", error)
        self.assertFalse((self.folder / "x.npy").exists())

    def test_an_unfinished_pool_is_reported_as_interrupted(self):
        for command in ("info", "verify", "replay"):
            code, _, error = self.ringside(command, "unfinished.pool")
            self.assertEqual(code, 2)
            self.assertIn("creation of this pool was interrupted", error)

    def test_reading_changes_no_byte(self):
        self.assertGreater(len(self.before), 10)
        for command in self.commands:
            self.ringside(*command["words"])
        self.assertEqual(digests(self.folder), self.before)

    def test_a_run_that_may_not_overwrite_is_refused_and_changes_no_byte(self):
        pools = [name for name in self.before if name.endswith(".pool")]
        self.assertEqual(len(pools), 6)
        for pool in pools:
            with self.subTest(pool):
                code, _, error = self.ringside("run", "--matrix=grid:14", "--iterations=3", f"--pool={pool}", "--quiet")
                self.assertEqual(code, 2, error)
                self.assertIn("--overwrite", error)
        self.assertEqual(digests(self.folder), self.before)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
