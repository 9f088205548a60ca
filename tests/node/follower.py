# SPDX-License-Identifier: BSD-3-Clause
"""The records that the machine sent before its power was cut."""

import json
import threading

# This command runs in the machine, and sends the lines of `ringside tail` to the host through the port. Past records
# are left out, because they would keep the port busy, and only the newest acknowledgement counts.
COMMAND = ("systemd-run --quiet --collect --unit=node-follow /bin/sh -c "
           "'runuser -u ringside -- ringside tail --json --since 1s >/dev/virtio-ports/ringside.follow'")


class Follower:
    """Reads the records of one boot until the machine is killed."""

    def __init__(self, node):
        self.storage = None  # as reported by the run that began last
        self.newest_committed = 0  # the newest acknowledged iteration; on persistent memory it is persisted
        self.steps = 0
        self._stream = node.follow()
        self._first = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        node.must(COMMAND)

    def _read(self):
        rest = b""
        while True:
            try:
                some = self._stream.recv(1 << 16)
            except OSError:
                some = b""
            if not some:
                return
            *lines, rest = (rest + some).split(b"\n")
            for line in lines:
                self._take(line)

    def _take(self, line):
        try:
            record = json.loads(line)
        except ValueError:
            return  # the kill has cut off this line
        if record["event"] == "run_started":
            self.storage = record["storage"]
        elif record["event"] == "step":
            self.steps += 1
            self.newest_committed = max(self.newest_committed, record["iteration"])
            self._first.set()

    def wait_for_step(self, seconds):
        """Waits for the first step. Returns True as soon as one was received."""
        return self._first.wait(seconds)

    def end(self):
        """Returns when everything that the machine sent was read. Requires that the machine was killed."""
        self._thread.join(10)
        self._stream.close()
