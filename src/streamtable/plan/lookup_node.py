"""The node of a lookup in a table that does not change; see `time_nodes` for what it shares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND, ChangelogMode, RowKind
from streamtable.core.types import Field
from streamtable.plan.stateful_nodes import JoinKind
from streamtable.plan.time_nodes import TimeOperator

if TYPE_CHECKING:
    from streamtable.plan.nodes import Node


@dataclass(frozen=True)
class LookupJoin(TimeOperator):
    """Each row with the rows of a table that fit it, as it comes; nothing is kept.

    The table does not change, so that a row which is taken back finds what it has found before.
    Where each row of an update gives one row, or both give none, kinds stay what they are;
    elsewhere an update is taken for a delete and an insert, as the two rows may find other ones.

    Attributes:
        table: a tree without the scan of a topic, whose fields have other names than the input's.
        kind: inner or left.
        condition: Spark SQL over the fields of both, what pairs must fulfil; None for all pairs.
        condition_fields: the fields that the condition reads.
        single: whether no row finds more than one.
        by_key: whether both rows of an update find the same, as only a key of the input decides.
    """

    input: Node
    table: Node
    kind: JoinKind
    condition: str | None
    condition_fields: frozenset[str]
    single: bool = False
    by_key: bool = False

    @property
    def inputs(self) -> tuple[Node, ...]:
        """One: the table gives no rows of its own."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input, then of the table; nullable where nothing may fit."""
        if not self.kind.pads_right:
            return (*self.input.fields, *self.table.fields)
        padded = (Field(f.name, f.type.with_nullable(True)) for f in self.table.fields)
        return (*self.input.fields, *padded)

    @property
    def keeps_kinds(self) -> bool:
        """Whether each row of an update gives one row, or both give none."""
        return self.single and (self.kind.pads_right or self.by_key)

    @property
    def mode(self) -> ChangelogMode:
        """That of the input, or deletes and inserts."""
        if self.input.mode.is_append:
            return APPEND
        if self.keeps_kinds:
            return self.input.mode
        return ChangelogMode(frozenset({RowKind.INSERT, RowKind.DELETE}))

    def needs_before(self, child: Node, before: bool) -> bool:
        """What the consumer needs; where kinds do not stay, the row to be deleted."""
        return not child.mode.is_append and (before or not self.keeps_kinds)

    def over(self, inputs: Iterable[Node]) -> LookupJoin:
        """The same over another input."""
        (node,) = inputs
        return replace(self, input=node)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """What it passes on and what the condition reads."""
        return ((wanted | self.condition_fields) & {f.name for f in self.input.fields},)
