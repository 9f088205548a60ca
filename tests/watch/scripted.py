# SPDX-License-Identifier: BSD-3-Clause
"""Drives scripted_server, which serves a simulated run in the same way as `ringside serve` serves a real one."""

import json
import subprocess


class ScriptedServer:
    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        encoding="utf-8")
        self.url = self.process.stdout.readline().strip()

    def say(self, line):
        """Runs one command, and returns the status after it."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()
