# SPDX-License-Identifier: BSD-3-Clause
"""The package graph of an invented distribution that is small enough to check by hand, and the table of an exported
iterate."""

import array
import pathlib
import struct
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "package_graph"
sys.dont_write_bytecode = True
sys.path[:0] = [str(EXAMPLE), str(ROOT / "tests")]

import package_graph  # noqa: E402
import top  # noqa: E402
from own_folder import OwnFolder  # noqa: E402

PACKAGES = """\
Package: editor
Version: 1.0
Architecture: amd64
Depends: libc (>= 2.3), mail-agent,
 spell-nowhere | spell:any (>= 1),
 editor
Pre-Depends: base
Description: edits
 continued: Depends: ghost

Package: base
Architecture: all

Package: libc
Architecture: amd64
Depends: base (>= 1) | editor, ghost

Package: zmail
Architecture: amd64
Provides: mail-agent (= 2.0), other
Depends: libc [amd64]

Package: amail
Architecture: amd64
Provides: mail-agent

Package: spell
Architecture: all

Package: libc
Architecture: amd64
Depends: zmail

Package: foreign
Architecture: i386
Depends: libc
"""


def graph_of(text):
    packages = package_graph.one_architecture(package_graph.read_packages(text.splitlines()))
    return package_graph.build_graph(packages)


def npy(values, kind="<f8", version=1, shape=None):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape or (len(values),)}, }}"
    header = header.ljust(128 - 10 - 1) + "\n"
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + size + header.encode() + array.array("d", values).tobytes()


class TheGraph(unittest.TestCase):
    def setUp(self):
        self.graph = graph_of(PACKAGES)
        self.named = {(self.graph.names[u], self.graph.names[v]) for u, v in self.graph.edges}

    def test_nodes_are_the_packages_of_one_architecture_in_alphabetical_order(self):
        self.assertEqual(self.graph.names, ["amail", "base", "editor", "libc", "spell", "zmail"])

    def test_edges_follow_every_rule(self):
        self.assertEqual(
            self.named,
            {
                ("editor", "libc"),
                ("editor", "amail"),  # of the providers of mail-agent, the first in alphabetical order
                ("editor", "spell"),  # the first alternative does not exist
                ("editor", "base"),  # Pre-Depends
                ("libc", "base"),  # the first alternative exists
                ("zmail", "libc"),
            },
        )

    def test_edges_ascend_and_occur_once(self):
        self.assertEqual(self.graph.edges, sorted(set(self.graph.edges)))

    def test_names_that_nothing_provides_are_counted(self):
        self.assertEqual(self.graph.unresolved, 1)  # libc's "ghost"; editor's is part of a description

    def test_the_first_stanza_of_a_package_counts(self):
        self.assertNotIn(("libc", "zmail"), self.named)

    def test_the_order_of_the_stanzas_does_not_matter(self):
        stanzas = [stanza for stanza in PACKAGES.split("\n\n") if "Depends: zmail" not in stanza]
        self.assertEqual(graph_of("\n\n".join(reversed(stanzas))), graph_of("\n\n".join(stanzas)))


