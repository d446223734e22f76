"""The nodes that take rows in the order in which they come, which is that of processing time.

See `time_nodes` for what they share with others. They wait for no watermark: what a row gives comes
out at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND, ChangelogMode, RowKind
from streamtable.core.errors import Span
from streamtable.core.types import Field
from streamtable.plan.over_node import Frame
from streamtable.plan.time_nodes import TimeOperator

if TYPE_CHECKING:
    from streamtable.plan.nodes import AggregateCall, Node
    from streamtable.plan.source_nodes import Key

#: How much longer than a frame of time reaches its rows are kept: more than a batch lasts.
_FRAME_SLACK = timedelta(hours=1)


@dataclass(frozen=True)
class ArrivalDeduplicate(TimeOperator):
    """The first row of each partition to come, once, or the last one, kept up to date.

    Flink's `Deduplicate(keep=[FirstRow or LastRow], order=[PROCTIME])`.

    Attributes:
        partition: fields whose values tell partitions apart; empty for one of everything.
        last: whether it is the last row.
        before: whether updates come with the row they replace.
        order: input fields by which the rows of a batch are taken; then by all from the left.
        ttl: how long a partition is kept after its last change; None for ever.
    """

    input: Node
    partition: Key
    last: bool
    before: bool = False
    order: Key = ()
    ttl: timedelta | None = None

    #: Rows are only added.
    takes_back = False

    @property
    def inputs(self) -> tuple[Node, ...]:
        """One."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input without the order."""
        return tuple(f for f in self.input.fields if f.name not in self.order)

    @property
    def mode(self) -> ChangelogMode:
        """A first row stays; a last one is replaced."""
        if not self.last:
            return APPEND
        before = {RowKind.UPDATE_BEFORE} if self.before else set()
        return ChangelogMode(frozenset({RowKind.INSERT, RowKind.UPDATE_AFTER, *before}))

    @property
    def keys_of_its_own(self) -> tuple[Key, ...]:
        """The partition."""
        return (self.partition,)

    def over(self, inputs: Iterable[Node]) -> ArrivalDeduplicate:
        """The same over another input."""
        (node,) = inputs
        return replace(self, input=node)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """What it passes on, partition and order."""
        return (wanted | {*self.partition, *self.order},)


@dataclass(frozen=True)
class ArrivalOver(TimeOperator):
    """Each row, as it comes, with aggregates over those that came before it.

    Attributes:
        partition: fields whose values tell partitions apart; empty for one of everything.
        time: the clock's time of each row, which a frame of time goes by.
        order: input fields by which the rows of a batch are taken; then by all from the left.
        at: where the first call stands.
        ttl: how long a partition is kept after its last row; None for ever. A frame of time keeps
            its rows as long as it needs them.
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

    @property
    def expiry(self) -> timedelta | None:
        """How long its state is kept."""
        if self.frame.preceding is None or not self.frame.of_time:
            return self.ttl
        return timedelta(milliseconds=self.frame.preceding) + _FRAME_SLACK

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

    def over(self, inputs: Iterable[Node]) -> ArrivalOver:
        """The same over another input."""
        (node,) = inputs
        return replace(self, input=node)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """What it passes on, partition, time and order, and what the calls take."""
        own = {c.output.name for c in self.calls}
        taken = {name for c in self.calls for name in (c.argument, c.filter) if name is not None}
        if self.frame.of_time:
            taken.add(self.time)
        return (wanted - own | {*self.partition, *self.order} | taken,)
