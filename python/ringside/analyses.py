# SPDX-License-Identifier: BSD-3-Clause
"""Analyses of a user's own: `reduction` registers a function of a step. `ringside run --analyze FILE.py` and `ringside analyze
POOL FILE.py` call it (analyze.py). If a program only imports the file, the function is registered but not called."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, overload

from .arguments import whole
from .errors import UsageError

__all__ = ["Reduction", "MOST_FUNCTIONS", "MOST_RESULTS", "is_name", "reduction", "registered"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,62}\Z")
MOST_RESULTS = 64
"""The most numbers that a function may return for one step, as a dict."""
MOST_FUNCTIONS = 64
"""The most functions that a file may register."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Reduction(NamedTuple):
    """A registered function."""

    name: str
    function: Callable[..., Any]
    every: int


_registered: dict[str, Reduction] = {}


def is_name(text: Any) -> bool:
    """Whether `text` is a valid name of a result: 1 to 63 letters, digits, _, . or -, not beginning with a digit, . or -."""
    return isinstance(text, str) and _NAME.match(text) is not None


@overload
def reduction(name: _Function, /) -> _Function: ...


@overload
def reduction(name: str | None = None, *, every: int = 1) -> Callable[[_Function], _Function]: ...


def reduction(name: str | Callable[..., Any] | None = None, *, every: int = 1) -> Any:
    """Registers a function of a held step, which returns a number, a dict of numbers, or None:

        @ringside.reduction("energy")
        def energy(step):
            return float((step["x"] ** 2).sum())

    A number is recorded as `analysis.energy`, the entries of a dict as `analysis.energy.KEY`. name: by default the
    function's name. every: the function is called only for steps whose iteration is a multiple of this number. The
    function itself is not changed.
    """
    if callable(name):  # used as @ringside.reduction, without parentheses
        return reduction()(name)
    every = whole("every", every, 1)

    def register(function: _Function) -> _Function:
        chosen = getattr(function, "__name__", None) if name is None else name
        if not is_name(chosen):
            raise UsageError(f"the name of a reduction: found {chosen!r}, expected 1 to 63 letters, digits, _, . or -, "
                             "beginning with a letter or _")
        before = _registered.get(str(chosen))
        if before is not None and not _is_again(before.function, function):
            raise UsageError(f"two reductions have the name {chosen!r}; expected each name once")
        for other in _registered:
            shorter, longer = sorted((other, str(chosen)), key=len)
            if longer.startswith(f"{shorter}."):  # with a key, the shorter name could form the longer one
                raise UsageError(f"the reductions {shorter!r} and {longer!r} could both have a result analysis.{longer}; expected no name "
                                 "that begins with another name and a dot")
        _registered[str(chosen)] = Reduction(str(chosen), function, every)
        return function

    return register


def registered() -> list[Reduction]:
    """All functions registered in this process, in the order of their first registration."""
    return list(_registered.values())


def _is_again(before: Callable[..., Any], now: Callable[..., Any]) -> bool:
    """Whether `now` is the definition of `before`, executed again, as by importlib.reload or by a cell of a notebook."""
    old, new = getattr(before, "__code__", None), getattr(now, "__code__", None)
    if old is None or new is None or before.__qualname__ != now.__qualname__:
        return False
    return bool(old.co_filename != new.co_filename or old.co_firstlineno == new.co_firstlineno)
