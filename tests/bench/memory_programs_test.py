# SPDX-License-Identifier: BSD-3-Clause
"""The programs of bench/memory must compute the same results in every memory and with any number of threads."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv.pop())
SHORT = {"gups": ["--updates=20000", "--warm-updates=1000"], "misses": ["--touches=500"], "triad": ["--passes=1"],
         "pagerank": ["--iterations=1"], "blackscholes": ["--passes=1"]}


def checksum(program, memory, threads):
    done = subprocess.run([BIN / f"bench_memory_{program}", "--data=4M", f"--memory={memory}", f"--threads={threads}",
                           *SHORT.get(program, [])], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["checksum"]


class MemoryPrograms(unittest.TestCase):
    def test_result_does_not_depend_on_memory(self):
        with tempfile.TemporaryDirectory() as folder:
            for program in ("triad", "gups", "pagerank", "sort", "blackscholes", "misses", "bfs"):
                expected = checksum(program, "dram", 1)
                for memory in (f"mmap:{folder}", f"mmap:{folder}:random", f"michel:{folder}:3M", f"michel:{folder}:3M:table"):
                    with self.subTest(program=program, memory=memory):
                        self.assertEqual(checksum(program, memory, 1), expected)

    def test_result_does_not_depend_on_threads(self):
        for program in ("triad", "gups", "pagerank", "sort", "blackscholes", "bfs"):
            with self.subTest(program=program):
                self.assertEqual(checksum(program, "dram", 2), checksum(program, "dram", 1))

    def test_unknown_memory_is_refused_in_one_line(self):
        done = subprocess.run([BIN / "bench_memory_triad", "--memory=tape"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("found 'tape', expected dram", done.stderr)


if __name__ == "__main__":
    unittest.main()
