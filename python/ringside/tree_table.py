# SPDX-License-Identifier: BSD-3-Clause
"""Reads the variable tree.table of a pool: the JSON that describes a tree of packed arrays, as nodes (tree_nodes.py)."""

from __future__ import annotations

import ast
import collections
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from .tree_nodes import BITS, FORMAT, LONG_INT_BYTES, NUMBERS, Branch, Fixed, Leaf, Own
from .variables import Variable


def _dtype_of(node: Mapping[str, Any]) -> np.dtype[Any]:
    text = node["dtype"]
    if "bytes" not in node:
        dtype: np.dtype[Any] = np.dtype(FORMAT.descr_to_dtype(ast.literal_eval(text) if text[0] in "[(" else text))
        if dtype.hasobject:
            raise ValueError(f"{text} has objects")
        return dtype
    try:
        import ml_dtypes

        kind: Any = getattr(ml_dtypes, text)
    except (ImportError, AttributeError):  # without ml_dtypes or this type, the array contains the bits
        kind = f"<u{node['bytes']}"
    found: np.dtype[Any] = np.dtype(kind)
    return found


def node_of_table(node: Any, variables: Mapping[str, Variable]) -> Any:
    if node is None:
        return Fixed(None)
    if "text" in node:
        return Fixed(str(node["text"]))
    if "variable" in node:
        if node["variable"] not in variables:
            raise KeyError(node["variable"])
        return Own(node["variable"])
    if "in" in node:
        return _leaf_of_table(node, variables)
    form = next(form for form in ("dict", "list", "tuple", "namedtuple") if form in node)
    entries = [node_of_table(entry[1] if form == "dict" else entry, variables) for entry in node[form]]
    if form == "dict":
        keys = [key for key, _ in node["dict"]]
        kind = collections.OrderedDict if node.get("name") == "OrderedDict" else dict
        return Branch(form, keys, entries, lambda made: kind(zip(keys, made)))
    if form == "namedtuple":
        cls = _namedtuple(node["name"], tuple(node["fields"]))
        if len(cls._fields) != len(entries):
            raise ValueError(f"{len(entries)} entries for {cls._fields}")
        return Branch(form, list(cls._fields), entries, lambda made: cls(*made), node["name"])
    return Branch(form, list(range(len(entries))), entries, list if form == "list" else tuple)


@functools.cache
def _namedtuple(name: str, fields: tuple[str, ...]) -> Any:
    """The class of the named tuples that are read. They are pickled by name and fields, because no module has the class."""
    def reduced(made: tuple[Any, ...]) -> tuple[Any, ...]:
        return _named, (name, fields, tuple(made))

    cls: Any = collections.namedtuple(name, fields, rename=True)  # type: ignore[misc]
    setattr(cls, "__reduce__", reduced)
    return cls


def _named(name: str, fields: tuple[str, ...], entries: tuple[Any, ...]) -> Any:
    return _namedtuple(name, fields)(*entries)


def _leaf_of_table(node: Mapping[str, Any], variables: Mapping[str, Variable]) -> Leaf:
    shape = tuple(int(extent) for extent in node["shape"])
    # If all leaves of a dtype are empty, the pool has no variable for this dtype.
    name = node["in"]
    variable = Variable("u8" if name == BITS else name.partition(".")[2], (1,)) if 0 in shape and name not in variables else variables[name]
    dtype = _dtype_of(node) if "dtype" in node else variable.numpy_dtype
    form = node.get("as", "array")
    if form not in ("array", "bytes") and shape != ((LONG_INT_BYTES,) if form == "int" and "dtype" in node else ()):
        raise ValueError(f"{dict(node)} is not one value")
    if form not in ("array", "scalar", "bytes", *NUMBERS):
        raise ValueError(f"{form!r} is unknown")
    leaf = Leaf(dtype, shape, form)
    leaf.variable, leaf.is_bits, leaf.first = node["in"], "dtype" in node, int(node["at"])
    leaf.count = leaf.size * dtype.itemsize if leaf.is_bits else leaf.size
    if min(shape, default=0) < 0 or leaf.first < 0 or leaf.first + leaf.count > variable.shape[0]:
        raise ValueError(f"{dict(node)} is outside of {node['in']}, shape {variable.shape}")
    return leaf
