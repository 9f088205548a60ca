# SPDX-License-Identifier: BSD-3-Clause
"""Checks arguments before the library gets them or NumPy converts them (each refusal is one line). Also converts other
libraries' arrays to NumPy arrays, and gives the solver's default name."""

from __future__ import annotations

import operator
import os
import pathlib
import sys
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .errors import UsageError

_Entry = TypeVar("_Entry")
_SOLVER_BYTES = 23
_IN_MAIN_MEMORY = (1, 3, 11, 13)  # DLDeviceType of dlpack.h: kDLCPU, kDLCUDAHost, kDLROCMHost, kDLCUDAManaged


def text_of(what: str, given: Any) -> str:
    """Returns `given` if it is a text without a NUL (a text in C ends at a NUL). what: the beginning of an error's line."""
    if not isinstance(given, str):
        raise UsageError(f"{what}: found {_shown(given)}, expected a text")
    if "\0" in given:
        raise UsageError(f"{what}: {given!r} has a NUL at character {given.index(chr(0))}; expected a text without one")
    try:
        given.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what}: {given!r} cannot be encoded as UTF-8 at character {error.start}; expected a text that "
                         "can") from None
    return given


def path_of(what: str, given: Any) -> bytes:
    """A path as bytes, as system calls take it."""
    try:
        path = os.fsencode(given)
    except (TypeError, UnicodeEncodeError):
        raise UsageError(f"{what}: found {_shown(given)}, expected a path") from None
    if b"\0" in path:
        raise UsageError(f"{what}: {given!r} has a NUL; expected a path without one")
    return path


def whole(what: str, given: Any, least: int = 0, most: int = 2**64 - 1) -> int:
    """Returns `given` as an int, if it is a whole number of Python or of NumPy. 3.0 is refused."""
    try:
        number = operator.index(given)
    except TypeError:
        raise UsageError(f"{what}: found {_shown(given)}, expected a whole number") from None
    if number < least:
        raise UsageError(f"{what}: found {number}, expected at least {least}")
    if number > most:
        raise UsageError(f"{what}: found {number}, expected at most {most}")
    return number


def in_slice(chosen: slice, entries: Sequence[_Entry], iterations: Sequence[int]) -> list[_Entry]:
    """Returns the entries that a slice of iterations selects, as in pool[10:20]. A negative bound counts from the end."""
    begin, end = (None if bound is None else whole("a slice of iterations", bound, -2**63) for bound in (chosen.start, chosen.stop))
    stride = whole("the stride of a slice of iterations", 1 if chosen.step is None else chosen.step, 1)
    count = len(entries)
    return [entry for place, (entry, iteration) in enumerate(zip(entries, iterations))
            if (begin is None or (iteration >= begin if begin >= 0 else place >= count + begin))
            and (end is None or (iteration < end if end >= 0 else place < count + end))][::stride]


