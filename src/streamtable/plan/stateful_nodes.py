"""Nodes that keep the rows of their inputs; see `nodes` for what every node has."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND, RETRACT, UPSERT, ChangelogMode, RowKind
from streamtable.core.errors import Span
from streamtable.core.types import Field

if TYPE_CHECKING:
    from streamtable.plan.nodes import Node
    from streamtable.plan.source_nodes import Key


class JoinKind(Enum):
    """What a join gives; the value is its name in EXPLAIN."""

    INNER = "Join"
    LEFT = "LeftJoin"
    RIGHT = "RightJoin"
    FULL = "FullJoin"
    SEMI = "SemiJoin"
    ANTI = "AntiJoin"

    @property
    def pads_left(self) -> bool:
        """Whether a right row without a partner comes with NULLs for the left columns."""
        return self in (JoinKind.RIGHT, JoinKind.FULL)

    @property
    def pads_right(self) -> bool:
        """Whether a left row without a partner comes with NULLs for the right columns."""
        return self in (JoinKind.LEFT, JoinKind.FULL)

    @property
    def left_only(self) -> bool:
        """Whether only left rows come out, chosen by whether they have a partner."""
        return self in (JoinKind.SEMI, JoinKind.ANTI)

    def fields(self, left: tuple[Field, ...], right: tuple[Field, ...]) -> tuple[Field, ...]:
        """The fields that come out, nullable where a partner may be missing."""
        padded = _padded(left) if self.pads_left else left
        if self.left_only:
            return padded
        return (*padded, *(_padded(right) if self.pads_right else right))


@dataclass(frozen=True)
class Join:
    """The pairs of two inputs with equal keys, kept up to date under changes of both.

    NULL equals nothing. The fields of the inputs have different names.

    Attributes:
        keys: pairs of (left field, right field) that must be equal, of one type.
        condition: Spark SQL over the fields of both inputs, what pairs must fulfil besides.
        condition_fields: the fields that the condition reads.
        key: output fields by which a row taken back and a row added make an update. None: there
            are no such fields and every change is a delete or an insert.
        before: whether updates come with the row they replace.
        left_upserts: fields that identify a left row, where the left input gives upserts and
            deletes by them; the join then knows from its own state what they replace. None: the
            left input says itself which rows it takes back.
        right_upserts: the same for the right input.
        left_ttl: how long a left row is kept after its last change; None for as long as it lives.
        right_ttl: the same for right rows.
    """

    left: Node
    right: Node
    kind: JoinKind
    keys: tuple[tuple[str, str], ...]
    condition: str | None = None
    condition_fields: frozenset[str] = frozenset()
    key: Key | None = None
    before: bool = False
    left_upserts: Key | None = None
    right_upserts: Key | None = None
    left_ttl: timedelta | None = None
    right_ttl: timedelta | None = None

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
        """Inserts only of inserts, as long as no row can find a partner too late."""
        growing = self.kind in (JoinKind.INNER, JoinKind.SEMI)
        if growing and all(node.mode.is_append for node in self.inputs):
            return APPEND
        if self.key is None:
            return ChangelogMode(frozenset({RowKind.INSERT, RowKind.DELETE}))
        return RETRACT if self.before else UPSERT


@dataclass(frozen=True)
class Materialize:
    """The row of each key, out of changes whose order across keys of another shuffle is lost.

    A row that moves from one join key to another is taken back by one task and added by a second
    one; which of the two is heard first is luck. Here both meet again. Where several rows have the
    key, the last one to come is seen.

    Attributes:
        key: fields by which the consumer tells rows apart.
        order: fields of the input that tell which row of a batch came last; they are not passed on.
            Then, or without such fields, all fields from the left.
        ttl: how long a key is kept after its last change; None for as long as it has rows.
    """

    input: Node
    key: Key
    order: Key = ()
    ttl: timedelta | None = None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """One."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input, without the order."""
        return tuple(f for f in self.input.fields if f.name not in self.order)

    @property
    def mode(self) -> ChangelogMode:
        """Upserts by the key."""
        return UPSERT


@dataclass(frozen=True)
class Repeat:
    """Each row of the input as often as one of its fields says; Flink's `replicate_rows`.

    Attributes:
        count: the field, a BIGINT that is not passed on; a row of zero or less is not there.
    """

    input: Node
    count: str

    @property
    def inputs(self) -> tuple[Node, ...]:
        """One."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input, without the count."""
        return tuple(f for f in self.input.fields if f.name != self.count)

    @property
    def mode(self) -> ChangelogMode:
        """Copies of a row are not told apart, so that each comes and goes by itself."""
        return ChangelogMode(frozenset({RowKind.INSERT, RowKind.DELETE}))


@dataclass(frozen=True)
class SortKey:
    """One column that rows are ordered by."""

    field: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class TopN:
    """The first rows of each partition, kept up to date as rows come and go.

    Ties are broken by where rows stand in their topic, or else by all columns from the left.

    Attributes:
        partition: fields whose values tell the partitions apart; empty for one of everything.
        limit: how many rows are seen; None as long as no WHERE has said so.
        skip: how many rows come before those.
        rank: name and type of the row's place in its partition, from 1. None: it is not asked for.
        key: output fields by which a row taken back and a row added make an update.
        before: whether updates come with the row they replace.
        ties: input fields that tell where a row stands in its topic, for rows that are only added.
        last: whether of equal rows the one that comes last is the first; so it is with the last row
            of each partition in the order of an event time, which Flink calls a Deduplicate.
        arrival: whether the order is that of a processing time, in which rows come.
        at: where the ROW_NUMBER stands.
        ttl: how long a partition is kept after its last change; None for as long as it has rows.
    """

    input: Node
    partition: Key
    order: tuple[SortKey, ...]
    limit: int | None = None
    skip: int = 0
    rank: Field | None = None
    key: Key | None = None
    before: bool = False
    ties: Key = ()
    last: bool = False
    arrival: bool = False
    at: Span | None = field(default=None, compare=False)
    ttl: timedelta | None = None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """One."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input without the ties, then the place."""
        kept = (f for f in self.input.fields if f.name not in self.ties)
        return (*kept, *((self.rank,) if self.rank else ()))

    @property
    def mode(self) -> ChangelogMode:
        """A row that leaves is deleted, or replaced by the one that comes."""
        if self.key is None:
            return ChangelogMode(frozenset({RowKind.INSERT, RowKind.DELETE}))
        return RETRACT if self.before else UPSERT


def _padded(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return tuple(Field(f.name, f.type.with_nullable(True)) for f in fields)
