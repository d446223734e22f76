"""Nodes that know event time: watermarks, windows, and what waits for a watermark.

See `nodes` for what every node has. Each of these also says what it reads of its inputs and what
it looks like over others, so that rewrites need not know one from the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.types import Field, Root, timestamp
from streamtable.plan.stateful_nodes import SortKey

if TYPE_CHECKING:
    from streamtable.plan.nodes import AggregateCall, Node
    from streamtable.plan.source_nodes import Key


class TimeOperator:
    """What nodes that know event time have in common."""

    #: Whether a row that moves to another window must leave the one it was in.
    takes_back = True
    #: Whether its rows wait until the watermark has passed a moment of theirs.
    waits = False
    #: Whether rows come out when the watermark has just passed their time, so that none is late.
    fires_windows = False

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Left to right."""
        raise NotImplementedError

    def over(self, inputs: Iterable[Node]) -> Node:
        """The same over other inputs."""
        raise NotImplementedError

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """What it reads of each input for a consumer of these fields."""
        raise NotImplementedError

    def needs_before(self, child: Node, before: bool) -> bool:
        """Whether updates of an input must come with the row they replace.

        Args:
            child: the input.
            before: whether the consumer needs it.
        """
        return self.takes_back and (before or not child.mode.is_append)

    @property
    def keys_of_its_own(self) -> tuple[Key, ...]:
        """The unique keys that its work makes."""
        return ()


@dataclass(frozen=True)
class WatermarkAssigner(TimeOperator):
    """A scan whose rows move the watermark: `WATERMARK FOR column AS expression`.

    Per partition the greatest value of the expression counts, of all partitions the least.

    Attributes:
        column: the field that is the event time.
        sql: Spark SQL of the expression over the input's fields.
        reads_fields: the fields that the expression reads.
        table: name of the table, for messages and counts.
    """

    input: Node
    column: str
    sql: str
    reads_fields: frozenset[str]
    table: str

    @property
    def inputs(self) -> tuple[Node, ...]:
        """One."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input."""
        return self.input.fields

    @property
    def mode(self) -> ChangelogMode:
        """That of the input."""
        return self.input.mode

    def over(self, inputs: Iterable[Node]) -> WatermarkAssigner:
        """The same over another input."""
        (node,) = inputs
        return replace(self, input=node)

    def needs_before(self, child: Node, before: bool) -> bool:
        """Only what the consumer needs."""
        return before and not child.mode.is_append

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """What it passes on, the event time and what the expression is made of."""
        return (wanted | {self.column} | self.reads_fields,)


class WindowKind(Enum):
    """Flink's windowing table functions."""

    TUMBLE = "TUMBLE"
    HOP = "HOP"
    CUMULATE = "CUMULATE"
    SESSION = "SESSION"


@dataclass(frozen=True)
class Window:
    """How rows are assigned to windows of time; lengths in milliseconds.

    Attributes:
        size: of a window; the longest of CUMULATE; the gap of SESSION.
        step: how far apart windows begin (HOP) or end (CUMULATE); the size for the others.
        offset: by how much their beginnings are moved.
        local: whether the event time is an instant, so that windows lie in the session's zone.
        partition: fields within which sessions are told apart.
        processing: whether rows lie in it by the clock, and the clock makes it fire.
    """

    kind: WindowKind
    size: int
    step: int
    offset: int = 0
    local: bool = False
    partition: Key = ()
    processing: bool = False


