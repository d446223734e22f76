"""Operators of ours that wait for the watermark, called through the bridge.

Each takes rows whose last column is the moment that the row waits for, in milliseconds; `complete`
says that rows come when the watermark has just passed it, so that none is late.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from streamtable.jvm.bridge import Bridge
from streamtable.jvm.counters import Counters
from streamtable.jvm.specs import Aggregation


def window_aggregate(
    bridge: Bridge,
    rows: DataFrame,
    *,
    keys: Sequence[str],
    calls: Sequence[Aggregation],
    retracting: bool,
    bitmaps: bool,
    fold: bool,
    order: Sequence[int],
    complete: bool,
    counters: Counters,
    output_ddl: str,
) -> DataFrame:
    """A changelog -> one row per window and group; the last key is the window's last moment."""
    return bridge.operator(
        "WindowOperators.windowAggregate",
        rows,
        bridge.java_list(keys),
        bridge.aggregations(calls),
        retracting,
        bitmaps,
        fold,
        bridge.java_list(order),
        not complete,
        counters.java,
        output_ddl,
    )


def session_aggregate(
    bridge: Bridge,
    rows: DataFrame,
    *,
    keys: Sequence[str],
    calls: Sequence[Aggregation],
    zone: str,
    complete: bool,
    counters: Counters,
    output_ddl: str,
) -> DataFrame:
    """Rows that end in (from, to) -> keys, start, end, last moment and aggregates per session.

    Args:
        bridge: of the session.
        rows: row kind, columns, and in milliseconds how far each row's own session would reach.
        keys: grouping columns.
        calls: the aggregates.
        complete: as above.
        zone: the time zone whose clock the milliseconds are of; empty where it is UTC's.
        counters: where late rows are counted.
        output_ddl: row kind and columns.
    """
    return bridge.operator(
        "WindowOperators.sessionAggregate",
        rows,
        bridge.java_list(keys),
        bridge.aggregations(calls),
        zone or "UTC",
        not complete,
        counters.java,
        output_ddl,
    )


def session_rows(
    bridge: Bridge,
    rows: DataFrame,
    *,
    keys: Sequence[str],
    zone: str,
    complete: bool,
    counters: Counters,
    output_ddl: str,
) -> DataFrame:
    """Rows as `session_aggregate` takes them -> the same, each with its session at the end."""
    return bridge.operator(
        "WindowOperators.sessionRows",
        rows,
        bridge.java_list(keys),
        zone or "UTC",
        not complete,
        counters.java,
        output_ddl,
    )


def window_top_n(
    bridge: Bridge,
    rows: DataFrame,
    *,
    keys: Sequence[str],
    order: Sequence[tuple[int, bool, bool]],
    skip: int,
    limit: int,
    ranked: bool,
    complete: bool,
    counters: Counters,
    output_ddl: str,
) -> DataFrame:
    """Rows of a window -> the first ones of each partition; parameters as `stateful.top_n`'s."""
    return bridge.operator(
        "WindowOperators.windowTopN",
        rows,
        bridge.java_list(keys),
        *(bridge.java_list(part) for part in zip(*order, strict=True)),
        skip,
        limit,
        ranked,
        not complete,
        counters.java,
        output_ddl,
    )


def over_aggregate(
    bridge: Bridge,
    rows: DataFrame,
    *,
    keys: Sequence[str],
    calls: Sequence[Aggregation],
    peers: bool,
    preceding: int | None,
    bitmaps: bool,
    positions: int,
    complete: bool,
    counters: Counters,
    ttl_ms: int,
    output_ddl: str,
) -> DataFrame:
    """Rows that end in their moment, and in what orders those of one moment -> with aggregates.

    Args:
        bridge: of the session.
        rows: row kind, columns, milliseconds, positions.
        keys: the columns that tell partitions apart.
        calls: the aggregates.
        peers: whether the frame is RANGE.
        preceding: how many rows, or milliseconds, it holds beside the current ones; None for all.
        bitmaps: whether distinct integers may be kept as bitmaps.
        positions: how many columns stand behind the moment.
        complete: as above.
        counters: where late rows are counted.
        ttl_ms: how long a partition is kept without rows; 0 for ever.
        output_ddl: row kind, columns and aggregates.
    """
    return bridge.operator(
        "OverOperators.overAggregate",
        rows,
        bridge.java_list(keys),
        bridge.aggregations(calls),
        peers,
        -1 if preceding is None else preceding,
        bitmaps,
        positions,
        not complete,
        counters.java,
        ttl_ms,
        output_ddl,
    )


def first_row(
    bridge: Bridge,
    rows: DataFrame,
    *,
    keys: Sequence[str],
    positions: int,
    complete: bool,
    counters: Counters,
    ttl_ms: int,
    output_ddl: str,
) -> DataFrame:
    """Rows as `over_aggregate` takes them -> the first one of each partition."""
    return bridge.operator(
        "OverOperators.firstRow",
        rows,
        bridge.java_list(keys),
        positions,
        not complete,
        counters.java,
        ttl_ms,
        output_ddl,
    )


def window_join(
    bridge: Bridge,
    rows: DataFrame,
    *,
    kind: str,
    condition: str | None,
    complete: tuple[bool, bool],
    counters: tuple[Counters, ...],
    output_ddl: str,
) -> DataFrame:
    """Tagged rows of both inputs -> the pairs of each window; `stateful.join` has the shape.

    Args:
        bridge: of the session.
        rows: (row kind, keys..., left STRUCT, right STRUCT, the window's last moment).
        kind: a `JoinKind`.
        condition: Spark SQL over the fields of both.
        complete: of the left input and the right one.
        counters: where late rows of each are counted.
        output_ddl: row kind and columns.
    """
    return bridge.operator(
        "WindowOperators.windowJoin",
        rows,
        kind,
        condition,
        bridge.java_list([not side for side in complete]),
        bridge.java_list([side.java for side in counters]),
        output_ddl,
    )
