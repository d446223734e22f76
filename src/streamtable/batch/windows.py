"""Batch answers of windowing table functions and sessions."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.batch.aggregates import grouped, window_rows
from streamtable.batch.context import BatchContext
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import quote
from streamtable.operators.window.window import last_moment, local_micros, lower_window_table
from streamtable.plan.binding.moments import in_utc
from streamtable.plan.node import Key
from streamtable.plan.window.fields import Role
from streamtable.plan.window.window import Window
from streamtable.plan.window.window_aggregate import WindowAggregate
from streamtable.plan.window.window_table import SessionTable, WindowTable

_START, _END = "__session_start", "__session_end"


def window_table_rows(node: WindowTable, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Return each row once per window; a session is that of the row alone."""
    found = lower_window_table(node, rows, context.kept)
    names = [quote(f.name) for f in node.fields]
    return found.selectExpr(ROW_KIND_COLUMN, *names, *context.kept)


def session_rows(node: SessionTable, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Return each row with its merged session, if the watermark has passed it."""
    alone = lower_window_table(node, rows, context.kept)
    merged = _merged(alone, node.window.partition, node.start, node.end)
    roles = {node.start: Role.START, node.end: Role.END, node.last: Role.LAST}
    bounds = {name: _bound(role, node.window) for name, role in roles.items()}
    names = [f"{bounds.get(f.name, quote(f.name))} AS {quote(f.name)}" for f in node.fields]
    found = merged.selectExpr(ROW_KIND_COLUMN, *names, *context.kept)
    ended = context.passed(last_moment(node.end, node.window))
    return found if ended is None else found.where(ended)


def window_aggregate_rows(
    node: WindowAggregate, rows: DataFrame, context: BatchContext
) -> DataFrame:
    """Aggregate the rows of each group and window; sessions are merged first."""
    if node.session is None:
        return window_rows(node, rows, context)
    roles = {name: node.input.window_field(name) for name in node.keys}
    keys = tuple(name for name, field in roles.items() if field is None)
    merged = _merged(rows, keys, node.start, node.end)
    bounds = {n: _bound(field.role, node.window) for n, field in roles.items() if field}
    columns = [f"{bounds.get(f.name, quote(f.name))} AS {quote(f.name)}" for f in node.input.fields]
    spanned = merged.selectExpr(ROW_KIND_COLUMN, *columns, *context.kept)
    found = grouped(node, node.keys, spanned, context)
    ended = context.passed(last_moment(node.end, node.window))
    return found if ended is None else found.where(ended)


def _merged(rows: DataFrame, keys: Key, start: str, end: str) -> DataFrame:
    """Add the bounds of the session of each row, in milliseconds of the window's time zone.

    Spans that meet or overlap are one session, as in Flink.
    """
    by = f"PARTITION BY {', '.join(map(quote, keys))} " if keys else ""
    ordered = f"({by}ORDER BY __first, __until ROWS BETWEEN UNBOUNDED PRECEDING AND"
    session = f"(PARTITION BY {', '.join([*map(quote, keys), '__session'])})"
    return (
        rows.selectExpr(
            "*",
            f"unix_millis(timestamp_micros({local_micros(quote(start))})) AS __first",
            f"unix_millis(timestamp_micros({local_micros(quote(end))})) AS __until",
        )
        .selectExpr("*", f"max(__until) OVER {ordered} 1 PRECEDING) AS __before")
        .selectExpr("*", "if(__before IS NULL OR __first > __before, 1, 0) AS __begins")
        .selectExpr("*", f"sum(__begins) OVER {ordered} CURRENT ROW) AS __session")
        .selectExpr(
            "*",
            f"min(__first) OVER {session} AS {_START}",
            f"max(__until) OVER {session} AS {_END}",
        )
    )


def _bound(role: Role, window: Window) -> str:
    if role is Role.START:
        return in_utc(f"timestamp_millis({_START})")
    end = in_utc(f"timestamp_millis({_END})")
    if role is Role.END:
        return end
    if window.local:
        return f"timestamp_millis(unix_millis(CAST({end} AS TIMESTAMP_LTZ)) - 1L)"
    return in_utc(f"timestamp_millis({_END} - 1L)")
