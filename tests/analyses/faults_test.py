# SPDX-License-Identifier: BSD-3-Clause
"""Analyses that raise, print, block, fork, end or are slow: the run must have all its steps with the right bits, and
must report what happened."""

import unittest

from place import ENERGY, STEPS, Place


class Faults(Place):
    def run_faulty(self, body, *more, expected_said=r"\A\Z", slots=2 * STEPS, timeout=120):
        """Makes a run with `body` as the function f, and with another file that has no fault. Returns f's entry in the
        summary."""
        self.write(f"import os, signal, subprocess, sys, time\nimport numpy as np\nimport ringside\n\n@ringside.reduction\ndef f(step):\n"
                   + "".join(f"    {line}\n" for line in body.splitlines()))
        self.write(ENERGY, "sound.py")
        analyses, summary, said = self.run_with(*more, files=("my.py", "sound.py"), slots=slots, timeout=timeout)
        self.assertEqual((summary["steps_committed"], summary["analyzer_restarts"], summary["steps_skipped"]), (STEPS, 0, 0))
        self.assertEqual(analyses["energy"]["steps"] + analyses["energy"]["skipped"], STEPS)
        self.assertRegex(said, expected_said)
        one = analyses["f"]
        self.assertEqual(one["steps"] + one["skipped"] + one["failed"], STEPS, one)
        return one

    def test_a_step_in_which_it_raises_is_counted_and_the_first_time_is_shown(self):
        one = self.run_faulty("if step.iteration % 2:\n    raise ValueError(f'at {step.iteration}')\nreturn 1",
                              expected_said=r"\Amy.py: f: failed at iteration 1; later failures are only counted\n"
                              r"(my.py: f: .*\n)+my.py: f: ValueError: at 1\n\Z")
        self.assertEqual((one["failed"], one["steps"], one["ended"]), (STEPS // 2, STEPS // 2, None))
        self.assertEqual(sorted(self.recorded()[0]["analysis.f"]), list(range(2, STEPS + 1, 2)))

    def test_what_is_no_number_is_a_failure(self):
        for returned, found in (("'1'", "a str"), ("np.ones(2)", r"an array of shape \(2,\)"), ("1j", "a complex"), ("{'a': None}", "a NoneType"),
                                ("{'1a': 1}", "the name '1a'"), ("{f'k{i}': i for i in range(65)}", "65 results"), ("10**400", "too large")):
            with self.subTest(returned=returned):
                self.write(f"import numpy as np, ringside\n@ringside.reduction\ndef f(step):\n    return {returned}\n")
                analyses, _, said = self.run_with("--overwrite", steps=2)
                self.assertEqual((analyses["f"]["failed"], analyses["f"]["steps"]), (2, 0))
                self.assertRegex(said, found)

    def test_what_it_prints_goes_to_standard_error_with_its_name(self):
        one = self.run_faulty("print('one', step.iteration)\nprint('two', end='')\nos.write(1, b'three\\n')\nreturn 1",
                              expected_said=rf"my.py: f: one {STEPS}\nmy.py: three\nmy.py: f: two\n\Z")
        self.assertEqual(one["steps"], STEPS)

    def test_it_may_write_bytes_and_lines_without_end(self):
        self.run_faulty("if step.iteration == 1:\n    sys.stdout.buffer.write(b'\\xc3\\xa4 ')\n    sys.stdout.buffer.flush()\n"
                        "    print('and text')\n    sys.stderr.buffer.write(b'\\xff\\n')\n"
                        "    print('a' * 65535 + '\u00e4' * 2, end='')\nreturn 1",
                        expected_said="\\Amy.py: f: \u00e4 and text\nmy.py: f: [^\n\ufffd]{1,8}\nmy.py: f: a{65535}\nmy.py: f: \u00e4\u00e4\n\\Z")

    def test_a_flood_of_output_is_cut_and_counted(self):
        one = self.run_faulty("for i in range(1000):\n    print('x' * 1000)\nos.write(2, (b'y' * 99 + b'\\n') * 1000)\nreturn 1",
                              expected_said=r"(?s)my.py: f: printed more than 256 KiB; the rest is left out\n.*"
                              r"my.py: left out: [0-9,]+ lines of output \([0-9,]+ KiB\)\nmy.py: f: left out: 11,7\d\d lines of output \([0-9,]+ KiB\)\n\Z")
        self.assertEqual((one["steps"], one["ended"]), (STEPS, None))

    def test_what_other_functions_of_its_file_have_found_is_kept_when_one_ends_the_process(self):
        self.write(ENERGY + "\nimport os\n\n@ringside.reduction\ndef f(step):\n    if step.iteration == 3:\n        os._exit(7)\n\n"
                   "@ringside.reduction('last', every=2)\ndef last(step):\n    return 1\n")
        analyses, _, _ = self.run_with()
        self.assertEqual(sorted(self.recorded()[0]["analysis.energy"]), [1, 2, 3])
        self.assertEqual([(analyses[name]["steps"], analyses[name]["skipped"]) for name in ("energy", "f", "last")],
                         [(3, STEPS - 3), (2, STEPS - 2), (1, STEPS // 2 - 1)])

    def test_a_copy_of_its_process_ends_where_it_comes_back(self):
        one = self.run_faulty("child = os.fork()\nif child:\n    os.waitpid(child, 0)\nreturn 1",
                              expected_said=r"\Amy.py: f: called os.fork; a copy of the process in which the function returns "
                                            r"ends at that point\n\Z")
        self.assertEqual(one["steps"], STEPS)
        self.assertEqual(self.recorded()[1], 2 * STEPS)

    def test_it_may_start_programs(self):
        self.assertEqual(self.run_faulty("return float(subprocess.run(['echo', '3'], capture_output=True, check=True).stdout)")["last"], 3)

    def test_one_that_ends_its_process_is_named_and_the_run_goes_on(self):
        for body, how in (("sys.exit(3)", r"f called sys.exit\(3\) at iteration 1"), ("os._exit(7)", "ended with exit code 7"),
                          ("os.kill(os.getpid(), signal.SIGSEGV)", r"was killed by signal 11 \(Segmentation fault\)"),
                          ("raise KeyboardInterrupt", "f raised KeyboardInterrupt at iteration 1")):
            with self.subTest(body=body):
                one = self.run_faulty(body, "--overwrite", expected_said=rf"\Amy.py: {how}; its analyses end here\n\Z")
                self.assertRegex(one["ended"], how)
                self.assertEqual((one["steps"], one["skipped"]), (0, STEPS))

    def test_steps_after_the_end_of_the_only_process_count_as_skipped(self):
        self.write("import os, ringside\n@ringside.reduction\ndef f(step):\n    os._exit(0)\n")
        analyses, _, _ = self.run_with(steps=40_000)
        one = analyses["f"]
        self.assertEqual((one["steps"], one["skipped"], one["ended"]), (0, 40_000, "ended with exit code 0"))

    def test_only_steps_that_it_would_have_looked_at_count_as_skipped(self):
        self.write("import os, ringside\n@ringside.reduction(every=4)\ndef f(step):\n    if step.iteration > 8:\n        os._exit(0)\n    return 1\n"
                   "@ringside.reduction(every=5)\ndef never(step):\n    return 1\n")
        for more in ((), ("--resume",)):  # the runs publish iterations 2, 4 ... 24, and then 26 ... 36
            analyses, _, _ = self.run_with("--every=2", *more, steps=36 if more else 24, slots=30)
            counts = [(analyses[name]["steps"], analyses[name]["skipped"]) for name in ("f", "never")]
            self.assertEqual(counts, [(0, 3), (0, 1)] if more else [(2, 4), (1, 1)])

    def test_one_that_blocks_is_ended_after_the_run(self):
        one = self.run_faulty("signal.pause()", timeout=1,
                              expected_said=r"my.py: did not end within 1 s after the run \(--analyze-timeout\), and was killed; ")
        self.assertEqual((one["steps"], one["skipped"]), (0, STEPS))

    def test_one_that_cannot_follow_skips_steps_and_the_solver_makes_the_same_bits(self):
        # The analysis returns once five more steps exist; a ring of three slots cannot keep the analysed step for that
        # long.
        one = self.run_faulty(f"import ringside\nwhile ringside.open('run.pool').steps[-1].iteration < min(step.iteration + 5, {STEPS}):\n"
                              "    pass\nreturn step['x'].sum()", slots=3)
        self.assertGreater(one["skipped"], 0)
        self.assertGreater(one["steps"], 0)
        self.assertIsNone(one["ended"])
        self.run_with(name="without", files=(), slots=3)
        self.assertEqual(*(self.pool(name).read(STEPS, "x").tobytes() for name in ("run", "without")))

    def test_one_that_writes_to_descriptors_that_are_not_its_own_is_ended(self):
        one = self.run_faulty("for fd in os.listdir('/proc/self/fd'):\n"
                              "    if int(fd) > 2 and os.path.exists(f'/proc/self/fd/{fd}') and 'pipe' in os.readlink(f'/proc/self/fd/{fd}'):\n"
                              "        try:\n            os.write(int(fd), b'{\"kind\": \"result\"}\\n')\n        except OSError:\n            pass\n"
                              "return 1", expected_said=r"\Amy.py: wrote to a descriptor that is not its own; its analyses end here\n\Z")
        self.assertIsNotNone(one["ended"])

    def test_no_process_and_no_folder_is_left(self):
        self.run_faulty("if os.fork() == 0:\n    signal.pause()\nopen('pids', 'a').write(f'{os.getpgid(0)}\\n')\nsignal.pause()",
                        timeout=1, expected_said="did not end within 1 s")
        group = (self.folder / "pids").read_text(encoding="utf-8").split()[0]
        alive = self.call("ps", "-eo", "pgid=,stat=").stdout.splitlines()
        self.assertEqual([line for line in alive if line.split()[0] == group and "Z" not in line], [])
        self.assertEqual([path.name for path in self.folder.iterdir() if path.is_dir() and path.name != "__pycache__"], [])

    def test_a_program_that_it_started_and_left_ends_with_the_run(self):
        for last in ("return 1", "os._exit(7)"):
            with self.subTest(last=last):
                self.run_faulty(f"subprocess.Popen(['tail', '-f', '/dev/null'])\nopen('pids', 'a').write(f'{{os.getpgid(0)}}\\n')\n{last}",
                                "--overwrite", expected_said="(?s).*")
                group = (self.folder / "pids").read_text(encoding="utf-8").split()[-1]
                alive = self.call("ps", "-eo", "pgid=,stat=").stdout.splitlines()
                self.assertEqual([line for line in alive if line.split()[0] == group and "Z" not in line], [])


if __name__ == "__main__":
    unittest.main()
