"""Live display: the rows or the changes of a query on a terminal, redrawn while they change."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import closing

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from streamtable.api.fold import Folded
from streamtable.api.query import Change, Query
from streamtable.core.changelog import RowKind
from streamtable.core.result_table import NULL_TEXT
from streamtable.core.types import NUMERIC

#: Lines of the display that are no rows: frame, heading and foot.
_FRAME = 6
#: Time between two drawings, in seconds.
_REDRAW_S = 0.2
_COLOURS = {
    RowKind.INSERT: "green",
    RowKind.UPDATE_BEFORE: "yellow",
    RowKind.UPDATE_AFTER: "yellow",
    RowKind.DELETE: "red",
}


class LiveRows:
    """The current rows of a query, or its newest changes.

    Args:
        query: the query.
        console: the terminal.
        changes: whether changes are shown instead of rows.
    """

    def __init__(self, query: Query, console: Console, *, changes: bool) -> None:
        self._query = query
        self._console = console
        self._folded = Folded()
        self._newest: deque[Change] = deque(maxlen=200)
        self._changes = changes
        self._count = 0

    def show(self) -> None:
        """Draw until the query ends, or until Ctrl-C; the last drawing stays."""
        drawn, shown = time.monotonic(), 0
        with (
            closing(self._query.texts()) as batches,
            Live(self._drawing(), console=self._console, auto_refresh=False) as live,
        ):
            try:
                for batch in batches:
                    for kind, values in batch:
                        self._count += 1
                        self._folded.add(kind, values)
                        self._newest.append((kind, values))
                    if self._count > shown and time.monotonic() > drawn + _REDRAW_S:
                        drawn, shown = time.monotonic(), self._count
                        live.update(self._drawing(), refresh=True)
            finally:
                live.update(self._drawing(), refresh=True)

    def _drawing(self) -> Group:
        table = Table()
        if self._changes:
            table.add_column("op")
        for field in self._query.fields:
            table.add_column(field.name, justify="right" if field.type.root in NUMERIC else "left")
        for kind, values in self._rows():
            style = _COLOURS[kind] if self._changes else ""
            operation = [kind.short] if self._changes else []
            table.add_row(*map(Text, [*operation, *_cells(values)]), style=style)
        return Group(table, Text(self._foot()))

    def _rows(self) -> Iterable[Change]:
        """Return the rows that fit on the terminal: the newest."""
        room = max(1, self._console.height - _FRAME)
        if self._changes:
            return list(self._newest)[-room:]
        return [(RowKind.INSERT, values) for values in list(self._folded.rows())[-room:]]

    def _foot(self) -> str:
        return f"{len(self._folded):,} rows, {self._count:,} changes. Ctrl-C ends the result."


def _cells(values: Sequence[str | None]) -> list[str]:
    return [NULL_TEXT if value is None else value for value in values]
