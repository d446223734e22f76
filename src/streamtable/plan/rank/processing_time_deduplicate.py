"""Processing-time deduplicate operator: the first or the last row of each partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property

from streamtable.core.changelog import APPEND, ChangelogMode, RowKind
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.inputs import Expiring, UnaryNode
from streamtable.plan.keys import by
from streamtable.plan.node import Key, Node
from streamtable.plan.position import with_position
from streamtable.plan.rank.deduplicate import deduplicate_advice
from streamtable.plan.state import StateLayout


@stable(
    "ArrivalDeduplicate",
    partition="partition",
    last="last",
    before="before",
    order="order",
    ttl="ttl",
)
@dataclass(frozen=True)
class ProcessingTimeDeduplicate(UnaryNode, Expiring):
    """Emit the first row of each partition on arrival, or the last one with updates.

    The operator does not wait for a watermark. Flink's `Deduplicate(keep=[FirstRow or LastRow],
    order=[PROCTIME])`.

    Attributes:
        partition: partition fields; empty for a single partition.
        last: whether to keep the last row.
        before: whether to emit update-before rows.
        order: input fields that order the rows of a batch; ties are ordered by all fields from the
            left.
        ttl: how long a partition is kept after its last change; None: forever.
    """

    title = "Deduplicate"
    state = StateLayout(
        "Deduplicate", 1, ("ProcessingTimeDeduplicateProcessor",), frozenset({"kept"})
    )

    partition: Key
    last: bool
    before: bool = False
    order: Key = ()
    ttl: timedelta | None = None

    @property
    def grouping(self) -> Key:
        """Partition fields."""
        return self.partition

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input without the order fields."""
        return self.fields_without(self.order)

    @property
    def mode(self) -> ChangelogMode:
        """Append-only for the first row; with updates for the last row."""
        if not self.last:
            return APPEND
        before = {RowKind.UPDATE_BEFORE} if self.before else set()
        return ChangelogMode(frozenset({RowKind.INSERT, RowKind.UPDATE_AFTER, *before}))

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the partition fields."""
        del ordered
        return (self.partition,)

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return false: the input is append-only."""
        del child, before
        return False

    def settled(self, before: bool) -> ProcessingTimeDeduplicate:
        """Return the operator with row positions, which order the rows of a batch."""
        below, order = with_position(self.input)
        return replace(self, input=below, order=order, before=before)

    @property
    def batch_order(self) -> Key:
        """The order fields."""
        return self.order

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on, the partition and the order fields."""
        return (wanted | {*self.partition, *self.order},)

    @property
    def by_processing_time(self) -> bool:
        """Always true."""
        return True

    def is_event_time(self, name: str) -> bool:
        """Return whether the field is an event time; not for the last row, which is updated."""
        return not self.last and self._has(name) and self.input.is_event_time(name)

    @property
    def headline(self) -> str:
        """Shows the partition, and first or last row."""
        which = "last" if self.last else "first"
        return f"Deduplicate {by(self.partition)}: the {which} row to arrive"

    def advice(self) -> Iterator[str]:
        """Advise that the operator remembers each partition."""
        if self.partition and self.ttl is None:
            yield deduplicate_advice(self.partition)