@dataclass(frozen=True)
class WindowTable(TimeOperator):
    """Each row once per window that it lies in; a row without a time ends the job.

    Attributes:
        time: the field that is the event time, or the processing time.
        start: name of the field for the window's first moment.
        end: for the first moment behind it.
        last: for its last millisecond, an event time again.
    """

    input: Node
    window: Window
    time: str
    start: str
    end: str
    last: str

    @property
    def inputs(self) -> tuple[Node, ...]:
        """One."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input, then start, end and last."""
        plain = timestamp(3).with_nullable(False)
        kind = next(f.type for f in self.input.fields if f.name == self.time)
        last = replace(kind, precision=3, nullable=False)
        return (
            *self.input.fields,
            Field(self.start, plain),
            Field(self.end, plain),
            Field(self.last, last),
        )

    @property
    def mode(self) -> ChangelogMode:
        """That of the input."""
        return self.input.mode

    def over(self, inputs: Iterable[Node]) -> WindowTable:
        """The same over another input."""
        (node,) = inputs
        return replace(self, input=node)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """What it passes on, the event time and the fields of sessions."""
        own = {self.start, self.end, self.last}
        return (wanted - own | {self.time, *self.window.partition},)


@dataclass(frozen=True)
class SessionTable(WindowTable):
    """Each row with its session, once, when the watermark passes the session's end."""

    waits = fires_windows = True

    @property
    def mode(self) -> ChangelogMode:
        """Inserts only: rows that were taken back by then are left out."""
        return APPEND


@dataclass(frozen=True)
class WindowAggregate(TimeOperator):
    """One row per window and group, once, when the watermark passes the window's end.

    Attributes:
        keys: grouping fields of the input, the window's among them.
        start: the one that is the window's start.
        end: the one that is its end.
        order: fields that tell which row came before which, where calls go by that.
    """

    waits = fires_windows = True

    input: Node
    window: Window
    keys: Key
    start: str
    end: str
    calls: tuple[AggregateCall, ...]
    order: Key = ()

    @property
    def inputs(self) -> tuple[Node, ...]:
        """One."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """The keys, then one per call."""
        by_name = {f.name: f for f in self.input.fields}
        return (*(by_name[k] for k in self.keys), *(c.output for c in self.calls))

    @property
    def mode(self) -> ChangelogMode:
        """Inserts only."""
        return APPEND

    @property
    def keys_of_its_own(self) -> tuple[Key, ...]:
        """The grouping fields."""
        return (self.keys,)

    def over(self, inputs: Iterable[Node]) -> WindowAggregate:
        """The same over another input."""
        (node,) = inputs
        return replace(self, input=node)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """The keys and what the calls take."""
        calls = [c for c in self.calls if c.output.name in wanted]
        read = {name for c in calls for name in (c.argument, c.filter)}
        return ({*self.keys, *self.order} | {name for name in read if name is not None},)


@dataclass(frozen=True)
class WindowTopN(TimeOperator):
    """The first rows of each partition of a window, once, when the watermark passes its end.

    Attributes:
        partition: fields whose values tell partitions apart, the window's among them.
        end: the one that is the window's end.
        rank: name and type of the row's place; None: it is not asked for.
    """

    waits = fires_windows = True

    input: Node
    window: Window
    partition: Key
    end: str
    order: tuple[SortKey, ...]
    limit: int
    skip: int = 0
    rank: Field | None = None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """One."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input, then the place."""
        return (*self.input.fields, *((self.rank,) if self.rank else ()))

    @property
    def mode(self) -> ChangelogMode:
        """Inserts only."""
        return APPEND

    @property
    def keys_of_its_own(self) -> tuple[Key, ...]:
        """The partition, with the place where there may be several rows."""
        if self.limit == 1:
            return (self.partition,)
        return ((*self.partition, self.rank.name),) if self.rank else ()

    def over(self, inputs: Iterable[Node]) -> WindowTopN:
        """The same over another input."""
        (node,) = inputs
        return replace(self, input=node)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """What it passes on, the partition and the order."""
        own = {self.rank.name} if self.rank else set()
        return (wanted - own | {*self.partition, *(k.field for k in self.order)},)


#: Every node of this module.
TimeNode = WatermarkAssigner | WindowTable | SessionTable | WindowAggregate | WindowTopN


def is_instant(field: Field) -> bool:
    """Whether an event time is an instant (TIMESTAMP_LTZ) rather than a local time."""
    return field.type.root is Root.TIMESTAMP_LTZ
