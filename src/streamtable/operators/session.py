"""Sessions: spans of rows that grow together, given out when the watermark passes their end."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import BIGINT, Field, quote
from streamtable.jvm.event_time import session_aggregate, session_rows
from streamtable.operators.context import LoweringContext
from streamtable.operators.event_times import table_below
from streamtable.operators.group_aggregate import aggregations
from streamtable.operators.schema import changelog_ddl
from streamtable.operators.window import local_micros, lower_window_table
from streamtable.plan.binding.moments import in_utc
from streamtable.plan.time_attributes import Role, is_complete, window_field
from streamtable.plan.time_nodes import SessionTable, Window, WindowAggregate

#: A session's bounds and its last moment as the watermark counts, in milliseconds.
_BOUNDS = tuple(Field(name, BIGINT) for name in ("__start", "__end", "__last"))


def lower_session_aggregate(
    node: WindowAggregate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """Sessions merged and summed up per group of the other keys."""
    roles = {name: window_field(node.input, name) for name in node.keys}
    keys = [name for name, field in roles.items() if field is None]
    by_name = {f.name: f for f in node.fields}
    fields = (*(by_name[k] for k in keys), *_BOUNDS, *(c.output for c in node.calls))
    summed = session_aggregate(
        context.bridge,
        _spanned(rows, node.start, node.end),
        keys=keys,
        calls=aggregations(node.calls, node.input.fields),
        zone=_zone(node.window, context),
        complete=is_complete(node.input),
        counters=context.counters_of(table_below(node)),
        output_ddl=changelog_ddl(fields),
    )
    bounds = {name: field.role for name, field in roles.items() if field is not None}
    return _named(summed, node.fields, bounds, node.window)


def lower_session_table(node: SessionTable, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Each row with the bounds of its session."""
    given = session_rows(
        context.bridge,
        _spanned(lower_window_table(node, rows), node.start, node.end),
        keys=node.window.partition,
        zone=_zone(node.window, context),
        complete=is_complete(node.input),
        counters=context.counters_of(table_below(node)),
        output_ddl=changelog_ddl((*node.fields, *_BOUNDS)),
    )
    bounds = {node.start: Role.START, node.end: Role.END, node.last: Role.LAST}
    return _named(given, node.fields, bounds, node.window)


def _spanned(rows: DataFrame, start: str, end: str) -> DataFrame:
    """Rows with the session that each would be alone, in milliseconds of the window's clock."""
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
    """Of the clock by which windows lie; empty where it is UTC's."""
    return str(context.spark.conf.get("spark.sql.session.timeZone")) if window.local else ""
