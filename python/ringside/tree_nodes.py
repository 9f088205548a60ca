# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a tree of arrays (trees.py). Each node takes what is published (`collect`), returns what is kept (`rebuilt`), and
describes itself for the variable tree.table (`described`)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .arguments import Unfit, array_and_foreign, plain_array
from .variables import DTYPES

BITS = "tree.bits"
PACKED = {np.dtype(numpy): f"tree.{name}" for name, (_, numpy) in DTYPES.items()}
FORMAT: Any = np.lib.format  # the format of .npy files, for which NumPy has no types
LONG_INT_BYTES = 32  # for ints of more than 64 bits, for instance the state of numpy.random.PCG64

Fetch = Callable[[str], "npt.NDArray[Any]"]
"""Gives a variable's array by name. It is called once for each variable, not for each leaf."""


class Own:
    """An entry at the top of the tree that is a variable of its own."""

    def __init__(self, name: str, restore: Callable[[npt.NDArray[Any]], Any] | None = None) -> None:
        self.name: str = name
        self.restore: Callable[[npt.NDArray[Any]], Any] | None = restore

    def collect(self, given: Any, out: dict[str, list[Any]]) -> None:
        out[self.name] = plain_array(given)  # type: ignore[assignment]

    def rebuilt(self, fetch: Fetch, as_declared: bool) -> Any:
        return fetch(self.name) if self.restore is None or not as_declared else self.restore(fetch(self.name))

    def views(self, fetch: Fetch) -> Any:
        return fetch(self.name)

    def described(self) -> Any:
        return {"variable": self.name}


class Fixed:
    """A text or None. It is a part of the structure, and the same in every step."""

    def __init__(self, value: str | None) -> None:
        self.value = value

    def collect(self, given: Any, out: dict[str, list[Any]]) -> None:
        text = str.__str__(given) if isinstance(given, str) else given
        if text is not self.value and (type(text) is not type(self.value) or text != self.value):
            raise Unfit(shown(given), f"{shown(self.value)}, which is a part of the structure, the same in every step")

    def rebuilt(self, fetch: Fetch, as_declared: bool) -> Any:
        return self.value

    def views(self, fetch: Fetch) -> Any:
        return self.value

    def described(self) -> Any:
        return None if self.value is None else {"text": self.value}


class Leaf:
    """An array or a number. first: the index of its first entry in the packed variable; in tree.bits, of its first
    byte."""

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...], form: str = "array", foreign: str = "",
                 restore: Callable[[npt.NDArray[Any]], Any] | None = None) -> None:
        self.dtype: np.dtype[Any] = dtype
        self.shape: tuple[int, ...] = shape
        self.form = form
        """What the leaf is: array, scalar (of NumPy), or bool, int, float, complex, bytes (of Python)."""
        self.foreign = foreign
        """The name of a dtype that NumPy does not have; `dtype` is then the dtype of the bits."""
        self.restore = restore
        """Converts the array to the tensor that the program had."""
        self.is_bits: bool = bool(foreign or form == "bytes" or (form == "int" and shape)) or dtype not in PACKED
        self.variable: str = BITS if self.is_bits else PACKED[dtype]
        self.size: int = math.prod(shape)
        self.count: int = self.size * dtype.itemsize if self.is_bits else self.size
        self.first = self.place = 0

    def collect(self, given: Any, out: dict[str, list[Any]]) -> None:
        array = given
        if type(given) is not np.ndarray:
            array = self._array(given)
        elif self.foreign:
            raise self._unfit(given)
        if array.dtype != self.dtype or array.shape != self.shape:
            raise self._unfit(given)
        if self.size == 0:
            return
        if not array.flags.c_contiguous:
            array = np.ascontiguousarray(array)
        out[self.variable][self.place] = array.reshape(-1).view(np.uint8) if self.is_bits else array

    def rebuilt(self, fetch: Fetch, as_declared: bool) -> Any:
        array = self.views(fetch)
        if self.form == "array":
            return array if self.restore is None or not as_declared else self.restore(array)
        if self.form == "scalar":
            return array[()]
        if self.form == "bytes":
            return array.tobytes()
        return int.from_bytes(array.tobytes(), "little", signed=True) if array.ndim else array.item()

    def views(self, fetch: Fetch) -> npt.NDArray[Any]:
        if self.size == 0:
            return np.empty(self.shape, self.dtype)
        entries = fetch(self.variable)[self.first:self.first + self.count]
        return (entries.view(self.dtype) if self.is_bits else entries).reshape(self.shape)

    def described(self) -> Any:
        made: dict[str, Any] = {"in": self.variable, "at": self.first, "shape": self.shape}
        if self.is_bits:
            made["dtype"] = self.foreign or text_of(self.dtype)
            if self.foreign or self.dtype.isbuiltin == 2:
                made["bytes"] = self.dtype.itemsize
        if self.form != "array":
            made["as"] = self.form
        return made

    def _array(self, given: Any) -> npt.NDArray[Any]:
        if self.form == "bytes" and type(given) is bytes:
            return np.frombuffer(given, np.uint8)
        if self.form in NUMBERS:
            return self._number(given)
        if isinstance(given, (Mapping, list, tuple, str, bytes, type(None))):
            raise self._unfit(given)
        array, foreign = array_and_foreign(given)
        if foreign != self.foreign:
            raise Unfit(f"an array of {foreign or array.dtype}, shape {array.shape}", self._expected())
        return array

    def _number(self, given: Any) -> npt.NDArray[Any]:
        if not isinstance(given, NUMBERS[self.form]) or (self.form == "int" and isinstance(given, bool)):
            raise self._unfit(given)
        try:
            if self.shape:  # a long int
                whole: Any = given
                return np.frombuffer(int(whole).to_bytes(LONG_INT_BYTES, "little", signed=True), np.uint8)
            return np.array(given, self.dtype)
        except OverflowError:
            raise self._unfit(given) from None

    def _unfit(self, given: Any) -> Unfit:
        return Unfit(shown(given), self._expected())

    def _expected(self) -> str:
        if self.form == "int":
            return f"a whole number of {8 * LONG_INT_BYTES if self.shape else 64} bits"
        if self.form == "bytes":
            return f"{self.size} bytes"
        return f"a {self.form}" if self.form in NUMBERS else f"{self.foreign or self.dtype}, shape {self.shape}, as declared"


