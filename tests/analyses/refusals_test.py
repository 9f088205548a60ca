# SPDX-License-Identifier: BSD-3-Clause
"""Files, interpreters and options that are refused before a run begins: one line, an exit code, and no pool."""

import os
import sys
import unittest

from place import ENERGY, Place


class Refusals(Place):
    def refused(self, line, *more, code=2, files=("my.py",)):
        said = self.call(*self.run_words(*more, files=files), expected=code)
        self.assertEqual((said.stderr.count("\n"), said.stdout), (1, ""), said.stderr)
        self.assertRegex(said.stderr, line)
        self.assertFalse((self.folder / "run.pool").exists())

    def test_a_file_whose_import_waits_is_named_and_the_run_begins_after_it(self):
        go = self.folder / "go"
        os.mkfifo(go)
        self.write(ENERGY)
        self.write(f"open({str(go)!r}).read()\n" + ENERGY.replace("energy", "slow"), "slow.py")
        run = self.start(*self.run_words(files=("my.py", "slow.py")))
        self.assertRegex(run.stderr.readline(), r"^ringside: slow\.py is still being imported after 3 s \(process \d+\)")
        go.write_text("", encoding="utf-8")
        self.assertEqual((run.communicate(timeout=240)[1], run.returncode), ("", 0))

    def test_a_file_that_cannot_be_used_is_named_with_its_line(self):
        for text, line in (("import ringside\n\ndef f(:\n", r"my\.py, line 3: invalid syntax"),
                           ("x = 1\n", r"my\.py: found no function with @ringside\.reduction; expected at least one"),
                           ("import ringside\nimport no_such_module\n", r"my\.py, line 2: ModuleNotFoundError: No module named 'no_such_module'"),
                           ("import sys\n\nsys.exit(0)\n", r"my\.py, line 3: SystemExit: 0"),
                           ("import os\nos._exit(0)\n", r"my\.py: its process ended with exit code 0 during the import"),
                           ("import ringside\n@ringside.reduction('a b')\ndef f(step): pass\n",
                            r"my\.py, line 2: the name of a reduction: found 'a b', expected 1 to 63 letters"),
                           ("import ringside\n@ringside.reduction(every=0)\ndef f(step): pass\n", r"my\.py, line 2: every: found 0, expected at least 1"),
                           (ENERGY + ENERGY, r"my\.py, line 10: two reductions have the name 'energy'; expected each name once"),
                           ("\0", r"my\.py")):
            with self.subTest(text=text):
                self.write(text)
                self.refused(line)

    def test_a_file_that_is_not_there_or_is_no_file(self):
        self.refused(r"my\.py: no such file; expected a Python file|my\.py: .*No such file.*; expected a Python file")
        self.write(ENERGY)
        self.refused(r"other\.py: .*; expected a Python file", files=("my.py", "other.py"))
        (self.folder / "folder.py").mkdir()
        self.refused(r"folder\.py: .*; expected a Python file", files=("folder.py",))

    def test_a_name_in_two_files(self):
        self.write(ENERGY, "a.py")
        self.write(ENERGY, "b.py")
        self.refused(r"b\.py: the reduction 'energy' is also in a\.py; expected each name once", files=("a.py", "b.py"))

    def test_names_that_could_make_one_name_of_a_result(self):
        of = "@ringside.reduction('{}')\ndef f{}(step): pass\n"
        for first, second in (("a", "a.b"), ("a.b", "a"), ("a.b", "a.b.c")):
            shorter, longer = sorted((first, second), key=len)
            self.write("import ringside\n" + of.format(first, 1) + of.format(second, 2))
            self.refused(rf"my\.py, line 4: the reductions '{shorter}' and '{longer}' could both have a result analysis\.{longer}; expected no name")
            self.write("import ringside\n" + of.format(first, 1), "a.py")
            self.write("import ringside\n" + of.format(second, 2), "b.py")
            self.refused(rf"[ab]\.py: the reduction '{longer}' and '{shorter}' in [ab]\.py could both have a result analysis\.{longer}; expected no name",
                         files=("a.py", "b.py"))
        self.write("import ringside\n" + of.format("a", 1) + of.format("ab", 2))
        self.call(*self.run_words())

    def test_more_functions_than_a_file_may_have(self):
        of = "@ringside.reduction('f{0}')\ndef f{0}(step): pass\n"
        self.write("import ringside\n" + "".join(of.format(i) for i in range(65)))
        self.refused(r"my\.py: found 65 functions with @ringside\.reduction; expected at most 64 in a file")
        self.write("import ringside\n" + "".join(of.format(i) for i in range(64)))
        self.call(*self.run_words())

    def test_an_interpreter_without_the_package(self):
        self.write(ENERGY)
        # A Python without its site packages has no NumPy, which the package needs.
        bare = self.folder / "bare"
        bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n', encoding="utf-8")
        bare.chmod(0o755)
        for python in (bare, "/bin/false", "/nowhere/python3"):
            with self.subTest(python=python):
                self.environment["RINGSIDE_PYTHON"] = str(python)
                self.refused(r": cannot run analyses: .*; expected a Python with the package ringside, in PATH or .*python3-ringside on Debian", code=3)
        self.environment["RINGSIDE_PYTHON"] = "/bin/false"
        self.call(*self.run_words(f"--python={sys.executable}"))  # the option takes precedence

    def test_options_that_exclude_it(self):
        self.write(ENERGY)
        self.refused("--analyze: found with --mode dram, which keeps nothing to analyze; expected --mode pipeline", "--mode=dram")
        self.refused("--analyze: found with --telemetry off, expected on", "--telemetry=off")

    def test_cores_that_are_not_there(self):
        self.write(ENERGY)
        words = [word for word in self.run_words() if word != "--analyze-cores=0"]
        for cores, code in (("nothing", 2), ("60000", 3)):
            said = self.call(*words, f"--analyze-cores={cores}", expected=code)
            self.assertEqual(said.stderr.count("\n"), 1, said.stderr)
            self.assertIn("--analyze-cores", said.stderr)
            self.assertFalse((self.folder / "run.pool").exists())

    def test_a_file_of_the_packages_name_in_the_folder_is_not_the_package(self):
        self.write("raise RuntimeError('another one')\n", "ringside.py")
        self.write(ENERGY)
        analyses, _, _ = self.run_with()
        self.assertEqual(analyses["energy"]["failed"], 0)

    def test_a_file_may_use_modules_beside_it(self):
        os.mkdir(self.folder / "sub")
        self.write("FACTOR = 2\n", "sub/beside.py")
        self.write(ENERGY.replace("import ringside", "import ringside\nfrom beside import FACTOR").replace("float(", "FACTOR * float("), "sub/my.py")
        analyses, _, _ = self.run_with(files=("sub/my.py",))
        self.assertEqual(analyses["energy"]["failed"], 0)


if __name__ == "__main__":
    unittest.main()
