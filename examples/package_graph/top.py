#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the highest entries of an exported iterate with their names. Reads a .npy file and a file of names."""

import argparse
import array
import ast
import heapq
import pathlib
import struct
import sys
from typing import List, Sequence, Tuple


class NpyError(Exception):
    """Raised for a file that `read_npy` cannot read. Its text is one line."""


def read_npy(path: pathlib.Path) -> Sequence[float]:
    """Reads a one-dimensional array of little-endian doubles (NumPy's format, versions 1 to 3) without NumPy."""
    data = path.read_bytes()
    if data[:6] != b"\x93NUMPY" or len(data) < 12:
        raise NpyError(f"{path} is not a .npy file")
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
        raise NpyError(f"{path} holds {kind} of shape {shape}; expected one dimension of doubles (<f8)")
    body = data[begin + length:]
    if len(body) != 8 * shape[0]:
        raise NpyError(f"{path}: its header announces {shape[0]} doubles, but {len(body)} bytes follow")
    values = array.array("d")
    values.frombytes(body)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def top(ranks: Sequence[float], names: Sequence[str], count: int) -> List[Tuple[str, float]]:
    """The `count` largest ranks with their names, largest first. Equal ranks keep the order of their rows."""
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
    parser.add_argument("names", type=pathlib.Path, help="file with one name per line, in the order of the rows")
    parser.add_argument("--count", type=int, default=10, help="number of names (default 10)")
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