# The types that are accepted for a number of each form. A bool is also an int; _number excludes it.
NUMBERS: dict[str, tuple[type, ...]] = {"bool": (bool, np.bool_), "int": (int, np.integer), "float": (float, np.floating),
                                         "complex": (complex, np.complexfloating)}


class Branch:
    """A dict, list or tuple. `keys` has the key, the field's name or the position of each entry."""

    def __init__(self, form: str, keys: list[Any], nodes: list[Any], made_by: Callable[[list[Any]], Any], name: str = "") -> None:
        self.form: str = form
        self.keys: list[Any] = keys
        self.nodes: list[Any] = nodes
        self.made_by: Callable[[list[Any]], Any] = made_by
        self.name: str = name
        self.is_top = False

    def collect(self, given: Any, out: dict[str, list[Any]]) -> None:
        entries = self._entries(given)
        for key, node, entry in zip(self.keys, self.nodes, entries):
            try:
                node.collect(entry, out)
            except Unfit as error:
                error.path.append(self.step_to(key))
                raise

    def step_to(self, key: Any) -> str:
        """The part of a path that names an entry in an error's line."""
        return f": {key}" if self.is_top else f".{key}" if self.form == "namedtuple" else f"[{json.dumps(key)}]"

    def rebuilt(self, fetch: Fetch, as_declared: bool) -> Any:
        return self.made_by([node.rebuilt(fetch, as_declared) for node in self.nodes])

    def views(self, fetch: Fetch) -> Any:
        return self.made_by([node.views(fetch) for node in self.nodes])

    def described(self) -> Any:
        nodes = [node.described() for node in self.nodes]
        made: dict[str, Any] = {self.form: [list(pair) for pair in zip(self.keys, nodes)] if self.form == "dict" else nodes}
        if self.name:
            made["name"] = self.name
        if self.form == "namedtuple":
            made["fields"] = self.keys
        return made

    def _entries(self, given: Any) -> Any:
        if self.form == "dict":
            if not isinstance(given, Mapping):
                raise Unfit(shown(given), "a dict")
            try:
                entries = [given[key] for key in self.keys]
            except KeyError:
                missing, others = ([key for key in keys if key not in there] for keys, there in ((self.keys, given), (given, self.keys)))
                raise Unfit(f"no {_some(missing)}{f', but {_some(others)}' if others else ''}", f"the keys {_some(self.keys)}") from None
            if len(given) != len(self.keys):
                raise Unfit(f"{_some([key for key in given if key not in self.keys])}, which was not declared",
                               f"the keys {_some(self.keys)}")
            return entries
        kind = list if self.form == "list" else tuple
        if not isinstance(given, kind) or (self.form == "namedtuple" and getattr(given, "_fields", None) != tuple(self.keys)):
            raise Unfit(shown(given), f"a {self.name or self.form}")
        if len(given) != len(self.nodes):
            raise Unfit(f"a {self.form} of length {len(given)}", f"length {len(self.nodes)}")
        return given


def text_of(dtype: np.dtype[Any]) -> str:
    """The text of a dtype in tree.table: as in the header of a .npy file, or the name of another library's dtype."""
    if dtype.isbuiltin == 2:
        return str(dtype.name)
    described: Any = FORMAT.dtype_to_descr(dtype)
    return described if isinstance(described, str) else repr(described)


def shown(given: Any) -> str:
    """The text for a value in an error message: dtype and shape of an array; for other values, repr() if it is short."""
    if given is None or isinstance(given, (str, bytes, bool, int, float, complex)):
        shown = repr(given)
        return shown if len(shown) <= 60 else f"a {type(given).__name__} of {len(shown)} characters"
    if isinstance(given, (list, tuple, Mapping)):
        return f"a {type(given).__name__} of length {len(given)}"
    dtype, shape = getattr(given, "dtype", None), getattr(given, "shape", None)
    return f"a {type(given).__name__}" if dtype is None or shape is None else f"an array of {dtype}, shape {tuple(shape)}"


def _some(keys: list[Any]) -> str:
    shown = ", ".join(repr(key) for key in keys[:8])
    return shown if len(keys) <= 8 else f"{shown} and {len(keys) - 8} more"
