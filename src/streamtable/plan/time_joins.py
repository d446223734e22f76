"""Joins that wait for the watermark; see `time_nodes` for what such nodes have in common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.types import Field
from streamtable.plan.stateful_nodes import JoinKind
from streamtable.plan.time_nodes import TimeOperator, Window

if TYPE_CHECKING:
    from streamtable.plan.nodes import Node
    from streamtable.plan.source_nodes import Key


@dataclass(frozen=True)
class TimeJoin(TimeOperator):
    """Two inputs whose fields have different names, joined by equal keys.

    Attributes:
        keys: pairs of (left field, right field) that must be equal; NULL equals nothing.
        condition: Spark SQL over the fields of both, what pairs must fulfil besides.
        condition_fields: the fields that the condition reads.
    """

    left: Node
    right: Node
    kind: JoinKind
    keys: tuple[tuple[str, str], ...]
    condition: str | None
    condition_fields: frozenset[str]

    #: Rows are only added, and a version needs no other to be replaced.
    takes_back = False
    waits = True

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Left and right."""
        return (self.left, self.right)

    @property
    def left_keys(self) -> Key:
        """The left fields of the keys."""
        return tuple(left for left, _ in self.keys)

    @property
    def right_keys(self) -> Key:
        """The right fields of the keys."""
        return tuple(right for _, right in self.keys)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the left input, then of the right; nullable where a partner may be missing."""
        return self.kind.fields(self.left.fields, self.right.fields)

    @property
    def mode(self) -> ChangelogMode:
        """Inserts only."""
        return APPEND

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """What it passes on, keys and what the condition reads."""
        both = wanted | self.condition_fields | {name for pair in self.keys for name in pair}
        return tuple(both & {f.name for f in node.fields} for node in self.inputs)


@dataclass(frozen=True)
class WindowJoin(TimeJoin):
    """The pairs of one window, once, when the watermark passes its end.

    Both ends are among the keys, as are both starts.

    Attributes:
        window: of both inputs.
        left_end: the left field that is the window's end.
        right_end: the right one.
    """

    fires_windows = True

    window: Window
    left_end: str
    right_end: str

    def over(self, inputs: Iterable[Node]) -> WindowJoin:
        """The same over other inputs."""
        left, right = inputs
        return replace(self, left=left, right=right)


@dataclass(frozen=True)
class _TimedJoin(TimeJoin):
    """A join by the times of rows.

    Attributes:
        left_time: the event time of left rows.
        right_time: that of right rows.
    """

    left_time: str
    right_time: str

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """What it passes on, keys, times and what the condition reads."""
        return super().reads(wanted | {self.left_time, self.right_time})


@dataclass(frozen=True)
class TemporalJoin(_TimedJoin):
    """Each left row with the version that the right row of its key had at the left row's time.

    Attributes:
        ttl: how long a key for which no left row waits is kept without rows; None for ever.
    """

    ttl: timedelta | None = None

    def over(self, inputs: Iterable[Node]) -> TemporalJoin:
        """The same over other inputs."""
        left, right = inputs
        return replace(self, left=left, right=right)


@dataclass(frozen=True)
class IntervalJoin(_TimedJoin):
    """The pairs whose left row is later than the right one by no less and no more than so much.

    Attributes:
        earliest: milliseconds; below zero where the left row may be earlier.
        latest: milliseconds, at most.
    """

    earliest: int
    latest: int

    def over(self, inputs: Iterable[Node]) -> IntervalJoin:
        """The same over other inputs."""
        left, right = inputs
        return replace(self, left=left, right=right)
