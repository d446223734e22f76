"""Base classes of joins that wait for the watermark."""

from __future__ import annotations

from dataclasses import dataclass

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.identity import stable
from streamtable.plan.join.pairs import PairNode
from streamtable.plan.node import Node


@stable("")
@dataclass(frozen=True)
class TimeJoin(PairNode):
    """Join that emits rows when the watermark passes their time."""

    waits = True

    @property
    def mode(self) -> ChangelogMode:
        """Append-only."""
        return APPEND

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return false: rows are only inserted, and a new version replaces the old one by key."""
        del child, before
        return False


@stable("", left_time="left_time", right_time="right_time")
@dataclass(frozen=True)
class TimedJoin(TimeJoin):
    """Join by the event times of rows.

    Attributes:
        left_time: event time of left rows.
        right_time: event time of right rows.
    """

    left_time: str
    right_time: str

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields of the join, including the event times."""
        return super().reads(wanted | {self.left_time, self.right_time})
