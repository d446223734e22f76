"""Counters that tasks increment and the driver reads."""

from __future__ import annotations

from typing import Any

from streamtable.jvm.maps import numbers

#: Counter names of record readers and `KafkaWriter`.
COUNTED_IN = (
    "recordsIn",
    "bytesIn",
    "nullKeys",
    "tombstones",
    "emptyRecords",
    "parseErrors",
    "fieldErrors",
    "noChanges",
    "deadLetters",
    "lateRows",
)
#: Counter names of lookups.
COUNTED_LOOKUPS = ("hitCount", "missCount", "loadCount", "numLoadFailures")
COUNTED_OUT = ("recordsOut", "bytesOut", "recordsLost", "nullsDropped")


class LatestPair:
    """The latest of the pairs that tasks add."""

    def __init__(self, java: Any) -> None:
        self.java = java

    def value(self) -> tuple[int, int] | None:
        """Return two numbers, the first a time in epoch ms; None if there is none yet."""
        text = str(self.java.text())
        if not text:
            return None
        first, second = text.split()
        return int(first), int(second)


class Counters:
    """Counters that tasks increment and the driver reads.

    Attributes:
        last_read: when the last record was read, and its time.
        sending: when an epoch was last written, and the send duration of a record.
    """

    def __init__(self, java: Any, last_read: LatestPair, sending: LatestPair) -> None:
        self._java = java
        self.last_read = last_read
        self.sending = sending

    @property
    def java(self) -> Any:
        """The Java side, for the bridge."""
        return self._java

    def values(self) -> dict[str, int]:
        """Return every counter by its name, as reported by finished tasks."""
        return numbers(self._java.values())
