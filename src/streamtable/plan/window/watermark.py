"""Watermark assigner operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from streamtable.core.changelog import ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field, Root
from streamtable.plan.binding.bound import Path, whole
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.node import Key, Node
from streamtable.plan.window.fields import WindowField


@stable("WatermarkAssigner", derived=("reads_fields",), column="column", sql="sql", table="table")
@dataclass(frozen=True)
class WatermarkAssigner(UnaryNode):
    """Assign the watermark of a scan: `WATERMARK FOR column AS expression`.

    The watermark of a partition is the maximum of the expression. The watermark of the scan is the
    minimum over all partitions.

    Attributes:
        column: the event time field.
        sql: Spark SQL of the expression over the input's fields.
        reads_fields: the fields that the expression reads.
        table: name of the table, for messages and metrics.
    """

    title = "WatermarkAssigner"
    state = None
    moves_watermark = True

    column: str
    sql: str
    reads_fields: frozenset[str]
    table: str

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input."""
        return self.input.fields

    @property
    def mode(self) -> ChangelogMode:
        """Mode of the input."""
        return self.input.mode

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the keys of the input."""
        return self.input.row_keys(ordered=ordered)

    def fields_of_deletes(self) -> frozenset[str] | None:
        """Return the fields that the deletes of the input carry."""
        return self.input.fields_of_deletes()

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return the consumer's need."""
        return before and not child.mode.is_append

    def positioned(self) -> Node | None:
        """Return the operator with the positions of the input."""
        below = self.input.positioned()
        return None if below is None else self.over([below])

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on, the event time and the fields of the expression."""
        return (wanted | {self.column} | self.reads_fields,)

    def in_parts(self, wanted: frozenset[Path]) -> Node:
        """Add the event time and the fields of the expression."""
        return self.over([self.input.in_parts(wanted | whole({self.column} | self.reads_fields))])

    def is_event_time(self, name: str) -> bool:
        """Return whether the field is the watermark's column."""
        return name == self.column

    def window_field(self, name: str) -> WindowField | None:
        """Return the window bound of the input's field."""
        return self.passed_window(name)

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others: if the input can."""
        return self.input.runs_together

    def normalizers(self, above: str | None) -> Sequence[str | None]:
        """Return the operator's own normalizer for its input."""
        return [above]

    @property
    def headline(self) -> str:
        """Shows column and expression."""
        return f"WatermarkAssigner {self.column}: {self.sql}, minimum over all partitions"


def is_instant(field: Field) -> bool:
    """Return whether an event time is an instant (TIMESTAMP_LTZ), not a local time."""
    return field.type.root is Root.TIMESTAMP_LTZ
