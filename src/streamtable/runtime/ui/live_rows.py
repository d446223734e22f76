"""The newest rows of a job's sinks, read only while somebody looks at them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from streamtable.connector_api.tail import ChangeRow, Tail
from streamtable.core.errors import Condition, StreamtableError

#: Number of rows that are kept of each sink.
KEPT = 50

#: Interval of the reads, in seconds.
_POLL_S = 0.5

#: Time after the last look at which the reads end, in seconds.
_LOOK_S = 5.0

#: Time after which a sink that could not be read is tried again, in seconds.
_RETRY_S = 5.0

#: Longest text of a value.
_LONGEST = 200


class LiveRows:
    """Reads the tails of sinks in a thread of its own, which ends when nobody looks any more.

    Args:
        tails: table -> function that opens the tail of its sink.
    """

    def __init__(self, tails: Mapping[str, Callable[[], Tail]]) -> None:
        self._openers = tails
        self._lock = threading.Lock()
        self._rows: dict[str, deque[dict[str, Any]]] = {}
        self._declined: dict[str, str] = {}
        self._number = 0
        self._looked = float("-inf")
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def look(self, after: int) -> dict[str, Any]:
        """Return rows for a client, and keep the reads going.

        Args:
            after: number of the newest row that the client has; 0 for none.

        Returns:
            `last`, the number of the newest row; `rows`, the later rows of each table, oldest
            first; `declined`, the reason of each table without rows.
        """
        with self._lock:
            self._looked = time.monotonic()
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._run, name="live-rows", daemon=True)
                self._thread.start()
            rows = {
                table: [row for row in kept if row["number"] > after]
                for table, kept in self._rows.items()
            }
            return {"last": self._number, "rows": rows, "declined": dict(self._declined)}

    @property
    def reads(self) -> bool:
        """Whether the sinks are being read."""
        return self._thread is not None

    def close(self) -> None:
        """End the reads."""
        self._closed.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        tails: dict[str, Tail] = {}
        retry: dict[str, float] = {}
        try:
            while not self._closed.wait(_POLL_S if tails or retry else 0):
                if self._ended():
                    return
                for table in self._openers:
                    if time.monotonic() >= retry.get(table, 0):
                        retry[table] = self._read(table, tails)
        finally:
            for tail in tails.values():
                tail.close()
            with self._lock:
                self._thread = None

    def _ended(self) -> bool:
        """Return whether nobody looks any more; the rows are then forgotten."""
        with self._lock:
            if time.monotonic() < self._looked + _LOOK_S:
                return False
            self._rows.clear()
            self._declined.clear()
            return True

    def _read(self, table: str, tails: dict[str, Tail]) -> float:
        """Read the new rows of a table; return the time of the next read, of `time.monotonic`."""
        try:
            if table not in tails:
                tails[table] = self._openers[table]()
            found = tails[table].poll()
        except StreamtableError as error:
            with self._lock:
                self._declined[table] = error.message
            never = error.condition is Condition.NOT_YET
            return float("inf") if never else time.monotonic() + _RETRY_S
        with self._lock:
            self._declined.pop(table, None)
            kept = self._rows.setdefault(table, deque(maxlen=KEPT))
            for row in found:
                self._number += 1
                kept.append(_shown(row, self._number))
        return 0.0


def _shown(row: ChangeRow, number: int) -> dict[str, Any]:
    """Return a row as JSON values: numbers and booleans as they are, all else as short text."""
    columns = {name: _value(value) for name, value in row.columns.items()}
    return {"number": number, "kind": row.kind, "time": row.time_ms, "columns": columns}


def _value(value: Any) -> Any:
    if value is None or isinstance(value, bool | float):
        return value
    # Larger integers would lose digits in the browser.
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
