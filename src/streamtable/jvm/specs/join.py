"""Specs of joins for `Bridge.operator`.

The first column of input and output is the row kind. Event-time joins wait for the watermark.
Unless stated otherwise, the last column of their input is the event time that a row waits for, in
milliseconds. A `ttl` is the state TTL in milliseconds after the last change; with 0, state is kept
as long as its rows exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamtable.jvm.specs.operator import Lateness, OperatorSpec


@dataclass(frozen=True, kw_only=True)
class JoinOperator(OperatorSpec, package="join"):
    """Joins rows of (row kind, keys..., `__left`, `__right`) and emits the changes of joined rows.

    One of the two row columns is NULL. Kafka's partition and offset follow if an input emits
    upserts, or if the output needs positions.

    Attributes:
        kind: `INNER`, `LEFT`, `RIGHT`, `FULL`, `SEMI` or `ANTI`.
        condition: Spark SQL over the columns of both rows, or None.
        left_key: positions of the unique key of left rows within a join key; empty if there is at
            most one row, None if rows may repeat.
        left_unique: positions of a unique key by which a retraction removes a left row if no equal
            row is stored; None if there is none, or a `left_key`.
        left_appends: whether left rows are only added, and stored without a search for equal rows.
        left_upserts: whether left rows are upserts and deletes by the `left_key`.
        left_begins: whether the first change of a left row may be a retraction; it is then ignored.
        right_key: `left_key` for the right rows.
        right_unique: `left_unique` for the right rows.
        right_appends: `left_appends` for the right rows.
        right_upserts: `left_upserts` for the right rows.
        right_begins: `left_begins` for the right rows.
        paired: whether both inputs have at most one row per join key, and one state.
        output_key: positions in the output; a delete and an insert with the same values there
            become an update.
        before: whether to emit update-before rows.
        left_ttl: the TTL of left rows.
        right_ttl: the TTL of right rows.
        positions: whether the last columns of the output are the position of an input row.
        left_windows: whether left rows are results of windows, which arrive in any order.
        right_windows: `left_windows` for the right rows.
    """

    kind: str
    condition: str | None
    left_key: Sequence[int] | None
    left_unique: Sequence[int] | None
    left_appends: bool
    left_upserts: bool
    left_begins: bool
    right_key: Sequence[int] | None
    right_unique: Sequence[int] | None
    right_appends: bool
    right_upserts: bool
    right_begins: bool
    paired: bool
    output_key: Sequence[int] | None
    before: bool
    left_ttl: int
    right_ttl: int
    positions: bool
    left_windows: bool
    right_windows: bool
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class WindowJoinOperator(OperatorSpec, package="join"):
    """Joins rows of (row kind, keys..., `__left`, `__right`, time) into the pairs of each window.

    Attributes:
        kind: a `JoinKind`.
        condition: Spark SQL over the fields of both rows.
        left: the left input.
        right: the right input.
    """

    kind: str
    condition: str | None
    left: Lateness
    right: Lateness
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class TemporalJoinOperator(OperatorSpec, package="join.temporal"):
    """Joins left rows with the version of the right row at their event time.

    Input: (row kind, keys..., `__left`, `__right`, time, position).

    Attributes:
        outer: whether to emit left rows without a version.
        condition: Spark SQL over the fields of both rows.
        ttl: the time in milliseconds for which a key without waiting rows and an emitted left row
            are kept; 0 for ever.
        left: the left input; its late rows are dropped.
        updates: whether left rows are a full changelog, not only inserts.
        begins: whether the first change of a left row may be a retraction; it is then ignored.
        row_key: positions of a unique key of left rows, by which a retraction removes a row if no
            equal row is stored; None if there is none.
        output_key: positions in the output; a delete and an insert with the same values there
            become an update. None without `updates`.
        before: whether to emit update-before rows.
    """

    outer: bool
    condition: str | None
    ttl: int
    left: Lateness
    updates: bool
    begins: bool
    row_key: Sequence[int] | None
    output_key: Sequence[int] | None
    before: bool
    output_ddl: str


@dataclass(frozen=True, kw_only=True)
class IntervalJoinOperator(OperatorSpec, package="join"):
    """Joins rows of (row kind, keys..., `__left`, `__right`, time) within a time interval.

    Attributes:
        kind: a `JoinKind`.
        earliest: the least difference of the left time and the right time, in milliseconds.
        latest: the greatest difference.
        condition: Spark SQL over the fields of both rows.
        left: the left input.
        right: the right input.
    """

    kind: str
    earliest: int
    latest: int
    condition: str | None
    left: Lateness
    right: Lateness
    output_ddl: str
