"""Counts that tasks raise and the driver reads."""

from __future__ import annotations

from typing import Any

from streamtable.jvm.maps import numbers

#: Names that readers of records and `KafkaWriter` count under.
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
COUNTED_OUT = ("recordsOut", "bytesOut", "recordsLost", "nullsDropped")


class LatestPair:
    """Of the pairs that tasks add, the one that comes last."""

    def __init__(self, java: Any) -> None:
        self.java = java

    def value(self) -> tuple[int, int] | None:
        """Two numbers, the first a time in epoch ms; None until there is one."""
        text = str(self.java.text())
        if not text:
            return None
        first, second = text.split()
        return int(first), int(second)


class Counters:
    """Counts that tasks raise and the driver reads.

    Attributes:
        newest: the greatest time of a record that was read, and when it was.
        sending: when an epoch was last written, and how long a record took.
    """

    def __init__(self, java: Any, newest: LatestPair, sending: LatestPair) -> None:
        self._java = java
        self.newest = newest
        self.sending = sending

    @property
    def java(self) -> Any:
        """The Java side, for the bridge."""
        return self._java

    def values(self) -> dict[str, int]:
        """Every count by its name, as far as finished tasks have told."""
        return numbers(self._java.values())
