"""Joins by event time: both inputs, tagged, grouped by the join key."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.durations import milliseconds
from streamtable.core.types import Field, quote, spark_ddl
from streamtable.jvm.event_time import window_join
from streamtable.operators.context import LoweringContext
from streamtable.operators.event_times import required, table_below
from streamtable.operators.schema import changelog_ddl
from streamtable.operators.window import last_moment
from streamtable.plan.binding.moments import millis
from streamtable.plan.relation import bound_field
from streamtable.plan.stateful_nodes import JoinKind
from streamtable.plan.time_attributes import is_complete
from streamtable.plan.time_joins import IntervalJoin, TemporalJoin, TimeJoin, WindowJoin

#: No record stands before it.
_NO_POSITION = "-1L"


def lower_temporal_join(
    node: TemporalJoin, left: DataFrame, versions: DataFrame, context: LoweringContext
) -> DataFrame:
    """Left rows when the watermark has passed them, with the version of their time.

    Rows travel as (row kind, keys..., left row, right row, milliseconds, position).
    """
    one = _timed(node, left, is_left=True).selectExpr("*", f"{_NO_POSITION} AS __position")
    offsets = versions.selectExpr("*", "__offset AS __position")
    other = _timed(node, offsets, "__position", is_left=False)
    if not node.kind.pads_right:
        one = one.where(_has_key(node))
    return context.bridge.operator(
        "WindowOperators.temporalJoin",
        one.union(other.where(_has_key(node))),
        node.kind.pads_right,
        node.condition,
        milliseconds(node.ttl),
        changelog_ddl(node.fields),
    )


def lower_interval_join(
    node: IntervalJoin, left: DataFrame, right: DataFrame, context: LoweringContext
) -> DataFrame:
    """Pairs as soon as both rows are there; rows without a partner when none can come any more."""
    one, other = _timed(node, left, is_left=True), _timed(node, right, is_left=False)
    if not node.kind.pads_right:
        one = one.where(_has_key(node))
    if not node.kind.pads_left:
        other = other.where(_has_key(node))
    return context.bridge.operator(
        "WindowOperators.intervalJoin",
        one.union(other),
        node.kind.name,
        node.earliest,
        node.latest,
        node.condition,
        changelog_ddl(node.fields),
    )


def lower_window_join(
    node: WindowJoin, left: DataFrame, right: DataFrame, context: LoweringContext
) -> DataFrame:
    """Pairs of a window when the watermark passes its end."""
    sides = []
    for rows, end, is_left in ((left, node.left_end, True), (right, node.right_end, False)):
        moment = f"{last_moment(end, node.window)} AS __moment"
        tagged = _tagged(node, rows, moment, is_left=is_left)
        sides.append(tagged if _keeps_lonely(node, left=is_left) else tagged.where(_has_key(node)))
    return window_join(
        context.bridge,
        sides[0].union(sides[1]),
        kind=node.kind.name,
        condition=node.condition,
        complete=(is_complete(node.left), is_complete(node.right)),
        counters=tuple(context.counters_of(table_below(side)) for side in node.inputs),
        output_ddl=changelog_ddl(node.fields),
    )


def _keeps_lonely(node: WindowJoin, *, left: bool) -> bool:
    """Whether rows of a side come out without a partner."""
    if left:
        return node.kind.pads_right or node.kind is JoinKind.ANTI
    return node.kind.pads_left


def _timed(
    node: TemporalJoin | IntervalJoin, rows: DataFrame, *more: str, is_left: bool
) -> DataFrame:
    side = node.left if is_left else node.right
    time = node.left_time if is_left else node.right_time
    moment = next(f for f in side.fields if f.name == time)
    # A tombstone has no event time.
    added = f"{ROW_KIND_COLUMN} <> {RowKind.DELETE.value}"
    time = required(millis(bound_field(moment)), time, table_below(side), where=added)
    return _tagged(node, rows, f"{time} AS __moment", *more, is_left=is_left)


def _tagged(node: TimeJoin, rows: DataFrame, *more: str, is_left: bool) -> DataFrame:
    keys = node.left_keys if is_left else node.right_keys
    return rows.selectExpr(
        ROW_KIND_COLUMN,
        *(f"{quote(name)} AS __key{i}" for i, name in enumerate(keys)),
        f"{_packed(node.left.fields, there=is_left)} AS __left",
        f"{_packed(node.right.fields, there=not is_left)} AS __right",
        *more,
    )


def _packed(fields: tuple[Field, ...], *, there: bool) -> str:
    if not there:
        return f"CAST(NULL AS STRUCT<{spark_ddl(fields)}>)"
    return f"struct({', '.join(quote(f.name) for f in fields)})"


def _has_key(node: TimeJoin) -> str:
    return " AND ".join(f"__key{i} IS NOT NULL" for i in range(len(node.keys)))
