# SPDX-License-Identifier: BSD-3-Clause
"""What is refused of arguments before the library sees or NumPy converts them, in one line each; and the solver's name by
default."""

from __future__ import annotations

import operator
import os
import pathlib
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import UsageError

_SOLVER_BYTES = 23


def text_of(what: str, given: Any) -> str:
    """A text that C can take: one without a NUL, at which it would end. what: of the line."""
    if not isinstance(given, str):
        raise UsageError(f"{what}: found {_shown(given)}, expected a text")
    if "\0" in given:
        raise UsageError(f"{what}: {given!r} has a NUL at character {given.index(chr(0))}; expected a text without one")
    try:
        given.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what}: {given!r} has no UTF-8 at character {error.start}; expected a text that has") from None
    return given


def path_of(what: str, given: Any) -> bytes:
    """A path as the system takes it."""
    try:
        path = os.fsencode(given)
    except (TypeError, UnicodeEncodeError):
        raise UsageError(f"{what}: found {_shown(given)}, expected a path") from None
    if b"\0" in path:
        raise UsageError(f"{what}: {given!r} has a NUL; expected a path without one")
    return path


def whole(what: str, given: Any, least: int = 0, most: int = 2**64 - 1) -> int:
    """A whole number, of Python or of NumPy; 3.0 is none."""
    try:
        number = operator.index(given)
    except TypeError:
        raise UsageError(f"{what}: found {_shown(given)}, expected a whole number") from None
    if number < least:
        raise UsageError(f"{what}: found {number}, expected at least {least}")
    if number > most:
        raise UsageError(f"{what}: found {number}, expected at most {most}")
    return number


def array_of(what: str, given: Any) -> npt.NDArray[Any]:
    """numpy.asarray of what has no mask and no missing entry: it would drop a mask and take what is below it."""
    if type(given) is np.ndarray:
        return given
    if isinstance(given, np.ma.MaskedArray) or (isinstance(given, (list, tuple)) and
                                                any(isinstance(entry, np.ma.MaskedArray) for entry in given)):
        raise UsageError(f"{what}: found a masked array, whose mask would be lost; expected a plain one: x.filled(VALUE)")
    dtypes = getattr(given, "dtypes", None)  # of pandas: of each column
    extension = [dtype for dtype in (getattr(given, "dtype", None), *(() if dtypes is None else np.atleast_1d(dtypes)))
                 if hasattr(dtype, "na_value")]
    if extension and np.any(given.isna()):
        raise UsageError(f"{what}: found missing entries ({extension[0]}); expected a value in each: x.fillna(VALUE)")
    return np.asarray(given)


def program_name() -> str:
    """The name of the script that runs: "heat" for heat.py; of a package run with -m, the package's. "python" where
    there is no script: an interactive interpreter, -c, a notebook."""
    script = pathlib.PurePath(sys.argv[0] if getattr(sys, "argv", None) else "")
    name = script.parent.name if script.name == "__main__.py" else script.name.removesuffix(".py")
    name = "".join(letter if letter.isprintable() else "?" for letter in name)
    if name in ("", "-", "-c", "-m", "ipykernel_launcher"):
        return "python"
    return name.encode(errors="replace")[:_SOLVER_BYTES].decode(errors="ignore")


def _shown(given: Any) -> str:
    """A value in a line: an array by its kind, anything else as Python writes it, if that is short."""
    shape = getattr(given, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"an array of shape {shape}"
    shown = repr(given)
    return shown if len(shown) <= 60 and "\n" not in shown else f"a {type(given).__name__}"
