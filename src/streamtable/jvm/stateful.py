"""Operators of ours that keep rows by their keys, called through the bridge."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs import Aggregation


def normalize(
    bridge: Bridge,
    rows: DataFrame,
    *,
    keys: Sequence[str],
    row_ddl: str,
    before: bool,
    positions: bool,
    ttl_ms: int,
    output_ddl: str,
) -> DataFrame:
    """Upserts -> a full changelog.

    Args:
        bridge: of the session.
        rows: row kind, the columns, then Kafka's partition and offset.
        keys: the columns of the primary key.
        row_ddl: the columns without the row kind.
        before: whether updates come with the row they replace.
        positions: whether the output ends with partition and offset, too.
        ttl_ms: how long a row is kept after its last upsert; 0 for as long as it lives.
        output_ddl: row kind and columns.
    """
    return bridge.operator(
        "Operators.normalize",
        rows,
        bridge.java_list(keys),
        row_ddl,
        before,
        positions,
        ttl_ms,
        output_ddl,
    )


def group_aggregate(
    bridge: Bridge,
    rows: DataFrame,
    *,
    keys: Sequence[str],
    calls: Sequence[Aggregation],
    retracting: bool,
    before: bool,
    bitmaps: bool,
    fold: bool,
    order: Sequence[int],
    ttl_ms: int,
    output_ddl: str,
) -> DataFrame:
    """A changelog -> one row per group.

    Args:
        bridge: of the session.
        rows: row kind and columns.
        keys: the columns that tell groups apart.
        calls: the aggregates.
        retracting: whether input rows can be taken back.
        before: whether updates come with the row they replace.
        bitmaps: whether distinct integers may be kept as bitmaps.
        fold: whether each task first sums up the rows of a group.
        order: positions that aggregates which go by the order of rows take those of a batch by;
            all columns from the left come after.
        ttl_ms: how long a group is kept after its last change; 0 for as long as it has rows.
        output_ddl: row kind, grouping columns and aggregates.
    """
    return bridge.operator(
        "Operators.groupAggregate",
        rows,
        bridge.java_list(keys),
        bridge.aggregations(calls),
        retracting,
        before,
        bitmaps,
        fold,
        bridge.java_list(order),
        ttl_ms,
        output_ddl,
    )


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
        bridge.positions(left_key),
        left_upserts,
        bridge.positions(right_key),
        right_upserts,
        bridge.positions(output_key),
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
        bridge.positions(output_key),
        before,
        ttl_ms,
        output_ddl,
    )


def paired_filter(bridge: Bridge, rows: DataFrame, *, before: bool, output_ddl: str) -> DataFrame:
    """Rows of (row kind, matches, columns...) -> those that match, updates judged as a whole."""
    return bridge.operator("Operators.pairedFilter", rows, before, output_ddl)
