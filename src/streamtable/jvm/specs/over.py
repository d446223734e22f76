"""Specs of OVER aggregations for `Bridge.operator`.

The first column of input and output is the row kind. A `ttl` is the state TTL in milliseconds after
the last change; with 0, state is kept as long as its rows exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamtable.jvm.specs.operator import Aggregation, Lateness, OperatorSpec, SortColumn


@dataclass(frozen=True, kw_only=True)
class OverAggregateOperator(OperatorSpec, package="over"):
    """Adds aggregates to rows of columns, their event time in milliseconds, and positions.

    The operator emits rows when the watermark passes their event time.

    Attributes:
        keys: the partition columns.
        peers: whether the frame is RANGE.
        preceding: the number of rows, or milliseconds, of the frame in addition to the current
            rows; None for all.
        bitmaps: whether distinct integers may be stored as bitmaps.
        positions: the number of columns after the event time that order the rows of one time.
    """

    keys: Sequence[str]
    calls: Sequence[Aggregation]
    peers: bool
    preceding: int | None
    bitmaps: bool
    positions: int
    lateness: Lateness
    ttl: int
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class TemporalSortOperator(OperatorSpec, package="over"):
    """Sorts rows with the input of `OverAggregateOperator` by their event time.

    Attributes:
        order: the sort order of rows with the same event time.
        positions: the number of columns after the event time that give the arrival order.
    """

    order: Sequence[SortColumn]
    positions: int
    lateness: Lateness
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class SortedOverOperator(OperatorSpec, package="over"):
    """Adds aggregates over the preceding rows to the rows of a changelog.

    Attributes:
        keys: the partition columns.
        order: positions without the row kind, ascending; the first is the query's order.
        nulls_first: whether its NULLs are first.
        peers: whether rows with the same value there have the same results.
        begins: whether the first change of a row may be a retraction; it is then ignored.
        row_key: positions of a unique key of the rows, by which a retraction removes a row if no
            equal row is stored; None if there is none.
        output_key: positions in the output; a delete and an insert with the same values there
            become an update.
        before: whether to emit update-before rows.
    """

    keys: Sequence[str]
    calls: Sequence[Aggregation]
    order: Sequence[int]
    nulls_first: bool
    peers: bool
    begins: bool
    row_key: Sequence[int] | None
    output_key: Sequence[int] | None
    before: bool
    ttl: int
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class ProcessingTimeOverOperator(OperatorSpec, package="over"):
    """Adds aggregates at once to rows of columns, `time` if there is one, and positions.

    Attributes:
        keys: the partition columns.
        preceding: the number of rows, or microseconds, of the frame; None for all.
        time: the column of a time frame, in microseconds; None for another frame.
        bitmaps: whether distinct integers may be stored as bitmaps.
        positions: the number of columns at the end that order the rows.
    """

    keys: Sequence[str]
    calls: Sequence[Aggregation]
    preceding: int | None
    time: str | None
    bitmaps: bool
    positions: int
    ttl: int
    output_ddl: str
