"""Batch answers of joins: Spark's own joins."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame, functions

from streamtable.batch.context import BatchContext
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.types import quote
from streamtable.operators.window.window import last_moment
from streamtable.plan.binding.moments import millis
from streamtable.plan.join.interval_join import IntervalJoin
from streamtable.plan.join.join import Join
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.join.pairs import PairNode
from streamtable.plan.join.window_join import WindowJoin
from streamtable.plan.node import Node
from streamtable.plan.position import POSITION_NAMES, without_position
from streamtable.plan.query.relation import bound_field

_SPARK = {
    JoinKind.INNER: "inner",
    JoinKind.LEFT: "left",
    JoinKind.RIGHT: "right",
    JoinKind.FULL: "full",
    JoinKind.SEMI: "left_semi",
    JoinKind.ANTI: "left_anti",
}
_SIDES = ("__left_carried", "__right_carried")


def join_rows(node: Join, left: DataFrame, right: DataFrame, context: BatchContext) -> DataFrame:
    """Return the joined rows; NULL equals nothing, as in Flink and Spark."""
    joined = _joined(node, left, right, (), context)
    # The answer has no order of arrival.
    return joined.selectExpr("*", *(f"-1 AS {name}" for name in POSITION_NAMES if node.positions))


def interval_refusal(node: IntervalJoin) -> str | None:
    """Return why the join has no batch answer; None if it has."""
    if node.kind is JoinKind.INNER:
        return None
    return "an unmatched row is written when the watermark has passed its interval"


def interval_rows(
    node: IntervalJoin, left: DataFrame, right: DataFrame, context: BatchContext
) -> DataFrame:
    """Return the pairs within the interval, which a job emits at once."""
    times = [
        millis(bound_field(next(f for f in side.fields if f.name == name)))
        for side, name in ((node.left, node.left_time), (node.right, node.right_time))
    ]
    between = f"{times[0]} - {times[1]} BETWEEN {node.earliest}L AND {node.latest}L"
    return _joined(node, left, right, (between,), context)


def window_join_rows(
    node: WindowJoin, left: DataFrame, right: DataFrame, context: BatchContext
) -> DataFrame:
    """Return the pairs of the windows that the watermark has passed."""
    sides = []
    for rows, end in ((left, node.left_end), (right, node.right_end)):
        ended = context.passed(last_moment(end, node.window))
        sides.append(rows if ended is None else rows.where(ended))
    return _joined(node, sides[0], sides[1], (), context)


def _joined(
    node: PairNode,
    left: DataFrame,
    right: DataFrame,
    more: tuple[str, ...],
    context: BatchContext,
) -> DataFrame:
    equal = [f"{quote(one)} = {quote(other)}" for one, other in node.keys]
    condition = " AND ".join([*equal, *more, *(f"({c})" for c in (node.condition,) if c)])
    ours = _side(left, node.left, _SIDES[0], context)
    theirs = _side(right, node.right, _SIDES[1], context)
    joined = ours.join(theirs, functions.expr(condition or "TRUE"), _SPARK[node.kind])
    carried = []
    if context.carried is not None:
        name = quote(context.carried.column)
        pair: Callable[[str, str], str] = context.carried.of_pair
        one_side = node.kind.left_only
        carried = [f"{_SIDES[0] if one_side else pair(*_SIDES)} AS {name}"]
    kind = f"{RowKind.INSERT.value}Y AS {ROW_KIND_COLUMN}"
    fields = without_position(node.fields)
    return joined.selectExpr(kind, *(quote(f.name) for f in fields), *carried)


def _side(rows: DataFrame, side: Node, name: str, context: BatchContext) -> DataFrame:
    kept = [f"{column} AS {name}" for column in context.kept]
    return rows.selectExpr(*(quote(f.name) for f in without_position(side.fields)), *kept)
