"""Window aggregate operator: GROUP BY with a window."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from functools import cached_property

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.aggregate.call import (
    AggregateCall,
    fields_of,
    holds_bytes,
    python_obstacle,
    with_order,
)
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.node import Key, Node
from streamtable.plan.rows.calc import Calc, below_projections
from streamtable.plan.rules.watermarks import is_complete
from streamtable.plan.state import OF_GROUPS, StateLayout
from streamtable.plan.window.emission import positioned_by_time
from streamtable.plan.window.fields import WindowField
from streamtable.plan.window.window import Window, WindowKind
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
        by_value=True,
    )
    #: The layout of groups in buckets.
    bucket_state = StateLayout(
        "WindowBuckets", 1, ("BucketedWindowProcessor",), frozenset({"groups"})
    )
    waits = fires_windows = True
    emits_by_time = emits_apart = True

    window: Window
    keys: Key
    start: str
    end: str
    calls: tuple[AggregateCall, ...]
    order: Key = ()

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
        """Return a `MergedWindowAggregate` where one computes the same.

        Otherwise, if an aggregate depends on row order, return the operator with row positions.
        """
        del before
        if self._merges():
            return MergedWindowAggregate(
                self.input, self.window, self.keys, self.start, self.end, self.calls
            )
        below, order = with_order(self.input, self.calls)
        return replace(self, input=below, order=order)

    def _merges(self) -> bool:
        """Return whether a `MergedWindowAggregate` computes the same.

        Rows of TUMBLE have one window, so there is nothing to share. Slices are as long as the
        step, so the size must be a multiple of it. Rows that are emitted just after the watermark
        has passed them would come after their windows.
        """
        table, _ = below_projections(self.input, self.start)
        return (
            isinstance(table, WindowTable)
            and table.window.kind is not WindowKind.TUMBLE
            and table.window.size % table.window.step == 0
            and self.input.mode.is_append
            and not is_complete(self.input)
            and all(call.merges for call in self.calls)
            and not _computes_with(self.input, {table.start, table.end, table.last})
            and not any(self.input.window_field(name) for name in fields_of(self.calls))
        )

    @property
    def in_buckets(self) -> bool:
        """Whether a bucket of groups may have one timer, instead of one for each group.

        The aggregates of a group must fit into one row. A bucket is of no use for the only group of
        a window, nor for rows that are emitted without state.
        """
        return (
            self.session is None
            and self.input.mode.is_append
            and not is_complete(self.input)
            and bool({*self.keys} - {self.start, self.end})
            and not holds_bytes(self.keys, self.input.fields)
            and all(call.merges for call in self.calls)
        )

    def layout(self, lacking: Set[str] = frozenset()) -> StateLayout | None:
        """Return the layout of groups in buckets, if the operator has them."""
        has_buckets = self.in_buckets and self.bucket_state.id not in lacking
        return self.bucket_state if has_buckets else self.state

    def positioned(self) -> Node:
        """Return the operator with positions by the window's end."""
        return positioned_by_time(self, self.end)

    @property
    def batch_order(self) -> Key:
        """The order fields."""
        return self.order

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

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others: without Python functions."""
        return python_obstacle(self.calls) is None and self.input.runs_together

    def obstacle(self) -> str | None:
        """Return the obstacle of a Python function, or of the operator."""
        return python_obstacle(self.calls) or super().obstacle()

    @property
    def headline(self) -> str:
        """Shows window, keys and aggregates."""
        calls = ", ".join(call.described for call in self.calls)
        by = f"by ({', '.join(self.keys)})"
        return f"WindowAggregate {self.window.described} {by}{': ' + calls if calls else ''}"


@stable("MergedWindowAggregate")
@dataclass(frozen=True)
class MergedWindowAggregate(WindowAggregate):
    """Aggregate append-only rows once per slice or session, and merge the windows from them.

    Windows of HOP and CUMULATE share slices, as in Flink. Sessions keep their aggregates instead of
    their rows.
    """

    state = StateLayout(
        "MergedWindowAggregate",
        1,
        ("SlicedWindowProcessor", "MergedSessionProcessor"),
        frozenset({"parts"}),
    )
    emits_apart = False

    @property
    def in_buckets(self) -> bool:
        """False: a group has one timer for all of its windows."""
        return False

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others; shared slices are windows of one row each."""
        return self.with_slices().runs_together

    @property
    def headline(self) -> str:
        """Shows that slices are shared."""
        shared = "" if self.session else ", by shared slices"
        return super().headline + shared

    def with_slices(self) -> Node:
        """Return the input with the slice of each row instead of its windows."""
        return _sliced(self.input)


def _computes_with(node: Node, bounds: set[str]) -> bool:
    """Return whether a projection or filter above the table function reads a window bound."""
    if not isinstance(node, Calc):
        return False
    below = node.input
    own = {f.name for f in below.fields if below.window_field(f.name)} | bounds
    computed = (p for p in node.projections if p.source is None)
    read = node.condition_fields.union(*(p.reads for p in computed))
    return bool(own & read) or _computes_with(below, bounds)


def _sliced(node: Node) -> Node:
    if isinstance(node, WindowTable):
        window = node.window
        return replace(node, window=replace(window, kind=WindowKind.TUMBLE, size=window.step))
    return node.over([_sliced(child) for child in node.inputs])
