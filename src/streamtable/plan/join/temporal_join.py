"""Temporal join operator: a join with the version of a row at a point in time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from streamtable.core.identity import stable
from streamtable.plan.inputs import Expiring
from streamtable.plan.join.time_joins import TimedJoin
from streamtable.plan.state import StateLayout


@stable("TemporalJoin", ttl="ttl")
@dataclass(frozen=True)
class TemporalJoin(TimedJoin, Expiring):
    """Join each left row with the right row's version at the left row's time.

    Attributes:
        ttl: how long a key without rows is kept while no left row waits for it; None: forever.
    """

    title = "TemporalJoin"
    state = StateLayout(
        "TemporalJoin", 1, ("TemporalJoinProcessor",), frozenset({"waiting", "versions", "used"})
    )

    ttl: timedelta | None = None

    @property
    def headline(self) -> str:
        """Shows join type, equalities and time."""
        kind = "Left" if self.kind.pads_right else ""
        return f"{kind}TemporalJoin on {self.equal_where} as of {self.left_time}"
