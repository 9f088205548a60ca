# SPDX-License-Identifier: BSD-3-Clause
"""What all steps that are read have in common: each maps the published names to arrays, or to nested structures of arrays
(trees.py)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from .errors import UsageError, unknown_name
from .trees import is_own
from .variables import Variable

if TYPE_CHECKING:
    from .tree_nodes import Fetch
    from .trees import Tree

__all__ = ["StepMapping"]


_Entry = TypeVar("_Entry", covariant=True)


class StepMapping(Mapping[str, _Entry]):
    """`keys`, `items`, `values`, `get` and `in` work as in every mapping. Only requested arrays are read.

    Nested structures have the names under which they were published. The variables in which they are packed (listed in
    `variables`) are not entries of the mapping, but can be read, too, for instance by step["tree.f64"].
    """

    variables: Mapping[str, Variable]
    """By name: dtype, shape, role and unit of each array."""
    iteration: int
    """The step's iteration."""

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, (str, int)) and (name in self.variables or ((tree := self._packed()) is not None and name in tree))

    # Mapping.__eq__ would compare the entries, but comparisons of arrays have no truth value.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def tree(self) -> dict[str, Any]:
        """All published entries, with their structure (docs/publish/python.md#many-arrays). dict(step) has the same content, but
        for type checkers, only the entries of `tree` may be structures."""
        return dict(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Makes np.asarray(step) possible for a step that has one variable."""
        names = list(self)
        if len(names) != 1:
            raise UsageError(f"iteration {self.iteration} has {len(names)} variables; expected one of them: step[{names[0]!r}]")
        entry: Any = self[names[0]]
        if entry is None or isinstance(entry, (str, list, tuple, dict)):
            raise UsageError(f"iteration {self.iteration}: step[{names[0]!r}] is a {type(entry).__name__}; expected one of its arrays")
        array: npt.NDArray[Any] = np.asarray(entry)
        if dtype is None or array.dtype == dtype:
            return array.copy() if copy else array
        if copy is False:
            raise UsageError(f"iteration {self.iteration}: found {array.dtype} and copy=False; expected copy=None or True, "
                             f"because {np.dtype(dtype)} needs a copy")
        return array.astype(dtype)

    def __reduce__(self) -> Any:
        raise UsageError(f"iteration {self.iteration}: a step cannot be pickled, because what it holds belongs to this process; "
                         "expected instead the pool and the iteration, or copies of the arrays: dict(step)")

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _packed(self) -> Tree | None:
        """How the nested structures of the step are packed; None if it has none."""
        return None

    def _names(self) -> Collection[str]:
        tree = self._packed()
        return self.variables if tree is None else tree.names()

    def _entry(self, name: str, fetch: Fetch) -> Any:
        """An array, or a structure of the arrays that `fetch` gives."""
        if not is_own(name, self.variables) and (tree := self._packed()) is not None and name in tree:
            return tree.entry(name, fetch)
        return fetch(name)

    def _index(self, name: str) -> int:
        if not isinstance(name, str) or name not in self.variables:
            raise unknown_name(f"variable of iteration {self.iteration}", name, self._names())
        return list(self.variables).index(name)
