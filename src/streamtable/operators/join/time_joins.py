"""Joins by event time: both inputs, tagged by side and grouped by the join key."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.durations import milliseconds
from streamtable.core.types import Field, quote, spark_ddl
from streamtable.jvm.specs.join import (
    IntervalJoinOperator,
    TemporalJoinOperator,
    WindowJoinOperator,
)
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl, positions
from streamtable.operators.window.event_times import lateness, required, table_below
from streamtable.operators.window.window import last_moment
from streamtable.plan.binding.moments import millis
from streamtable.plan.join.interval_join import IntervalJoin
from streamtable.plan.join.temporal_join import TemporalJoin, UpdatingTemporalJoin
from streamtable.plan.join.time_joins import TimeJoin
from streamtable.plan.join.window_join import WindowJoin
from streamtable.plan.keys import removal_key
from streamtable.plan.query.relation import bound_field

#: Position before all records.
_NO_POSITION = "-1L"


def lower_temporal_join(
    node: TemporalJoin, left: DataFrame, versions: DataFrame, context: LoweringContext
) -> DataFrame:
    """Lower a temporal join: emit a left row, with the version of its time, after the watermark.

    The input rows have the form (row kind, keys..., left row, right row, milliseconds, position).
    """
    one = _timed(node, left, is_left=True).selectExpr("*", f"{_NO_POSITION} AS __position")
    offsets = versions.selectExpr("*", "__offset AS __position")
    other = _timed(node, offsets, "__position", is_left=False)
    if not node.kind.pads_right:
        one = one.where(_has_key(node))
    updating = node if isinstance(node, UpdatingTemporalJoin) else None
    late = lateness(node.left, context)
    row_key = removal_key(node.left, expires=node.ttl is not None)
    return context.bridge.operator(
        context.union([one, other.where(_has_key(node))]),
        TemporalJoinOperator(
            outer=node.kind.pads_right,
            condition=node.condition,
            ttl=milliseconds(node.ttl),
            left=replace(late, checked=late.checked and node.drops_late),
            updates=updating is not None,
            begins=node.left.retracts_first and node.ttl is None,
            row_key=positions(row_key, node.left.fields) if updating else None,
            output_key=positions(updating.key, node.fields) if updating else None,
            before=updating is not None and updating.before,
            output_ddl=changelog_ddl(node.fields),
        ),
    )


def lower_interval_join(
    node: IntervalJoin, left: DataFrame, right: DataFrame, context: LoweringContext
) -> DataFrame:
    """Lower an interval join.

    A pair is emitted as soon as both rows have arrived. An unmatched row is emitted when no match
    can arrive any more.
    """
    one, other = _timed(node, left, is_left=True), _timed(node, right, is_left=False)
    if not node.kind.pads_right:
        one = one.where(_has_key(node))
    if not node.kind.pads_left:
        other = other.where(_has_key(node))
    return context.bridge.operator(
        context.union([one, other]),
        IntervalJoinOperator(
            kind=node.kind.name,
            earliest=node.earliest,
            latest=node.latest,
            condition=node.condition,
            left=lateness(node.left, context),
            right=lateness(node.right, context),
            output_ddl=changelog_ddl(node.fields),
        ),
    )


def lower_window_join(
    node: WindowJoin, left: DataFrame, right: DataFrame, context: LoweringContext
) -> DataFrame:
    """Lower a window join, which emits the pairs of a window when the watermark passes its end."""
    sides = []
    for rows, end, is_left in ((left, node.left_end, True), (right, node.right_end, False)):
        moment = f"{last_moment(end, node.window)} AS __moment"
        tagged = _tagged(node, rows, moment, is_left=is_left)
        sides.append(
            tagged if node.kind.emits_unmatched(left=is_left) else tagged.where(_has_key(node))
        )
    return context.bridge.operator(
        context.union(sides),
        WindowJoinOperator(
            kind=node.kind.name,
            condition=node.condition,
            left=lateness(node.left, context),
            right=lateness(node.right, context),
            output_ddl=changelog_ddl(node.fields),
        ),
    )


def _timed(
    node: TemporalJoin | IntervalJoin, rows: DataFrame, *more: str, is_left: bool
) -> DataFrame:
    side = node.left if is_left else node.right
    time = node.left_time if is_left else node.right_time
    moment = next(f for f in side.fields if f.name == time)
    # A tombstone of a versioned table has no event time: require the time of all other rows.
    where = "TRUE" if is_left else f"{ROW_KIND_COLUMN} <> {RowKind.DELETE.value}"
    time = required(millis(bound_field(moment)), time, table_below(side), where=where)
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
