"""Batch answers of aggregations: Spark's own `groupBy`."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.batch.arrival import arrival_decides
from streamtable.batch.calls import call_refusal, call_sql, is_rounded
from streamtable.batch.comparable import holds_map
from streamtable.batch.context import BatchContext
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.types import quote
from streamtable.operators.window.window import last_moment
from streamtable.plan.aggregate.group_aggregate import GroupAggregate
from streamtable.plan.node import Key, Node
from streamtable.plan.position import POSITION_NAMES
from streamtable.plan.window.window_aggregate import WindowAggregate

#: An operator that aggregates the rows of groups.
Aggregate = GroupAggregate | WindowAggregate

_ROWS = "__rows"


def aggregate_refusal(node: Aggregate) -> str | None:
    """Return why Spark's batch cannot compute the aggregation; None if it can."""
    types = {f.name: f.type for f in node.input.fields}
    if any(holds_map(types[key]) for key in node.keys):
        return "it groups by a MAP, which Spark does not compare"
    append = node.input.mode.is_append
    reasons = (call_refusal(call, types, append=append) for call in node.calls)
    return next(filter(None, reasons), None)


def group_rows(node: GroupAggregate, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Return one row per group that has rows, also without keys."""
    return grouped(node, node.keys, rows, context)


def window_rows(node: WindowAggregate, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Return one row per group and window that the watermark has passed."""
    found = grouped(node, node.keys, rows, context)
    ended = context.passed(last_moment(node.end, node.window))
    return found if ended is None else found.where(ended)


def grouped(node: Aggregate, keys: Key, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Aggregate rows by keys; the result has the fields of the node.

    Args:
        node: the aggregation.
        keys: its grouping fields.
        rows: its input.
        context: the context of the answer.
    """
    types = {f.name: f.type for f in node.input.fields}
    positioned = set(POSITION_NAMES) <= set(node.order) and node.input.mode.is_append
    order = f"struct({', '.join(node.order)})" if positioned else "0"
    if any(call.is_ordered for call in node.calls):
        _doubt_order(node, keys, rows, context)
    columns = [F.expr(call_sql(call, types, order)).alias(call.output.name) for call in node.calls]
    if context.carried is not None:
        name = context.carried.column
        columns.append(F.expr(context.carried.of_group(name)).alias(name))
    found = rows.groupBy(*map(quote, keys)).agg(F.expr("count(*)").alias(_ROWS), *columns)
    if not keys:
        found = found.where(f"{_ROWS} > 0")
    kind = f"{RowKind.INSERT.value}Y AS {ROW_KIND_COLUMN}"
    return found.selectExpr(kind, *(quote(f.name) for f in node.fields), *context.kept)


def _doubt_order(node: Aggregate, keys: Key, rows: DataFrame, context: BatchContext) -> None:
    """Doubt groups whose rows have no known order, such as rows of several partitions."""
    several = F.expr(arrival_decides(node.input, node.order, context)).alias("__several")
    cases = rows.groupBy(*map(quote, keys)).agg(several).where("__several")
    reason = "a group has rows of several partitions or tasks, whose order is that of arrival"
    context.doubt(node, reason, cases)


def rounded_results(node: Node) -> frozenset[str]:
    """Return the results of an aggregation whose last digits depend on the order of rows."""
    if not isinstance(node, GroupAggregate | WindowAggregate):
        return frozenset()
    types = {f.name: f.type for f in node.input.fields}
    return frozenset(call.output.name for call in node.calls if is_rounded(call, types))
