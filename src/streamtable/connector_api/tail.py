"""`Tail`: the newest rows of a sink's target, for people who watch a running job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class ChangeRow:
    """A change in a sink's target.

    Attributes:
        kind: row kind: `+I`, `-U`, `+U` or `-D`. A target that keeps the last row of each key does
            not tell inserts from updates: such rows are `+U`.
        columns: values by the table's columns; a deletion may have the key columns only.
        time_ms: time of the change in epoch milliseconds.
    """

    kind: str
    columns: Mapping[str, Any]
    time_ms: int


class Tail(Protocol):
    """The newest rows of a target. One thread at a time calls the methods."""

    def poll(self) -> Sequence[ChangeRow]:
        """Return the rows since the last call, at first the newest ones; rows may be skipped.

        Raises:
            StreamtableError: an error of the external system.
        """

    def close(self) -> None:
        """Release the connections."""
