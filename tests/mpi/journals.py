# SPDX-License-Identifier: BSD-3-Clause
"""Journals, read with `ringside tail`: the recorded steps, the steps that are named as missing, and the records of a
live run."""

import json
import os
import subprocess
import tempfile
import time

from jobs import BIN, HANG_S

REDUCTIONS = ("sum", "mean", "min", "max", "l1", "l2", "linf", "change_l1", "change_l2", "change_linf", "non_finite")


def records(pool):
    """The records of the journal beside this pool or path."""
    said = subprocess.run([BIN / "ringside", "tail", "--json", "--pool", pool], capture_output=True, check=False)
    assert said.returncode == 0, said.stderr
    return [json.loads(line) for line in said.stdout.splitlines()]


def whole_of(node, what="pool"):
    """The path beside which the journal of the whole run is stored, or its sockets are made."""
    path = getattr(node, what)
    return path.with_name(path.name + ".global")


def reductions_of(record, variable="u"):
    """{result: value} of the variable's reductions in a step's record."""
    results = record["results"]
    return {name: results[f"{variable}.{name}"] for name in REDUCTIONS if results.get(f"{variable}.{name}") is not None}


def steps(of, variable="u"):
    """{iteration: {result: value}} of the reductions of a variable. of: a pool, or records that were read before."""
    found = {}
    for record in of if isinstance(of, list) else records(of):
        if record["event"] != "step":
            continue
        assert record["iteration"] not in found, "a step is recorded once"
        found[record["iteration"]] = reductions_of(record, variable)
    return found


def missing(of):
    """The iterations that the journal names as missing, and the number of steps that it counts as missing. of: the same
    as for `steps`."""
    named, count = [], 0
    for record in of if isinstance(of, list) else records(of):
        if record["event"] != "records_missing":
            continue
        count += record["steps"]
        if record["first_iteration"] > 0:
            named += range(record["first_iteration"], record["last_iteration"] + 1)
    return named, count


class Follower:
    """Runs `ringside tail` for the analyzer at a socket, as long as a `with` block lasts."""

    def __init__(self, socket, environment):
        self.output = tempfile.TemporaryFile("w+b")  # noqa: SIM115 (as long as the follower)
        self.process = subprocess.Popen([BIN / "ringside", "tail", "--json", "--socket", socket], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.DEVNULL)
        self.read, self.found = 0, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.output.close()

    def steps(self):
        """The iterations that were received up to now, in the order of their arrival."""
        content = os.pread(self.output.fileno(), 1 << 30, self.read)
        content = content[:content.rfind(b"\n") + 1]
        self.read += len(content)
        for line in content.splitlines():
            record = json.loads(line)
            if record["event"] == "step":
                self.found.append(record["iteration"])
        return self.found

    def await_step(self, at_least):
        """Waits for the iteration `at_least` or a later one. Returns the iterations that were received."""
        deadline = time.monotonic() + HANG_S
        while time.monotonic() < deadline:
            found = self.steps()
            if found and found[-1] >= at_least:
                return found
            assert self.process.poll() is None, "the follower has ended"
            time.sleep(0.01)
        raise AssertionError(f"iteration {at_least} was not recorded in {HANG_S} s; the newest are {self.found[-5:]}")
