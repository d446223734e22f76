"""Base class of OVER operators ordered by time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property

from streamtable.core.errors import Span
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.aggregate.call import AggregateCall, fields_of
from streamtable.plan.inputs import Expiring
from streamtable.plan.node import Key
from streamtable.plan.over.frame import Frame
from streamtable.plan.time_ordered import TimeOrdered


@stable(
    "",
    partition="partition",
    time="time",
    frame="frame",
    calls="calls",
    order="order",
    ttl="ttl",
)
@dataclass(frozen=True)
class TimeOver(TimeOrdered, Expiring):
    """Emit each row of append-only input with aggregates over the preceding rows by time.

    Attributes:
        partition: partition fields; empty for a single partition.
        time: the time attribute that orders the rows.
        order: input fields that order rows with the same time; ties are ordered by all fields from
            the left.
        at: place of the first call.
        ttl: how long a partition is kept after its last row; None: forever.
    """

    clause = "OVER in the order of a time"
    title = "OverAggregate"

    partition: Key
    time: str
    frame: Frame
    calls: tuple[AggregateCall, ...]
    order: Key = ()
    at: Span | None = field(default=None, compare=False)
    ttl: timedelta | None = None

    @property
    def grouping(self) -> Key:
        """Partition fields."""
        return self.partition

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input without the order fields, then one field per call."""
        return (*self.fields_without(self.order), *(c.output for c in self.calls))

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the passed-on fields, partition, order, and the fields of the aggregates."""
        own = {c.output.name for c in self.calls}
        return (wanted - own | {*self.partition, *self.order} | fields_of(self.calls),)
