# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the distribution must give byte-equal output under `ringside-memory run` with little DRAM: what they
print, the files that they write and their exit codes are compared with a run without it. A program that is not
installed is skipped."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv.pop()).resolve()
PYTHON = "/usr/bin/python3"
FAULTS = "signal"  # the same as kDefaultFaults in memory/command/run_command.cpp
DRAM, LEAST = "8M", "64K"  # a fraction of the memory that the larger ones of these programs use

NUMPY = """
import numpy as np
a = np.arange(1 << 20, dtype=np.float64).reshape(1024, 1024)
b = (a @ a[:, :64]).sum(axis=0)
np.save("b.npy", np.sort(a.ravel()[::-1] % 1013))
print(b[:8], np.fft.fft(a[3]).real[:4], np.load("b.npy").sum())
"""
PYTHON_SCRIPT = """
import hashlib, os, subprocess, sys, threading, zlib
text = open(sys.argv[1], "rb").read() * 4
words = sorted(set(text.split()))
squeezed = zlib.compress(text, 6)
assert zlib.decompress(squeezed) == text
rows = {i: str(i) * 3 for i in range(40000)}
with open("copy", "wb", buffering=0) as file:
    file.write(text)
with open("copy", "rb") as file:
    room = bytearray(len(text))
    assert file.readinto(room) == len(text) and room == text
child = os.fork()
if child == 0:
    os._exit(0 if hashlib.sha256(room).hexdigest() == hashlib.sha256(text).hexdigest() else 1)
room[:] = bytes(len(room))
print(os.waitpid(child, 0)[1])
out = subprocess.run(["sha256sum"], input=text, capture_output=True, check=True).stdout
results = [None] * 3
def part(i):
    results[i] = zlib.crc32(text[i::3])
threads = [threading.Thread(target=part, args=(i,)) for i in range(3)]
for t in threads: t.start()
for t in threads: t.join()
print(len(words), hashlib.md5(squeezed).hexdigest(), out, results, sum(map(len, rows.values())))
"""
SOURCE_C = """
#include <stdio.h>
#include <math.h>
static double table[4096];
int main(void) {
  for (int i = 0; i < 4096; ++i) table[i] = sin(i) * i;
  double sum = 0;
  for (int i = 0; i < 4096; ++i) sum += table[i];
  printf("%.12g\\n", sum);
  return 0;
}
"""
SQL = """
CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT, value REAL);
PRAGMA cache_size = 4000;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
  INSERT INTO t SELECT i, 'word' || (i * 7919 % 10007), i * 0.5 FROM n;
CREATE INDEX w ON t(word);
SELECT count(*), sum(value), min(word), max(word) FROM t;
SELECT word, count(*) FROM t GROUP BY word ORDER BY 2 DESC, 1 LIMIT 10;
"""
PERL = r"""
my %count; my @rows;
while (<>) { push @rows, $_; $count{$_ % 1009}++; }
my $text = join '', reverse @rows;
$text =~ s/7/seven/g;
print length($text), " ", scalar(keys %count), "\n", substr($text, 0, 200);
"""
BASH = """
declare -A seen; text=""
while read -r number; do seen[$((number % 97))]=$number; text+="$number "; done < "$1"
for ((i = 0; i < 97; ++i)); do echo "${seen[$i]}"; done
echo ${#text}; (echo "sub $(echo "$text" | wc -c)"); cat <<< "$text" | sha256sum
"""
MAKEFILE = "all: a.o b.o\n\tcat a.o b.o | wc -c > sizes\n%.o: %.c\n\tgcc -O1 -c $< -o $@\n"

