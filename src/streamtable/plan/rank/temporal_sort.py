"""Temporal sort operator: ORDER BY an event time."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from streamtable.core.errors import Span
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.node import Key, Node
from streamtable.plan.rank.sort_key import SortKey
from streamtable.plan.state import StateLayout
from streamtable.plan.time_ordered import TimeOrdered
from streamtable.plan.window.emission import positioned_by_time


@stable("TemporalSort", time="time", peers="peers", order="order")
@dataclass(frozen=True)
class TemporalSort(TimeOrdered):
    """Emit all rows of append-only input sorted by event time, as the watermark passes them.

    Flink's `TemporalSort`. One task sorts all rows.

    Attributes:
        time: the event time.
        peers: sort keys of rows with the same time.
        order: input fields that order rows with equal sort keys; ties are ordered by all fields
            from the left.
        at: place of ORDER BY.
    """

    clause = "ORDER BY without LIMIT"
    title = "TemporalSort"
    state = StateLayout("TemporalSort", 1, ("OverProcessor",), frozenset({"rows", "times", "used"}))
    waits = fires_windows = True
    emits_by_time = True

    time: str
    peers: tuple[SortKey, ...]
    order: Key = ()
    at: Span | None = field(default=None, compare=False)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input without the order fields."""
        return self.fields_without(self.order)

    def positioned(self) -> Node:
        """Return the operator with positions by event time."""
        return positioned_by_time(self, self.time)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on, and the sort fields."""
        return (wanted | {self.time, *(key.field for key in self.peers), *self.order},)

    @property
    def headline(self) -> str:
        """Shows the sort order."""
        return ", ".join([f"TemporalSort {self.time} ASC", *(p.described for p in self.peers)])