class TheFiles(OwnFolder):
    def run_script(self, script, *arguments, expected=0):
        return self.call(sys.executable, EXAMPLE / script, *arguments, expected=expected)

    def test_the_edge_list_announces_isolated_packages_and_the_names_follow_its_numbers(self):
        self.write(PACKAGES, "Packages")
        self.run_script("package_graph.py", "--packages", "Packages", "--output", "out")
        lines = (self.folder / "out" / "packages.txt").read_text(encoding="ascii").splitlines()
        self.assertEqual(lines[1], "# Nodes: 6 Edges: 6")
        self.assertEqual(lines[2:], ["2 0", "2 1", "2 3", "2 4", "3 1", "5 3"])
        names = (self.folder / "out" / "packages.names").read_text(encoding="utf-8").splitlines()
        self.assertEqual(names[3], "libc")

    def test_a_file_without_packages_is_refused_in_one_line(self):
        self.write("nothing here\n", "empty")
        for path in (self.folder / "empty", self.folder / "absent"):
            run = self.run_script("package_graph.py", "--packages", path, "--output", self.folder, expected=1)
            self.assertIn(path.name, run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)

    def test_the_table_shows_the_highest_first_and_ties_by_row(self):
        (self.folder / "x.npy").write_bytes(npy([0.1, 0.4, 0.1, 0.4]))
        self.write("a\nb\nc\nd\n", "names")
        run = self.run_script("top.py", "x.npy", "names", "--count", 3)
        rows = [line.split() for line in run.stdout.splitlines()[1:]]
        self.assertEqual(rows, [["1", "b", "0.400000"], ["2", "d", "0.400000"], ["3", "a", "0.100000"]])

    def test_names_of_another_graph_are_refused(self):
        (self.folder / "x.npy").write_bytes(npy([0.1, 0.4]))
        self.write("a\n", "names")
        run = self.run_script("top.py", "x.npy", "names", expected=1)
        self.assertIn("2 ranks", run.stderr)

    def test_both_versions_of_the_npy_header_are_read(self):
        for version in (1, 2):
            (self.folder / "x.npy").write_bytes(npy([1.5, -2.0], version=version))
            self.assertEqual(list(top.read_npy(self.folder / "x.npy")), [1.5, -2.0])

    def test_what_is_no_vector_of_doubles_is_refused(self):
        bad = {
            "magic": b"x" * 200,
            "short": npy([1.0, 2.0])[:-8],
            "type": npy([1.0], kind="<f4"),
            "shape": npy([1.0, 2.0], shape=(1, 2)),
            "header": b"\x93NUMPY\x01\x00\x04\x00oops",
            "empty": b"",
        }
        for name, content in bad.items():
            with self.subTest(name):
                (self.folder / "x.npy").write_bytes(content)
                with self.assertRaises(top.NpyError):
                    top.read_npy(self.folder / "x.npy")


# Stands in for the program: records how it is called, and exports a prepared file.
RINGSIDE = """#!/bin/bash
echo "$*" >>"$NOTES"
[[ $1 == run && -n ${FAIL:-} ]] && exit "$FAIL"
[[ $1 == export ]] && cp "$RANKS" "${@: -1}"
exit 0
"""


class TheWholeExample(OwnFolder):
    def setUp(self):
        super().setUp()
        self.folder = self.folder / "with a blank"
        self.folder.mkdir()
        self.write(RINGSIDE, "ringside")
        (self.folder / "ringside").chmod(0o755)
        (self.folder / "ranks").write_bytes(npy([0.1, 0.4, 0.05, 0.3, 0.1, 0.05]))
        self.write(PACKAGES, "Packages")

        for name, file in (("RINGSIDE", "ringside"), ("PACKAGES", "Packages"), ("NOTES", "notes"), ("RANKS", "ranks")):
            self.environment[name] = str(self.folder / file)

    def run_example(self, expected=0, **environment):
        return self.call(EXAMPLE / "run.sh", self.folder / "work", expected=expected, **environment)

    def test_graph_run_export_and_table_follow_each_other_twice_in_a_row(self):
        for _ in range(2):
            self.assertIn("1  base", self.run_example().stdout)
        work = self.folder / "work"
        self.assertEqual((self.folder / "notes").read_text(encoding="utf-8").splitlines()[:2], [
            f"run --matrix {work}/packages.txt --tolerance 1e-12 --pool {work}/packages.pool --overwrite "
            f"--summary {work}/packages.json",
            f"export {work}/packages.pool --iteration last --format npy --output {work}/packages.npy"])

    def test_a_failed_run_ends_the_example_with_its_exit_code(self):
        self.run_example(FAIL="4", expected=4)

    def test_a_program_that_is_not_there_is_named(self):
        self.assertIn("/no/such/ringside", self.run_example(RINGSIDE="/no/such/ringside", expected=3).stderr)


if __name__ == "__main__":
    unittest.main()
