"""Processing-time OVER operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from streamtable.core.identity import stable
from streamtable.plan.node import Key
from streamtable.plan.over.frame import over_headline
from streamtable.plan.over.time_over import TimeOver
from streamtable.plan.state import OF_GROUPS, StateLayout

#: Additional TTL of rows in a time-based frame; longer than a batch.
_FRAME_SLACK = timedelta(hours=1)


@stable("ArrivalOver")
@dataclass(frozen=True)
class ProcessingTimeOver(TimeOver):
    """Emit each row on arrival, with aggregates over the rows that arrived before it.

    The operator does not wait for a watermark. A time-based frame keeps its rows as long as it
    needs them.
    """

    state = StateLayout("OverAggregate", 1, ("ProcessingTimeOverProcessor",), OF_GROUPS | {"rows"})

    @property
    def expiry(self) -> timedelta | None:
        """State TTL of the operator."""
        if self.frame.preceding is None or not self.frame.of_time:
            return self.ttl
        return timedelta(milliseconds=self.frame.preceding) + _FRAME_SLACK

    @property
    def kept_for(self) -> Sequence[tuple[str, timedelta | None]]:
        """State of the operator; a time-based frame sets its TTL."""
        return (("state", self.expiry),)

    @property
    def batch_order(self) -> Key:
        """The order fields."""
        return self.order

    @property
    def by_processing_time(self) -> bool:
        """Always true."""
        return True

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields of the operator, including the time for a time-based frame."""
        (read,) = super().reads(wanted)
        return (read | {self.time} if self.frame.of_time else read,)

    @property
    def headline(self) -> str:
        """Shows partition, frame and aggregates."""
        return over_headline(self.partition, "processing time", self.frame, self.calls)
