"""Progress lines of a job."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from streamtable.connectors.mysql_cdc.reader import SourceSpec, TableId
from streamtable.connectors.mysql_cdc.reader.connect import session
from streamtable.ingest.run.status import ReaderStatus
from streamtable.jvm.streaming.counters import Counters

#: The time window of the rate, in seconds.
_WINDOW_S = 10.0
_HOUR_S, _MINUTE_S = 3600, 60

_ESTIMATE = """
    SELECT table_schema, table_name, table_rows FROM information_schema.tables
    WHERE table_type = 'BASE TABLE' AND table_rows IS NOT NULL
"""


def estimated_rows(spec: SourceSpec, tables: Collection[TableId]) -> int:
    """Return the approximate number of rows of the tables, from the server's statistics."""
    with session(spec.settings) as opened:
        rows = opened.rows(_ESTIMATE)
    return sum(int(count) for db, name, count in rows if TableId(db, name) in tables)


@dataclass
class Progress:
    """Formats the status of reader and writer as progress lines.

    Attributes:
        tables: the tables of the job.
        expected: the approximate number of rows of its snapshot.
        counters: the counters of the writer.
        show: called with each line of output.
        every: seconds between two lines.
    """

    tables: Collection[TableId]
    expected: int
    counters: Counters
    show: Callable[[str], None]
    every: float

    def __post_init__(self) -> None:
        self._begun = self._shown = time.monotonic()
        self._marks: list[tuple[float, int]] = [(self._begun, 0)]

    def look(self, status: ReaderStatus | None) -> None:
        """Show a progress line if the interval has passed."""
        now = time.monotonic()
        if status is None or now - self._shown < self.every:
            return
        self._shown = now
        self.show(self.line(status, now))

    def line(self, status: ReaderStatus, now: float) -> str:
        """Return a line with tables, chunks, rows, rate, remaining time and lag."""
        rows = self.rows
        self._marks = [*(m for m in self._marks if now - m[0] <= _WINDOW_S)] or self._marks[-1:]
        then, before = self._marks[0]
        rate = (rows - before) / (now - then) if now > then else 0.0
        self._marks.append((now, rows))
        if status.pending:
            done = len(self.tables) - len(status.pending)
            left = max(0, self.expected - rows)
            remaining = f", about {_span(left / rate)} left" if rate and left else ""
            return (
                f"snapshot: {max(done, 0)} of {len(self.tables)} tables,"
                f" {status.chunks:,} chunks, {rows:,} of about {self.expected:,} rows,"
                f" {rate:,.0f} rows/s{remaining}"
            )
        lag = "nothing to read" if status.idle else f"{status.behind:,} bytes behind"
        if status.lag > 0:
            lag += f", at most {status.lag:.1f} s"
        return f"binlog: at {status.position}, {rows:,} rows, {rate:,.0f} rows/s, {lag}"

    @property
    def rows(self) -> int:
        """The number of records that this run has written."""
        return self.counters.values().get("recordsOut", 0)

    def summary(self) -> str:
        """Return the final line."""
        seconds = time.monotonic() - self._begun
        rate = self.rows / seconds if seconds else 0.0
        return f"wrote {self.rows:,} records in {_span(seconds)}, {rate:,.0f} a second"


def _span(seconds: float) -> str:
    if seconds >= _HOUR_S:
        return f"{seconds / _HOUR_S:.1f} h"
    if seconds >= _MINUTE_S:
        return f"{seconds / _MINUTE_S:.1f} min"
    return f"{seconds:.0f} s"
