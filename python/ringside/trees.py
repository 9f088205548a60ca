# SPDX-License-Identifier: BSD-3-Clause
"""Many arrays at once: converts nested dicts, lists and tuples of arrays to the variables of a run, and back.

A pool has at most 256 variables, with one of twelve dtypes and a restricted name. An array that cannot be a variable of its own
is packed: the leaves of one of these dtypes follow one another in one variable (tree.f64), and leaves of other dtypes in
tree.bits, byte for byte. The variable tree.table describes in JSON where each leaf is. It is in every step, so a reader needs
nothing from the program that wrote it (docs/publish/python.md#many-arrays). Packed variables have the role state, because a norm
over pressures and velocities has no meaning, and most integers of a state are counters, indices or random numbers.
"""

from __future__ import annotations

import collections
import functools
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from ._core import ClaimedStep
from .arguments import Unfit, array_and_foreign, is_torch
from .errors import UsageError, no_variable
from .tree_nodes import BITS, LONG_INT_BYTES, NUMBERS, PACKED, Branch, Fetch, Fixed, Leaf, Own, shown
from .tree_table import _named as _named  # pickled named tuples refer to it by this module
from .tree_table import node_of_table
from .variables import DTYPES, ScalarValue, Variable, dtype_name, is_description, variable_of

__all__ = ["TABLE", "PackedStep", "Packing", "Tree", "is_own", "packed", "tree_of"]

TABLE = "tree.table"
_RESERVED = {TABLE, BITS, *PACKED.values()}
_MOST_VARIABLES, _MOST_DIMS, _MOST_DEPTH = 256, 8, 100
_NAME = re.compile(r"(?!(solver|analysis)(\.|$))[A-Za-z_][A-Za-z0-9_.-]{0,62}", re.ASCII)
_EXPECTED = "an array, a number, a text, None, or a dict, list or tuple of these"


class Tree:
    """The content of a step, by the published names: variables of their own, and trees of packed arrays."""

    def __init__(self, names: list[Any], nodes: list[Any]) -> None:
        self._root = Branch("dict", names, nodes, lambda entries: dict(zip(names, entries)))
        self._root.is_top = True
        self._nodes = dict(zip(names, nodes))

    @staticmethod
    def of_table(table: bytes, variables: Mapping[str, Variable], where: str) -> Tree:
        """The tree that the JSON in a pool describes. Raises UsageError if this version does not understand the JSON."""
        try:
            pairs = json.loads(table)["dict"]
            return Tree([key for key, _ in pairs], [node_of_table(node, variables) for _, node in pairs])
        except (ValueError, KeyError, TypeError, IndexError, SyntaxError, RecursionError, OverflowError) as error:
            raise UsageError(f"{where}: {TABLE} is not a table of packed arrays ({type(error).__name__}: {error}); "
                             "expected one that ringside.publish wrote") from None

    def names(self) -> list[Any]:
        """The names of the entries at the top, in the order published."""
        return list(self._nodes)

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    def entry(self, name: Any, fetch: Fetch, as_declared: bool = False) -> Any:
        """The entry that was published by this name. as_declared: returns a tensor where the program declared a tensor."""
        return self._nodes[name].rebuilt(functools.cache(fetch), as_declared)

    def whole(self, fetch: Fetch) -> dict[Any, Any]:
        """All entries, by name."""
        made: dict[Any, Any] = self._root.rebuilt(functools.cache(fetch), False)
        return made


