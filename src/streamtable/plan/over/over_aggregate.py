"""OVER aggregate operator, ordered by event time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from streamtable.core.identity import stable
from streamtable.plan.node import Node
from streamtable.plan.over.frame import over_headline
from streamtable.plan.over.time_over import TimeOver
from streamtable.plan.state import OF_GROUPS, StateLayout
from streamtable.plan.window.emission import positioned_by_time


@stable("OverAggregate")
@dataclass(frozen=True)
class OverAggregate(TimeOver):
    """Emit each row with aggregates over the preceding rows when the watermark passes the row.

    With a time-based frame, the operator deletes its rows by event time.
    """

    state = StateLayout(
        "OverAggregate", 1, ("OverProcessor",), OF_GROUPS | {"rows", "times", "used"}
    )
    waits = fires_windows = True
    emits_by_time = True

    def limited(self, default: timedelta) -> Self:
        """Return the operator with its TTL; a time-based frame needs none."""
        return self if self.frame.of_time else super().limited(default)

    def positioned(self) -> Node:
        """Return the operator with positions by event time."""
        return positioned_by_time(self, self.time)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields of the operator, including the event time."""
        (read,) = super().reads(wanted)
        return (read | {self.time},)

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others: if the input can."""
        return self.input.runs_together

    @property
    def headline(self) -> str:
        """Shows partition, time, frame and aggregates."""
        return over_headline(self.partition, self.time, self.frame, self.calls)
