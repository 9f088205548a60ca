# SPDX-License-Identifier: BSD-3-Clause
"""deploy/stages.sh with a stand-in for a build: ninja's progress on a terminal, in a pipe and in the log."""

import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest

STAGES = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "stages.sh"

# A line that is not a step, and then 40 steps as ninja prints them, with a compiler's warning among the steps.
BUILD = """
echo "Change Dir: somewhere"
for step in $(seq 40); do
  echo "$(sed "s/%f/$step/; s/%t/40/" <<<"$NINJA_STATUS")Building CXX object with/a/name/of/some/length/file_$step.cpp.o"
  [[ $step == 7 ]] && echo "file_7.cpp:1: warning: [3/4] is in this text" >&2
done
exit "$1"
"""


class Progress(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.log = self.folder / "logs" / "build.log"
        (self.folder / "build").write_text(f"#!/bin/bash\n{BUILD}", encoding="utf-8")
        (self.folder / "build").chmod(0o755)

    def start(self, status, **streams):
        command = (f'set -euo pipefail; source "{STAGES}"; with_progress "{self.log}" "{self.folder}/build" {status}; '
                   f'echo built')
        return subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL, **streams)

    def piped(self, status):
        process = self.start(status, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def on_terminal(self, status, columns, term="xterm"):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = self.start(status, stdout=theirs, stderr=subprocess.PIPE, env={**os.environ, "TERM": term})
        os.close(theirs)
        text = b""
        while True:
            try:
                text += os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
        os.close(ours)
        process.stderr.close()
        return process.wait(timeout=60), text.decode().replace("\r\n", "\n")

    def assert_log_is_complete(self):
        lines = self.log.read_text(encoding="utf-8").splitlines()
        self.assertEqual((len(lines), lines[0]), (42, "Change Dir: somewhere"))
        self.assertIn("file_7.cpp:1: warning: [3/4] is in this text", lines)
        self.assertTrue(lines[-1].startswith("[40/40] Building"), lines[-1])

    def test_a_pipe_gets_a_line_at_each_ten_percent(self):
        status, out, err = self.piped(0)
        self.assertEqual((status, err), (0, ""))
        expected = [f"[{step}/40] {step * 100 // 40} %" for step in range(4, 41, 4)]
        self.assertEqual(out.splitlines(), [*expected, "built"])
        self.assert_log_is_complete()

    def test_a_terminal_gets_one_line_that_is_rewritten_and_fits_its_width(self):
        for columns in (30, 200):
            with self.subTest(columns):
                status, text = self.on_terminal(0, columns)
                self.assertEqual(status, 0)
                *progress, last = text.split("\n")[0].split("\r")
                self.assertEqual((last, text.count("\n")), ("built", 1))
                self.assertEqual(progress.pop(0), "")
                self.assertEqual(len(progress), 41)  # one for each step, and the blanks that clear the line
                self.assertEqual({len(shown) for shown in progress}, {columns - 1})
                self.assertTrue(progress[22].startswith("[23/40] Building CXX object"), progress[22])
                self.assertEqual(progress[-1].strip(), "")
                self.assert_log_is_complete()

    def test_a_terminal_without_a_width_counts_as_eighty_columns(self):
        _, text = self.on_terminal(0, 0)
        self.assertEqual({len(shown) for shown in text.split("\r")[1:-1]}, {79})

    def test_a_terminal_that_cannot_go_back_in_a_line_is_treated_like_a_pipe(self):
        _, text = self.on_terminal(0, 80, term="dumb")
        self.assertEqual((text.count("\r"), text.count(" %\n")), (0, 10))

    def test_a_failed_build_shows_the_end_of_its_log_and_keeps_its_status(self):
        status, out, err = self.piped(3)
        self.assertEqual(status, 3)
        self.assertNotIn("built", out)
        self.assertIn("failed (status 3): ", err)
        self.assertIn("  [40/40] Building", err)
        self.assertEqual(len(err.splitlines()), 42)  # two headers, and 40 lines of the log
        self.assert_log_is_complete()

    def test_the_scripts_that_build_show_their_progress(self):
        for script in ("quickstart.sh", "test.sh", "package.sh"):
            text = (STAGES.parent / script).read_text(encoding="utf-8")
            self.assertEqual(re.findall(r"(\w+) [^\n]*cmake --build", text), ["with_progress"], script)


if __name__ == "__main__":
    unittest.main()
