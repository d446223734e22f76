"""Windows: rows assigned to them by Spark's expressions, summed up and ranked by our processors."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.settings import DISTINCT_BITMAPS
from streamtable.core.types import BIGINT, Field, quote, timestamp
from streamtable.jvm.event_time import window_aggregate, window_top_n
from streamtable.operators.context import LoweringContext
from streamtable.operators.event_times import required, table_below
from streamtable.operators.group_aggregate import aggregations, folds, holds_bytes
from streamtable.operators.schema import changelog_ddl
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.moments import in_utc, micros
from streamtable.plan.time_attributes import is_complete
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
    last = f"timestamp_millis({last_moment(node.end, window)})"
    if not window.local:
        last = in_utc(last)
    return rows.selectExpr("*", f"{last} AS {quote(node.last)}")


def _local(time: str, window: Window) -> str:
    return f"CAST({time} AS TIMESTAMP_NTZ)" if window.local else time


def last_moment(end: str, window: Window) -> str:
    """The last millisecond of a window as the watermark counts, out of the field of its end."""
    name = quote(end)
    if window.local:
        return f"(unix_millis(CAST({name} AS TIMESTAMP_LTZ)) - 1L)"
    return f"(unix_millis(timestamp_micros({local_micros(name)})) - 1L)"


def local_micros(local: str) -> str:
    """The microseconds since 1970 of a bound of a window, as its own clock counts them."""
    return micros(Bound(local, timestamp(3)))


def lower_window_aggregate(
    node: WindowAggregate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """One row per window and group, when the watermark passes."""
    fields = (*node.input.fields, Field(_LAST, BIGINT))
    names = [ROW_KIND_COLUMN, *(f.name for f in node.input.fields)]
    rows = rows.selectExpr("*", f"{last_moment(node.end, node.window)} AS {_LAST}")
    return window_aggregate(
        context.bridge,
        rows,
        keys=[*node.keys, _LAST],
        calls=aggregations(node.calls, fields),
        retracting=not node.input.mode.is_append,
        bitmaps=context.settings[DISTINCT_BITMAPS],
        fold=folds(context) and not holds_bytes(node.keys, fields),
        order=[names.index(name) for name in node.order],
        complete=is_complete(node.input),
        counters=context.counters_of(table_below(node)),
        output_ddl=changelog_ddl(node.fields),
    )


def lower_window_top_n(node: WindowTopN, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """The first rows of each partition of a window, when the watermark passes."""
    names = [f.name for f in node.input.fields]
    rows = rows.selectExpr("*", f"{last_moment(node.end, node.window)} AS {_LAST}")
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
