"""OVER aggregate operator, ordered by a column that is not a time attribute."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property

from streamtable.core.changelog import INSERT_DELETE, RETRACT, UPSERT, ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.aggregate.call import AggregateCall
from streamtable.plan.inputs import Expiring, UnaryNode
from streamtable.plan.keys import ordered_keys, unique_keys
from streamtable.plan.node import Key, Node
from streamtable.plan.over.frame import Frame, over_headline
from streamtable.plan.position import with_lasting_position
from streamtable.plan.rank.sort_key import SortKey
from streamtable.plan.state import StateLayout


@stable(
    "SortedOver",
    partition="partition",
    order="order",
    frame="frame",
    calls="calls",
    key="key",
    before="before",
    ties="ties",
    ttl="ttl",
)
@dataclass(frozen=True)
class SortedOver(UnaryNode, Expiring):
    """Emit each row with aggregates over the rows up to it, and update results on changes.

    Rows can arrive anywhere in the order and can be retracted. The operator uses no time attribute.

    Attributes:
        partition: partition fields; empty for a single partition.
        order: the field that orders the rows.
        frame: an unbounded frame.
        key: output fields by which a retracted row and an added row are paired to an update.
        before: whether to emit update-before rows.
        ties: input fields with a row's position in its source, for append-only input.
        ttl: how long a partition is kept after its last change; None: as long as it has rows.
    """

    title = "OverAggregate"
    state = StateLayout(
        "OverAggregate", 1, ("SortedOverProcessor",), frozenset({"rows"}), by_value=True
    )

    partition: Key
    order: SortKey
    frame: Frame
    calls: tuple[AggregateCall, ...]
    key: Key | None = None
    before: bool = False
    ties: Key = ()
    ttl: timedelta | None = None

    @property
    def grouping(self) -> Key:
        """Partition fields."""
        return self.partition

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input without the ties, then one field per call."""
        kept = (f for f in self.input.fields if f.name not in self.ties)
        return (*kept, *(c.output for c in self.calls))

    @property
    def mode(self) -> ChangelogMode:
        """Changes: a new row changes the aggregates of the rows that follow it in the order."""
        if self.key is None:
            return INSERT_DELETE
        return RETRACT if self.before else UPSERT

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the keys of the input; ordered keys contain the partition."""
        if not ordered:
            return unique_keys(self.input)
        held = [key for key in ordered_keys(self.input) if set(self.partition) <= set(key)]
        return tuple(held[:1])

    def settled(self, before: bool) -> SortedOver:
        """Return the operator with a key for updates; append-only input also gets row positions."""
        below: Node = self.input
        ties: Key = ()
        if below.mode.is_append:
            below, ties = with_lasting_position(below)
        settled = replace(self, input=below, ties=ties)
        return replace(settled, key=next(iter(ordered_keys(settled)), None), before=before)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the passed-on fields, partition, order, ties, and the fields of the aggregates."""
        own = {c.output.name for c in self.calls}
        taken = {c.argument for c in self.calls if c.argument is not None}
        read = {*self.partition, self.order.field, *self.ties, *(self.key or ())}
        return (wanted - own | read | taken,)

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others: if the input can."""
        return self.input.runs_together

    @property
    def headline(self) -> str:
        """Shows partition, order, frame and aggregates."""
        headline = over_headline(self.partition, self.order.described, self.frame, self.calls)
        return f"{headline}, keeps every row"