class Packing(Tree):
    """The variables of a tree that a program declares, and how each step fills these variables."""

    def __init__(self, own: dict[str, Variable], entries: Mapping[Any, Any]) -> None:
        leaves: list[Leaf] = []
        nodes: list[Any] = []
        for name, given in entries.items():
            try:
                nodes.append(Own(name, _restorer_of(given)) if name in own else _node_of(given, leaves, 0))
            except Unfit as error:
                error.path.append(f": {name}")
                raise error.refused("variables") from None
        super().__init__(list(entries), nodes)
        sizes: dict[str, int] = {}
        self._counts: dict[str, list[int]] = {}  # for each variable, the entries of its pieces, in order
        # The pieces of a variable follow each other without gaps. In tree.bits, the pieces with the largest alignment
        # come first.
        for leaf in sorted((leaf for leaf in leaves if leaf.size), key=lambda leaf: -leaf.dtype.alignment if leaf.is_bits else 0):
            leaf.first = sizes.get(leaf.variable, 0)
            sizes[leaf.variable] = leaf.first + leaf.count
            counts = self._counts.setdefault(leaf.variable, [])
            leaf.place = len(counts)
            counts.append(leaf.count)
        self.table: bytes = b""
        """The content of tree.table; empty if each entry is a variable of its own."""
        if len(own) < len(entries):
            self.table = json.dumps(self._root.described(), separators=(",", ":")).encode()
            sizes[TABLE] = len(self.table)
        dtypes = {name: dtype_name("u8" if name in (TABLE, BITS) else name.partition(".")[2]) for name in sizes}
        self.variables: dict[str, Variable] = {
            **own, **{name: Variable(dtypes[name], (size,), role="state") for name, size in sizes.items()}}
        """The variables to be declared."""

    def pieces(self, what: str, given: Any) -> list[Any]:
        """For each variable: an array, or a list of buffers that fill the variable. what: the beginning of an error's line."""
        out: dict[str, list[Any]] = {name: [None] * len(counts) for name, counts in self._counts.items()}
        out[TABLE] = [self.table]
        try:
            self._root.collect(given, out)
        except Unfit as error:
            raise error.refused(what) from None
        return [out[name] for name in self.variables]

    def views(self, name: Any, fetch: Fetch) -> Any:
        """Like `entry`, but each number is an array without dimensions, so that a program can write it in a step's block."""
        return self._nodes[name].views(functools.cache(fetch))

    def fill(self, what: str, name: Any, given: Any, fetch: Fetch) -> None:
        """Copies one entry into a step's arrays."""
        branch = Branch("dict", [name], [self._nodes[name]], dict)
        branch.is_top = True
        out: dict[str, list[Any]] = {variable: [None] * len(counts) for variable, counts in self._counts.items()}
        try:
            branch.collect({name: given}, out)
        except Unfit as error:
            raise error.refused(what) from None
        for variable, pieces in out.items():
            array, first = fetch(variable), 0
            for piece, size in zip(pieces, self._counts[variable]):
                if piece is not None:
                    array[first:first + size] = piece.reshape(-1)
                first += size


class PackedStep:
    """The ClaimedStep of a run with packed arrays. step["levels"] is the structure, with arrays in shared memory.

    A number of the structure is an array without dimensions: step["state"]["n"][...] = 3. step["levels"] = [...] copies the
    whole structure.
    """

    def __init__(self, core: ClaimedStep, packing: Packing, scalars: Sequence[str]) -> None:
        self._core = core
        self._packing = packing
        self._scalars = scalars

    @property
    def iteration(self) -> int:
        """The step's iteration."""
        return self._core.iteration

    @property
    def skipped(self) -> bool:
        """True if the step's arrays are not published (see ClaimedStep.skipped)."""
        return self._core.skipped

    @property
    def scalars(self) -> dict[str, ScalarValue]:
        """The step's scalars, by name."""
        return self._core.scalars

    @scalars.setter
    def scalars(self, given: dict[str, ScalarValue]) -> None:
        self._core.scalars = given

    def __enter__(self) -> PackedStep:
        self._core.__enter__()
        if not self._core.skipped:
            self._core[TABLE][:] = np.frombuffer(self._packing.table, np.uint8)
        return self

    def __exit__(self, kind: type[BaseException] | None = None, error: BaseException | None = None,
                 traceback: TracebackType | None = None) -> None:
        self._core.__exit__(kind, error, traceback)

    def __getitem__(self, name: str) -> Any:
        return self._packing.views(name, self._core.__getitem__) if name in self._packing else self._core[self._checked(name)]

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self._packing or is_own(name, self._packing.variables):
            self._core[self._checked(name)] = value
        else:
            self._packing.fill(f"iteration {self.iteration}", name, value, self._core.__getitem__)

    def previous(self, name: str) -> Any:
        """The same entry of the step before, read-only (see ClaimedStep.previous)."""
        if name not in self._packing:
            return self._core.previous(self._checked(name))
        return None if self._core.previous(TABLE) is None else self._packing.entry(name, self._before)

    def _checked(self, name: str) -> str:
        if name not in self._packing.variables:
            raise no_variable(name, self._packing.names(), self._scalars)
        return name

    def _before(self, name: str) -> npt.NDArray[Any]:
        found = self._core.previous(name)
        assert found is not None  # the table exists, so the step has all variables
        return found


