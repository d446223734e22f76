"""Session windows: merged spans of rows, emitted when the watermark passes their end."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import BIGINT, Field, quote
from streamtable.jvm.specs.window import SessionAggregateOperator, SessionRowsOperator
from streamtable.operators.aggregate.group_aggregate import aggregations
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl
from streamtable.operators.window.event_times import lateness
from streamtable.operators.window.window import local_micros, lower_window_table
from streamtable.plan.binding.moments import in_utc
from streamtable.plan.window.fields import Role
from streamtable.plan.window.window import Window
from streamtable.plan.window.window_aggregate import WindowAggregate
from streamtable.plan.window.window_table import SessionTable

#: Bounds of a session, and its last millisecond on the time scale of the watermark.
_BOUNDS = tuple(Field(name, BIGINT) for name in ("__start", "__end", "__last"))


def lower_session_aggregate(
    node: WindowAggregate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """Lower a session aggregation: merge and aggregate sessions per group of the other keys."""
    roles = {name: node.input.window_field(name) for name in node.keys}
    keys = [name for name, field in roles.items() if field is None]
    by_name = {f.name: f for f in node.fields}
    fields = (*(by_name[k] for k in keys), *_BOUNDS, *(c.output for c in node.calls))
    summed = context.bridge.operator(
        _spanned(rows, node.start, node.end),
        SessionAggregateOperator(
            keys=keys,
            calls=aggregations(node.calls, node.input.fields, context.bridge),
            zone=_zone(node.window, context),
            lateness=lateness(node.input, context),
            output_ddl=changelog_ddl(fields),
        ),
    )
    bounds = {name: field.role for name, field in roles.items() if field is not None}
    return _named(summed, node.fields, bounds, node.window)


def lower_session_table(node: SessionTable, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Lower a session table function, which emits each row with the bounds of its session."""
    given = context.bridge.operator(
        _spanned(lower_window_table(node, rows), node.start, node.end),
        SessionRowsOperator(
            keys=node.window.partition,
            zone=_zone(node.window, context),
            lateness=lateness(node.input, context),
            output_ddl=changelog_ddl((*node.fields, *_BOUNDS)),
        ),
    )
    bounds = {node.start: Role.START, node.end: Role.END, node.last: Role.LAST}
    return _named(given, node.fields, bounds, node.window)


def _spanned(rows: DataFrame, start: str, end: str) -> DataFrame:
    """Add the session that each row would form alone, in milliseconds of the window's time zone."""
    return rows.selectExpr(
        "*",
        f"unix_millis(timestamp_micros({local_micros(quote(start))})) AS __start",
        f"unix_millis(timestamp_micros({local_micros(quote(end))})) AS __end",
    )


def _named(
    rows: DataFrame, fields: tuple[Field, ...], bounds: dict[str, Role], window: Window
) -> DataFrame:
    texts = {
        Role.START: in_utc("timestamp_millis(__start)"),
        Role.END: in_utc("timestamp_millis(__end)"),
        Role.LAST: "timestamp_millis(__last)",
    }
    if not window.local:
        texts[Role.LAST] = in_utc(texts[Role.LAST])
    values = {name: texts[role] for name, role in bounds.items()}
    columns = [f"{values.get(f.name, quote(f.name))} AS {quote(f.name)}" for f in fields]
    return rows.selectExpr(ROW_KIND_COLUMN, *columns)


def _zone(window: Window, context: LoweringContext) -> str:
    """Return the time zone of the windows; UTC unless their times are local."""
    return str(context.spark.conf.get("spark.sql.session.timeZone")) if window.local else "UTC"
