# SPDX-License-Identifier: BSD-3-Clause
"""A run with analyses is killed or interrupted: none of its processes is left, and the values that were computed before
are recorded."""

import json
import os
import signal
import unittest

from place import ENERGY, STEPS, Place

BEGINS = """
import signal
import ringside

begun = False

@ringside.reduction
def f(step):
    global begun
    if not begun:
        begun = True
        print("begun", flush=True)
        {}
    return step.iteration
"""


class Signals(Place):
    def begun(self, then):
        """Starts an endless run, and waits until its analysis has begun. Returns the run, and the read end of a pipe,
        which ends when the last process of the run has ended."""
        self.write(BEGINS.format(then))
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, read_end)
        process = self.start(*self.run_words(steps=1_000_000_000, timeout=1), pass_fds=(write_end,))
        os.close(write_end)
        self.assertEqual(process.stderr.readline(), "my.py: f: begun\n")
        return process, read_end

    def test_of_a_killed_run_no_process_is_left_and_its_pool_can_be_used(self):
        for then in ("pass", "signal.pause()", "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()"):
            with self.subTest(then=then):
                process, read_end = self.begun(then)
                process.kill()
                process.wait()
                self.assertEqual(os.read(read_end, 1), b"")
                self.write(ENERGY)
                self.call(*self.run_words("--overwrite"))
                self.assertEqual(len(self.recorded()[0]["analysis.energy"]), STEPS)
                for path in self.folder.glob("run.*"):
                    path.unlink()

    def test_ctrl_c_ends_the_run_and_what_was_found_is_recorded(self):
        for then, ended in (("pass", None), ("signal.pause()", "did not end within 1 s after the run (--analyze-timeout), and was killed")):
            with self.subTest(then=then):
                process, read_end = self.begun(then)
                process.send_signal(signal.SIGINT)
                said = process.stderr.read()
                self.assertEqual(process.wait(), 130, said)
                self.assertEqual(os.read(read_end, 1), b"")
                analyses = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))["analyses"]
                self.assertEqual(analyses[0]["ended"], ended)
                found = self.recorded()[0].get("analysis.f", {})
                self.assertEqual((len(found), found), (analyses[0]["steps"], {k: k for k in found}))
                self.assertEqual([path.name for path in self.folder.iterdir() if path.is_dir()], [])
                for path in self.folder.glob("run.*"):
                    path.unlink()


if __name__ == "__main__":
    unittest.main()
