"""Window aggregate operator: GROUP BY with a window."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.aggregate.call import AggregateCall, fields_of, python_obstacle, with_order
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.node import Key, Node
from streamtable.plan.rows.calc import below_projections
from streamtable.plan.state import OF_GROUPS, StateLayout
from streamtable.plan.window.fields import WindowField
from streamtable.plan.window.window import Window
from streamtable.plan.window.window_table import WindowTable


@stable(
    "WindowAggregate",
    window="window",
    keys="keys",
    start="start",
    end="end",
    calls="calls",
    order="order",
)
@dataclass(frozen=True)
class WindowAggregate(UnaryNode):
    """Emit one row per window and group, once, when the watermark passes the window's end.

    Attributes:
        keys: grouping fields of the input, including the window bounds.
        start: grouping field with the start of the window.
        end: grouping field with the end of the window.
        order: fields that order the rows, for aggregates that depend on row order.
    """

    title = "WindowAggregate"
    state = StateLayout(
        "WindowAggregate",
        1,
        ("WindowAggregateProcessor", "SessionProcessor"),
        OF_GROUPS | {"sessions", "rows"},
    )
    waits = fires_windows = True

    window: Window
    keys: Key
    start: str
    end: str
    calls: tuple[AggregateCall, ...]
    order: Key = ()

    @property
    def state_keys(self) -> tuple[Key, ...]:
        """Grouping fields."""
        return (self.keys,)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The grouping fields, then one field per aggregate."""
        by_name = {f.name: f for f in self.input.fields}
        return (*(by_name[k] for k in self.keys), *(c.output for c in self.calls))

    @property
    def mode(self) -> ChangelogMode:
        """Append-only."""
        return APPEND

    @property
    def clock_window(self) -> Window | None:
        """The window of the operator."""
        return self.window if self.window.processing else None

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the grouping fields."""
        del ordered
        return (self.keys,)

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return true for an input with changes: a moved row must leave its old window."""
        return before or not child.mode.is_append

    def settled(self, before: bool) -> WindowAggregate:
        """Return the operator with row positions, if an aggregate depends on row order."""
        del before
        below, order = with_order(self.input, self.calls)
        return replace(self, input=below, order=order)

    def narrowed(self, wanted: set[str]) -> WindowAggregate:
        """Return the operator without unused aggregates."""
        return replace(self, calls=tuple(c for c in self.calls if c.output.name in wanted))

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the grouping fields and the fields of the aggregates."""
        calls = (c for c in self.calls if c.output.name in wanted)
        return ({*self.keys, *self.order} | fields_of(calls),)

    def window_field(self, name: str) -> WindowField | None:
        """Return the window bound in a grouping field."""
        return self.input.window_field(name) if name in self.keys else None

    @property
    def session(self) -> WindowTable | None:
        """The table function whose sessions the operator merges; None for other windows."""
        below, _ = below_projections(self.input, self.start)
        return below if isinstance(below, WindowTable) and below.is_session else None

    def with_sessions(self, *, merged: bool) -> Node:
        """Return the operator over unmerged sessions, if it groups only by the session's fields.

        The operator then merges the sessions itself.
        """
        del merged
        return self.over([self.input.with_sessions(merged=self._merges_sessions())])

    def _merges_sessions(self) -> bool:
        table = self.session
        if table is None:
            return False
        below = self.input
        bounds = {f.name for f in below.fields if below.window_field(f.name)}
        keys = {below_projections(below, key)[1] for key in self.keys if key not in bounds}
        ordered = any(call.is_ordered for call in self.calls)
        return keys == set(table.window.partition) and not ordered

    def obstacle(self) -> str | None:
        """Return the obstacle of a Python function, or of the operator."""
        return python_obstacle(self.calls) or super().obstacle()

    @property
    def headline(self) -> str:
        """Shows window, keys and aggregates."""
        calls = ", ".join(call.described for call in self.calls)
        by = f"by ({', '.join(self.keys)})"
        return f"WindowAggregate {self.window.described} {by}{': ' + calls if calls else ''}"
