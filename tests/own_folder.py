# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the tests of programs: a separate folder for each test, and commands that run in this folder."""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

PATIENCE_S = 120  # for events that take a second on an idle machine


class OwnFolder(unittest.TestCase):
    """An empty folder. Commands that run in it find the programs, but not the user's settings. Contains no tests."""

    programs = "/usr/bin"  # the folder of the programs

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("RINGSIDE_")}
        self.environment.update(LC_ALL="C.UTF-8", PATH=f"{self.programs}:{os.environ['PATH']}")

    def write(self, text, name):
        (self.folder / name).write_text(text, encoding="utf-8")

    def call(self, *command, expected=0, **environment):
        run = subprocess.run([str(word) for word in command], cwd=self.folder, env={**self.environment, **environment}, timeout=240,
                             stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False)
        self.assertEqual(run.returncode, expected, f"{command}\n{run.stdout}{run.stderr}")
        return run

    def start(self, *command, stdout=subprocess.PIPE, environment=None, **more):
        """Starts a process, which is killed when the test ends."""
        process = subprocess.Popen([str(word) for word in command], cwd=self.folder, env={**self.environment, **(environment or {})},
                                   encoding="utf-8", stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, **more)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def records(self, pool="run.pool"):
        """The records in the pool's journal."""
        return [json.loads(line) for line in self.call("ringside", "tail", "--pool", pool, "--json").stdout.splitlines()]

    def wait_for(self, what, question):
        """Calls `question` until its answer is true, and returns the answer."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            if answer := question():
                return answer
            time.sleep(0.02)
        return self.fail(what)
