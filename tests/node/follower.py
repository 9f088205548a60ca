"""What the machine said before its power was cut: its records, as they came out of it."""

import json
import threading

# Run in the machine: what `ringside tail` shows goes to the host through the port, line by line. Nothing of the past, which
# would keep the port busy: what counts is what was acknowledged last.
COMMAND = ("systemd-run --quiet --collect --unit=node-follow /bin/sh -c "
           "'runuser -u ringside -- ringside tail --json --since 1s >/dev/virtio-ports/ringside.follow'")


class Follower:
    """Reads the records of one boot until the machine is gone."""

    def __init__(self, node):
        self.storage = None  # as the last run that began says
        self.newest_committed = 0  # the newest iteration that was acknowledged; on persistent memory: persisted
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
            return  # what was cut off at the kill
        if record["event"] == "run_started":
            self.storage = record["storage"]
        elif record["event"] == "step":
            self.steps += 1
            self.newest_committed = max(self.newest_committed, record["iteration"])
            self._first.set()

    def wait_for_step(self, seconds):
        """True once a step came."""
        return self._first.wait(seconds)

    def end(self):
        """Returns when everything that came out is read: the machine is gone."""
        self._thread.join(10)
        self._stream.close()