class Unfit(Exception):
    """A value that is not as expected. In a tree, `path` leads from the value to the top: each returning call adds one part."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__()
        self.found: str = found
        self.expected: str = expected
        self.path: list[str] = []

    def refused(self, what: str) -> UsageError:
        """The exception to raise instead. what: the beginning of its line."""
        return UsageError(f"{what}{''.join(reversed(self.path))}: found {self.found}; expected {self.expected}")


def array_of(what: str, given: Any) -> npt.NDArray[Any]:
    """The content of the array, list, tensor or column as a NumPy array, without a copy if NumPy needs none."""
    if type(given) is np.ndarray:
        return given
    try:
        return plain_array(given)
    except Unfit as error:
        raise error.refused(what) from None


def plain_array(given: Any) -> npt.NDArray[Any]:
    """Like `array_of`, but raises Unfit."""
    if type(given) is np.ndarray:
        return given
    array, foreign = array_and_foreign(given)
    if foreign:
        raise Unfit(f"an array of {foreign}, which NumPy does not have", "a dtype of NumPy, for instance x.float()")
    return array


def array_and_foreign(given: Any) -> tuple[npt.NDArray[Any], str]:
    """The array, and an empty text. If NumPy does not have the dtype: the bits as unsigned integers, and the dtype's name.

    Raises Unfit for objects, and for data that numpy.asarray would change: masks and missing entries (it takes the values
    below them), and columns of several dtypes (it converts them).
    """
    if isinstance(given, np.ma.MaskedArray) or (isinstance(given, (list, tuple)) and
                                                any(isinstance(entry, np.ma.MaskedArray) for entry in given)):
        raise Unfit("a masked array, whose mask would be lost", "a plain one: x.filled(VALUE)")
    if hasattr(given, "__dlpack_device__") and not isinstance(given, np.ndarray):
        return _of_tensor(given)
    try:
        array = _of_columns(given) if hasattr(given, "isna") else np.asarray(given)
    except (TypeError, ValueError) as error:  # for instance lists of different lengths, or a tensor on a GPU in a list
        raise Unfit(f"a {type(given).__name__} that NumPy cannot convert ({_first_line(error)})", "an array of numbers") from None
    if array.dtype.hasobject:
        found = "an array" if isinstance(given, np.ndarray) else f"a {type(given).__name__} that NumPy converts to an array"
        raise Unfit(f"{found} of objects", "numbers of one dtype")
    return array, ""


def _of_columns(given: Any) -> npt.NDArray[Any]:
    """The array of a Series, an Index or a DataFrame of pandas."""
    dtypes = list(np.atleast_1d(given.dtypes)) if hasattr(given, "dtypes") else [given.dtype]
    if any(dtype != dtypes[0] for dtype in dtypes):
        names = ", ".join(dict.fromkeys(str(dtype) for dtype in dtypes))
        raise Unfit(f"columns of {names}", "one dtype: x.astype(DTYPE), or x.to_numpy()")
    if dtypes and hasattr(dtypes[0], "na_value"):
        if np.any(given.isna()):
            raise Unfit(f"missing entries ({dtypes[0]})", "a value in each: x.fillna(VALUE)")
        if hasattr(dtypes[0], "numpy_dtype"):  # otherwise NumPy would make an array of objects
            return np.asarray(given.to_numpy(dtype=dtypes[0].numpy_dtype))
    return np.asarray(given)


def is_torch(given: Any) -> bool:
    """Whether `given` is a tensor of Torch. Torch need not have been imported."""
    return isinstance(given, getattr(sys.modules.get("torch"), "Tensor", ()))


def _of_tensor(given: Any) -> tuple[npt.NDArray[Any], str]:
    """The array of an object with DLPack: without a copy if it is in main memory; from a GPU with its library's own copy."""
    torch: Any = sys.modules.get("torch")
    try:
        if is_torch(given):
            if given.layout is not torch.strided:
                raise Unfit(f"a tensor of the layout {given.layout}", "a dense one: x.to_dense()")
            given = given.detach().cpu().resolve_conj().resolve_neg()
            if given.dtype in (torch.bool, torch.bfloat16) or "float8" in str(given.dtype):
                bits = given.view({1: torch.uint8, 2: torch.int16}[given.element_size()])
                array = np.from_dlpack(bits).view(f"u{given.element_size()}")
                return (array.view(bool), "") if given.dtype is torch.bool else (array, str(given.dtype).removeprefix("torch."))
        elif (device := given.__dlpack_device__()[0]) not in _IN_MAIN_MEMORY:
            if not hasattr(given, "get") and not hasattr(given, "__array__"):
                raise Unfit(f"a {type(given).__name__} on a device (type {int(device)} of DLPack)", "an array in main memory")
            given = given.get() if hasattr(given, "get") else np.asarray(given)  # CuPy; JAX
        try:
            array = np.from_dlpack(given)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):  # a dtype that DLPack or this NumPy's does not have
            if not hasattr(given, "__array__"):
                raise
            array = np.asarray(given)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise Unfit(f"a {type(given).__name__} that cannot be read ({_first_line(error)})", "an array in main memory") from None
    if array.dtype.hasobject:
        raise Unfit(f"a {type(given).__name__} that NumPy converts to an array of objects", "numbers of one dtype")
    return array, ""


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].split(". ")[0][:100]


def program_name() -> str:
    """The name of the running script: "heat" for heat.py; for a package that is run with -m, the package's name. "python"
    if there is no script: an interactive interpreter, -c, a notebook."""
    script = pathlib.PurePath(sys.argv[0] if getattr(sys, "argv", None) else "")
    name = script.parent.name if script.name == "__main__.py" else script.name.removesuffix(".py")
    name = "".join(letter if letter.isprintable() else "?" for letter in name)
    if name in ("", "-", "-c", "-m", "ipykernel_launcher"):
        return "python"
    return name.encode(errors="replace")[:_SOLVER_BYTES].decode(errors="ignore")


def _shown(given: Any) -> str:
    """A value in an error's line: an array by its shape, another value by its repr if this is short, otherwise by its type."""
    shape = getattr(given, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"an array of shape {shape}"
    shown = repr(given)
    return shown if len(shown) <= 60 and "\n" not in shown else f"a {type(given).__name__}"
