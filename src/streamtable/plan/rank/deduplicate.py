"""Event-time deduplicate operator: the first row of each partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.settings.table import STATE_TTL
from streamtable.core.types import Field
from streamtable.plan.inputs import Expiring, UnaryNode
from streamtable.plan.keys import by, listed
from streamtable.plan.node import Key, Node
from streamtable.plan.position import with_ties
from streamtable.plan.state import StateLayout
from streamtable.plan.window.emission import positioned_by_time


@stable("Deduplicate", partition="partition", time="time", order="order", ttl="ttl")
@dataclass(frozen=True)
class Deduplicate(UnaryNode, Expiring):
    """Emit the first row of each partition by event time when the watermark passes it.

    Flink's `Deduplicate(keep=[FirstRow], order=[ROWTIME])`.

    Attributes:
        partition: partition fields; empty for a single partition.
        time: the event time.
        order: input fields that order rows with the same time; ties are ordered by all fields from
            the left.
        ttl: how long the operator remembers that it has emitted the first row of a partition; None:
            forever.
    """

    title = "Deduplicate"
    state = StateLayout("Deduplicate", 1, ("FirstRowProcessor",), frozenset({"first", "used"}))
    waits = fires_windows = True
    passes_times = True
    emits_by_time = True

    partition: Key
    time: str
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
        """Append-only."""
        return APPEND

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the partition fields."""
        del ordered
        return (self.partition,)

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return false: the input is append-only."""
        del child, before
        return False

    def settled(self, before: bool) -> Deduplicate:
        """Return the operator with row positions, which order rows with the same time."""
        del before
        below, order = with_ties(self.input)
        return replace(self, input=below, order=order)

    def positioned(self) -> Node:
        """Return the operator with positions by event time."""
        return positioned_by_time(self, self.time)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on, the partition, the time and the order fields."""
        return (wanted | {*self.partition, self.time, *self.order},)

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others: if the input can."""
        return self.input.runs_together

    @property
    def headline(self) -> str:
        """Shows partition and time."""
        return f"Deduplicate {by(self.partition)}: the first row of {self.time}"

    def advice(self) -> Iterator[str]:
        """Advise that the operator remembers each partition."""
        if self.partition and self.ttl is None:
            yield deduplicate_advice(self.partition)


def deduplicate_advice(partition: Key) -> str:
    """Return the advice on a deduplication whose state never expires."""
    return (
        f"a Deduplicate keeps an entry for every {listed(partition)}. '{STATE_TTL.key}' is 0,"
        " so the state never expires."
    )
