"""Lookup join operator: a join with a static table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Self

from streamtable.core.changelog import ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field, quote
from streamtable.plan.binding.bound import whole
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.join.kind import JoinKind, nullable
from streamtable.plan.keys import distinct, unique_keys
from streamtable.plan.node import Key, Node
from streamtable.plan.rows.calc import Calc, passed_on


@stable(
    "LookupJoin",
    derived=("condition_fields",),
    table="table",
    kind="kind",
    condition="condition",
    single="single",
    by_key="by_key",
)
@dataclass(frozen=True)
class LookupJoin(UnaryNode):
    """Join each row, as it arrives, with the matching rows of a static table; no state.

    The table does not change. A retracted row therefore finds the same matches as the inserted row.
    Row kinds are kept if each row of an update gives one row, or if both rows give none. Otherwise
    an update becomes a delete and an insert, because its two rows may have different matches.

    Attributes:
        table: a tree that scans no source; its field names differ from those of the input.
        kind: inner or left.
        condition: join condition as Spark SQL over the fields of both; None accepts all pairs.
        condition_fields: the fields that the condition reads.
        single: whether a row has at most one match.
        by_key: whether both rows of an update have the same matches, because the condition reads
            only a key of the input.
    """

    title = "LookupJoin"
    state = None
    passes_times = True

    table: Node
    kind: JoinKind
    condition: str | None
    condition_fields: frozenset[str]
    single: bool = False
    by_key: bool = False

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input, then of the table; nullable if a row may be unmatched."""
        theirs = self.table.fields
        return (*self.input.fields, *(nullable(theirs) if self.kind.pads_right else theirs))

    @property
    def keeps_kinds(self) -> bool:
        """Whether each row of an update gives one row, or both give none."""
        return self.single and (self.kind.pads_right or self.by_key)

    @property
    def mode(self) -> ChangelogMode:
        """Mode of the input, or inserts and deletes."""
        below = self.input.mode
        return below if self.keeps_kinds else below.without_updates()

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the keys of the input, plus a key of the table if there may be several matches."""
        below = self.input.row_keys(ordered=ordered)
        if self.single:
            return below
        found = product(below, unique_keys(self.table))
        return () if ordered else distinct((*own, *theirs) for own, theirs in found)

    def fields_of_deletes(self) -> frozenset[str] | None:
        """Return the fields that the deletes of the input carry."""
        return self.input.fields_of_deletes()

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return the consumer's need; always true if updates become deletes and inserts."""
        return not child.mode.is_append and (before or not self.keeps_kinds)

    def with_updates(self) -> Node:
        """Return a join that keeps row kinds and has the same rows; the join itself if none has."""
        found = None if self.mode.is_append or self.keeps_kinds else self._filtered()
        return self if found is None else found

    def _filtered(self) -> Calc | None:
        """Return an inner join with at most one match as a left join with a filter.

        The filter can be paired, so that it evaluates both rows of an update together.

        before:  LookupJoin on a = x
        after:   Calc where x is not null <- LeftLookupJoin on a = x

        None if there are several matches, or no field of the table that is never NULL.
        """
        there = next((f.name for f in self.table.fields if not f.type.nullable), None)
        if there is None or not self.single or self.kind.pads_right:
            return None
        left = replace(self, kind=JoinKind.LEFT)
        return Calc(left, passed_on(self.fields), f"({quote(there)} IS NOT NULL)", whole([there]))

    def in_pairs(self) -> Node:
        """Return the join over paired filters, if row kinds are kept."""
        return self.over([self.input.in_pairs()]) if self.keeps_kinds else self

    def positioned(self) -> Node | None:
        """Return the operator with the positions of the input, if the input is append-only."""
        below = self.input.positioned() if self.mode.is_append else None
        return None if below is None else self.over([below])

    def narrowed(self, wanted: set[str]) -> Self:
        """Return the join without unused columns of the table."""
        read = (wanted | self.condition_fields) & {f.name for f in self.table.fields}
        return replace(self, table=self.table.pruned(read))

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on and those of the condition."""
        return ((wanted | self.condition_fields) & {f.name for f in self.input.fields},)

    @property
    def pair_condition(self) -> str | None:
        """Join condition."""
        return self.condition

    @property
    def side_tables(self) -> tuple[Node, ...]:
        """The static table."""
        return (self.table,)

    @property
    def headline(self) -> str:
        """Shows join type and condition."""
        kind = "Left" if self.kind.pads_right else ""
        return f"{kind}LookupJoin{f' on {self.condition}' if self.condition else ''}, broadcast"
