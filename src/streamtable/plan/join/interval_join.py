"""Interval join operator."""

from __future__ import annotations

from dataclasses import dataclass

from streamtable.core.identity import stable
from streamtable.plan.join.time_joins import TimedJoin
from streamtable.plan.node import Node
from streamtable.plan.position import is_scattered
from streamtable.plan.state import StateLayout
from streamtable.plan.window.emission import positioned_by_time


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

    def positioned(self) -> Node | None:
        """Return the join with positions by the time of windows; None for other rows."""
        if not is_scattered(self):
            return None
        sides = zip(self.arrival_inputs, (self.left_time, self.right_time), strict=False)
        windows_first = sorted(sides, key=lambda side: not is_scattered(side[0]))
        return positioned_by_time(self, *(time for _, time in windows_first))

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
