# SPDX-License-Identifier: BSD-3-Clause
"""The structs of ringside.f90 must have the same members as those of ringside.h, at the same offsets. A C program
prints the offsets in the header's structs; this test computes the offsets in the module's structs itself, so it needs
no Fortran compiler. Argument: the build folder."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
MODULE = (pathlib.Path(sys.argv.pop(1)) / "library" / "ringside.f90").read_text(encoding="utf-8")
BYTES = {"integer(c_int8_t)": 1, "integer(c_int16_t)": 2, "integer(c_int32_t)": 4, "integer(c_int64_t)": 8, "integer(c_size_t)": 8,
         "real(c_double)": 8, "type(c_ptr)": 8, "character(kind=c_char)": 1}


def extent(text):
    return int(text) if text.isdigit() else int(re.search(rf"\b{text} = (\d+)", MODULE)[1])


def structs_of_the_module():
    """{struct: ([(member, offset)], size)}, with the offsets that a C compiler would give the components."""
    found = {}
    for name, body in re.findall(r"^  type,(?: public,)? bind\(c\) :: (\w+)\n(.*?)^  end type", MODULE, re.MULTILINE | re.DOTALL):
        members, end, widest = [], 0, 1
        for kind, declared in re.findall(r"^ +([\w=(]+\)) :: (.*)$", body, re.MULTILINE):
            for member, count in re.findall(r"(\w+)(?:\((\w+)\))? = [^,]+", declared):
                size = BYTES[kind]
                end = -(-end // size) * size
                members.append((member, end))
                end += size * (extent(count) if count else 1)
                widest = max(widest, size)
        found[re.sub("^c_", "ringside_", name)] = (members, -(-end // widest) * widest)
    return found


class Structs(unittest.TestCase):
    def test_members_places_and_sizes_are_those_of_the_header(self):
        structs = structs_of_the_module()
        self.assertEqual(set(re.findall(r"typedef struct (\w+) \{", (INCLUDE / "ringside.h").read_text(encoding="utf-8"))), set(structs))
        lines = []
        for struct, (members, _) in structs.items():
            lines += [f'printf("{struct} {member} %zu\\n", offsetof({struct}, {member}));' for member, _ in members]
            lines.append(f'printf("{struct} sizeof %zu\\n", sizeof({struct}));')
        with tempfile.TemporaryDirectory() as name:
            source = pathlib.Path(name) / "places.c"
            source.write_text("#include <stddef.h>\n#include <stdio.h>\n#include <ringside.h>\nint main(void) {\n" + "\n".join(lines) + "\n}\n",
                              encoding="utf-8")
            subprocess.run(["gcc", f"-I{INCLUDE}", "-o", source.with_suffix(""), source], check=True)
            printed = subprocess.run([source.with_suffix("")], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
        expected = [f"{struct} {member} {place}" for struct, (members, size) in structs.items()
                    for member, place in [*members, ("sizeof", size)]]
        self.assertGreater(len(expected), 50)
        self.assertEqual(expected, printed.splitlines())


if __name__ == "__main__":
    unittest.main()
