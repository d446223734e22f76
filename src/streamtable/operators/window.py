"""Windows: rows assigned to them by Spark's expressions, summed up and ranked by our processors."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.settings import DISTINCT_BITMAPS
from streamtable.core.types import BIGINT, Field, quote, timestamp
from streamtable.jvm.event_time import session_aggregate, window_aggregate, window_top_n
from streamtable.operators.context import LoweringContext
from streamtable.operators.event_times import required, table_below
from streamtable.operators.group_aggregate import aggregations, folds, holds_bytes
from streamtable.operators.schema import changelog_ddl
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.moments import in_utc, micros
from streamtable.plan.time_attributes import Role, is_complete, session_below, window_field
from streamtable.plan.time_nodes import (
    Window,
    WindowAggregate,
    WindowKind,
    WindowTable,
    WindowTopN,
)

_LAST = "__last"


def lower_window_table(node: WindowTable, rows: DataFrame) -> DataFrame:
    """Each row once per window; times are counted in milliseconds of the window's own clock."""
    window = node.window
    time = next(f for f in node.input.fields if f.name == node.time)
    moment = micros(Bound(_local(quote(time.name), window), node.fields[-3].type))
    columns = [quote(f.name) for f in node.input.fields]
    millis = f"unix_millis(timestamp_micros({moment}))"
    rows = rows.selectExpr(
        ROW_KIND_COLUMN, *columns, f"{required(millis, time.name, table_below(node))} AS __ms"
    )
    first = f"(__ms - pmod(__ms - {window.offset}L, {{}}L))"
    size, step = window.size, window.step
    match window.kind:
        case WindowKind.TUMBLE:
            rows = rows.selectExpr("*", f"{first.format(size)} AS __start")
        case WindowKind.HOP:
            latest = first.format(step)
            starts = f"sequence({latest}, {latest} - {size - step}L, {-step}L)"
            rows = rows.selectExpr("*", f"explode({starts}) AS __start")
        case WindowKind.CUMULATE:
            rows = rows.selectExpr("*", f"{first.format(size)} AS __start")
            end = f"__start + ((__ms - __start) div {step}L + 1L) * {step}L"
            rows = rows.selectExpr(
                "*", f"explode(sequence({end}, __start + {size}L, {step}L)) AS __end"
            )
        case WindowKind.SESSION:
            rows = rows.selectExpr("*", "__ms AS __start")
    if window.kind is not WindowKind.CUMULATE:
        rows = rows.selectExpr("*", f"__start + {size}L AS __end")
    start, end = (in_utc(f"timestamp_millis({name})") for name in ("__start", "__end"))
    rows = rows.selectExpr(
        ROW_KIND_COLUMN, *columns, f"{start} AS {quote(node.start)}", f"{end} AS {quote(node.end)}"
    )
    last = f"timestamp_millis({_last_moment(node.end, window)})"
    if not window.local:
        last = in_utc(last)
    return rows.selectExpr("*", f"{last} AS {quote(node.last)}")


def _local(time: str, window: Window) -> str:
    return f"CAST({time} AS TIMESTAMP_NTZ)" if window.local else time


def _last_moment(end: str, window: Window) -> str:
    """The last millisecond of a window as the watermark counts, out of the field of its end."""
    name = quote(end)
    if window.local:
        return f"(unix_millis(CAST({name} AS TIMESTAMP_LTZ)) - 1L)"
    return f"(unix_millis(timestamp_micros({_micros(name)})) - 1L)"


def _micros(local: str) -> str:
    return micros(Bound(local, timestamp(3)))


def lower_window_aggregate(
    node: WindowAggregate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """One row per window and group, when the watermark passes."""
    if session_below(node) is not None:
        return _lower_session_aggregate(node, rows, context)
    fields = (*node.input.fields, Field(_LAST, BIGINT))
    rows = rows.selectExpr("*", f"{_last_moment(node.end, node.window)} AS {_LAST}")
    return window_aggregate(
        context.bridge,
        rows,
        keys=[*node.keys, _LAST],
        calls=aggregations(node.calls, fields),
        retracting=not node.input.mode.is_append,
        bitmaps=context.settings[DISTINCT_BITMAPS],
        fold=folds(context) and not holds_bytes(node.keys, fields),
        complete=is_complete(node.input),
        counters=context.counters_of(table_below(node)),
        output_ddl=changelog_ddl(node.fields),
    )


def _lower_session_aggregate(
    node: WindowAggregate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """Sessions merged and summed up per group of the other keys."""
    roles = {name: window_field(node.input, name) for name in node.keys}
    keys = [name for name, field in roles.items() if field is None]
    bounds = [(n, f.role) for n, f in roles.items() if f is not None]
    start, end = (_micros(quote(name)) for name in (node.start, node.end))
    rows = rows.selectExpr(
        "*",
        f"unix_millis(timestamp_micros({start})) AS __start",
        f"unix_millis(timestamp_micros({end})) AS __end",
    )
    summed = session_aggregate(
        context.bridge,
        rows,
        keys=keys,
        calls=aggregations(node.calls, node.input.fields),
        zone=str(context.spark.conf.get("spark.sql.session.timeZone")) if node.window.local else "",
        complete=is_complete(node.input),
        counters=context.counters_of(table_below(node)),
        output_ddl=changelog_ddl(_session_fields(node, keys)),
    )
    texts = {
        Role.START: in_utc("timestamp_millis(__start)"),
        Role.END: in_utc("timestamp_millis(__end)"),
        Role.LAST: "timestamp_millis(__last)",
    }
    if not node.window.local:
        texts[Role.LAST] = in_utc(texts[Role.LAST])
    named = {name: texts[role] for name, role in bounds}
    columns = [f"{named.get(f.name, quote(f.name))} AS {quote(f.name)}" for f in node.fields]
    return summed.selectExpr(ROW_KIND_COLUMN, *columns)


def _session_fields(node: WindowAggregate, keys: list[str]) -> tuple[Field, ...]:
    """Keys, the session's start, end and last moment in milliseconds, the aggregates."""
    by_name = {f.name: f for f in node.fields}
    bounds = (Field(name, BIGINT) for name in ("__start", "__end", _LAST))
    return (*(by_name[k] for k in keys), *bounds, *(c.output for c in node.calls))


def lower_window_top_n(node: WindowTopN, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """The first rows of each partition of a window, when the watermark passes."""
    names = [f.name for f in node.input.fields]
    rows = rows.selectExpr("*", f"{_last_moment(node.end, node.window)} AS {_LAST}")
    return window_top_n(
        context.bridge,
        rows,
        keys=[*node.partition, _LAST],
        order=[(names.index(k.field), k.descending, k.nulls_first) for k in node.order],
        skip=node.skip,
        limit=node.limit,
        ranked=node.rank is not None,
        complete=is_complete(node.input),
        counters=context.counters_of(table_below(node)),
        output_ddl=changelog_ddl(node.fields),
    )