# {name: the command's words}. {in} is the folder of inputs. The current folder is empty at the beginning; its content
# is compared at the end.
CASES = {
    "awk": ["awk", "{ s[$1 % 5003] = s[$1 % 5003] $1; n += length(s[$1 % 5003]) } END { for (i = 0; i < 5003; ++i) print s[i]; print n }", "{in}/numbers"],
    "bash": ["bash", "{in}/script.sh", "{in}/few"],
    "bc": ["bc", "-q", "{in}/power.bc"],
    "bzip2": ["bzip2", "-9kc", "{in}/big"],
    "cmp": ["cmp", "-l", "{in}/big", "{in}/other"],
    "diff": ["diff", "{in}/numbers", "{in}/changed"],
    "find": ["find", "/usr/include", "-name", "*.h", "-size", "+8k", "-printf", "%p %s\\n"],
    "gcc": ["gcc", "-O2", "{in}/a.c", "-o", "program", "-lm"],
    "git": ["bash", "-c", "git init -q . && git add . && git -C . --work-tree={in} add numbers big && git commit -qm all && git repack -adq --threads=1 && git log --stat --format=%T && git fsck && rm -rf .git/index .git/logs"],
    "grep": ["grep", "-nE", "(7|3).*(9|1)(.)\\3", "{in}/numbers"],
    "gzip": ["gzip", "-9nc", "{in}/big"],
    "jq": ["jq", "-c", "map(.a * 2) | add, length", "{in}/list.json"],
    "ld": ["ld", "-r", "-o", "all.o", "{in}/a.o", "{in}/b.o"],
    "make": ["bash", "-c", "cp {in}/Makefile . && cp {in}/a.c a.c && cp {in}/a.c b.c && make -s -j2"],
    "node": ["node", "-e", "const a = new Float64Array(1 << 19).map((_, i) => i % 1013); a.sort(); let s = ''; for (let i = 0; i < 5000; ++i) s += a[i * 100]; console.log(s.length, a[12345], Buffer.alloc(1 << 20, 'ab').toString().length)"],
    "perl": ["perl", "{in}/script.pl", "{in}/numbers"],
    "python3": [PYTHON, "{in}/script.py", "{in}/numbers"],
    "python3 with numpy": [PYTHON, "{in}/numpy.py"],
    "readelf": ["readelf", "-aW", "{in}/program"],
    "sed": ["sed", "-e", ":a;N;s/\\n/,/;$!ba", "{in}/few"],
    "sha256sum": ["sha256sum", "{in}/big", "{in}/numbers"],
    "sort": ["sort", "-n", "-S", "24M", "--parallel=2", "{in}/numbers"],
    "split": ["split", "-b", "300K", "{in}/big"],
    "sqlite3": ["sqlite3", "new.db", ".read {in}/script.sql"],
    "tar": ["tar", "-C", "{in}", "--sort=name", "--mtime=2020-01-01", "-cf", "all.tar", "big", "numbers"],
    "xz": ["xz", "-1kc", "{in}/big"],
    "zstd": ["zstd", "-5qc", "{in}/big"],
}


def make_inputs(folder):
    numbers = [(i * 7919) % 149993 for i in range(150000)]
    (folder / "numbers").write_text("".join(f"{n}\n" for n in numbers))
    (folder / "few").write_text("".join(f"{n}\n" for n in numbers[:3000]))
    (folder / "changed").write_text("".join(f"{n + (i % 5000 == 7)}\n" for i, n in enumerate(numbers)))
    big = bytearray()
    state = 12345
    for i in range(30000):
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        big += state.to_bytes(8, "little") + b"and the same text again" + bytes([i % 256])
    (folder / "big").write_bytes(big)
    big[1000::50000] = bytes(len(big[1000::50000]))
    (folder / "other").write_bytes(big)
    for name, text in {"script.py": PYTHON_SCRIPT, "numpy.py": NUMPY, "script.sql": SQL, "script.pl": PERL, "script.sh": BASH,
                       "Makefile": MAKEFILE, "a.c": SOURCE_C, "power.bc": "x = 3 ^ 40000\nx\nx % 10007\n",
                       "list.json": json.dumps([{"a": i, "b": str(i) * 5} for i in range(40000)])}.items():
        (folder / name).write_text(text)
    if shutil.which("gcc"):
        subprocess.run(["gcc", "-g", "-O1", "a.c", "-o", "program", "-lm"], cwd=folder, check=True)
        for name, text in {"a": "int a = 1; int b(void);\nint main(void) { return b(); }", "b": "int c[100000] = {1}; int b(void) { return c[7]; }"}.items():
            subprocess.run(["gcc", "-x", "c", "-", "-c", "-o", f"{name}.o"], input=text, text=True, cwd=folder, check=True)


