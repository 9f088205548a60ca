# SPDX-License-Identifier: BSD-3-Clause
"""What the services report to their manager and to the journal. A socket stands in for systemd, and a file for the
journal. Argument: the folder of the programs."""

import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from own_folder import PATIENCE_S, OwnFolder  # noqa: E402

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
WATCHDOG_S = 2
SOMEBODY = 65534
BEAT_S = WATCHDOG_S / 4
PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207


class Manager:
    """Stands in for systemd: listens at the socket that NOTIFY_SOCKET names."""

    def __init__(self, folder, name):
        self.path = str(folder / f"{name}.notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(PATIENCE_S)
        self.heard = []

    def environment(self):
        return {"NOTIFY_SOCKET": self.path, "WATCHDOG_USEC": str(WATCHDOG_S * 1_000_000)}

    def hear(self):
        self.heard.append(self.socket.recv(65536).decode())
        return self.heard[-1]

    def hear_until(self, pattern):
        """Waits for a message that matches, and returns it."""
        while not re.search(pattern, self.hear(), re.M):
            pass
        return self.heard[-1]

    def drain(self):
        self.socket.setblocking(False)
        try:
            while True:
                self.hear()
        except BlockingIOError:
            self.socket.settimeout(PATIENCE_S)


class Services(OwnFolder):
    programs = BIN

    def setUp(self):
        super().setUp()
        self.socket = self.folder / "run" / "analyzer.socket"
        self.pool = self.folder / "test.pool"
        for key in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "JOURNAL_STREAM"):
            self.environment.pop(key, None)
        # Two programs that have one thread per core must not spin while they wait for their threads. If they spun, each
        # step would take a time slice of the scheduler when other programs use the cores.
        self.environment |= {"XDG_RUNTIME_DIR": str(self.folder), "TMPDIR": str(self.folder), "OMP_WAIT_POLICY": "passive"}

    def manager(self, name):
        manager = Manager(self.folder, name)
        self.addCleanup(manager.socket.close)
        return manager

    def start(self, program, *arguments, manager=None, **environment):
        return super().start(program, *arguments, environment={**(manager.environment() if manager else {}), **environment})

    def start_analyzer(self, *more, **environment):
        return self.start("ringside-analyzer", f"--socket={self.socket}", f"--pool={self.pool}",
                          "--durability=process", *more, **environment)

    def ready_analyzer(self, **environment):
        """Starts an analyzer, and waits until its manager has received READY. Returns the manager and the analyzer."""
        manager = self.manager("analyzer")
        analyzer = self.start_analyzer(manager=manager, **environment)
        manager.hear_until("^READY=1$")
        return manager, analyzer

    def start_producer(self, *more, matrix="grid:50", iterations=100_000_000, **environment):
        return self.start("ringside-producer", f"--socket={self.socket}", f"--matrix={matrix}",
                          f"--iterations={iterations}", "--resume", *more, **environment)

    def end(self, process, by=signal.SIGTERM):
        process.send_signal(by)
        return self.await_end(process)

    def await_end(self, process):
        _, self.said = process.communicate(timeout=PATIENCE_S)
        return process.returncode

    # Tests of what the manager receives.

    def test_an_analyzer_is_ready_when_it_listens(self):
        _, analyzer = self.ready_analyzer()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
            peer.connect(str(self.socket))
        self.assertEqual(self.end(analyzer), 0)

    def test_an_idle_analyzer_feeds_the_watchdog_and_says_that_it_waits(self):
        manager, _ = self.ready_analyzer()
        for _ in range(3):
            self.assertRegex(manager.hear_until("^WATCHDOG=1$"), "^WATCHDOG=1\nSTATUS=waiting for a producer$")

    def test_an_analyzer_that_serves_feeds_the_watchdog_and_counts_its_steps(self):
        manager, _ = self.ready_analyzer()
        producer = self.start_producer()
        counts = [int(re.search(r"(\d+) steps committed", manager.hear_until(
            r"^WATCHDOG=1\nSTATUS=run [0-9a-f-]+ of grid:50, 2500 rows: iteration \d+, \d+ steps"))[1]) for _ in range(3)]
        self.assertEqual(counts, sorted(set(counts)), "each beat counts more steps")
        self.assertEqual(self.end(producer), 130)

    def test_an_analyzer_that_waits_for_a_step_for_long_feeds_the_watchdog(self):
        manager = self.manager("analyzer")
        self.start_analyzer("--peer-timeout=1000", manager=manager)
        producer = self.start_producer()
        manager.hear_until("^STATUS=run ")
        producer.send_signal(signal.SIGSTOP)
        statuses = [manager.hear_until("^WATCHDOG=1$") for _ in range(6)]
        self.assertEqual(statuses[-1], statuses[-2], "no step came, and it was fed all the same")
        producer.send_signal(signal.SIGCONT)
        self.assertEqual(self.end(producer), 130)

    def test_a_name_of_two_lines_tells_the_manager_nothing_but_a_status(self):
        self.pool = self.folder / "a\nMAINPID=1\nb.pool"
        manager = self.manager("analyzer")
        self.start_analyzer(manager=manager)
        producer = self.start_producer(matrix="grid:10", iterations=10)
        self.assertIn("a MAINPID=1 b.pool for 100 rows", manager.hear_until("STATUS=preparing "))
        manager.hear_until("^STATUS=run ")
        self.assertEqual(self.await_end(producer), 0, self.said)
        manager.drain()
        self.assertNotRegex("\n".join(manager.heard), "(?m)^MAINPID")

    def test_the_manager_hears_every_half_second_and_not_of_every_step(self):
        manager, _ = self.ready_analyzer()
        begun = time.monotonic()
        producer = self.start_producer("--shared-core", matrix="grid:10", iterations=1000)
        manager.hear_until("^WATCHDOG_USEC=.*\n.*\nSTATUS=.* 1000 steps committed")
        changes = 6  # three of the status (preparing, serving, waiting again), three of the watchdog's time-out
        self.assertLessEqual(len(manager.heard), 2 + changes + (time.monotonic() - begun + 1) / BEAT_S)
        self.assertEqual(self.await_end(producer), 0, self.said)

    def test_a_manager_that_does_not_read_holds_up_no_step(self):
        self.ready_analyzer(WATCHDOG_USEC="4000")  # more messages than the manager's socket can hold
        producer = self.start_producer("--shared-core", "--peer-timeout=10", matrix="grid:10", iterations=1000)
        self.assertEqual(self.await_end(producer), 0, self.said)

    def test_the_watchdog_is_given_more_time_while_a_pool_is_made_and_a_large_iterate_served(self):
        manager = self.manager("analyzer")
        self.start_analyzer(manager=manager)
        producer = self.start_producer(matrix="grid:300", iterations=10)  # 720 kB per iterate
        base = WATCHDOG_S * 1_000_000
        given = [int(re.search(r"WATCHDOG_USEC=(\d+)", manager.hear_until("^WATCHDOG_USEC="))[1]) for _ in range(3)]
        self.assertEqual(self.await_end(producer), 0, self.said)
        self.assertGreater(given[0], base + 8 * 720_000 // 20, "8 slots to make, at 20 MB/s")
        self.assertGreater(given[1], base + 3 * 720_000 // 20, "a step: copied, read again, reduced")
        self.assertEqual(given[2], base, "and between runs what it was given")

    def test_an_analyzer_that_is_stopped_says_so_and_has_committed_what_was_published(self):
        manager = self.manager("analyzer")
        analyzer = self.start_analyzer(manager=manager)
        producer = self.start_producer("--on-analyzer-loss=stop")
        manager.hear_until("^STATUS=run .*: iteration [1-9]")
        self.assertEqual(self.end(analyzer), 0)
        manager.drain()
        self.assertEqual(len([message for message in manager.heard if message.startswith("STOPPING=1")]), 1)
        self.assertEqual(self.await_end(producer), 4, self.said)
        self.call("ringside", "verify", self.pool)

    def test_an_analyzer_whose_main_thread_hangs_is_silent_while_its_other_threads_go_on(self):
        manager = self.manager("analyzer")
        analyzer = self.start_analyzer(manager=manager)
        manager.hear_until("^WATCHDOG=1$")
        libc = ctypes.CDLL(None, use_errno=True)
        libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        if libc.ptrace(PTRACE_SEIZE, analyzer.pid, None, None) != 0:
            self.skipTest(f"ptrace is not permitted here: {os.strerror(ctypes.get_errno())}")
        self.assertEqual(libc.ptrace(PTRACE_INTERRUPT, analyzer.pid, None, None), 0)
        os.waitpid(analyzer.pid, 0)  # only the main thread is stopped
        manager.drain()
        # The test waits as long as the watchdog does. In this time, a separate thread would have fed the watchdog four
        # times.
        manager.socket.settimeout(WATCHDOG_S)
        with self.assertRaises(TimeoutError):
            manager.hear()
        self.call("ringside", "tail", "--once", f"--socket={self.socket}")

    def test_a_producer_says_what_it_loads_how_far_it_is_and_that_it_ends(self):
        manager = self.manager("producer")
        self.start_analyzer()
        producer = self.start_producer(manager=manager)
        manager.hear_until("^STATUS=loading grid:50$")
        manager.hear_until("^STATUS=waiting for the analyzer at .*analyzer.socket$")
        manager.hear_until("^READY=1\nSTATUS=grid:50: iteration")
        manager.hear_until(r"^STATUS=grid:50: iteration [1-9]\d* of at most 100000000, L1 change ")
        self.assertEqual(self.end(producer), 130)
        manager.drain()
        self.assertEqual(len([message for message in manager.heard if message.startswith("STOPPING=1")]), 1)

    def test_what_ringside_run_starts_leaves_its_manager_alone(self):
        manager = self.manager("run")
        run = self.start("ringside", "run", "--matrix=grid:20", "--iterations=20", f"--pool={self.pool}", "--quiet",
                         manager=manager)
        self.assertEqual(self.await_end(run), 0, self.said)
        manager.drain()
        self.assertEqual(manager.heard, [])

    # The page of `ringside serve`, while analyzers start and end.

    def status(self, url):
        with urllib.request.urlopen(url + "api/status", timeout=PATIENCE_S) as answer:
            return json.loads(answer.read())

    def test_the_page_waits_for_an_analyzer_stays_while_it_restarts_and_tells_its_manager(self):
        manager = self.manager("serve")
        config = self.folder / "serve.toml"
        config.write_text('listen = "127.0.0.1:0"\n', encoding="utf-8")
        serve = self.start("ringside", "serve", f"--config={config}", f"--socket={self.socket}", manager=manager)
        url = re.search(r"http://\S+", manager.hear_until("^READY=1$"))[0]
        is_up = lambda: self.status(url)["analyzer"]["up"]
        self.assertFalse(is_up())
        for _ in range(2):
            analyzer = self.start_analyzer()
            self.wait_for("the page sees the analyzer", is_up)
            self.end(analyzer, by=signal.SIGKILL)
            self.wait_for("the page sees that it is gone", lambda: not is_up())
        manager.drain()
        self.assertIn("WATCHDOG=1", manager.hear_until("^WATCHDOG=1$"))
        self.assertEqual(self.end(serve), 0)
        manager.hear_until("^STOPPING=1$")

    # Tests of which users may follow a service.

    def test_root_may_follow_the_service_of_another_user_and_others_may_not(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
            self.skipTest("needs root, and a /run of its own (unshare --mount)")
        programs = self.folder / "bin"  # other users may read it
        shutil.copytree(BIN, programs, ignore=lambda _, names: [name for name in names if not name.startswith("ringside")])
        self.folder.chmod(0o755)
        state = self.folder / "state"
        state.mkdir(mode=0o700)
        os.chown(state, SOMEBODY, SOMEBODY)
        script = '''
            set -e
            mount -t tmpfs none /run
            mkdir -m 700 /run/ringside
            chown "$SOMEBODY:$SOMEBODY" /run/ringside
            as() { setpriv --reuid="$1" --regid="$1" --clear-groups "${@:2}"; }
            setpriv --reuid="$SOMEBODY" --regid="$SOMEBODY" --clear-groups --pdeathsig=KILL \
              "$BIN/ringside-analyzer" --pool "$STATE/test.pool" &
            until [[ -S /run/ringside/analyzer.socket.control ]]; do kill -0 $!; sleep 0.02; done
            "$BIN/ringside" tail --once
            as "$SOMEBODY" "$BIN/ringside" tail --once
            as "$OTHER" "$BIN/ringside" tail --once || echo "other: $?"
            kill $!
            wait $!
        '''
        ran = subprocess.run(["unshare", "--mount", "bash", "-c", script], capture_output=True, text=True, check=False,
                             timeout=PATIENCE_S, env=self.environment | {
                                 "BIN": str(programs), "STATE": str(state), "SOMEBODY": str(SOMEBODY),
                                 "OTHER": str(SOMEBODY - 1)})
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertEqual(ran.stdout.count("none yet"), 2, ran.stdout)
        self.assertIn("other: 4\n", ran.stdout)

    # Tests of what the journal receives.

    def journal(self, program, *arguments, **environment):
        """Starts the program with an environment in which JOURNAL_STREAM names its output file. Returns the process,
        and a function that reads this file."""
        path = self.folder / "journal"
        with path.open("w", encoding="utf-8") as stream:
            status = os.fstat(stream.fileno())
            process = subprocess.Popen([BIN / program, *map(str, arguments)], stdout=stream, stderr=stream,
                                       env=self.environment | environment |
                                       {"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"})
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.wait()))
        return process, lambda: path.read_text(encoding="utf-8")

    def test_lines_for_the_journal_have_a_priority_and_no_time(self):
        self.environment["RINGSIDE_LOG_LEVEL"] = "info"
        analyzer, lines = self.journal("ringside-analyzer", f"--socket={self.socket}", f"--pool={self.pool}")
        self.wait_for("the analyzer listens", lambda: "event=listening" in lines())
        producer = self.start_producer("--overwrite")  # this option is refused together with --resume
        self.assertEqual(self.await_end(producer), 2)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
            peer.connect(str(self.socket))
            peer.send(b"no attach request")
            self.wait_for("the peer is turned away", lambda: "event=turned_away" in lines())
        analyzer.terminate()
        analyzer.wait(PATIENCE_S)
        self.assertIn(f"<6>level=info event=listening socket={self.socket} pool={self.pool}\n", lines())
        self.assertRegex(lines(), "(?m)^<4>level=warning event=turned_away text=")
        for line in lines().splitlines():
            self.assertRegex(line, r"^<[3-7]>level=\w+ event=\w+( \w+=(\"[^\"]*\"|\S*))*$")

    def test_the_last_line_of_a_service_that_fails_is_an_error_of_one_line(self):
        missing = self.folder / 'no "such" folder' / "test.pool"
        for arguments, code in ((["--pool", missing], 3), (["--slots", "1"], 2), (["--cores", "x"], 2)):
            analyzer, lines = self.journal("ringside-analyzer", f"--socket={self.socket}", *arguments)
            self.assertEqual(analyzer.wait(PATIENCE_S), code)
            self.assertRegex(lines(), rf'\A<3>level=error event=failed exit_code={code} text="(\\.|[^"\\\n])+"\n\Z')

    def test_elsewhere_lines_keep_their_time_and_failures_are_for_people(self):
        for stream in ({}, {"JOURNAL_STREAM": "1:2"}):
            analyzer = self.start_analyzer("--log-level=info", **stream)
            self.assertRegex(analyzer.stderr.readline(), r"^\d{4}-.*ringside-analyzer level=info event=listening")
            self.end(analyzer)
            failing = self.start_analyzer("--slots=1", **stream)
            self.assertEqual(self.await_end(failing), 2)
            self.assertTrue(self.said.startswith("ringside-analyzer: --slots: "), self.said)

    def test_the_config_file_goes_before_the_environment_and_options_before_both(self):
        config = self.folder / "analyzer.toml"
        for level, options, logs in (("warning", [], False), ("info", [], True), ("warning", ["--log-level=info"], True)):
            config.write_text(f'log-level = "{level}"\n', encoding="utf-8")
            manager = self.manager(f"{level}-{len(options)}")
            analyzer = self.start_analyzer(f"--config={config}", *options, manager=manager, RINGSIDE_LOG_LEVEL="info")
            manager.hear_until("^READY=1$")
            self.end(analyzer)
            self.assertEqual("event=listening" in self.said, logs, (level, options, self.said))


if __name__ == "__main__":
    unittest.main()
