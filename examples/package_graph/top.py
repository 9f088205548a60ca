#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The highest entries of an exported iterate, with their names: reads a .npy file of doubles and a file of names."""

import argparse
import array
import ast
import heapq
import pathlib
import struct
import sys
from typing import List, Sequence, Tuple


class NpyError(Exception):
    """The file is not what `read_npy` can read; the text is one line."""


def read_npy(path: pathlib.Path) -> Sequence[float]:
    """A one-dimensional array of little-endian doubles (NumPy's format, versions 1 to 3), without NumPy."""
    data = path.read_bytes()
    if data[:6] != b"\x93NUMPY" or len(data) < 12:
        raise NpyError(f"{path} is no .npy file")
    if data[6] == 1:
        (length,), begin = struct.unpack_from("<H", data, 8), 10
    else:
        (length,), begin = struct.unpack_from("<I", data, 8), 12
    try:
        header = ast.literal_eval(data[begin:begin + length].decode("latin-1").strip())
        kind, shape = header["descr"], tuple(header["shape"])
    except (ValueError, SyntaxError, KeyError, TypeError):
        raise NpyError(f"{path}: its header cannot be read") from None
    if kind != "<f8" or len(shape) != 1:
        raise NpyError(f"{path} holds {kind} of shape {shape}; one dimension of doubles (<f8) is wanted")
    body = data[begin + length:]
    if len(body) != 8 * shape[0]:
        raise NpyError(f"{path}: {shape[0]} doubles are announced, {len(body)} bytes follow")
    values = array.array("d")
    values.frombytes(body)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def top(ranks: Sequence[float], names: Sequence[str], count: int) -> List[Tuple[str, float]]:
    """The `count` largest, largest first; equal ranks in the order of their rows."""
    best = heapq.nsmallest(count, range(len(ranks)), key=lambda row: (-ranks[row], row))
    return [(names[row], ranks[row]) for row in best]


def table(entries: Sequence[Tuple[str, float]]) -> str:
    width = max([len("package")] + [len(name) for name, _ in entries])
    lines = [f"{'':>4}  {'package':<{width}}  {'rank':>11}"]
    lines += [f"{place:>4}  {name:<{width}}  {rank:>11.6f}" for place, (name, rank) in enumerate(entries, 1)]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints the highest-ranked names.")
    parser.add_argument("ranks", type=pathlib.Path, help="exported iterate (.npy)")
    parser.add_argument("names", type=pathlib.Path, help="one name a line, in the order of the rows")
    parser.add_argument("--count", type=int, default=10, help="how many (10)")
    arguments = parser.parse_args()
    try:
        ranks = read_npy(arguments.ranks)
        names = arguments.names.read_text(encoding="utf-8").splitlines()
    except (OSError, NpyError) as error:
        sys.exit(f"top.py: {error}")
    if len(names) != len(ranks):
        sys.exit(f"top.py: {arguments.ranks} holds {len(ranks)} ranks and {arguments.names} {len(names)} names; "
                 "they belong to different graphs")
    print(table(top(ranks, names, arguments.count)))


if __name__ == "__main__":
    main()
