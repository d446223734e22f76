"""OVER frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamtable.core.identity import stable
from streamtable.plan.aggregate.call import AggregateCall
from streamtable.plan.keys import by
from streamtable.plan.node import Key


@stable("Frame", peers="peers", preceding="preceding")
@dataclass(frozen=True)
class Frame:
    """Frame of an OVER window; the frame always ends at the current row.

    Attributes:
        peers: whether rows with the same time belong to the frame regardless of order (RANGE).
        preceding: number of preceding rows, or milliseconds of a RANGE; None: unbounded.
    """

    peers: bool
    preceding: int | None = None

    @property
    def of_time(self) -> bool:
        """Whether the length of the frame is a time."""
        return self.peers and self.preceding is not None

    @property
    def described(self) -> str:
        """Frame, formatted for EXPLAIN."""
        much = "UNBOUNDED" if self.preceding is None else str(self.preceding)
        unit = " ms" if self.of_time else ""
        return f"{'RANGE' if self.peers else 'ROWS'} {much}{unit} PRECEDING"


def over_headline(partition: Key, order: str, frame: Frame, calls: Sequence[AggregateCall]) -> str:
    """Format the headline of an OVER operator."""
    described = ", ".join(call.described for call in calls)
    title = f"OverAggregate {by(partition)} in the order of {order}"
    return f"{title}, {frame.described}: {described}"
