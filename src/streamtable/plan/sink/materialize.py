"""Sink materializer: restores the order of changes by the sink's key."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property

from streamtable.core.changelog import UPSERT, ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.inputs import Expiring, UnaryNode
from streamtable.plan.keys import listed, unique_keys
from streamtable.plan.node import Key, Node
from streamtable.plan.position import is_scattered, with_position
from streamtable.plan.state import StateLayout


@stable("Materialize", derived=("fitted",), key="key", order="order", ttl="ttl")
@dataclass(frozen=True)
class Materialize(UnaryNode, Expiring):
    """Emit the last row of each sink key, over an input whose changes arrive out of order.

    If the join key of a row changes, one task retracts the old row and another task adds the new
    one. The order of these changes is random. This operator shuffles both changes to one task. If
    several rows have the same key, the last one that arrived is emitted.

    Attributes:
        key: fields by which the consumer identifies rows.
        order: input fields that order the changes of a batch; they are not passed on. Ties, or all
            changes if there are no such fields, are ordered by all fields from the left.
        ttl: how long a key is kept after its last change; None: as long as it has rows.
        fitted: whether the sink drops or changes rows before this operator keeps them. Earlier
            versions did so afterwards, so their state has other rows.
    """

    title = "Materialize"
    state = StateLayout("Materialize", 1, ("MaterializeProcessor",), frozenset({"rows"}))

    key: Key
    order: Key = ()
    ttl: timedelta | None = None
    fitted: bool = False

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input, without the order fields."""
        return self.fields_without(self.order)

    def layout(self, lacking: Set[str] = frozenset()) -> StateLayout:
        """Return the layout of the state, which tells whether its rows are `fitted`."""
        del lacking
        return replace(self.state, version=2) if self.fitted else self.state

    @property
    def mode(self) -> ChangelogMode:
        """Upserts by the key."""
        return UPSERT

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the key."""
        del ordered
        return (self.key,)

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return true: the operator stores rows and removes them by value."""
        del child, before
        return True

    @property
    def is_unique(self) -> bool:
        """Whether the key is a key of the query, so that it has at most one row."""
        return self.key in unique_keys(self.input)

    def settled(self, before: bool) -> Materialize:
        """Return the operator with row positions, which order the changes of a batch.

        The single row of a key needs no order. Windows in any order would exclude real-time mode.
        """
        del before
        if self.is_unique and is_scattered(self.input):
            return self
        below, order = with_position(self.input)
        return replace(self, input=below, order=order)

    @property
    def batch_order(self) -> Key:
        """The order fields."""
        return self.order

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on, the key and the order fields."""
        return (wanted | {*self.key, *self.order},)

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others: if the input can."""
        return self.input.runs_together

    @property
    def headline(self) -> str:
        """Shows key and order."""
        order = f", in the order of {listed(self.order)}" if self.order else ""
        return f"Materialize by {listed(self.key)}{order}"

    def advice(self) -> Iterator[str]:
        """Advise that the operator keeps every row of the result."""
        key, known = listed(self.key), unique_keys(self.input)
        if self.is_unique:
            yield (
                f"a row of key {key} may move from one task of a join to another, or from one"
                " window to another, so a Materialize keeps every row of the result to order its"
                " changes; a join on columns of that key needs no such state."
            )
            return
        yield (
            f"the sink's key {key} is not the key of the query's rows"
            f" ({' or '.join(map(listed, known)) or 'none'}), so a Materialize keeps every row of"
            " the result; a primary key of the sink that is the query's needs no such state."
        )
