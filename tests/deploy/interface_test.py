# SPDX-License-Identifier: BSD-3-Clause
"""The interface of libringside: ringside.h compiles with every C and C++ standard that users have, the library exports
and needs only what it should, the Fortran module has the header's numbers, and there is no incompatible change since
library/abi was written. Argument: the build folder; or --write, which writes library/abi again (each release does this
once)."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from own_folder import OwnFolder  # noqa: E402

HEADER = ROOT / "include" / "ringside.h"
ABI = ROOT / "library" / "abi"
COMPILERS = [name for name in ("gcc", "g++", "clang", "clang++") if shutil.which(name)]


def call(*command, expected=0):
    run = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, encoding="utf-8", timeout=120, check=False)
    if expected is not None and run.returncode != expected:
        raise AssertionError(f"{command}: status {run.returncode}\n{run.stdout}")
    return run


def declared():
    """The functions that the header declares."""
    return sorted(re.findall(r"^RINGSIDE_API [^(]*?(ringside_\w+)\(", HEADER.read_text(encoding="utf-8"), re.MULTILINE))


def constants(folder):
    """Every constant of the header with its value, as lines "NAME value"."""
    text = HEADER.read_text(encoding="utf-8")
    names = [*re.findall(r"^ +(RINGSIDE_\w+) = ", text, re.MULTILINE),
             *(name for name in re.findall(r"^#define (RINGSIDE_\w+) ", text, re.MULTILINE) if name not in ("RINGSIDE_API", "RINGSIDE_INTERFACE"))]
    source = folder / "constants.c"
    source.write_text("#include <stdio.h>\n#include <ringside.h>\nint main(void) {\n" + "".join(
        f'  printf("%s %lld\\n", "{name}", (long long)({name}));\n' for name in names) + "}\n", encoding="utf-8")
    call("gcc", f"-I{HEADER.parent}", "-o", folder / "constants", source)
    return call(folder / "constants").stdout


def described(folder):
    """The description that abidw gives of a C library that defines each declared function. A description of libringside
    itself would contain thousands of C++ types that no user sees."""
    body, count = re.subn(r"^RINGSIDE_API ([^;{]*);", r"\1 { __builtin_trap(); }", HEADER.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert count == len(declared()), (count, declared())
    source = folder / "interface.c"
    source.write_text(body, encoding="utf-8")
    call("gcc", "-std=c11", "-w", "-g", "-fPIC", "-shared", "-Wl,-soname,libringside.so.0", "-o", folder / "interface.so", source)
    return folder / "interface.so"


def describe(library, file):
    call("abidw", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--type-id-style", "hash", "--out-file", file, library)


def members(description):
    """(struct, member, bit offset, type) of every member of every struct in a description by abidw."""
    tree = xml.etree.ElementTree.parse(description)
    # Only newer versions of abidw also write the sizes of typedefs and pointers. The name and the next offset are
    # enough.
    types = {node.get("id"): (node.tag, node.get("name"), None if node.tag in ("typedef-decl", "pointer-type-def") else node.get("size-in-bits"))
             for node in tree.iter() if node.get("id")}
    return {(struct.get("name"), member.find("var-decl").get("name"), int(member.get("layout-offset-in-bits")),
             *types[member.find("var-decl").get("type-id")])
            for struct in tree.iter("class-decl") for member in struct.iter("data-member")}


class Header(OwnFolder):
    def test_it_compiles_without_a_warning_as_c_and_cpp(self):
        (self.folder / "own.c").write_text("#include <ringside.h>\nint main(void) { return (int)ringside_interface() - RINGSIDE_INTERFACE; }\n",
                                           encoding="utf-8")
        for compiler in COMPILERS:
            for standard in ("c++11", "c++17", "c++20") if "++" in compiler else ("c99", "c11", "c17"):
                with self.subTest(compiler, standard=standard):
                    language = "c++" if "++" in compiler else "c"
                    call(compiler, f"-std={standard}", "-x", language, "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wundef",
                         "-Werror", f"-I{HEADER.parent}", "-c", self.folder / "own.c", "-o", self.folder / "own.o")

    def test_the_header_of_cpp_compiles_without_a_warning(self):
        (self.folder / "own.cpp").write_text("#include <ringside.hpp>\nint main() { ringside::Reader(\"pool\").steps(); }\n", encoding="utf-8")
        for compiler in (name for name in COMPILERS if "++" in name):
            with self.subTest(compiler):
                call(compiler, "-std=c++20", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", f"-I{HEADER.parent}",
                     "-c", self.folder / "own.cpp", "-o", self.folder / "own.o")

    def test_the_faces_for_cpp_and_fortran_have_every_function(self):
        # docs/publish/library.md explains why these functions have no counterpart.
        without = {"cpp": {"ringside_version", "ringside_interface", "ringside_dtype_bytes", "ringside_catch_bus_errors"},
                   "fortran": {"ringside_variable_bytes", "ringside_reader_find_variable"}}
        sources = {"cpp": sorted((HEADER.parent / "ringside").glob("*.hpp")), "fortran": [MODULE]}
        calls = {"cpp": r"\b(ringside_\w+)\b", "fortran": r"bind\(c, name='(ringside_\w+)'\)"}
        for face in sources:
            with self.subTest(face):
                named = re.findall(calls[face], "".join(path.read_text(encoding="utf-8") for path in sources[face]))
                self.assertEqual(set(declared()) - set(named), without[face])

    def test_the_fortran_module_has_its_numbers(self):
        numbers = dict(line.split() for line in constants(self.folder).splitlines())
        module = MODULE.read_text(encoding="utf-8")
        found = dict(re.findall(r"\b(RINGSIDE_[A-Z0-9_]+) = (-?\d+)", module))
        self.assertGreater(len(found), 30)
        self.assertEqual({name: value for name, value in found.items() if numbers.get(name) != value}, {})


class Library(unittest.TestCase):
    def test_it_exports_the_declared_functions_and_nothing_else(self):
        exported = re.findall(r" ([A-Z]) (\S+)", call("nm", "-D", "--defined-only", LIBRARY).stdout)
        self.assertEqual(sorted(exported), sorted([("A", "RINGSIDE_0"), *(("T", f"{name}@@RINGSIDE_0") for name in declared())]))

    def test_the_version_script_names_each_of_them(self):
        # If the script contained a pattern, a program that needs a later library would start, and fail at its first
        # call.
        script = (ROOT / "library" / "ringside.map").read_text(encoding="utf-8")
        self.assertEqual(sorted(re.findall(r"^ +(ringside_\w+);", script, re.MULTILINE)), declared())

    def test_it_needs_the_run_time_libraries_of_c_and_cpp_only(self):
        dynamic = call("readelf", "-dW", LIBRARY).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        self.assertIn("libc.so.6", needed)
        self.assertLessEqual(needed, {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"})
        self.assertRegex(dynamic, r"\(SONAME\).*\[libringside\.so\.0\]")
        self.assertNotRegex(dynamic, "RPATH|RUNPATH|TEXTREL")


class Compatibility(OwnFolder):
    def test_no_function_or_struct_changed_but_by_growing(self):
        run = call("abidiff", "--no-added-syms", "--suppressions", ABI / "growth.suppr", ABI / "libringside.so.0.abi",
                   described(self.folder), expected=None)
        self.assertEqual(run.returncode, 0, f"ringside.h is not compatible with the interface kept in library/abi:\n{run.stdout}")

    def test_a_struct_keeps_the_place_and_type_of_each_member(self):
        # abidiff accepts every change of a struct, if the struct also grows.
        describe(described(self.folder), self.folder / "now.abi")
        before, now = members(ABI / "libringside.so.0.abi"), members(self.folder / "now.abi")
        self.assertGreater(len(before), 50)
        self.assertEqual(sorted(before - now), [])

    def test_no_constant_changed(self):
        before = set((ABI / "constants").read_text(encoding="utf-8").splitlines())
        self.assertEqual(before - set(constants(self.folder).splitlines()), set())


def write():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (ABI / "constants").write_text(constants(folder), encoding="utf-8")
        describe(described(folder), ABI / "libringside.so.0.abi")


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write()
    else:
        build = pathlib.Path(sys.argv.pop(1))
        LIBRARY = build / "lib" / "libringside.so.0"
        MODULE = build / "library" / "ringside.f90"
        unittest.main()
