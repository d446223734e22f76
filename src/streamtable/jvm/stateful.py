"""Operators of ours on the JVM, called through the bridge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame

from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs import Aggregation


def join(
    bridge: Bridge,
    rows: DataFrame,
    *,
    kind: str,
    condition: str | None,
    left_key: Sequence[int] | None,
    left_upserts: bool,
    right_key: Sequence[int] | None,
    right_upserts: bool,
    output_key: Sequence[int] | None,
    before: bool,
    left_ttl_ms: int,
    right_ttl_ms: int,
    output_ddl: str,
) -> DataFrame:
    """Rows of (row kind, keys..., `__left`, `__right`) -> the changes of the joined rows.

    Args:
        bridge: of the session.
        rows: of the two row columns one is NULL; Kafka's partition and offset follow where an
            input gives upserts.
        kind: `INNER`, `LEFT`, `RIGHT`, `FULL`, `SEMI` or `ANTI`.
        condition: Spark SQL over the columns of both rows, or None.
        left_key: positions of what tells left rows of one join key apart; empty where there is one
            at most, None where equal rows may come twice.
        left_upserts: whether left rows are upserts and deletes by that key.
        right_key: the same for the right rows.
        right_upserts: the same for the right rows.
        output_key: positions in the output of what makes an update of a delete and an insert.
        before: whether updates come with the row they replace.
        left_ttl_ms: how long a left row is kept after its last change; 0 for as long as it lives.
        right_ttl_ms: the same for the right rows.
        output_ddl: row kind and columns.
    """
    return bridge.operator(
        "Operators.join",
        rows,
        kind,
        condition,
        _listed(bridge, left_key),
        left_upserts,
        _listed(bridge, right_key),
        right_upserts,
        _listed(bridge, output_key),
        before,
        left_ttl_ms,
        right_ttl_ms,
        output_ddl,
    )


def materialize(
    bridge: Bridge,
    rows: DataFrame,
    *,
    keys: Sequence[str],
    row_ddl: str,
    order: Sequence[int],
    ttl_ms: int,
    output_ddl: str,
) -> DataFrame:
    """Changes in no promised order -> the row of each key.

    Args:
        bridge: of the session.
        rows: row kind, the columns, then what `order` names.
        keys: the columns of the key.
        row_ddl: the columns without the row kind.
        order: positions of what tells which row of a batch came last.
        ttl_ms: how long a key is kept after its last change; 0 for as long as it has rows.
        output_ddl: row kind and columns.
    """
    return bridge.operator(
        "Operators.materialize",
        rows,
        bridge.java_list(keys),
        row_ddl,
        bridge.java_list(order),
        ttl_ms,
        output_ddl,
    )


def top_n(
    bridge: Bridge,
    rows: DataFrame,
    *,
    keys: Sequence[str],
    fold: bool,
    order: Sequence[tuple[int, bool, bool]],
    skip: int,
    limit: int,
    retracting: bool,
    ranked: bool,
    output_key: Sequence[int] | None,
    before: bool,
    ttl_ms: int,
    output_ddl: str,
) -> DataFrame:
    """A changelog -> the changes of the first rows of each partition.

    Args:
        bridge: of the session.
        rows: row kind and columns.
        keys: the columns that tell partitions apart.
        fold: whether a task leaves out rows that others of its own come before; only of rows that
            are only added.
        order: position without the row kind, whether it descends, whether NULLs come first.
        skip: how many rows of a partition are left out.
        limit: how many rows come after those.
        retracting: whether input rows can be taken back.
        ranked: whether the output ends with each row's place.
        output_key: positions in the output of what makes an update of a delete and an insert.
        before: whether updates come with the row they replace.
        ttl_ms: how long a partition is kept after its last change; 0 for as long as it has rows.
        output_ddl: row kind and columns.
    """
    return bridge.operator(
        "Operators.topN",
        rows,
        bridge.java_list(keys),
        fold,
        *(bridge.java_list(part) for part in zip(*order, strict=True)),
        skip,
        limit,
        retracting,
        ranked,
        _listed(bridge, output_key),
        before,
        ttl_ms,
        output_ddl,
    )


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
        _listed(bridge, output_key),
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


def paired_filter(bridge: Bridge, rows: DataFrame, *, before: bool, output_ddl: str) -> DataFrame:
    """Rows of (row kind, matches, columns...) -> those that match, updates judged as a whole."""
    return bridge.operator("Operators.pairedFilter", rows, before, output_ddl)


def _listed(bridge: Bridge, positions: Sequence[int] | None) -> Any:
    return None if positions is None else bridge.java_list(positions)
