"""Interval join operator."""

from __future__ import annotations

from dataclasses import dataclass

from streamtable.core.identity import stable
from streamtable.plan.join.time_joins import TimedJoin
from streamtable.plan.state import StateLayout


@stable("IntervalJoin", earliest="earliest", latest="latest")
@dataclass(frozen=True)
class IntervalJoin(TimedJoin):
    """Join of rows whose event times differ by a bounded interval.

    The difference is the left row's time minus the right row's time.

    Attributes:
        earliest: minimum difference in milliseconds; negative if the left row may be earlier.
        latest: maximum difference in milliseconds.
    """

    title = "IntervalJoin"
    unites_inputs = True
    emits_late = True
    state = StateLayout("IntervalJoin", 1, ("IntervalJoinProcessor",), frozenset({"left", "right"}))

    earliest: int
    latest: int

    @property
    def described(self) -> str:
        """Names the join."""
        return "the interval join"

    @property
    def headline(self) -> str:
        """Shows join type, equalities and bounds."""
        name = self.kind.value.replace("Join", "IntervalJoin")
        between = f"{self.earliest} ms and {self.latest} ms"
        times = f"{self.left_time} - {self.right_time} between {between}"
        return f"{name} on {self.equal_where}, {times}"
