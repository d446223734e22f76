"""Group aggregate operator: GROUP BY without a window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property

from streamtable.core.changelog import ChangelogMode, RowKind
from streamtable.core.errors import Span
from streamtable.core.identity import stable
from streamtable.core.settings.table import STATE_TTL
from streamtable.core.types import Field
from streamtable.plan.aggregate.call import (
    AggregateCall,
    fields_of,
    never_return,
    python_obstacle,
    with_order,
)
from streamtable.plan.inputs import Expiring, UnaryNode
from streamtable.plan.keys import by, listed
from streamtable.plan.node import Key, Node
from streamtable.plan.state import OF_GROUPS, StateLayout
from streamtable.plan.window.fields import WindowField, grouped_window
from streamtable.plan.window.refusals import refuse_hint
from streamtable.plan.window.window_aggregate import WindowAggregate


@stable("GroupAggregate", keys="keys", calls="calls", before="before", order="order", ttl="ttl")
@dataclass(frozen=True)
class GroupAggregate(UnaryNode, Expiring):
    """One row per group, updated on inserts, updates and deletes.

    Attributes:
        keys: grouping fields of the input; empty for a single global group.
        before: whether to emit update-before rows.
        order: input fields that order the rows of a batch for aggregates that depend on row order.
            Ties, or all rows if there are no such fields, are ordered by all fields from the left.
        ttl: how long a group is kept after its last change; None: as long as it has rows.
    """

    title = "GroupAggregate"
    state = StateLayout("GroupAggregate", 1, ("GroupAggregateProcessor",), OF_GROUPS, by_value=True)

    keys: Key
    calls: tuple[AggregateCall, ...]
    before: bool = False
    order: Key = ()
    ttl: timedelta | None = None

    @property
    def grouping(self) -> Key:
        """Grouping fields."""
        return self.keys

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The grouping fields, then one field per aggregate."""
        by_name = {f.name: f for f in self.input.fields}
        return (*(by_name[k] for k in self.keys), *(c.output for c in self.calls))

    @property
    def mode(self) -> ChangelogMode:
        """Inserts and updates; deletes only if the input may retract rows."""
        kinds = {RowKind.INSERT, RowKind.UPDATE_AFTER}
        if self.before:
            kinds.add(RowKind.UPDATE_BEFORE)
        if not self.input.mode.is_append:
            kinds.add(RowKind.DELETE)
        return ChangelogMode(frozenset(kinds))

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the grouping fields."""
        del ordered
        return (self.keys,)

    def fields_of_deletes(self) -> frozenset[str] | None:
        """Return the grouping fields for a consumer of upserts.

        A group that is added and removed in one batch has no results.
        """
        return None if self.before else frozenset(self.keys)

    def settled(self, before: bool) -> GroupAggregate:
        """Return the operator with row positions, if an aggregate depends on row order."""
        below, order = with_order(self.input, self.calls)
        return replace(self, input=below, before=before, order=order)

    @property
    def batch_order(self) -> Key:
        """The order fields."""
        return self.order

    def narrowed(self, wanted: set[str]) -> GroupAggregate:
        """Return the operator without unused aggregates."""
        return replace(self, calls=tuple(c for c in self.calls if c.output.name in wanted))

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the grouping fields and the fields of the aggregates."""
        calls = (c for c in self.calls if c.output.name in wanted)
        return ({*self.keys, *self.order} | fields_of(calls),)

    def window_field(self, name: str) -> WindowField | None:
        """Return the window bound in a grouping field, if rows are grouped by a window."""
        grouped = name in self.keys and grouped_window(self.input, self.keys) is not None
        return self.input.window_field(name) if grouped else None

    def in_time(self, at: Span | None) -> Node:
        """Return a `WindowAggregate` if rows are grouped by a window.

        before:  GroupAggregate(window_start, window_end, k) <- WindowTable <- ...
        after:   WindowAggregate(window_start, window_end, k) <- WindowTable <- ...
        """
        del at
        found = grouped_window(self.input, self.keys)
        if found is None:
            return self
        refuse_hint(self.ttl)
        return WindowAggregate(
            self.input, found.window, self.keys, found.start, found.end, self.calls
        )

    @property
    def never_returns(self) -> bool:
        """Whether this is so for all aggregates."""
        return never_return(self.calls)

    @property
    def described(self) -> str:
        """Names the grouping fields."""
        return f"the aggregation by {', '.join(self.keys) or 'nothing'}"

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others: without Python functions."""
        return python_obstacle(self.calls) is None and self.input.runs_together

    def obstacle(self) -> str | None:
        """Return the obstacle of a Python function, or of the operator."""
        return python_obstacle(self.calls) or super().obstacle()

    @property
    def headline(self) -> str:
        """Shows grouping fields, aggregates and order."""
        calls = ", ".join(call.described for call in self.calls)
        order = f", in the order of {listed(self.order)}" if self.order else ""
        return f"GroupAggregate {by(self.keys)}{': ' + calls if calls else ''}{order}"

    def advice(self) -> Iterator[str]:
        """Advise that groups over an append-only input only grow in number."""
        if self.keys and self.input.mode.is_append and self.ttl is None:
            yield (
                f"the state of the groups by {listed(self.keys)} only grows, because"
                f" '{STATE_TTL.key}' is 0 and it never expires."
            )
