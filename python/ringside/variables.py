# SPDX-License-Identifier: BSD-3-Clause
"""The description of a variable, and how `publish` derives one from a tuple or an array. The names of types for type checkers are
here, too: the accepted forms of a dtype, a scalar and a variable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, SupportsFloat, SupportsIndex, Union

import numpy as np
import numpy.typing as npt

from .arguments import text_of, whole
from .errors import UsageError

__all__ = ["ArrayLike", "DTypeLike", "DTypeName", "Role", "ScalarLike", "ScalarValue", "Variable", "VariableLike"]

DTypeName = Literal["f32", "f64", "c64", "c128", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
_LongName = Literal["float32", "float64", "complex64", "complex128", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                    "uint64"]
DTypeLike = Union[DTypeName, _LongName, "np.dtype[Any]", type[Any]]
"""A dtype: its name in Ringside or in NumPy, or a dtype or a type of NumPy."""
Role = Literal["field", "state"]
ScalarLike = Union[Literal["f64", "i64"], tuple[Literal["f64", "i64"], str]]
"""The type of a scalar, or a pair of a type and a unit."""
ScalarValue = Union[SupportsFloat, SupportsIndex]
"""A number of Python or NumPy."""


class SupportsArray(Protocol):
    """An array of NumPy, or of a library whose arrays NumPy can convert."""

    def __array__(self) -> npt.NDArray[Any]: ...


class SupportsDLPack(Protocol):
    """A tensor."""

    def __dlpack__(self, *_: Any, **__: Any) -> Any: ...


ArrayLike = Union[SupportsArray, SupportsDLPack, Mapping[Any, Any], Sequence[Any], complex]
"""An array, an object from which an array can be made, or a structure of arrays."""

# For each name, the number in ringside.h and NumPy's dtype. The pool is little-endian.
DTYPES: dict[DTypeName, tuple[int, str]] = {
          "f32": (1, "<f4"), "f64": (2, "<f8"), "c64": (3, "<c8"), "c128": (4, "<c16"),
          "i8": (5, "|i1"), "i16": (6, "<i2"), "i32": (7, "<i4"), "i64": (8, "<i8"),
          "u8": (9, "|u1"), "u16": (10, "<u2"), "u32": (11, "<u4"), "u64": (12, "<u8")}
_NAMES = {np.dtype(numpy): name for name, (_, numpy) in DTYPES.items()}
ROLES: dict[Role, int] = {"field": 1, "state": 2}


@dataclass(frozen=True, init=False)
class Variable:
    """A named array of a run, row-major. Its name is its key in `publish(variables={...})` or `pool.variables`.

    dtype: "f64" or another name of docs/publish/variables.md (the digits count bits), or a NumPy dtype, or "float64".
    shape: () for one entry.
    role: "field" is kept and reduced; "state", which the solver needs to continue, is only kept.
    unit: at most 31 printable ASCII characters.

    >>> ringside.Variable("float32", 1000, unit="K")
    Variable(dtype='f32', shape=(1000,), role='field', unit='K')
    """

    dtype: DTypeName
    shape: tuple[int, ...] = ()
    role: Role = "field"
    unit: str = ""

    def __init__(self, dtype: DTypeLike, shape: SupportsIndex | Iterable[SupportsIndex] = (), role: Role = "field",
                 unit: str = "") -> None:
        given: Any = shape
        try:
            extents = tuple(given)
        except TypeError:  # a number means a single extent
            extents = (given,)
        object.__setattr__(self, "shape", tuple(whole(f"shape {given!r}", extent, least=1, most=2**63 - 1) for extent in extents))
        object.__setattr__(self, "dtype", dtype_name(dtype))
        if role not in ROLES:
            raise UsageError(f"role {role!r}; expected field or state")
        object.__setattr__(self, "role", role)
        object.__setattr__(self, "unit", text_of("unit", unit))

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the variable's arrays."""
        return np.dtype(DTYPES[self.dtype][1])


_Structure = Union[Mapping[Any, Any], list[Any]]
VariableLike = Union[Variable, tuple[DTypeLike, Union[SupportsIndex, Iterable[SupportsIndex]]], SupportsArray, SupportsDLPack, _Structure,
                     tuple[Union[SupportsArray, SupportsDLPack, _Structure, tuple[Any, ...]], ...], complex]
"""The description of a variable: a Variable, a pair of dtype and shape, an array (which has both), or a structure of arrays."""


def dtype_name(given: Any) -> DTypeName:
    """The name of a dtype: `given` itself if it is such a name, or the name for an argument of numpy.dtype. Of NumPy's names,
    only the long ones ("float64") are accepted, because "i8" has 8 bytes in NumPy, and 8 bits in Ringside."""
    if isinstance(given, str) and given in DTYPES:
        return given
    try:
        if not isinstance(given, str) or len(given) > 4:
            return _NAMES[np.dtype(given)]
        text = given
    except KeyError:
        text = np.dtype(given).str
    except TypeError:
        text = str(given)
    raise UsageError(f"dtype {text!r}; expected one of {', '.join(DTYPES)}")


def is_description(given: Any) -> bool:
    """Whether `given` is a Variable, or a pair of dtype and shape."""
    return isinstance(given, Variable) or (isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], (str, type, np.dtype)))


def variable_of(name: str, given: Any) -> Variable:
    """The Variable for a description."""
    text_of("the name of a variable", name)
    if isinstance(given, Variable):
        return given
    try:
        return Variable(given[0], given[1])
    except UsageError as error:
        raise UsageError(f"variable {name!r}: {error}") from None


def scalar_types(given: Mapping[str, Any] | Sequence[str]) -> dict[str, tuple[int, str]]:
    """For each name, the number of the type in ringside.h (1 f64, 2 i64) and the unit."""
    if isinstance(given, str):
        raise UsageError(f"scalars: found the text {given!r}; expected a list of names, or a dict of names to f64 or i64")
    pairs: list[tuple[str, Any]] = list(given.items()) if isinstance(given, Mapping) else [(name, "f64") for name in given]
    types = {"f64": 1, "i64": 2}
    found: dict[str, tuple[int, str]] = {}
    for name, described in pairs:
        text_of("the name of a scalar", name)
        is_pair = isinstance(described, tuple) and len(described) == 2
        dtype, unit = described if is_pair else (described, "")
        if not isinstance(dtype, str) or dtype not in types:
            raise UsageError(f"scalar {name!r}: dtype {dtype!r}; expected f64 or i64, or a pair of one of them and a unit")
        if name in found:
            raise UsageError(f"scalars: found {name!r} twice, expected each name once")
        found[name] = types[dtype], text_of(f"scalar {name!r}: unit", unit)
    return found
