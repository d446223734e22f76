"""Temporal join operator: a join with the version of a row at a point in time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.identity import stable
from streamtable.plan.inputs import Expiring
from streamtable.plan.join.time_joins import TimedJoin
from streamtable.plan.node import Node
from streamtable.plan.state import StateLayout
from streamtable.plan.window.emission import positioned_by_time


@stable("TemporalJoin", ttl="ttl")
@dataclass(frozen=True)
class TemporalJoin(TimedJoin, Expiring):
    """Join each left row with the right row's version at the left row's time.

    Attributes:
        ttl: how long a key without rows is kept while no left row waits for it; None: forever.
        at: place of the FOR SYSTEM_TIME clause.
    """

    title = "TemporalJoin"
    state = StateLayout(
        "TemporalJoin", 1, ("TemporalJoinProcessor",), frozenset({"waiting", "versions", "used"})
    )

    emits_by_time = True

    ttl: timedelta | None = None
    at: Span | None = field(default=None, compare=False)

    def satisfied(self, before: bool, duplicates: bool) -> Node:
        """Refuse a left input with updates or deletes.

        Raises:
            StreamtableError: NOT_YET.
        """
        if not self.left.mode.is_append:
            raise StreamtableError(
                Condition.NOT_YET,
                at=self.at,
                what="FOR SYSTEM_TIME AS OF in event time for an input with updates or deletes",
                hint="a row that is taken back would need the version that it was joined with,"
                " which is dropped when the watermark passes; Flink then takes back nothing, or"
                " another row. Join first and aggregate after it, or aggregate by windows",
            )
        return super().satisfied(before, duplicates)

    def positioned(self) -> Node:
        """Return the operator with positions by event time."""
        return positioned_by_time(self, self.left_time)

    @property
    def headline(self) -> str:
        """Shows join type, equalities and time."""
        kind = "Left" if self.kind.pads_right else ""
        return f"{kind}TemporalJoin on {self.equal_where} as of {self.left_time}"