def is_own(name: Any, variables: Mapping[str, Variable]) -> bool:
    """Whether the entry `name` is a variable of its own. If a variable of packed data already has that name, the entry is
    packed, too."""
    return name in variables and name not in _RESERVED


def tree_of(pool: Any, fetch: Fetch) -> Tree | None:
    """The tree of a step of a pool; None if nothing is packed. fetch: gives the step's variables."""
    if TABLE not in pool.variables:
        return None
    table = fetch(TABLE).tobytes()
    last: tuple[bytes, Tree] | None = pool._tree
    if last is None or last[0] != table:
        last = pool._tree = table, Tree.of_table(table, pool.variables, pool.path)
    return last[1]


def packed(variables: Mapping[Any, Any]) -> tuple[dict[str, Variable], Packing | None]:
    """The variables that are declared for the entries of `publish(variables)`, and how entries are packed: None if each
    entry is a separate variable and is read as an array.

    A description (a Variable, a pair of dtype and shape) becomes a variable. An array whose name, dtype and shape a
    variable may have also becomes a variable, unless there are more than 256. Everything else is packed.
    """
    own: dict[str, Variable] = {}
    described: dict[str, Variable] = {}
    for name in variables:
        if not isinstance(name, str) and type(name) is not int:
            raise UsageError(f"variables: found the key {shown(name)}; expected keys that are texts or whole numbers")
    for name, given in variables.items():
        if is_description(given):
            own[name] = described[name] = variable_of(name, given)
        elif (variable := _own_variable(name, given)) is not None:
            own[name] = variable
    if len(own) == len(variables) and not _RESERVED & (own.keys() - described.keys()) and (
            len(own) <= _MOST_VARIABLES or own == described):
        return own, Packing(own, variables) if any(_restorer_of(given) for given in variables.values()) else None
    for name in described:
        if name in _RESERVED:
            raise UsageError(f"variable {name!r}: found the name of a variable of packed arrays; expected another name")
    packing = Packing({name: variable for name, variable in own.items() if name not in _RESERVED}, variables)
    if len(packing.variables) > _MOST_VARIABLES:
        packing = Packing(described, variables)
    if set(packing.variables) == {TABLE}:
        raise UsageError(f"variables: found no array with entries in {shown(variables)}; expected at least one")
    return packing.variables, packing


def _own_variable(name: Any, given: Any) -> Variable | None:
    """The variable of `given`, if it is an array that can be a variable of its own; None if it is to be packed."""
    if isinstance(given, str) and given in DTYPES:
        raise UsageError(f"variable {name!r}: found the dtype {given!r} without a shape; expected a pair: ({given!r}, (1000,))")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or given is None or isinstance(given, (Mapping, str, bytes)) or (
            isinstance(given, (list, tuple)) and not _has_numbers_only(given)):
        return None
    try:
        array, foreign = _array_of(given)
    except Unfit as error:
        raise error.refused(f"variable {name!r}") from None
    if foreign or array.dtype not in PACKED or array.size == 0 or array.ndim > _MOST_DIMS:
        return None
    return Variable(array.dtype, array.shape)


def _has_numbers_only(given: list[Any] | tuple[Any, ...]) -> bool:
    return all(_has_numbers_only(entry) if isinstance(entry, (list, tuple)) else isinstance(entry, (int, float, complex, np.number))
               and not isinstance(entry, bool) for entry in given)


