# SPDX-License-Identifier: BSD-3-Clause
"""`ringside-memory run` itself: exit codes, refusals in one line, the account (also for killed programs), children,
limits."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv.pop()).resolve()
PYTHON = "/usr/bin/python3"
# Writes and reads memory of 4 times the size of the DRAM, and prints the largest resident size during this. Only
# anonymous memory counts, because a mapped far file on tmpfs is shared memory.
FOUR_TIMES = """
import sys
def resident():
    return next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('RssAnon'))
before = resident()
data = bytearray(64 << 20)
most = 0
for round in range(2):
    for i in range(0, len(data), 4096):
        data[i] = (data[i] + i // 4096) % 256
        if i % (1 << 20) == 0: most = max(most, resident())
assert all(data[i] == 2 * (i // 4096) % 256 for i in range(0, len(data), 4096))
print((most - before) * 1024)
"""


def run(options, program, **more):
    given = {option.split("=")[0] for option in options}
    defaults = [option for option in ("--dram=16M", "--far=/dev/shm") if option.split("=")[0] not in given]
    command = [BIN / "ringside-memory", "run", *defaults, *options, "--", *program]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100, **more)


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="ringside-run-")))
        probe = run([], ["true"])
        if probe.returncode == 3 and "userfaultfd" in probe.stderr:
            self.skipTest(probe.stderr.strip())

    def account(self, options, program, **more):
        path = self.folder / "account.json"
        done = run([*options, "--json", f"--account={path}"], program, **more)
        return done, json.loads(path.read_text())

    def assert_refused(self, done, code, text):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(text, done.stderr)

    def compiled(self, flag):
        """An empty program, compiled with this flag; None if this machine cannot compile it."""
        program = self.folder / flag
        made = subprocess.run(["gcc", flag, "-x", "c", "-", "-o", program], input="int main(void) { return 0; }", text=True,
                              capture_output=True, check=False)
        return str(program) if made.returncode == 0 else None

    def test_exit_code_is_the_programs_own(self):
        for code in (0, 1, 2, 3, 42):
            self.assertEqual(run([], ["sh", "-c", f"exit {code}"]).returncode, code)
        self.assertEqual(run([], ["sh", "-c", "kill -TERM $$"]).returncode, 128 + signal.SIGTERM)

    def test_arguments_and_streams_are_passed_on(self):
        done = run(["--quiet"], ["sh", "-c", 'read line; echo "$line $1 $2"; echo error >&2', "sh", "a b", "--json"], input="text\n")
        self.assertEqual((done.stdout, done.stderr), ("text a b --json\n", "error\n"))

    def test_programs_that_cannot_be_preloaded_are_refused(self):
        self.assert_refused(run([], ["ringside-not-there"]), 2, "expected a program in PATH")
        self.assert_refused(run([], [str(self.folder)]), 2, "cannot be started")
        copy = self.folder / "copy"
        shutil.copy("/bin/true", copy)
        copy.chmod(0o4755)
        self.assert_refused(run([], [str(copy)]), 2, "found a setuid program")
        copy.chmod(0o2755)
        self.assert_refused(run([], [str(copy)]), 2, "found a setgid program")
        script = self.folder / "script"
        copy.chmod(0o4755)
        script.write_text(f"#!{copy}\n")
        script.chmod(0o755)
        self.assert_refused(run([], [str(script)]), 2, "found a setuid program")
        script.write_text("neither\n")
        self.assert_refused(run([], [str(script)]), 2, "found neither a program nor a script")
        script.write_text("#!/bin/sh\nexit 9\n")
        self.assertEqual(run([], [str(script)]).returncode, 9)

    @unittest.skipUnless(shutil.which("gcc"), "gcc is not installed")
    def test_static_programs_are_refused(self):
        static = self.compiled("-static")
        if not static:
            self.skipTest("the C library has no static form here")
        self.assert_refused(run([], [static]), 2, "found a static program")

    @unittest.skipUnless(shutil.which("gcc"), "gcc is not installed")
    def test_programs_with_a_sanitizer_are_refused_in_one_line(self):
        built = {f"{kind.title()}Sanitizer": self.compiled(f"-fsanitize={kind}") for kind in ("address", "leak", "thread")}
        if not any(built.values()):
            self.skipTest("no sanitizer is installed")
        for name, program in built.items():
            if program:
                self.assert_refused(run([], [program]), 2, f"found a program with {name}")
                # If a program that accepts the preloaded library starts the refused one, the loader of the refused
                # program prints the message.
                self.assert_refused(run(["--quiet"], ["sh", "-c", program]), 2, f"{program}: found {name}")
        library = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=False).stdout.strip()
        if "/" in library:
            self.assert_refused(run([], ["true"], env={**os.environ, "LD_PRELOAD": library}), 2, "LD_PRELOAD: found")

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_valgrind_is_named(self):
        done = run(["--quiet"], ["valgrind", "-q", "/bin/true"])
        self.assert_refused(done, 2, "found valgrind")

    def test_small_limits_are_named_in_one_line(self):
        for limit, size, line in ((resource.RLIMIT_FSIZE, 100 << 10, "ulimit -f permits files of 102400 bytes"),
                                  (resource.RLIMIT_FSIZE, 20 << 20, "ulimit -f permits files of 20971520 bytes, expected twice the far"),
                                  (resource.RLIMIT_STACK, 32 << 10, "the limit of the stack (ulimit -s) is less than the 256 KiB"),
                                  (resource.RLIMIT_AS, 1 << 30, "ulimit -v"), (resource.RLIMIT_DATA, 1 << 30, "ulimit -d")):
            hard = resource.getrlimit(limit)[1]
            done = run(["--far-limit=64M"], ["true"], preexec_fn=lambda: resource.setrlimit(limit, (size, hard)))
            self.assert_refused(done, 3, line)
        enough = (128 << 20, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
        done = run(["--far-limit=64M", "--quiet"], ["true"], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, enough))
        self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_a_debugger_runs_its_program(self):
        done = run(["--quiet"], ["gdb", "-batch", "-nx", "-ex", "handle SIGSYS SIGBUS nostop noprint pass", "-ex", "run", "/bin/true"],
                   stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("exited normally", done.stdout)

    def test_bad_input_is_refused_in_one_line(self):
        self.assert_refused(run(["--far=/not/there"], ["true"]), 2, "expected an existing folder")
        self.assert_refused(run(["--min-size=1"], ["true"]), 2, "--min-size")
        self.assert_refused(run(["--faults=magic"], ["true"]), 2, "expected signal|thread")
        self.assert_refused(run(["--dram=4000G"], ["true"]), 2, "--dram: found 4294967296000 bytes, expected at most")
        self.assert_refused(run(["--far=/proc"], ["true"]), 3, "far folder /proc")
        plain = subprocess.run([BIN / "ringside-memory", "run", "--dram=4M", "--far=/dev/shm"], capture_output=True, text=True, check=False)
        self.assert_refused(plain, 2, "expected `-- PROGRAM")
        self.assert_refused(run([], ["true"], env={**os.environ, "PATH": "/not/there"}), 2, "expected a program in PATH")

    def test_resident_size_stays_near_the_limit(self):
        for faults in ("thread", "signal"):
            done = run([f"--faults={faults}", "--quiet"], [PYTHON, "-c", FOUR_TIMES])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLessEqual(int(done.stdout), (16 << 20) * 1.02 + (16 << 20))

    def test_account_has_the_figures(self):
        done, account = self.account([], [PYTHON, "-c", FOUR_TIMES])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(account["processes_with_arena"], 1)
        total = account["total"]
        self.assertEqual(total["dram_limit_bytes"], 16 << 20)
        self.assertEqual(total["dram_peak_bytes"], 16 << 20)
        self.assertGreaterEqual(total["far_peak_bytes"], 64 << 20)
        self.assertEqual(total["faults_zero"] + total["faults_far"] + total["faults_probation"] + total["faults_write"], total["faults"])
        self.assertGreater(total["read_bytes"], 32 << 20)
        self.assertGreater(total["written_bytes"], 32 << 20)
        self.assertGreater(total["fault_s"], 0)
        self.assertGreater(total["small_allocations"], 100)
        self.assertGreater(total["small_peak_bytes"], 100000)
        self.assertAlmostEqual(account["fault_share"], total["fault_s"] / account["wall_s"], places=5)

    def test_account_exists_after_a_kill_and_after_leaving_at_once(self):
        for end, code in (("os.kill(os.getpid(), 9)", 137), ("os._exit(4)", 4)):
            done, account = self.account([], [PYTHON, "-c", FOUR_TIMES + "\nimport os\n" + end])
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(account["signal"], 9 if code == 137 else 0)
            self.assertGreater(account["total"]["read_bytes"], 16 << 20)

    def test_text_metrics_and_json_agree(self):
        prom = self.folder / "run.prom"
        done, account = self.account([f"--prometheus={prom}"], [PYTHON, "-c", FOUR_TIMES])
        metrics = dict(re.findall(r'^ringside_memory_(\w+)\{program="[^"]+"\} (\S+)$', prom.read_text(), re.MULTILINE))
        self.assertEqual(float(metrics["faults"]), account["total"]["faults"])
        self.assertEqual(float(metrics["run_exit_code"]), done.returncode)
        text = run([], [PYTHON, "-c", "bytearray(5 << 20)"]).stderr
        self.assertRegex(text, r"^ringside-memory run: \S+ ended with exit code 0 after [0-9.]+ s; 1 process with an arena\n")
        self.assertRegex(text, "[1-9] of 1.0 MiB or more in the arena; [0-9]+ smaller ones in DRAM")
        on_output = run(["--json"], [PYTHON, "-c", "pass"])
        self.assertEqual(json.loads(on_output.stdout)["exit_code"], 0)
        self.assertEqual(on_output.stderr, "")

    def test_unreserved_mappings_are_in_far_memory_if_the_user_asks(self):
        # 0x4022 means private, anonymous and MAP_NORESERVE; jemalloc maps all its memory in this way.
        program = [PYTHON, "-c", "import mmap; m = mmap.mmap(-1, 9 << 20, flags=0x4022); m[:] = bytes(9 << 20)"]
        _, without = self.account(["--min-size=8M"], program)
        _, asked = self.account(["--min-size=8M", "--noreserve"], program)
        self.assertEqual([found["total"]["far_peak_bytes"] // (9 << 20) for found in (without, asked)], [1, 2])
        # The kernel makes a mapping that does not fit into far memory, because the mapping may be a reservation of
        # which little is used.
        done = run(["--noreserve"], [PYTHON, "-c", "import mmap; mmap.mmap(-1, 1 << 45, flags=0x4022)[5] = 1"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_another_malloc_may_have_its_memory_in_far_memory(self):
        # The memory that this malloc returns is in the arena, and only this malloc may free it.
        library = next((str(path) for path in pathlib.Path("/usr/lib/x86_64-linux-gnu").glob("libjemalloc.so.*")), None)
        if library is None:
            self.skipTest("jemalloc is not installed (libjemalloc2)")
        program = """
texts = [str(i) * 150 for i in range(60000)]
for turn in range(2):
    texts[::2] = [str(i + turn) * 200 for i in range(0, 60000, 2)]
assert all(texts[i] == (str(i) * 150 if i % 2 else str(i + 1) * 200) for i in range(60000))
"""
        environment = {**os.environ, "LD_PRELOAD": library, "PYTHONMALLOC": "malloc"}
        done, account = self.account(["--noreserve", "--dram=8M"], [PYTHON, "-c", program], env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(account["total"]["far_peak_bytes"], 32 << 20)
        self.assertGreater(account["total"]["read_bytes"], 8 << 20)

    def test_children_have_an_arena_of_their_own_unless_first_only(self):
        program = [PYTHON, "-c", "import subprocess, sys; subprocess.run([sys.executable, '-c', 'bytearray(9 << 20)'], check=True)"]
        _, both = self.account([], program)
        self.assertEqual(both["processes_with_arena"], 2)
        self.assertEqual([process["far_peak_bytes"] >= 9 << 20 for process in both["processes"]], [False, True])
        _, first = self.account(["--first-only"], program)
        self.assertEqual(first["processes_with_arena"], 1)

    def test_first_only_leaves_the_users_own_preload(self):
        library = next((str(path) for path in pathlib.Path("/lib/x86_64-linux-gnu").glob("libm.so.6")), None)
        if library is None:
            self.skipTest("libm.so.6 is elsewhere")
        show = "import os; print(os.environ.get('LD_PRELOAD'), [name for name in os.environ if name.startswith('RINGSIDE_MEMORY')])"
        done = run(["--first-only", "--quiet"], [PYTHON, "-c", show], env={**os.environ, "LD_PRELOAD": library})
        self.assertEqual(done.stdout, f"{library} []\n")

    def test_forked_child_without_copy_ends_with_one_line(self):
        program = "import os\ndata = bytearray(20 << 20)\ndata[5] = 5\npid = os.fork()\nif pid == 0:\n    print(data[5], flush=True)\n    os._exit(0)\nprint(os.waitpid(pid, 0)[1] != 0, data[5])\n"
        done, account = self.account(["--fork=none"], [PYTHON, "-c", program])
        self.assertEqual(done.stdout, "True 5\n")
        self.assertIn("a forked child touched memory of the arena, of which it has no copy", done.stderr)
        self.assertEqual(account["total"]["forks_without_copy"], 1)
        done, account = self.account(["--fork=copy"], [PYTHON, "-c", program])
        self.assertEqual(done.stdout, "5\nFalse 5\n")
        self.assertEqual(account["total"]["forks_copied"], 1)

    def test_full_far_memory_is_an_error_of_the_allocation(self):
        program = "try:\n    x = bytearray(100 << 20)\nexcept MemoryError:\n    print('full')\n"
        done, account = self.account(["--far-limit=32M"], [PYTHON, "-c", program])
        self.assertEqual((done.returncode, done.stdout), (0, "full\n"))
        self.assertEqual(account["total"]["refused_allocations"], 1)

    def ready(self, program, **more):
        """Starts a program under `ringside-memory run`, and returns its process when the program has printed
        "ready"."""
        process = subprocess.Popen([BIN / "ringside-memory", "run", "--dram=4M", "--far=/dev/shm", "--quiet", "--", PYTHON, "-c", program],
                                   stdout=subprocess.PIPE, **more)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def test_signals_to_the_command_reach_the_program(self):
        program = "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(11))\nprint('ready', flush=True)\nsignal.pause()\n"
        with self.ready(program) as process:
            process.terminate()
            self.assertEqual(process.wait(60), 11)

    def assert_ends_with_the_command(self, first):
        program = f"import os, sys\n{first}\nprint('ready', flush=True)\nsys.stdin.read()\nprint('it goes on', flush=True)\n"
        stays_open, writer = os.pipe()
        self.addCleanup(os.close, stays_open)
        self.addCleanup(os.close, writer)
        with self.ready(program, stdin=stays_open) as process:
            process.kill()
            # The end of the program closes the last descriptor of the pipe. If the program continued, this read would
            # wait.
            self.assertEqual(process.stdout.read(), b"")

    def test_program_ends_with_the_killed_command(self):
        self.assert_ends_with_the_command("")

    @unittest.skipUnless(os.geteuid() == 0, "only root changes its user")
    def test_program_that_changed_its_user_ends_with_the_killed_command(self):
        self.assert_ends_with_the_command("os.setgid(65534)\nos.setuid(65534)")

    def test_settings_in_the_environment_are_checked(self):
        library = next(path for path in (BIN.parent / "lib").glob("libringside_memory_preload.so"))
        for name, value in (("DRAM", "4M"), ("MIN_SIZE", "12"), ("FAULTS", "x"), ("FAR", "")):
            environment = {**os.environ, "LD_PRELOAD": str(library), "RINGSIDE_MEMORY_DRAM": "4194304", "RINGSIDE_MEMORY_FAR": "/dev/shm"}
            environment[f"RINGSIDE_MEMORY_{name}"] = value
            done = subprocess.run(["/bin/true"], env=environment, capture_output=True, text=True, check=False)
            self.assert_refused(done, 3 if name == "FAR" else 2, f"{value}")


if __name__ == "__main__":
    unittest.main()
