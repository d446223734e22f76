"""Session windows: merged spans of rows, emitted when the watermark passes their end."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.types import quote
from streamtable.jvm.specs.window import (
    MergedSessionOperator,
    SessionAggregateOperator,
    SessionRowsOperator,
)
from streamtable.operators.aggregate.group_aggregate import aggregations, folds
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl
from streamtable.operators.window.bounds import (
    BOUNDS,
    aggregated_fields,
    keys_without_window,
    named_bounds,
    with_bounds,
    zone_of,
)
from streamtable.operators.window.event_times import lateness
from streamtable.operators.window.window import local_micros, lower_window_table
from streamtable.plan.aggregate.call import holds_bytes
from streamtable.plan.window.fields import Role
from streamtable.plan.window.window_aggregate import MergedWindowAggregate, WindowAggregate
from streamtable.plan.window.window_table import SessionTable


def lower_session_aggregate(
    node: WindowAggregate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """Lower a session aggregation: merge and aggregate sessions per group of the other keys."""
    keys = keys_without_window(node)
    summed = context.bridge.operator(
        _spanned(rows, node.start, node.end),
        SessionAggregateOperator(
            keys=keys,
            calls=aggregations(node.calls, node.input.fields, context.bridge),
            zone=zone_of(node.window, context),
            lateness=lateness(node.input, context),
            output_ddl=changelog_ddl(aggregated_fields(node, keys)),
        ),
    )
    return with_bounds(summed, node)


def lower_merged_sessions(
    node: MergedWindowAggregate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """Lower a session aggregation that keeps the aggregates of sessions instead of their rows."""
    keys = keys_without_window(node)
    summed = context.bridge.operator(
        _spanned(rows, node.start, node.end),
        MergedSessionOperator(
            keys=keys,
            calls=aggregations(node.calls, node.input.fields, context.bridge),
            zone=zone_of(node.window, context),
            fold=folds(context) and not holds_bytes(keys, node.input.fields),
            lateness=lateness(node.input, context),
            output_ddl=changelog_ddl(aggregated_fields(node, keys)),
        ),
    )
    return with_bounds(summed, node)


def lower_session_table(node: SessionTable, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Lower a session table function, which emits each row with the bounds of its session."""
    given = context.bridge.operator(
        _spanned(lower_window_table(node, rows), node.start, node.end),
        SessionRowsOperator(
            keys=node.window.partition,
            zone=zone_of(node.window, context),
            lateness=lateness(node.input, context),
            output_ddl=changelog_ddl((*node.fields, *BOUNDS)),
        ),
    )
    bounds = {node.start: Role.START, node.end: Role.END, node.last: Role.LAST}
    return named_bounds(given, node.fields, bounds, node.window)


def _spanned(rows: DataFrame, start: str, end: str) -> DataFrame:
    """Add the session that each row would form alone, in milliseconds of the window's time zone."""
    return rows.selectExpr(
        "*",
        f"unix_millis(timestamp_micros({local_micros(quote(start))})) AS __start",
        f"unix_millis(timestamp_micros({local_micros(quote(end))})) AS __end",
    )
