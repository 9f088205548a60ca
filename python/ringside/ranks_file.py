# SPDX-License-Identifier: BSD-3-Clause
"""Reads the ranks file beside a pool of an MPI run (docs/formats/files.md); refuses an inconsistent file."""

from __future__ import annotations

import json
import os
import pathlib
import re
from dataclasses import dataclass
from typing import Any

from .errors import NoFileError, ResourceError, UsageError
from .variables import DTYPES, ROLES, Variable

ENDING = ".ranks"
_MOST_BYTES = 256 << 20

Box = tuple[tuple[int, ...], tuple[int, ...]]  # offset, extent


@dataclass(frozen=True)
class NodeOfFile:
    """A node, as the file describes it."""

    host: str
    pool: str
    ranks: tuple[int, ...]
    boxes: dict[str, list[Box]]
    """For each variable, the boxes of the node's ranks, in the order of the ring. A replicated variable has no key."""

    @property
    def name(self) -> str:
        """The node's ranks, as in the messages of Ringside's programs."""
        first, last = self.ranks[0], self.ranks[-1]
        if len(self.ranks) == 1:
            return f"rank {first}"
        return f"ranks {first} to {last}" if last - first + 1 == len(self.ranks) else f"ranks {first}, ... {last}"


@dataclass(frozen=True)
class RanksFile:
    """The content of a ranks file."""

    path: str
    run_id: str
    node: int
    variables: dict[str, Variable]
    """The variables, with their shapes in the whole run."""
    nodes: list[NodeOfFile]


def read_ranks(path: str) -> RanksFile:
    """Reads a ranks file. Raises NoFileError, ResourceError, or UsageError for an inconsistent file."""
    try:
        if os.path.getsize(path) > _MOST_BYTES:
            raise UsageError(f"{path}: expected a ranks file of at most {_MOST_BYTES} bytes (docs/formats/files.md)")
        content = pathlib.Path(path).read_bytes()
    except FileNotFoundError:
        raise NoFileError(f"{path}: there is no such file, expected a ranks file (docs/formats/files.md)") from None
    except OSError as error:
        raise ResourceError(f"{path}: {error.strerror}; expected a ranks file (docs/formats/files.md)") from None
    try:
        return _parsed(path, json.loads(content))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: found an inconsistent ranks file: {error} (docs/formats/files.md)") from None


def _parsed(path: str, whole: Any) -> RanksFile:
    if not isinstance(whole, dict) or whole.get("ringside_ranks") != 1:
        raise ValueError('expected an object with "ringside_ranks": 1')
    if not re.fullmatch("[0-9a-f]{32}", whole["run_id"]):
        raise ValueError("run_id: expected 32 hexadecimal digits")
    variables = {}
    for one in whole["variables"]:
        if one["dtype"] not in DTYPES or one["role"] not in ROLES or one["name"] in variables:
            raise ValueError(f"variable {one['name']!r}: expected a known dtype and role, and a unique name")
        shape = _numbers(one["shape"])
        if 0 in shape or not isinstance(one["name"], str) or not isinstance(one["unit"], str):
            raise ValueError(f"variable {one['name']!r}: found shape {shape}, unit {one['unit']!r}; expected at least 1 in each "
                             "dimension, and texts as name and unit")
        variables[one["name"]] = Variable(one["dtype"], shape, one["role"], one["unit"])
    nodes: list[NodeOfFile] = []
    for index, node in enumerate(whole["nodes"]):
        if node["node"] != index:
            raise ValueError(f"nodes[{index}]: found node {node['node']}, expected node {index}")
        nodes.append(_node_of(node, variables))
    own = _numbers([whole["node"]])[0]
    ranks = sorted(rank for node in nodes for rank in node.ranks)
    if ranks != list(range(len(ranks))) or not nodes or own >= len(nodes):
        raise ValueError(f"found {len(nodes)} nodes with the ranks {ranks[:16]}; expected each rank from 0 on once")
    for name, variable in variables.items():
        check_cover(name, variable, nodes)
    return RanksFile(path, whole["run_id"], own, variables, nodes)


