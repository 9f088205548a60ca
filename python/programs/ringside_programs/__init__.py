# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the wheel ringside-insitu: each executes the program with its name in ringside/_prefix/bin. This
module is not a part of the package ringside, which imports NumPy, so that a command starts as fast as an empty Python
program."""

import os
import sys

PREFIX = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "ringside", "_prefix")


def main():
    program = os.path.join(PREFIX, "bin", os.path.basename(sys.argv[0]))
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{sys.argv[0]}: {program}: {error.strerror}; expected the program: pip install --force-reinstall ringside-insitu")
