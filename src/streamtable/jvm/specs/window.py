"""Specs of windows and sessions for `Bridge.operator`.

The operators wait for the watermark. Unless stated otherwise, the last column of their input is the
event time that a row waits for, in milliseconds. The first column of input and output is the row
kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamtable.jvm.specs.operator import Aggregation, Lateness, OperatorSpec, SortColumn


@dataclass(frozen=True, kw_only=True)
class WindowAggregateOperator(OperatorSpec, package="window"):
    """Aggregates a changelog: one row per window and group.

    Attributes:
        keys: grouping columns; the last one is the window's last time.
        retracting: whether the input may retract rows.
        bitmaps: whether distinct integers may be stored as bitmaps.
        fold: whether each task aggregates its rows locally before the shuffle.
        order: positions of columns that order the rows for order-dependent aggregates.
    """

    keys: Sequence[str]
    calls: Sequence[Aggregation]
    retracting: bool
    bitmaps: bool
    fold: bool
    order: Sequence[int]
    lateness: Lateness
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class BucketedWindowOperator(OperatorSpec, package="window"):
    """Computes the result of `WindowAggregateOperator` for append-only input, in buckets of groups.

    Attributes:
        keys: grouping columns, with those of the window and without its last time.
        fold: whether each task aggregates its rows locally before the shuffle.
    """

    keys: Sequence[str]
    calls: Sequence[Aggregation]
    fold: bool
    lateness: Lateness
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class SessionAggregateOperator(OperatorSpec, package="window"):
    """Aggregates rows that end in (from, to): keys, start, end, last time, aggregates per session.

    From and to are the bounds of a session with this row alone, in milliseconds.

    Attributes:
        keys: grouping columns.
        zone: the time zone of the milliseconds.
    """

    keys: Sequence[str]
    calls: Sequence[Aggregation]
    zone: str
    lateness: Lateness
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class MergedSessionOperator(OperatorSpec, package="window"):
    """Computes the result of `SessionAggregateOperator` from its input, with merged aggregates.

    Attributes:
        keys: grouping columns.
        zone: the time zone of the milliseconds.
        fold: whether each task merges sessions locally before the shuffle.
    """

    keys: Sequence[str]
    calls: Sequence[Aggregation]
    zone: str
    fold: bool
    lateness: Lateness
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class SlicedWindowOperator(OperatorSpec, package="window"):
    """Aggregates rows by slices: keys, start, end, last time, aggregates per window and group.

    The last column of the input is the start of the row's slice, in milliseconds.

    Attributes:
        keys: grouping columns, without those of the window.
        size: the length of a window; for CUMULATE the maximum length.
        step: the length of a slice, which is the distance between the ends of windows.
        offset: the offset of the window starts.
        cumulative: whether the window is CUMULATE.
        zone: the time zone of the milliseconds.
        fold: whether each task aggregates its rows locally before the shuffle.
    """

    keys: Sequence[str]
    calls: Sequence[Aggregation]
    size: int
    step: int
    offset: int
    cumulative: bool
    zone: str
    fold: bool
    lateness: Lateness
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class SessionRowsOperator(OperatorSpec, package="window"):
    """Appends the session to rows with the input of `SessionAggregateOperator`.

    Attributes:
        keys: the partition columns of sessions.
        zone: the time zone of the milliseconds.
    """

    keys: Sequence[str]
    zone: str
    lateness: Lateness
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class WindowTopNOperator(OperatorSpec, package="window"):
    """Emits the first rows of each partition of a window.

    Attributes:
        keys: the partition columns; the last one is the window's last time.
        skip: the number of rows to skip in a partition.
        limit: the number of rows after the skipped rows.
        ranked: whether the output ends with each row's rank.
    """

    keys: Sequence[str]
    order: Sequence[SortColumn]
    skip: int
    limit: int
    ranked: bool
    lateness: Lateness
    output_ddl: str
