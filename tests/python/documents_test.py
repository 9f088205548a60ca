# SPDX-License-Identifier: BSD-3-Clause
"""docs/publish/python.md: the programs of the page run in their order, and must print what the page shows."""

import pathlib
import re
import shlex
import sys

import pipelines

pipelines.modules_or_skip("numpy", "scipy", "ringside")

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "publish" / "python.md"


class Page(pipelines.Pipelines):
    def test_every_program_of_the_page_prints_what_the_page_shows(self):
        commands = 0
        page = PAGE.read_text(encoding="utf-8")
        for kind, block in re.findall(r"^```(python|console)\n(.*?)^```$", page, re.M | re.S):
            if kind == "python":
                name = block.split("\n", 1)[0].removeprefix("# ")
                self.assertTrue(name.endswith(".py"), block)
                (self.folder / name).write_text(block, encoding="utf-8")
                continue
            command, _, shown = block.partition("\n")
            words = [sys.executable if word == "python3" else word for word in shlex.split(command.removeprefix("$ "))]
            if words[0] == "ringside":
                words[0] = pipelines.BIN / "ringside"
            with self.subTest(command):
                code, output, error = self.call(*words)
                self.assertEqual(code, 0, error)
                commands += 1
                self.compare((output + error).splitlines(), shown.splitlines())
        self.assertGreaterEqual(commands, 5)
        if pipelines.has_module("xarray") and pipelines.has_module("dask"):  # this output depends on their releases
            code, output, error = self.call(sys.executable, "dataset.py")
            self.assertEqual((code, output.split("\n", 1)[0].split()[1:]), (0, ["K"]), error)

    def compare(self, printed, shown):
        """Expects that each shown line was printed, in this order. Without "..." between them, the lines must follow
        each other directly."""
        place, free = 0, False
        for line in shown:
            if line == "...":
                free = True
                continue
            if free:
                self.assertIn(line, printed[place:])
                place = printed.index(line, place)
            self.assertEqual(printed[place:place + 1], [line])
            place, free = place + 1, False


if __name__ == "__main__":
    pipelines.run_tests()
