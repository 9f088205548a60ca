# SPDX-License-Identifier: BSD-3-Clause
"""deploy/start_node.sh and the batch job, with the real programs, whose folder is RINGSIDE_PROGRAMS: start, status,
stop and run, with deaths and signals between them. The tests wait until the programs have written certain lines, or
until processes have ended."""

import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
SCRIPT = DEPLOY / "start_node.sh"
SBATCH = DEPLOY / "slurm" / "ringside.sbatch"
PROGRAMS = os.environ["RINGSIDE_PROGRAMS"]
PATIENCE_S = 100  # for events that should happen immediately

MATRIX, ENDLESS = "grid:300", 100_000_000


def job(iterations):
    return ("--", f"--matrix={MATRIX}", f"--iterations={iterations}")


ENDLESS_JOB, SHORT_JOB = job(ENDLESS), job(5)
ITERATIONS = 3000  # so many that the job still runs when its first steps have been seen


class StartNode(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.runtime = self.folder / "runtime"
        self.pool = self.folder / "ringside.pool"
        self.environment = {**os.environ, "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "TMPDIR": str(self.folder),
                            "OMP_WAIT_POLICY": "passive"}  # spinning costs time slices if other programs use the cores
        for name in ("XDG_RUNTIME_DIR", "SLURM_JOB_ID"):
            self.environment.pop(name, None)
        self.addCleanup(self.call, "stop", "--timeout=5", "--force")

    def command(self, action, *arguments):
        keeping = (f"--pool={self.pool}", "--analyzer", "--durability=process") if action in ("start", "run") else ()
        return [SCRIPT, action, f"--runtime={self.runtime}", *keeping, *arguments]

    def call(self, action, *arguments):
        """Calls the script, and returns the finished process. If a process that the script started kept the pipes open,
        this would time out."""
        return subprocess.run(self.command(action, *arguments), stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                              check=False, timeout=PATIENCE_S, cwd=self.folder, env=self.environment)

    def assert_ends(self, code, action, *arguments):
        result = self.call(action, *arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def script(self, *words, script=SCRIPT):
        """Calls the script without the options that the tests add; returns the finished process."""
        return subprocess.run([script, *words], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False,
                              timeout=PATIENCE_S, env=self.environment, cwd=self.folder)

    def begin(self, command, environment=None, until=20):
        """Starts a `run`, and waits until its analyzer listens and has committed the iteration `until`."""
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   encoding="utf-8", cwd=self.folder, env=environment or self.environment)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        line = process.stdout.readline()
        while line and "listens at" not in line:
            line = process.stdout.readline()
        self.assertIn("listens at", line)
        if until:
            self.wait_for_iteration(until, line.split("listens at ")[1].split(";")[0])
        return process

    def wait_for_iteration(self, iteration, socket=None):
        """Waits until this iteration is committed."""
        socket = socket or self.runtime / "analyzer.socket"
        with subprocess.Popen([f"{PROGRAMS}/ringside", "tail", f"--socket={socket}", "--json"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8") as tail:
            giving_up = threading.Timer(PATIENCE_S, tail.kill)  # otherwise tail waits for ever if no producer comes
            giving_up.start()
            try:
                for line in tail.stdout:
                    if json.loads(line).get("iteration", 0) >= iteration:
                        return
                self.fail(f"iteration {iteration} was not seen: {tail.stderr.read()}")
            finally:
                giving_up.cancel()
                tail.kill()

    def finish(self, process, expected):
        output, _ = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, expected, output)
        return output

    def pid_of(self, who):
        return int((self.runtime / f"{who}.pid").read_text(encoding="utf-8"))

    def wait_for_end(self, who):
        """Waits until no process holds the lock of `who`."""
        subprocess.run(["flock", self.runtime / f"{who}.lock", "true"], check=True, timeout=PATIENCE_S)

    def last_iterate(self, pool):
        output = self.folder / "last.npy"
        subprocess.run([f"{PROGRAMS}/ringside", "export", pool, "--output", output], check=True, stdout=subprocess.DEVNULL,
                       timeout=PATIENCE_S)
        return output.read_bytes()

    def newest(self, pool):
        """The newest iteration that the pool keeps."""
        info = subprocess.run([f"{PROGRAMS}/ringside", "info", "--json", pool], check=True, stdout=subprocess.PIPE,
                              timeout=PATIENCE_S)
        return max(step["iteration"] for step in json.loads(info.stdout)["iterates"])

    def undisturbed(self, iterations):
        pool = self.folder / "undisturbed.pool"
        subprocess.run([f"{PROGRAMS}/ringside", "run", "--matrix", MATRIX, "--iterations", str(iterations), "--pool", pool,
                        "--durability", "process", "--quiet"], check=True, timeout=PATIENCE_S)
        return self.last_iterate(pool)

    # start, status, stop

    def test_what_was_started_answers_until_it_is_stopped(self):
        self.assertIn("analyzer: not running", self.assert_ends(3, "status"))
        self.assertIn("the analyzer listens at", self.assert_ends(0, "start"))
        analyzer = self.pid_of("analyzer")
        shown = self.assert_ends(0, "status")
        self.assertIn(f"analyzer: pid {analyzer}\n", shown)
        self.assertIn(f"pool {self.pool}", shown)
        self.assertIn(f"the analyzer runs already (pid {analyzer})", self.assert_ends(0, "start"))
        self.assertIn("analyzer: ended", self.assert_ends(0, "stop"))
        self.assertIn("analyzer: not running", self.assert_ends(0, "stop"))
        self.assertIn("analyzer: not running", self.assert_ends(3, "status"))

    def test_a_started_producer_takes_its_job_from_a_file_and_leaves_its_exit_code(self):
        job = self.folder / "job.toml"
        job.write_text(f'matrix = "{MATRIX}"\niterations = 5\n', encoding="utf-8")
        self.assert_ends(0, "start", "--job", job)
        self.wait_for_end("producer")
        self.assertIn("producer: ended with status 0", self.assert_ends(0, "status"))
        self.assert_ends(0, "stop")
        self.assertEqual(self.last_iterate(self.pool), self.undisturbed(5))
        self.assert_ends(0, "start", "--", "--matrix=nothing.mtx")
        self.wait_for_end("producer")
        self.assertIn("producer: ended with status 2", self.assert_ends(4, "status"))

    def test_stop_lets_the_step_in_flight_be_committed(self):
        self.assert_ends(0, "start", *ENDLESS_JOB)
        self.wait_for_iteration(20)
        stopped = self.assert_ends(0, "stop")
        self.assertIn("producer: ended\nanalyzer: ended\n", stopped)
        info = subprocess.run([f"{PROGRAMS}/ringside", "verify", self.pool], check=False, stdout=subprocess.PIPE,
                              encoding="utf-8", timeout=PATIENCE_S)
        self.assertEqual(info.returncode, 0, info.stdout)
        log = (self.runtime / "analyzer.log").read_text(encoding="utf-8")
        self.assertIn("how=detached outcome=interrupted", log)  # the producer detached; no connection was cut

    def test_of_a_killed_analyzer_status_says_that_it_died_and_start_brings_another_for_the_waiting_producer(self):
        self.assert_ends(0, "start", *ENDLESS_JOB)
        self.wait_for_iteration(20)
        producer = self.pid_of("producer")
        os.kill(self.pid_of("analyzer"), signal.SIGKILL)
        self.wait_for_end("analyzer")
        shown = self.assert_ends(4, "status")
        self.assertIn("analyzer: died", shown)
        self.assertIn(f"producer: pid {producer}", shown)
        self.assert_ends(0, "start")
        self.wait_for_iteration(40)
        self.assertEqual(self.pid_of("producer"), producer)
        self.assert_ends(0, "stop")

    def test_a_pid_that_is_another_processes_now_is_left_alone_also_while_another_one_looks(self):
        for lock_of_another in (fcntl.LOCK_UN, fcntl.LOCK_SH):  # another status or stop takes such a lock for a moment
            with self.subTest(lock_of_another), subprocess.Popen(["cat"], stdin=subprocess.PIPE) as other:
                self.assert_ends(0, "start")
                os.kill(self.pid_of("analyzer"), signal.SIGKILL)
                self.wait_for_end("analyzer")
                (self.runtime / "analyzer.pid").write_text(f"{other.pid}\n", encoding="utf-8")
                with open(self.runtime / "analyzer.lock", encoding="utf-8") as lock:
                    fcntl.flock(lock, lock_of_another)
                    self.assertIn("analyzer: died", self.assert_ends(4, "status"))
                    self.assertIn("analyzer: not running", self.assert_ends(0, "stop", "--force"))
                self.assertIsNone(other.poll())
                other.communicate()
                self.assertEqual(other.returncode, 0)  # it read its input to the end, and got no signal

    def test_a_lock_that_an_unknown_process_holds_ends_the_start_in_time(self):
        self.assert_ends(0, "start")
        self.assert_ends(0, "stop")
        with open(self.runtime / "analyzer.lock", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("is held by an unknown process", self.assert_ends(3, "start", "--timeout=1"))

    def test_the_runtime_folder_of_another_node_is_not_asked_for(self):
        self.environment["XDG_RUNTIME_DIR"] = "/proc/nowhere"
        result = self.script("status")
        self.assertEqual((result.returncode, result.stderr), (3, ""))
        for words in (("start", f"--pool={self.pool}", "--analyzer", "--durability=process"), ("stop",)):
            self.assertEqual(self.script(*words).returncode, 0)

    def test_a_temporary_folder_that_is_gone_or_too_long_for_a_socket_is_passed_over(self):
        in_bytes = "ü" * ((74 - len(os.fsencode(self.folder))) // 2)  # short enough in characters, but not in bytes
        for named in ("/nonexistent/job.1", str(self.folder / ("t" * 100)), str(self.folder / in_bytes)):
            if self.folder.name in named:
                os.mkdir(named)
            self.environment |= {"TMPDIR": named, "SLURM_JOB_ID": str(os.getpid())}
            chosen = f"/tmp/ringside-node-{os.getuid()}-{os.getpid()}"
            self.addCleanup(shutil.rmtree, chosen, ignore_errors=True)
            started = self.script("start", f"--pool={self.pool}", "--analyzer", "--durability=process")
            said = started.stdout + started.stderr
            self.assertIn(f"listens at {chosen}/analyzer.socket", said)
            self.assertEqual(said.count("TMPDIR: "), 1, said)
            self.assertIn(f"TMPDIR: the folder of the socket cannot be in '{named}'", said)
            self.assertIn(f"it is {chosen}\n", said)
            stopped = self.script("stop")
            self.assertEqual((started.returncode, stopped.returncode), (0, 0), said)
            self.assertNotIn("TMPDIR", stopped.stdout + stopped.stderr)

    def test_messages_name_the_command_as_it_is_installed(self):
        installed = self.folder / "ringside-start-node"
        installed.symlink_to(SCRIPT)
        result = self.script("go", script=installed)
        self.assertTrue(result.stderr.startswith("ringside-start-node: found 'go'"), result.stderr)

    def test_an_analyzer_that_does_not_answer_is_named_and_killed_only_by_force(self):
        self.assert_ends(0, "start")
        analyzer = self.pid_of("analyzer")
        os.kill(analyzer, signal.SIGSTOP)
        self.assertIn("does not answer", self.assert_ends(4, "status", "--timeout=1"))
        self.assertIn("--force kills it", self.assert_ends(4, "stop", "--timeout=1"))
        self.assertEqual(self.pid_of("analyzer"), analyzer)
        self.assertIn("analyzer: killed", self.assert_ends(0, "stop", "--timeout=1", "--force"))
        self.assert_ends(3, "status")

    # run

    def test_run_returns_when_the_producer_has_ended_and_leaves_nothing_running(self):
        self.assert_ends(0, "run", *SHORT_JOB)
        self.assertEqual(self.last_iterate(self.pool), self.undisturbed(5))
        self.assertIn("analyzer: not running\nproducer: not running\n", self.assert_ends(3, "status"))

    def test_run_ends_with_the_exit_codes_of_the_programs(self):
        self.assertIn("the producer ended with status 2", self.assert_ends(2, "run", "--", "--matrix=nothing.mtx"))
        self.pool = "/proc/nowhere/ringside.pool"
        self.assertIn("the analyzer did not start (status 3)", self.assert_ends(3, "run", *SHORT_JOB))
        self.assertIn("analyzer: not running\nproducer: not running\n", self.assert_ends(3, "status"))

    def test_a_run_that_is_told_to_end_is_resumed_to_the_same_bits(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.begin(self.command("run", *ENDLESS_JOB))
            process.send_signal(number)
            self.assertIn("run again, it continues", self.finish(process, 130))
            self.assert_ends(3, "status")
        last = self.newest(self.pool) + 20
        self.assert_ends(0, "run", *job(last))
        self.assertNotIn("resumed_from=0 ", (self.runtime / "producer.log").read_text(encoding="utf-8").split("\n", 2)[2])
        self.assertEqual(self.last_iterate(self.pool), self.undisturbed(last))

    def test_an_analyzer_that_is_killed_in_a_run_is_replaced(self):
        process = self.begin(self.command("run", *job(ITERATIONS)))
        os.kill(self.pid_of("analyzer"), signal.SIGKILL)
        self.assertIn("another one is started (2 restarts are left)", self.finish(process, 0))
        self.assertEqual(self.last_iterate(self.pool), self.undisturbed(ITERATIONS))

    def test_an_analyzer_whose_disk_failed_is_not_replaced_and_its_status_is_the_runs(self):
        (self.folder / "path").mkdir()
        failing = self.folder / "path" / "ringside-analyzer"  # runs the real one; exits as if its disk had failed
        failing.write_text(f'#!/bin/sh\n{PROGRAMS}/ringside-analyzer "$@" &\necho $! > {self.folder}/real\nwait\nexit 3\n',
                           encoding="utf-8")
        failing.chmod(0o755)
        process = self.begin(self.command("run", *ENDLESS_JOB),
                                     {**self.environment, "PATH": f"{failing.parent}:{self.environment['PATH']}"})
        os.kill(int((self.folder / "real").read_text(encoding="utf-8")), signal.SIGKILL)
        output = self.finish(process, 3)
        self.assertIn("the analyzer ended with status 3", output)
        self.assertNotIn("another one is started", output)
        self.assert_ends(3, "status")

    def test_a_killed_producer_and_without_restarts_a_killed_analyzer_end_the_run_as_a_lost_peer(self):
        for who, options in (("producer", ()), ("analyzer", ("--restarts=0",))):
            with self.subTest(who):
                process = self.begin(self.command("run", *options, *ENDLESS_JOB))
                os.kill(self.pid_of(who), signal.SIGKILL)
                self.finish(process, 4)
                self.assert_ends(3, "status")

    def test_a_second_run_in_the_same_folder_is_refused(self):
        process = self.begin(self.command("run", *ENDLESS_JOB), until=0)
        self.assertIn("an analyzer runs already", self.assert_ends(3, "run", *SHORT_JOB))
        self.assert_ends(0, "stop")
        self.finish(process, 130)

    def test_a_producer_that_is_told_to_end_while_it_loads_was_stopped_not_lost(self):
        process = self.begin(self.command("run", "--", "--matrix", "rmat:21"), until=0)
        self.assert_ends(0, "stop")
        self.finish(process, 130)

    # Tests of what is refused.

    def test_wrong_calls_are_refused_in_one_line(self):
        for arguments, fragment in (((), "expected start, run, status or stop"), (("go",), "found 'go'"),
                                    (("run",), "found neither --job"), (("start", "--wrong"), "unknown option '--wrong'"),
                                    (("stop", "--timeout=soon"), "--timeout: found 'soon', expected a number from 1 to 1000000"),
                                    (("stop", "--timeout=0x10"), "--timeout: found '0x10'"),
                                    (("stop", "--timeout=1000001"), "expected a number from 1 to 1000000"),
                                    (("run", "--restarts=0x1"), "--restarts: found '0x1', expected a number from 0 to 1000000"),
                                    (("run", "--restarts=08"), "found neither --job"),
                                    (("stop", "--\x1b[31mwrong\n"), "unknown option '--?[31mwrong?'"),
                                    (("start", "--job"), "found nothing after it"),
                                    (("start", "--job=nowhere.toml"), "'nowhere.toml' cannot be read"),
                                    (("start", "--analyzer-cores=0"), "found only one of")):
            with self.subTest(arguments):
                result = self.script(*arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(fragment, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def test_the_runtime_folder_is_this_users_alone(self):
        self.assert_ends(0, "start")
        self.assert_ends(0, "stop")
        self.assertEqual(self.runtime.stat().st_mode & 0o777, 0o700)
        self.runtime.chmod(0o755)
        self.assertIn("expected mode 0700", self.assert_ends(3, "start"))

    # the batch job

    def test_the_batch_job_is_requeued_when_its_time_is_up_and_ends_with_the_same_bits(self):
        (self.folder / "bin").mkdir()
        scontrol = self.folder / "bin" / "scontrol"
        scontrol.write_text('#!/bin/bash\necho "$*" >>"$TMPDIR/calls"\n', encoding="utf-8")
        scontrol.chmod(0o755)
        environment = {**self.environment, "SLURM_JOB_ID": "4711", "SLURM_SUBMIT_DIR": str(self.folder),
                       "SLURM_CPUS_PER_TASK": "2", "SLURM_JOB_NUM_NODES": "1", "RINGSIDE_MATRIX": MATRIX,
                       "RINGSIDE_ITERATIONS": str(ENDLESS), "RINGSIDE_POOL_FOLDER": str(self.folder),
                       "RINGSIDE_START_NODE": str(SCRIPT), "PATH": f"{self.folder}/bin:{self.environment['PATH']}"}
        process = self.begin(["bash", SBATCH], environment)
        process.terminate()
        self.finish(process, 130)
        self.assertEqual((self.folder / "calls").read_text(encoding="utf-8"), "requeue 4711\n")
        [pool] = self.folder.glob("*4711*.pool")
        last = self.newest(pool) + 20
        self.finish(self.begin(["bash", SBATCH], {**environment, "RINGSIDE_ITERATIONS": str(last)}, until=0), 0)
        self.assertEqual((self.folder / "ringside-4711.npy").read_bytes(), self.undisturbed(last))
        log = (self.folder / "ringside-4711" / "producer.log").read_text(encoding="utf-8")
        self.assertIn("resumed_from=", log)
        self.assertNotIn("resumed_from=0\n", log.split("\n", 2)[2])
        self.assertEqual((self.folder / "calls").read_text(encoding="utf-8"), "requeue 4711\n")


if __name__ == "__main__":
    unittest.main()