def _node_of(node: dict[str, Any], variables: dict[str, Variable]) -> NodeOfFile:
    boxes: dict[str, list[Box]] = {}
    for rank in node["ranks"]:
        if len(rank["boxes"]) != len(variables):
            raise ValueError(f"rank {rank['rank']}: found {len(rank['boxes'])} boxes, expected {len(variables)}")
        for (name, variable), box in zip(variables.items(), rank["boxes"]):
            if box is None:
                continue
            offset, extent = _numbers(box["offset"]), _numbers(box["extent"])
            if not len(offset) == len(extent) == len(variable.shape) > 0 or any(
                    begin + count > most for begin, count, most in zip(offset, extent, variable.shape)):
                raise ValueError(f"rank {rank['rank']}: variable {name!r}: found a box of offset {offset} extent {extent}; "
                                 f"expected one within {list(variable.shape)}")
            boxes.setdefault(name, []).append((offset, extent))
    if any(len(of_ranks) != len(node["ranks"]) for of_ranks in boxes.values()) or not node["ranks"]:
        raise ValueError("a variable is replicated on some ranks only")
    for name, of_ranks in boxes.items():
        if all(0 in extent for _, extent in of_ranks):
            raise ValueError(f"node {node['node']}: none of its ranks has an entry of variable {name!r}")
    return NodeOfFile(str(node["host"]), str(node["pool"]), _numbers([rank["rank"] for rank in node["ranks"]]), boxes)


def check_cover(name: str, variable: Variable, nodes: list[NodeOfFile]) -> None:
    """Raises ValueError if boxes of ranks overlap, or if the boxes of all ranks do not cover the whole variable."""
    distributed = [name in node.boxes for node in nodes]
    if not any(distributed):
        return
    if not all(distributed):
        raise ValueError(f"variable {name!r}: it is replicated on some ranks only")
    boxes = sorted(box for node in nodes for box in node.boxes[name] if 0 not in box[1])
    covered = 0
    opened: list[Box] = []  # the boxes that extend to the first row of the next box
    for offset, extent in boxes:
        opened = [box for box in opened if box[0][0] + box[1][0] > offset[0]]
        for other, its in opened:
            if all(a < b + n and b < a + m for a, m, b, n in zip(offset, extent, other, its)):
                raise ValueError(f"variable {name!r}: boxes overlap: offset {other} extent {its}, offset {offset} extent {extent}")
        opened.append((offset, extent))
        covered += _product(extent)
    if covered != _product(variable.shape):
        raise ValueError(f"variable {name!r}: the boxes of all ranks cover {covered} of its {_product(variable.shape)} entries")


def kept_shape(boxes: list[Box], whole: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a variable in a node's ring: rows, if the node's ranks have whole and consecutive rows; otherwise the number
    of entries."""
    rows = _are_rows([box for box in boxes if 0 not in box[1]], whole)
    entries = sum(_product(extent) for _, extent in boxes)
    return (entries // _product(whole[1:]), *whole[1:]) if rows else (entries,)


def regions_pattern(variables: dict[str, Variable], boxes: dict[str, list[Box]]) -> str:
    """A pattern for the end of the parameters of a node's run, which says which entries of the variables the node keeps. If there
    are many boxes, the parameters have a hash of them; the pattern accepts any hash."""
    regions = []
    for name, variable in variables.items():
        shape = "[" + ",".join(map(str, variable.shape)) + "]" if variable.shape else ""
        words = [name, variable.dtype + shape, variable.unit, "state" if variable.role == "state" else ""]
        regions.append(re.escape(" ".join(word for word in words if word) + ": ")
                       + (_region_pattern(boxes[name], variable.shape) if name in boxes else "replicated"))
    return re.escape("; ").join(regions)


def _region_pattern(boxes: list[Box], whole: tuple[int, ...]) -> str:
    filled = [box for box in boxes if 0 not in box[1]]
    kept = kept_shape(boxes, whole)
    if _are_rows(filled, whole):
        return f"rows {filled[0][0][0]} to {filled[0][0][0] + kept[0] - 1}"
    if len(filled) > 2:
        return rf"{len(filled)} boxes \([0-9a-f]{{16}}\)"
    texts = ("offset [{}] extent [{}]".format(*(",".join(map(str, numbers)) for numbers in box)) for box in filled)
    return re.escape("; ".join(texts))


def _are_rows(filled: list[Box], whole: tuple[int, ...]) -> bool:
    return all(extent[1:] == whole[1:] for _, extent in filled) and all(
        after[0][0] == before[0][0] + before[1][0] for before, after in zip(filled, filled[1:]))


def _numbers(given: Any) -> tuple[int, ...]:
    for number in given:
        if type(number) is not int or not 0 <= number < 2**64:
            raise ValueError(f"found {number!r}, expected a whole number")
    return tuple(given)


def _product(numbers: tuple[int, ...]) -> int:
    product = 1
    for number in numbers:
        product *= number
    return product