def _node_of(given: Any, leaves: list[Leaf], depth: int) -> Any:
    """The node for `given`; its leaves are appended to `leaves`."""
    if depth > _MOST_DEPTH:
        raise Unfit("a structure that contains itself, or that is more than 100 deep", "a tree")
    if given is None or isinstance(given, str):  # includes subclasses of str, such as those of Enum and NumPy
        return Fixed(None if given is None else str.__str__(given))
    if isinstance(given, Mapping):
        keys = list(given)
        for key in keys:
            if type(key) not in (str, int):
                raise Unfit(f"the key {shown(key)}", "keys that are texts or whole numbers")
        kind = collections.OrderedDict if isinstance(given, collections.OrderedDict) else dict
        return _branch("dict", keys, list(given.values()), leaves, depth, lambda made: kind(zip(keys, made)),
                       "OrderedDict" if kind is not dict else "")
    if isinstance(given, tuple) and hasattr(given, "_fields"):
        cls = type(given)
        return _branch("namedtuple", list(given._fields), given, leaves, depth, lambda made: cls(*made), cls.__name__)
    if isinstance(given, (list, tuple)):
        form = "list" if isinstance(given, list) else "tuple"
        return _branch(form, list(range(len(given))), given, leaves, depth, list if form == "list" else tuple)
    leaves.append(_leaf_of(given))
    return leaves[-1]


def _branch(form: str, keys: list[Any], entries: Any, leaves: list[Leaf], depth: int, made_by: Callable[[list[Any]], Any],
            name: str = "") -> Branch:
    branch = Branch(form, keys, [], made_by, name)
    for key, entry in zip(keys, entries):
        try:
            branch.nodes.append(_node_of(entry, leaves, depth + 1))
        except Unfit as error:
            error.path.append(branch.step_to(key))
            raise
    return branch


def _leaf_of(given: Any) -> Leaf:
    if type(given) is int and not -2**63 <= given < 2**63:
        return _long_int(given)
    for form, kinds in NUMBERS.items():
        if type(given) is kinds[0]:
            return Leaf(_NUMBER_DTYPES[form], (), form)
    if type(given) is bytes:
        return Leaf(np.dtype(np.uint8), (len(given),), "bytes")
    if isinstance(given, Variable):
        if given.unit:
            raise Unfit(f"the unit {given.unit!r}", "no unit: only a variable of its own, at the top, can have one")
        return Leaf(given.numpy_dtype, given.shape)
    array, foreign = _array_of(given)
    return Leaf(array.dtype, array.shape, "scalar" if isinstance(given, np.generic) else "array", foreign, _restorer_of(given))


def _array_of(given: Any) -> tuple[npt.NDArray[Any], str]:
    try:
        return array_and_foreign(given)
    except Unfit:
        if isinstance(given, (list, tuple)) or any(hasattr(given, name) for name in ("dtype", "dtypes", "__dlpack_device__")):
            raise
        raise Unfit(f"a {type(given).__name__}", _EXPECTED) from None


_NUMBER_DTYPES = {"bool": np.dtype(bool), "int": np.dtype("<i8"), "float": np.dtype("<f8"), "complex": np.dtype("<c16")}


def _long_int(given: int) -> Leaf:
    if given.bit_length() >= 8 * LONG_INT_BYTES:
        raise Unfit(f"a whole number of {given.bit_length()} bits", f"at most {8 * LONG_INT_BYTES - 1}")
    return Leaf(np.dtype(np.uint8), (LONG_INT_BYTES,), "int")


def _restorer_of(given: Any) -> Callable[[npt.NDArray[Any]], Any] | None:
    """A function that converts an array to a tensor like `given`; None if `given` is no tensor."""
    torch: Any = sys.modules.get("torch")
    jax: Any = sys.modules.get("jax")
    if is_torch(given):
        dtype = given.dtype

        def tensor(array: npt.NDArray[Any]) -> Any:
            made = torch.from_numpy(array.view(np.int16) if dtype is torch.bfloat16 else array)
            return made if made.dtype is dtype else made.view(dtype)

        return tensor
    if isinstance(given, getattr(jax, "Array", ())):
        return lambda array: jax.numpy.asarray(array)
    return None