def end_of(command, folder):
    """What is compared: exit code, standard output, standard error, and files."""
    folder.mkdir()
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60,
                          env={**os.environ, "LC_ALL": "C", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
                               "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z",
                               "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z", "SOURCE_DATE_EPOCH": "1577836800"})
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return done.returncode, done.stdout, done.stderr, files


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="ringside-run-")))
        cls.inputs = cls.base / "in"
        cls.inputs.mkdir()
        make_inputs(cls.inputs)
        cls.used, cls.skipped, cls.times = [], [], []

    @classmethod
    def tearDownClass(cls):
        print(f"{len(cls.used)} programs had allocations in the arena: {', '.join(cls.used)}", file=sys.stderr)
        print("slowest:", ", ".join(f"{name} {seconds:.1f} s" for seconds, name in sorted(cls.times, reverse=True)[:8]), file=sys.stderr)
        if cls.skipped:
            print(f"not installed: {', '.join(cls.skipped)}", file=sys.stderr)

    def compare(self, name, faults):
        command = [word.replace("{in}", str(self.inputs)) for word in CASES[name]]
        tools = {"git", "make"} & {name}
        missing = [tool for tool in {command[0], *tools} if shutil.which(tool) is None]
        if name == "python3 with numpy" and subprocess.run([PYTHON, "-c", "import numpy"], capture_output=True, check=False).returncode != 0:
            missing.append("numpy")
        if missing:
            type(self).skipped.append(name)
            self.skipTest(f"{', '.join(missing)} is not installed")
        begun = time.monotonic()
        # Both runs use the same folder, because some outputs contain its name.
        here = self.base / "here"
        account = self.base / "account.json"
        shutil.rmtree(here, ignore_errors=True)
        expected = end_of(command, here)
        shutil.rmtree(here)
        found = end_of([BIN / "ringside-memory", "run", f"--dram={DRAM}", "--far=/dev/shm", f"--min-size={LEAST}", f"--faults={faults}",
                        "--json", f"--account={account}", "--", *command], here)
        if found[0] == 3 and b"userfaultfd" in found[2]:
            self.skipTest(found[2].decode().strip())
        report = json.loads(account.read_text())
        if not all(process["serves_system_calls"] for process in report["processes"]):
            self.skipTest("system calls on absent pages need root, /dev/userfaultfd or vm.unprivileged_userfaultfd=1")
        self.assertEqual(found[0], expected[0], found[2][-2000:])
        self.assertEqual(found[2], expected[2])
        self.assertTrue(found[1] == expected[1], f"{name} printed {len(found[1])} bytes, expected {len(expected[1])}")
        self.assertEqual(found[3].keys(), expected[3].keys())
        for path, content in expected[3].items():
            self.assertTrue(found[3][path] == content, f"{name} wrote another {path}")
        type(self).times.append((time.monotonic() - begun, name))
        if report["total"]["faults"] > 0:
            type(self).used.append(name)
        for process in report["processes"]:
            self.assertLessEqual(process["dram_peak_bytes"], 8 << 20)


def add_tests():
    for name in CASES:

        def test(self, name=name):
            self.compare(name, FAULTS)
        setattr(Programs, "test_" + name.replace(" ", "_").replace("+", "x"), test)


add_tests()

if __name__ == "__main__":
    unittest.main()
