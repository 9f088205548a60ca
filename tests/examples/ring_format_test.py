# SPDX-License-Identifier: BSD-3-Clause
"""The worked example of docs/formats/ring_format.md: its commands make the pool, and its program must print what the
page shows."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "formats" / "ring_format.md"


class WorkedExample(unittest.TestCase):
    def test_the_page_shows_what_its_program_prints(self):
        example = PAGE.read_text(encoding="utf-8").split("## 9. A worked example")[1]
        blocks = re.findall(r"```(\w*)\n(.*?)```", example, re.DOTALL)
        commands = blocks[0][1].replace("ringside run", f"'{BIN}/ringside' run --quiet")
        program = next(text for language, text in blocks if language == "python")
        shown = blocks[-1][1]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["sh", "-ec", commands], cwd=folder, check=True)
            read = [sys.executable, "-c", program, "triangle.pool"]
            printed = subprocess.run(read, cwd=folder, check=True, capture_output=True, text=True).stdout
            self.assertEqual(printed, shown)
            # The bytes that do not change from run to run.
            pool = (pathlib.Path(folder) / "triangle.pool").read_bytes()
        for offset, shown_bytes in re.findall(r"^([0-9a-f]{6})  ((?:[0-9a-f]{2} )+)", example, re.MULTILINE):
            if offset in ("383010", "383060", "383070", "6c33d0", "6c33e0", "6c33f0"):  # hashes, ids, the time
                continue
            at = int(offset, 16)
            expected = bytes.fromhex(shown_bytes)
            self.assertEqual(pool[at : at + len(expected)], expected, f"at 0x{offset}")


if __name__ == "__main__":
    BIN = sys.argv.pop(1)
    unittest.main()
