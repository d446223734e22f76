"""The node of the first row of each partition; see `time_nodes` for what such nodes share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.types import Field
from streamtable.plan.time_nodes import TimeOperator

if TYPE_CHECKING:
    from streamtable.plan.nodes import Node
    from streamtable.plan.source_nodes import Key


@dataclass(frozen=True)
class Deduplicate(TimeOperator):
    """The first row of each partition by event time, once, when the watermark passes it.

    Flink's `Deduplicate(keep=[FirstRow], order=[ROWTIME])`.

    Attributes:
        partition: fields whose values tell partitions apart; empty for one of everything.
        time: the event time.
        order: input fields by which rows of one moment are taken; then by all from the left.
        ttl: how long it is known that a partition's first row has come out; None for ever.
    """

    input: Node
    partition: Key
    time: str
    order: Key = ()
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
        """Those of the input without the order."""
        return tuple(f for f in self.input.fields if f.name not in self.order)

    @property
    def mode(self) -> ChangelogMode:
        """Inserts only."""
        return APPEND

    @property
    def keys_of_its_own(self) -> tuple[Key, ...]:
        """The partition."""
        return (self.partition,)

    def over(self, inputs: Iterable[Node]) -> Deduplicate:
        """The same over another input."""
        (node,) = inputs
        return replace(self, input=node)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """What it passes on, partition, time and order."""
        return (wanted | {*self.partition, self.time, *self.order},)
