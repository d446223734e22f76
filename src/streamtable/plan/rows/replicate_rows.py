"""Replicate rows operator, for INTERSECT ALL and EXCEPT ALL."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from streamtable.core.changelog import INSERT_DELETE, ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.node import Node


@stable("Repeat", count="count")
@dataclass(frozen=True)
class ReplicateRows(UnaryNode):
    """Emit each input row as many times as a field says; Flink's `replicate_rows`.

    Attributes:
        count: a BIGINT field that is not passed on; zero or less drops the row.
    """

    title = "ReplicateRows"
    state = None

    count: str

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input, without the count."""
        return tuple(f for f in self.input.fields if f.name != self.count)

    @property
    def mode(self) -> ChangelogMode:
        """Inserts and deletes: copies of a row have no identity."""
        return INSERT_DELETE

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return true: the two rows of an update differ in their counts."""
        del child, before
        return True

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on, and the count."""
        return (wanted | {self.count},)

    @property
    def headline(self) -> str:
        """Shows the count field."""
        return f"ReplicateRows by {self.count}"
