"""Operators of ours for OVER windows and the order of arrival, called through the bridge."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs import Aggregation


def sorted_over(
    bridge: Bridge,
    rows: DataFrame,
    *,
    keys: Sequence[str],
    calls: Sequence[Aggregation],
    order: Sequence[int],
    nulls_first: bool,
    peers: bool,
    output_key: Sequence[int] | None,
    before: bool,
    ttl_ms: int,
    output_ddl: str,
) -> DataFrame:
    """A changelog -> its rows with the aggregates over those up to them.

    Args:
        bridge: of the session.
        rows: row kind and columns.
        keys: the columns that tell partitions apart.
        calls: the aggregates.
        order: positions without the row kind, ascending; the first is what the query asks for.
        nulls_first: whether its NULLs come first.
        peers: whether rows that have the same there have the same results.
        output_key: positions in the output of what makes an update of a delete and an insert.
        before: whether updates come with the row they replace.
        ttl_ms: how long a partition is kept after its last change; 0 for as long as its rows live.
        output_ddl: row kind, columns and aggregates.
    """
    return bridge.operator(
        "OverOperators.sortedOver",
        rows,
        bridge.java_list(keys),
        bridge.aggregations(calls),
        bridge.java_list(order),
        nulls_first,
        peers,
        bridge.positions(output_key),
        before,
        ttl_ms,
        output_ddl,
    )


def arrival_over(
    bridge: Bridge,
    rows: DataFrame,
    *,
    keys: Sequence[str],
    calls: Sequence[Aggregation],
    preceding: int | None,
    time: str | None,
    bitmaps: bool,
    positions: int,
    ttl_ms: int,
    output_ddl: str,
) -> DataFrame:
    """Rows as they come -> each with the aggregates over those that came before it.

    Args:
        bridge: of the session.
        rows: row kind, columns, `time` where there is one, positions.
        keys: the columns that tell partitions apart.
        calls: the aggregates.
        preceding: how many rows, or microseconds, the frame holds; None for all.
        time: the column that a frame of time goes by, in microseconds.
        bitmaps: whether distinct integers may be kept as bitmaps.
        positions: how many columns at the end tell the order of rows.
        ttl_ms: how long what is kept outlives its last change; 0 for ever.
        output_ddl: row kind, columns and aggregates.
    """
    return bridge.operator(
        "OverOperators.arrivalOver",
        rows,
        bridge.java_list(keys),
        bridge.aggregations(calls),
        -1 if preceding is None else preceding,
        time,
        bitmaps,
        positions,
        ttl_ms,
        output_ddl,
    )


def arrival_deduplicate(
    bridge: Bridge,
    rows: DataFrame,
    *,
    keys: Sequence[str],
    last: bool,
    before: bool,
    positions: int,
    ttl_ms: int,
    output_ddl: str,
) -> DataFrame:
    """Rows as they come -> the first of each partition, or the last.

    Args:
        bridge: of the session.
        rows: row kind, columns, positions.
        keys: the columns that tell partitions apart.
        last: whether it is the last.
        before: whether updates come with the row they replace.
        positions: how many columns at the end tell the order of rows.
        ttl_ms: how long a partition is kept after its last change; 0 for ever.
        output_ddl: row kind and columns.
    """
    return bridge.operator(
        "OverOperators.arrivalDeduplicate",
        rows,
        bridge.java_list(keys),
        last,
        before,
        positions,
        ttl_ms,
        output_ddl,
    )
