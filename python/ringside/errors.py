# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of this package. The text is one line that says what is wrong, where, what was found, and what would
be accepted.

`status` is the number of ringside.h: the exit code of Ringside's programs for the same failure.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import ClassVar, TypeVar

__all__ = ["DamagedError", "Error", "Interrupted", "NoFileError", "NotKeptError", "OverwrittenError", "PeerLostError",
           "RefusedError", "ResourceError", "UnknownNameError", "UsageError"]

_Value = TypeVar("_Value")
_MOST_NAMES = 16  # the most names in a line


class Error(RuntimeError):
    """The base class of the exceptions of this package."""

    status: ClassVar[int] = 1


class UsageError(Error, ValueError):
    """A wrong argument, a refusal by the analyzer, a file that is not a pool, or a handle used in a child of fork()."""

    status = 2


class RefusedError(UsageError):
    """The analyzer refused: the pool has steps of another run, or another process publishes."""


class NoFileError(UsageError, FileNotFoundError):
    """There is no file with this name. For a file that is not a pool, UsageError is raised."""


class NotKeptError(UsageError, LookupError):
    """The pool does not keep that step, or no longer keeps it."""


class UnknownNameError(UsageError, KeyError):
    """No variable, scalar, result or column has this name. Corresponds to the KeyError of other mappings."""

    def __str__(self) -> str:
        return BaseException.__str__(self)  # KeyError itself would show the repr of the text, in quotes


class ResourceError(Error):
    """Something is missing on the system: space, permission, memory, locks of files."""

    status = 3


class PeerLostError(Error):
    """The analyzer was lost, or there is none."""

    status = 4


class DamagedError(Error):
    """Data failed verification."""

    status = 5


class OverwrittenError(Error):
    """Another step has taken the slot. Data that were read since the last check may belong to that step."""

    status = -3


class Interrupted(Error, KeyboardInterrupt):
    """The run was asked to stop, for instance by `ringside stop`. A program that does not catch this exception ends as
    after Ctrl-C."""

    status = 130


_KINDS: dict[int, type[Error]] = {kind.status: kind for kind in (
    UsageError, ResourceError, PeerLostError, DamagedError, OverwrittenError, Interrupted)}
_REASONS: dict[int, type[Error]] = {3: RefusedError, 4: NoFileError}  # RINGSIDE_REASON_... of ringside.h


def of_status(status: int, reason: int, line: str) -> Error:
    """The exception for a status of ringside.h. For a UsageError, the reason selects a subclass."""
    kind = _KINDS.get(status, Error)
    return (_REASONS.get(reason, kind) if kind is UsageError else kind)(line)


def unknown_name(what: str, name: object, known: Iterable[str], *, before: str = "", behind: str = "") -> UnknownNameError:
    """The exception for an unknown name. what: what the name should be, for instance "variable of this run". before: the line's
    beginning. behind: the line's end, which says where the name would be right."""
    names = [str(name) for name in known]  # keys of structures may also be numbers
    close = difflib.get_close_matches(name, names, 1) if isinstance(name, str) and not behind else []
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return UnknownNameError(f"{before}{name!r} is no {what}; {f'did you mean {close[0]!r}? ' if close else ''}expected "
                            + (f"one of {', '.join(names[:_MOST_NAMES])}{more}" if names else "none") + behind)


def no_variable(name: object, variables: Iterable[str], scalars: Sequence[str]) -> UnknownNameError:
    """The exception for a variable that a published run does not have."""
    is_scalar = f". It is a scalar: use step.scalars[{name!r}], or pass it in publish(k, arrays, scalars)"
    return unknown_name("variable of this run", name, variables, behind=is_scalar if isinstance(name, str) and name in scalars else "")


def no_scalar(iteration: int, name: object, scalars: Iterable[str], variables: Iterable[str]) -> UnknownNameError:
    """The exception for a scalar that a published run does not have."""
    is_variable = ". It is a variable: use step[...], or pass it in publish(k, arrays)"
    return unknown_name("scalar of this run", name, scalars, before=f"iteration {iteration}: ",
                        behind=is_variable if isinstance(name, str) and name in list(variables) else "")


class Named(dict[str, _Value]):
    """A dict whose KeyError suggests the name that may have been meant."""

    def __init__(self, what: str, values: Mapping[str, _Value]) -> None:
        super().__init__(values)
        self._what = what

    def __missing__(self, name: object) -> _Value:
        raise unknown_name(self._what, name, self)

    def __reduce__(self) -> tuple[type[Named[_Value]], tuple[str, dict[str, _Value]]]:
        return Named, (self._what, dict(self))


_show = sys.excepthook
_uncaught: BaseException | None = None


def last_uncaught() -> BaseException | None:
    """The exception that ends this script, even if a hook of the script has handled it. None if no exception ends it."""
    return None if hasattr(sys, "ps1") else _uncaught or getattr(sys, "last_value", None)


def _end_with_status(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """If a script ends by one of these exceptions, its exit code is the exception's status, as in programs in other
    languages. The traceback is shown as usual. Interactive sessions and programs that embed Python continue."""
    global _uncaught
    _uncaught = error
    _show(kind, error, traceback)
    goes_on = hasattr(sys, "ps1") or sys.flags.inspect or not getattr(sys, "orig_argv", sys.argv)
    if isinstance(error, Error) and 2 <= error.status <= 5 and not goes_on:
        raise SystemExit(error.status)


sys.excepthook = _end_with_status
