# SPDX-License-Identifier: BSD-3-Clause
"""docs/use/operations.md as a program: the commands of its sections, in their order."""

import pathlib
import re

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "use" / "operations.md"


class Guide:
    """The page's sections by their headings. A section's commands are those of its blocks marked sh."""

    def __init__(self, text=None):
        self._blocks, self._run = {}, set()
        section = None
        in_block = None
        for line in (text if text is not None else GUIDE.read_text(encoding="utf-8")).splitlines():
            if in_block is not None:
                if line == "```":
                    self._blocks.setdefault(section, []).append("\n".join(in_block))
                    in_block = None
                else:
                    in_block.append(line)
            elif line == "```sh":
                in_block = []
            elif match := re.fullmatch(r"## (.*)", line):
                section = match.group(1)

    def commands_of(self, section):
        """Returns the section's blocks, which must be run one after another, and records that they are run."""
        self._run.add(section)
        return self._blocks[section]

    def matrix(self):
        """The matrix of the job that the page's commands configure."""
        return re.search(r'^matrix = "(.*)"$', "\n".join(self._blocks["Configure"]), re.MULTILINE).group(1)

    def not_run(self):
        """The sections with commands that commands_of() has never returned."""
        return [section for section in self._blocks if section not in self._run]
