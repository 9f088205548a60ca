# SPDX-License-Identifier: BSD-3-Clause
"""The display of a run that a notebook's kernel publishes: during the run, the pool; at the run's end, the account and the plot
of the residual. In a script, `ringside run` writes lines to standard error instead."""

from __future__ import annotations

import html
import sys
import threading
from collections.abc import Mapping
from typing import Any

from .errors import Error
from .reading import Pool

_REFRESH_S = 1.0
_FIRST_S = 0.3
# The two processes of a run: the name of each row of the account, and its key in the summary.
_PRODUCER = {"generate": "generate_s", "idle": "producer_idle_s"}
_ANALYZER = {"transfer": "transfer_s", "commit": "commit_s", "analyze": "analyze_s", "record": "record_s", "idle": "analyzer_idle_s"}


def in_notebook() -> bool:
    """Whether this interpreter is the kernel of a notebook."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and hasattr(shell, "kernel")


class LiveView:
    """An output of the cell that began the run. Its thread ends with `finish`, or with the kernel."""

    def __init__(self, pool: str) -> None:
        from IPython.display import HTML, display  # always available in a notebook

        self._html = HTML
        self._path = pool
        self._over = threading.Event()
        self._handle: Any = display(HTML(_note("the run has begun")), display_id=True)
        self._thread = threading.Thread(target=self._refresh, name="ringside-view", daemon=True)
        self._thread.start()

    def finish(self, account: Mapping[str, Any] | None) -> None:
        """Shows the account, then the pool. If `account` is None, the run ended without an account."""
        if self._over.is_set():
            return
        self._over.set()
        self._thread.join()
        shown = _note("the run has ended; no step was kept") if account is None else account_table(account)
        self._show(shown + self._page())

    def _refresh(self) -> None:
        wait = _FIRST_S
        while not self._over.wait(wait):
            page = self._page()
            if page:
                self._show(page)
            wait = _REFRESH_S

    def _page(self) -> str:
        try:
            with Pool(self._path) as pool:
                return pool._repr_html_() or ""
        except (Error, OSError):  # the pool does not exist yet, or another run takes it over
            return ""

    def _show(self, fragment: str) -> None:
        if self._handle is not None:
            self._handle.update(self._html(fragment))


def account_table(account: Mapping[str, Any]) -> str:
    """The account that `ringside run` prints at its end, as a fragment of HTML. `account` has the keys of its --summary."""
    total = float(account["total_s"])
    kept = (f"{account['steps_committed']:,} steps committed, {account['steps_persisted']:,} persisted, "
            f"{account['steps_skipped']:,} skipped")
    resumed = f", continued from iteration {account['resumed_from']:,}" if account["resumed_from"] else ""
    rows = [_row("th", f"producer, cores {account['producer_cores']}", "", "", f"analyzer, cores {account['analyzer_cores']}", "", "")]
    sides = [_parts(account, names, total) for names in (_PRODUCER, _ANALYZER)]
    for line in range(max(map(len, sides))):
        cells = [side[line] if line < len(side) else ("", "", "") for side in sides]
        rows.append(_row("td", *cells[0], *cells[1]))
    rows.append(_row("td", "total", _duration(total), "100.0 %", "total", _duration(total), "100.0 %"))
    return (f"<p><b>{html.escape(str(account['solver']))}</b>: {account['iterations']:,} iterations{resumed}; {kept}</p>"
            f"<table>{''.join(rows)}</table>")


def _parts(account: Mapping[str, Any], names: Mapping[str, str], total: float) -> list[tuple[str, str, str]]:
    seconds = {name: float(account[key] or 0) for name, key in names.items()}
    seconds["other"] = max(total - sum(seconds.values()), 0.0)
    return [(name, _duration(spent), f"{100 * spent / total if total > 0 else 0:.1f} %") for name, spent in seconds.items()]


def _duration(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.2f} s" if seconds < 600 else f"{seconds / 60:.1f} min"


def _row(kind: str, *cells: str) -> str:
    return "<tr>" + "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in cells) + "</tr>"


def _note(text: str) -> str:
    return f"<p>ringside: {html.escape(text)}</p>"
