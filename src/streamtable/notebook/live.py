"""Live result: the drawing of a query in a notebook, updated while its rows change."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import islice

from streamtable.api.fold import Folded
from streamtable.api.query import Change, Query
from streamtable.core.changelog import RowKind
from streamtable.notebook.drawings import Bundle, Drawing

#: Time between two updates, in seconds.
_REDRAW_S = 0.5


class LiveResult:
    """A query whose drawing is updated until the query ends or the user stops it.

    Args:
        query: the query.
        drawing: draws its rows.
        show: replaces the displayed drawing.
        limit: number of rows that are drawn, the newest.
        changes: whether the newest changes are drawn instead of rows.
        seconds: time after which the query is stopped; None runs it until its end.
    """

    def __init__(
        self,
        query: Query,
        drawing: Drawing,
        show: Callable[[Bundle], None],
        *,
        limit: int,
        changes: bool,
        seconds: float | None,
    ) -> None:
        self._query = query
        self._drawing = drawing
        self._show = show
        self._limit = limit
        self._seconds = seconds
        self._newest: deque[Change] | None = deque(maxlen=limit) if changes else None
        self._folded = Folded()
        self._count = 0
        self._stop = threading.Event()

    def run(self) -> None:
        """Update the drawing until the end of the query; a kernel interrupt stops the query."""
        try:
            end = "ended" if self._follow() else "stopped"
        except KeyboardInterrupt:
            end = "stopped"
        except BaseException:
            self._draw("failed")
            raise
        self._draw(end)

    def stop(self) -> None:
        """Request the end of the query; `run` returns soon after."""
        self._stop.set()

    def _follow(self) -> bool:
        """Return whether the query has ended by itself."""
        started = drawn = time.monotonic()
        shown = -1
        batches = self._query.texts() if self._drawing.texts else self._query.values()
        with closing(batches):
            for batch in batches:
                self._add(batch)
                now = time.monotonic()
                if self._count > shown and (shown < 0 or now > drawn + _REDRAW_S):
                    drawn, shown = now, self._count
                    self._draw("running")
                expired = self._seconds is not None and now > started + self._seconds
                if expired or self._stop.is_set():
                    return False
        return True

    def _add(self, batch: Sequence[Change]) -> None:
        self._count += len(batch)
        for kind, values in batch:
            self._folded.add(kind, values)
        if self._newest is not None:
            self._newest.extend(batch)

    def _draw(self, state: str) -> None:
        if self._newest is None:
            skipped = max(0, len(self._folded) - self._limit)
            kept = islice(self._folded.rows(), skipped, None)
            rows: Sequence[Change] = [(RowKind.INSERT, values) for values in kept]
        else:
            rows = list(self._newest)
        foot = f"{len(self._folded):,} rows, {self._count:,} changes; {state}"
        self._show(self._drawing.draw(rows[-self._limit :], foot))
