# SPDX-License-Identifier: BSD-3-Clause
"""`--coordination messages` for a solver in C: libringside loads libringside-messages, and reports the reason if it
cannot. Argument: the build folder."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from story import EXAMPLES, ROOT, Installation, Place

OTHER = "libringside-messages.so.0"


class Beside(Place):
    """A folder with the solver, and with the two libraries in a separate folder."""

    def setUp(self):
        super().setUp()
        self.libraries = self.folder / "lib"
        self.libraries.mkdir()
        for name in ("libringside.so.0", OTHER):
            shutil.copy(BUILD / "lib" / name, self.libraries)
        self.environment["LD_LIBRARY_PATH"] = str(self.libraries)
        self.call("cc", f"-I{ROOT / 'include'}", "-o", "publish", EXAMPLES / "publish.c", self.libraries / "libringside.so.0")


class Messages(Beside):
    def run_with(self, coordination, *more):
        """Makes a run of 100 steps, and returns its newest iterate."""
        name = coordination + "".join(more)
        self.call("ringside", "run", "--quiet", f"--coordination={coordination}", f"--pool={name}.pool", f"--summary={name}.json",
                  "--durability=process", "--", *more, "./publish", 100)
        summary = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        self.assertEqual((summary["coordination"], summary["steps_committed"]), (coordination, 100))
        self.call("ringside", "export", f"{name}.pool", "--output", f"{name}.npy")
        return (self.folder / f"{name}.npy").read_bytes()

    def test_a_run_has_the_same_bits_as_with_locks(self):
        self.assertEqual(self.run_with("messages"), self.run_with("locks"))

    def test_the_library_is_loaded_only_by_a_run_with_messages(self):
        for coordination, loaded in (("locks", False), ("messages", True)):
            self.environment["LD_DEBUG"], self.environment["LD_DEBUG_OUTPUT"] = "files", str(self.folder / coordination)
            self.call("./publish", 1, expected=4, RINGSIDE_SOCKET=str(self.folder / "none"), RINGSIDE_COORDINATION=coordination,
                      RINGSIDE_PEER_TIMEOUT="0.1")
            [notes] = self.folder.glob(f"{coordination}.*")
            self.assertEqual(OTHER in notes.read_text(encoding="utf-8"), loaded)


class Refusals(Beside):
    def refused(self, status, **environment):
        """Runs a solver that cannot attach, and returns the one line that it prints."""
        run = self.call("./publish", 1, expected=status, RINGSIDE_COORDINATION="messages", **environment)
        self.assertEqual((run.stdout, run.stderr.count("\n")), ("", 1), run.stderr)
        return run.stderr

    def test_without_the_library_the_line_names_its_package(self):
        (self.libraries / OTHER).unlink()
        self.assertRegex(self.refused(2), rf"--coordination messages: {OTHER}: cannot open shared object file: No such file or directory; "
                                          r"expected the package libringside-messages0, or --coordination locks\n$")

    def test_a_library_of_another_version_is_refused(self):
        version = self.call("ringside", "--version").stdout.split()[-1]
        for source, found in (('const struct { const char* version; void* make; } ringside_messages = {"0.1.9", 0};', "0.1.9"),
                              ("int other;", "without an entry")):
            (self.folder / "other.c").write_text(source, encoding="utf-8")
            self.call("cc", "-shared", "-fPIC", "-o", self.libraries / OTHER, "other.c")
            self.assertTrue(self.refused(2).endswith(f"--coordination messages: found libringside-messages {found}, expected {version}, "
                                                     "the version of libringside\n"))

    def test_an_error_within_the_library_is_one_line_with_its_exit_code(self):
        line = self.refused(3, RINGSIDE_SOCKET="/" + "s" * 101)
        expected = rf"socket path '/{'s' * 101}\.steps' has 108 characters, expected at most \d+; choose a shorter --socket\n$"
        self.assertRegex(line, expected)


class Library(unittest.TestCase):
    def test_it_exports_its_entry_and_needs_zeromq_and_protocol_buffers_only(self):
        library = BUILD / "lib" / OTHER
        exported = re.findall(r" ([A-Z]) (\S+)", subprocess.check_output(["nm", "-D", "--defined-only", library], encoding="utf-8"))
        self.assertEqual(sorted(exported), [("A", "RINGSIDE_MESSAGES_0"), ("D", "ringside_messages@@RINGSIDE_MESSAGES_0")])
        dynamic = subprocess.check_output(["readelf", "-dW", library], encoding="utf-8")
        needed = {name.split(".so")[0] for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)}
        self.assertLessEqual({"libzmq", "libprotobuf", "libc"}, needed)
        self.assertLessEqual(needed, {"libzmq", "libprotobuf", "libc", "libm", "libstdc++", "libgcc_s", "ld-linux-x86-64"})
        self.assertRegex(dynamic, rf"\(SONAME\).*\[{re.escape(OTHER)}\]")
        self.assertNotRegex(dynamic, "RPATH|RUNPATH|TEXTREL")


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    Installation.programs = BUILD / "bin"
    unittest.main()
