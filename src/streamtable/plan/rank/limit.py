"""Limit operator: LIMIT without ORDER BY over append-only rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.keys import distinct, unique_keys
from streamtable.plan.node import Key, Node
from streamtable.plan.position import with_position
from streamtable.plan.state import StateLayout


@stable("Limit", limit="limit", skip="skip", order="order")
@dataclass(frozen=True)
class Limit(UnaryNode):
    """Emit the first rows to arrive, which no later row replaces.

    Flink's `Limit` over append-only input. Its state, the number of rows so far, does not expire.

    Attributes:
        limit: number of rows.
        skip: number of rows to skip before these.
        order: input fields that order the rows of a batch; they are not passed on. Ties, or all
            rows if there are no such fields, are ordered by all fields from the left.
    """

    title = "Limit"
    state = StateLayout("Limit", 1, ("LimitProcessor",), frozenset({"seen"}))

    limit: int
    skip: int = 0
    order: Key = ()

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input without the order fields."""
        return self.fields_without(self.order)

    @property
    def mode(self) -> ChangelogMode:
        """Append-only."""
        return APPEND

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the keys of the input; one row needs none."""
        del ordered
        own: list[Key] = [()] if self.limit == 1 else []
        return distinct([*own, *unique_keys(self.input)])

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return false: the input is append-only."""
        del child, before
        return False

    def settled(self, before: bool) -> Limit:
        """Return the operator with row positions, which order the rows of a batch."""
        del before
        below, order = with_position(self.input)
        return replace(self, input=below, order=order)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on, and the order fields."""
        return (wanted | {*self.order},)

    @property
    def by_arrival(self) -> bool:
        """Always true."""
        return True

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others: if the input can."""
        return self.input.runs_together

    @property
    def described(self) -> str:
        """Names the limit."""
        return f"the first {self.limit} rows"

    @property
    def headline(self) -> str:
        """Shows the number of rows."""
        if not self.skip:
            return f"Limit: the first {self.limit} rows to arrive"
        return f"Limit: {self.limit} rows to arrive after the first {self.skip}"
