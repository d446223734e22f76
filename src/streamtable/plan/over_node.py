"""The nodes of aggregates OVER the rows before; see `time_nodes` for what such nodes share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND, RETRACT, UPSERT, ChangelogMode, RowKind
from streamtable.core.errors import Span
from streamtable.core.types import Field
from streamtable.plan.stateful_nodes import SortKey
from streamtable.plan.time_nodes import TimeOperator

if TYPE_CHECKING:
    from streamtable.plan.nodes import AggregateCall, Node
    from streamtable.plan.source_nodes import Key


@dataclass(frozen=True)
class Frame:
    """Which rows before a row belong to its window; it always reaches to the current row.

    Attributes:
        peers: whether rows of the same moment belong to it whatever their order (RANGE).
        preceding: how many rows, or milliseconds of a RANGE, it holds besides; None for all.
    """

    peers: bool
    preceding: int | None = None

    @property
    def of_time(self) -> bool:
        """Whether it holds so much time."""
        return self.peers and self.preceding is not None


@dataclass(frozen=True)
class OverAggregate(TimeOperator):
    """Each row with aggregates over those before it, once, when the watermark passes the row.

    Attributes:
        partition: fields whose values tell partitions apart; empty for one of everything.
        time: the event time by which rows are ordered.
        order: input fields by which rows of one moment are taken; then by all from the left.
        at: where the first call stands.
        ttl: how long a partition is kept without rows; None for ever. A frame of time drops its
            rows by event time.
    """

    input: Node
    partition: Key
    time: str
    frame: Frame
    calls: tuple[AggregateCall, ...]
    order: Key = ()
    at: Span | None = field(default=None, compare=False)
    ttl: timedelta | None = None

    #: Rows are only added.
    takes_back = False
    waits = fires_windows = True

    @property
    def inputs(self) -> tuple[Node, ...]:
        """One."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input without the order, then one per call."""
        kept = (f for f in self.input.fields if f.name not in self.order)
        return (*kept, *(c.output for c in self.calls))

    @property
    def mode(self) -> ChangelogMode:
        """Inserts only."""
        return APPEND

    def over(self, inputs: Iterable[Node]) -> OverAggregate:
        """The same over another input."""
        (node,) = inputs
        return replace(self, input=node)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """What it passes on, partition, time and order, and what the calls take."""
        own = {c.output.name for c in self.calls}
        taken = {name for c in self.calls for name in (c.argument, c.filter) if name is not None}
        return (wanted - own | {*self.partition, self.time, *self.order} | taken,)


@dataclass(frozen=True)
class SortedOver(TimeOperator):
    """Each row with aggregates over those up to it in another order than time's, kept up to date.

    It knows no time; rows may come anywhere in the order, and be taken back.

    Attributes:
        partition: fields whose values tell partitions apart; empty for one of everything.
        order: the field that rows are ordered by.
        frame: unbounded.
        key: output fields by which a row taken back and a row added make an update.
        before: whether updates come with the row they replace.
        ties: input fields that tell where a row stands in its topic, for rows that are only added.
        ttl: how long a partition is kept after its last change; None for as long as its rows live.
    """

    input: Node
    partition: Key
    order: SortKey
    frame: Frame
    calls: tuple[AggregateCall, ...]
    key: Key | None = None
    before: bool = False
    ties: Key = ()
    ttl: timedelta | None = None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """One."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input without the ties, then one per call."""
        kept = (f for f in self.input.fields if f.name not in self.ties)
        return (*kept, *(c.output for c in self.calls))

    @property
    def mode(self) -> ChangelogMode:
        """A row that comes changes the aggregates of those behind it."""
        if self.key is None:
            return ChangelogMode(frozenset({RowKind.INSERT, RowKind.DELETE}))
        return RETRACT if self.before else UPSERT

    def needs_before(self, child: Node, before: bool) -> bool:
        """Of changes, because it keeps every row."""
        del before
        return not child.mode.is_append

    def over(self, inputs: Iterable[Node]) -> SortedOver:
        """The same over another input."""
        (node,) = inputs
        return replace(self, input=node)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """What it passes on, partition, order and ties, and what the calls take."""
        own = {c.output.name for c in self.calls}
        taken = {c.argument for c in self.calls if c.argument is not None}
        return (
            wanted - own
            | {*self.partition, self.order.field, *self.ties, *(self.key or ())}
            | taken,
        )
